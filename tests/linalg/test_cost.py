"""Estimates before a run, refusals for lack of memory, progress during it, stopping it."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
import lifting
from robustgc import CSR, Estimate, Graph, RobustGC, estimate
from robustgc.graph.resources import available
from robustgc.linalg import krylov


def ring(n):
    return sp.csr_array(sp.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1]))


def two_labels(n):
    y = np.full(n, -1)
    y[[1, n - 2]] = [0, 1]
    return y


def test_sizes_and_graphs_agree(tmp_path):
    W = ring(10_000)
    CSR.from_scipy(W).save(tmp_path / "graph")
    by_size = estimate(n_nodes=10_000, n_edges=9_999)
    for graph in (Graph(W), CSR.from_scipy(W), tmp_path / "graph", str(tmp_path / "graph")):
        found = estimate(graph)
        assert found.memory == pytest.approx(by_size.memory, rel=0.1)
        assert found.solver == "krylov"
    assert estimate(graphs.complete(30)).solver == "dense"
    assert estimate(W).memory > by_size.memory  # scipy keeps weights that are all 1


def test_more_of_anything_takes_more():
    base = estimate(n_nodes=10**6, n_edges=10**7)
    assert estimate(n_nodes=10**6, n_edges=10**8).seconds > base.seconds
    assert estimate(n_nodes=10**7, n_edges=10**7).memory > base.memory
    assert estimate(n_nodes=10**6, n_edges=10**7, n_classes=10).memory > base.memory
    assert estimate(n_nodes=10**6, n_edges=10**7, dtype="float64").memory > base.memory
    assert estimate(n_nodes=10**6, n_edges=10**7, weighted=True).least > base.least
    assert base.least < base.memory
    assert "GiB" in str(base)


def test_estimates_need_sizes():
    with pytest.raises(ValueError, match="n_nodes and n_edges"):
        estimate(n_nodes=5)
    with pytest.raises(ValueError, match="n_nodes=0 is not allowed"):
        estimate(n_nodes=0, n_edges=5)


@pytest.mark.slow
@pytest.mark.parametrize("auto", [False, True])
def test_the_estimate_is_about_what_a_fit_takes(auto):
    """Peak memory of a fit in a process of its own, against the estimate."""
    code = f"""
auto, options = {auto}, {{}} if {auto} else {{"eta": 0.9, "n_modes": 1}}
import resource, tracemalloc, numpy as np, scipy.sparse as sp
from robustgc import RobustGC, CSR, estimate
rng = np.random.default_rng(71); n = 150_000
r, c = rng.integers(0, n // 2, (2, 12 * n)); side = rng.integers(0, 2, 12 * n) * (n // 2)
r, c = r + side, (c + side + (rng.random(12 * n) < 0.1) * (n // 2)) % n
W = sp.coo_array((np.ones(len(r)), (r, c)), shape=(n, n)).tocsr(); W = sp.csr_array(W + W.T)
W.setdiag(0); W.eliminate_zeros(); W.data[:] = 1; G = CSR.from_scipy(W)
y = np.full(n, -1); y[:40] = rng.integers(0, 2, 40)
RobustGC(**options, affinity="precomputed").fit(G, y)
tracemalloc.start(); RobustGC(**options, affinity="precomputed").fit(G, y)
print((tracemalloc.get_traced_memory()[1] + G.nbytes) / estimate(G, auto=auto).memory)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.5 < float(done.stdout) < 1.3


def test_too_little_memory_is_refused_with_the_number(monkeypatch):
    W = ring(5000)
    monkeypatch.setenv("ROBUSTGC_MEMORY", "100000")
    assert available() <= 100_000
    assert not estimate(W).fits
    assert "does not fit" in str(estimate(W))
    with pytest.raises(MemoryError, match=r"5000 nodes takes at least 0\.00 GiB .* are available"):
        RobustGC(0.9, n_modes=1, affinity="precomputed").fit(W, two_labels(5000))


def test_verbose_shows_steps_on_standard_error(capsys):
    W = ring(3000)
    clf = RobustGC(0.9, n_modes=1, affinity="precomputed", verbose=True).fit(W, two_labels(3000))
    seen = capsys.readouterr()
    assert seen.out == ""
    assert "krylov" in seen.err
    assert "residual" in seen.err
    assert clf.solver_ in seen.err
    RobustGC(0.9, n_modes=1, affinity="precomputed").fit(W, two_labels(3000))
    assert capsys.readouterr().err == ""


def test_verbose_shows_the_weighing_of_candidates(capsys):
    W, truth = lifting.blocks(2887, [1000, 900], 0.02, 0.002)
    y, _ = lifting.some_labels(2897, truth, 5)
    RobustGC(affinity="precomputed", verbose=True).fit(W, y)
    seen = capsys.readouterr()
    assert seen.out == ""
    assert "candidates" in seen.err


def test_an_interrupted_fit_leaves_the_estimator_as_it_was(monkeypatch):
    W = ring(3000)
    clf = RobustGC(0.9, n_modes=1, affinity="precomputed").fit(W, two_labels(3000))
    before = dict(vars(clf))

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(krylov, "_assess", interrupted)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(W, two_labels(3000)[::-1])
    assert all(vars(clf)[name] is value for name, value in before.items())


def test_estimate_is_a_frozen_record():
    found = estimate(n_nodes=10, n_edges=20)
    assert isinstance(found, Estimate)
    with pytest.raises(AttributeError):
        found.memory = 0

"""Building a graph folder from edges: equal to scipy, in bounded memory, all or nothing."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from edge_arrays import ONE, TWO, check, expected, sample
from robustgc import CSR, build_csr
from robustgc.io.on_disk import buckets

TINY = 4096  # so small that buckets are cut again and again


@pytest.mark.parametrize("buffer", [TINY, 2**28])
@pytest.mark.parametrize("weighted", [False, True])
def test_arrays_against_scipy(tmp_path, buffer, weighted):
    pairs, weights = sample(11, n=2000, m=20_000 if buffer == TINY else 4000)
    parts = np.array_split(np.arange(len(pairs)), 7)
    chunks = ((*pairs[p].T, weights[p]) if weighted else tuple(pairs[p].T) for p in parts)
    graph = build_csr(chunks, tmp_path / "deep" / "graph", buffer=buffer)
    check(graph, expected(pairs, weights if weighted else None))
    names = {"indptr.npy", "indices.npy", "manifest.json"} | ({"data.npy"} if weighted else set())
    assert {path.name for path in (tmp_path / "deep" / "graph").iterdir()} == names
    assert os.listdir(tmp_path / "deep") == ["graph"]


def test_tiny_buffers_cut_buckets_again(tmp_path, monkeypatch):
    cut = []
    split = buckets.Sorter.split
    monkeypatch.setattr(buckets.Sorter, "split", lambda *a: cut.append(a[1].path.stem) or split(*a))
    pairs, _ = sample(12, n=2000, m=20_000)
    build_csr([tuple(pairs.T)], tmp_path / "graph", buffer=TINY)
    assert cut[0] == "edges"
    assert len(cut) > 10


def test_isolated_last_nodes(tmp_path):
    pairs, _ = sample(17)
    graph = build_csr([tuple(pairs.T)], tmp_path / "graph", n_nodes=200_000, buffer=TINY)
    check(graph, expected(pairs, n=200_000))


@pytest.mark.parametrize("buffer", [TINY, 2**28])
def test_hub(tmp_path, buffer):
    leaves = np.arange(1, 10_001)
    pairs = np.column_stack([np.where(leaves % 2, 0, leaves), np.where(leaves % 2, leaves, 0)])
    pairs = np.random.default_rng(18).permutation(pairs)
    graph = build_csr([tuple(pairs.T)], tmp_path / "graph", buffer=buffer)
    check(graph, expected(pairs))
    assert graph.indptr[1] == 10_000


@pytest.mark.parametrize("buffer", [TINY, 2**28])
@pytest.mark.parametrize("weighted", [False, True])
def test_sum_and_drop(tmp_path, buffer, weighted):
    pairs, weights = sample(19)
    rng = np.random.default_rng(20)
    # One pair alone is larger than the tiny buffer.
    again = np.r_[rng.integers(0, len(pairs), 3000), np.full(3000, 5)]
    both = np.concatenate([pairs, pairs[again][:, ::-1]])
    order = rng.permutation(len(both))
    values = np.r_[weights, weights[again]]
    chunk = (*both[order].T, values[order]) if weighted else tuple(both[order].T)
    dropped = build_csr([chunk], tmp_path / "drop", duplicates="drop", buffer=buffer)
    check(dropped, expected(pairs, weights if weighted else None))
    values = values * rng.random(len(both)) if weighted else np.ones(len(both))
    chunk = (*both.T, values) if weighted else tuple(both.T)
    added = build_csr([chunk], tmp_path / "sum", duplicates="sum", buffer=buffer)
    check(added, expected(both, values), exact=not weighted)
    assert added.data is not None
    matrix = added.to_scipy()
    assert (matrix != matrix.T).nnz == 0  # to the last bit: both rows add in the same order


def test_sum_without_copies_needs_no_weights(tmp_path):
    pairs, _ = sample(21)
    graph = build_csr([tuple(pairs.T)], tmp_path / "graph", duplicates="sum")
    check(graph, expected(pairs))
    assert graph.data is None
    assert not (tmp_path / "graph" / "data.npy").exists()


@pytest.mark.parametrize("buffer", [TINY, 2**28])
def test_copies_are_refused(tmp_path, buffer):
    pairs, weights = sample(22)
    again = pairs[[30, 40] + [50] * 3000]  # the last is larger than the tiny buffer
    low, high = np.sort(again, axis=1).T
    first = min(zip(low.tolist(), high.tolist(), strict=True))
    twice = np.concatenate([pairs, again[:, ::-1]])
    with pytest.raises(
        ValueError, match=r"^3 pairs of nodes came more than once, the first is .*'drop'"
    ) as e:
        build_csr([tuple(twice.T)], tmp_path / "graph", buffer=buffer)
    assert str(first) in str(e.value)
    values = np.r_[weights, np.full(len(again), 9.0)]
    with pytest.raises(ValueError, match=r"different weights.*'sum'") as e:
        build_csr([(*twice.T, values)], tmp_path / "graph", duplicates="drop", buffer=buffer)
    assert str(first) in str(e.value)
    huge = (np.array([3, 3]), np.array([4, 4]), np.array([1e308, 1e308]))
    with pytest.raises(ValueError, match=r"\(3, 4\) have an infinite sum"):
        build_csr([huge], tmp_path / "graph", duplicates="sum", buffer=buffer)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_nothing(tmp_path, failure):
    def chunks():
        yield ONE, TWO
        assert len(os.listdir(tmp_path)) == 1  # the work is beside the target, under another name
        assert not (tmp_path / "graph").exists()
        raise failure

    with pytest.raises(failure):
        build_csr(chunks(), tmp_path / "graph")
    assert os.listdir(tmp_path) == []


def test_a_failure_while_sorting_leaves_nothing(tmp_path, monkeypatch):
    def fails(self, bucket):
        raise OSError("disk full")

    monkeypatch.setattr(buckets.Sorter, "merged", fails)
    pairs, _ = sample(23)
    with pytest.raises(OSError, match="disk full"):
        build_csr([tuple(pairs.T)], tmp_path / "graph", buffer=TINY)
    assert os.listdir(tmp_path) == []


def test_save_is_all_or_nothing_too(tmp_path, monkeypatch):
    pairs, weights = sample(24)
    graph = build_csr([(*pairs.T, weights)], tmp_path / "built")
    graph.save(tmp_path / "good")
    check(CSR.open(tmp_path / "good"), expected(pairs, weights))

    def fails(*args):
        raise OSError("disk full")

    monkeypatch.setattr("robustgc.graph.csr.write_manifest", fails)
    with pytest.raises(OSError, match="disk full"):
        graph.save(tmp_path / "bad")
    assert sorted(os.listdir(tmp_path)) == ["built", "good"]


KILLED = """
import sys, time
import numpy as np
from robustgc import build_csr
def chunks():
    yield np.arange(9), np.arange(9) + 1
    print("started", flush=True)
    time.sleep(60)
build_csr(chunks(), sys.argv[1])
"""


def test_a_killed_run_leaves_no_graph(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "graph")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "started\n"
        time.sleep(0.1)
        run.send_signal(signal.SIGKILL)
    assert not (tmp_path / "graph").exists()
    (left,) = tmp_path.iterdir()
    assert left.name.startswith("graph.partial-")
    for folder in (tmp_path / "graph", left):
        with pytest.raises(FileNotFoundError, match=r"no manifest.json.*stopped. Build it again"):
            CSR.open(folder)
    build_csr([(ONE, TWO)], tmp_path / "graph")


MEMORY = """
import resource, sys
import numpy as np
from robustgc import build_csr
def chunks(count):
    rng = np.random.default_rng(25)
    for _ in range(count):
        yield rng.integers(0, 10**5, 50_000), rng.integers(0, 10**5, 50_000)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
options = {"duplicates": "drop", "buffer": 2**22}
build_csr(chunks(4), sys.argv[1] + "/small", **options)
before = peak()
graph = build_csr(chunks(60), sys.argv[1] + "/large", **options)
print(graph.nnz, peak() - before)
"""


def test_memory_is_bounded(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path)], capture_output=True, text=True, check=True
    )
    entries, megabytes = map(int, done.stdout.split())
    assert entries > 5_900_000  # 3 million edges: 48 MB of keys alone
    assert megabytes < 16

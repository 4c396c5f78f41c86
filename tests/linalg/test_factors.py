"""Modes and systems by factors, where they fill in little, against the full decomposition."""

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
from robustgc import Graph, RobustGC, full_spectrum
from robustgc.linalg import factors
from robustgc.linalg.block_lanczos import inverse_lanczos_modes
from robustgc.linalg.solution import NotConvergedError


def binary_tree(n):
    i = np.arange(1, n)
    W = sp.coo_array((np.ones(n - 1), ((i - 1) // 2, i)), shape=(n, n))
    return sp.csr_array(W + W.T)


def weighted_path(n):
    weights = 10.0 ** np.random.default_rng(5021).uniform(-3, 3, n - 1)
    W = sp.diags_array(weights, offsets=1, shape=(n, n))
    return sp.csr_array(W + W.T)


def broom(leaves, handle):
    """A hub with many leaves at the end of a path: an ordering by degrees has a hard time."""
    i = np.r_[np.zeros(leaves, dtype=int), 0, np.arange(leaves + 1, leaves + handle)]
    j = np.r_[np.arange(1, leaves + 1), leaves + 1, np.arange(leaves + 2, leaves + handle + 1)]
    n = leaves + handle + 1
    W = sp.coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    return sp.csr_array(W + W.T)


KINDS = {
    "path": graphs.path(1700),
    "cycle": sp.csr_array(graphs.cycle(1600)),
    "binary tree": binary_tree(1700),
    "weighted path": weighted_path(1600),
    "broom": broom(900, 800),
    "grid": graphs.grid(36, 45),
}


def starts(n):
    return np.random.default_rng(5023).standard_normal((n, 6))


@pytest.mark.parametrize("name", KINDS)
def test_modes_by_the_inverse(name):
    graph = Graph(KINDS[name])
    assert factors.has_cheap_factors(graph)
    found = inverse_lanczos_modes(graph, starts(graph.n), 12, 1e-6)
    spectrum = full_spectrum(graph)
    assert len(found.values) == 12
    np.testing.assert_allclose(found.values, spectrum.values[1:13], rtol=1e-6)
    rest = graph.L_N(found.vectors) - found.vectors * found.values
    rounding = 1e-14 / found.values  # of the product
    assert (graph.norms(rest) <= (2e-6 + rounding) * found.values).all()
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(12), atol=1e-9)
    assert found.next_eigenvalue <= spectrum.values[13] * (1 + 1e-6)


def test_of_modes_that_all_share_an_eigenvalue_one_is_taken():
    """A star of 60 paths: lambda_1 has 59 modes, and which of them would be chance."""
    lengths, k = 30, np.arange(60)
    rows = np.arange(1, 60 * lengths + 1).reshape(60, lengths)
    i = np.r_[0 * k, rows[:, :-1].ravel()]
    j = np.r_[rows[:, 0], rows[:, 1:].ravel()]
    n = 60 * lengths + 1
    W = sp.coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    graph = Graph(sp.csr_array(W + W.T))
    found = inverse_lanczos_modes(graph, starts(n), 12, 1e-5)
    assert len(found.values) == 1
    assert found.next_eigenvalue == pytest.approx(full_spectrum(graph).values[1], rel=1e-6)


@pytest.mark.parametrize("name", KINDS)
def test_systems_by_their_factors(name):
    graph, q = Graph(KINDS[name]), 4
    spectrum = full_spectrum(graph)
    off, gamma = spectrum.vectors[:, : q + 1], 0.95 * float(spectrum.values[q])
    b = starts(graph.n)
    b -= off @ (off.T @ b)
    V, values = spectrum.vectors[:, q + 1 :], spectrum.values[q + 1 :]
    exact = V @ ((V.T @ b) / (values - gamma)[:, None])
    solution = factors.solve_by_factors(graph, b, gamma, 1e-5, off)
    assert solution.residual <= 2e-5
    assert np.abs(solution.f - exact).max() <= 1e-4 * np.abs(exact).max()


def test_a_mode_that_was_missed_is_noticed():
    graph = Graph(KINDS["path"])
    spectrum = full_spectrum(graph)
    gamma = 1.2 * float(spectrum.values[1])  # v1 is not left out
    b = spectrum.vectors[:, 1:2] + 0.1 * spectrum.vectors[:, 2:3]
    with pytest.raises(NotConvergedError, match="missed"):
        factors.solve_by_factors(graph, b, gamma, 1e-6, spectrum.vectors[:, :1])


def test_an_expander_fills_in_and_a_tree_with_a_few_loops_does_not():
    rng = np.random.default_rng(5027)
    assert not factors.has_cheap_factors(
        Graph(graphs.largest_piece(graphs.block_model(rng, 60_000)))
    )
    tree = binary_tree(40_000)
    i, j = rng.integers(0, 40_000, (2, 300))
    loops = sp.coo_array((np.ones(300), (i, j)), shape=tree.shape)
    assert factors.has_cheap_factors(Graph(sp.csr_array(tree + loops + loops.T)))


@pytest.mark.parametrize("name", ["binary tree", "weighted path"])
def test_the_default_on_a_large_tree(name):
    n = 32_000
    W = binary_tree(n) if name == "binary tree" else weighted_path(n)
    rng = np.random.default_rng(5033)
    y, truth = np.full(n, -1), np.arange(n) * 4 // n
    if name == "binary tree":  # of four subtrees
        truth = np.array([int(bin(k + 1)[3:5] or "0", 2) for k in range(n)])
    nodes = rng.choice(n, 120, replace=False)
    y[nodes] = truth[nodes]
    y[nodes[:20]] = (y[nodes[:20]] + 1) % 4  # wrong
    clf = RobustGC(affinity="precomputed").fit(W, y)
    assert clf.solver_.startswith("factors")
    assert clf.residual_ < 1e-3
    assert np.mean(clf.transduction_ == truth) > 0.9


def test_a_hub_that_is_no_tree_is_left_to_products():
    n = 40_000
    rim = np.arange(1, n)
    i, j = np.r_[np.zeros(n - 1, dtype=int), rim], np.r_[rim, np.roll(rim, -1)]
    W = sp.coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    assert not factors.has_cheap_factors(Graph._trusted(sp.csr_array(W + W.T)))

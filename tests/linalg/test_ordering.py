"""Orders of nodes: for the cache, and for factors and levels that eliminate exactly."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
from robustgc import Graph, RobustGC, full_spectrum
from robustgc.linalg import chebyshev, multigrid, ordering
from robustgc.linalg.amg import Elimination, Hierarchy
from robustgc.linalg.ladder import SolverOptions
from robustgc.linalg.modes import find_modes
from robustgc.linalg.ordering import Numbering, mean_bandwidth, numbered
from robustgc.linalg.solution import NotConvergedError, ignore_progress


def of_edges(n, i, j, weights=None):
    W = sp.coo_array((np.ones(len(i)) if weights is None else weights, (i, j)), shape=(n, n))
    return sp.csr_array(W + W.T)


def hub_with_loops(n, loops):
    rng = np.random.default_rng(6021)
    ends = 1 + rng.permutation(n - 1)[: 2 * loops].reshape(2, -1)
    i = np.r_[np.zeros(n - 1, dtype=int), ends[0]]
    return of_edges(n, i, np.r_[np.arange(1, n), ends[1]])


def random_tree(n, extra, weights=None):
    rng = np.random.default_rng(6022)
    i = np.r_[(rng.random(n - 1) * np.arange(1, n)).astype(int), rng.integers(0, n // 2, extra)]
    j = np.r_[np.arange(1, n), rng.integers(n // 2, n, extra)]
    return of_edges(n, i, j, None if weights is None else weights(rng, len(i)))


@pytest.mark.parametrize(
    "W",
    [random_tree(2500, 0), random_tree(2500, 60), hub_with_loops(2500, 40), graphs.grid(50, 50)],
)
def test_factors_solve_whatever_the_order(W):
    graph = Graph(W)
    b = np.random.default_rng(6023).standard_normal((graph.n, 3))
    for shift in (0.1, 0.02):  # the second takes the order of the first
        M = graph.laplacian() + shift * sp.eye_array(graph.n, format="csr")
        np.testing.assert_allclose(M @ ordering.factorised(graph, M)(b), b, atol=1e-10)


def test_a_hub_with_loops_takes_no_minutes():
    graph = Graph._trusted(hub_with_loops(200_000, 300))
    assert ordering.is_near_tree(graph)
    start = time.process_time()
    ordering.factorised(graph, graph.laplacian() + 1e-3 * sp.eye_array(graph.n, format="csr"))
    assert time.process_time() - start < 10


def wide(rng, count):
    return 10.0 ** rng.uniform(-3, 3, count)


@pytest.mark.parametrize("weights", [None, wide])
def test_branches_and_chains_are_eliminated_exactly(weights):
    graph = Graph(random_tree(4000, 0, weights))
    levels = Hierarchy(graph, np.float64)
    assert all(isinstance(level, Elimination) for level in levels.levels)
    r = graph.P0(np.random.default_rng(6024).standard_normal((graph.n, 2)))
    x = graph.P0(levels(r))
    np.testing.assert_allclose(graph.L_N(x), r, atol=1e-6 if weights else 1e-9)


@pytest.mark.slow
def test_multigrid_solves_on_a_tree_with_many_more_edges():
    graph = Graph(random_tree(4000, 600))
    assert isinstance(multigrid.hierarchy(graph), Hierarchy)
    spectrum = full_spectrum(graph)
    b = graph.P0(np.random.default_rng(6025).standard_normal((graph.n, 2)))
    gamma = 0.5 * float(spectrum.values[1])
    found = multigrid.solve_by_multigrid(graph, b, gamma, np.zeros_like(b), 1e-8, graph.v0[:, None])
    assert found.residual < 1e-7
    assert found.n_iter < 40


@pytest.mark.slow
def test_crowded_modes_by_a_filter():
    graph = Graph(graphs.largest_piece(random_tree(4000, 4000)))
    spectrum = full_spectrum(graph)
    start = spectrum.vectors[:, 1:9] + 0.02 * np.random.default_rng(6026).standard_normal(
        (graph.n, 8)
    )
    cut = 1.5 * float(spectrum.values[9])
    found = chebyshev.filtered_modes(graph, start, cut, 1e-5, 8, "float64", ignore_progress)
    np.testing.assert_allclose(found.values[0], spectrum.values[1], rtol=1e-8)
    assert found.residual <= 1e-5
    assert found.next_eigenvalue <= spectrum.values[len(found.values) + 1] * (1 + 1e-6)
    assert abs(found.vectors[:, 0] @ spectrum.vectors[:, 1]) > 1 - 1e-6


def test_a_filter_without_time_says_so(monkeypatch):
    monkeypatch.setattr(chebyshev, "_WORK", 1e6)
    graph = Graph(random_tree(4000, 4000))
    start = np.random.default_rng(6027).standard_normal((graph.n, 8))
    with pytest.raises(NotConvergedError, match="close eigenpairs"):
        chebyshev.filtered_modes(graph, start, 0.05, 1e-5, 8, "float64", ignore_progress)


def shuffled(W, seed):
    order = np.random.default_rng(seed).permutation(W.shape[0])
    return sp.csr_array(sp.csr_matrix(W)[order][:, order]), order


def test_far_neighbours_come_near_and_values_come_back():
    W, _ = shuffled(graphs.grid(110, 120), 6011)
    graph = Graph(W)
    by_layers = numbered(graph)
    assert mean_bandwidth(by_layers.graph) < 0.05 * graph.n
    x = np.random.default_rng(6012).standard_normal((graph.n, 2))
    moved = by_layers.to(x)
    np.testing.assert_array_equal(by_layers.back(moved), x)
    np.testing.assert_array_equal(moved[by_layers.nodes(np.array([5, 17]))], x[[5, 17]])
    image = by_layers.back(by_layers.graph.L_N(moved))
    np.testing.assert_allclose(image, graph.L_N(x), atol=1e-14)


def test_a_graph_in_order_and_a_small_one_stay_as_they_are():
    for graph in (Graph(graphs.grid(110, 120)), Graph(shuffled(graphs.grid(40, 50), 6013)[0])):
        assert numbered(graph).graph is graph
    graph = Graph(shuffled(graphs.grid(110, 120), 6014)[0])
    inner = numbered(graph).graph
    assert numbered(inner) == Numbering(inner)


def test_modes_and_answers_do_not_depend_on_the_numbers():
    W = sp.csr_array(graphs.grid(150, 220))
    mixed, order = shuffled(W, 6015)
    y = np.full(W.shape[0], -1)
    rng = np.random.default_rng(6016)
    for c in range(3):
        y[rng.choice(np.arange(c * 11_000, (c + 1) * 11_000), 12, replace=False)] = c
    Y = np.eye(3)[np.maximum(y, 0)] * (y >= 0)[:, None]
    modes = find_modes(Graph(W), 6, Y, SolverOptions(), exact=False)
    same = find_modes(Graph(mixed), 6, Y[order], SolverOptions(), exact=False)
    count = min(len(modes.values), len(same.values))
    np.testing.assert_allclose(same.values[:count], modes.values[:count], rtol=1e-4)
    assert same.residual < 1e-3
    one = RobustGC(affinity="precomputed").fit(W, y)
    other = RobustGC(affinity="precomputed").fit(mixed, y[order])
    assert np.mean(one.transduction_[order] == other.transduction_) > 0.98

"""harmonic and poisson against the dense formulas, exact fractions, and at size."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import spsolve

import graphs
import oracles
from robustgc import Graph, NotConvergedError, harmonic, lambda_1, poisson, robust
from robustgc.graph.graph import SMALL
from robustgc.linalg.cg import solve_shifted
from robustgc.models import harmonic as harmonic_module
from solving import relative


def solved_sparsely(W, y):
    L = sp.csr_array(sp.diags_array(W.sum(axis=1)) - W)
    u, labelled = np.flatnonzero(y == 0), np.flatnonzero(y)
    f = y.astype(float)
    f[u] = spsolve(L[u][:, u].tocsc(), -(L[u][:, labelled] @ y[labelled]))
    return f


@given(graphs.labelled_graphs(), st.booleans())
def test_harmonic_is_the_formula(case, sparse):
    W, y = case
    found = harmonic(Graph(sp.csr_array(W) if sparse else W), y)
    np.testing.assert_allclose(found.f, oracles.harmonic(W, y), atol=1e-12)
    assert found.residual < 1e-12
    assert found.n_iter == 0
    np.testing.assert_array_equal(found.f[y != 0], y[y != 0])


@given(graphs.labelled_graphs(max_nodes=8), st.data())
def test_harmonic_is_exact_however_weights_differ(case, data):
    W, y = case
    powers = st.lists(st.integers(-9, 9), min_size=len(W), max_size=len(W))
    scale = 10.0 ** np.array(data.draw(powers))
    W = np.tril(W * np.sqrt(np.outer(scale, scale)))
    W = W + np.tril(W, -1).T
    np.testing.assert_allclose(
        harmonic(Graph(W), y).f, oracles.harmonic_exactly(W.tolist(), y), atol=1e-14
    )


def test_a_cluster_held_by_weak_edges_takes_the_mean_of_what_holds_it():
    W = np.zeros((7, 7))
    W[2:, 2:] = graphs.complete(5)
    W[0, 2] = W[2, 0] = 1e-15
    W[1, 3] = W[3, 1] = 3e-15
    y = np.array([1.0, -1, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(harmonic(Graph(W), y).f[2:], -0.5, rtol=1e-13)


def test_harmonic_across_the_blocks_of_elimination():
    rng = np.random.default_rng(31)
    W = graphs.random_weights(rng, 300, density=0.02, loops=True)
    y = graphs.random_labels(rng, 300, 0.05)
    np.testing.assert_allclose(harmonic(Graph(W), y).f, oracles.harmonic(W, y), atol=1e-12)


def test_one_class_is_constant_and_labels_everywhere_are_kept():
    graph = Graph(graphs.path(6))
    np.testing.assert_allclose(harmonic(graph, [0, 1, 0, 0, 1, 0]).f, 1.0, rtol=1e-15)
    np.testing.assert_allclose(harmonic(graph, [0, 0, -1, 0, 0, 0]).f, -1.0, rtol=1e-15)
    y = np.array([1.0, -1, -1, 1, 1, -1])
    all_given = harmonic(graph, y)
    np.testing.assert_array_equal(all_given.f, y)
    assert all_given.residual == 0


def test_columns_may_label_different_nodes():
    rng = np.random.default_rng(32)
    W = graphs.random_weights(rng, 20)
    Y = np.column_stack([graphs.random_labels(rng, 20) for _ in range(3)])
    Y = np.column_stack([Y, -Y[:, 0]])
    for model in (harmonic, poisson):
        one_by_one = np.column_stack([model(Graph(W), y).f for y in Y.T])
        np.testing.assert_allclose(model(Graph(W), Y).f, one_by_one, atol=1e-12)


def test_a_column_without_a_label_is_refused():
    with pytest.raises(ValueError, match=r"Column 1 of y has no label.*Label at least one node"):
        harmonic(Graph(graphs.path(3)), np.array([[1, 0], [0, 0], [-1, 0]]))
    with pytest.raises(ValueError, match="3 nodes"):
        harmonic(Graph(graphs.path(3)), [1, -1])


@given(graphs.labelled_graphs(), st.booleans())
def test_poisson_is_the_formula(case, sparse):
    W, y = case
    found = poisson(Graph(sp.csr_array(W) if sparse else W), y)
    expected = oracles.poisson(W, y)
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(found.f, expected, atol=1e-9 * scale)
    assert found.residual < 1e-10
    assert abs(found.f @ oracles.null_vector(W)) < 1e-9 * scale


def test_poisson_is_the_limit_of_robust():
    rng = np.random.default_rng(33)
    graph = Graph(graphs.random_weights(rng, 40))
    y = graphs.random_labels(rng, 40)
    gamma = 1e-7 * lambda_1(graph)
    assert relative(robust(graph, y, gamma=gamma).f / gamma, poisson(graph, y).f) < 1e-6


GRID = graphs.grid(60, 70)
Y_GRID = np.zeros(4200)
Y_GRID[[5, 1000, 2500, 4100]] = [1, 1, -1, -1]
LARGE = {
    "blocks": lambda: graphs.labelled_blocks(34, 3000, 40),
    "grid": lambda: (GRID, Y_GRID),
    "path": lambda: (graphs.path(3000), np.eye(1, 3000, 3)[0] - np.eye(1, 3000, 2990)[0]),
    "weights apart": lambda: (
        graphs.path(2400, 10.0 ** np.random.default_rng(35).uniform(-3, 3, 2399)),
        np.eye(1, 2400, 3)[0] - np.eye(1, 2400, 2200)[0],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", LARGE)
def test_harmonic_of_large_graphs(case):
    W, y = LARGE[case]()
    found = harmonic(Graph(W), y)
    np.testing.assert_allclose(found.f, solved_sparsely(W, y), atol=2e-5)
    assert found.residual < 1e-9
    assert found.n_iter > 0


@pytest.mark.parametrize("case", ["blocks", "grid", "path"])
def test_poisson_of_large_graphs(case):
    W, y = LARGE[case]()
    graph = Graph(W)
    found = poisson(graph, y)
    assert relative(found.f, solve_shifted(graph, y, 0.0).f) < 1e-6
    assert found.residual < 1e-9


@pytest.mark.slow
def test_a_large_dense_graph_where_iterations_stall_is_factorised(monkeypatch):
    n = SMALL + 50
    y = np.zeros(n)
    y[[2, n - 3]] = 1, -1
    W = graphs.path(n)
    np.testing.assert_allclose(harmonic(Graph(W.toarray()), y).f, solved_sparsely(W, y), atol=1e-8)
    stored = poisson(Graph(W.toarray()), y)
    assert relative(stored.f, poisson(Graph(W), y).f) < 1e-6
    assert stored.n_iter < 100

    def no_memory(_matrix):
        raise MemoryError

    monkeypatch.setattr(harmonic_module, "factorised", no_memory)
    with pytest.raises(NotConvergedError, match="factorisation: out of memory"):
        harmonic(Graph(W.toarray()), y)


def weakly_held(weight):
    """A block model with labels, and one without that hangs on two weak edges."""
    W, y = graphs.labelled_blocks(36, 1200, 20)
    tail = graphs.largest_piece(graphs.block_model(np.random.default_rng(37), 1000))
    m = len(y)
    both = sp.lil_array(sp.block_diag([W, tail]))
    for i, j, w in ((np.argmax(y), m + 3, weight), (np.argmin(y), m + 5, 3 * weight)):
        both[i, j] = both[j, i] = w
    return sp.csr_array(both), np.append(y, np.zeros(tail.shape[0])), m


def test_weak_edges_of_a_large_graph_are_resolved_or_refused():
    W, y, m = weakly_held(1e-7)
    np.testing.assert_allclose(harmonic(Graph(W), y).f[m:], -0.5, atol=1e-4)
    W, y, _ = weakly_held(1e-13)
    with pytest.raises(NotConvergedError, match="held by very weak edges only"):
        harmonic(Graph(W), y)


@pytest.mark.slow
def test_poisson_of_clusters_that_hardly_hang_together():
    W = sp.csr_array(sp.block_diag([graphs.complete(760)] * 2)).tolil()
    W[759, 760] = W[760, 759] = 1e-10
    graph = Graph(sp.csr_array(W))
    y = np.zeros(1520)
    y[[4, 1000, 1100]] = 1, -1, 1
    gamma = 1e-6 * lambda_1(graph)
    found = poisson(graph, y)
    assert relative(found.f, robust(graph, y, gamma=gamma).f / gamma) < 1e-4
    assert found.residual < 1e-8


def test_poisson_beside_heavy_loops_to_all_digits():
    link = 2.0843951082983104e54
    expected = (Fraction(1e60) + Fraction(link)) / (4 * Fraction(link))  # (y_1 - y_2) / (2 lambda)
    W = np.array([[1e60, link], [link, 1e60]])
    found = poisson(Graph(W), [0.0, -1.0]).f
    np.testing.assert_allclose(found, [float(expected), -float(expected)], rtol=1e-14)
    np.testing.assert_allclose(oracles.poisson(W, np.array([0.0, -1.0])), found, rtol=1e-9)

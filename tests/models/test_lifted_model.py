"""Theorem 1 with the first q modes lifted (docs/lifted.md)."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import eigsh
from sklearn.neighbors import kneighbors_graph

import graphs
import lifting
import oracles
from robustgc import Graph, NotConvergedError, NotConvexError, RobustGC, lambda_1, robust
from robustgc.linalg.ladder import SolverOptions
from robustgc.linalg.modes import find_modes
from robustgc.models.paper import solve_lifted
from solving import relative

ETAS = st.floats(0.01, 0.99)
NUMBERS = st.integers(1, 11)
OPTIONS = SolverOptions(tol=1e-10, dtype="float64")


@given(graphs.labelled_graphs(min_nodes=3), ETAS, NUMBERS)
def test_equals_the_dense_formula(case, eta, q):
    W, y = case
    q = min(q, len(W) - 1)
    L, level = lifting.lifted_laplacian(W, q)
    found = robust(Graph(W), y, gamma=eta * level, n_modes=q)
    expected = lifting.kernel(W, q, gamma=eta * level) @ y
    assert relative(found.f, expected) <= 1e-8
    assert abs(found.f @ oracles.null_vector(W)) <= 1e-10 * np.abs(found.f).max()
    assert found.residual <= 1e-8
    system = L @ found.f - eta * level * found.f - eta * level * oracles.projector(W) @ y
    assert np.linalg.norm(system) <= 1e-9 * eta * level * np.linalg.norm(y)


@given(graphs.labelled_graphs(min_nodes=3), st.floats(0.05, 3.0), NUMBERS)
def test_strongly_convex_iff_gamma_is_below_lambda_q(case, ratio, q):
    W, y = case
    q = min(q, len(W) - 1)
    L, level = lifting.lifted_laplacian(W, q)
    gamma = ratio * level
    values, vectors = np.linalg.eigh(oracles.projector(W))
    basis = vectors[:, values > 0.5]
    smallest = np.linalg.eigvalsh(basis.T @ L @ basis - gamma * np.eye(len(W) - 1)).min()
    if ratio < 1 - 1e-9:
        assert smallest > 0
        robust(Graph(W), y, gamma=gamma, n_modes=q)
    elif ratio > 1 + 1e-9:
        assert smallest < 0
        with pytest.raises(NotConvexError, match=f"lambda_{q} "):
            robust(Graph(W), y, gamma=gamma, n_modes=q)


def test_gamma_at_lambda_q_is_refused():
    graph = Graph(graphs.random_weights(np.random.default_rng(2113), 30))
    y = graphs.random_labels(np.random.default_rng(2129), 30)
    level = float(find_modes(graph, 4, y[:, None], OPTIONS).values[2])
    with pytest.raises(NotConvexError, match="first 3 modes lifted"):
        robust(graph, y, gamma=level, n_modes=3)


@given(graphs.labelled_graphs(min_nodes=3), ETAS)
def test_one_mode_is_the_model_of_the_paper(case, eta):
    W, y = case
    graph = Graph(W)
    gamma = eta * lambda_1(graph)
    by_paper = robust(graph, y, gamma=gamma).f
    np.testing.assert_array_equal(robust(graph, y, gamma=gamma, n_modes=1).f, by_paper)
    by_lifting = solve_lifted(graph, y[:, None], n_modes=1, gamma=gamma, tol=1e-10).f[:, 0]
    assert relative(by_lifting, by_paper) <= 1e-9


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_estimator_with_one_mode_is_the_paper(n_classes):
    rng = np.random.default_rng(2131)
    W = graphs.random_weights(rng, 40)
    y = rng.integers(-1, n_classes, 40)
    given_ = np.where(y >= 0, 1.0, 0.0)
    wanted = [1] if n_classes == 2 else range(n_classes)
    Y = np.column_stack([given_ * np.where(y == k, 1.0, -1.0) for k in wanted])
    clf = RobustGC(eta=0.9, n_modes=1, affinity="precomputed").fit(W, y)
    graph = Graph(W)
    expected = robust(graph, Y, gamma=0.9 * lambda_1(graph)).f
    np.testing.assert_array_equal(clf.f_.reshape(40, -1), expected)
    assert relative(expected, oracles.robust(W, Y, 0.9 * oracles.lambda_1(W))) <= 1e-9
    assert clf.gamma_ == 0.9 * clf.lambda_1_
    assert (clf.eta_, clf.n_modes_, clf.selection_) == (0.9, 1, ())


@given(graphs.labelled_graphs(min_nodes=4), ETAS, NUMBERS)
def test_two_classes_are_the_sign_of_one_column(case, eta, q):
    W, y = case
    q = min(q, len(W) - 1)
    graph, gamma = Graph(W), eta * lifting.lifted_laplacian(W, q)[1]
    both = robust(graph, np.column_stack([y < 0, y > 0]).astype(float), gamma=gamma, n_modes=q).f
    f = robust(graph, y, gamma=gamma, n_modes=q).f
    np.testing.assert_allclose(both[:, 1] - both[:, 0], f, atol=1e-9 * np.abs(f).max())


@pytest.mark.parametrize("q", [1, 2, 5])
def test_the_estimator_says_the_sign_of_the_model(q):
    rng = np.random.default_rng(2137)
    W, y = graphs.random_weights(rng, 40), graphs.random_labels(rng, 40)
    clf = RobustGC(eta=0.7, n_modes=q, affinity="precomputed", unlabeled=0).fit(W, y.astype(int))
    f = lifting.kernel(W, q, eta=0.7) @ y
    assert relative(clf.f_, f) <= 1e-9
    np.testing.assert_array_equal(clf.transduction_, np.where(f > 0, 1, -1))


@pytest.mark.parametrize("balanced", [False, True])
def test_classes_of_the_estimator_are_columns_of_the_model(balanced):
    W, truth = lifting.blocks(2141, [30, 20, 10], 0.5, 0.1)
    y, _ = lifting.some_labels(2143, truth, 6)
    y[truth == 1] = np.where(np.arange((truth == 1).sum()) % 3, -1, y[truth == 1])
    Y = lifting.one_hot(y)
    F = lifting.kernel(W.toarray(), 2, eta=0.9) @ Y
    if balanced:
        F = F / Y.sum(axis=0) * Y.sum(axis=0).mean()
    weight = "balanced" if balanced else None
    clf = RobustGC(eta=0.9, n_modes=2, class_weight=weight, affinity="precomputed").fit(W, y)
    assert relative(clf.f_, F) <= 1e-9


def large(kind):
    """About 1800 nodes: dense eigenvalues are at hand, the library does not take them."""
    if kind == "blocks":
        return lifting.blocks(2153, [600, 500, 400, 300], 0.05, 0.006)[0]
    if kind == "grid":
        return graphs.grid(45, 40)
    X = np.random.default_rng(2161).random((1800, 2))
    W = kneighbors_graph(X, 8)
    return graphs.largest_piece(W + W.T)


@pytest.mark.filterwarnings("ignore::robustgc.ResidualWarning")  # that of the modes is above 1e-10
@pytest.mark.parametrize("kind", ["blocks", "grid", "neighbours"])
def test_larger_graphs(kind):
    W = large(kind)
    n = W.shape[0]
    assert n > 1500
    Y = np.zeros((n, 3))
    rng = np.random.default_rng(2179)
    nodes = rng.permutation(n)[:60]
    Y[nodes, rng.integers(0, 3, 60)] = 1.0
    values, V = np.linalg.eigh(oracles.laplacian(W.toarray()))
    values, V = values[1:], V[:, 1:]
    graph = Graph(W)
    for q, eta in [(2, 0.5), (3, 0.9), (3, 0.99), (20, 0.95)]:
        gamma = eta * values[q - 1]
        weights = gamma / (np.maximum(values, values[q - 1]) - gamma)
        found = robust(graph, Y, gamma=gamma, n_modes=q)
        assert relative(found.f, V @ (weights[:, None] * (V.T @ Y))) <= 1e-6
        assert found.residual <= 1e-7
    with pytest.raises(NotConvexError):
        robust(graph, Y, gamma=1.001 * values[2], n_modes=3)


def test_many_nodes_and_modes_that_stand_clear():
    W, truth = sparse_blocks(2203, 4, 8000)
    graph, rng = Graph(W), np.random.default_rng(2207)
    Y = np.zeros((graph.n, 4))
    nodes = rng.permutation(graph.n)[:80]
    Y[nodes, truth[nodes]] = 1.0
    S = sp.diags_array(graph.d**-0.5) @ W @ sp.diags_array(graph.d**-0.5)
    start = rng.standard_normal(graph.n)
    values = 1 - np.sort(eigsh(S, 4, which="LA", v0=start, return_eigenvectors=False))[::-1]
    modes = find_modes(graph, 3, Y, OPTIONS)
    np.testing.assert_allclose(modes.values, values[1:], rtol=1e-8)
    np.testing.assert_allclose(modes.vectors.T @ modes.vectors, np.eye(3), atol=1e-8)
    found = robust(graph, Y, gamma=0.9 * values[3], n_modes=3)
    assert found.residual <= 1e-7
    assert np.mean(found.f.argmax(axis=1) == truth) > 0.95
    with pytest.raises(NotConvergedError, match="n_modes=40"):
        robust(graph, Y, gamma=0.1, n_modes=40)


def sparse_blocks(seed, count, size):
    """Blocks of mean degree 18 inside and 2 across."""
    rng, n = np.random.default_rng(seed), count * size
    m = 9 * n
    left = rng.integers(0, n, m)
    right = left // size * size + rng.integers(0, size, m)
    left = np.concatenate([left, rng.integers(0, n, n), np.arange(n - 1)])
    right = np.concatenate([right, rng.integers(0, n, n), np.arange(1, n)])
    keep = left != right
    W = sp.coo_array((np.ones(keep.sum()), (left[keep], right[keep])), shape=(n, n)).tocsr()
    W = sp.csr_array(W + W.T)
    W.data[:] = 1.0
    return W, np.arange(n) // size


def test_a_torus_of_many_nodes_by_multigrid():
    rows, cols = 160, 200
    W = sp.kron(sp.eye_array(rows), graphs.cycle_sparse(cols))
    W = sp.csr_array(W + sp.kron(graphs.cycle_sparse(rows), sp.eye_array(cols)))
    graph, rng = Graph(W), np.random.default_rng(2213)
    Y = np.zeros((graph.n, 2))
    nodes = rng.permutation(graph.n)[:40]
    Y[nodes, (nodes % cols) * 2 // cols] = 1.0
    turns = np.cos(2 * np.pi * np.arange(rows) / rows)[:, None]
    exact = np.sort((1 - (turns + np.cos(2 * np.pi * np.arange(cols) / cols)) / 2).ravel())
    # All eigenvectors are products of waves: the closed form by the Fourier transform.
    symbol = (1 - (turns + np.cos(2 * np.pi * np.arange(cols) / cols)) / 2)[:, :, None]
    gamma = 0.9 * exact[3]
    weights = gamma / (np.maximum(symbol, exact[3]) - gamma)
    weights[0, 0] = 0.0
    waves = np.fft.fft2(Y.reshape(rows, cols, 2), axes=(0, 1))
    expected = np.fft.ifft2(weights * waves, axes=(0, 1)).real.reshape(-1, 2)
    found = robust(graph, Y, gamma=gamma, n_modes=3, tol=1e-8)
    assert relative(found.f, expected) <= 1e-3  # as good as the modes that multigrid finds
    assert found.residual <= 1e-4


@pytest.mark.parametrize("bad", [0, -1, 30, 2.5, "auto", None])
def test_a_number_of_modes_that_is_not_there(bad):
    graph = Graph(graphs.random_weights(np.random.default_rng(2221), 30))
    y = graphs.random_labels(np.random.default_rng(2237), 30)
    with pytest.raises(ValueError, match="whole number from 1 to 29"):
        robust(graph, y, gamma=0.01, n_modes=bad)


def test_modes_that_are_not_found_are_told_in_a_sentence(monkeypatch):
    def fail(*_):
        raise NotConvergedError("LOBPCG: residual 1.0e-02 after 100 steps")

    monkeypatch.setattr("robustgc.linalg.modes._searched_modes", fail)
    text = "modes of the graph of 6 nodes were not found: LOBPCG: .* after 100 steps. "
    advice = "Raise tol, lower n_modes, or remove very weak edges.$"  # no eta makes them easier
    with pytest.raises(NotConvergedError, match=text + advice):
        robust(Graph(graphs.complete(6)), [1, -1, 0, 0, 0, 0], gamma=0.1, n_modes=2)

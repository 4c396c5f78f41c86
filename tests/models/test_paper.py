"""Every model, container and method against the paper's dense formulas."""

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

import graphs
import oracles
from robustgc import (
    Graph,
    NotConvexError,
    belkin,
    condition_bound,
    extend,
    full_spectrum,
    lambda_1,
    node_kernel,
    robust,
    robust_path,
    zhou,
    zhou_path,
)
from robustgc.graph.graph import SMALL


def relative(actual, expected):
    return np.abs(actual - expected).max() / max(np.abs(expected).max(), 1e-300)


def cases(first, count=50):
    """Random graphs of 2 to 60 nodes, weighted, with and without self-loops."""
    for k in range(first, first + count):
        rng = np.random.default_rng(1000 + k)
        n = int(rng.integers(2, 61))
        density = float(rng.choice([0, 0.05, 0.3, 1]))
        W = graphs.random_weights(rng, n, density=density, loops=bool(k % 2))
        container = W if k % 3 else sp.csr_array(W)
        yield rng, W, Graph(container), graphs.random_labels(rng, n, rng.uniform(0.05, 0.9))


BATCHES = pytest.mark.parametrize("first", range(0, 500, 50))


@BATCHES
def test_robust_on_500_graphs(first):
    for rng, W, graph, y in cases(first):
        limit = lambda_1(graph)
        for eta in (0.01, rng.uniform(0.01, 0.99), 0.9, 0.99):
            solution = robust(graph, y, gamma=eta * limit)
            assert relative(solution.f, oracles.robust(W, y, eta * limit)) < 1e-8
            assert solution.residual < 1e-9


@BATCHES
def test_zhou_on_500_graphs(first):
    for rng, W, graph, y in cases(first):
        for gamma in (1e-4, 10 ** rng.uniform(-4, 4), 1.0, 1e4):
            solution = zhou(graph, y, gamma=gamma)
            assert relative(solution.f, oracles.zhou(W, y, gamma)) < 1e-8
            assert solution.residual < 1e-9


@BATCHES
def test_belkin_on_500_graphs(first):
    for rng, W, graph, y in cases(first):
        for kind in ("normalized", "combinatorial"):
            full = full_spectrum(graph, kind)
            p = int(rng.integers(1, len(W) + 1))
            # The formula has one answer only if the cut separates different eigenvalues and the
            # least-squares problem is not singular to working precision.
            if p < len(W) and full.values[p] - full.values[p - 1] < 1e-6:
                continue
            strengths = np.linalg.svd(full.vectors[y != 0, :p], compute_uv=False)
            if strengths.min() < 1e-5:
                continue
            expected = oracles.belkin(W, y, p, kind)
            found = belkin(graph, y, n_vectors=p, laplacian=kind).f
            assert np.abs(found - expected).max() < 1e-8 * max(1, np.abs(expected).max())


@BATCHES
def test_extension_on_500_graphs(first):
    inside = 0
    for rng, W, graph, y in cases(first):
        gamma = rng.uniform(0.01, 0.99) * lambda_1(graph)
        f = robust(graph, y, gamma=gamma).f
        k_x = rng.uniform(0, 1, (5, len(W))) * (rng.random((5, len(W))) < 0.5)
        k_xx = rng.uniform(0, 1, 5)
        found = extend(graph.d, f, k_x if len(W) % 2 else sp.csr_array(k_x), k_xx, gamma=gamma)
        for row, self_weight, value in zip(k_x, k_xx, found, strict=True):
            expected = oracles.extend(W, f, row, self_weight, gamma) if row.any() else None
            assert (expected is None) == np.isnan(value)
            if expected is not None:
                inside += 1
                assert abs(value - expected) <= 1e-8 * max(abs(expected), np.abs(f).max())
    assert inside > 50


def test_zhou_keeps_the_sign_of_values_far_below_rounding():
    # 0.268 a step: at the far end f is 1e-57 of its maximum, and still has its sign.
    y = np.zeros(100)
    y[0] = 1
    f = zhou(Graph(graphs.path(100)), y, gamma=1.0).f
    assert (f > 0).all()
    assert f[-1] == pytest.approx(f[-2] * 0.5**0.5 / 2, rel=1e-2, abs=f[-2])
    assert f[-1] < 1e-50


@pytest.mark.parametrize("gamma", [1e-7, 1e-12])
def test_zhou_with_gamma_near_rounding(gamma):
    W = graphs.random_weights(np.random.default_rng(2), 20)
    y = graphs.random_labels(np.random.default_rng(3), 20)
    values, V = np.linalg.eigh(oracles.laplacian(W))
    expected = V @ (np.append(1, gamma / (values[1:] + gamma)) * (V.T @ y))
    assert relative(zhou(Graph(W), y, gamma=gamma).f, expected) < 1e-9


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_block_of_columns_equals_its_columns(make):
    rng = np.random.default_rng(12)
    graph = Graph(make(graphs.random_weights(rng, 25)))
    Y = np.column_stack([graphs.random_labels(rng, 25) for _ in range(4)])
    gamma = 0.7 * lambda_1(graph)
    for solve in (
        lambda y: robust(graph, y, gamma=gamma),
        lambda y: zhou(graph, y, gamma=0.3),
        lambda y: belkin(graph, y, n_vectors=3),
    ):
        one_by_one = np.column_stack([solve(y).f for y in Y.T])
        np.testing.assert_allclose(solve(Y).f, one_by_one, atol=1e-12)


def test_paths_over_a_grid_equal_single_solves():
    rng = np.random.default_rng(13)
    graph, y = Graph(graphs.random_weights(rng, 30)), graphs.random_labels(rng, 30)
    gammas = np.linspace(0.02, 0.98, 9) * lambda_1(graph)
    for gamma, solution in zip(gammas, robust_path(graph, y, gammas), strict=True):
        np.testing.assert_allclose(solution.f, robust(graph, y, gamma=gamma).f, atol=1e-12)
    for gamma, solution in zip(gammas, zhou_path(graph, y, gammas), strict=True):
        np.testing.assert_allclose(solution.f, zhou(graph, y, gamma=gamma).f, atol=1e-12)
        assert solution.residual < 1e-10


@pytest.mark.parametrize("dense", [False, True])
def test_graphs_above_the_small_limit_agree_with_the_formula(dense):
    rng = np.random.default_rng(14)
    n = SMALL + 20
    W = graphs.random_weights(rng, n, density=0.01, loops=True)
    graph = Graph(W if dense else sp.csr_array(W))
    Y = np.column_stack([graphs.random_labels(rng, n, 0.02) for _ in range(2)])
    gammas = np.array([0.3, 0.9]) * lambda_1(graph)
    for gamma, solution in zip(gammas, robust_path(graph, Y, gammas), strict=True):
        assert relative(solution.f, oracles.robust(W, Y, gamma)) < 1e-8
        assert solution.n_iter > 0
    for gamma, solution in zip([0.01, 1.0], zhou_path(graph, Y, [0.01, 1.0]), strict=True):
        assert relative(solution.f, oracles.zhou(W, Y, gamma)) < 1e-8
        np.testing.assert_allclose(solution.f, zhou(graph, Y, gamma=gamma).f, atol=1e-12)
    found = belkin(graph, Y[:, 0], n_vectors=5).f
    assert relative(found, oracles.belkin(W, Y[:, 0], 5)) < 1e-6
    expected = np.linalg.pinv(oracles.laplacian(W), hermitian=True)[[3, 700]][:, [5]]
    np.testing.assert_allclose(node_kernel(graph, [3, 700], 5), expected, atol=1e-9)


def test_the_answer_survives_a_bridge_of_almost_nothing():
    # lambda_1 = 3e-16: below rounding, yet the two halves are told apart by one label each.
    W = graphs.two_cliques(6, 1e-14)
    graph = Graph(W)
    y = np.zeros(12)
    y[1], y[7], y[8] = 1, 1, -1
    f = robust(graph, y, gamma=0.9 * lambda_1(graph)).f
    v1 = np.sign(np.arange(12) - 5.5) / np.sqrt(12)
    np.testing.assert_allclose(f, 9 * (v1 @ y) * v1, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::robustgc.ResidualWarning")  # what is asked here is the error
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("bridge", [1.0, 1e-4, 1e-8, 1e-14])
def test_large_graphs_keep_relative_accuracy_whatever_lambda_1(bridge, dense):
    m = 760
    W = graphs.two_cliques(m, bridge)
    graph = Graph(W if dense else sp.csr_array(W))
    y = np.zeros(2 * m)
    y[:3], y[-3:] = 1, -1
    gamma = 0.9 * lambda_1(graph)
    f = robust(graph, y, gamma=gamma).f
    # Antisymmetric, and equal on labelled, plain and bridge nodes: three unknowns, 50 digits.
    with mpmath.workdps(50):
        b = mpmath.mpf(bridge)
        d = [mpmath.mpf(m - 1), mpmath.mpf(m - 1), m - 1 + b]
        counts = [3, m - 4, 1]
        L = mpmath.matrix(3, 3)
        for i in range(3):
            for j in range(3):
                L[i, j] = (i == j) - (counts[j] - (i == j)) / mpmath.sqrt(d[i] * d[j])
        L[2, 2] += b / d[2]
        small = mpmath.lu_solve(L / mpmath.mpf(gamma) - mpmath.eye(3), mpmath.matrix([1, 0, 0]))
        exact = [float(v) for v in small]
    assert relative(f[[0, 5, m - 1]], np.array(exact)) < 1e-6
    np.testing.assert_allclose(f[:m], -f[::-1][:m], atol=1e-6 * abs(f[0]))


@pytest.mark.parametrize("gamma", [1e-7, 1e-12, 1e-100, 1e-170])
@pytest.mark.parametrize("make", [sp.csr_array, np.asarray])
def test_zhou_of_a_large_graph_with_gamma_near_rounding(gamma, make):
    W = graphs.random_weights(np.random.default_rng(2), SMALL + 5, density=0.01)
    y = graphs.random_labels(np.random.default_rng(3), SMALL + 5, 0.01)
    y[:40] = 1
    graph = Graph(make(W))
    expected = graph.v0 * (graph.v0 @ y)  # what remains as gamma -> 0
    assert relative(zhou(graph, y, gamma=gamma).f, expected) < 100 * gamma + 1e-12


def test_robust_with_gamma_far_below_rounding_is_the_pseudo_inverse():
    rng = np.random.default_rng(2)
    for n in (30, SMALL + 5):
        graph = Graph(sp.csr_array(graphs.random_weights(rng, n, density=0.02)))
        y = graphs.random_labels(rng, n, 0.1)
        f = robust(graph, y, gamma=1e-170).f
        np.testing.assert_allclose(graph.L_N(f / 1e-170), graph.P0(y), atol=1e-7)


@pytest.mark.parametrize("ratio", [1.0, 1.05, 40.0])
def test_gamma_not_below_lambda_1_is_refused_with_both_numbers(ratio):
    graph = Graph(graphs.complete(6))
    for call in (
        lambda g: robust(graph, np.ones(6), gamma=g),
        lambda g: robust_path(graph, np.ones(6), [0.1, g]),
        lambda g: condition_bound(graph, g),
    ):
        with pytest.raises(NotConvexError, match=r"gamma = [\d.]+ .*lambda_1 = 1.2.*Theorem 1"):
            call(ratio * lambda_1(graph))
    assert issubclass(NotConvexError, ValueError)


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, np.inf])
def test_gamma_must_be_positive_and_finite(gamma):
    graph = Graph(graphs.complete(4))
    for model in (robust, zhou):
        with pytest.raises(ValueError, match=r"gamma = .* is not allowed|not below lambda_1"):
            model(graph, np.ones(4), gamma=gamma)
    with pytest.raises(ValueError, match="must be a finite number > 0"):
        zhou_path(graph, np.ones(4), [1.0, gamma])
    for wrong in (None, "0.5"):
        with pytest.raises(ValueError, match="must be a finite number > 0"):
            robust(graph, np.ones(4), gamma=wrong)


@pytest.mark.parametrize(
    ("y", "error", "text"),
    [
        (np.ones(3), ValueError, r"shape \(3,\) but the graph has 4 nodes"),
        (np.ones((4, 2, 2)), ValueError, r"shape \(4, 2, 2\)"),
        ([1, np.nan, 0, 0], ValueError, "NaN, infinity, or numbers beyond"),
        (["a", "b", "", ""], TypeError, r"\+1, -1, 0"),
    ],
)
def test_bad_label_vectors(y, error, text):
    with pytest.raises(error, match=text):
        robust(Graph(graphs.complete(4)), y, gamma=0.1)


def test_belkin_without_any_label_answers_zero_and_more_vectors_than_nodes_are_refused():
    graph = Graph(graphs.complete(4))
    np.testing.assert_array_equal(belkin(graph, np.zeros(4), n_vectors=2).f, 0)
    with pytest.raises(ValueError, match=r"n_vectors=2.0 is not allowed"):
        belkin(graph, np.ones(4), n_vectors=2.0)
    with pytest.raises(ValueError, match="5 eigenvectors"):
        belkin(graph, np.ones(4), n_vectors=5)


def test_extension_refuses_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"k_x has shape \(1, 2\)"):
        extend([1.0, 1.0, 1.0], [1.0, 0.0, -1.0], [[0.5, 0.5]], 0.0, gamma=0.1)
    assert extend([1.0, 1.0], [1.0, -1.0], [[0.5, 0.2]], 0.0, gamma=0.1) > 0


def test_node_kernel_refuses_unknown_nodes():
    with pytest.raises(ValueError, match="from 0 to 3"):
        node_kernel(Graph(graphs.complete(4)), 0, 4)
    with pytest.raises(ValueError, match="integers"):
        node_kernel(Graph(graphs.complete(4)), 0.5, 1)


def test_inputs_are_never_modified():
    W = graphs.random_weights(np.random.default_rng(5), 9)
    y = graphs.random_labels(np.random.default_rng(5), 9)
    W_kept, y_kept = W.copy(), y.copy()
    graph = Graph(W)
    robust(graph, y, gamma=0.5 * lambda_1(graph))
    zhou(graph, y, gamma=0.5)
    belkin(graph, y, n_vectors=3)
    np.testing.assert_array_equal(W, W_kept)
    np.testing.assert_array_equal(y, y_kept)

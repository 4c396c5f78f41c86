"""Section 3.3: the extension to new points and its range."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist

import graphs
import oracles
from robustgc import Graph, extend, lambda_1, robust


def kernel(A, B, sigma=1.0):
    return np.exp(-cdist(A, B, "sqeuclidean") / (2 * sigma**2))


def fitted(seed, eta):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((int(rng.integers(3, 20)), 2))
    W = kernel(X, X)
    graph = Graph(W)
    gamma = eta * lambda_1(graph)
    f = robust(graph, graphs.random_labels(rng, len(X)), gamma=gamma).f
    return rng, X, W, gamma, f


CASES = given(st.integers(100, 100000), st.floats(0.05, 0.95))


@CASES
def test_formula_and_range(seed, eta):
    rng, X, W, gamma, f = fitted(seed, eta)
    X_new = 2 * rng.standard_normal((8, 2))
    k_x = kernel(X_new, X)
    found = extend(W.sum(axis=1), f, k_x, 1.0, gamma=gamma)
    in_range = k_x.sum(axis=1) > 1 / (1 - gamma)
    np.testing.assert_array_equal(np.isfinite(found), in_range)
    for row, value in zip(k_x[in_range], found[in_range], strict=True):
        np.testing.assert_allclose(value, oracles.extend(W, f, row, 1.0, gamma), rtol=1e-10)


@CASES
def test_the_value_minimises_the_extended_objective(seed, eta):
    _, X, W, gamma, f = fitted(seed, eta)
    x = X.mean(axis=0, keepdims=True)
    k_x = kernel(x, X)
    value = extend(W.sum(axis=1), f, k_x, 1.0, gamma=gamma)[0]
    if np.isnan(value):
        return
    d_x = k_x.sum()
    S_x = k_x[0] / np.sqrt(d_x * W.sum(axis=1))  # noqa: N806

    def objective(f_x):
        return (1 - 1 / d_x - gamma) / 2 * f_x**2 - (S_x @ f) * f_x

    best = minimize_scalar(objective).x
    np.testing.assert_allclose(value, best, rtol=1e-5, atol=1e-7)


def test_gamma_above_one_leaves_every_point_out_of_range():
    # Possible without self-loops: lambda_1 of a complete graph is above 1.
    W = graphs.complete(6)
    graph = Graph(W)
    gamma = 0.95 * lambda_1(graph)
    f = robust(graph, [1, 0, 0, -1, 0, 0], gamma=gamma).f
    assert gamma > 1
    assert np.isnan(extend(graph.d, f, np.ones((2, 6)), 0.0, gamma=gamma)).all()


def test_a_point_that_touches_nothing_is_out_of_range_even_without_a_self_loop():
    graph = Graph(graphs.path(4))
    f = robust(graph, [1, 0, 0, -1], gamma=0.1).f
    values = extend(graph.d, f, np.array([[0.0, 0, 0, 0], [1, 1, 0, 0]]), 0.0, gamma=0.1)
    assert np.isnan(values[0])
    assert values[1] > 0


def test_columns_are_extended_one_by_one():
    rng, X, W, gamma, f = fitted(4711, 0.9)
    F = np.column_stack([f, -2 * f])
    k_x = kernel(rng.standard_normal((5, 2)), X)
    found = extend(W.sum(axis=1), F, k_x, np.ones(5), gamma=gamma)
    np.testing.assert_allclose(found[:, 1], -2 * found[:, 0], rtol=1e-12)
    np.testing.assert_allclose(found[:, 0], extend(W.sum(axis=1), f, k_x, 1.0, gamma=gamma))

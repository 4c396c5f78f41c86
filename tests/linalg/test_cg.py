import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import graphs
import oracles
from robustgc import Graph, NotConvergedError, NotConvexError
from robustgc.linalg import cg
from robustgc.linalg.cg import solve_shifted


@given(graphs.labelled_graphs(), st.floats(0.01, 0.99))
def test_negative_shift_is_the_robust_system(case, eta):
    W, y = case
    gamma = eta * oracles.lambda_1(W)
    solution = solve_shifted(Graph(W), gamma * (oracles.projector(W) @ y), -gamma)
    expected = oracles.robust(W, y, gamma)
    np.testing.assert_allclose(solution.f, expected, atol=1e-7 * np.abs(expected).max())
    assert solution.residual < 1e-9


@given(graphs.labelled_graphs(), st.floats(-4, 4))
def test_positive_shift_is_the_system_of_zhou(case, exponent):
    W, y = case
    gamma = 10.0**exponent
    solution = solve_shifted(Graph(W), gamma * y, gamma, tol=1e-13)
    np.testing.assert_allclose(solution.f, oracles.zhou(W, y, gamma), atol=1e-8)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_factorisation_takes_over_where_plain_iterations_stall(make, monkeypatch):
    monkeypatch.setattr(cg, "PLAIN_ITERATIONS", 3)
    W = graphs.path(60).toarray()
    y = graphs.random_labels(np.random.default_rng(4), 60)
    for shift, expected in (
        (-0.9 * oracles.lambda_1(W), oracles.robust(W, y, 0.9 * oracles.lambda_1(W))),
        (0.01, oracles.zhou(W, y, 0.01)),
    ):
        b = abs(shift) * (oracles.projector(W) @ y if shift < 0 else y)
        solution = solve_shifted(Graph(make(W)), b, shift)
        np.testing.assert_allclose(solution.f, expected, atol=1e-7 * np.abs(expected).max())
        assert 0 < solution.n_iter < 60


def test_preconditioned_iterations_do_not_depend_on_lambda_1():
    # The condition number is at most 1 / (1 - eta) = 10, on a path where lambda_1 is 3e-8.
    n = 12000
    lam = 2 * np.sin(np.pi / (n - 1) / 2) ** 2
    graph = Graph(graphs.path(n))
    y = np.zeros(n)
    y[[10, 400, n - 5]] = [1, -1, -1]
    solution = solve_shifted(graph, 0.9 * lam * graph.P0(y), -0.9 * lam, tol=1e-8)
    assert solution.n_iter < 60
    assert abs(graph.v0 @ solution.f) < 1e-8 * np.abs(solution.f).max()


def test_curvature_reveals_gamma_above_lambda_1():
    W = graphs.random_weights(np.random.default_rng(6), 40)
    graph = Graph(W)
    y = graphs.random_labels(np.random.default_rng(6), 40)
    for factor in (1.05, 2.0, 10.0):
        with pytest.raises(NotConvexError, match="Theorem 1"):
            solve_shifted(graph, graph.P0(y), -factor * oracles.lambda_1(W))


def test_zero_columns_are_answered_with_zero():
    graph = Graph(graphs.complete(5))
    B = np.zeros((5, 3))
    B[0, 1] = 1.0
    solution = solve_shifted(graph, B, 0.5)
    np.testing.assert_array_equal(solution.f[:, [0, 2]], 0)
    np.testing.assert_allclose(
        solution.f[:, 1], np.linalg.solve(oracles.laplacian(graph.W) + np.eye(5) / 2, B[:, 1])
    )


@given(graphs.weighted_graphs())
def test_shift_zero_is_the_pseudo_inverse(W):
    expected = np.linalg.pinv(oracles.laplacian(W), hermitian=True)
    for container in (W, sp.csr_array(W)):
        inverse = solve_shifted(Graph(container), np.eye(len(W)), 0.0, tol=1e-12).f
        np.testing.assert_allclose(inverse, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("tol", [0.0, -1e-8, 1.0, np.nan])
def test_a_tolerance_that_asks_for_nothing_is_refused(tol):
    with pytest.raises(ValueError, match=r"tol=.* must be above 0, at most 0.01"):
        solve_shifted(Graph(graphs.complete(4)), np.ones(4), 1.0, tol=tol)


def test_failure_says_what_was_tried_and_how_far_it_got(monkeypatch):
    monkeypatch.setattr(cg, "PLAIN_ITERATIONS", 2)

    def no_memory(_):
        raise MemoryError

    monkeypatch.setattr(cg, "factorised", no_memory)
    graph = Graph(graphs.path(50))
    b = np.zeros(50)
    b[3] = 1.0
    text = r"residual .* after 2 iterations; .*do not fit in memory.*Lower eta"
    with pytest.raises(NotConvergedError, match=text):
        solve_shifted(graph, b, -1e-4)

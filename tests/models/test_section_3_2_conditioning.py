"""Section 3.2: the largest eigenvalue of L_N, and the bound on the condition number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import graphs
import oracles
from robustgc import Graph, condition_bound, full_spectrum, lambda_1

POINTS = st.integers(3, 25).map(
    lambda n: np.random.default_rng(n).standard_normal((n, 2))  # a Gaussian kernel matrix is psd
)


@given(graphs.weighted_graphs())
def test_the_largest_eigenvalue_is_at_most_2(W):
    assert full_spectrum(Graph(W)).values[-1] <= 2 + 1e-13


@given(POINTS)
def test_the_largest_eigenvalue_is_at_most_1_if_w_is_positive_semidefinite(X):
    W = np.exp(-cdist(X, X, "sqeuclidean"))
    assert full_spectrum(Graph(W)).values[-1] <= 1 + 1e-13


@given(graphs.weighted_graphs(min_nodes=3), st.floats(0.01, 0.99))
def test_the_bound_holds_for_indefinite_weights(W, eta):
    graph = Graph(W)
    gamma = eta * lambda_1(graph)
    bound = condition_bound(graph, gamma)
    assert oracles.condition_number(W, gamma) <= bound * (1 + 1e-9)


@given(POINTS, st.floats(0.01, 0.99))
def test_the_tighter_bound_holds_for_positive_semidefinite_weights(X, eta):
    W = np.exp(-cdist(X, X, "sqeuclidean"))
    graph = Graph(W)
    gamma = eta * lambda_1(graph)
    tight = condition_bound(graph, gamma, positive_semidefinite=True)
    assert oracles.condition_number(W, gamma) <= tight * (1 + 1e-9)
    assert tight < condition_bound(graph, gamma)


def test_the_bound_is_reached_by_bipartite_graphs():
    graph = Graph(graphs.star(6))
    gamma = 0.9 * lambda_1(graph)
    assert condition_bound(graph, gamma) == pytest.approx(
        oracles.condition_number(graphs.star(6), gamma)
    )


def test_gamma_close_to_lambda_1_is_badly_conditioned():
    graph = Graph(graphs.random_weights(np.random.default_rng(79), 15))
    bounds = [condition_bound(graph, eta * lambda_1(graph)) for eta in (0.5, 0.9, 0.99, 0.999)]
    assert (np.diff(bounds) > 0).all()

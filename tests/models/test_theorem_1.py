"""Theorem 1: strongly convex on the complement of v0 iff gamma < lambda_1; the unique solution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphs
import oracles
from robustgc import Graph, NotConvexError, full_spectrum, lambda_1, robust, robust_path

ETAS = st.floats(0.01, 0.99)


def feasible_hessian(W, gamma):
    """Of the objective restricted to f' v0 = 0."""
    values, vectors = np.linalg.eigh(oracles.projector(W))
    basis = vectors[:, values > 0.5]
    return basis.T @ (oracles.laplacian(W) - gamma * np.eye(len(W))) @ basis


@given(graphs.labelled_graphs(), st.floats(0.05, 3.0))
def test_strongly_convex_iff_gamma_is_below_lambda_1(case, ratio):
    W, y = case
    graph = Graph(W)
    gamma = ratio * lambda_1(graph)
    smallest = np.linalg.eigvalsh(feasible_hessian(W, gamma)).min()
    if ratio < 1 - 1e-9:
        assert smallest > 0
        robust(graph, y, gamma=gamma)
    elif ratio > 1 + 1e-9:
        assert smallest < 0
        with pytest.raises(NotConvexError):
            robust(graph, y, gamma=gamma)


@given(graphs.labelled_graphs(), ETAS)
def test_solution_is_feasible_and_equals_the_closed_form(case, eta):
    W, y = case
    graph = Graph(W)
    gamma = eta * lambda_1(graph)
    f = robust(graph, y, gamma=gamma).f
    scale = np.abs(f).max()
    assert abs(f @ graph.v0) <= 1e-12 * scale * len(W)
    np.testing.assert_allclose(f, oracles.robust(W, y, gamma), atol=1e-8 * scale)


@given(graphs.labelled_graphs(), st.floats(0.05, 0.95))
def test_solution_is_the_minimum(case, eta):
    W, y = case
    graph = Graph(W)
    gamma = eta * lambda_1(graph)
    f = robust(graph, y, gamma=gamma).f
    best = oracles.objective(W, y, gamma, f)
    steps = oracles.projector(W) @ np.random.default_rng(47).standard_normal((len(W), 6))
    for step in steps.T * np.abs(f).max():
        for size in (1.0, 1e-2):
            assert oracles.objective(W, y, gamma, f + size * step) >= best - 1e-9 * abs(best)


@given(graphs.labelled_graphs(), ETAS)
def test_coefficients_of_the_proof(case, eta):
    W, y = case
    graph = Graph(W)
    gamma = eta * lambda_1(graph)
    spectrum = full_spectrum(graph)
    f = robust(graph, y, gamma=gamma).f
    expected = spectrum.vectors[:, 1:].T @ y / (spectrum.values[1:] / gamma - 1)
    np.testing.assert_allclose(
        spectrum.vectors[:, 1:].T @ f, expected, atol=1e-9 * np.abs(expected).max() + 1e-12
    )


@given(graphs.labelled_graphs(), ETAS)
def test_linear_and_odd_in_y(case, eta):
    W, y = case
    graph = Graph(W)
    gamma = eta * lambda_1(graph)
    z = np.random.default_rng(53).choice([-1.0, 0.0, 1.0], len(y))
    f, g, h = (robust(graph, v, gamma=gamma).f for v in (y, z, 2 * y - 3 * z))
    scale = np.abs(f).max() + np.abs(g).max()
    np.testing.assert_allclose(h, 2 * f - 3 * g, atol=1e-10 * scale)
    np.testing.assert_allclose(robust(graph, -y, gamma=gamma).f, -f, atol=1e-12 * scale)


@given(graphs.labelled_graphs(), ETAS)
def test_permutation_equivariant_and_scale_invariant(case, eta):
    W, y = case
    graph = Graph(W)
    gamma = eta * lambda_1(graph)
    f = robust(graph, y, gamma=gamma).f
    scale = np.abs(f).max()
    order = np.random.default_rng(59).permutation(len(y))
    permuted = robust(Graph(W[np.ix_(order, order)]), y[order], gamma=gamma).f
    np.testing.assert_allclose(permuted, f[order], atol=1e-8 * scale)
    for factor in (1e-150, 3.7, 1e150):
        np.testing.assert_allclose(
            robust(Graph(W * factor), y, gamma=gamma).f, f, atol=1e-8 * scale
        )


@pytest.mark.filterwarnings("ignore::robustgc.ResidualWarning")  # f grows without bound
def test_tends_to_the_second_eigenvector_as_eta_tends_to_1():
    rng = np.random.default_rng(61)
    graph, y = Graph(graphs.random_weights(rng, 20)), graphs.random_labels(rng, 20)
    v1 = full_spectrum(graph).vectors[:, 1]
    f = robust(graph, y, gamma=(1 - 1e-9) * lambda_1(graph)).f
    v1 = v1 * np.sign(v1 @ f)
    np.testing.assert_allclose(f / np.linalg.norm(f), v1, atol=1e-6)


def test_tends_to_the_pseudo_inverse_as_eta_tends_to_0():
    rng = np.random.default_rng(67)
    W, y = graphs.random_weights(rng, 20), graphs.random_labels(rng, 20)
    graph = Graph(W)
    gamma = 1e-8 * lambda_1(graph)
    expected = np.linalg.pinv(oracles.laplacian(W), hermitian=True) @ y
    np.testing.assert_allclose(
        robust(graph, y, gamma=gamma).f / gamma, expected, rtol=1e-6, atol=1e-7
    )


def test_gamma_closer_to_lambda_1_gives_more_weight_to_the_second_eigenvector():
    rng = np.random.default_rng(71)
    graph, y = Graph(graphs.random_weights(rng, 20)), graphs.random_labels(rng, 20)
    v1 = full_spectrum(graph).vectors[:, 1]
    etas = np.array([0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
    solutions = robust_path(graph, y, etas * lambda_1(graph))
    share = [abs(v1 @ s.f) / np.linalg.norm(s.f) for s in solutions]
    assert (np.diff(share) > 0).all()

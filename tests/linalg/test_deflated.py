"""Systems off the first modes, against the full decomposition."""

import numpy as np
import pytest

import graphs
import lifting
from robustgc import Graph, full_spectrum
from robustgc.linalg import deflated
from robustgc.linalg.deflated import DeflatedOperator
from robustgc.linalg.solution import NotConvergedError

MIX = np.array([[0.5, 0.2, 0.3], [0.0, 1.0, 0.0]])


def case(kind, q=3):
    graph = Graph(
        lifting.blocks(3037, [500, 400, 400, 300], 0.06, 0.008)[0]
        if kind == "blocks"
        else graphs.grid(36, 45)
    )
    spectrum = full_spectrum(graph)
    B = np.random.default_rng(3041).standard_normal((graph.n, 40))
    gammas = np.array([0.1, 0.5, 0.95]) * spectrum.values[q]
    V, values = spectrum.vectors[:, q + 1 :], spectrum.values[q + 1 :]
    exact = np.stack([V @ ((V.T @ B) / (values - gamma)[:, None]) for gamma in gammas])
    return graph, spectrum, B, gammas, exact


@pytest.mark.parametrize("kind", ["blocks", "grid"])
@pytest.mark.parametrize(("dtype", "room"), [("float64", 1e-8), ("float32", 2e-4)])
def test_sums_over_gammas(kind, dtype, room):
    graph, spectrum, B, gammas, exact = case(kind)
    off = DeflatedOperator(graph, spectrum.vectors[:, 1:4], float(spectrum.values[4]), dtype)
    tol = 1e-9 if dtype == "float64" else 1e-5
    found, residual, steps = off.solve_combined(B, gammas, MIX, tol)
    expected = np.tensordot(MIX, exact, 1)
    assert np.abs(found - expected).max() <= room * np.abs(expected).max()
    assert residual <= tol
    assert steps <= deflated.MAX_DEGREE
    nodes = np.array([7, 3, 900])
    rows = off.solve_combined_at(nodes, B, gammas, tol, np.eye(3))
    assert np.abs(rows - exact[:, nodes]).max() <= room * np.abs(exact).max()
    sums = off.solve_combined_at(nodes, B, gammas, tol, MIX)
    assert np.abs(sums - expected[:, nodes]).max() <= room * np.abs(expected).max()


def test_multigrid_where_the_recurrence_would_take_too_long(monkeypatch):
    monkeypatch.setattr(deflated, "MAX_DEGREE", 10)
    graph, spectrum, B, gammas, exact = case("grid")
    off = DeflatedOperator(graph, spectrum.vectors[:, 1:4], float(spectrum.values[4]), "float64")
    found, residual, _ = off.solve_combined(B, gammas, MIX, 1e-9)
    assert residual <= 1e-8
    expected = np.tensordot(MIX, exact, 1)
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())
    rows = off.solve_combined_at(np.array([7, 3]), B, gammas, 1e-9, MIX)
    np.testing.assert_array_equal(rows, found[:, [7, 3]])


def test_of_many_gammas_some_are_solved_for():
    graph, spectrum, *_ = case("grid")
    off = DeflatedOperator(graph, spectrum.vectors[:, 1:4], float(spectrum.values[4]), "float64")
    gammas = np.linspace(0.01, 0.95, 20) * spectrum.values[3]
    mix = np.random.default_rng(3049).random((3, 20))
    mix[2] = 0.0
    mix[2, 11] = 0.7
    poles, shares = off._poles(gammas, mix)
    assert len(poles) < 8
    values = spectrum.values[4:, None]
    exact, fitted = (1 / (values - gammas)) @ mix.T, (1 / (values - poles)) @ shares.T
    np.testing.assert_allclose(fitted, exact, rtol=5e-3)
    np.testing.assert_allclose(fitted[:, 2], exact[:, 2], rtol=1e-12)


def test_a_mode_that_is_not_among_them_is_noticed():
    graph, spectrum, B, gammas, _ = case("blocks")
    off = DeflatedOperator(graph, spectrum.vectors[:, 2:4], float(spectrum.values[4]), "float64")
    with pytest.raises(NotConvergedError, match="was missed"):
        off.solve_combined(B, gammas[:1], np.ones((1, 1)), 1e-9)


def test_a_matrix_without_zeros_is_factorised_where_products_would_be_too_many():
    graph = Graph(np.kron(np.eye(4), np.ones((20, 20))) + 1e-8)
    spectrum = full_spectrum(graph)
    off = DeflatedOperator(graph, spectrum.vectors[:, 1:2], float(spectrum.values[2]), "float64")
    B = np.random.default_rng(3061).standard_normal((80, 3))
    gammas = np.array([0.5, 0.9]) * spectrum.values[1]
    found, residual, _ = off.solve_combined(B, gammas, np.eye(2), 1e-9)
    V, values = spectrum.vectors[:, 2:], spectrum.values[2:]
    exact = np.stack([V @ ((V.T @ B) / (values - gamma)[:, None]) for gamma in gammas])
    np.testing.assert_allclose(found, exact, atol=1e-5 * np.abs(exact).max())
    assert residual <= 1e-6


def test_products_beyond_all_patience_are_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(Graph, "is_here", False)  # as if only products were known
    graph = Graph(graphs.two_cliques(20, 1e-9))
    off = DeflatedOperator(graph, np.empty((40, 0)), 1e-10, "float64")
    with pytest.raises(NotConvergedError, match=r"\d+ products .* at most 12000 .*\.$"):
        off.solve_combined(np.eye(40)[:, :2], np.array([9e-11]), np.eye(1), 1e-8)

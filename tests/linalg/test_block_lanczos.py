"""The first modes by block Lanczos, against all eigenpairs."""

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
import lifting
from robustgc import Graph, full_spectrum
from robustgc.linalg.block_lanczos import block_lanczos_modes
from robustgc.linalg.eigenpairs import count_reliable
from robustgc.linalg.solution import NotConvergedError


def residuals(graph, found):
    rest = graph.L_N(found.vectors) - found.vectors * found.values
    return np.linalg.norm(rest, axis=0) / found.values


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "digits"), [("float64", 1e-5), ("float32", 1e-4)])
@pytest.mark.parametrize("seed", [3011, 3019])
def test_modes_that_stand_clear(dtype, digits, seed):
    W, truth = lifting.blocks(seed, [500, 400, 400, 300], 0.06, 0.008)
    y, _ = lifting.some_labels(seed + 1, truth, 10, wrong=4)
    graph = Graph(W)
    found = block_lanczos_modes(graph, lifting.one_hot(y), 20, dtype)
    values = full_spectrum(graph).values
    known = len(found.values)
    assert 3 <= known < 20  # those of the blocks, and not the bulk
    np.testing.assert_allclose(found.values, values[1 : known + 1], rtol=1e-6)
    assert (residuals(graph, found) <= 2 * digits).all()
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(known), atol=1e-10)
    np.testing.assert_allclose(graph.v0 @ found.vectors, 0.0, atol=1e-10)
    assert values[known] <= found.next_eigenvalue <= values[known + 1] * (1 + 1e-6)
    assert found.steps < 80


def test_as_many_as_are_asked_for_after_restarts():
    graph = Graph(graphs.grid(38, 43))
    found = block_lanczos_modes(graph, np.empty((graph.n, 0)), 30, "float64", residual=1e-9)
    np.testing.assert_allclose(found.values, full_spectrum(graph).values[1:31], rtol=1e-9)
    assert (residuals(graph, found) <= 1e-8).all()


def test_a_mode_that_no_label_sees_is_found():
    """Two equal halves, labels the same in both: v_1 is orthogonal to every label column."""
    half = lifting.blocks(3023, [400, 400], 0.05, 0.02)[0]
    W = sp.block_diag([half, half]).tolil()
    W[0, 800] = W[800, 0] = 1.0
    Y = np.zeros((1600, 2))
    Y[[5, 805], 0] = Y[[500, 1300], 1] = 1.0
    graph = Graph(sp.csr_array(W))
    found = block_lanczos_modes(graph, Y, 3, "float64")
    np.testing.assert_allclose(found.values[0], full_spectrum(graph).values[1], rtol=1e-6)


def test_of_an_eigenvalue_with_many_copies_one_mode_is_taken():
    n = 1600
    star = sp.coo_array((np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))), shape=(n, n))
    Y = np.zeros((n, 2))
    Y[[3, 9], [0, 1]] = 1.0
    found = block_lanczos_modes(Graph(sp.csr_array(star + star.T)), Y, 8, "float64")
    np.testing.assert_allclose(found.values, [1.0])  # 1598 times, and then 2
    assert found.next_eigenvalue == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("values", "known"),
    [([0.1, 0.2, 0.3], 3), ([0.1, 0.2, 0.2, 0.2, 0.2, 0.9], 2), ([0.1, 0.1, 0.1, 0.4], 4)],
)
def test_copies_of_an_eigenvalue_are_counted(values, known):
    assert count_reliable(np.array(values)) == known


def test_what_products_do_not_resolve_is_refused():
    with pytest.raises(NotConvergedError, match="lambda_1 is about"):
        block_lanczos_modes(Graph(graphs.grid(2, 20_000)), np.empty((40_000, 0)), 3, "float32")

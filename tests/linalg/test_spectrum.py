import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import graphs
import oracles
from robustgc import Graph, NotConvergedError, eigenpairs, full_spectrum, lambda_1
from robustgc.graph import threads
from robustgc.graph.graph import KINDS, SMALL
from robustgc.linalg import spectrum


def exact_lambda_1(W):
    """Of the weights as stored, with 60 digits."""
    with mpmath.workdps(60):
        M = mpmath.matrix(W.tolist())
        d = [mpmath.fsum(M[i, :]) for i in range(len(W))]
        L = mpmath.eye(len(W))
        for i in range(len(W)):
            for j in range(len(W)):
                L[i, j] -= M[i, j] / mpmath.sqrt(d[i] * d[j])
        return float(sorted(mpmath.eigsy(L, eigvals_only=True))[1])


@given(graphs.weighted_graphs())
def test_lambda_1_equals_the_dense_definition(W):
    assert lambda_1(Graph(W)) == pytest.approx(oracles.lambda_1(W), rel=1e-11, abs=1e-14)


@pytest.mark.parametrize("n", [2, 3, 6, 200])
def test_complete_graphs_have_lambda_1_above_one(n):
    assert lambda_1(Graph(graphs.complete(n))) == pytest.approx(n / (n - 1), rel=1e-13)


@pytest.mark.parametrize("n", [600, 5000])
def test_paths(n):
    exact = 2 * np.sin(np.pi / (n - 1) / 2) ** 2
    assert lambda_1(Graph(graphs.path(n))) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("W", [graphs.star(7), graphs.cycle(8), np.eye(4)[::-1] + graphs.path(4)])
def test_bipartite_graphs_keep_v0_apart_from_the_eigenvalue_two(W):
    W = np.asarray(W)
    full = full_spectrum(Graph(W))
    np.testing.assert_allclose(full.values, np.linalg.eigvalsh(oracles.laplacian(W)), atol=1e-13)
    np.testing.assert_allclose(full.vectors[:, 0], oracles.null_vector(W))
    np.testing.assert_allclose(full.vectors.T @ full.vectors, np.eye(len(W)), atol=1e-13)


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
@pytest.mark.parametrize("bridge", [1e-8, 1e-12, 1e-18])
def test_two_cliques_joined_by_almost_nothing(bridge, scale):
    W = graphs.two_cliques(6, bridge) * scale
    for container in (W, sp.csr_array(W)):
        assert lambda_1(Graph(container)) == pytest.approx(exact_lambda_1(W), rel=1e-8)


def test_three_cliques_joined_by_different_whispers():
    # Two eigenvalues below rounding: a plain decomposition returns any mixture of their vectors.
    W = np.kron(np.eye(3), graphs.complete(4))
    W[3, 4] = W[4, 3] = 1e-16
    W[7, 8] = W[8, 7] = 1e-19
    full = full_spectrum(Graph(W))
    assert full.values[1] == pytest.approx(exact_lambda_1(W), rel=1e-6)
    v1 = full.vectors[:, 1]
    np.testing.assert_allclose(v1[:8], v1[0], rtol=1e-2)
    assert v1[0] * v1[-1] < 0


def test_heavy_self_loops_do_not_drown_small_eigenvalues():
    W = graphs.random_weights(np.random.default_rng(3), 8) * 1e-13 + np.eye(8)
    assert lambda_1(Graph(W)) == pytest.approx(exact_lambda_1(W), rel=1e-10)


@pytest.mark.parametrize("loop", [1e6, 1e13])
def test_self_loops_of_any_weight_leave_the_digits(loop):
    W = graphs.random_weights(np.random.default_rng(6), 60)
    heavy = Graph(W + loop * np.eye(60))
    # L_N is then (D - W) / loop to first order in 1 / loop.
    combinatorial = np.sort(np.linalg.eigvalsh(np.diag(W.sum(axis=1)) - W))[1]
    assert lambda_1(heavy) * loop == pytest.approx(combinatorial, rel=20 / loop + 1e-12)


@pytest.mark.parametrize("count", [40, 100])
def test_many_cliques_in_a_chain_of_whispers(count):
    W = np.kron(np.eye(count), graphs.complete(4))
    for k in range(1, count):
        W[4 * k - 1, 4 * k] = W[4 * k, 4 * k - 1] = 1e-14
    exact = 1e-14 / 12 * (2 - 2 * np.cos(np.pi / count))
    assert lambda_1(Graph(W)) == pytest.approx(exact, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("bridges", [(1e-8, 1e-10), (1e-14, 1e-16), (1e-9, 1e-20)])
def test_large_cliques_joined_by_different_whispers(bridges, dense):
    n, (b1, b2) = 520, bridges
    W = np.kron(np.eye(3), graphs.complete(n))
    W[n - 1, n] = W[n, n - 1] = b1
    W[2 * n - 1, 2 * n] = W[2 * n, 2 * n - 1] = b2
    # Three super-nodes in a chain: lambda^2 - 2 (b1 + b2) lambda + 3 b1 b2 = 0, over the volume.
    root = np.sqrt((b1 + b2) ** 2 - 3 * b1 * b2)
    exact = 3 * b1 * b2 / (b1 + b2 + root) / (n * (n - 1))
    assert lambda_1(Graph(W if dense else sp.csr_array(W))) == pytest.approx(exact, rel=1e-4)


@given(graphs.weighted_graphs(min_nodes=3))
def test_full_spectrum_decomposes_both_laplacians(W):
    for kind in KINDS:
        full = full_spectrum(Graph(W), kind)
        L = Graph(W).laplacian(kind)
        np.testing.assert_allclose((full.vectors * full.values) @ full.vectors.T, L, atol=1e-12)
        assert full.residual < 1e-13


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dense", [False, True])
def test_large_graphs_by_lanczos_agree_with_the_full_decomposition(kind, dense):
    W = graphs.random_weights(np.random.default_rng(8), SMALL + 40, density=0.01)
    graph = Graph(W if dense else sp.csr_array(W))
    some, full = eigenpairs(graph, 4, kind), full_spectrum(graph, kind)
    np.testing.assert_allclose(some.values, full.values[:4], rtol=1e-9, atol=1e-12)
    overlap = np.abs(np.sum(some.vectors * full.vectors[:, :4], axis=0))
    np.testing.assert_allclose(overlap, 1, rtol=1e-8)


def test_hard_graphs_go_through_the_factorisation():
    graph = Graph(graphs.grid(60, 40))  # double eigenvalues are apart as 60 != 40
    values = eigenpairs(graph, 3, "combinatorial").values
    expected = sorted(
        2 - 2 * np.cos(np.pi * k / 60) + 2 - 2 * np.cos(np.pi * m / 40)
        for k in range(4)
        for m in range(4)
    )[:3]
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-14)


def test_repeated_eigenvalues_of_a_large_graph():
    values = eigenpairs(Graph(graphs.grid(45, 45)), 3, "combinatorial").values
    np.testing.assert_allclose(values[1:], 2 - 2 * np.cos(np.pi / 45), rtol=1e-9)


def test_one_eigenpair_of_a_large_graph_is_the_trivial_one():
    graph = Graph(graphs.path(SMALL + 1))
    only = eigenpairs(graph, 1)
    assert only.values.tolist() == [0.0]
    np.testing.assert_array_equal(only.vectors[:, 0], graph.v0)


def test_what_is_remembered_cannot_be_spoilt():
    graph = Graph(graphs.complete(5))
    with pytest.raises(ValueError, match="read-only"):
        eigenpairs(graph, 2).values[1] = 0.1
    assert full_spectrum(graph, kind="normalized") is full_spectrum(graph)


def test_bad_requests():
    graph = Graph(graphs.complete(4))
    with pytest.raises(ValueError, match="5 eigenvectors were asked of a graph of 4 nodes"):
        eigenpairs(graph, 5)
    with pytest.raises(ValueError, match="laplacian='random' is unknown; it must be one of norm"):
        eigenpairs(graph, 2, "random")


def test_failure_of_every_method_says_what_was_tried(monkeypatch):
    def no_memory(_):
        raise MemoryError

    monkeypatch.setattr("robustgc.linalg.cg.factorised", no_memory)
    with pytest.raises(NotConvergedError, match=r"Lanczos: .*; inverse iteration: .*do not fit in"):
        eigenpairs(Graph(graphs.path(4000)), 2)


@pytest.mark.slow
def test_several_pairs_of_a_hard_spectrum_come_from_multigrid(monkeypatch):
    """A grid has eigenvalues twice and close to 0; no factorisation is needed for them."""

    def no_memory(_):
        raise MemoryError

    monkeypatch.setattr("robustgc.linalg.cg.factorised", no_memory)
    W = graphs.grid(70, 70)
    found = eigenpairs(Graph(W), 6)
    exact = np.sort(np.linalg.eigvalsh(Graph(W.toarray()).laplacian()))[:6]
    np.testing.assert_allclose(found.values[1:], exact[1:], rtol=1e-8)
    assert found.residual < 1e-9


@pytest.mark.parametrize(("n", "alone"), [(40, True), (SMALL + 1, False)])
def test_a_small_graph_is_decomposed_on_one_thread(monkeypatch, n, alone):
    """Threads of BLAS that wait for each other beside another program take ten times as long."""
    found, eigh = [], np.linalg.eigh

    def recorded(matrix):
        found.append(threads.single_blas._inside > 0)
        return eigh(matrix)

    monkeypatch.setattr(np.linalg, "eigh", recorded)
    spectrum._decomposed(Graph(graphs.complete(n)), "normalized")
    assert found == [alone]


def test_where_divide_and_conquer_fails_the_qr_algorithm_answers(monkeypatch):
    """LAPACK's fails on some machines, on paths with weights of all sizes."""
    expected = full_spectrum(Graph(graphs.path(9)))

    def failing(_):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr(np.linalg, "eigh", failing)
    found = full_spectrum(Graph(graphs.path(9)))
    np.testing.assert_allclose(found.values, expected.values, atol=1e-12)
    assert found.residual < 1e-14

"""Remark 2: the complement of v0 is an RKHS with kernel L_N^+."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import graphs
import oracles
from robustgc import Graph, lambda_1, node_kernel, robust


@given(graphs.weighted_graphs())
def test_kernel_is_the_pseudo_inverse(W):
    nodes = np.arange(len(W))
    expected = np.linalg.pinv(oracles.laplacian(W), hermitian=True)
    found = node_kernel(Graph(W), nodes, nodes)
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())
    assert np.linalg.eigvalsh(found).min() > -1e-9


@given(graphs.labelled_graphs(), st.floats(0.05, 0.95))
def test_reproducing_property(case, eta):
    # <K_i, f>_K = K_i' L_N f = f_i for every f orthogonal to v0, the solution among them.
    W, y = case
    graph = Graph(W)
    f = robust(graph, y, gamma=eta * lambda_1(graph)).f
    K = node_kernel(graph, np.arange(len(W)), np.arange(len(W)))
    np.testing.assert_allclose(K @ graph.L_N(f), f, atol=1e-9 * np.abs(f).max())


@given(graphs.weighted_graphs())
def test_the_norm_is_twice_the_smoothness(W):
    graph = Graph(W)
    f = graph.P0(np.random.default_rng(73).standard_normal(len(W)))
    assert f @ graph.L_N(f) >= lambda_1(graph) * (f @ f) * (1 - 1e-9)

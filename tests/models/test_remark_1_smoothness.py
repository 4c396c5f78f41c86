"""Equation (Smoothness) and Remark 1: v0 is the smoothest vector, with value 0."""

import numpy as np
from hypothesis import given

import graphs
from robustgc import Graph


def smoothness(W, f):
    """Half the sum over *unordered* pairs; the text's sum over i, j counts each once."""
    d = W.sum(axis=1)
    u = f / np.sqrt(d)
    i, j = np.triu_indices(len(W), k=1)
    return 0.5 * np.sum(W[i, j] * (u[i] - u[j]) ** 2)


@given(graphs.weighted_graphs())
def test_smoothness_is_half_the_quadratic_form(W):
    f = np.random.default_rng(41).standard_normal(len(W))
    graph = Graph(W)
    np.testing.assert_allclose(0.5 * f @ graph.L_N(f), smoothness(W, f), atol=1e-12)


@given(graphs.weighted_graphs())
def test_the_smoothest_vector_is_v0(W):
    graph = Graph(W)
    assert smoothness(W, graph.v0) < 1e-28
    others = np.random.default_rng(43).standard_normal((len(W), 5))
    assert all(smoothness(W, f) >= 0 for f in others.T)
    np.testing.assert_allclose(graph.v0, np.sqrt(graph.d) / np.sqrt(graph.d.sum()))

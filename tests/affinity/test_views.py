"""Views of nodes that have edges and features: the mixtures, and what joins loose parts."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from robustgc import Graph
from robustgc.affinity.views import SHARES, in_mean_degrees, mixture, views


def drawn(n, p, seed):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < p), k=1)
    return W + W.T


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_a_mixture_has_the_shares_of_both_in_the_mean_degree(store):
    W, F = drawn(12, 0.7, 401), 5 * drawn(12, 0.7, 409)
    found = mixture(in_mean_degrees(store(W)), in_mean_degrees(sp.csr_array(F)), 0.3)
    found = found.toarray() if sp.issparse(found) else found
    expected = 0.7 * W / W.sum(axis=1).mean() + 0.3 * F / F.sum(axis=1).mean()
    assert_allclose(found, expected, atol=1e-14)
    assert (found == found.T).all()


def test_nodes_without_edges_do_not_count_in_the_mean_degree():
    W = np.zeros((3, 3))
    W[0, 1] = W[1, 0] = 4.0
    assert_allclose(in_mean_degrees(W), W / 4)
    assert_allclose(in_mean_degrees(np.zeros((3, 3))), 0)


@given(seed=st.integers(2, 10_000), edges=st.floats(0.02, 0.3), near=st.floats(0.02, 0.3))
def test_every_view_connects_what_edges_and_features_connect_together(seed, edges, near):
    n = 25
    W, F = drawn(n, edges, seed), drawn(n, near, seed + 1)
    W[np.arange(n - 1), np.arange(1, n)] += F[np.arange(n - 1), np.arange(1, n)] == 0
    W = np.maximum(W, W.T)  # together they are connected
    found = views(in_mean_degrees(sp.csr_array(W)), in_mean_degrees(sp.csr_array(F)))
    for view in found:
        Graph(view.weights)  # refuses what is not connected
    names = [view.name for view in found]
    assert names in (["graph"], ["graph", *["both"] * len(SHARES), "features"])


def test_a_view_alone_is_the_graph_itself_where_that_is_connected():
    W, F = drawn(15, 0.6, 419), drawn(15, 0.1, 421)
    S = in_mean_degrees(sp.csr_array(W))
    assert (views(S, in_mean_degrees(sp.csr_array(F)))[0].weights != S).nnz == 0


def test_links_of_the_other_are_taken_outside_of_the_largest_component_only():
    of_edges, of_features = np.zeros((5, 5)), np.zeros((5, 5))
    for i, j in ((0, 1), (1, 2)):
        of_edges[i, j] = of_edges[j, i] = 0.5
    for i, j in ((0, 2), (2, 3), (3, 4)):
        of_features[i, j] = of_features[j, i] = 0.25
    found = views(of_edges, of_features)[0].weights
    assert found[0, 2] == 0
    assert found[2, 3] == found[3, 4] == 0.25


def test_one_graph_without_links_leaves_the_other():
    W, nothing = drawn(8, 0.8, 431), np.zeros((8, 8))
    assert [view.name for view in views(W, nothing)] == ["graph"]
    assert [view.name for view in views(nothing, W)] == ["features"]
    loops = np.eye(8)
    assert [view.name for view in views(loops, W)] == ["features"]

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import graphs
from robustgc import Graph, lambda_1, leave_one_out, robust
from robustgc.graph.graph import SMALL


def refitted(graph, y, gamma):
    """Leave-one-out by brute force."""
    answer = np.full(len(y), np.nan)
    for i in np.flatnonzero(y):
        without = y.copy()
        without[i] = 0
        answer[i] = robust(graph, without, gamma=gamma).f[i]
    return answer


@given(graphs.labelled_graphs(), st.floats(0.05, 0.95))
def test_leave_one_out_equals_refitting(case, eta):
    W, y = case
    graph = Graph(W)
    gamma = eta * lambda_1(graph)
    expected = refitted(graph, y, gamma)
    scale = max(1.0, np.nanmax(np.abs(expected)))
    np.testing.assert_allclose(leave_one_out(graph, y, gamma=gamma), expected, atol=1e-10 * scale)


def test_leave_one_out_of_a_large_graph_equals_refitting():
    rng = np.random.default_rng(21)
    n = SMALL + 10
    graph = Graph(sp.csr_array(graphs.random_weights(rng, n, density=0.01)))
    y = np.zeros(n)
    y[[3, 50, 700, 1200]] = [1, -1, 1, -1]
    gamma = 0.9 * lambda_1(graph)
    found, expected = leave_one_out(graph, y, gamma=gamma), refitted(graph, y, gamma)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_a_block_of_columns():
    rng = np.random.default_rng(22)
    graph = Graph(graphs.random_weights(rng, 15))
    Y = np.column_stack([graphs.random_labels(rng, 15) for _ in range(3)])
    gamma = 0.9 * lambda_1(graph)
    one_by_one = np.column_stack([leave_one_out(graph, y, gamma=gamma) for y in Y.T])
    np.testing.assert_allclose(leave_one_out(graph, Y, gamma=gamma), one_by_one, rtol=1e-9)


def test_a_label_against_its_whole_clique_is_found():
    graph = Graph(graphs.two_cliques(5, 0.1))
    y = np.array([1, 1, -1, 0, 0, -1, -1, 0, -1, 0])
    unseen = leave_one_out(graph, y, gamma=0.9 * lambda_1(graph))
    wrong = np.flatnonzero(unseen * y < 0)
    assert wrong.tolist() == [2]


def test_labels_of_another_length_are_refused():
    with pytest.raises(ValueError, match="4 nodes"):
        leave_one_out(Graph(graphs.complete(4)), [1, -1], gamma=0.5)

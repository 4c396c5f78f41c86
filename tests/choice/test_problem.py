"""Labels on one graph: their degrees and weights."""

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
import lifting
from robustgc import Graph
from robustgc.transduction.problem import sqrt_degree


def test_sqrt_degree_is_one_for_the_usual_node():
    graph = Graph(lifting.blocks(2879, [30, 20, 12], 0.4, 0.1)[0])
    found = sqrt_degree(graph)
    assert np.median(found) == pytest.approx(1.0, abs=0.05)
    np.testing.assert_allclose(found / graph.v0, (found / graph.v0)[0])


def test_degree_weights_have_a_limit():
    star = lifting.problem(Graph(sp.csr_array(graphs.star(9))), np.array([0, 1] + [-1] * 7))
    np.testing.assert_allclose(star.degree_weights(), [1 / np.sqrt(8), 1.0])
    W = sp.csr_array(np.diag([1.0] * 7, 1) + np.diag([1.0] * 7, -1) + np.eye(8) * 9)
    heavy = lifting.problem(Graph(W), np.arange(8))
    assert heavy.degree_weights().max() == 1.0 < (1 / heavy.sqrt_degree).max()


def test_the_same_labels_are_known_again():
    graph, y = Graph(graphs.cycle(6)), np.array([0, -1, 1, -1, 0, -1])
    one, two = lifting.problem(graph, y), lifting.problem(graph, y)
    assert one.has_labels_of(two)
    y[0] = 1
    assert not one.has_labels_of(lifting.problem(graph, y))

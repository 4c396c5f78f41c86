"""Nodes numbered by layers: the same graph, the same answers."""

import numpy as np
import scipy.sparse as sp

import graphs
from robustgc import Graph, RobustGC
from robustgc.linalg.ladder import SolverOptions
from robustgc.linalg.lifted import find_modes
from robustgc.linalg.numbering import Numbering, mean_bandwidth, numbered


def shuffled(W, seed):
    order = np.random.default_rng(seed).permutation(W.shape[0])
    return sp.csr_array(sp.csr_matrix(W)[order][:, order]), order


def test_far_neighbours_come_near_and_values_come_back():
    W, _ = shuffled(graphs.grid(110, 120), 6011)
    graph = Graph(W)
    by_layers = numbered(graph)
    assert mean_bandwidth(by_layers.graph) < 0.05 * graph.n
    x = np.random.default_rng(6012).standard_normal((graph.n, 2))
    moved = by_layers.to(x)
    np.testing.assert_array_equal(by_layers.back(moved), x)
    np.testing.assert_array_equal(moved[by_layers.nodes(np.array([5, 17]))], x[[5, 17]])
    image = by_layers.back(by_layers.graph.L_N(moved))
    np.testing.assert_allclose(image, graph.L_N(x), atol=1e-14)


def test_a_graph_in_order_and_a_small_one_stay_as_they_are():
    for graph in (Graph(graphs.grid(110, 120)), Graph(shuffled(graphs.grid(40, 50), 6013)[0])):
        assert numbered(graph).graph is graph
    graph = Graph(shuffled(graphs.grid(110, 120), 6014)[0])
    inner = numbered(graph).graph
    assert numbered(inner) == Numbering(inner)


def test_modes_and_answers_do_not_depend_on_the_numbers():
    W = sp.csr_array(graphs.grid(150, 220))
    mixed, order = shuffled(W, 6015)
    y = np.full(W.shape[0], -1)
    rng = np.random.default_rng(6016)
    for c in range(3):
        y[rng.choice(np.arange(c * 11_000, (c + 1) * 11_000), 12, replace=False)] = c
    Y = np.eye(3)[np.maximum(y, 0)] * (y >= 0)[:, None]
    modes = find_modes(Graph(W), 6, Y, SolverOptions(), exact=False)
    same = find_modes(Graph(mixed), 6, Y[order], SolverOptions(), exact=False)
    count = min(len(modes.values), len(same.values))
    np.testing.assert_allclose(same.values[:count], modes.values[:count], rtol=1e-4)
    assert same.residual < 1e-3
    one = RobustGC(affinity="precomputed").fit(W, y)
    other = RobustGC(affinity="precomputed").fit(mixed, y[order])
    assert np.mean(one.transduction_[order] == other.transduction_) > 0.98

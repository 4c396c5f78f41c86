"""Section 3: RobustGC is ZhouGC with gamma -> -gamma, y -> -y and the constraint f' v0 = 0."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import graphs
import oracles
from robustgc import Graph, belkin, lambda_1, robust, zhou


@given(graphs.labelled_graphs(), st.floats(0.05, 0.95))
def test_the_change_of_signs_turns_one_into_the_other(case, eta):
    W, y = case
    graph = Graph(W)
    gamma = eta * lambda_1(graph)
    P = oracles.projector(W)
    switched = oracles.zhou(W, P @ -y, -gamma)
    f = robust(graph, y, gamma=gamma).f
    np.testing.assert_allclose(f, P @ switched, atol=1e-8 * np.abs(f).max())


@given(graphs.labelled_graphs(), st.floats(-3, 3))
def test_zhou_minimises_its_objective(case, exponent):
    W, y = case
    gamma = 10.0**exponent
    f = zhou(Graph(W), y, gamma=gamma).f
    gradient = oracles.laplacian(W) @ f + gamma * (f - y)
    np.testing.assert_allclose(gradient, 0, atol=1e-12 * (1 + gamma))


@given(graphs.labelled_graphs(min_nodes=4))
def test_belkin_fits_the_labels_when_there_are_vectors_enough(case):
    W, y = case
    f = belkin(Graph(W), y, n_vectors=len(W)).f
    np.testing.assert_allclose(f[y != 0], y[y != 0], atol=1e-9)

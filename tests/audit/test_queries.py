"""Which nodes to label next."""

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
import lifting
from robustgc import RobustGC
from robustgc.audit.queries import QueriedComponent, _Variance
from samples import moons

OPTIONS = [{}, {"eta": 0.9, "n_modes": 1}, {"eta": 0.9, "n_modes": 2}]


@pytest.fixture(scope="module")
def blocks():
    W, truth = lifting.blocks(2539, [30, 30, 30], 0.4, 0.05)
    return W, truth, lifting.some_labels(2543, truth, 3)[0]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("n", [1, 7, 40])
def test_distinct_nodes_without_a_label(blocks, options, n):
    W, _, y = blocks
    clf = RobustGC(affinity="precomputed", **options).fit(W, y)
    nodes = clf.suggest_queries(n)
    assert nodes.dtype == np.int64
    assert len(nodes) == len(set(nodes.tolist())) == n
    assert (y[nodes] == -1).all()
    np.testing.assert_array_equal(nodes, clf.suggest_queries(n))
    np.testing.assert_array_equal(nodes[:1], clf.suggest_queries())


def test_no_more_than_are_left(blocks):
    W, _, y = blocks
    clf = RobustGC(affinity="precomputed").fit(W, y)
    np.testing.assert_array_equal(np.sort(clf.suggest_queries(1000)), np.flatnonzero(y == -1))


def test_nothing_left():
    W, truth = lifting.blocks(2549, [12, 12], 0.6, 0.1)
    clf = RobustGC(affinity="precomputed").fit(W, truth)
    nodes = clf.suggest_queries(3)
    assert nodes.shape == (0,)
    assert nodes.dtype == np.int64


def test_a_component_without_labels_comes_first(blocks):
    W, _, y = blocks
    apart = sp.block_diag([W, graphs.star(5), graphs.complete(7), np.zeros((1, 1))], format="csr")
    labels = np.concatenate([y, np.full(13, -1)])
    clf = RobustGC(affinity="precomputed").fit(apart, labels)
    nodes = clf.suggest_queries(4)
    assert 95 <= nodes[0] < 102  # the larger one
    assert nodes[1] == 90  # the middle of the star
    assert (nodes[2:] < 90).all()
    np.testing.assert_array_equal(clf.suggest_queries(1), nodes[:1])


def test_only_components_of_one_class_are_left():
    W = sp.block_diag([graphs.complete(3), graphs.complete(4), graphs.star(4)], format="csr")
    y = np.array([0, 0, -1, 1, -1, -1, 1, -1, -1, -1, -1])
    np.testing.assert_array_equal(RobustGC(affinity="precomputed").fit(W, y).suggest_queries(9), 7)


def test_a_block_without_labels_is_asked_about():
    W, truth = lifting.blocks(2551, [40, 40, 40], 0.4, 0.02)
    y, _ = lifting.some_labels(2557, truth, 4)
    y[truth == 2] = -1
    for options in OPTIONS[::2]:
        clf = RobustGC(affinity="precomputed", **options).fit(W, y)
        assert (truth[clf.suggest_queries(3)] == 2).any()


def test_labels_that_were_asked_for_help():
    W, truth = lifting.blocks(2579, [60, 60, 60], 0.2, 0.05)
    y, _ = lifting.some_labels(2591, truth, 2)
    clf = RobustGC(affinity="precomputed").fit(W, y)
    before = np.mean(clf.transduction_ == truth)
    nodes = clf.suggest_queries(12)
    clf.update({int(node): truth[node] for node in nodes})
    assert not np.isin(clf.suggest_queries(12), nodes).any()
    y[nodes] = truth[nodes]
    assert np.mean(clf.fit(W, y).transduction_ == truth) > before


def test_a_larger_graph():
    W, truth = lifting.blocks(2593, [600, 600, 500], 0.05, 0.005)
    y, _ = lifting.some_labels(2609, truth, 5)
    for options in OPTIONS:
        nodes = RobustGC(affinity="precomputed", **options).fit(W, y).suggest_queries(20)
        assert len(np.unique(nodes)) == 20
        assert (y[nodes] == -1).all()


def test_nodes_are_rows_of_x_with_landmarks():
    X, y, _ = moons(n=200, n_labels=20)
    nodes = RobustGC(landmarks=120).fit(X, y).suggest_queries(100)
    assert len(np.unique(nodes)) == 100
    assert (y[nodes] == -1).all()


@pytest.mark.parametrize("bad", [0, -3, 2.0, "all", None])
def test_bad_numbers(blocks, bad):
    W, _, y = blocks
    clf = RobustGC(affinity="precomputed").fit(W, y)
    with pytest.raises(ValueError, match="must be a whole number >= 1"):
        clf.suggest_queries(bad)


def test_what_a_label_explains_is_the_fall_of_variance(blocks):
    """Against the variances with and without it, from their definition."""
    W, _, y = blocks
    answered = next(iter(RobustGC(affinity="precomputed").fit(W, y)._fit.components.values()))
    K, modes = answered.problem.n_classes, answered.fit.heaviest.view.modes
    part = QueriedComponent(answered.graph, answered.nodes, K, modes)
    labelled = y[part.nodes] >= 0
    places = _Variance(part, labelled)
    doubt = np.random.default_rng(3089).random(len(labelled))
    X = places._X

    def left(rows):
        inverse = np.linalg.inv(np.eye(X.shape[1]) + X[rows].T @ X[rows])
        return doubt @ np.einsum("ij,jk,ik->i", X, inverse, X)

    assert np.linalg.norm(X, axis=1).max() <= 1 + 1e-12
    known = np.flatnonzero(labelled)
    for node in np.flatnonzero(~labelled)[::13]:
        fall = left(known) - left(np.append(known, node))
        np.testing.assert_allclose(places.explained(doubt)[node], fall, rtol=1e-9)
    node = int(np.flatnonzero(~labelled)[5])
    places.label(node)
    again = _Variance(part, np.isin(np.arange(len(labelled)), [*known, node]))
    np.testing.assert_allclose(places._C, again._C, atol=1e-12)

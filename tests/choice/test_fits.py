"""Least squares on the modes, and classes by their nearest mean: held-out values by refitting."""

from dataclasses import replace

import numpy as np
import pytest

import lifting
from robustgc import Graph, RobustGC
from robustgc.choice.ensemble import _likeness
from robustgc.choice.fits import Fits
from robustgc.choice.problem import heights, votes
from robustgc.engines import Options
from robustgc.lifted import find_modes


def case(seed, n_classes=3, per_class=6):
    W, truth = lifting.blocks(seed, [30, 20, 12][:n_classes], 0.4, 0.1)
    y, _ = lifting.some_labels(seed + 2, truth, per_class, wrong=2)
    return Graph(W), y


def fitted(graph, y, numbers=(1, 2, 5)):
    nodes = np.flatnonzero(y >= 0)
    modes = find_modes(graph, 6, np.eye(graph.n)[:, :1], Options())
    K = int(y.max()) + 1
    fits = Fits(graph, modes, numbers, nodes, y[nodes], K, votes(graph, nodes))
    return fits, modes, nodes


def by_hand(graph, modes, nodes, codes, K, q, weight):
    """Minimise the weighted squares with a penalty, by stacking rows."""
    V = np.column_stack([graph.v0, modes.vectors[:, :q]]) * np.sqrt(graph.n)
    X = V[nodes] * votes(graph, nodes)[:, None]
    root = np.sqrt(weight)[:, None]
    penalty = np.diag(np.sqrt([1e-6 * len(codes), *[3.0] * q]))
    target = np.eye(K)[codes] - 1 / K
    rows = np.vstack([root * X, penalty])
    return np.linalg.lstsq(rows, np.vstack([root * target, np.zeros((q + 1, K))]), rcond=None)[0], V


@pytest.mark.parametrize("seed", [2801, 2803, 2819])
def test_every_label_left_out(seed):
    graph, y = case(seed)
    fits, modes, nodes = fitted(graph, y)
    weight = np.random.default_rng(seed).uniform(0.3, 2.0, len(nodes))
    for q, unseen, seen in zip(
        fits.numbers, fits.leave_one_out(weight), fits.at_labels(weight), strict=True
    ):
        c, V = by_hand(graph, modes, nodes, y[nodes], 3, q, weight)
        rows = V[nodes] * votes(graph, nodes)[:, None]
        np.testing.assert_allclose(seen, rows @ c, atol=1e-10)
        for i in range(len(nodes)):
            without = weight.copy()
            without[i] = 0.0
            c, _ = by_hand(graph, modes, nodes, y[nodes], 3, q, without)
            np.testing.assert_allclose(unseen[i], rows[i] @ c, atol=1e-9)


def test_the_sum_of_some_fits():
    graph, y = case(2833)
    fits, modes, nodes = fitted(graph, y)
    weight, shares = np.ones(len(nodes)), np.array([0.2, 0.0, 1.5])
    total = fits.coefficients(weight, shares)
    expected = 0.0
    for q, share in zip(fits.numbers, shares, strict=True):
        c, V = by_hand(graph, modes, nodes, y[nodes], 3, q, weight)
        expected = expected + share * (V @ c)
    basis = np.column_stack([graph.v0, modes.vectors[:, :5]])
    np.testing.assert_allclose(basis @ total, expected, atol=1e-9)


@pytest.mark.parametrize("away", [0.0, 3.0])
def test_what_a_class_has_in_common_with_itself(away):
    rng = np.random.default_rng(2837)
    codes, sizes = np.repeat([0, 1, 2], [5, 4, 1]), rng.uniform(0.5, 2.0, 10)
    root = rng.standard_normal((10, 4))
    K = root @ root.T
    np.fill_diagonal(K, 0.0)
    Y = np.eye(3)[codes] * sizes[:, None]
    elsewhere = np.array([away, 0.0, away])
    left = Y.sum(axis=0) - Y + elsewhere

    def common(keep, c):
        mine = [i for i in keep if codes[i] == c]
        shared = sum(sizes[i] * K[i, j] * sizes[j] for i in mine for j in mine)
        here = sum(sizes[i] for i in mine)
        pairs = sum(sizes[i] * sizes[j] for i in mine for j in mine if i != j)
        return shared / pairs * (here / (here + elsewhere[c])) ** 2 if pairs > 0 else 0.0

    labels = replace(lifting.labelled(codes), elsewhere=elsewhere)
    with_all, without = (values[0] for values in _likeness((K @ Y)[None], Y, left, labels))
    np.testing.assert_allclose(with_all, [common(range(10), c) for c in range(3)])
    for i in range(10):
        keep = [j for j in range(10) if j != i]
        np.testing.assert_allclose(without[i], [common(keep, c) for c in range(3)], atol=1e-12)


def test_unequal_classes_keep_their_size():
    """A small class is not given what lies between: the mean that is nearest decides."""
    W, truth = lifting.blocks(2843, [260, 60, 24], 0.12, 0.02)
    y, _ = lifting.some_labels(2851, truth, 6)
    plain = RobustGC(eta=0.95, n_modes=2, class_weight="balanced", affinity="precomputed")
    auto = RobustGC(affinity="precomputed").fit(W, y)
    assert np.mean(auto.transduction_ == truth) > 0.9
    assert np.mean(auto.transduction_ == truth) > np.mean(plain.fit(W, y).transduction_ == truth)
    assert any(c.centred and c.lifted and c.weight > 0.3 for c in auto.selection_)


def test_many_labels_of_many_classes_are_fitted():
    W, truth = lifting.blocks(2857, [30] * 12, 0.35, 0.05)
    y, _ = lifting.some_labels(2861, truth, 12, wrong=30)
    clf = RobustGC(affinity="precomputed").fit(W, y)
    assert sum(c.weight for c in clf.selection_ if not c.lifted) > 0.01
    assert np.mean(clf.transduction_ == truth) > 0.9


def test_heights_are_one_for_the_usual_node():
    graph, _ = case(2879)
    assert np.median(heights(graph)) == pytest.approx(1.0, abs=0.05)
    np.testing.assert_allclose(heights(graph) / graph.v0, (heights(graph) / graph.v0)[0])

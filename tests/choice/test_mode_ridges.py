"""Ridges on the modes: by stacked rows, and without a label by refitting."""

import numpy as np
import pytest

import lifting
from robustgc import Graph, RobustGC
from robustgc.choice.ridges import ModeRidges
from robustgc.engines import Options
from robustgc.lifted import find_modes


def case(seed, n_classes=3, per_class=6):
    W, truth = lifting.blocks(seed, [30, 20, 12][:n_classes], 0.4, 0.1)
    y, _ = lifting.some_labels(seed + 2, truth, per_class, wrong=2)
    return Graph(W), y


NUMBERS = (1, 2, 5)


def fitted(graph, y):
    problem = lifting.problem(graph, y)
    modes = find_modes(graph, 6, np.eye(graph.n)[:, :1], Options())
    return ModeRidges(problem, modes, NUMBERS), modes, problem


def by_hand(problem, modes, q, weight):
    """Minimise the weighted squares with a penalty, by stacking rows."""
    graph, codes, K = problem.graph, problem.codes, problem.n_classes
    V = np.column_stack([graph.v0, modes.vectors[:, :q]]) * np.sqrt(graph.n)
    X = V[problem.nodes] * problem.degree_weights()[:, None]
    root = np.sqrt(weight)[:, None]
    penalty = np.diag(np.sqrt([1e-6 * len(codes), *[3.0] * q]))
    target = np.eye(K)[codes] - 1 / K
    rows = np.vstack([root * X, penalty])
    return np.linalg.lstsq(rows, np.vstack([root * target, np.zeros((q + 1, K))]), rcond=None)[0], V


@pytest.mark.parametrize("seed", [2801, 2803, 2819])
def test_every_label_left_out(seed):
    graph, y = case(seed)
    ridges, modes, problem = fitted(graph, y)
    weight = np.random.default_rng(seed).uniform(0.3, 2.0, len(problem.nodes))
    for q, unseen, seen in zip(
        NUMBERS, ridges.leave_one_out(weight), ridges.at_labels(weight), strict=True
    ):
        c, V = by_hand(problem, modes, q, weight)
        rows = V[problem.nodes] * problem.degree_weights()[:, None]
        np.testing.assert_allclose(seen, rows @ c, atol=1e-10)
        for i in range(len(problem.nodes)):
            without = weight.copy()
            without[i] = 0.0
            c, _ = by_hand(problem, modes, q, without)
            np.testing.assert_allclose(unseen[i], rows[i] @ c, atol=1e-9)


def test_the_sum_of_some_regressions():
    graph, y = case(2833)
    ridges, modes, problem = fitted(graph, y)
    weight, shares = np.ones(len(problem.nodes)), np.array([0.2, 0.0, 1.5])
    total = ridges.answer(weight, shares, 1e-10)
    expected = 0.0
    for q, share in zip(NUMBERS, shares, strict=True):
        c, V = by_hand(problem, modes, q, weight)
        expected = expected + share * (V @ c)
    np.testing.assert_allclose(total, expected, atol=1e-9)


def test_many_labels_of_many_classes_are_fitted():
    W, truth = lifting.blocks(2857, [30] * 12, 0.35, 0.05)
    y, _ = lifting.some_labels(2861, truth, 12, wrong=30)
    clf = RobustGC(affinity="precomputed").fit(W, y)
    assert sum(c.weight for c in clf.selection_ if not c.lifted) > 0.01
    assert np.mean(clf.transduction_ == truth) > 0.9

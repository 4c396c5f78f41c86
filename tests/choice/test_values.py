"""Classes compared by the nearest mean; ridges with the kernels of lifted models, refitted."""

import numpy as np
import pytest

import lifting
from robustgc import Graph, RobustGC
from robustgc.choice.values import Ridges, squared_class_means
from robustgc.linalg.filters import LiftedFilters
from robustgc.linalg.ladder import SolverOptions
from robustgc.linalg.modes import find_modes
from robustgc.models.label_filters import LabelFilters

MODELS = [(1, 0.5), (2, 0.99), (3, 0.99)]
RIDGES = (1.0, 0.1)


def case(seed, known=None, sizes=(30, 20, 12), many=False):
    """Ridges on a small graph; with `known`, of which only some modes are known.

    With `many`, as if the labels were too many for the kernel between them.
    """
    W, truth = lifting.blocks(seed, list(sizes), 0.4, 0.1)
    graph, (y, _) = Graph(W), lifting.some_labels(seed + 2, truth, 6, wrong=2)
    nodes = np.flatnonzero(y >= 0)
    whole = find_modes(graph, graph.n - 1, np.eye(graph.n)[:, :1], SolverOptions())
    modes = whole
    if known is not None:
        modes = whole.first(known)
    gammas = [eta * modes.values[q - 1] for q, eta in MODELS]
    filters = LiftedFilters(
        graph, modes, [q for q, _ in MODELS], gammas, SolverOptions(dtype="float64")
    )
    label_filters = LabelFilters(filters, [eta for _, eta in MODELS], nodes, 1e-10)
    if many:
        label_filters.kernel = None
    problem = lifting.problem(graph, y)
    return problem, whole, Ridges(problem, label_filters)


def by_hand(problem, modes, weight, keep, most=None):
    """``K[:, L] (K_LL + s S)^-1 Y`` of every ridge from some labels, at all nodes and labels.

    With `most`, by the kernel that so many modes make.
    """
    graph, nodes, own = problem.graph, problem.nodes, problem.degree_weights()
    Y = problem.one_hot
    Y = Y - weight @ Y / weight.sum()
    V = np.column_stack([graph.v0, modes.vectors])
    for q, eta in MODELS:
        level = modes.values[q - 1]
        lifted = np.maximum(modes.values, level)
        w = np.append(1.0, (1 - eta) * level / (lifted - eta * level))
        if most is not None:
            w[most + 1 :] = 0.0
        K = (V * w) @ V[nodes].T * own
        rows = K[nodes] * own[:, None]
        size = np.trace(rows) / len(nodes)
        for s in RIDGES:
            noise = s * np.diag(weight.mean() / weight[keep])
            a = np.linalg.solve(rows[np.ix_(keep, keep)] / size + noise, Y[keep])
            yield K[:, keep] / size @ a, rows[:, keep] / size @ a


@pytest.mark.parametrize(("known", "many"), [(None, False), (5, False), (None, True), (5, True)])
@pytest.mark.parametrize("seed", [3701, 3709])
def test_every_label_left_out(seed, known, many):
    problem, modes, ridges = case(seed, known, many=many)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(problem.nodes))
    found, most = ridges.leave_one_out(weight, range(6)), 3 if many else None
    everyone = np.arange(len(problem.nodes))
    whole = next(by_hand(problem, modes, weight, everyone, most))[1]
    assert not np.allclose(found[0], whole, atol=1e-3)  # of the first, with all labels
    for i in everyone:
        rest = by_hand(problem, modes, weight, np.delete(everyone, i), most)
        for unseen, (_, expected) in zip(found, rest, strict=True):
            np.testing.assert_allclose(unseen[i], expected[i], atol=1e-6)


@pytest.mark.parametrize("known", [None, 5])
def test_many_labels_are_answered_on_the_modes(known):
    problem, modes, ridges = case(3719, known, many=True)
    weight, shares = np.ones(len(problem.nodes)), np.array([0.2, 0.0, 1.5, 0.3, 0.0, 1.0])
    found = by_hand(problem, modes, weight, np.arange(len(problem.nodes)), 3)
    expected = sum(share * f for share, (f, _) in zip(shares, found, strict=True))
    np.testing.assert_allclose(ridges.answer(weight, shares, 1e-10), expected, atol=1e-9)


def test_many_labels_of_many_classes_are_fitted():
    W, truth = lifting.blocks(2857, [30] * 12, 0.35, 0.05)
    y, _ = lifting.some_labels(2861, truth, 12, wrong=30)
    clf = RobustGC(affinity="precomputed").fit(W, y)
    assert sum(c.weight for c in clf.selection_ if not c.lifted) > 0.01
    assert np.mean(clf.transduction_ == truth) > 0.9


def test_the_sum_at_all_nodes_with_all_modes():
    problem, modes, ridges = case(3719)
    weight, shares = np.ones(len(problem.nodes)), np.array([0.2, 0.0, 1.5, 0.3, 0.0, 1.0])
    expected = sum(
        share * f
        for share, (f, _) in zip(
            shares, by_hand(problem, modes, weight, np.arange(len(problem.nodes))), strict=True
        )
    )
    np.testing.assert_allclose(ridges.answer(weight, shares, 1e-10), expected, atol=1e-9)


def test_off_the_known_modes_one_filter_stands_for_all():
    """Exact for one kernel; for several the sum is near, and classes are the same where clear."""
    problem, modes, ridges = case(3727, known=6)
    weight, everyone = np.ones(len(problem.nodes)), np.arange(len(problem.nodes))
    answers = [f for f, _ in by_hand(problem, modes, weight, everyone)]
    one = np.array([0.0, 0.0, 0.7, 0.4, 0.0, 0.0])
    exact = 0.7 * answers[2] + 0.4 * answers[3]
    np.testing.assert_allclose(ridges.answer(weight, one, 1e-10), exact, atol=1e-7)
    several = ridges.answer(weight, np.full(6, 1 / 6), 1e-10)
    error = np.linalg.norm(several - np.mean(answers, axis=0))
    assert error < 0.1 * np.linalg.norm(several)


@pytest.mark.parametrize("labels", [[], [7]])
def test_updated_labels_have_the_answer_of_their_own_ridges(labels):
    """A changed and perhaps a new label: ridges are solved for all labels again."""
    W, truth = lifting.blocks(3733, [40, 30, 25], 0.3, 0.05)
    y, _ = lifting.some_labels(3739, truth, 5)
    clf = RobustGC(affinity="precomputed").fit(W, y)
    first = int(np.flatnonzero(y >= 0)[0])
    changes = {first: int((y[first] + 1) % 3)} | {
        node: int(truth[node]) for node in labels if y[node] < 0
    }
    updated = clf.update(changes).f_.copy()
    back = {first: int(y[first])} | {node: -1 for node in changes if node != first}
    assert not np.allclose(updated, RobustGC(affinity="precomputed").fit(W, y).f_)
    again = clf.update(back).f_
    np.testing.assert_allclose(again, RobustGC(affinity="precomputed").fit(W, y).f_, atol=1e-9)


def test_a_class_of_several_clusters_with_a_label_in_each():
    """Six clusters of two classes: a label alone in its cluster is not taken for a wrong one."""
    right = []
    for seed in range(3761, 3767):
        W, block = lifting.blocks(seed, [40] * 6, 0.35, 0.02)
        truth = block % 2
        rng, y = np.random.default_rng(seed), np.full(240, -1)
        for k in range(6):
            y[rng.choice(np.flatnonzero(block == k), 2, replace=False)] = k % 2
        right.append(np.mean(RobustGC(affinity="precomputed").fit(W, y).transduction_ == truth))
    assert np.mean(right) > 0.9


@pytest.mark.parametrize("away", [0.0, 3.0])
def test_squared_class_means_by_pairs_of_labels(away):
    rng = np.random.default_rng(2837)
    codes, sizes = np.repeat([0, 1, 2], [5, 4, 1]), rng.uniform(0.5, 2.0, 10)
    root = rng.standard_normal((10, 4))
    K = root @ root.T
    np.fill_diagonal(K, 0.0)
    Y = np.eye(3)[codes] * sizes[:, None]
    elsewhere = np.array([away, 0.0, away])

    def common(keep, c):
        mine = [i for i in keep if codes[i] == c]
        shared = sum(sizes[i] * K[i, j] * sizes[j] for i in mine for j in mine)
        here = sum(sizes[i] for i in mine)
        pairs = sum(sizes[i] * sizes[j] for i in mine for j in mine if i != j)
        return shared / pairs * (here / (here + elsewhere[c])) ** 2 if pairs > 0 else 0.0

    with_all, without = (x[0] for x in squared_class_means((K @ Y)[None], Y, elsewhere))
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
    assert sum(c.weight for c in auto.selection_ if c.centred and c.is_filter) > 0.2

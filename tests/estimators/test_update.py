"""Changed labels: the answer is that of a fit with them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
import lifting
from robustgc import Graph, NotConvergedError, RobustGC
from robustgc.estimators import components
from robustgc.estimators.fits import AnswersOnly
from robustgc.linalg.ladder import SolverOptions
from samples import moons
from solving import relative


def graph_with_labels(kind, n_classes):
    """A graph and its labels, about 20 a class."""
    if kind == "small":
        W, truth = lifting.blocks(2311, [40] * n_classes, 0.3, 0.06)
    elif kind == "blocks":
        W, truth = lifting.blocks(2333, [1700 // n_classes] * n_classes, 0.06, 0.01)
    else:
        W = graphs.grid(40, 41)
        truth = np.arange(W.shape[0]) * n_classes // W.shape[0]
    y, _ = lifting.some_labels(2339, truth, 20, wrong=5)
    return W, y


def some_changes(y, seed=2341):
    """Two labels removed, two added, two changed."""
    rng = np.random.default_rng(seed)
    given, free = rng.permutation(np.flatnonzero(y >= 0)), rng.permutation(np.flatnonzero(y < 0))
    K = int(y.max()) + 1
    changes = {int(given[0]): None, int(given[1]): -1}
    changes |= {int(free[0]): 0, int(free[1]): np.int64(K - 1)}
    return changes | {int(i): int((y[i] + 1) % K) for i in given[2:4]}


def applied(y, changes):
    z = y.copy()
    for node, label in changes.items():
        z[node] = -1 if label is None else label
    return z


@pytest.mark.parametrize("kind", ["small", "blocks", "grid"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("q", [1, 3])
def test_equals_a_fit(kind, n_classes, q):
    W, y = graph_with_labels(kind, n_classes)
    changes = some_changes(y)
    clf = RobustGC(eta=0.9, n_modes=q, affinity="precomputed").fit(W, y)
    before = clf.f_.copy()
    fresh = RobustGC(eta=0.9, n_modes=q, affinity="precomputed").fit(W, applied(y, changes))
    assert clf.update(changes) is clf
    assert relative(clf.f_, fresh.f_) <= (1e-9 if kind == "small" else 1e-6)
    assert relative(before, fresh.f_) > 1e-2
    assert np.mean(clf.transduction_ == fresh.transduction_) > 0.999
    assert clf.residual_ <= 1e-7
    assert (clf.eta_, clf.n_modes_) == (0.9, q)


@pytest.mark.parametrize("kind", ["small", "blocks"])
def test_balanced_classes(kind):
    W, y = graph_with_labels(kind, 4)
    options = {"eta": 0.7, "n_modes": 2, "class_weight": "balanced", "affinity": "precomputed"}
    changes = {int(i): None for i in np.flatnonzero(y == 1)[:9]}
    fresh = RobustGC(**options).fit(W, applied(y, changes))
    assert relative(RobustGC(**options).fit(W, y).update(changes).f_, fresh.f_) <= 1e-6


@pytest.mark.parametrize("q", [1, 2])
def test_label_weights_are_kept(q):
    W, y = graph_with_labels("small", 3)
    weights = np.random.default_rng(2347).uniform(0.5, 2.0, len(y))
    weights /= weights[y >= 0].mean()
    node = int(np.flatnonzero(y == 1)[0])
    z = applied(y, {node: 2})
    fresh = RobustGC(eta=0.9, n_modes=q, affinity="precomputed").fit(W, z, weights)
    clf = RobustGC(eta=0.9, n_modes=q, affinity="precomputed").fit(W, y, weights)
    assert relative(clf.update({node: 2}).f_, fresh.f_) <= 1e-9


def two_pieces(n_classes=3):
    """Two blocks models side by side, the second without labels."""
    W, truth = lifting.blocks(2351, [15] * n_classes, 0.5, 0.1)
    y, _ = lifting.some_labels(2357, truth, 5)
    both = sp.block_diag([W, lifting.blocks(2371, [12] * n_classes, 0.5, 0.1)[0]], format="csr")
    return both, np.concatenate([y, np.full(12 * n_classes, -1)])


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_components_that_gain_and_lose_labels(q, n_classes):
    W, y = two_pieces(n_classes)
    start = len(y) - 12 * n_classes
    clf = RobustGC(eta=0.9, n_modes=q, affinity="precomputed").fit(W, y)
    assert (clf.transduction_[start:] == -1).all()
    steps = [
        {start: 0},
        {start + 12: 1, start + 13: 1, start + 1: 0},
        {int(np.flatnonzero(y == 0)[0]): 1},
        {start + 12: None, start + 13: None},
        {start: None, start + 1: None},
    ]
    for changes in steps:
        y = applied(y, changes)
        fresh = RobustGC(eta=0.9, n_modes=q, affinity="precomputed").fit(W, y)
        clf.update(changes)
        np.testing.assert_array_equal(clf.transduction_, fresh.transduction_)
        np.testing.assert_array_equal(clf.reasons_, fresh.reasons_)
        np.testing.assert_allclose(clf.f_, fresh.f_, rtol=1e-7, atol=1e-9)


def test_new_points_are_answered_from_the_changed_labels():
    X, y, _ = moons()
    free = np.flatnonzero(y < 0)[:3]
    changes = {int(i): 0 for i in free}
    z = applied(y, changes)
    new = X[:20] + 0.01
    for options in ({"eta": 0.9, "n_modes": 1}, {"eta": 0.8, "n_modes": 2}):
        fresh = RobustGC(**options).fit(X, z)
        clf = RobustGC(**options).fit(X, y).update(changes)
        np.testing.assert_allclose(
            clf.decision_function(new), fresh.decision_function(new), rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize("kind", ["small", "blocks", "grid"])
def test_no_change_leaves_the_answer(kind):
    W, y = graph_with_labels(kind, 4)
    clf = RobustGC(affinity="precomputed").fit(W, y)
    f, selection = clf.f_.copy(), clf.selection_
    node = int(np.flatnonzero(y >= 0)[0])
    clf.update({node: y[node]})
    np.testing.assert_array_equal(clf.f_, f)
    assert clf.update({}).selection_ == selection


@pytest.mark.parametrize("kind", ["small", "blocks", "grid"])
@pytest.mark.parametrize("weighted", [False, True])
def test_there_and_back_restores_the_answer(kind, weighted):
    W, y = graph_with_labels(kind, 4)
    weights = np.random.default_rng(2377).uniform(0.5, 2.0, len(y)) if weighted else None
    clf = RobustGC(affinity="precomputed").fit(W, y, weights)
    f, answer = clf.f_.copy(), clf.transduction_.copy()
    changes = some_changes(y)
    if weighted:  # labels that are taken away have weight 1 when they are given again
        changes = {node: label for node, label in changes.items() if label not in (None, -1)}
    clf.update(changes)
    assert relative(clf.f_, f) > 1e-3
    clf.update({node: None if y[node] < 0 else y[node] for node in changes})
    assert relative(clf.f_, f) <= 1e-6
    np.testing.assert_array_equal(clf.transduction_, answer)


def test_in_steps_or_at_once():
    W, y = graph_with_labels("small", 4)
    changes = some_changes(y)
    at_once = RobustGC(affinity="precomputed").fit(W, y).update(changes)
    in_steps = RobustGC(affinity="precomputed").fit(W, y)
    for node, label in changes.items():
        in_steps.update({node: label})
    assert relative(in_steps.f_, at_once.f_) <= 1e-9


def test_labels_are_judged_anew_after_a_change():
    W, truth = lifting.blocks(2381, [40, 40], 0.3, 0.05)
    y, _ = lifting.some_labels(2383, truth, 10)
    clf = RobustGC(affinity="precomputed").fit(W, y)
    node = int(np.flatnonzero(y == 0)[0])
    assert clf.label_issues().suspicion.max() < 0.5
    issues = clf.update({node: 1}).label_issues()
    assert issues.node[0] == node
    assert issues.suspicion[0] > 0.5
    expected = RobustGC(affinity="precomputed").fit(W, applied(y, {node: 1})).label_issues()
    np.testing.assert_allclose(issues.suspicion, expected.suspicion, atol=1e-9)


def test_text_labels_and_their_marker():
    W, y = graph_with_labels("small", 3)
    names = np.array(["a", "b", "c", "?"])[y]
    clf = RobustGC(eta=0.9, n_modes=2, affinity="precomputed", unlabeled="?").fit(W, names)
    a, b = np.flatnonzero(y == 0)[:2]
    fresh = RobustGC(eta=0.9, n_modes=2, affinity="precomputed").fit(W, applied(y, {a: -1, b: 2}))
    np.testing.assert_allclose(clf.update({a: "?", b: "c"}).f_, fresh.f_, rtol=1e-9, atol=1e-12)


def test_empty_text_may_be_a_class():
    W, y = graph_with_labels("small", 2)
    names = np.array(["", "b", "?"])[y]
    clf = RobustGC(eta=0.9, n_modes=2, affinity="precomputed", unlabeled="?").fit(W, names)
    free = int(np.flatnonzero(y < 0)[0])
    fresh = RobustGC(eta=0.9, n_modes=2, affinity="precomputed").fit(W, applied(y, {free: 0}))
    np.testing.assert_allclose(clf.update({free: ""}).f_, fresh.f_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({500: 1}, "500 is not a node of the fitted graph; nodes are 0 to 79"),
        ({-1: 1}, "-1 is not a node"),
        ({2.5: 1}, "2.5 is not a node"),
        ({"a": 1}, "'a' is not a node"),
        ({3: 7}, "7 is not a class of the fit; those are 0, 1"),
        ({3: "x"}, "'x' is not a class"),
    ],
)
@pytest.mark.parametrize("options", [{}, {"eta": 0.9, "n_modes": 1}])
def test_what_cannot_be_changed(changes, message, options):
    W, y = graph_with_labels("small", 2)
    clf = RobustGC(affinity="precomputed", **options).fit(W, y)
    f = clf.f_.copy()
    with pytest.raises(ValueError, match=message):
        clf.update(changes)
    np.testing.assert_array_equal(clf.f_, f)


def test_two_classes_must_be_left():
    W, y = graph_with_labels("small", 2)
    clf = RobustGC(affinity="precomputed").fit(W, y)
    with pytest.raises(ValueError, match="fewer than two classes"):
        clf.update({int(i): None for i in np.flatnonzero(y == 0)})
    assert np.isfinite(clf.update({int(np.flatnonzero(y == 0)[0]): None}).f_).all()


def test_not_with_landmarks():
    X, y, _ = moons()
    with pytest.raises(ValueError, match="not possible with landmarks"):
        RobustGC(landmarks=60).fit(X, y).update({0: 1})


def test_a_fit_on_ranks_says_why_its_labels_cannot_change():
    """It has no sample weights in this process: the reason comes before any use of them."""
    clf = RobustGC(affinity="precomputed").fit(graphs.path(8), [0, *[-1] * 6, 1])
    clf._fit, clf._sample_weight = AnswersOnly(clf._fit.answer, "", "The nodes are on ranks."), None
    for work in (lambda: clf.update({3: 0}), lambda: clf.suggest_queries(1)):
        with pytest.raises(ValueError, match=r"The nodes are on ranks\."):
            work()


def test_a_report_that_cannot_be_made_says_the_first_reason(monkeypatch):
    """Filters without modes are for large graphs: that they fail on a small one tells nothing."""
    clf = RobustGC(affinity="precomputed").fit(graphs.path(8), [0, *[-1] * 6, 1])
    component = replace(next(iter(clf._fit.components.values())), fit=None)

    def failing(*_args, **_kwargs):
        raise NotConvergedError("The first reason.")

    monkeypatch.setattr(components, "weigh", failing)
    with pytest.raises(NotConvergedError, match=r"The first reason\."):
        component.weighed(SolverOptions())


def test_a_report_of_the_papers_model_weighs_once_and_answers_no_other_node(monkeypatch):
    W, y = graph_with_labels("small", 2)
    clf = RobustGC(0.9, n_modes=1, affinity="precomputed").fit(W, y)
    expected = components.fit_component(
        next(iter(clf._fit.components.values())).problem, SolverOptions()
    )
    weighed = []

    def counted(*args, **kwargs):
        weighed.append(weigh(*args, **kwargs))
        return weighed[-1]

    def failing(*_args, **_kwargs):
        raise AssertionError("all nodes were solved for")

    weigh = components.weigh
    monkeypatch.setattr(components, "weigh", counted)
    monkeypatch.setattr(components, "fit_component", failing)
    first, second = clf.label_issues(), clf.label_issues()
    assert len(weighed) == 1
    np.testing.assert_array_equal(weighed[0].ensemble.label_posterior,
                                  expected.ensemble.label_posterior)  # fmt: skip
    np.testing.assert_array_equal(first.suspicion, second.suspicion)
    clf.update({int(np.flatnonzero(y < 0)[0]): 1}).label_issues()
    assert len(weighed) == 2


@pytest.mark.parametrize("options", [{"n_modes": 1}, {"n_modes": 3, "tol": 1e-7}, {}])
def test_the_residuals_of_updates_add_up(options):
    """To a few times the tolerance: from there on an update solves for all labels anew."""
    W, y = graph_with_labels("blocks", 2)
    model = {"eta": 0.9, **options} if options else {}
    clf, rng = RobustGC(affinity="precomputed", **model).fit(W, y), np.random.default_rng(2389)
    residuals, tol = [clf.residual_], options.get("tol", 1e-8 if options else 1e-6)
    for _ in range(9):
        changes = {int(i): int(rng.integers(2)) for i in rng.choice(len(y), 9, replace=False)}
        y = applied(y, changes)
        residuals.append(clf.update(changes).residual_)
        if options.get("n_modes") == 1:  # the system of Theorem 1
            graph, labelled = Graph(W), y >= 0
            Y = np.where(labelled, 2 * y - 1.0, 0.0)
            x = clf.f_ / clf.gamma_
            left = graph.L_N(x) - clf.gamma_ * x - graph.P0(Y)
            assert np.linalg.norm(left) <= clf.residual_ * np.linalg.norm(Y) * (1 + 1e-4)
    assert max(residuals) <= 4 * tol
    assert max(residuals) > 1.5 * residuals[0]


def test_a_label_given_again_has_the_weight_of_a_new_one():
    W, y = graph_with_labels("small", 3)
    weights = np.random.default_rng(2393).uniform(0.5, 2.0, len(y))
    weights[y >= 0] /= weights[y >= 0].mean()
    node, other = np.flatnonzero(y == 1)[:2].tolist()
    clf = RobustGC(0.9, n_modes=2, affinity="precomputed").fit(W, y, weights)
    clf.update({node: None}).update({node: 1, other: 2})  # one that is replaced keeps its weight
    weights[node] = 1.0
    fresh = RobustGC(0.9, n_modes=2, affinity="precomputed")
    fresh.fit(W, applied(y, {other: 2}), weights)
    scale = weights[y >= 0].mean()  # a fit brings weights to a mean of 1
    assert relative(clf.f_ / scale, fresh.f_) <= 1e-9

"""Features of the nodes beside the edges: views weighed together, new nodes, bad input."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import lifting
from robustgc import Graph, RobustGC
from robustgc.affinity.views import SHARES
from robustgc.estimators.saving.model import save
from robustgc.transduction.answer import BY_FEATURES, DECIDED, ISOLATED
from solving import relative

SIZES = [40, 40, 30]


def drawn(seed, inside=0.25, across=0.04, apart=2.0):
    """Blocks with features around a mean of their own; 6 labels a class."""
    W, truth = lifting.blocks(seed, SIZES, inside, across)
    rng = np.random.default_rng(seed + 1)
    X = rng.standard_normal((len(truth), 5)) + apart * rng.standard_normal((3, 5))[truth]
    y, _ = lifting.some_labels(seed + 2, truth, 6)
    return W, X, y, truth


def fitted(W, y, X, **options):
    return RobustGC(affinity="precomputed", **options).fit(W, y, features=X)


def test_both_views_answer_better_than_either_and_their_weights_sum_to_1():
    hits = []
    for seed in range(4001, 4011):
        W, X, y, truth = drawn(seed, 0.12, 0.04, apart=1.0)
        models = (fitted(W, y, X), fitted(W, y, None))
        hits.append([np.mean(clf.transduction_ == truth) for clf in models])
        views = models[0].views_
        assert [view.features for view in views] == [0.0, *SHARES, 1.0]
        assert sum(view.weight for view in views) == pytest.approx(1.0)
        assert models[1].views_ == ()
    both, graph = np.mean(hits, axis=0)
    assert both > graph + 0.02


@pytest.mark.parametrize("useless", ["features", "graph"])
def test_a_view_of_noise_costs_next_to_nothing(useless):
    lost = []
    for seed in range(4021, 4031):
        W, X, y, truth = drawn(seed)
        rng = np.random.default_rng(seed + 5)
        if useless == "features":
            X, name = rng.standard_normal(X.shape), "features"
            alone = fitted(W, y, None)
        else:
            order, name = rng.permutation(len(truth)), "graph"
            W = W[order][:, order]
            alone = RobustGC().fit((X - X.mean(axis=0)) / X.std(axis=0), y)
        clf = fitted(W, y, X)
        lost.append(np.mean(alone.transduction_ == truth) - np.mean(clf.transduction_ == truth))
        assert next(view.weight for view in clf.views_ if view.name == name) < 0.05
    assert np.mean(lost) <= 0.02  # ten draws of 110 nodes


@pytest.mark.parametrize("n_classes", [2, 3])
def test_values_are_the_sum_of_the_views_each_by_the_dense_formula(n_classes):
    """Each view is held against the dense formula, and the answer against their sum."""
    W, X, y, _ = drawn(4051)
    y = np.where(y >= n_classes, -1, y)
    clf = fitted(W, y, X)
    fit = next(iter(clf._fit.components.values())).fit
    total = sum(answer.f for answer in fit.answers) * fit.ensemble.sharpness
    expected = clf.f_ if n_classes > 2 else np.column_stack([-clf.f_ / 2, clf.f_ / 2])
    centred = total - total.mean(axis=1, keepdims=True)
    assert relative(centred, expected - expected.mean(axis=1, keepdims=True)) < 1e-10
    for answer in fit.answers:  # every view against the dense formula
        view, graph = answer.view, answer.view.problem.graph
        values, V = np.linalg.eigh(graph.laplacian("normalized").toarray())
        Y = view.problem.columns(answer.column_weights)
        dense = np.zeros_like(Y)
        rows = zip(answer.combination.filters, view.label_filters.pairs, strict=True)
        for coefficient, (q, eta) in rows:
            lifted = np.maximum(values, values[q] if eta > 0 else 0.0)
            gamma = eta * (values[q] if eta > 0 else values[1])
            weights = np.where(np.arange(len(values)) > 0, gamma / (lifted - gamma), 0.0)
            dense += coefficient * (V * weights) @ (V.T @ Y)
        assert relative(answer.filter_sum, dense) < 1e-8 or not answer.combination.filters.any()


def test_update_gives_what_the_same_weights_give_and_nothing_is_solved_for_no_change():
    W, X, y, _ = drawn(4061)
    clf = fitted(W, y, X)
    f = clf.f_.copy()
    node = int(np.flatnonzero(y < 0)[0])
    clf.update({node: 0})
    assert relative(clf.f_, f) > 1e-4
    clf.update({node: None})
    assert relative(clf.f_, f) < 1e-8


def test_issues_and_queries_know_the_views():
    W, X, y, truth = drawn(4073)
    wrong = int(np.flatnonzero(y >= 0)[3])
    y[wrong] = (truth[wrong] + 1) % 3
    clf = fitted(W, y, X)
    issues = clf.label_issues()
    worst = next(iter(issues))
    assert (worst.node, worst.suggested) == (wrong, truth[wrong])
    assert all(y[k] == truth[wrong] for k in worst.evidence)
    queried = clf.suggest_queries(4)
    assert len(set(queried.tolist())) == 4
    assert (y[queried] < 0).all()


def test_components_without_a_label_are_answered_by_features_with_the_reason():
    W, X, y, truth = drawn(4079, apart=4.0)
    W = sp.lil_array(W)
    apart = np.flatnonzero(y < 0)[::7]
    W[apart, :] = 0
    W[:, apart] = 0
    W = sp.csr_array(W)
    clf, alone = fitted(W, y, X), fitted(W, y, None)
    assert (alone.transduction_[apart] == -1).all()
    assert np.mean(clf.transduction_[apart] == truth[apart]) > 0.9
    assert (clf.reasons_[apart] == BY_FEATURES).all()
    assert (clf.reasons_[np.flatnonzero(y >= 0)] == DECIDED).all()


def test_nodes_without_features_are_answered_by_their_edges_and_those_with_neither_are_not():
    W, X, y, truth = drawn(4091)
    W = sp.lil_array(W)
    bare, nothing = np.flatnonzero(y < 0)[::9], int(np.flatnonzero(y < 0)[1])
    X[bare], X[nothing] = np.nan, np.nan
    W[nothing, :] = 0
    W[:, nothing] = 0
    clf = fitted(sp.csr_array(W), y, X)
    assert np.mean(clf.transduction_[bare] == truth[bare]) > 0.8
    assert clf.transduction_[nothing] == -1
    assert clf.reasons_[nothing] == ISOLATED
    assert f"nodes without features: {len(bare) + 1}" in clf.notes_


def test_dense_sparse_and_frames_give_the_same():
    W, X, y, _ = drawn(4093)
    expected = fitted(W, y, X).f_
    frame = pd.DataFrame(X, columns=list("abcde")).assign(name="x")
    clf = fitted(W, y, frame)
    assert_array_equal(clf.f_, expected)
    assert "columns that do not hold numbers are left out: 'name'" in clf.notes_
    for form in (sp.csr_array(X), X.tolist()):
        assert_allclose(fitted(W, y, form).f_, expected, atol=1e-6 * np.abs(expected).max())
    assert_allclose(fitted(W.toarray() if sp.issparse(W) else sp.csr_array(W), y, X).f_, expected,
                    atol=1e-6 * np.abs(expected).max())  # fmt: skip


def test_fitted_nodes_are_predicted_and_new_ones_refused():
    W, X, y, _ = drawn(4099)
    for form in (np.asarray(W.toarray()) if sp.issparse(W) else W, sp.csr_array(W)):
        clf = fitted(form, y, X)
        assert_array_equal(clf.predict(W), clf.transduction_)
        assert_array_equal(clf.predict(sp.csr_array(W)[[3, 7]]), clf.transduction_[[3, 7]])
        with pytest.raises(ValueError, match="2 of 2 rows are new nodes"):
            clf.predict(np.eye(2, len(y)))
    assert clf.score(W, clf.transduction_) == 1.0


def test_a_view_of_the_graph_alone_is_the_graph_whatever_its_degrees():
    W, X, y, _ = drawn(4101)
    heavy = np.exp(1.5 * np.random.default_rng(4102).standard_normal(len(y)))
    W = sp.diags_array(heavy) @ sp.csr_array(W) @ sp.diags_array(heavy)
    graph = next(iter(fitted(W, y, X)._fit.components.values())).fit.answers[0].view.problem.graph
    expected = Graph(W)
    assert_allclose(graph.L_N(X), expected.L_N(X), atol=1e-12)


def test_the_papers_model_takes_graph_and_features_half_and_half():
    W, X, y, _ = drawn(4111)
    clf = fitted(W, y, X, eta=0.9, n_modes=1)
    featured = clf._featured
    assert_array_equal(clf.f_, RobustGC(0.9, n_modes=1, affinity="precomputed")
                       .fit(featured.weights(), y).f_)  # fmt: skip
    assert clf.views_ == ()


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones((7, 2)), "have 7 rows, the graph has 110 nodes"),
        (np.ones(110), r"shape \(110,\)"),
        (np.ones((110, 2)), "none of their 2 columns has two different values"),
        (np.full((110, 2), np.inf), "220 values of the features are infinite"),
        ([["a", "b"]] * 110, "hold text or objects"),
        (pd.DataFrame({"a": ["x"] * 110}), "no column of numbers"),
    ],
)
def test_bad_features_are_refused(features, message):
    W, _, y, _ = drawn(4127)
    with pytest.raises(ValueError, match=message):
        fitted(W, y, features)


def test_features_where_they_have_no_meaning_are_refused(tmp_path):
    W, X, y, _ = drawn(4129)
    with pytest.raises(ValueError, match="for the nodes of a graph, and affinity='knn'"):
        RobustGC().fit(X, y, features=X)
    with pytest.raises(ValueError, match="no landmarks"):
        RobustGC(affinity="precomputed", landmarks=50).fit(W, y, features=X)
    with pytest.raises(ValueError, match="unknown; choose one of auto"):
        RobustGC(affinity="precomputed").fit(W, y, features_as="words")
    model = fitted(W, y, X)
    with pytest.raises(ValueError, match="features cannot be saved"):
        save(model, tmp_path / "model")


def test_a_column_made_from_the_labels_is_named():
    W, X, y, truth = drawn(4133)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(group=truth * 10.0)
    assert any(
        "'group' of the features alone gives every label" in n for n in fitted(W, y, frame).notes_
    )
    assert not any("alone" in note for note in fitted(W, y, X).notes_)

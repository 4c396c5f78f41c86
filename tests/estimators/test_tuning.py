"""The choice of gamma and of the number of eigenvectors, against fits without each label."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
from robustgc import BelkinGC, Graph, ZhouGC
from robustgc.estimators.tuning import GAMMAS, ScoredValue, choose_gamma, choose_n_vectors
from robustgc.graph.graph import SMALL
from robustgc.models.leave_one_out import LabelledGraph
from samples import moons


def test_hundreds_of_labels_on_a_large_graph():
    n, rng = SMALL + 40, np.random.default_rng(43)
    codes = np.full(n, -1)
    codes[rng.choice(n, 300, replace=False)] = np.arange(300) % 3
    graph = Graph(sp.csr_array(graphs.random_weights(rng, n, density=0.006)))
    rows = choose_gamma([LabelledGraph.of(graph, codes, 3)], gammas=(0.1, 1.0))
    assert [row.candidate for row in rows] == [0.1, 1.0]
    assert sum(row.chosen for row in rows) == 1


def several_components():
    rng = np.random.default_rng(44)
    blocks = [graphs.random_weights(rng, n) for n in (14, 9, 4)] + [np.zeros((1, 1))]
    W = sp.csr_array(sp.block_diag(blocks))
    y = np.full(28, "", dtype="<U1")
    y[[0, 3, 4, 7, 9, 11, 12, 14, 16, 17, 19, 20, 24, 25, 27]] = list("aabcbcaabbbaccb")
    return W, y


@pytest.mark.parametrize(
    ("estimator", "name"), [(ZhouGC("auto"), "gamma"), (BelkinGC("auto"), "n_vectors")]
)
def test_accuracy_is_that_of_fits_without_each_label(estimator, name):
    W, y = several_components()
    estimator.set_params(affinity="precomputed").fit(W, y)
    number = estimator.components_
    judged = [i for i in np.flatnonzero(y != "") if len(set(y[number == number[i]]) - {""}) > 1]
    assert len(judged) == 12
    assert len(estimator.selection_) >= 2
    for row in estimator.selection_:
        fixed = type(estimator)(row.candidate, affinity="precomputed")
        hits = []
        for i in judged:
            without = np.where(np.arange(28) == i, "", y)
            alone = y[i] not in without[number == number[i]]
            hits.append(not alone and fixed.fit(W, without).transduction_[i] == y[i])
        assert row.accuracy == pytest.approx(np.mean(hits))
    best = max(estimator.selection_, key=lambda row: (row.accuracy, row.margin))
    assert [row for row in estimator.selection_ if row.chosen] == [best]
    assert getattr(estimator, f"{name}_") == best.candidate
    again = type(estimator)(best.candidate, affinity="precomputed").fit(W, y)
    np.testing.assert_array_equal(estimator.transduction_, again.transduction_)
    assert again.selection_ == ()
    assert getattr(again, f"{name}_") == best.candidate


def test_the_only_label_of_its_class_is_a_miss():
    codes = np.array([0, 0, 0, -1, 1, -1, -1, -1])
    part = LabelledGraph.of(Graph(graphs.two_cliques(4, 0.1)), codes, 2)
    assert {row.accuracy for row in choose_gamma([part])} == {0.75}
    assert choose_gamma([]) == ()


def test_too_few_labels_to_judge():
    W, y = graphs.path(6), ["a", "", "", "", "", "b"]
    clf = BelkinGC(affinity="precomputed").fit(W, y)
    assert clf.n_vectors == "auto"
    assert (clf.n_vectors_, clf.selection_) == (2, ())
    split = sp.block_diag([graphs.path(3), graphs.path(3)])
    for estimator in (ZhouGC("auto", affinity="precomputed"), clf):
        estimator.fit(split, y)
        assert estimator.selection_ == ()
        assert estimator.transduction_.tolist() == ["a"] * 3 + ["b"] * 3
    assert choose_n_vectors([], "normalized") == ()


def test_large_graphs_are_asked_for_few_vectors():
    X = np.random.default_rng(46).random((1700, 2))
    y = np.where(np.arange(1700) % 40, -1, X[:, 0] > 0.5)
    clf = BelkinGC().fit(X, y)
    assert [row.candidate for row in clf.selection_] == [2, 3, 4, 5, 7, 8, 10]
    assert clf.score(X, X[:, 0] > 0.5) > 0.85


def test_wrong_labels_ask_for_fewer_vectors_and_more_smoothing():
    X, _, truth = moons(300)
    rng = np.random.default_rng(45)
    y = np.full(300, -1)
    labelled = rng.permutation(300)[:60]
    y[labelled] = truth[labelled]
    y[labelled[:15]] = 1 - y[labelled[:15]]
    for auto, fixed in ((ZhouGC("auto"), ZhouGC(10.0)), (BelkinGC(), BelkinGC(50))):
        assert auto.fit(X, y).score(X, truth) > fixed.fit(X, y).score(X, truth) + 0.05


def test_choices_with_landmarks_and_after_a_fit_that_fails():
    X, y, _ = moons()
    clf = ZhouGC("auto", landmarks=60).fit(X, y)
    assert clf.gamma_ in GAMMAS
    rows = clf.selection_
    with pytest.raises(ValueError, match="NaN"):
        clf.fit(np.full_like(X, np.nan), y)
    assert clf.selection_ is rows
    assert clf.gamma == "auto"


@pytest.mark.parametrize(
    ("estimator", "text"),
    [
        (ZhouGC(gamma="best"), "gamma='best' is not allowed; it must be a number > 0, or 'auto'"),
        (BelkinGC(n_vectors="all"), "n_vectors='all' is not allowed.*or 'auto'"),
    ],
)
def test_other_words_are_refused(estimator, text):
    X, y, _ = moons()
    with pytest.raises(ValueError, match=text):
        estimator.fit(X, y)


def test_selections_pickled_under_the_earlier_name_load():
    row = ScoredValue(0.1, 0.75, 0.25, chosen=True)
    earlier = pickle.dumps(row, protocol=0).replace(b"ScoredValue", b"Candidate")
    assert b"Candidate" in earlier
    assert pickle.loads(earlier) == row

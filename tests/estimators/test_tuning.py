"""The choice of gamma and of the number of eigenvectors, against fits without each label."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import graphs
from robustgc import BelkinGC, Graph, ZhouGC, belkin, eigenpairs, zhou
from robustgc.estimators.tuning import GAMMAS, ScoredValue, choose_gamma, choose_n_vectors
from robustgc.graph.graph import SMALL
from robustgc.models import leave_one_out as formulas
from robustgc.models.leave_one_out import (
    FOLDS,
    LabelledGraph,
    belkin_leave_one_out,
    hat_matrix_factors,
    stratified_folds,
    zhou_at_nodes,
    zhou_leave_one_out,
)
from samples import moons

K = 3


@st.composite
def pieces(draw, min_nodes=4):
    """A connected graph with labels of two or three classes on some of its nodes."""
    W = draw(graphs.weighted_graphs(min_nodes, 12))
    codes = np.array(draw(st.lists(st.integers(-1, K - 1), min_size=len(W), max_size=len(W))))
    codes[:2] = 0, 1
    return LabelledGraph(Graph(W), codes)


def refitted(part, fit, fold=None):
    """Fit without each label, or each fold, and look at it; -inf: its class has no label then."""
    nodes = part.labelled
    fold = np.arange(len(nodes)) if fold is None else fold
    expected = np.full((len(nodes), K), -np.inf)
    for i in range(len(nodes)):
        kept = nodes[fold != fold[i]]
        Y = np.zeros((part.graph.n, K))
        Y[kept, part.codes[kept]] = 1.0
        left = Y.any(axis=0)
        expected[i, left] = fit(kept, Y)[nodes[i], left]
    return expected


@pytest.mark.parametrize("few", [200, 0])
@given(part=pieces(), gamma=st.floats(1e-3, 10))
def test_zhou_unseen_equals_refitting(few, part, gamma):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formulas, "FEW", few)  # 0: from the spectrum
        found = zhou_leave_one_out(part, K, [gamma])[0]
    expected = refitted(part, lambda _, Y: zhou(part.graph, Y, gamma=gamma).f)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(part=pieces(), p=st.integers(1, 12), kind=st.sampled_from(["normalized", "combinatorial"]))
def test_belkin_unseen_equals_refitting(part, p, kind):
    p = min(p, part.graph.n)
    V = eigenpairs(part.graph, p, kind).vectors
    rows = V[part.labelled]

    def fit(kept, Y):
        return V @ np.linalg.lstsq(V[kept], Y[kept], rcond=None)[0]

    found = belkin_leave_one_out(rows, part.one_hot(K))
    np.testing.assert_allclose(found, refitted(part, fit), atol=1e-7)


def test_belkin_unseen_is_the_model_without_the_label():
    rng = np.random.default_rng(41)
    graph = Graph(graphs.random_weights(rng, 30))
    y = graphs.random_labels(rng, 30, 0.5)
    codes = np.where(y == 0, -1, (y > 0).astype(int))
    nodes = np.flatnonzero(y)
    found = belkin_leave_one_out(eigenpairs(graph, 4).vectors[nodes], np.eye(2)[codes[nodes]])
    for row, i in zip(found, nodes, strict=True):
        f = belkin(graph, np.where(np.arange(30) == i, 0.0, y), n_vectors=4).f[i]
        assert row[1] - row[0] == pytest.approx(f, rel=1e-9, abs=1e-12)


def test_what_a_label_less_leaves_open_is_not_determined():
    rng = np.random.default_rng(42)
    basis = rng.standard_normal((6, 3))
    assert hat_matrix_factors(basis) is not None
    assert hat_matrix_factors(basis[:3]) is None  # as many vectors as labels
    assert hat_matrix_factors(np.column_stack([basis, basis[:, 0]])) is None  # rank
    basis[:, 2] = np.eye(6)[4]
    assert hat_matrix_factors(basis) is None  # h_44 = 1: nothing else sees the third vector


def large_piece(n_labels):
    rng = np.random.default_rng(43)
    n = SMALL + 40
    graph = Graph(sp.csr_array(graphs.random_weights(rng, n, density=0.006)))
    codes = np.full(n, -1)
    codes[rng.choice(n, n_labels, replace=False)] = np.arange(n_labels) % K
    return LabelledGraph(graph, codes)


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [0.01, 0.1, 2.0])
def test_large_graphs_each_label_by_itself_or_in_folds(gamma, monkeypatch):
    part = large_piece(45)
    monkeypatch.setattr(formulas, "_HELD", 7 * part.graph.n)  # few columns at a time

    def fit(_, Y):
        return zhou(part.graph, Y, gamma=gamma).f

    found = zhou_leave_one_out(part, K, [0.3, gamma])[1]
    expected = refitted(part, fit)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6 * expected.max())
    monkeypatch.setattr(formulas, "FEW", 10)
    fold = stratified_folds(part.codes[part.labelled], FOLDS)
    assert {np.bincount(fold[part.codes[part.labelled] == k]).max() for k in range(K)} == {2}
    found, expected = zhou_leave_one_out(part, K, [gamma, 0.3])[0], refitted(part, fit, fold)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6 * expected.max())


@pytest.mark.parametrize("W", [graphs.path(1600), graphs.grid(40, 40), graphs.cycle_sparse(1800)])
def test_many_gammas_from_one_run(W):
    graph, nodes = Graph(W), np.array([3, 4, 700, 1500])
    gammas = [0.001, 0.05, 0.7, 1.0, 10.0]
    B = np.zeros((graph.n, 4))
    B[nodes] = np.eye(4)
    for gamma, found in zip(gammas, zhou_at_nodes(graph, nodes, np.eye(4), gammas), strict=True):
        expected = zhou(graph, B, gamma=gamma).f[nodes]
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6 * expected.max())


def test_a_run_ends_where_its_space_is_complete():
    n = SMALL + 100
    W = sp.csr_array(graphs.star(n))  # from the hub, two steps span everything
    graph, nodes = Graph(W), np.array([0, 5])
    found = zhou_at_nodes(graph, nodes, np.array([[1.0], [0.0]]), [0.1])[0][:, 0]
    np.testing.assert_allclose(found, zhou(graph, np.eye(1, n)[0], gamma=0.1).f[nodes], atol=1e-9)


def test_hundreds_of_labels_on_a_large_graph():
    part = large_piece(300)
    rows = choose_gamma([part], K, gammas=(0.1, 1.0))
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
    part = LabelledGraph(Graph(graphs.two_cliques(4, 0.1)), np.array([0, 0, 0, -1, 1, -1, -1, -1]))
    assert {row.accuracy for row in choose_gamma([part], 2)} == {0.75}
    assert choose_gamma([], 2) == ()


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
    assert choose_n_vectors([], 2, "normalized") == ()


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

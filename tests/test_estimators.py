import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import graphs
import oracles
from robustgc import BelkinGC, Graph, RobustGC, ZhouGC, condition_bound, robust

ESTIMATORS = [RobustGC, ZhouGC, BelkinGC]
EACH = pytest.mark.parametrize("estimator", ESTIMATORS)


def expected_failures(_estimator):
    return {
        "check_classifiers_classes": "feeds the classes -1 and +1, where -1 means unlabelled; "
        "scikit-learn excuses its own semi-supervised classes by name"
    }


@parametrize_with_checks(
    [estimator() for estimator in ESTIMATORS], expected_failed_checks=expected_failures
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def moons(n=120, n_labels=12, seed=17):
    X, truth = make_moons(n, noise=0.08, random_state=seed)
    y = np.full(n, -1)
    labelled = np.random.default_rng(seed).permutation(n)[:n_labels]
    y[labelled] = truth[labelled]
    return X, y, truth


CLIQUES = graphs.two_cliques(4, 0.1)
Y_CLIQUES = np.array([0, -1, -1, -1, 1, -1, -1, -1])


def test_robust_equals_the_paper_and_carries_its_certificate():
    rng = np.random.default_rng(3)
    W = graphs.random_weights(rng, 40, loops=True)
    signs = graphs.random_labels(rng, 40)
    y = np.where(signs == 0, -1, (signs > 0).astype(int))
    clf = RobustGC(0.7, affinity="precomputed").fit(W, y)
    limit = oracles.lambda_1(W)
    assert clf.lambda_1_ == pytest.approx(limit)
    assert clf.gamma_ == pytest.approx(0.7 * limit)
    assert clf.condition_bound_ == pytest.approx((2 - clf.gamma_) / (limit - clf.gamma_))
    np.testing.assert_allclose(clf.f_, oracles.robust(W, signs, clf.gamma_), rtol=1e-8)
    np.testing.assert_array_equal(clf.transduction_, clf.f_ > 0)
    assert clf.residual_ < 1e-10
    assert clf.n_iter_ == 0
    assert clf.classes_.tolist() == [0, 1]
    assert set(clf.reasons_) == {"decided by the model"}


def test_zhou_and_belkin_equal_the_paper():
    rng = np.random.default_rng(4)
    W = graphs.random_weights(rng, 30)
    signs = graphs.random_labels(rng, 30)
    y = np.where(signs == 0, "", np.where(signs > 0, "yes", "no"))
    zhou = ZhouGC(0.3, affinity="precomputed").fit(W, y)
    np.testing.assert_allclose(zhou.f_, oracles.zhou(W, signs, 0.3), rtol=1e-8, atol=1e-12)
    for kind in ("normalized", "combinatorial"):
        clf = BelkinGC(4, laplacian=kind, affinity="precomputed").fit(W, y)
        np.testing.assert_allclose(clf.f_, oracles.belkin(W, signs, 4, kind), rtol=1e-7)
    assert zhou.transduction_.tolist() == np.where(zhou.f_ > 0, "yes", "no").tolist()


@EACH
@pytest.mark.parametrize("affinity", ["knn", "rbf", rbf_kernel, "precomputed"])
def test_predict_on_the_training_points_equals_the_transduction(estimator, affinity):
    X, y, _ = moons()
    X = rbf_kernel(X, gamma=10) if affinity == "precomputed" else X
    clf = estimator(affinity=affinity).fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), clf.transduction_)
    np.testing.assert_array_equal(clf.decision_function(X), clf.f_)
    some = [5, 80, 3, 41]
    np.testing.assert_array_equal(clf.predict(X[some]), clf.transduction_[some])
    np.testing.assert_array_equal(clf.decision_function(X[some]), clf.f_[some])
    np.testing.assert_array_equal(estimator(affinity=affinity).fit_predict(X, y), clf.predict(X))


def test_copies_of_a_point_that_were_told_apart_by_labels():
    X = np.vstack([moons()[0], moons()[0][:1]])
    y = np.append(moons()[1], -1)
    clf = RobustGC(affinity="rbf").fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), clf.transduction_)
    assert clf.decision_function(X[:1])[0] == pytest.approx(clf.f_[[0, -1]].mean())


def test_new_points_by_the_papers_formula_and_nothing_out_of_range():
    X, y, truth = moons(200)
    clf = RobustGC(affinity="rbf", sigma=0.15).fit(X, y)
    W = np.exp(-np.square(X[:, None] - X[None]).sum(axis=-1) / (2 * 0.15**2))
    X_new = np.vstack([moons(50, seed=23)[0], [[40.0, 40.0], [3.0, 3.0]]])
    f_x = clf.decision_function(X_new)
    for x, value in zip(X_new, f_x, strict=True):
        k_x = np.exp(-np.square(X - x).sum(axis=1) / (2 * 0.15**2))
        expected = oracles.extend(W, clf.f_, k_x, 1.0, clf.gamma_)
        assert (expected is None) == np.isnan(value)
        if expected is not None:
            assert value == pytest.approx(expected, rel=1e-8)
    assert np.isnan(f_x[-2:]).all()
    assert clf.predict(X_new)[-2:].tolist() == [-1, -1]
    assert np.isnan(clf.predict_proba(X_new)[-2:]).all()
    assert np.mean(clf.predict(X_new[:50]) == moons(50, seed=23)[2]) > 0.95
    assert np.mean(clf.transduction_ == truth) > 0.95


@EACH
@pytest.mark.parametrize("affinity", ["knn", rbf_kernel])
def test_new_points_near_the_moons(estimator, affinity):
    X, y, _ = moons(200)
    X_new, _, truth_new = moons(60, seed=29)
    params = {"n_vectors": 4} if estimator is BelkinGC else {}
    kernel = affinity if affinity == "knn" else lambda a, b: rbf_kernel(a, b, gamma=20)
    clf = estimator(affinity=kernel, **params).fit(X, y)
    assert np.mean(clf.predict(X_new) == truth_new) > 0.8


def test_blocks_of_new_points_do_not_change_the_answer(monkeypatch):
    X, y, _ = moons()
    X_new = moons(50, seed=23)[0]
    clf = RobustGC(affinity="rbf", sigma=0.3).fit(X, y)
    at_once = clf.decision_function(X_new)
    monkeypatch.setattr("robustgc._classifier.BLOCK", 3 * len(X))
    np.testing.assert_allclose(clf.decision_function(X_new), at_once, rtol=1e-12)


@EACH
def test_probabilities(estimator):
    X, y, _ = moons()
    for labels in (y, np.where(y == 1, 1 + (X[:, 0] > 1), y)):
        clf = estimator(affinity="rbf").fit(X, labels)
        p = clf.predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert ((p > 0) & (p < 1)).all()
        np.testing.assert_array_equal(clf.classes_[p.argmax(axis=1)], clf.transduction_)


@EACH
def test_many_classes_one_versus_the_rest(estimator):
    W = np.kron(np.eye(3), graphs.complete(5)) + 0.01 * graphs.complete(15)
    y = np.full(15, "", dtype="<U1")
    y[[0, 1, 5, 6, 10, 11]] = list("aabbcc")
    params = {RobustGC: {"eta": 0.3}, BelkinGC: {"n_vectors": 3}}.get(estimator, {})
    clf = estimator(affinity="precomputed", **params).fit(W, y)
    assert clf.f_.shape == (15, 3)
    assert "".join(clf.transduction_) == "a" * 5 + "b" * 5 + "c" * 5
    if estimator is RobustGC:
        signs = np.where(y == "", 0.0, np.where(y == "b", 1.0, -1.0))
        np.testing.assert_allclose(clf.f_[:, 1], oracles.robust(W, signs, clf.gamma_), rtol=1e-8)


@EACH
def test_components_are_answered_one_by_one_with_the_reason(estimator):
    # two cliques with both classes | a triangle with one class | a pair without | two lone nodes
    W = sp.block_array([[CLIQUES, None, None, None], [None, graphs.complete(3), None, None],
                        [None, None, graphs.complete(2), None],
                        [None, None, None, np.zeros((2, 2))]], format="csr")  # fmt: skip
    y = np.array([*Y_CLIQUES, -1, 1, -1, -1, -1, 0, -1])
    params = {"n_vectors": 2} if estimator is BelkinGC else {}
    clf = estimator(affinity="precomputed", **params).fit(W, y)
    assert clf.transduction_.tolist() == [0] * 4 + [1] * 4 + [1] * 3 + [-1, -1] + [0, -1]
    assert clf.components_.tolist() == [0] * 8 + [1] * 3 + [2] * 2 + [3] + [4]
    assert np.isnan(clf.f_).tolist() == (clf.transduction_ == -1).tolist()
    assert (clf.f_[clf.transduction_ == 1] > 0).all()
    reasons = clf.reasons_.tolist()
    assert set(reasons[:8]) == {"decided by the model"}
    if estimator is not ZhouGC:
        assert set(reasons[8:11]) == {"only one class is labelled in its component"}
    assert set(reasons[11:13]) == {"no label in its component"}
    assert reasons[13] == "only one class is labelled in its component"
    assert reasons[14] == "isolated node without a label"
    assert clf.certificates_[0].n_nodes == 8
    np.testing.assert_array_equal(clf.predict(W), clf.transduction_)
    p = clf.predict_proba(W)
    assert np.isfinite(p).all(axis=1).tolist() == (clf.transduction_ != -1).tolist()


def test_zhou_on_a_graph_of_several_components_is_the_formula_on_the_whole():
    W = np.kron(np.eye(2), CLIQUES) + 1e-300 * np.eye(16)
    signs = np.zeros(16)
    signs[[0, 5, 9, 10]] = [1, -1, 1, 1]
    clf = ZhouGC(0.5, affinity="precomputed").fit(W, np.where(signs == 0, -1, signs > 0))
    np.testing.assert_allclose(clf.f_, oracles.zhou(W, signs, 0.5), atol=1e-14)


def test_new_nodes_belong_to_the_component_they_are_tied_to_most():
    W = np.kron(np.eye(3), CLIQUES)
    y = np.full(24, -1)
    y[[0, 4, 9]] = [0, 1, 1]  # both classes | one class | none
    clf = RobustGC(affinity="precomputed").fit(W, y)
    rows = np.zeros((5, 24))
    rows[0, [0, 1, 2]] = 1
    rows[1, [5, 6]] = 1
    rows[2, [8, 9, 0]] = 1
    rows[3, 17] = 1
    assert clf.predict(rows).tolist() == [0, 1, 1, -1, -1]
    assert np.isnan(clf.decision_function(rows)[3:]).all()
    assert clf.predict(sp.csr_matrix(rows)).tolist() == [0, 1, 1, -1, -1]


def test_all_components_with_one_class_each():
    W = np.kron(np.eye(2), graphs.complete(3))
    clf = RobustGC(affinity="precomputed").fit(W, ["a", None, None, "b", None, None])
    assert clf.transduction_.tolist() == ["a"] * 3 + ["b"] * 3
    assert np.isnan(clf.lambda_1_)
    assert clf.residual_ == 0


def test_clusters_that_only_underflowing_weights_join_are_components():
    X = np.vstack([np.random.default_rng(2).standard_normal((20, 2)) + c for c in (0, 100, 200)])
    y = np.full(60, -1)
    y[[0, 25]] = [0, 1]
    clf = RobustGC(affinity="rbf", sigma=1.0).fit(X, y)
    assert clf.transduction_.tolist() == [0] * 20 + [1] * 20 + [-1] * 20


def test_a_class_without_a_label_in_a_component_is_never_the_answer_there():
    W = np.kron(np.eye(2), graphs.complete(6))
    W[:6, :6] = graphs.path(6).toarray()
    y = ["a", "b", "", "", "", "", "c", "", "", "", "", "a"]
    clf = RobustGC(0.5, affinity="precomputed").fit(W, y)
    assert set(clf.transduction_[:6]) == {"a", "b"}
    assert set(clf.transduction_[6:]) <= {"a", "c", ""}
    assert (clf.f_[:6, 2] == -np.inf).all()
    rows = np.vstack([W[4] + W[5], W[7] + W[8]])
    new = clf.decision_function(rows)
    assert new[0, 2] == -np.inf
    assert new[1, 1] == -np.inf
    p = clf.predict_proba(W)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p[:6, 2] == 0).all()


def test_a_far_point_is_not_guessed_by_a_component_with_one_class():
    rng = np.random.default_rng(5)
    X = np.vstack([rng.standard_normal((20, 2)), rng.standard_normal((20, 2)) + 300])
    y = np.full(40, -1)
    y[[0, 1, 25]] = [0, 1, 1]
    clf = RobustGC(affinity="rbf", sigma=1.0).fit(X, y)
    assert clf.predict([[300.0, 300.0], [328.0, 300.0]]).tolist() == [1, -1]


@pytest.mark.parametrize("affinity", ["knn", "rbf"])
def test_answers_do_not_depend_on_the_origin_or_the_unit(affinity):
    rng = np.random.default_rng(15)
    X = rng.standard_normal((80, 6)) + 1.5 * (np.arange(80) % 2)[:, None]
    X_new = rng.standard_normal((20, 6))
    y = np.where(np.arange(80) < 16, np.arange(80) % 2, -1)
    clf = RobustGC(affinity=affinity).fit(X, y)
    for moved in (lambda Z: Z + 1e6, lambda Z: Z * 1e200, lambda Z: Z * 1e-200):
        other = RobustGC(affinity=affinity).fit(moved(X), y)
        np.testing.assert_array_equal(other.transduction_, clf.transduction_)
        np.testing.assert_array_equal(other.predict(moved(X_new)), clf.predict(X_new))


def test_rbf_weights_of_clusters_far_apart_are_exact():
    X = np.vstack([moons()[0], moons()[0] + 1e8])
    near = RobustGC(affinity="rbf", sigma=0.3).fit(X, np.tile(moons()[1], 2))
    alone = RobustGC(affinity="rbf", sigma=0.3).fit(*moons()[:2])
    np.testing.assert_array_equal(near.transduction_[:120], alone.transduction_)


@EACH
def test_answers_belong_to_the_caller_and_the_fit_to_the_estimator(estimator):
    X, y, _ = moons()
    clf = estimator().fit(X, y)
    f = clf.f_.copy()
    clf.decision_function(X)[:] = 0
    clf.f_[:] = 0
    np.testing.assert_array_equal(clf.decision_function(X), f)
    before = clf.predict(X[:7] + 0.01)
    with pytest.raises(ValueError, match="unlabelled"):
        clf.fit(X[::-1] * 2, np.full(120, -1))
    np.testing.assert_array_equal(clf.predict(X[:7] + 0.01), before)
    original = X.copy()
    X[:] = X[::-1].copy()
    np.testing.assert_array_equal(clf.decision_function(original), f)


@EACH
def test_fitted_rows_are_known_in_any_container(estimator):
    X, y, _ = moons()
    wide = sp.csr_matrix(np.column_stack([X, np.zeros((120, 3))]))
    wide.indices = wide.indices.astype(np.int64)
    for fitted, asked in ((wide, wide.toarray()), (wide.toarray(), wide)):
        clf = estimator(affinity="rbf").fit(fitted, y)
        np.testing.assert_array_equal(clf.predict(asked), clf.transduction_)
        np.testing.assert_array_equal(clf.decision_function(asked[:5]), clf.f_[:5])


def test_fitted_rows_need_no_self_loop_to_be_known():
    W = graphs.random_weights(np.random.default_rng(8), 12, loops=True)
    y = np.array([0, 1] + [-1] * 10)
    clf = RobustGC(affinity="precomputed").fit(W, y)
    np.testing.assert_array_equal(clf.predict(W[3:6]), clf.transduction_[3:6])
    with pytest.raises(ValueError, match="self-loops from"):
        clf.predict(W[3:6] * 2)


def test_tiny_decision_values_have_probabilities():
    X, y, _ = moons()
    for clf in (ZhouGC(1e-200), RobustGC(1e-200), ZhouGC(1e200)):
        p = clf.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(p[np.isfinite(p).all(axis=1)].sum(axis=1), 1)


def test_a_node_of_tiny_degree_is_decided_by_its_neighbour():
    W = graphs.two_cliques(4, 0.1)
    W = np.pad(W, (0, 1))
    W[0, 8] = W[8, 0] = 1e-20
    clf = RobustGC(affinity="precomputed").fit(W, [0, -1, -1, -1, -1, 1, -1, -1, -1])
    assert clf.transduction_[8] == clf.transduction_[0] == 0


def test_a_tie_is_a_tie():
    clf = RobustGC(affinity="precomputed").fit(graphs.path(3), [0, -1, 1])
    assert clf.transduction_.tolist() == [0, -1, 1]
    assert clf.reasons_[1] == "tie between classes"


def test_a_tie_of_zhou_is_a_tie_and_a_distant_answer_is_not():
    for n in (4, 7):
        y = ["a", "", "b"] + [""] * (n - 3)
        clf = ZhouGC(affinity="precomputed").fit(graphs.complete(n), y)
        assert clf.transduction_.tolist() == ["a", "", "b"] + [""] * (n - 3)
        assert clf.reasons_[1] == "tie between classes"
    y = np.full(2000, -1)
    y[[0, 700]] = [0, 1]
    clf = ZhouGC(affinity="precomputed").fit(graphs.path(2000), y)
    assert (clf.transduction_[:350] == 0).all()
    assert (clf.transduction_[351:1200] == 1).all()


def test_answers_speak_the_language_of_the_labels():
    def answer(y):
        return RobustGC(affinity="precomputed").fit_predict(graphs.path(4), y)

    assert answer(["ham", None, None, "spam"]).tolist() == ["ham", "ham", "spam", "spam"]
    assert answer(np.array([True, None, None, False])).tolist() == [True, True, False, False]
    assert answer(pd.Series([3, -1, -1, 8])).tolist() == [3, 3, 8, 8]
    assert answer([0, 7, 7, 1]).shape == (4,)
    only = RobustGC(affinity="precomputed", unlabeled=0).fit(graphs.path(4), [-1, 0, 0, 1])
    assert only.classes_.tolist() == [-1, 1]
    assert only.transduction_.tolist() == [-1, -1, 1, 1]


def test_condition_bound_knows_when_the_weights_are_positive_semidefinite():
    X, y, _ = moons()
    kept = RobustGC(affinity="rbf", sigma=0.3).fit(X, y)
    assert kept.condition_bound_ == pytest.approx(
        (1 - kept.gamma_) / (kept.lambda_1_ - kept.gamma_)
    )
    zeroed = RobustGC(affinity="rbf", sigma=0.3, self_loops=False).fit(X, y)
    assert zeroed.condition_bound_ == pytest.approx(
        (2 - zeroed.gamma_) / (zeroed.lambda_1_ - zeroed.gamma_)
    )


@EACH
def test_scores_pass_over_unlabelled_entries(estimator):
    X, y, truth = moons()
    clf = estimator().fit(X, y)
    known = y != -1
    assert clf.score(X, y) == np.mean(clf.transduction_[known] == truth[known])
    assert clf.score(X, truth) == np.mean(clf.transduction_ == truth)
    assert 0 <= clf.score(X, truth, sample_weight=np.arange(len(y))) <= 1
    with pytest.raises(ValueError, match="nothing to score"):
        clf.score(X, np.full(len(y), -1))
    with pytest.raises(ValueError, match="X has 120 rows, y 119"):
        clf.score(X, y[:-1])


def test_text_labels_are_scored_too():
    W, y = graphs.path(6), np.array(["a", "", "", "", "", "b"])
    clf = RobustGC(affinity="precomputed").fit(W, y)
    assert clf.score(W, np.array(["a", "a", "a", "b", "b", "b"], dtype=object)) == 1.0
    assert clf.score(W, ["a", "a", None, "b", "b", "other"]) == 0.8


def test_model_selection_and_pipelines():
    X, y, truth = moons()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), RobustGC()), {"robustgc__eta": [0.5, 0.9]}, cv=3
    ).fit(X, truth)
    assert search.best_score_ > 0.8
    W = rbf_kernel(X, gamma=20)
    assert cross_val_score(RobustGC(affinity="precomputed"), W, truth, cv=3).min() > 0.8
    scaled = make_pipeline(StandardScaler(), RobustGC(affinity="rbf")).set_output(
        transform="pandas"
    )
    frame = pd.DataFrame(X, columns=["east", "north"])
    assert scaled.fit(frame, y).predict(frame).shape == (120,)
    assert scaled[-1].feature_names_in_.tolist() == ["east", "north"]


@EACH
def test_clone_and_pickle(estimator):
    X, y, _ = moons()
    X_new = moons(30, seed=23)[0]
    for affinity in ("knn", "rbf", rbf_kernel):
        clf = clone(estimator(affinity=affinity)).fit(X, y)
        again = pickle.loads(pickle.dumps(clf))
        np.testing.assert_array_equal(again.predict(X_new), clf.predict(X_new))
        np.testing.assert_array_equal(again.predict(X), clf.transduction_)


@pytest.mark.parametrize("affinity", ["knn", "rbf"])
def test_sparse_points(affinity):
    X, y, _ = moons()
    dense = RobustGC(affinity=affinity, sigma=0.3).fit(X, y)
    clf = RobustGC(affinity=affinity, sigma=0.3).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(clf.f_, dense.f_, rtol=1e-6)
    np.testing.assert_array_equal(clf.predict(sp.csc_array(X)[:9]), clf.transduction_[:9])


@EACH
def test_inputs_are_never_modified(estimator):
    X, y, _ = moons()
    X_kept, y_kept = X.copy(), y.copy()
    W = sp.csr_matrix(CLIQUES)
    W_kept = W.copy()
    estimator(affinity="rbf").fit(X, y).predict(X[:4] + 0.01)
    estimator(affinity="precomputed").fit(W, Y_CLIQUES).predict(W)
    np.testing.assert_array_equal(X, X_kept)
    np.testing.assert_array_equal(y, y_kept)
    assert abs(W - W_kept).max() == 0


def test_the_same_input_gives_the_same_bytes():
    X = np.random.default_rng(37).random((1700, 2))
    y = np.where(np.arange(1700) % 40, -1, X[:, 0] > 0.5)
    first, second = (RobustGC().fit(X, y) for _ in range(2))
    assert first.f_.tobytes() == second.f_.tobytes()
    assert first.n_iter_ > 0


def test_large_graph_with_self_loops_agrees_with_the_functions():
    rng = np.random.default_rng(19)
    W = sp.csr_array(graphs.random_weights(rng, 1600, density=0.01, loops=True))
    signs = graphs.random_labels(rng, 1600, 0.01)
    clf = RobustGC(affinity="precomputed").fit(W, np.where(signs == 0, -1, signs > 0))
    graph = Graph(W)
    np.testing.assert_allclose(clf.f_, robust(graph, signs, gamma=clf.gamma_).f, rtol=1e-6)
    assert clf.condition_bound_ == pytest.approx(condition_bound(graph, clf.gamma_))


BAD_WEIGHTS = {
    "empty": np.zeros((0, 0)),
    "not square": np.ones((8, 3)),
    "NaN": np.where(np.eye(8, k=1) + np.eye(8, k=-1), np.nan, CLIQUES),
    "inf": np.where(np.eye(8), np.inf, CLIQUES),
    "negative": -CLIQUES,
    "directed": np.triu(CLIQUES),
}


@EACH
@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_bad_weights(estimator, case):
    with pytest.raises(ValueError, match=r"node|square|finite|>= 0|symmetric"):
        estimator(affinity="precomputed").fit(BAD_WEIGHTS[case], Y_CLIQUES)


@pytest.mark.parametrize(
    ("X", "text"),
    [
        (np.ones((1, 2)), "minimum of 2 is required"),
        (np.array([[1.0, np.nan], [0.0, 1.0]]), "NaN"),
        (np.array([[1j, 0], [0, 1]]), "Complex"),
        (np.array([["a", "b"], ["c", "d"]], dtype=object), "could not convert"),
    ],
)
def test_bad_points(X, text):
    with pytest.raises(ValueError, match=text):
        RobustGC().fit(X, [0, 1][: len(X)])


@pytest.mark.parametrize(
    ("estimator", "text"),
    [
        (RobustGC(eta=0.0), "eta=0.0 is not allowed; it must be strictly between 0 and 1"),
        (RobustGC(eta=1), "eta=1 is not allowed.*Theorem 1"),
        (RobustGC(eta=-3.5), "eta=-3.5"),
        (RobustGC(eta=np.nan), "eta=nan"),
        (RobustGC(eta="0.9"), "eta='0.9'"),
        (ZhouGC(gamma=0), "gamma=0 is not allowed; it must be a number > 0"),
        (ZhouGC(gamma=np.inf), "gamma=inf"),
        (BelkinGC(n_vectors=0), "n_vectors=0 is not allowed; it must be a whole number >= 1"),
        (BelkinGC(n_vectors=2.5), "n_vectors=2.5"),
        (BelkinGC(laplacian="signed"), "laplacian='signed' is unknown"),
        (RobustGC(n_neighbors=120), "n_neighbors=120 is not allowed for 120 points"),
        (RobustGC(affinity="rbf", sigma=0), "sigma=0 is not allowed"),
        (RobustGC(affinity="jaccard"), "affinity='jaccard' is unknown"),
    ],
)
def test_bad_parameters(estimator, text):
    X, y, _ = moons()
    with pytest.raises(ValueError, match=text):
        estimator.fit(X, y)


@EACH
@pytest.mark.parametrize(
    ("y", "text"),
    [
        (np.full(8, -1), "All 8 nodes are unlabelled"),
        (np.where(Y_CLIQUES == 1, -1, Y_CLIQUES), "1 class only, 0, on 1 of 8 nodes"),
        (Y_CLIQUES[:-1], "7 labels for 8 nodes"),
    ],
)
def test_bad_labels(estimator, y, text):
    with pytest.raises(ValueError, match=text):
        estimator(affinity="precomputed").fit(CLIQUES, y)

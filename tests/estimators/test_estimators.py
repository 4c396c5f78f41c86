"""The estimators: the paper's numbers, scikit-learn's contract, bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import graphs
import oracles
from robustgc import BelkinGC, Graph, RobustGC, ZhouGC, condition_bound, robust
from samples import CLIQUES, EACH, ESTIMATORS, Y_CLIQUES, moons


def expected_failures(estimator):
    failures = {
        "check_classifiers_classes": "feeds the classes -1 and +1, where -1 means unlabelled; "
        "scikit-learn excuses its own semi-supervised classes by name"
    }
    if isinstance(estimator, RobustGC):
        stays = "a point whose label has weight 0 is still a node of the graph"
        failures |= {
            "check_sample_weight_equivalence_on_dense_data": stays,
            "check_sample_weight_equivalence_on_sparse_data": stays,
            "check_class_weight_classifiers": "class_weight is None or 'balanced'; a dictionary, "
            "which the check passes, is refused: sample_weight does what it would",
        }
    return failures


@parametrize_with_checks(
    [estimator() for estimator in ESTIMATORS], expected_failed_checks=expected_failures
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_robust_equals_the_paper_and_carries_its_certificate():
    rng = np.random.default_rng(3)
    W = graphs.random_weights(rng, 40, loops=True)
    signs = graphs.random_labels(rng, 40)
    y = np.where(signs == 0, -1, (signs > 0).astype(int))
    clf = RobustGC(0.7, n_modes=1, affinity="precomputed").fit(W, y)
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
    params = {RobustGC: {"eta": 0.3, "n_modes": 1}, BelkinGC: {"n_vectors": 3}}.get(estimator, {})
    clf = estimator(affinity="precomputed", **params).fit(W, y)
    assert clf.f_.shape == (15, 3)
    assert "".join(clf.transduction_) == "a" * 5 + "b" * 5 + "c" * 5
    if estimator is RobustGC:
        signs = np.where(y == "", 0.0, np.where(y == "b", 1.0, -1.0))
        np.testing.assert_allclose(clf.f_[:, 1], oracles.robust(W, signs, clf.gamma_), rtol=1e-8)


def test_tiny_decision_values_have_probabilities():
    X, y, _ = moons()
    for clf in (ZhouGC(1e-200), RobustGC(1e-200), ZhouGC(1e200)):
        p = clf.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(p[np.isfinite(p).all(axis=1)].sum(axis=1), 1)


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
    clf = RobustGC(0.9, n_modes=1, affinity="precomputed").fit(
        W, np.where(signs == 0, -1, signs > 0)
    )
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
        (
            RobustGC(eta=0.0),
            "eta=0.0 is not allowed; it must be 'auto' or strictly between 0 and 1",
        ),
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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"class_weight": "balanced"}, "class_weight='balanced' changes nothing here"),
        ({"eta": 0.9, "class_weight": "balanced"}, "every class counts alike anyway"),
        ({"solver": "direct"}, r"solver='direct' is for the paper's model"),
    ],
)
def test_a_parameter_that_changes_nothing_is_told(options, said):
    W = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
    with pytest.warns(UserWarning, match=said):
        RobustGC(affinity="precomputed", **options).fit(W, ["a", "", "", "b"])


def test_scale_is_deprecated_and_sigma_says_the_same():
    X = np.array([[0.0], [0.4], [2.0], [2.5]])
    with pytest.warns(FutureWarning, match="sigma multiplied by sqrt"):
        scaled = RobustGC(affinity="rbf", sigma=0.7, scale=1.0).fit(X, ["a", "", "", "b"])
    plain = RobustGC(affinity="rbf", sigma=0.7 * np.sqrt(1 / 2)).fit(X, ["a", "", "", "b"])
    np.testing.assert_allclose(scaled.f_, plain.f_, rtol=1e-9)

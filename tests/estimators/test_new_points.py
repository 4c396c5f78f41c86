"""predict and decision_function: fitted rows and new points, for every affinity."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

import graphs
import oracles
from robustgc import BelkinGC, RobustGC
from samples import CLIQUES, EACH, moons


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
    clf = RobustGC(0.9, n_modes=1, affinity="rbf").fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), clf.transduction_)
    assert clf.decision_function(X[:1])[0] == pytest.approx(clf.f_[[0, -1]].mean())


def test_new_points_by_the_papers_formula_and_nothing_out_of_range():
    X, y, truth = moons(200)
    clf = RobustGC(0.9, n_modes=1, affinity="rbf", sigma=0.15).fit(X, y)
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
    monkeypatch.setattr("robustgc.estimators.base.BLOCK", 3 * len(X))
    np.testing.assert_allclose(clf.decision_function(X_new), at_once, rtol=1e-12)


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


def test_a_far_point_is_not_guessed_by_a_component_with_one_class():
    rng = np.random.default_rng(5)
    X = np.vstack([rng.standard_normal((20, 2)), rng.standard_normal((20, 2)) + 300])
    y = np.full(40, -1)
    y[[0, 1, 25]] = [0, 1, 1]
    clf = RobustGC(0.9, n_modes=1, affinity="rbf", sigma=1.0).fit(X, y)
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
    near = RobustGC(0.9, n_modes=1, affinity="rbf", sigma=0.3).fit(X, np.tile(moons()[1], 2))
    alone = RobustGC(0.9, n_modes=1, affinity="rbf", sigma=0.3).fit(*moons()[:2])
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


@pytest.mark.parametrize("affinity", ["knn", "rbf"])
def test_sparse_points(affinity):
    X, y, _ = moons()
    dense = RobustGC(affinity=affinity, sigma=0.3).fit(X, y)
    clf = RobustGC(affinity=affinity, sigma=0.3).fit(sp.csr_matrix(X), y)
    np.testing.assert_allclose(clf.f_, dense.f_, rtol=1e-6)
    np.testing.assert_array_equal(clf.predict(sp.csc_array(X)[:9]), clf.transduction_[:9])

"""metric="cosine": neighbours and weights are those of directions, whatever the lengths."""

import numpy as np
import pytest
import scipy.sparse as sp

from robustgc import BelkinGC, HarmonicGC, PoissonGC, RobustGC, ZhouGC
from robustgc.estimators.saving.model import load as load_model
from robustgc.estimators.saving.model import save

ESTIMATORS = (RobustGC, ZhouGC, BelkinGC, HarmonicGC, PoissonGC)


def rays(seed=9103, n=40, dimensions=5):
    """Points along three directions, at lengths from 1e-3 to 1e3: only the direction tells."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], n)
    directions = np.eye(dimensions)[truth] + 0.15 * rng.normal(size=(3 * n, dimensions))
    X = directions * 10 ** rng.uniform(-3, 3, size=(3 * n, 1))
    y = np.full(3 * n, -1)
    for k in range(3):
        y[np.flatnonzero(truth == k)[:5]] = k
    return X, y, truth


def cosines(A, B):
    """The cosine of every pair, one at a time."""
    return np.array([[a @ b / np.sqrt(a @ a) / np.sqrt(b @ b) for b in B] for a in A])


def nearest(X, k):
    """The symmetrised graph of the k largest cosines, by brute force."""
    near = cosines(X, X)
    np.fill_diagonal(near, -np.inf)
    A = np.zeros(near.shape)
    for i, row in enumerate(near):
        A[i, np.argsort(-row, kind="stable")[:k]] = 1
    return (A + A.T) / 2


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_neighbours_are_those_of_a_search_over_all_cosines(estimator):
    X, y, truth = rays()
    fitted = estimator(metric="cosine", n_neighbors=6).fit(X, y)
    np.testing.assert_array_equal(fitted._affinity.weights().toarray(), nearest(X, 6))
    other = estimator(affinity="precomputed").fit(nearest(X, 6), y)
    np.testing.assert_array_equal(fitted.transduction_, other.transduction_)
    assert np.mean(fitted.transduction_ == truth) > 0.95


def test_the_gaussian_kernel_sees_twice_one_minus_the_cosine():
    X, y, _ = rays(seed=9109, n=15)
    fitted = RobustGC(affinity="rbf", metric="cosine", sigma=0.4 / np.sqrt(2)).fit(X, y)
    expected = np.exp(-2 * (1 - cosines(X, X)) / 0.4**2)
    np.testing.assert_allclose(fitted._affinity.weights(), expected, rtol=1e-10)


def test_sparse_points_have_the_same_neighbours():
    X, y, _ = rays(seed=9127)
    X[np.abs(X) < 0.1 * np.abs(X).max(axis=1, keepdims=True)] = 0
    dense, sparse = (RobustGC(metric="cosine").fit(A, y) for A in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(dense.transduction_, sparse.transduction_)
    np.testing.assert_array_equal(dense.predict(3 * X[::7] + 1e-9), sparse.predict(X[::7]))


@pytest.mark.parametrize("options", [{}, {"affinity": "rbf"}, {"landmarks": 60}], ids=str)
def test_new_points_are_answered_by_direction_and_the_saved_model_does_the_same(tmp_path, options):
    X, y, _ = rays(seed=9133)
    fitted = RobustGC(metric="cosine", **options).fit(X, y)
    new, _, classes = rays(seed=9137)
    answers = fitted.predict(new)
    assert np.mean(answers == classes) > 0.95
    np.testing.assert_array_equal(fitted.predict(new * 1e4), answers)
    # A multiple of a fitted point is that point, up to rounding.
    assert np.mean(fitted.predict(2 * X) == fitted.transduction_) == 1
    save(fitted, tmp_path / "model")
    again = load_model(tmp_path / "model").estimator
    assert again.metric == "cosine"
    np.testing.assert_array_equal(again.decision_function(new), fitted.decision_function(new))


def test_lengths_near_the_ends_of_double_precision_do_not_matter():
    X, y, _ = rays(seed=9151)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    expected = RobustGC(metric="cosine").fit(unit, y).transduction_
    for length in (1e-200, 1e200):
        found = RobustGC(metric="cosine").fit(length * unit, y).transduction_
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_rows_of_zeros_and_other_metrics_are_refused(estimator):
    X, y, _ = rays()
    X[[17, 40]] = 0
    for points in (X, sp.csr_array(X)):
        with pytest.raises(ValueError, match=r"X\[17\], row 18 of the points, .*\(2 such in all\)"):
            estimator(metric="cosine").fit(points, y)
    with pytest.raises(ValueError, match=r"metric='manhattan' is unknown; .* 'cosine'"):
        estimator(metric="manhattan").fit(X, y)
    with pytest.raises(ValueError, match="metric=3 is unknown"):
        estimator(metric=3).fit(X, y)
    with pytest.raises(ValueError, match="no effect with affinity='precomputed'"):
        estimator(metric="cosine", affinity="precomputed").fit(np.ones((120, 120)), y)
    with pytest.raises(ValueError, match="no effect with a function of your own"):
        estimator(metric="cosine", affinity=lambda A, B: A @ B.T).fit(X, y)


def test_a_new_row_of_zeros_is_refused():
    X, y, _ = rays()
    fitted = RobustGC(metric="cosine").fit(X, y)
    with pytest.raises(ValueError, match=r"X\[1\], row 2"):
        fitted.predict(np.array([X[0], np.zeros(5)]))

"""Points of extreme size and kernels of extreme width are answered as the formula says.

Most of these were found by `python -m tests.fuzz`.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from robustgc import PoissonGC, ZhouGC
from robustgc.affinity.gaussian import GaussianOperator
from robustgc.affinity.kinds import Gaussian, Nearest

X = np.random.default_rng(45).standard_normal((12, 3))
Y = np.where(np.arange(12) < 6, np.arange(12) % 2, -1)
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array])


@FORMS
@pytest.mark.parametrize("far", [1e90, 1e160, 1e250, 1e307])
@pytest.mark.parametrize("unit", [1e-310, 1e-200, 1.0])
def test_a_new_point_far_away_has_neighbours(form, far, unit):
    """It is equally far from all: those that come first are its neighbours."""
    clf = ZhouGC(affinity="knn", n_neighbors=3).fit(form(X * unit), Y)
    K = Nearest(form(X * unit), 3).rows(form(np.array([[far, -far, 0.0], 0.9 * X[0] * unit])))[0]
    assert K.toarray()[0].tolist() == [0.5] * 3 + [0.0] * 9
    np.testing.assert_array_equal(K.toarray()[1], Nearest(X, 3).rows(0.9 * X[:1])[0].toarray()[0])
    assert clf.predict(form(np.full((1, 3), far))).shape == (1,)


def test_new_points_far_from_copies_of_one_point():
    copies = np.tile([-1.5559036144058893, -0.5097756369532165, 7.0], (6, 1))
    clf = PoissonGC(affinity="knn").fit(copies, ["a", "b", "c", "c", None, "a"])
    assert len(clf.predict(copies[:3] * 1e300)) == 3


@FORMS
@pytest.mark.parametrize("sigma", [1e60, 1e160, 1e250, 1e300])
def test_a_kernel_much_wider_than_the_points_sees_new_ones_at_its_own_scale(form, sigma):
    new = np.array([[sigma, 0.0, 0.0], [0.0, -2 * sigma, 0.0], [1e307, 1e307, 1e307]])
    K, _ = Gaussian(form(X), sigma, 2.0).rows(form(new))
    expected = np.repeat([[np.exp(-0.5)], [np.exp(-2.0)], [0.0]], 12, axis=1)
    np.testing.assert_allclose(K, expected, rtol=1e-12)
    assert (Gaussian(form(X), sigma, 2.0).weights() == 1).all()


@FORMS
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-100, 1e100, 1e300, 1.7e308])
def test_sigma_and_scale_are_one_width(form, scale):
    """``scale sigma^2`` is what counts, also where one of them is beyond all measure."""
    sigma = float(1.0 / np.sqrt(scale))
    expected = Gaussian(X, 1.0, 1.0)
    kernel = Gaussian(form(X), sigma, scale)
    np.testing.assert_allclose(kernel.weights(), expected.weights(), rtol=1e-7)
    np.testing.assert_allclose(kernel.rows(form(X + 0.1))[0], expected.rows(X + 0.1)[0], rtol=1e-7)
    operator = GaussianOperator(form(X), sigma, scale)
    np.testing.assert_allclose(operator @ np.eye(12), expected.weights(), rtol=1e-7)


@FORMS
@pytest.mark.parametrize(("sigma", "scale"), [(1e-300, 1e-300), (1e300, 5e-324), (1e308, 1e308)])
def test_a_width_beyond_double_precision_is_no_warning(form, sigma, scale):
    kernel = Gaussian(form(X), sigma, scale)
    assert (kernel.weights() == (np.eye(12) if sigma < 1 else 1.0)).all()
    K, _ = kernel.rows(form(X[:2] * 1e300))
    assert np.isin(K, [0.0, 1.0]).all()


def test_the_unit_of_sparse_points_does_not_matter():
    expected = ZhouGC(affinity="knn").fit(sp.csr_array(X), Y)
    for unit in (2.0**-1040, 2.0**-700, 2.0**900):
        clf = ZhouGC(affinity="knn").fit(sp.csr_array(np.round(X * 2**20) / 2**20 * unit), Y)
        np.testing.assert_array_equal(clf.transduction_, expected.transduction_)

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from robustgc.affinity.kinds import Gaussian, Kernel, Nearest, Precomputed, make, typical_distance

RNG = np.random.default_rng(31)
X = RNG.standard_normal((30, 3))
X_NEW = RNG.standard_normal((7, 3))

PARAMETERS = {"sigma": None, "scale": 2.0, "self_loops": True, "n_neighbors": None}


@pytest.mark.parametrize("scale", [1.0, 2.0])
@pytest.mark.parametrize("self_loops", [True, False])
def test_gaussian(scale, self_loops):
    gaussian = Gaussian(X, 0.7, scale, self_loops)
    expected = np.exp(-cdist(X, X, "sqeuclidean") / (scale * 0.7**2))
    np.fill_diagonal(expected, float(self_loops))
    np.testing.assert_allclose(gaussian.weights(), expected, rtol=1e-10)
    k_x, k_xx = gaussian.rows(X_NEW)
    np.testing.assert_allclose(k_x, np.exp(-cdist(X_NEW, X, "sqeuclidean") / (scale * 0.49)))
    np.testing.assert_array_equal(k_xx, float(self_loops))
    assert gaussian.positive_semidefinite is self_loops


def test_gaussian_does_not_depend_on_where_the_origin_is():
    near, far = Gaussian(X, 0.7).weights(), Gaussian(X + 1e7, 0.7).weights()
    np.testing.assert_allclose(near, far, rtol=1e-5)


def test_gaussian_of_sparse_points():
    np.testing.assert_allclose(
        Gaussian(sp.csr_array(X), 0.7).weights(), Gaussian(X, 0.7).weights(), rtol=1e-10
    )


def test_nearest_neighbours_by_the_definition():
    k = 4
    order = np.argsort(cdist(X, X) + np.diag(np.full(30, np.inf)), axis=1)[:, :k]
    A = np.zeros((30, 30))
    np.put_along_axis(A, order, 1.0, axis=1)
    W = Nearest(X, k).weights()
    np.testing.assert_array_equal(W.toarray(), (A + A.T) / 2)
    assert W.diagonal().max() == 0


def test_nearest_neighbours_of_copies_are_not_the_point_itself():
    W = Nearest(np.repeat(X[:5], 3, axis=0), 2).weights().toarray()
    assert W.diagonal().max() == 0
    np.testing.assert_array_equal(W.sum(), 15 * 2)


def test_rows_of_nearest_neighbours_are_those_of_the_graph_with_the_point_in_it():
    k = 4
    rows, k_xx = Nearest(X, k).rows(X_NEW)
    distances = cdist(X, X) + np.diag(np.full(30, np.inf))
    reach = np.sort(distances, axis=1)[:, k - 1]
    for x, row in zip(X_NEW, rows.toarray(), strict=True):
        to_x = np.linalg.norm(X - x, axis=1)
        mine = np.isin(np.arange(30), np.argsort(to_x)[:k])
        np.testing.assert_array_equal(row, (mine + 1.0 * (to_x < reach)) / 2)
    np.testing.assert_array_equal(k_xx, 0)


def test_own_kernel():
    def kernel(a, b):
        return (a @ b.T) ** 2

    own = Kernel(X, kernel)
    np.testing.assert_allclose(own.weights(), (X @ X.T) ** 2)
    k_x, k_xx = own.rows(X_NEW)
    np.testing.assert_allclose(k_x, (X_NEW @ X.T) ** 2)
    np.testing.assert_allclose(k_xx, (X_NEW**2).sum(axis=1) ** 2)


def test_own_kernel_of_the_wrong_shape_or_sign():
    with pytest.raises(ValueError, match=r"returned shape \(30,\) for 30 and 30 points"):
        Kernel(X, lambda a, b: a[:, 0]).weights()
    with pytest.raises(ValueError, match="must be finite and >= 0"):
        Kernel(X, lambda a, b: a @ b.T).rows(X_NEW)


def test_precomputed_rows_need_a_known_self_loop():
    W = np.exp(-cdist(X, X))
    assert Precomputed(W).rows(W[:3])[1].tolist() == [1.0, 1.0, 1.0]
    W[0, 0] = 0.5
    with pytest.raises(ValueError, match=r"self-loops from 0.5 to 1.*affinity=kernel"):
        Precomputed(W).rows(W[:3])


def test_typical_distance_is_a_local_scale():
    line = np.arange(100.0)[:, None]
    assert typical_distance(line) == pytest.approx(4.0)
    assert typical_distance(1000 * line) == pytest.approx(4000.0)
    with pytest.raises(ValueError, match=r"exact copies.*Pass sigma="):
        typical_distance(np.zeros((30, 2)))


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"affinity": "cosine"}, "affinity='cosine' is unknown; it must be 'rbf', 'knn'"),
        ({"affinity": "rbf", "sigma": 0.0}, "sigma=0.0 is not allowed; it must be a number > 0"),
        ({"affinity": "rbf", "sigma": -1}, "sigma=-1 is not allowed"),
        ({"affinity": "rbf", "sigma": float("nan")}, "sigma=nan is not allowed"),
        ({"affinity": "rbf", "sigma": "wide"}, "sigma='wide' is not allowed"),
        ({"affinity": "rbf", "scale": 0}, "scale=0 is not allowed"),
        ({"affinity": "knn", "n_neighbors": 30}, "n_neighbors=30 is not allowed for 30 points"),
        ({"affinity": "knn", "n_neighbors": 0}, "whole number from 1 to 29"),
        ({"affinity": "knn", "n_neighbors": 2.5}, "n_neighbors=2.5 is not allowed"),
    ],
)
def test_bad_parameters(changed, text):
    with pytest.raises(ValueError, match=text):
        make(X, **{"affinity": "rbf", **PARAMETERS, **changed})


def test_neighbours_default_to_ten_or_to_all_the_others():
    assert make(X, "knn", **PARAMETERS).n_neighbors == 10
    assert make(X[:4], "knn", **PARAMETERS).n_neighbors == 3
    assert make(X, "knn", **{**PARAMETERS, "n_neighbors": 4}).n_neighbors == 4

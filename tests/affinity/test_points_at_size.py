"""Neighbours by an index, Gaussian weights by products, fits on landmarks."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from robustgc import BelkinGC, RobustGC, ZhouGC
from robustgc.affinity import gaussian as blocked
from robustgc.affinity import kinds, neighbours
from robustgc.affinity.gaussian import GaussianOperator
from robustgc.affinity.kinds import Gaussian, Nearest
from robustgc.affinity.points import Points
from robustgc.datasets import three_blocks
from robustgc.graph.weights import check_weights, components
from robustgc.transduction.answer import decide
from robustgc.transduction.landmarks import EXTENDED, OUT_OF_REACH
from samples import EACH, moons

RNG = np.random.default_rng(37)
X = RNG.standard_normal((3000, 20)) + 4 * RNG.standard_normal((12, 20))[RNG.integers(12, size=3000)]
PARAMETERS = {"sigma": None, "scale": 2.0, "self_loops": True, "n_neighbors": None}


def recall(points, k):
    found, true = (Nearest(points, k, ann)._index[0] for ann in (True, False))
    return found.multiply(true).sum() / true.sum()


def test_the_index_finds_nearly_all_neighbours():
    assert recall(X, 10) > 0.95
    W = Nearest(X, 10, approximate=True).weights()
    assert np.unique(W.data).tolist() == [0.5, 1.0]
    assert W.diagonal().max() == 0
    assert W.sum() == 3000 * 10


def test_the_index_searches_more_widely_where_neighbours_are_hard_to_find(monkeypatch):
    hard = RNG.standard_normal((2000, 60))
    assert recall(hard, 10) > 0.95
    monkeypatch.setattr(neighbours, "RECALL", 0.0)
    assert recall(hard, 10) < 0.8


def test_the_index_gives_the_same_bytes_again_on_any_number_of_threads():
    faiss = neighbours._faiss()
    threads = faiss.omp_get_max_threads()
    try:
        runs = []
        for n_threads in (2, 2, 1):
            faiss.omp_set_num_threads(n_threads)
            runs.append(neighbours.approximate(Points(X), 10))
    finally:
        faiss.omp_set_num_threads(threads)
    for distances, numbers in runs[1:]:
        assert distances.tobytes() == runs[0][0].tobytes()
        assert numbers.tobytes() == runs[0][1].tobytes()


@pytest.mark.parametrize("k", [3, 4, 7])
def test_a_point_with_copies_is_never_its_own_neighbour(k):
    copies = np.repeat(X[:400], 5, axis=0)
    A, reach = Nearest(copies, k, approximate=True)._index
    assert A.diagonal().max() == 0
    assert A.max() == 1  # nor is another point counted twice
    assert (reach == 0).all() == (k <= 4)
    own = np.arange(2000) // 5
    rows, columns = A.nonzero()
    assert np.bincount(rows[own[rows] == own[columns]]).min() == min(k, 4)


def test_points_that_the_index_leaves_short_are_searched_exactly(monkeypatch):
    monkeypatch.setattr(neighbours, "RECALL", 0.0)
    index = neighbours._Index(Points(X[:400]), 200)
    assert index.search(np.arange(400))[2].all()  # 16 lists of 5 points
    assert recall(X[:400], 200) == 1
    assert recall(X[:4], 3) == 1


def test_neighbours_far_from_the_origin_or_nearer_than_single_precision():
    assert abs(Nearest(X + 1e7, 10, True).weights() - Nearest(X, 10, True).weights()).sum() < 30
    clusters = np.vstack([X[:600, :5], X[600:1200, :5] + 1e8])
    assert recall(clusters, 6) == 1


def test_distances_of_the_index_are_exact():
    distances, numbers = neighbours.approximate(Points(X), 5)
    expected = np.linalg.norm(X[:, None] - X[numbers], axis=2)
    np.testing.assert_allclose(distances, expected, rtol=1e-12)
    assert (np.diff(distances, axis=1) >= 0).all()


def test_new_points_among_many_are_weighed_in_proportion_to_their_neighbours():
    new = X[:300] + 1e-3
    nearest = Nearest(X, 10, approximate=True)
    K, k_xx = nearest.rows(new)
    reach = nearest._index[1]
    assert sp.issparse(K)
    assert (k_xx == 0).all()
    for x, row in zip(new[:20], K.toarray(), strict=False):
        apart = np.linalg.norm(X - x, axis=1)
        mine = np.isin(np.arange(3000), np.argsort(apart)[:10])
        np.testing.assert_array_equal(row, (mine + 1.0 * (apart < reach)) / 2)


@pytest.mark.parametrize(
    ("shape", "approximate"),
    [((12_000, 784), True), ((70_000, 16), True), ((3000, 784), False), ((10**6, 3), False)],
)
def test_auto_takes_the_index_where_exact_search_is_slow(shape, approximate, monkeypatch):
    many = np.broadcast_to(0.0, shape)
    assert neighbours.approximates(many, "auto") is approximate
    monkeypatch.setattr(neighbours, "find_spec", lambda name: None)
    assert neighbours.approximates(many, "auto") is False
    with pytest.raises(ImportError, match=r"pip install 'robustgc\[ann\]'"):
        neighbours.approximates(many, True)


def test_ann_that_is_not_allowed():
    with pytest.raises(ValueError, match="ann='fast' is not allowed; it must be 'auto', True"):
        RobustGC(ann="fast").fit(*moons()[:2])
    with pytest.raises(ValueError, match=r"ann=True needs a dense array.*X.toarray"):
        RobustGC(ann=True).fit(sp.csr_array(moons()[0]), moons()[1])
    assert not neighbours.approximates(sp.csr_array((10**6, 10**4)), "auto")


@EACH
def test_the_estimators_say_how_neighbours_were_found(estimator):
    points, y, _ = moons(300)
    exact, index = (estimator(ann=ann).fit(points, y) for ann in ("auto", True))
    assert (exact.neighbors_, index.neighbors_) == ("exact", "approximate")
    assert np.mean(exact.transduction_ == index.transduction_) > 0.95
    assert estimator(affinity="rbf").fit(points, y).neighbors_ is None


# Gaussian weights that are not stored


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocked, "ROWS", 64)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize(("sigma", "scale"), [(3.0, 2.0), (3.0, 1.0), (0.03, 2.0)])
def test_products_of_the_operator_are_those_of_the_matrix(sigma, scale, self_loops):
    points = X[:300, :3] + 1e5
    W = Gaussian(points, sigma, scale, self_loops).weights()
    operator = GaussianOperator(points, sigma, scale, self_loops)
    V = RNG.standard_normal((300, 4))
    assert operator.shape == (300, 300)
    tolerance = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(operator @ np.eye(300), W, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(operator @ V, W @ V, **tolerance)
    np.testing.assert_allclose(operator @ V[:, 1], W @ V[:, 1], **tolerance)
    np.testing.assert_allclose(operator.sum(axis=1), W.sum(axis=1), **tolerance)
    np.testing.assert_array_equal(operator.diagonal(), W.diagonal())
    some = np.array([5, 2, 250, 77])
    np.testing.assert_allclose(operator.part(some) @ np.eye(4), W[np.ix_(some, some)], rtol=1e-11)
    bare = operator.without_diagonal()
    np.testing.assert_allclose(bare @ np.eye(300), W - np.diag(W.diagonal()), rtol=1e-12)
    np.testing.assert_allclose(bare.sum(), (W - np.diag(W.diagonal())).sum(axis=1), **tolerance)
    with pytest.raises(ValueError, match=r"shape \(299,\); it must have 300 rows"):
        operator @ np.ones(299)


def test_the_operator_of_sparse_points_is_that_of_dense_ones():
    V = RNG.standard_normal((200, 2))
    sparse, dense = (GaussianOperator(f(X[:200]), 5.0) @ V for f in (sp.csr_array, np.array))
    np.testing.assert_allclose(sparse, dense, rtol=1e-9)


def test_many_points_get_the_operator_and_it_is_passed_through(monkeypatch):
    assert isinstance(Gaussian(X[:50], 1.0).weights(), np.ndarray)
    monkeypatch.setattr(kinds, "DENSE", 49)
    operator = kinds.make(X[:50], "rbf", **PARAMETERS).weights()
    assert isinstance(operator, GaussianOperator)
    assert check_weights(operator) is operator


def test_a_product_holds_a_block_and_not_the_matrix():
    operator = GaussianOperator(RNG.standard_normal((6000, 3)), 0.5)
    assert operator.nbytes == 6000 * 3 * 8
    tracemalloc.start()
    operator @ np.ones(6000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6000 * 6000 * 8 / 2


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("self_loops", [True, False])
def test_components_of_the_operator_are_those_of_the_matrix(self_loops):
    line = np.arange(100.0)[:, None] * 4  # joined to neighbours, not to those far off
    points = np.vstack([line, line[:70] + 2000, line[:3] + 9000, [[30000.0]]])
    points = points[np.random.default_rng(9).permutation(len(points))]
    gaussian = Gaussian(points, 1.0, 2.0, self_loops)
    count, number = GaussianOperator(points, 1.0, 2.0, self_loops).components()
    expected, numbers = components(gaussian.weights())
    assert count == expected == 4
    np.testing.assert_array_equal(number, numbers)
    assert components(GaussianOperator(points, 1.0, 2.0, self_loops))[0] == 4


@pytest.mark.usefixtures("small_blocks")
def test_components_stop_when_all_is_one(monkeypatch):
    operator = GaussianOperator(X[:640], 5.0)
    operator.sum(axis=1)
    calls = []
    compute = blocked.gaussian
    monkeypatch.setattr(blocked, "gaussian", lambda *args: calls.append(1) or compute(*args))
    assert operator.components()[0] == 1
    assert len(calls) <= 20  # of 55 blocks in the upper half


# Landmarks


@EACH
@pytest.mark.parametrize("kind", ["knn", "rbf"])
def test_landmarks_are_a_fit_on_some_points_extended_to_the_rest(estimator, kind):
    points, y, truth = moons(400)
    params = {"affinity": kind, "sigma": 0.2}
    params |= {"n_vectors": 4} if estimator is BelkinGC else {}
    clf = estimator(landmarks=150, **params).fit(points, y)
    on = np.flatnonzero(clf.components_ >= 0)
    assert len(on) == 150
    assert np.isin(np.flatnonzero(y >= 0), on).all()
    part = estimator(**params).fit(points[on], y[on])
    np.testing.assert_array_equal(clf.f_[on], part.f_)
    np.testing.assert_array_equal(clf.transduction_[on], part.transduction_)
    np.testing.assert_array_equal(clf.f_, part.decision_function(points))
    np.testing.assert_array_equal(clf.predict(points), clf.transduction_)
    np.testing.assert_array_equal(clf.predict(points[:9]), clf.transduction_[:9])
    new = moons(50, seed=23)[0]
    np.testing.assert_array_equal(clf.decision_function(new), part.decision_function(new))
    rest = np.setdiff1d(np.arange(400), on)
    answered = ~np.isnan(clf.f_[rest])
    assert set(clf.reasons_[rest[answered]]) == {EXTENDED}
    assert answered.mean() > 0.9
    assert np.mean(clf.transduction_ == truth) > 0.8
    again = estimator(landmarks=150, **params).fit(points, y)
    assert again.f_.tobytes() == clf.f_.tobytes()


def test_a_point_out_of_reach_of_the_landmarks_says_so():
    points, y, _ = moons(400)
    points[np.flatnonzero(y < 0)[:50]] += 100 * np.arange(1, 51)[:, None]
    clf = RobustGC(affinity="rbf", sigma=0.2, landmarks=150).fit(points, y)
    lost = clf.reasons_ == OUT_OF_REACH
    assert 10 < lost.sum() < 60
    assert np.isnan(clf.f_[lost]).all()
    assert (clf.transduction_[lost] == -1).all()
    np.testing.assert_array_equal(clf.predict(points), clf.transduction_)


def test_all_points_as_landmarks_are_the_full_fit():
    points, y, _ = moons()
    full, all_of_them = (RobustGC(landmarks=m).fit(points, y) for m in (None, 120))
    assert full.f_.tobytes() == all_of_them.f_.tobytes()
    assert full.reasons_.tolist() == all_of_them.reasons_.tolist()


def test_landmarks_with_three_classes_and_text():
    rng = np.random.default_rng(12)
    truth = np.array(["a", "b", "c"])[np.arange(600) % 3]
    points = rng.standard_normal((600, 2)) + 5 * np.eye(3)[np.arange(600) % 3, :2]
    y = np.where(np.arange(600) < 30, truth, "")
    clf = RobustGC(landmarks=200, n_neighbors=20, eta=0.5).fit(points, y)
    assert clf.f_.shape == (600, 3)
    known = clf.transduction_ != ""
    assert known.mean() > 0.9
    assert np.mean(clf.transduction_[known] == truth[known]) > 0.85
    np.testing.assert_array_equal(clf.predict_proba(points).shape, (600, 3))
    assert (decide(clf.f_)[known] >= 0).all()


@pytest.mark.parametrize(
    ("landmarks", "text"),
    [
        (
            11,
            "landmarks=11 is not allowed for 120 points of which 12 are labelled.* from 12 to 120",
        ),
        (121, "landmarks=121 is not allowed"),
        (50.0, "landmarks=50.0 is not allowed"),
        ("all", "None or a whole number"),
    ],
)
def test_landmarks_that_are_not_allowed(landmarks, text):
    with pytest.raises(ValueError, match=text):
        RobustGC(landmarks=landmarks).fit(*moons()[:2])


def test_landmarks_of_a_graph_are_refused():
    W = three_blocks(20, seed=14).weights
    with pytest.raises(ValueError, match="loses the edges that connect it"):
        RobustGC(affinity="precomputed", landmarks=30).fit(W, np.arange(60) % 3 - 1)


def test_three_hundred_of_a_thousand_digits_suffice(usps):
    points = np.vstack([usps.points[usps.labels == digit][:500] for digit in ("4", "9")])
    truth = np.repeat([1, 0], 500)
    scores = []
    for seed in range(5, 10):
        rng = np.random.default_rng(seed)
        y = np.full(1000, -1)
        for c in (0, 1):
            labelled = rng.choice(np.flatnonzero(truth == c), 5, replace=False)
            y[labelled] = c
        fits = (
            RobustGC(0.9, n_modes=1, affinity="rbf", sigma=5.0 / np.sqrt(2), landmarks=m)
            for m in (None, 300)
        )
        scores.append(
            [np.mean(fit.fit(points, y).transduction_[y < 0] == truth[y < 0]) for fit in fits]
        )
    full, part = np.mean(scores, axis=0)
    assert full > 0.75
    assert abs(full - part) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("width", [0.04, 1.0])
def test_gaussian_weights_of_many_points_are_never_a_full_matrix(monkeypatch, width):
    """A narrow kernel becomes sparse, a wide one stays products; both meet the dense one."""
    rng = np.random.default_rng(631)
    centres = np.repeat([[0.0, 0.0], [1.5, 0.3]], 900, axis=0)
    X = centres + 0.25 * rng.standard_normal((1800, 2))
    truth = np.repeat([0, 1], 900)
    y = np.full(1800, -1)
    y[rng.choice(900, 9, replace=False)] = 0
    y[900 + rng.choice(900, 9, replace=False)] = 1
    dense = RobustGC(0.9, n_modes=1, affinity="rbf", sigma=width).fit(X, y)
    monkeypatch.setattr("robustgc.affinity.kinds.DENSE", 1000)
    other = RobustGC(0.9, n_modes=1, affinity="rbf", sigma=width).fit(X, y)
    kind = type(other._affinity.weights())
    assert kind.__name__ == ("csr_array" if width < 0.1 else "GaussianOperator")
    assert other.lambda_1_ == pytest.approx(dense.lambda_1_, rel=1e-6)
    np.testing.assert_allclose(other.f_, dense.f_, atol=1e-5 * np.abs(dense.f_).max())
    assert (other.transduction_ == truth).mean() > 0.95


def test_models_that_need_a_matrix_say_so_of_a_wide_kernel(monkeypatch):
    rng = np.random.default_rng(632)
    X = rng.standard_normal((1700, 2))
    monkeypatch.setattr("robustgc.affinity.kinds.DENSE", 1000)
    y = np.where(np.arange(1700) < 20, (X[:, 0] > 0).astype(int), -1)
    with pytest.raises(ValueError, match="needs the matrix of the 1700 nodes"):
        BelkinGC(affinity="rbf", sigma=2.0).fit(X, y)
    clf = ZhouGC(affinity="rbf", sigma=2.0).fit(X, y)
    assert clf.residual_ < 1e-8

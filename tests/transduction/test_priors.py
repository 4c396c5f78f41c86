"""Label weights and class priors."""

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
import lifting
from robustgc import RobustGC
from samples import moons
from solving import relative

MODELS = [{}, {"eta": 0.9, "n_modes": 1}, {"eta": 0.7, "n_modes": 2}]
EACH = pytest.mark.parametrize("options", MODELS)


def case(seed=2617, sizes=(40, 30, 30), per_class=8, wrong=3):
    W, truth = lifting.blocks(seed, sizes, 0.3, 0.06)
    return W, truth, lifting.some_labels(seed + 4, truth, per_class, wrong)[0]


def fitted(W, y, weights=None, **options):
    return RobustGC(affinity="precomputed", **options).fit(W, y, weights)


@EACH
def test_weight_0_is_no_label(options):
    W, _, y = case()
    out = np.flatnonzero(y >= 0)[[2, 9, 17]]
    weights = np.ones(len(y))
    weights[out] = 0.0
    without = y.copy()
    without[out] = -1
    weighted, expected = fitted(W, y, weights, **options), fitted(W, without, **options)
    np.testing.assert_allclose(weighted.f_, expected.f_, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(weighted.label_issues().node, expected.label_issues().node)


@EACH
@pytest.mark.parametrize("factor", [1e-6, 3.0, 1e9])
def test_weights_count_beside_each_other_only(options, factor):
    W, _, y = case()
    weights = np.random.default_rng(2621).uniform(0.3, 3.0, len(y))
    first, second = fitted(W, y, weights, **options), fitted(W, y, factor * weights, **options)
    np.testing.assert_allclose(first.f_, second.f_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(
        fitted(W, y, factor, **options).f_, fitted(W, y, **options).f_, rtol=1e-9, atol=1e-10
    )


@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_multiply_the_labels(q, n_classes):
    W, _, y = case(sizes=(40, 30, 30)[:n_classes])
    weights = np.random.default_rng(2633).uniform(0.3, 3.0, len(y))
    F = lifting.kernel(W.toarray(), q, eta=0.9) @ lifting.one_hot(y, weights)
    F = F / weights[y >= 0].mean()
    found = fitted(W, y, weights, eta=0.9, n_modes=q).f_
    if n_classes == 2:
        F = F[:, 1] - F[:, 0]
    elif q == 1:  # the paper's columns: one class against the rest
        F = 2 * F - F.sum(axis=1, keepdims=True)
    assert relative(found, F) <= 1e-9


def test_a_heavy_label_pulls_its_node():
    W, _, y = case(wrong=0)
    node = int(np.flatnonzero(y == 0)[0])
    pull = []
    for weight in (0.1, 1.0, 10.0):
        weights = np.ones(len(y))
        weights[node] = weight
        f = fitted(W, y, weights, eta=0.9, n_modes=2).f_[node]
        pull.append((f[0] - f[1:].max()) * weights[y >= 0].mean())
    assert pull[0] < pull[1] < pull[2]


def test_weights_of_unlabelled_nodes_do_not_matter():
    W, _, y = case()
    weights = np.where(y < 0, np.nan, 1.0)
    weights[np.flatnonzero(y < 0)[0]] = -5.0
    np.testing.assert_array_equal(fitted(W, y, weights).f_, fitted(W, y).f_)


def test_weights_with_landmarks():
    X, y, _ = moons(n_labels=20)
    out = np.flatnonzero(y >= 0)[:3]
    weights = np.random.default_rng(2647).uniform(0.5, 2.0, len(y))
    weights[out] = 0.0
    without = y.copy()
    without[out] = -1
    one, two = (RobustGC(landmarks=60).fit(X, z, weights) for z in (y, without))
    np.testing.assert_allclose(one.f_, two.f_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (-1.0, "has 1 weights that are negative, NaN or infinite, the first -1.0 at node"),
        (np.nan, "the first nan at node"),
        (np.inf, "the first inf at node"),
    ],
)
def test_weights_that_are_none(bad, message):
    W, _, y = case()
    weights = np.ones(len(y))
    weights[np.flatnonzero(y >= 0)[3]] = bad
    with pytest.raises(ValueError, match=message):
        fitted(W, y, weights)


def test_weights_of_another_length_and_of_one_class():
    W, _, y = case()
    with pytest.raises(ValueError, match=r"shape \(7,\) for 100 nodes; it must be \(100,\)"):
        fitted(W, y, np.ones(7))
    with pytest.raises(ValueError, match="at least two classes need"):
        fitted(W, y, np.where(y == 1, 1.0, 0.0))
    clf = fitted(W, y)
    f = clf.f_.copy()
    with pytest.raises(ValueError, match="shape"):
        clf.fit(W, y, np.ones(7))
    np.testing.assert_array_equal(clf.update({}).f_, f)


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([0.5, 0.5], r"priors has shape \(2,\); it must be \(3,\)"),
        ([0.5, 0.4, 0.3], "sum to 1.2; they must be positive and sum to 1"),
        ([0.5, 0.5, 0.0], "must be positive"),
        ([0.7, 0.5, -0.2], "must be positive"),
        ([0.5, 0.5, np.nan], "must be positive"),
        ({0: 0.5, 1: 0.5}, r"missing: 2, unknown: none"),
        ({0: 0.5, 1: 0.2, 2: 0.2, 7: 0.1}, r"missing: none, unknown: 7"),
        ("equal", "priors='equal' is not allowed"),
    ],
)
def test_priors_that_are_none(priors, message):
    W, _, y = case()
    with pytest.raises(ValueError, match=message):
        fitted(W, y, priors=priors)


def shares_of(clf):
    return np.array([np.mean(clf.transduction_ == k) for k in clf.classes_])


@EACH
@pytest.mark.parametrize("sizes", [(270, 30), (200, 70, 30)])
def test_shares_are_about_those_asked_for(options, sizes):
    W, truth = lifting.blocks(2657, sizes, 0.12, 0.03)
    y, _ = lifting.some_labels(2659, truth, 6, wrong=2)
    shares = np.array(sizes) / sum(sizes)
    clf = fitted(W, y, priors=shares, **options)
    assert np.abs(shares_of(clf) - shares).max() <= 0.03
    plain = fitted(W, y, **options)
    assert np.mean(clf.transduction_ == truth) >= np.mean(plain.transduction_ == truth) - 0.01
    by_name = dict(zip(range(len(sizes)), shares, strict=True))
    np.testing.assert_array_equal(fitted(W, y, priors=by_name, **options).f_, clf.f_)
    decided = clf.f_ > 0 if len(sizes) == 2 else clf.f_.argmax(axis=1)
    np.testing.assert_array_equal(clf.transduction_, decided)


def test_ninety_to_ten_is_better_with_priors():
    W, truth = lifting.blocks(2663, (270, 30), 0.1, 0.045)
    y, _ = lifting.some_labels(2671, truth, 10)
    plain = fitted(W, y, eta=0.9, n_modes=1)
    told = fitted(W, y, eta=0.9, n_modes=1, priors={0: 0.9, 1: 0.1})
    assert shares_of(plain)[1] > 0.15
    assert abs(shares_of(told)[1] - 0.1) <= 0.03
    assert np.mean(told.transduction_ == truth) > np.mean(plain.transduction_ == truth)


def test_shares_of_the_labels():
    W, _, y = case()
    y[np.flatnonzero(y == 2)[3:]] = -1
    counts = np.bincount(y[y >= 0])
    clf = fitted(W, y, priors="labels")
    np.testing.assert_array_equal(clf.f_, fitted(W, y, priors=counts / counts.sum()).f_)
    assert np.abs(shares_of(clf) - counts / counts.sum()).max() <= 0.03


@pytest.mark.parametrize("options", MODELS[1:])
def test_a_class_without_a_label_left_is_no_answer(options):
    W, _, y = case()
    weights = np.where(y == 2, 0.0, 1.0)
    clf = fitted(W, y, weights, priors="labels", **options)
    assert (clf.transduction_ != 2).all()
    assert np.isneginf(clf.f_[:, 2]).all()
    counts = np.bincount(y[(y >= 0) & (y < 2)])
    assert np.abs(shares_of(clf)[:2] - counts / counts.sum()).max() <= 0.03


@pytest.mark.parametrize("options", MODELS)
def test_priors_on_components(options):
    W, _, y = case(sizes=(60, 40), per_class=8)
    V, _, z = case(seed=2677, sizes=(30, 50), per_class=6)
    both = sp.block_diag([W, V, graphs.complete(4), np.zeros((1, 1))], format="csr")
    labels = np.concatenate([y, z, [1, -1, -1, -1], [-1]])
    clf = fitted(both, labels, priors=[0.7, 0.3], **options)
    assert abs(np.mean(clf.transduction_[:180] == 0) - 0.7) <= 0.03
    np.testing.assert_array_equal(clf.transduction_[180:], [1, 1, 1, 1, -1])


def test_a_class_in_one_component_only():
    W, _, y = case()
    V, _, z = case(seed=2683, sizes=(40, 40))
    both = sp.block_diag([W, V], format="csr")
    clf = fitted(both, np.concatenate([y, z]), priors=[0.5, 0.4, 0.1])
    assert (clf.transduction_[100:] != 2).all()
    assert np.abs(shares_of(clf) - [0.5, 0.4, 0.1]).max() <= 0.04


def test_a_class_that_no_solved_component_has():
    W, _, y = case(sizes=(60, 40))
    both = sp.block_diag([W, graphs.complete(20)], format="csr")
    labels = np.concatenate([y, [2], np.full(19, -1)])
    clf = fitted(both, labels, priors=[0.6, 0.2, 0.2])
    assert (clf.transduction_[100:] == 2).all()
    assert abs(np.mean(clf.transduction_[:100] == 0) - 0.75) <= 0.03


def test_priors_after_an_update():
    W, _, y = case(sizes=(70, 30))
    changes = {int(i): None for i in np.flatnonzero(y == 0)[:3]}
    options = {"eta": 0.9, "n_modes": 1, "priors": "labels"}
    z = y.copy()
    z[list(changes)] = -1
    clf = fitted(W, y, **options).update(changes)
    np.testing.assert_allclose(clf.f_, fitted(W, z, **options).f_, rtol=1e-9)

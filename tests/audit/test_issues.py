"""The report of wrong labels."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

import graphs
import lifting
from robustgc import RobustGC, find_label_issues
from samples import moons


def wrong_labels(seed, sizes, per_class, wrong, inside=0.3, across=0.03):
    W, truth = lifting.blocks(seed, sizes, inside, across)
    y, flipped = lifting.some_labels(seed + 6, truth, per_class, wrong)
    return W, truth, y, flipped


def sound(issues, y):
    """What holds for every report."""
    given = np.flatnonzero(np.asarray(y) != -1)
    np.testing.assert_array_equal(np.sort(issues.node), given)
    np.testing.assert_array_equal(issues.given, np.asarray(y)[issues.node])
    assert len(issues) == len(given) == len(list(issues))
    assert ((issues.suspicion >= 0) & (issues.suspicion <= 1)).all()
    assert (np.diff(issues.suspicion) <= 1e-12).all()
    assert (np.abs(issues.margin) <= 1 + 1e-12).all()
    assert np.isin(issues.suggested, issues.classes).all()
    assert issues.pairs.shape == (len(issues.classes),) * 2
    assert (issues.pairs >= -1e-15).all()
    np.testing.assert_allclose(issues.pairs.sum(), 1.0)
    shares = [np.mean(np.asarray(y)[given] == k) for k in issues.classes]
    np.testing.assert_allclose(issues.pairs.sum(axis=1), shares, atol=1e-12)
    assert 0 <= issues.noise_rate <= 1
    assert (issues.suggested[~issues.judged] == issues.given[~issues.judged]).all()
    for row in issues:
        assert all(y[j] not in (-1, row.given) for j in row.evidence)
        assert len(set(row.evidence)) == len(row.evidence) <= 3


@pytest.mark.parametrize("sizes", [[60, 60], [50, 40, 30, 30]])
@pytest.mark.parametrize("options", [{}, {"eta": 0.9, "n_modes": 1}])
def test_wrong_labels_come_first(sizes, options):
    W, truth, y, flipped = wrong_labels(2389, sizes, 12, 5)
    if "n_modes" in options:  # one for two classes, the paper's; three for four
        options = {**options, "n_modes": len(sizes) - 1}
    issues = find_label_issues(W, y, **options)
    sound(issues, y)
    np.testing.assert_array_equal(np.sort(issues.node[:5]), flipped)
    assert (issues.suspicion[:5] > 0.5).all()
    assert (issues.suspicion[5:] < 0.5).all()
    np.testing.assert_array_equal(issues.suggested[:5], truth[issues.node[:5]])
    np.testing.assert_array_equal(issues.suggested[5:], issues.given[5:])
    assert (issues.margin[:5] < 0).all()
    assert (issues.margin[5:] > 0).all()
    assert all(len(row.evidence) > 0 for row in list(issues)[:5])


@pytest.mark.parametrize("wrong", [0, 12, 36])
def test_the_noise_rate_is_about_right(wrong):
    W, truth, y, _ = wrong_labels(2399, [80, 80, 80], 40, wrong)
    issues = find_label_issues(W, y)
    sound(issues, y)
    assert abs(issues.noise_rate - wrong / 120) <= 0.08
    given = np.flatnonzero(y >= 0)
    pairs = np.zeros((3, 3))
    np.add.at(pairs, (y[given], truth[given]), 1 / 120)
    assert np.abs(issues.pairs - pairs).max() <= 0.05


def test_witnesses_are_near():
    W, truth, y, flipped = wrong_labels(2411, [60, 60, 60], 10, 3)
    issues = find_label_issues(W, y)
    for row in list(issues)[:3]:
        assert row.node in flipped
        assert y[row.evidence[0]] == truth[row.node]


def test_four_labels():
    W, truth = lifting.blocks(2417, [30, 30], 0.4, 0.03)
    y = np.full(60, -1)
    y[[3, 11, 35, 50]] = [0, 0, 1, 1]
    issues = find_label_issues(W, y)
    sound(issues, y)
    assert issues.judged.all()
    assert issues.suspicion.max() < 0.5
    assert (truth[issues.node] == issues.suggested).all()


@pytest.mark.parametrize("n", [240, 1620])
def test_all_nodes_labelled(n):
    factor = 1.0 if n == 240 else 0.2
    W, truth = lifting.blocks(2423, [n // 3] * 3, 0.3 * factor, 0.03 * factor)
    wrong = n // 10
    y, flipped = lifting.some_labels(2437, truth, n, wrong)
    assert (y >= 0).all()
    issues = find_label_issues(W, y)
    sound(issues, y)
    first = issues.node[:wrong]
    assert np.isin(first, flipped).mean() > 0.97
    assert np.mean(issues.suggested[:wrong] == truth[first]) > 0.9
    assert abs(issues.noise_rate - 0.1) < 0.05


def test_the_only_label_of_its_class_is_not_judged():
    W, truth, y, _ = wrong_labels(2441, [40, 40, 40], 8, 0)
    alone = np.flatnonzero(y == 2)[0]
    y[(y == 2) & (np.arange(120) != alone)] = -1
    issues = find_label_issues(W, y)
    sound(issues, y)
    np.testing.assert_array_equal(issues.node[~issues.judged], [alone])
    row = next(row for row in issues if row.node == alone)
    assert (row.suggested, row.evidence) == (2, ())
    assert row.suspicion == pytest.approx(issues.noise_rate)
    clf = RobustGC(affinity="precomputed").fit(W, y)
    assert np.mean(clf.transduction_ == truth) > 0.9


def test_one_label_a_class():
    W, truth = lifting.blocks(2447, [30, 30, 30], 0.4, 0.02)
    y, _ = lifting.some_labels(2459, truth, 1)
    clf = RobustGC(affinity="precomputed").fit(W, y)
    issues = clf.label_issues()
    sound(issues, y)
    assert not issues.judged.any()
    assert issues.noise_rate == 0.0
    assert np.mean(clf.transduction_ == truth) > 0.9


def test_one_class_in_a_component_and_nodes_by_themselves():
    W, _, y, flipped = wrong_labels(2467, [40, 40], 8, 2)
    apart = sp.block_diag([W, graphs.complete(5), np.zeros((3, 3))], format="csr")
    labels = np.concatenate([y, [0, 0, -1, -1, -1], [1, -1, 0]])
    issues = find_label_issues(apart, labels)
    sound(issues, labels)
    np.testing.assert_array_equal(np.sort(issues.node[~issues.judged]), [80, 81, 85, 87])
    np.testing.assert_array_equal(np.sort(issues.node[:2]), flipped)
    np.testing.assert_allclose(issues.suspicion[~issues.judged], issues.noise_rate)


def test_no_component_with_two_classes():
    W = sp.block_diag([graphs.complete(3), graphs.complete(4)], format="csr")
    y = np.array([0, 0, -1, 1, -1, -1, 1])
    issues = find_label_issues(W, y)
    sound(issues, y)
    assert not issues.judged.any()
    np.testing.assert_array_equal(issues.pairs, [[0.5, 0.0], [0.0, 0.5]])


def test_two_hundred_classes():
    W, truth = lifting.blocks(2473, [6] * 200, 0.9, 0.001)
    y, flipped = lifting.some_labels(2477, truth, 3, wrong=12)
    issues = find_label_issues(W, y)
    sound(issues, y)
    assert np.isin(flipped, issues.node[:40]).mean() > 0.7
    assert np.mean(RobustGC(affinity="precomputed").fit(W, y).transduction_ == truth) > 0.8


def test_larger_graphs_by_kernel_and_by_fold():
    W, truth = lifting.blocks(2503, [600, 600, 500], 0.05, 0.005)
    for count, wrong in [(10, 4), (200, 30)]:
        y, flipped = lifting.some_labels(2521, truth, count, wrong)
        issues = find_label_issues(W, y)
        sound(issues, y)
        np.testing.assert_array_equal(np.sort(issues.node[:wrong]), flipped)
        assert all(len(row.evidence) > 0 for row in list(issues)[:wrong])


def test_nodes_are_rows_of_x_with_landmarks():
    X, y, truth = moons(n=300, n_labels=40)
    node = int(np.flatnonzero(y == 0)[5])
    y[node] = 1
    clf = RobustGC(landmarks=150).fit(X, y)
    issues = clf.label_issues()
    sound(issues, y)
    assert issues.node[0] == node
    assert issues.margin[0] < 0
    assert all(truth[j] == truth[node] for j in issues.evidence[0])


def test_the_table():
    W, _, y, _ = wrong_labels(2531, [30, 30], 8, 2)
    names = np.array(["left", "right", ""])[y]
    issues = find_label_issues(W, names)
    columns = issues.columns()
    assert list(columns) == [
        *("node", "given", "suggested", "suspicion", "margin", "evidence", "judged")
    ]
    assert {len(column) for column in columns.values()} == {16}
    lines = str(issues).splitlines()
    assert lines[0].startswith("16 labels, about ")
    assert len(lines) == 18
    assert str(issues.node[0]) in lines[2]
    assert issues.classes.tolist() == ["left", "right"]


def test_points_by_an_option():
    X, y, _ = moons()
    issues = find_label_issues(X, y, affinity="knn", n_neighbors=8)
    sound(issues, y)
    assert issues.suspicion.max() < 0.5


def test_every_label_of_many_that_looks_wrong_has_its_evidence():
    X, truth = load_digits(return_X_y=True)
    rng = np.random.default_rng(2803)
    wrong = rng.random(len(truth)) < 0.1
    y = np.where(wrong, (truth + rng.integers(1, 10, len(truth))) % 10, truth)
    issues = RobustGC(affinity="knn").fit(X, y).label_issues()
    sound(issues, y)
    shown = issues.suspicion >= 0.5
    assert shown.sum() > 100
    assert all(len(witnesses) > 0 for witnesses in issues.evidence[shown])

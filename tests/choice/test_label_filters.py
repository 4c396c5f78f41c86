"""What models say of a label without it, against fits without it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import graphs
import lifting
from robustgc import Graph, RobustGC
from robustgc.choice.candidates import Candidate
from robustgc.choice.ensemble import weigh_candidates
from robustgc.choice.likelihood import ATYPICAL
from robustgc.choice.values import LabelValues
from robustgc.choice.view import View
from robustgc.linalg.filters import LiftedFilters
from robustgc.linalg.ladder import SolverOptions
from robustgc.linalg.modes import find_modes
from robustgc.models.label_filters import LabelFilters
from robustgc.models.leave_one_out import FOLDS, stratified_folds
from robustgc.models.parameters import Parameters
from solving import relative

OPTIONS = SolverOptions(tol=1e-10, dtype="float64")


def label_filters(W, y, models, tol=1e-10, earlier=None, exact=False):
    """The library's filters at the labels; models are (q, eta)."""
    graph, Y = Graph(W), lifting.one_hot(y)
    nodes = np.flatnonzero(y >= 0)
    modes = find_modes(graph, max(q for q, _ in models) + 1, Y, OPTIONS)
    gammas = [eta * modes.values[q - 1] for q, eta in models]
    filters = LiftedFilters(graph, modes, [q for q, _ in models], gammas, OPTIONS, exact=exact)
    return LabelFilters(filters, [eta for _, eta in models], nodes, tol, earlier)


def refitted(K, Y, nodes, groups, balanced=False, elsewhere=0.0):
    """Answers at every label of a fit without its group; the label mass that is left."""
    answers, left = np.zeros((len(nodes), Y.shape[1])), np.zeros((len(nodes), Y.shape[1]))
    for group in np.unique(groups):
        mine = groups == group
        without = Y.copy()
        without[nodes[mine]] = 0.0
        mass = without.sum(axis=0) + elsewhere
        F = K @ without
        if balanced:
            F = F / mass
        answers[mine], left[mine] = F[nodes[mine]], mass
    return answers, left


def labels_of(rng, n, n_classes):
    """Two labels of every class at least."""
    y = np.where(rng.random(n) < 0.5, rng.integers(0, n_classes, n), -1)
    y[rng.permutation(n)[: 2 * n_classes]] = np.repeat(np.arange(n_classes), 2)
    return y


@given(st.integers(2, 4), st.integers(10, 16), st.integers(100, 10**6))
def test_small_graphs_to_rounding(n_classes, n, seed):
    rng = np.random.default_rng(seed)
    W, y = graphs.random_weights(rng, n, loops=True), labels_of(rng, n, n_classes)
    weights, nodes = rng.uniform(0.2, 3.0, n), np.flatnonzero(y >= 0)
    elsewhere = rng.uniform(0.0, 2.0, n_classes)
    models = [(q, eta) for q in range(1, n) for eta in (0.1, 0.9, 0.99)]
    Y = lifting.one_hot(y, weights)
    answers = label_filters(W, y, models).leave_one_out(Y[nodes])
    left = Y.sum(axis=0) + elsewhere - Y[nodes]
    for (q, eta), found in zip(models, answers, strict=True):
        K = lifting.kernel(W, q, eta=eta) * (1 - eta) / eta
        expected, mass = refitted(K, Y, nodes, np.arange(len(nodes)), elsewhere=elsewhere)
        assert relative(found, expected) <= 1e-8
        np.testing.assert_allclose(left, mass, rtol=1e-12)
        alike, _ = refitted(K, Y, nodes, np.arange(len(nodes)), True, elsewhere)
        assert relative(found / left, alike) <= 1e-8


def test_the_constant_mode_is_left_out_as_well():
    rng = np.random.default_rng(2239)
    W, y = graphs.random_weights(rng, 20), labels_of(rng, 20, 3)
    nodes, Y = np.flatnonzero(y >= 0), lifting.one_hot(y)
    filters, problem = (
        label_filters(W, y, [(2, 0.9)]),
        lifting.problem(Graph(W), y, Parameters(0.9, 2, False)),
    )
    ways = [Candidate(2, 0.9, b, False, np.nan, 0.0, 0.5) for b in (0.0, 1.0)]
    values = LabelValues(problem, ways, filters, None, np.ones(len(nodes)))
    without, with_it = values.values
    v0 = Graph(W).v0
    expected, mass = refitted(np.outer(v0, v0), Y, nodes, np.arange(len(nodes)))
    np.testing.assert_allclose(with_it - without, expected, atol=1e-13)
    np.testing.assert_allclose(values.mass_without_i, mass)


@pytest.mark.parametrize("weight", [None, "balanced"])
def test_margins_are_those_of_fits_with_the_label_left_out(weight):
    W, truth = lifting.blocks(2243, [25, 20, 15], 0.4, 0.12)
    y, _ = lifting.some_labels(2251, truth, 7, wrong=5)
    clf = RobustGC(eta=0.8, n_modes=2, class_weight=weight, affinity="precomputed").fit(W, y)
    issues = clf.label_issues()
    for node, margin in zip(issues.node, issues.margin, strict=True):
        weights = np.ones(len(y))
        weights[node] = 0.0
        f = clf.fit(W, y, weights).f_[node]
        assert (margin > 0) == (f.argmax() == y[node])
    assert 0 < (issues.margin > 0).sum() < len(issues)


def larger(kind):
    if kind == "blocks":
        return lifting.blocks(2267, [600, 500, 500], 0.06, 0.01)
    W = graphs.grid(40, 42)
    return W, np.arange(W.shape[0]) * 3 // W.shape[0]


MODELS = [(1, 0.5), (2, 0.9), (3, 0.99), (6, 0.95)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "exact", "room"),
    [("blocks", False, 1e-5), ("grid", False, 0.02), ("blocks", True, 1e-8), ("grid", True, 1e-8)],
)
@pytest.mark.parametrize("count", [20, 220])
def test_larger_graphs_with_the_kernel_between_labels_and_without(kind, exact, room, count):
    """Polynomials of bounded degree: six digits where modes stand clear, two on a grid.

    With many labels a label's own part is estimated, by random signs: a tenth of what is said.
    """
    W, truth = larger(kind)
    y, _ = lifting.some_labels(2269, truth, count, wrong=10)
    nodes = np.flatnonzero(y >= 0)
    weights = np.random.default_rng(2273).uniform(0.5, 2.0, len(y))
    Y = lifting.one_hot(y, weights)
    filters, each = label_filters(W, y, MODELS, exact=exact), np.arange(len(nodes))
    assert (filters.kernel is not None) == (count == 20)
    answers = filters.leave_one_out(Y[nodes])
    kernels = lifting.spectral_kernels(W.toarray(), MODELS)
    for k, (model, found) in enumerate(zip(MODELS, answers, strict=True)):
        K = kernels[model] * (1 - model[1]) / model[1]
        expected, _ = refitted(K, Y, nodes, each)
        if filters.kernel is not None:
            assert relative(filters.kernel[k], K[np.ix_(nodes, nodes)]) <= room
        off = np.linalg.norm(found - expected) / np.linalg.norm(expected)
        assert off <= (room if count == 20 else 0.1)


@pytest.mark.parametrize("count", [20, 220])
def test_kernels_between_labels(count):
    W, truth = larger("blocks")
    y, _ = lifting.some_labels(2281, truth, count)
    nodes = np.flatnonzero(y >= 0)
    filters, of = label_filters(W, y, MODELS), np.array([0, 7, 31])
    kernels = lifting.spectral_kernels(W.toarray(), MODELS)
    each = np.stack([kernels[q, eta] * (1 - eta) / eta for q, eta in MODELS])
    for mix in np.array([[0.2, 0.5, 0.1, 0.7], [0.0, 0.0, 0.3, 0.0]]):
        found = filters.influence(mix, of)
        expected = np.tensordot(mix, each, 1)[np.ix_(nodes[of], nodes)]
        expected[np.arange(3), of] = 0.0
        assert relative(found, expected) <= (1e-3 if count == 20 else 0.1)


@pytest.mark.parametrize("count", [20, 220])
def test_changed_labels_are_answered_from_what_is_known(count):
    """Labels that are new, taken away and of another class, against a fresh start."""
    W, truth = larger("blocks")
    y, _ = lifting.some_labels(2281, truth, count)
    before, nodes = label_filters(W, y, MODELS), np.flatnonzero(y >= 0)
    before.leave_one_out(lifting.one_hot(y)[nodes])
    y[nodes[5]], y[nodes[9]], y[np.flatnonzero(y < 0)[[3, 40]]] = -1, (y[nodes[9]] + 1) % 3, 1
    nodes = np.flatnonzero(y >= 0)
    Y = lifting.one_hot(y)[nodes]
    later, fresh = label_filters(W, y, MODELS, earlier=before), label_filters(W, y, MODELS)
    without, anew = later.leave_one_out(Y), fresh.leave_one_out(Y)
    if fresh._first is not None:  # with all labels nothing is estimated
        for found, expected in zip(later._first[1], fresh._first[1], strict=True):
            assert relative(found, expected) <= 1e-5
    room = 1e-5 if count == 20 else 0.2  # the random signs are others
    for found, expected in zip(without, anew, strict=True):
        assert np.linalg.norm(found - expected) <= room * np.linalg.norm(expected)


def test_folds_hold_every_class_evenly_and_always_the_same():
    codes = np.random.default_rng(2287).integers(0, 7, 900)
    codes[codes == 6] = 5
    codes[[3, 8]] = 6
    fold = stratified_folds(codes, FOLDS)
    np.testing.assert_array_equal(fold, stratified_folds(codes, FOLDS))
    for k in range(7):
        sizes = np.bincount(fold[codes == k], minlength=FOLDS)
        assert sizes.max() - sizes.min() <= 1


def test_a_label_alone_in_its_class_is_not_judged():
    W, truth = lifting.blocks(2293, [15, 15, 10], 0.5, 0.1)
    y, _ = lifting.some_labels(2297, truth, 4)
    y[(y == 2) & (np.arange(40) > np.flatnonzero(y == 2)[0])] = -1
    nodes = np.flatnonzero(y >= 0)
    models = [(1, 0.9), (2, 0.9)]
    ways = [(0.0, False), (0.0, True)]
    prior = [Candidate(*model, *way, np.nan, 0.0, 0.25) for way in ways for model in models]
    problem, filters = lifting.problem(Graph(W), y), label_filters(W, y, models)
    found = weigh_candidates([View(problem, None, None, filters, None, tuple(prior), 1e-8)])
    np.testing.assert_array_equal(found.judged, y[nodes] != 2)
    np.testing.assert_allclose(found.class_probabilities.sum(axis=1), 1.0)
    unseen = found.class_probabilities[y[nodes] == 2, 2]
    assert unseen == pytest.approx(ATYPICAL / 3)  # its class is not there without it


def test_a_component_of_a_larger_matrix():
    rng = np.random.default_rng(2309)
    W, y = graphs.random_weights(rng, 18), labels_of(rng, 18, 3)
    apart = sp.block_diag([graphs.complete(4), W], format="csr")
    labels = np.concatenate([[0, -1, 1, -1], y])
    alone = RobustGC(eta=0.9, n_modes=2, affinity="precomputed").fit(W, y)
    both = RobustGC(eta=0.9, n_modes=2, affinity="precomputed").fit(apart, labels)
    np.testing.assert_allclose(both.f_[4:], alone.f_, atol=1e-10 * np.abs(alone.f_).max())
    one, two = alone.label_issues(), both.label_issues()
    mine = two.node >= 4
    np.testing.assert_array_equal(np.sort(two.node[mine] - 4), np.sort(one.node))
    order, base = np.argsort(two.node[mine]), np.argsort(one.node)
    np.testing.assert_allclose(two.margin[mine][order], one.margin[base], atol=1e-8)


def test_labels_far_from_each_other_leave_less_of_themselves(monkeypatch):
    """Where nothing is known of a label, its own part is taken for the others' less often.

    Not never: by chance it would be one in sixteen.
    """
    monkeypatch.setattr(
        "robustgc.models.label_filters._WORK", 0.0
    )  # as on a large graph: no kernel
    n, m, K = 3_200, 128, 16
    W, y = graphs.cycle(n), np.full(n, -1)
    nodes = np.arange(0, n, n // m)
    y[nodes] = np.random.default_rng(4211).permutation(np.arange(m) % K)
    lambda_1 = 1 - np.cos(2 * np.pi / n)
    filters = label_filters(W, y, [(1, -0.2 / lambda_1)])  # ZhouGC's: it reaches ten nodes or so
    assert filters.kernel is None
    Y = lifting.one_hot(y)[nodes]
    means = filters.leave_one_out(Y)[0] / (Y.sum(axis=0) - Y)
    assert np.mean(means.argmax(axis=1) == y[nodes]) < 0.37  # with signs at random: 0.42

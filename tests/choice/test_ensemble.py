"""The choice without test labels."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

import graphs
import lifting
import oracles
from robustgc import PoissonGC, RobustGC, full_spectrum
from robustgc.choice.candidates import (
    ETAS,
    RIDGES,
    Candidate,
    SpectralClarity,
    heaviest_lifted,
)
from robustgc.choice.ensemble import weigh_candidates
from robustgc.choice.view import View
from robustgc.graph.graph import Graph
from robustgc.linalg.ladder import SolverOptions
from robustgc.linalg.modes import find_modes
from samples import moons


def case(seed, sizes=(60, 50, 40), per_class=10, wrong=3, across=0.05):
    W, truth = lifting.blocks(seed, sizes, 0.3, across)
    return W, truth, lifting.some_labels(seed + 10, truth, per_class, wrong)[0]


def fitted(W, y, **options):
    return RobustGC(affinity="precomputed", **options).fit(W, y)


@pytest.mark.parametrize("kind", ["small", "blocks", "grid"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_weights_are_shares(kind, n_classes):
    if kind == "grid":
        W = graphs.grid(40, 40)
        truth = np.arange(1600) * n_classes // 1600
    else:
        size, factor = (40, 1.0) if kind == "small" else (1600 // n_classes, 0.15)
        W, truth = lifting.blocks(2687, [size] * n_classes, 0.4 * factor, 0.05 * factor)
    y, _ = lifting.some_labels(2689, truth, 10, wrong=3)
    clf = fitted(W, y)
    weights = np.array([c.weight for c in clf.selection_])
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert (weights >= 0).all()
    assert (np.diff(weights) <= 0).all()
    first = next(c for c in clf.selection_ if c.lifted)
    assert (clf.n_modes_, clf.eta_) == (first.n_modes, first.eta)
    kinds = {(c.n_modes, c.eta, c.constant, c.centred, c.ridge) for c in clf.selection_}
    assert len(kinds) == len(weights)
    assert {c.eta for c in clf.selection_ if c.lifted} == set(ETAS)
    assert not all(c.lifted for c in clf.selection_)
    assert {c.ridge for c in clf.selection_} == {None, *RIDGES}
    assert all(0 <= c.accuracy <= 1 for c in clf.selection_)
    assert clf.gamma_ == pytest.approx(clf.eta_ * lambda_q(W, clf.n_modes_))
    assert np.mean(clf.transduction_ == truth) > 0.8


def clarity(W, n_classes, wanted):
    """The squared share of every gap among all, by the formulas of docs/choice.md."""
    values, vectors = np.linalg.eigh(oracles.laplacian(W))
    smooth = vectors[:, 1:] / vectors[:, :1]
    spread = 1 / ((vectors[:, :1] ** 2) * smooth**4).sum(axis=0)
    reach = np.cumsum(np.minimum(1.0, 2 * n_classes * spread))[:wanted]
    ratio = values[1 : wanted + 1] / values[2 : wanted + 2]
    full = np.minimum(1.0, reach / (n_classes - 1))
    gaps = (1 - ratio) ** 3 * full**2
    return 0.9 * full * (gaps / gaps.sum()) ** 2


def lambda_q(W, q):
    return lifting.lifted_laplacian(W.toarray(), q)[1]


@pytest.mark.parametrize("seed", [2693, 2699, 2707])
def test_the_spectrum_has_the_say_with_few_labels(seed):
    W, _, y = case(seed, per_class=2, wrong=0, across=0.02)
    first = fitted(W, y).selection_[0]
    assert (first.n_modes, first.eta, first.centred) == (2, ETAS[-1], True)
    assert first.evidence == 0.0
    assert first.weight > clarity(W.toarray(), 3, 18)[1]


def test_nothing_to_judge_by_leaves_the_prior():
    W, _, y = case(2711, per_class=1, wrong=0)
    clf = fitted(W, y)
    share = clarity(W.toarray(), 3, 18)
    rest = 1 - share[np.unique([c.n_modes for c in clf.selection_]) - 1].sum()
    assert sum(c.weight for c in clf.selection_) == pytest.approx(1.0)
    diffusion = sum(c.weight for c in clf.selection_ if c.is_filter and not c.lifted)
    assert diffusion == pytest.approx(rest / 3)
    for q in {c.n_modes for c in clf.selection_}:
        at = {c.centred: c for c in clf.selection_ if c.lifted and (c.n_modes, c.eta) == (q, 0.99)}
        regressed = [c for c in clf.selection_ if c.ridge and (c.n_modes, c.eta) == (q, 0.99)]
        own = at[True].weight - at[False].weight + sum(c.weight for c in regressed)
        own -= 2 * at[False].weight  # of the rest, regressions have as much as class means
        assert own == pytest.approx(share[q - 1])
    assert all(np.isnan(c.accuracy) for c in clf.selection_)


def test_modes_that_live_on_slivers_do_not_count():
    """A pair of nodes on a weak link has a mode of its own, which tells no classes apart."""
    W, _ = lifting.blocks(2713, (60, 60), 0.3, 0.02)
    wide = sp.lil_array((122, 122))
    wide[:120, :120] = W
    wide[119, 120] = wide[120, 119] = 1e-3
    wide[120, 121] = wide[121, 120] = 1.0
    y = np.full(122, -1)
    y[[3, 70]] = 0, 1
    problem = lifting.problem(Graph(sp.csr_array(wide)), y)
    modes = find_modes(problem.graph, 16, np.eye(122)[:, :1], SolverOptions())
    spectrum = SpectralClarity.of(problem, modes)
    assert spectrum.reach[0] < 0.1
    assert 0.9 < spectrum.reach[1] < 1.1
    assert spectrum.clarity.argmax() == 1


def test_many_labels_overrule_the_default():
    # The labels cut a path of blocks at its weakest tie but one: one mode is not enough.
    W = graphs.grid(6, 60)
    truth = (np.arange(360) % 60) * 6 // 60 % 2  # stripes
    clf = fitted(W, truth)
    assert not (clf.selection_[0].lifted and clf.selection_[0].n_modes <= 2)
    assert clf.selection_[0].accuracy > 0.9
    default = next(c for c in clf.selection_ if c.evidence == 0.0)
    assert default.weight < 0.1
    assert np.mean(clf.transduction_ == truth) > 0.9


def test_labels_overrule_clusters_beyond_doubt():
    """Two halves that next to nothing joins, and the classes are blocks of both of them."""
    half, block = lifting.blocks(2741, (40, 40), 0.4, 0.05)
    W = sp.block_diag([half, half], format="lil")
    W[0, 80] = W[80, 0] = 1e-9
    truth = np.concatenate([block, block])
    y, _ = lifting.some_labels(2749, truth, 20)
    clf = fitted(sp.csr_array(W), y)
    assert np.mean(clf.transduction_ == truth) > 0.9


def test_what_is_fixed_is_not_chosen():
    W, _, y = case(2713)
    assert {c.eta for c in fitted(W, y, eta=0.3).selection_} == {0.3}
    modes = {c.n_modes for c in fitted(W, y, n_modes=2).selection_}
    assert modes == {2}
    both = fitted(W, y, eta=0.3, n_modes=2)
    assert both.selection_ == ()
    assert (both.eta_, both.n_modes_) == (0.3, 2)
    assert both.gamma_ == pytest.approx(0.3 * lambda_q(W, 2))


@pytest.mark.parametrize("n", [150, 1650])
def test_deterministic(n):
    W, _, y = case(2719, sizes=(n // 3,) * 3, across=0.02 if n > 1500 else 0.05)
    one, two = fitted(W, y), fitted(W, y)
    np.testing.assert_array_equal(one.f_, two.f_)
    assert one.selection_ == two.selection_


def test_threads_do_not_matter(monkeypatch):
    W = graphs.grid(182, 181)
    truth = np.arange(W.shape[0]) * 3 // W.shape[0]
    y, _ = lifting.some_labels(2729, truth, 8, wrong=2)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("ROBUSTGC_NUM_THREADS", threads)
        found.append(fitted(W, y))
    one, two = found
    np.testing.assert_allclose(one.f_, two.f_, atol=1e-6 * np.abs(one.f_).max())
    assert one.n_modes_ == two.n_modes_
    np.testing.assert_allclose(
        [c.weight for c in one.selection_], [c.weight for c in two.selection_], atol=1e-6
    )


def test_classes_may_be_named_in_any_order():
    W, _, y = case(2731)
    swapped = np.array([2, 0, 1, -1])[y]
    one, two = fitted(W, y), fitted(W, swapped)
    np.testing.assert_allclose(one.f_, two.f_[:, [2, 0, 1]], rtol=1e-8, atol=1e-9)


def test_nodes_may_come_in_any_order():
    W, _, y = case(2741)
    order = np.random.default_rng(2749).permutation(len(y))
    one, two = fitted(W, y), fitted(W[order][:, order], y[order])
    np.testing.assert_allclose(one.f_[order], two.f_, rtol=1e-7, atol=1e-8)


def test_weights_from_made_up_answers():
    """The first filter knows the labels, the second says the opposite."""
    codes = np.repeat([0, 1], 15)
    right = np.eye(2)[codes]

    class Filters:
        scales, etas = np.ones(2), np.full(2, 0.9)
        pairs = ((1, 0.9), (2, 0.9))

        def leave_one_out(self, Y):
            return np.stack([right, right[:, ::-1]])

        def rounding(self):
            return np.zeros(2)

    problem = lifting.problem(Graph(graphs.cycle(30)), codes)
    prior = [Candidate(q, 0.9, 0.0, False, np.nan, 0.0, p) for q, p in ((1, 0.25), (2, 0.75))]
    view = View(problem, None, None, Filters(), None, tuple(prior), 1e-8)
    found = weigh_candidates([view])
    good, bad = found.candidates
    assert (good.accuracy, bad.accuracy) == (1.0, 0.0)
    assert good.weight > 0.9 > bad.weight
    assert good.evidence > 0 == bad.evidence
    assert (found.label_posterior > 0.9).all()
    np.testing.assert_allclose(found.label_weights.mean(), 1.0)
    (how,) = found.combinations
    assert how.heaviest == 0
    np.testing.assert_array_equal(how.filters > 0, [True, False])


def test_of_equally_heavy_candidates_the_first_that_is_lifted_counts():
    zhou, first, second = (
        Candidate(q, eta, 0.0, False, np.nan, 0.0, weight)
        for q, eta, weight in ((1, -0.2, 0.5), (1, 0.5, 0.25), (2, 0.99, 0.25))
    )
    assert heaviest_lifted([zhou, first, second]) is first
    assert heaviest_lifted([zhou, second, first]) is second
    assert heaviest_lifted([zhou]) is None


def test_eta_gamma_and_modes_are_those_of_one_candidate():
    W, y = graphs.two_cliques(6, 0.1), ["a", "", "a", "b", "", "", "b", "", "b", "", "", "a"]
    clf = RobustGC(affinity="precomputed").fit(W, y)
    best = heaviest_lifted(clf.selection_)
    assert (clf.eta_, clf.n_modes_) == (best.eta, best.n_modes)
    np.testing.assert_allclose(
        clf.gamma_, best.eta * full_spectrum(Graph(W)).values[best.n_modes], rtol=1e-9
    )


def test_points():
    X, y, truth = moons(n_labels=20)
    y[np.flatnonzero(y == 0)[:2]] = 1
    clf = RobustGC().fit(X, y)
    assert np.mean(clf.transduction_ == truth) > 0.9
    assert 0 < clf.eta_ < 1


def with_whiskers(seed, n=600, count=40, length=8):
    """Two blocks with long paths hanging on: the first modes live on the paths."""
    W, truth = lifting.blocks(seed, [n // 2, n // 2], 0.05, 0.01)
    ends = np.random.default_rng(seed + 2).choice(n, count, replace=False)
    paths = n + np.arange(count * length).reshape(count, length)
    source = np.column_stack([ends, paths[:, :-1]]).ravel()
    size = n + count * length
    links = sp.coo_array((np.ones(source.size), (source, paths.ravel())), shape=(size, size))
    whole = sp.coo_array(W)
    wide = sp.coo_array((whole.data, (whole.row, whole.col)), shape=(size, size))
    return sp.csr_array(wide + links + links.T), np.concatenate([truth, truth[ends].repeat(length)])


def test_modes_on_whiskers_are_not_leaned_on():
    found = []
    for seed in (2903, 2909, 2957, 2963, 2969, 2971):
        W, truth = with_whiskers(seed)
        y, _ = lifting.some_labels(seed + 8, truth, 10, wrong=2)
        clf = fitted(W, y)
        rest = y < 0
        poisson = PoissonGC(affinity="precomputed").fit(W, y).transduction_
        found.append([np.mean((a == truth)[rest]) for a in (clf.transduction_, poisson)])
    auto, peer = np.mean(found, axis=0)
    assert auto > peer - 0.01


def test_modes_that_all_live_on_slivers_are_silent():
    found = []
    for W, truth in (with_whiskers(2903), lifting.blocks(2713, (60, 60), 0.3, 0.02)):
        problem = lifting.problem(Graph(W), lifting.some_labels(2711, truth, 4)[0])
        modes = find_modes(problem.graph, 16, np.eye(W.shape[0])[:, :1], SolverOptions())
        found.append(SpectralClarity.of(problem, modes).localisation)
    assert found[0] > 0.5
    assert found[1] == 0.0


def test_labels_tell_when_modes_behind_the_localised_ones_tell_classes_apart():
    """A sparse block model: its first modes live on whiskers, those of the blocks come after."""
    rng, n = np.random.default_rng(35), 20_000
    truth = np.sort(rng.integers(0, 5, n))
    first = np.searchsorted(truth, np.arange(6))
    i, j, own = rng.integers(0, n, 50_000), rng.integers(0, n, 50_000), rng.random(50_000) < 0.7
    block = truth[i[own]]
    j[own] = rng.integers(first[block], first[block + 1])
    W = sp.coo_array((np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    piece = connected_components(W, directed=False)[1]
    keep = np.flatnonzero(piece == np.bincount(piece).argmax())
    W, truth = sp.csr_array(W + W.T)[keep][:, keep], truth[keep]
    y, _ = lifting.some_labels(3719, truth, 25, wrong=5)
    clf = fitted(W, y)
    rest = y < 0
    assert np.mean((clf.transduction_ == truth)[rest]) > 0.8  # by the first mode alone: 0.6


@pytest.mark.parametrize("gap", [7, 9, 10, 12, 14])
def test_clusters_that_hardly_touch(gap):
    """lambda_1 from 1e-4 to below 1e-20, where rounding divided by gamma is no residual."""
    rng = np.random.default_rng(3083)
    places = [(0, 0), (gap, gap), (gap, 0)]
    X = np.concatenate([rng.normal(place, 1, (30, 2)) for place in places])
    truth = np.repeat(list("abc"), 30)
    y = np.full(90, "", dtype=object)
    y[::15] = truth[::15]
    clf = RobustGC(affinity="rbf").fit(X, y)
    assert clf.residual_ < 1e-10
    np.testing.assert_array_equal(clf.transduction_, truth)

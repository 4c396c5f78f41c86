"""Every engine against the paper's dense formula, and the cases that must end well."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

import graphs
import oracles
from robustgc import CSR, Graph, NotConvergedError, NotConvexError, RobustGC
from robustgc import engines as ladder
from robustgc.engines import Options, solve_robust
from robustgc.laplacian import Laplacian
from robustgc.outcome import Shifts

ENGINES = ["dense", "krylov", "multigrid", "direct"]
ETAS = [0.1, 0.5, 0.9]


def relative(actual, expected):
    return np.abs(actual - expected).max() / max(np.abs(expected).max(), 1e-300)


def answers(W, y, solver, *, etas=ETAS, **options):
    graph = Graph(W)
    Y = np.asarray(y, dtype=float).reshape(graph.n, -1)
    return solve_robust(graph, Y, Shifts(etas=etas), Options(solver=solver, **options))


@pytest.mark.parametrize("container", [sp.csr_array, np.asarray])
@pytest.mark.parametrize("solver", ENGINES)
@given(case=graphs.labelled_graphs())
@settings(deadline=None, max_examples=40)
def test_engines_meet_the_dense_formula(solver, container, case):
    W, y = case
    if solver == "multigrid" and container is np.asarray:
        return  # it needs a sparse matrix; see test_multigrid_needs_a_sparse_matrix
    outcome, history = answers(container(W), y, solver, tol=1e-12)
    limit = oracles.lambda_1(W)
    assert outcome.lambda_1 == pytest.approx(limit, rel=1e-9)
    assert history[-1].solver == solver
    for gamma, solution in zip(outcome.gammas, outcome.solutions, strict=True):
        assert relative(solution.f[:, 0], oracles.robust(W, y, gamma)) < 1e-8
        assert solution.residual < 1e-9


@given(case=graphs.labelled_graphs())
@settings(deadline=None, max_examples=60)
def test_single_precision_meets_the_dense_formula(case):
    W, y = case
    outcome, history = answers(sp.csr_array(W), y, "krylov", dtype="float32", tol=1e-5)
    for gamma, solution in zip(outcome.gammas, outcome.solutions, strict=True):
        assert relative(solution.f[:, 0], oracles.robust(W, y, gamma)) < 1e-4
    assert history[0].solver == "krylov float32"


def block_model(rng, n, inside=18.0, across=2.0):
    """Two equal blocks with Poisson degrees, unit weights, isolated nodes tied to a neighbour."""
    half = n // 2
    m_in, m_out = int(n * inside / 2), int(n * across / 2)
    shift = rng.integers(0, 2, m_in) * half
    rows = np.concatenate([rng.integers(0, half, m_in) + shift, rng.integers(0, half, m_out)])
    cols = np.concatenate(
        [rng.integers(0, half, m_in) + shift, half + rng.integers(0, half, m_out)]
    )
    rows, cols = np.append(rows, np.arange(n - 1)[::7]), np.append(cols, np.arange(1, n)[::7])
    keep = rows != cols
    W = sp.coo_array((np.ones(keep.sum()), (rows[keep], cols[keep])), shape=(n, n)).tocsr()
    W = sp.csr_array(W + W.T)
    W.data[:] = 1.0
    return W


def block_labels(n, count, rng):
    y = np.zeros(n)
    nodes = rng.choice(n, count, replace=False)
    y[nodes] = np.where(nodes < n // 2, 1.0, -1.0)
    return y


def largest_piece(W):
    _, number = sp.csgraph.connected_components(W, directed=False)
    keep = np.flatnonzero(number == np.bincount(number).argmax())
    return sp.csr_array(W[keep][:, keep])


@pytest.mark.parametrize("weighted", [False, True])
def test_krylov_and_direct_agree_on_a_block_model(weighted):
    rng = np.random.default_rng(31)
    W = largest_piece(block_model(rng, 3000))
    if weighted:
        upper = sp.triu(W, k=1)
        upper.data = rng.uniform(0.2, 1, upper.nnz)
        W = sp.csr_array(upper + upper.T + sp.diags_array(rng.uniform(0, 1, W.shape[0])))
    y = block_labels(W.shape[0], 60, rng)
    Y = np.column_stack([y, np.roll(y, 5)])
    found = {name: answers(W, Y, name, tol=1e-11)[0] for name in ("krylov", "direct", "multigrid")}
    for name in ("krylov", "multigrid"):
        assert found[name].lambda_1 == pytest.approx(found["direct"].lambda_1, rel=1e-8)
        for a, b in zip(found[name].solutions, found["direct"].solutions, strict=True):
            assert relative(a.f, b.f) < 1e-7
            assert a.residual < 1e-10


def test_single_precision_answers_by_itself_where_it_can():
    rng = np.random.default_rng(32)
    W = largest_piece(block_model(rng, 4000))
    y = block_labels(W.shape[0], 50, rng)
    single, history = answers(W, y, "auto", dtype="float32")
    double, _ = answers(W, y, "auto")
    assert history[-1].solver == "krylov float32"
    assert single.solutions[0].f.dtype == np.float32
    assert single.lambda_1 == pytest.approx(double.lambda_1, rel=1e-5)
    for a, b in zip(single.solutions, double.solutions, strict=True):
        assert relative(a.f, b.f) < 1e-4


def test_single_precision_that_cannot_reach_the_tolerance_says_so_and_becomes_double():
    rng = np.random.default_rng(33)
    W = largest_piece(block_model(rng, 4000))
    y = block_labels(W.shape[0], 50, rng)
    outcome, history = answers(W, y, "auto", dtype="float32", tol=1e-9)
    assert [attempt.solver for attempt in history] == ["krylov float32", "krylov"]
    assert "single precision did not reach" in history[1].reason
    assert outcome.solutions[0].residual < 1e-9


def test_a_basis_that_does_not_fit_is_computed_twice_with_the_same_answer(monkeypatch):
    rng = np.random.default_rng(34)
    W = largest_piece(block_model(rng, 3000))
    y = block_labels(W.shape[0], 40, rng)
    kept, _ = answers(W, y, "krylov")
    monkeypatch.setattr(ladder, "available", lambda: 0.0)
    twice, history = answers(W, y, "krylov")
    assert "computed twice" in history[-1].result
    assert "computed twice" not in kept.note
    for a, b in zip(kept.solutions, twice.solutions, strict=True):
        assert relative(a.f, b.f) < 1e-12


def test_a_path_of_etas_is_what_single_solves_give():
    rng = np.random.default_rng(35)
    W = largest_piece(block_model(rng, 3000))
    y = block_labels(W.shape[0], 40, rng)
    etas = np.linspace(0.05, 0.95, 19)
    path, _ = answers(W, y, "krylov", etas=etas, tol=1e-11)
    for k in (0, 9, 18):
        one, _ = answers(W, y, "krylov", etas=[etas[k]], tol=1e-11)
        assert relative(path.solutions[k].f, one.solutions[0].f) < 1e-8


@pytest.mark.parametrize("solver", ENGINES)
def test_gamma_beyond_lambda_1_is_refused_by_every_engine(solver):
    rng = np.random.default_rng(36)
    W = graphs.random_weights(rng, 40)
    graph, y = Graph(sp.csr_array(W)), graphs.random_labels(rng, 40)[:, None]
    gamma = 1.001 * oracles.lambda_1(W)
    with pytest.raises(NotConvexError, match="not below lambda_1"):
        solve_robust(graph, y, Shifts(gammas=[gamma]), Options(solver=solver))


# ---- Cases that must end well -------------------------------------------------------------------


def mirrored(rng, n):
    """Two equal halves with the same inner edges, node i tied to its image: v1 is antisymmetric."""
    half = largest_piece(block_model(rng, n, inside=8.0, across=8.0))
    m = half.shape[0]
    ties = 0.5 * sp.eye_array(m)
    return sp.csr_array(sp.block_array([[half, ties], [ties, half]])), m


@pytest.mark.parametrize("solver", ["auto", "krylov", "multigrid"])
def test_symmetric_labels_cannot_hide_lambda_1(solver):
    """The labels are the same on both halves, so their Krylov space has nothing of v1."""
    rng = np.random.default_rng(37)
    W, m = mirrored(rng, 1600)
    y = np.tile(block_labels(m, 30, rng), 2)
    outcome, _ = answers(W, y, solver)
    exact = np.sort(np.linalg.eigvalsh(oracles.laplacian(W.toarray())))[1]
    assert outcome.lambda_1 == pytest.approx(exact, rel=1e-6)


def hypercube(k):
    W = sp.csr_array((1, 1))
    for _ in range(k):
        ties = sp.eye_array(W.shape[0])
        W = sp.csr_array(sp.block_array([[W, ties], [ties, W]]))
    return W


CLASSICS = {
    "star": (sp.csr_array(graphs.star(2000)), 1.0),
    "bipartite": (sp.csr_array(sp.block_array([[None, sp.csr_array(np.ones((900, 900)))],
                                               [sp.csr_array(np.ones((900, 900))), None]])), 1.0),
    "hypercube": (hypercube(11), 2 / 11),
    "cycle": (sp.csr_array(graphs.cycle(2000)), 1 - np.cos(2 * np.pi / 2000)),
    "grid": (graphs.grid(60, 40), None),
    "path": (graphs.path(3000), 1 - np.cos(np.pi / 2999)),
}  # fmt: skip


@pytest.mark.parametrize("name", CLASSICS)
@pytest.mark.parametrize("both", [True, False])
def test_classic_graphs_with_one_label_of_each_class(name, both):
    W, limit = CLASSICS[name]
    n = W.shape[0]
    y = np.full(n, -1)
    y[[3, n - 5]] = [0, 1]
    if not both:  # a few more, at random
        rng = np.random.default_rng(38)
        y[rng.choice(n, 20, replace=False)] = rng.integers(0, 2, 20)
    clf = RobustGC(affinity="precomputed").fit(W, y)
    assert clf.residual_ < 1e-6
    if limit is not None:
        assert clf.lambda_1_ == pytest.approx(limit, rel=1e-6)
    Y = np.where(y < 0, 0.0, 2.0 * y - 1)
    gamma = clf.gamma_
    graph = Graph(W)
    rest = graph.P0(graph.L_N(clf.f_) - gamma * clf.f_ - gamma * Y)
    assert np.linalg.norm(rest) <= 1e-6 * gamma * np.linalg.norm(Y)


@pytest.mark.parametrize("bridge", [1e-9, 1e-13, 1e-16])
def test_clusters_joined_by_almost_nothing(bridge):
    rng = np.random.default_rng(39)
    half = largest_piece(block_model(rng, 1400, inside=8.0, across=8.0))
    m = half.shape[0]
    tie = sp.coo_array(([bridge], ([5], [7])), shape=(m, m))
    W = sp.csr_array(sp.block_array([[half, tie], [tie.T, half]]))
    y = np.full(2 * m, -1)
    y[[1, 30, 70]], y[[m + 2, m + 40]], y[m + 9] = 0, 1, 0  # one of them is wrong
    clf = RobustGC(affinity="precomputed").fit(W, y)
    assert clf.transduction_[:m].tolist() == [0] * m
    assert clf.transduction_[m:].tolist() == [1] * m
    volume = half.sum() + bridge  # of each half; v1 is nearly constant on them
    assert clf.lambda_1_ == pytest.approx(2 * bridge / volume, rel=1e-3)


def test_a_hundred_thousand_labels():
    rng = np.random.default_rng(40)
    W = block_model(rng, 120_000, inside=6.0, across=1.0)
    truth = (np.arange(120_000) >= 60_000).astype(int)
    y = np.where(rng.random(120_000) < 0.3, 1 - truth, truth)
    y[rng.permutation(120_000)[100_000:]] = -1
    clf = RobustGC(affinity="precomputed").fit(W, y)
    assert (clf.transduction_ == truth).mean() > 0.9
    assert clf.solver_ == "krylov float32"


def test_threads_do_not_matter(monkeypatch):
    rng = np.random.default_rng(41)
    W = block_model(rng, 60_000)
    y = block_labels(60_000, 40, rng).astype(int)
    y[y == 0] = 7  # not the paper's convention: 7 is unlabelled here
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("ROBUSTGC_NUM_THREADS", threads)
        clf = RobustGC(affinity="precomputed", unlabeled=7).fit(W, y)
        found.append((clf.transduction_, clf.f_))
    assert (found[0][0] == found[1][0]).all()
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_array_equal(found[0][1], found[2][1])


def test_pieces_of_a_large_graph_are_solved_in_place():
    """The largest piece is not cut out: its rows are used where they lie, zeros outside."""
    rng = np.random.default_rng(42 + 1)
    main, other = (largest_piece(block_model(rng, n)) for n in (4000, 1800))
    W = sp.block_diag([main, sp.csr_array((3, 3)), other], format="csr")
    order = rng.permutation(W.shape[0])
    W = sp.csr_array(W[order][:, order])
    y = np.zeros(W.shape[0])
    y[rng.choice(W.shape[0], 80, replace=False)] = rng.choice([-1, 1], 80)
    where = np.argsort(order)
    labels = np.where(y == 0, -1, (y > 0).astype(int))
    for weights in (W, CSR.from_scipy(W)):
        clf = RobustGC(affinity="precomputed", tol=1e-11).fit(weights, labels)
        for block, size in ((main, slice(0, main.shape[0])), (other, slice(-other.shape[0], None))):
            nodes = where[size]
            alone, _ = answers(block, y[nodes], "direct", etas=[0.9], tol=1e-11)
            assert relative(clf.f_[nodes], alone.solutions[0].f[:, 0]) < 1e-7
        assert len(clf.certificates_) == 2
        assert clf.lambda_1_ == clf.certificates_[clf.components_[where[0]]].lambda_1


def test_failure_of_every_engine_says_what_was_tried(monkeypatch):
    def refuse(*args, **kwargs):
        raise NotConvergedError("not today")

    for engine in (ladder.krylov, ladder.multigrid, ladder.direct):
        monkeypatch.setattr(engine, "run", refuse)
    with pytest.raises(NotConvergedError, match=r"krylov: not today; multigrid: not today; direct"):
        answers(graphs.path(2000), np.eye(1, 2000)[0] - np.eye(1, 2000, 9)[0], "auto")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"solver": "magic"}, "must be one of auto, dense"),
        ({"tol": 0}, "above 0"),
        ({"tol": 0.5}, "at most 0.01"),
        ({"dtype": "float16"}, "auto, float64, float32"),
    ],
)
def test_wrong_options_are_refused_before_any_work(options, match):
    with pytest.raises(ValueError, match=match):
        RobustGC(affinity="precomputed", **options).fit([[0, 1], [1, 0]], [0, 1])


def test_multigrid_needs_a_sparse_matrix():
    rng = np.random.default_rng(44)
    W, y = graphs.random_weights(rng, 30), graphs.random_labels(rng, 30)
    with pytest.raises(ValueError, match="sparse"):
        answers(W, y, "multigrid")


# ---- Found by review ----------------------------------------------------------------------------


def test_krylov_that_was_asked_for_does_not_give_up_on_a_plateau():
    W, n = graphs.grid(100, 100), 10_000
    y = np.zeros(n)
    y[[3, 5000, 9995]] = 1, -1, -1
    outcome, _ = answers(W, y, "krylov", etas=[0.9])
    other, _ = answers(W, y, "multigrid", etas=[0.9])
    assert outcome.lambda_1 == pytest.approx(other.lambda_1, rel=1e-7)
    assert relative(outcome.solutions[0].f, other.solutions[0].f) < 1e-6


@pytest.mark.parametrize("scale", [1e-300, 1e-80, 1e-20, 1e20, 1e200])
def test_the_scale_of_weights_does_not_matter_in_single_precision(scale):
    rng = np.random.default_rng(61)
    W = largest_piece(block_model(rng, 3000))
    y = block_labels(W.shape[0], 50, rng)
    expected, _ = answers(W, y, "krylov", dtype="float32")
    found, history = answers(W * scale, y, "krylov", dtype="float32")
    assert history[-1].solver == "krylov float32"
    for a, b in zip(found.solutions, expected.solutions, strict=True):
        assert relative(a.f, b.f) < 1e-4


@pytest.mark.parametrize("bridge", [1e-8, 1e-14])
def test_two_expanders_joined_by_almost_nothing_take_seconds(bridge):
    rng = np.random.default_rng(62)
    half = largest_piece(block_model(rng, 1900, inside=8.0, across=8.0))
    m = half.shape[0]
    tie = sp.coo_array(([bridge], ([5], [7])), shape=(m, m))
    W = sp.csr_array(sp.block_array([[half, tie], [tie.T, half]]))
    y = np.zeros(2 * m)
    y[:10], y[-10:] = 1, -1
    outcome, _ = answers(W, y, "auto", etas=[0.9])
    assert outcome.lambda_1 == pytest.approx(2 * bridge / half.sum(), rel=1e-3)
    assert (np.sign(outcome.solutions[0].f[:, 0]) == np.repeat([1, -1], m)).all()


def test_a_hub_with_many_neighbours_keeps_its_digits_in_single_precision():
    """Sums over a row of 200,000 terms are taken in double precision."""
    rng = np.random.default_rng(63)
    n = 200_000
    spokes = np.arange(1, n)
    others = np.append(spokes[1:], 1)
    rows, cols = np.append(np.zeros(n - 1, dtype=int), spokes), np.append(spokes, others)
    W = sp.coo_array((np.ones(len(rows)), (rows, cols)), shape=(n, n)).tocsr()
    W = sp.csr_array(W + W.T)
    graph = Graph(W)
    x = rng.standard_normal((n, 1))
    single = Laplacian(graph, np.float32)
    np.testing.assert_allclose(single(x.astype(np.float32)), graph.L_N(x), atol=3e-6)


def test_multigrid_from_several_threads_gives_the_same_bytes_and_leaves_the_generator_alone():
    y = np.zeros((2500, 1))
    y[[3, 2400], 0] = 1, -1
    np.random.seed(17)  # noqa: NPY002  the user's own
    state = np.random.get_state()[1].copy()  # noqa: NPY002

    def one(_):
        options = Options(solver="multigrid")
        return solve_robust(Graph(graphs.grid(50, 50)), y, Shifts(etas=[0.9]), options)[0]

    with ThreadPoolExecutor(3) as pool:
        found = [outcome.solutions[0].f for outcome in pool.map(one, range(6))]
    for f in found[1:]:
        np.testing.assert_array_equal(f, found[0])
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize("solver", ["krylov", "multigrid", "direct"])
def test_a_tie_is_a_tie_for_every_engine(solver):
    half = graphs.grid(20, 20)
    m = half.shape[0]
    W = sp.lil_array((2 * m + 1, 2 * m + 1))
    W[:m, :m], W[m + 1 :, m + 1 :] = half, half
    for k in (5, 17):
        W[m, k] = W[k, m] = W[m, m + 1 + k] = W[m + 1 + k, m] = 1.0
    y = np.full(2 * m + 1, -1)
    y[[40, m + 41]] = 0, 1
    clf = RobustGC(affinity="precomputed", solver=solver).fit(sp.csr_array(W), y)
    assert clf.reasons_[m] == "tie between classes"
    assert (clf.transduction_[:m] == 0).all()


def test_a_fit_that_fails_leaves_predictions_as_they_were():
    clf = RobustGC(affinity="precomputed").fit(graphs.path(10), [0] + [-1] * 8 + [1])
    with pytest.raises(ValueError, match="13"):
        clf.fit(graphs.path(12), [0] * 12 + [1])
    np.testing.assert_array_equal(clf.predict(graphs.path(10)), clf.transduction_)


def test_memory_is_counted_for_the_piece_that_is_solved(monkeypatch):
    monkeypatch.setenv("ROBUSTGC_MEMORY", "1e7")
    W = sp.block_diag([graphs.path(10), sp.csr_array((300_000, 300_000))], format="csr")
    y = np.full(W.shape[0], -1)
    y[[0, 9]] = 0, 1
    assert (
        RobustGC(affinity="precomputed").fit(W, y).transduction_[:10].tolist() == [0] * 5 + [1] * 5
    )


def test_many_small_components_are_not_quadratic():
    W = sp.csr_array(sp.kron(sp.eye_array(2000), graphs.path(4)))
    y = np.full(8000, -1)
    y[::4], y[3::4] = 0, 1
    clf = RobustGC(affinity="precomputed").fit(W, y)
    assert clf.transduction_.reshape(-1, 4).tolist() == [[0, 0, 1, 1]] * 2000

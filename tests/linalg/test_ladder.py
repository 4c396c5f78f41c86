"""Every engine against the paper's dense formula, and the cases that must end well."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

import graphs
import oracles
from robustgc import Graph, NotConvergedError, NotConvexError, RobustGC
from robustgc.graph import graph as graphs_module
from robustgc.linalg import ladder
from robustgc.linalg.ladder import SolverOptions, solve_robust
from robustgc.linalg.ordering import sparse_factors
from robustgc.linalg.solution import Gammas
from solving import answers, relative

ENGINES = ["dense", "krylov", "multigrid", "direct"]


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


@pytest.mark.parametrize("weighted", [False, True])
def test_krylov_and_direct_agree_on_a_block_model(weighted):
    rng = np.random.default_rng(31)
    W = graphs.largest_piece(graphs.block_model(rng, 3000))
    if weighted:
        upper = sp.triu(W, k=1)
        upper.data = rng.uniform(0.2, 1, upper.nnz)
        W = sp.csr_array(upper + upper.T + sp.diags_array(rng.uniform(0, 1, W.shape[0])))
    y = graphs.block_labels(W.shape[0], 60, rng)
    Y = np.column_stack([y, np.roll(y, 5)])
    found = {name: answers(W, Y, name, tol=1e-11)[0] for name in ("krylov", "direct", "multigrid")}
    for name in ("krylov", "multigrid"):
        assert found[name].lambda_1 == pytest.approx(found["direct"].lambda_1, rel=1e-8)
        for a, b in zip(found[name].solutions, found["direct"].solutions, strict=True):
            assert relative(a.f, b.f) < 1e-7
            assert a.residual < 1e-10


def test_single_precision_answers_by_itself_where_it_can():
    W, y = graphs.labelled_blocks(32, 4000, 50)
    single, history = answers(W, y, "auto", dtype="float32")
    double, _ = answers(W, y, "auto")
    assert history[-1].solver == "krylov float32"
    assert single.solutions[0].f.dtype == np.float32
    assert single.lambda_1 == pytest.approx(double.lambda_1, rel=1e-5)
    for a, b in zip(single.solutions, double.solutions, strict=True):
        assert relative(a.f, b.f) < 1e-4


def test_single_precision_that_cannot_reach_the_tolerance_says_so_and_becomes_double():
    W, y = graphs.labelled_blocks(33, 4000, 50)
    outcome, history = answers(W, y, "auto", dtype="float32", tol=1e-9)
    assert [attempt.solver for attempt in history] == ["krylov float32", "krylov"]
    assert "single precision did not reach" in history[1].reason
    assert outcome.solutions[0].residual < 1e-9


@pytest.mark.parametrize("columns", [1, 2])
def test_a_basis_that_does_not_fit_is_computed_twice_with_the_same_answer(monkeypatch, columns):
    W, y = graphs.labelled_blocks(34, 3000, 40)
    y = np.column_stack([np.roll(y, k) for k in range(columns)])
    kept, _ = answers(W, y, "krylov")
    monkeypatch.setattr(graphs_module, "available", lambda: 0.0)
    twice, history = answers(W, y, "krylov")
    assert "computed twice" in history[-1].result
    assert "computed twice" not in kept.note
    for a, b in zip(kept.solutions, twice.solutions, strict=True):
        assert relative(a.f, b.f) < 1e-12


def test_a_path_of_etas_is_what_single_solves_give():
    W, y = graphs.labelled_blocks(35, 3000, 40)
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
        solve_robust(graph, y, Gammas(gammas=[gamma]), SolverOptions(solver=solver))


def test_failure_of_every_engine_says_what_was_tried(monkeypatch):
    def refuse(*args, **kwargs):
        raise NotConvergedError("not today")

    for engine in (ladder.krylov, ladder.multigrid, ladder.factors):
        monkeypatch.setattr(engine, "run", refuse)
    with pytest.raises(NotConvergedError, match=r"krylov: not today; multigrid: not today; direct"):
        answers(graphs.path(2000), np.eye(1, 2000)[0] - np.eye(1, 2000, 9)[0], "auto")


def test_a_defect_of_a_solver_is_not_taken_for_a_hard_graph(monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("list changed size during iteration")

    monkeypatch.setattr(ladder.krylov, "run", broken)
    with pytest.raises(RuntimeError, match="changed size"):
        answers(graphs.path(2000), np.eye(1, 2000)[0] - np.eye(1, 2000, 9)[0], "auto")


def test_a_matrix_without_factors_has_not_converged():
    with pytest.raises(NotConvergedError, match="singular"):
        sparse_factors(sp.csr_array((4, 4)))


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

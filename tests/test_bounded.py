"""Answers that take seconds where the first modes cannot be had to many digits."""

import numpy as np
import scipy.sparse as sp

import graphs
from robustgc import Graph, RobustGC, bounded, cycles, multigrid, refined, task
from robustgc.complement import Complement
from robustgc.lifted import WORST
from robustgc.outcome import NotConvergedError
from solving import relative
from test_hard_graphs import wheel


def labelled(rng, n, count=60, classes=3):
    y = np.full(n, -1)
    y[rng.choice(n, count, replace=False)] = np.arange(count) % classes
    return y


def test_a_wheel_of_any_size_is_answered_by_the_ensemble():
    """Where its modes crowd is past what products of block Lanczos tell on smaller graphs, too."""
    W = wheel(31_000)
    clf = RobustGC(affinity="precomputed").fit(W, labelled(np.random.default_rng(81), 31_000))
    assert {attempt.solver for attempt in clf.history_} == {"krylov"}
    assert clf.residual_ < WORST


def test_without_modes_a_large_graph_is_answered_by_a_smooth_filter(monkeypatch):
    def fail(*args):
        raise NotConvergedError("no modes")

    monkeypatch.setattr(task, "fit_component", fail)
    monkeypatch.setattr(task, "MEDIUM", 1_000)
    rng = np.random.default_rng(82)
    W = graphs.largest_piece(graphs.block_model(rng, 2_000))
    n = W.shape[0]
    clf = RobustGC(affinity="precomputed").fit(W, labelled(rng, n))
    assert [attempt.solver for attempt in clf.history_] == ["ensemble", "bounded"]
    assert clf.residual_ < 2e-3
    assert np.isfinite(clf.condition_bound_)
    assert clf.gamma_ < 0
    assert len(clf.predict(W[:5])) == 5


def test_the_smooth_filter_is_zhougc():
    rng = np.random.default_rng(83)
    W = graphs.largest_piece(graphs.block_model(rng, 800))
    graph, Y = Graph(W), rng.standard_normal((W.shape[0], 2))
    outcome = bounded.solved(graph, Y, "float64")
    g, L = -outcome.gammas[0], graph.laplacian().toarray()
    exact = g * np.linalg.solve(L + g * np.eye(graph.n), graph.P0(Y))
    assert relative(outcome.solutions[0].f, exact) < 2e-3
    assert outcome.lambda_1 >= np.linalg.eigvalsh(L)[1] - 1e-9


def test_single_precision_is_refined_to_the_residual_that_double_precision_measures():
    W = graphs.grid(60, 60)
    graph, rng = Graph(W), np.random.default_rng(84)
    operators = multigrid.operator(graph), multigrid.operator(graph, "float32")
    off, b = graph.v0[:, None], graph.P0(rng.standard_normal((3600, 3)))
    gamma, start = 0.5 * np.linalg.eigvalsh(graph.laplacian().toarray())[1], np.zeros((3600, 3))
    cycle = multigrid.hierarchy(graph)
    for tol in (1e-3, 1e-7):
        found = refined.solved(operators, cycle, b, gamma, start, tol, off)
        rest = graph.P0(graph.L_N(found.f) - gamma * found.f) - b
        assert (graph.norms(rest) <= 1.01 * tol * graph.norms(b)).all()


def test_sums_that_are_added_to_every_third_time_are_complete():
    rng = np.random.default_rng(85)
    W = graphs.largest_piece(graphs.block_model(rng, 900))
    graph = Graph(W)
    values = np.linalg.eigvalsh(graph.laplacian().toarray())
    B, gammas = graph.P0(rng.standard_normal((graph.n, 2))), np.array([0.3, 0.5]) * values[1]
    off = Complement(graph, np.empty((graph.n, 0)), values[1], "float64")
    mix = np.array([[1.0, 0.0], [0.5, 2.0]])
    for tol in (1e-6, 1e-7, 1e-8):  # degrees of any remainder
        found, _, _ = off.mixed(B, gammas, mix, tol)
        rest = graph.L_N(found[0]) - gammas[0] * found[0] - B
        assert (graph.norms(rest) < 3 * tol * graph.norms(B)).all()


def test_hubs_do_not_fill_the_coarser_levels():
    """A smoothed way up joins all groups at a hub: the plain one is taken there."""
    rng, n = np.random.default_rng(86), 6_000
    hubs = rng.integers(0, 60, 3 * n)
    i = np.concatenate([np.tile(np.arange(n), 3), np.arange(n - 1)])
    j = np.concatenate([hubs, np.arange(1, n)])
    W = sp.coo_array((np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    W.setdiag(0)
    W.eliminate_zeros()
    levels = cycles.Hierarchy(Graph(sp.csr_array(W + W.T)))
    first = levels.levels[0].A.nnz
    assert all(level.A.nnz <= 2 * first for level in levels.levels)

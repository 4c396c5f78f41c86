"""Answers that take seconds where the first modes cannot be had to many digits."""

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
from robustgc import Graph, RobustGC
from robustgc.estimators import components
from robustgc.estimators.saving.model import load, save
from robustgc.linalg import amg, cg, multigrid
from robustgc.linalg.deflated import DeflatedOperator
from robustgc.linalg.filters import DIFFUSION_TOL, LiftedFilters, diffusion_filters
from robustgc.linalg.ladder import SolverOptions
from robustgc.linalg.modes import LARGE_GRAPH_RESIDUAL
from robustgc.linalg.solution import NotConvergedError
from solving import relative


def labelled(rng, n, count=60, classes=3):
    y = np.full(n, -1)
    y[rng.choice(n, count, replace=False)] = np.arange(count) % classes
    return y


@pytest.mark.slow
def test_a_wheel_of_any_size_is_answered_by_the_ensemble():
    """Where its modes crowd is past what products of block Lanczos tell on smaller graphs, too."""
    W = graphs.wheel(31_000)
    clf = RobustGC(affinity="precomputed").fit(W, labelled(np.random.default_rng(81), 31_000))
    assert {attempt.solver for attempt in clf.history_} == {"krylov"}
    assert clf.residual_ < LARGE_GRAPH_RESIDUAL


@pytest.fixture
def fitted_without_modes(monkeypatch):
    """A fit of a graph whose modes cannot be had, as of a large graph."""
    fit = components.fit_component

    def without(problem, options, without_modes=None):
        if without_modes is None:
            raise NotConvergedError("no modes")
        return fit(problem, options, without_modes)

    monkeypatch.setattr(components, "fit_component", without)
    monkeypatch.setattr(components, "MEDIUM", 1_000)
    rng = np.random.default_rng(82)
    whole, classes = graphs.block_model(rng, 2_000), np.arange(2_000) // 1_000
    kept = graphs.nodes_of_largest_piece(whole)
    W, classes = whole[kept][:, kept], classes[kept]
    y = np.full(len(classes), -1)
    given = rng.choice(len(classes), 60, replace=False)
    y[given] = classes[given]
    y[given[:6]] = 1 - y[given[:6]]
    return RobustGC(affinity="precomputed").fit(W, y), W, classes, given


def test_without_modes_a_large_graph_is_answered_by_smooth_filters(fitted_without_modes):
    clf, W, classes, _given = fitted_without_modes
    assert [attempt.solver for attempt in clf.history_] == ["ensemble", "bounded"]
    assert clf.residual_ < 2e-3
    assert np.isfinite(clf.condition_bound_)
    assert clf.gamma_ < 0
    assert len(clf.predict(W[:5])) == 5
    assert np.mean(clf.transduction_ == classes) > 0.9


def test_without_modes_wrong_labels_are_told_and_labels_may_change(fitted_without_modes, tmp_path):
    clf, W, classes, given = fitted_without_modes
    issues = clf.label_issues()
    wrong = {int(node) for node, given in zip(issues.node[:6], issues.given[:6], strict=True)}
    assert len(wrong & set(given[:6].tolist())) >= 4
    assert not np.isin(clf.suggest_queries(3), given).any()
    clf.update({int(node): classes[node] for node in given[:6]})
    after = clf.label_issues()
    assert after.n_wrong < issues.n_wrong
    save(clf, tmp_path / "model")
    assert (load(tmp_path / "model").estimator.predict(W[:5]) == clf.predict(W[:5])).all()


def test_smooth_filters_are_zhougc():
    rng = np.random.default_rng(83)
    W = graphs.largest_piece(graphs.block_model(rng, 800))
    graph, Y = Graph(W), rng.standard_normal((W.shape[0], 2))
    found = diffusion_filters(graph, Y, "float64")
    L, none = graph.laplacian().toarray(), np.zeros(len(found.gammas), dtype=int)
    filters = LiftedFilters(graph, found.modes, none, found.gammas, SolverOptions(), exact=False)
    answers, residual, _ = filters.answer(Y, np.eye(len(none)), DIFFUSION_TOL)
    assert residual < 2e-3
    for answer, gamma in zip(answers, found.gammas, strict=True):
        exact = gamma * np.linalg.solve(L - gamma * np.eye(graph.n), graph.P0(Y))
        assert relative(answer, exact) < 2e-3
    assert found.limit >= np.linalg.eigvalsh(L)[1] - 1e-9


@pytest.mark.slow
def test_single_precision_is_refined_to_the_residual_that_double_precision_measures():
    W = graphs.grid(60, 60)
    graph, rng = Graph(W), np.random.default_rng(84)
    off, b = graph.v0[:, None], graph.P0(rng.standard_normal((3600, 3)))
    gamma, start = 0.5 * np.linalg.eigvalsh(graph.laplacian().toarray())[1], np.zeros((3600, 3))
    cycle = multigrid.hierarchy(graph)
    for tol in (1e-3, 1e-7):
        found = cg.solve_in_single_precision(graph, cycle, b, gamma, start, tol, off)
        rest = graph.P0(graph.L_N(found.f) - gamma * found.f) - b
        assert (graph.norms(rest) <= 1.01 * tol * graph.norms(b)).all()


def test_sums_that_are_added_to_every_third_time_are_complete():
    rng = np.random.default_rng(85)
    W = graphs.largest_piece(graphs.block_model(rng, 900))
    graph = Graph(W)
    values = np.linalg.eigvalsh(graph.laplacian().toarray())
    B, gammas = graph.P0(rng.standard_normal((graph.n, 2))), np.array([0.3, 0.5]) * values[1]
    off = DeflatedOperator(graph, np.empty((graph.n, 0)), values[1], "float64")
    mix = np.array([[1.0, 0.0], [0.5, 2.0]])
    for tol in (1e-6, 1e-7, 1e-8):  # degrees of any remainder
        found, _, _ = off.solve_combined(B, gammas, mix, tol)
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
    levels = amg.Hierarchy(Graph(sp.csr_array(W + W.T)))
    first = levels.levels[0].A.nnz
    assert all(level.A.nnz <= 2 * first for level in levels.levels)

"""RobustGC on one connected component: the paper's model, or an ensemble of candidates."""

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.choice.fit import ComponentFit, fit_component, weigh
from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.weights import Array
from robustgc.linalg.cost import ENSEMBLE_COLUMNS, refuse_if_too_large
from robustgc.linalg.deflated import DeflatedOperator
from robustgc.linalg.filters import diffusion_filters
from robustgc.linalg.ladder import Attempt, SolverOptions, dtype_and_tolerance, solve_robust
from robustgc.linalg.modes import LARGE_GRAPH_RESIDUAL, MEDIUM
from robustgc.linalg.solution import (
    Gammas,
    NotConvergedError,
    PathSolution,
    Solution,
    warn_if_inaccurate,
)
from robustgc.models.paper import condition_number_bound
from robustgc.transduction.answer import Certificate
from robustgc.transduction.problem import Problem

_ETA = 0.9  # the paper's, where its model answers in place of an ensemble


@dataclass(frozen=True)
class Component:
    """One component that was answered.

    Attributes
    ----------
    problem : Problem
        Its graph, its labels, and the parameters that the user has fixed.
    solution : Solution
    certificate : Certificate
    fit : ComponentFit or None
        The ensemble that has answered; None where it was the paper's model.
    Y : ndarray or None
        The label columns that the paper's model has answered.
    nodes : ndarray of int
        Its nodes in the whole graph.
    """

    problem: Problem
    solution: Solution
    certificate: Certificate
    fit: ComponentFit | None = None
    Y: Array | None = None
    nodes: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def graph(self) -> Graph:
        """The component."""
        return self.problem.graph


def answer_component(
    problem: Problem, Y: Array, psd: bool, options: SolverOptions, before: Component | None = None
) -> Component:
    """Answer one component.

    Parameters
    ----------
    problem : Problem
    Y : ndarray, shape (N, columns)
        The label columns of +1 / -1 / 0.
    psd : bool
        Whether the weights are positive semidefinite, for the bound on the condition number.
    options : SolverOptions
    before : Component or None
        The same graph answered with other labels, from which this answer starts.
    """
    if before is not None:  # the graph that knows its products and factors
        problem = replace(problem, graph=before.graph)
    graph = problem.graph
    if problem.parameters.of_the_paper:
        component = _by_the_paper(problem, Y, psd, options, before)
    else:
        refuse_if_too_large(
            graph, ENSEMBLE_COLUMNS * problem.n_classes, dtype_and_tolerance(graph, options)[0]
        )
        component = _by_ensemble(problem, Y, psd, options, before)
    tol = dtype_and_tolerance(graph, options)[1]
    # Modes to choose from are known to some digits only, and so are those of large graphs.
    exact = component.fit is None or graph.n <= (SMALL if problem.has_choice else MEDIUM)
    warn_if_inaccurate(
        component.solution,
        tol if exact or options.tol is not None else max(tol, LARGE_GRAPH_RESIDUAL),
    )
    return component


def weighed_fit(component: Component, options: SolverOptions) -> ComponentFit:
    """Return the ensemble of a component, its candidates weighed by the labels that it has now."""
    fit, problem = component.fit, component.problem
    if fit is not None:
        return fit if fit.is_weighed else weigh(problem, options, fit)
    try:
        return fit_component(problem, options)
    except NotConvergedError as failure:
        if not problem.has_choice or problem.graph.distributed:
            raise
        try:
            return _without_modes(problem, options)
        except NotConvergedError:  # on a small graph with weights of all sizes
            raise failure from None


def _by_the_paper(
    problem: Problem, Y: Array, psd: bool, options: SolverOptions, before: Component | None
) -> Component:
    """Solve Theorem 1's system; after a change of labels, for the difference only."""
    graph = problem.graph
    Y = Y * graph.placed(problem.nodes, problem.sample_weight)[:, None]
    if before is not None and before.Y is not None and graph.n > SMALL:
        old = before.certificate
        tol, change = dtype_and_tolerance(graph, options)[1], Y - before.Y
        size = float(np.linalg.norm(graph.norms(change)) / np.linalg.norm(graph.norms(Y)))
        f, residual, steps = before.solution.f, old.residual, 0
        if size:
            dtype = dtype_and_tolerance(graph, options)[0]
            rest = DeflatedOperator(graph, np.empty((graph.rows, 0)), old.lambda_1, dtype)
            gammas, share = np.array([old.gamma]), np.array([[old.gamma]])
            x, measured, steps = rest.solve_combined(change, gammas, share, min(1e-2, tol / size))
            f, residual = f + x[0], max(residual, measured * size)
        solution = Solution(f, residual, steps)
        certificate = replace(old, residual=residual, n_iter=steps)
        return Component(problem, solution, certificate, None, Y)
    refuse_if_too_large(graph, Y.shape[1], dtype_and_tolerance(graph, options)[0])
    eta = problem.parameters.eta or _ETA
    outcome, history = solve_robust(graph, Y, Gammas(etas=[eta]), options)
    certificate = _of_the_paper(graph, outcome, psd, history)
    return Component(problem, outcome.solutions[0], certificate, None, Y)


def _by_ensemble(
    problem: Problem, Y: Array, psd: bool, options: SolverOptions, before: Component | None
) -> Component:
    start, tried = time.perf_counter(), tuple[Attempt, ...]()
    reason = f"{problem.graph.n} nodes"
    old = before.fit if before is not None else None
    if old is not None and np.array_equal(old.problem.classes, problem.classes):
        fit, reason = old.with_labels(problem), "changed labels: only the difference"
    else:
        try:
            fit = fit_component(problem, options)
        except NotConvergedError as failure:
            if not problem.has_choice or problem.parameters.n_modes not in (None, 1):
                raise
            tried = (Attempt("ensemble", reason, str(failure), _since(start)),)
            if _needs_lambda_1(problem, options):
                component = _by_the_paper(problem, Y, psd, options, None)
                history = (*tried, *component.certificate.history)
                certificate = replace(component.certificate, history=history)
                return replace(component, certificate=certificate, Y=None)
            start, reason = time.perf_counter(), "no modes"
            fit = _without_modes(problem, options)
    f = _in_columns(fit.f, problem.classes, Y.shape[1])
    last = Attempt(fit.modes.method, reason, fit.modes.note, _since(start))
    solution = Solution(f, fit.residual, fit.n_iter)
    return Component(problem, solution, _of_the_ensemble(fit, psd, (*tried, last)), fit)


def _needs_lambda_1(problem: Problem, options: SolverOptions) -> bool:
    """Whether it is the paper's model that answers where an ensemble cannot.

    On large graphs it may take minutes to find lambda_1. Where nothing is wanted but an answer,
    there are filters that need none.
    """
    fixed = problem.parameters.eta is not None or options.tol is not None
    graph = problem.graph
    return fixed or options.solver != "auto" or graph.n <= MEDIUM or graph.distributed


def _without_modes(problem: Problem, options: SolverOptions) -> ComponentFit:
    """Weigh and answer by filters that need no modes."""
    graph, Y = problem.graph, problem.columns(problem.sample_weight)
    dtype = dtype_and_tolerance(graph, options)[0]
    return fit_component(
        problem, options, diffusion_filters(graph, Y, dtype, options.watching("bounded"))
    )


def _of_the_paper(
    graph: Graph, outcome: PathSolution, psd: bool, history: tuple[Attempt, ...]
) -> Certificate:
    """Return the evidence of one model."""
    solution, gamma, limit = outcome.solutions[0], outcome.gammas[0], outcome.lambda_1
    return Certificate(
        graph.n,
        solution.residual,
        solution.n_iter,
        extension=gamma,
        lambda_1=limit,
        gamma=gamma,
        condition_bound=condition_number_bound(limit, gamma, positive_semidefinite=psd),
        eigen_residual=outcome.eigen_residual,
        history=history,
    )


def _since(start: float) -> float:
    return time.perf_counter() - start


def _in_columns(f: Array, classes: NDArray[Any], columns: int) -> Array:
    """Return decision values in the shape of the estimators: one column for two classes."""
    if columns == 1:
        return np.asarray(f[:, 1:] - f[:, :1])
    if len(classes) == columns:
        return f
    out = np.zeros((len(f), columns))
    out[:, classes] = f
    return out


def _of_the_ensemble(fit: ComponentFit, psd: bool, history: tuple[Attempt, ...]) -> Certificate:
    """Return the evidence: that of the heaviest candidate where they differ."""
    candidates, values = fit.ensemble.candidates, fit.modes.values
    lifted = [(c.weight, c.n_modes, c.eta) for c in candidates if c.lifted and c.eta]
    if lifted:
        _, n_modes, eta = max(lifted)
        limit, lambda_1 = float(values[n_modes - 1]), float(values[0])
        gamma, shares = eta * limit, sum(w for w, *_ in lifted)
        mean = sum(w / shares * eta * float(values[q - 1]) for w, q, eta in lifted)
    else:  # ZhouGC's filters: any gamma below 0 is convex, whatever lambda_1
        of_filters = fit.ensemble.combination.heaviest
        gamma = mean = float(fit.label_filters.filters.gammas[of_filters])
        limit = lambda_1 = gamma / float(fit.label_filters.etas[of_filters])
    return Certificate(
        fit.problem.graph.n,
        fit.residual,
        fit.n_iter,
        extension=mean,
        lambda_1=lambda_1,
        gamma=gamma,
        condition_bound=condition_number_bound(limit, gamma, positive_semidefinite=psd),
        eigen_residual=fit.modes.residual,
        history=history,
        selection=tuple(sorted(candidates, key=lambda c: -c.weight))
        if fit.problem.has_choice
        else (),
    )

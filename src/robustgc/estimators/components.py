"""RobustGC on one connected component: the paper's model, or an ensemble of candidates."""

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.choice.candidates import heaviest_lifted
from robustgc.choice.fit import CHANGES_ADD, ComponentFit, fit_component, weigh
from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.weights import Array
from robustgc.linalg.cost import ENSEMBLE_COLUMNS, refuse_if_too_large
from robustgc.linalg.deflated import DeflatedOperator
from robustgc.linalg.filters import DiffusionFilters, diffusion_filters
from robustgc.linalg.ladder import Attempt, SolverOptions, dtype_and_tolerance, solve_robust
from robustgc.linalg.modes import LARGE_GRAPH_RESIDUAL, MEDIUM
from robustgc.linalg.solution import (
    Gammas,
    NotConvergedError,
    Solution,
    warn_if_inaccurate,
)
from robustgc.models.paper import condition_number_bound
from robustgc.transduction.answer import Certificate
from robustgc.transduction.problem import Problem

_ETA = 0.9  # the paper's, where its model answers in place of an ensemble


@dataclass(frozen=True)
class Component:
    """One component that was answered."""

    problem: Problem
    solution: Solution
    certificate: Certificate
    fit: ComponentFit | None = None  # the ensemble that has answered; or it was the paper's model
    # In the whole graph.
    nodes: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    _weighed: dict[SolverOptions, ComponentFit] = field(default_factory=dict, repr=False)

    @property
    def graph(self) -> Graph:
        """The component."""
        return self.problem.graph

    def weighed(self, options: SolverOptions) -> ComponentFit:
        """Return the ensemble, its candidates weighed by the labels of now; searched for once."""
        if self.fit is not None and self.fit.is_weighed:
            return self.fit
        if options not in self._weighed:
            self._weighed[options] = _weigh(self.problem, options, self.fit)
        return self._weighed[options]


def _weigh(problem: Problem, options: SolverOptions, before: ComponentFit | None) -> ComponentFit:
    """Weigh the candidates, without an answer for all nodes."""
    try:
        return weigh(problem, options, before)
    except NotConvergedError as failure:
        if before is not None or not problem.has_choice or problem.graph.distributed:
            raise
        try:
            return weigh(problem, options, without_modes=_without_modes(problem, options))
        except NotConvergedError:  # on a small graph with weights of all sizes
            raise failure from None


def answer_component(
    problem: Problem, options: SolverOptions, before: Component | None = None
) -> Component:
    """Answer one component.

    `before` is the same graph answered with other labels, from which this answer starts.
    """
    if before is not None:  # the graph that knows its products and factors
        problem = replace(problem, graph=before.graph)
    graph = problem.graph
    if problem.parameters.of_the_paper:
        component = _by_the_paper(problem, options, before)
    else:
        refuse_if_too_large(
            graph, ENSEMBLE_COLUMNS * problem.n_classes, dtype_and_tolerance(graph, options)[0]
        )
        component = _by_ensemble(problem, options, before)
    tol = dtype_and_tolerance(graph, options)[1]
    # Modes to choose from are known to some digits only, and so are those of large graphs.
    exact = component.fit is None or graph.n <= (SMALL if problem.has_choice else MEDIUM)
    tol = tol if exact or options.tol is not None else max(tol, LARGE_GRAPH_RESIDUAL)
    warn_if_inaccurate(component.solution, tol if before is None else tol * CHANGES_ADD)
    return component


def _by_the_paper(problem: Problem, options: SolverOptions, before: Component | None) -> Component:
    """Solve Theorem 1's system; after a change of labels, for the difference only."""
    graph, Y = problem.graph, problem.signed_columns()
    if before is not None and graph.n > SMALL:
        component = _by_difference(problem, Y, options, before)
        if component.solution.residual <= CHANGES_ADD * dtype_and_tolerance(graph, options)[1]:
            return component
    refuse_if_too_large(graph, Y.shape[1], dtype_and_tolerance(graph, options)[0])
    eta = problem.parameters.eta or _ETA
    outcome, history = solve_robust(graph, Y, Gammas(etas=[eta]), options)
    gamma, lambda_1 = outcome.gammas[0], outcome.lambda_1
    certificate = _certificate(
        *(problem, outcome.solutions[0], history),
        gamma=gamma, lambda_1=lambda_1, limit=lambda_1, extension=gamma,
        eigen_residual=outcome.eigen_residual,
    )  # fmt: skip
    return Component(problem, outcome.solutions[0], certificate)


def _by_difference(
    problem: Problem, Y: Array, options: SolverOptions, before: Component
) -> Component:
    """Add what changed labels make; the residuals add up."""
    graph, old, Y_before = problem.graph, before.certificate, before.problem.signed_columns()
    dtype, tol = dtype_and_tolerance(graph, options)
    norm, change = np.linalg.norm(graph.norms(Y)), Y - Y_before
    size = float(np.linalg.norm(graph.norms(change)) / norm)
    f, residual, steps = before.solution.f, old.residual, 0
    if size:
        rest = DeflatedOperator(graph, np.empty((graph.rows, 0)), old.lambda_1, dtype)
        gammas, share = np.array([old.gamma]), np.array([[old.gamma]])
        x, added, steps = rest.solve_combined(change, gammas, share, min(1e-2, tol / size))
        residual *= float(np.linalg.norm(graph.norms(Y_before)) / norm)
        f, residual = f + x[0], residual + added * size
    certificate = replace(old, residual=residual, n_iter=steps)
    return Component(problem, Solution(f, residual, steps), certificate)


def _by_ensemble(problem: Problem, options: SolverOptions, before: Component | None) -> Component:
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
                component = _by_the_paper(problem, options, None)
                history = (*tried, *component.certificate.history)
                return replace(
                    component, certificate=replace(component.certificate, history=history)
                )
            start, reason = time.perf_counter(), "no modes"
            fit = fit_component(problem, options, _without_modes(problem, options))
    f = _in_columns(fit.f, problem.classes, problem.n_columns)
    modes = fit.heaviest.view.modes
    last = Attempt(modes.method, reason, modes.note, _since(start))
    solution = Solution(f, fit.residual, fit.n_iter)
    return Component(problem, solution, _of_the_ensemble(fit, (*tried, last)), fit)


def _needs_lambda_1(problem: Problem, options: SolverOptions) -> bool:
    """Whether it is the paper's model that answers where an ensemble cannot.

    On large graphs it may take minutes to find lambda_1. Where nothing is wanted but an answer,
    there are filters that need none.
    """
    fixed = problem.parameters.eta is not None or options.tol is not None
    graph = problem.graph
    return fixed or options.solver != "auto" or graph.n <= MEDIUM or graph.distributed


def _without_modes(problem: Problem, options: SolverOptions) -> DiffusionFilters:
    """Return filters that need no modes."""
    graph, Y = problem.graph, problem.columns(problem.sample_weight)
    dtype = dtype_and_tolerance(graph, options)[0]
    return diffusion_filters(graph, Y, dtype, options.watching("bounded"))


def _certificate(
    problem: Problem,
    solved: Solution | ComponentFit,
    history: tuple[Attempt, ...],
    *,
    gamma: float,
    lambda_1: float,
    limit: float,
    **more: Any,
) -> Certificate:
    """Return the evidence of a solution; `limit` is the eigenvalue that gamma stays below."""
    psd = problem.positive_semidefinite
    bound = condition_number_bound(limit, gamma, positive_semidefinite=psd)
    return Certificate(
        *(problem.graph.n, solved.residual, solved.n_iter),
        gamma=gamma, lambda_1=lambda_1, condition_bound=bound, history=history, **more,
    )  # fmt: skip


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


def _of_the_ensemble(fit: ComponentFit, history: tuple[Attempt, ...]) -> Certificate:
    """Return the evidence: that of the heaviest candidate where they differ."""
    view, how = fit.heaviest.view, fit.heaviest.combination
    candidates, values = view.candidates, view.modes.values
    lifted = [(c.weight, c.n_modes, c.eta) for c in candidates if c.lifted and c.eta]
    best = heaviest_lifted(candidates)
    if best is not None and best.eta is not None:
        limit, lambda_1 = float(values[best.n_modes - 1]), float(values[0])
        gamma, shares = best.eta * limit, sum(w for w, *_ in lifted)
        mean = sum(w / shares * eta * float(values[q - 1]) for w, q, eta in lifted)
    else:  # ZhouGC's filters: any gamma below 0 is convex, whatever lambda_1
        gamma = mean = float(view.label_filters.filters.gammas[how.heaviest])
        limit = lambda_1 = gamma / float(view.label_filters.etas[how.heaviest])
    chosen = sorted(fit.ensemble.candidates, key=lambda c: -c.weight)
    return _certificate(
        *(fit.problem, fit, history),
        gamma=gamma, lambda_1=lambda_1, limit=limit, extension=mean,
        eigen_residual=view.modes.residual,
        selection=tuple(chosen) if fit.problem.has_choice else (),
    )  # fmt: skip

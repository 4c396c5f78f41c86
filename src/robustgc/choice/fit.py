"""RobustGC on one connected graph with nothing to tune: views, candidates, ensemble, answer."""

from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from robustgc.choice.ensemble import Combination, Ensemble, weigh_candidates
from robustgc.choice.view import View
from robustgc.graph import threads
from robustgc.graph.weights import Array
from robustgc.linalg.filters import DiffusionFilters, check_residual
from robustgc.linalg.ladder import SolverOptions
from robustgc.transduction.problem import Problem, sqrt_degree

_CHANGE_TOL = 1e-2  # of the difference that changed labels make, at most
# Residuals of changes add up; where they reach so many times the tolerance all is solved anew.
CHANGES_ADD = 4.0


@dataclass(frozen=True)
class ViewAnswer:
    """What the candidates of one view say, with their coefficients in the ensemble."""

    view: View  # with the labels that are answered
    combination: Combination
    label_weights: Array  # sample weights times those by the posterior of the label, (labels,)
    filter_sum: Array  # sum_k a_k K_k Y, (N, K)
    regression_sum: Array  # the regressions with their coefficients, (N, K)
    residual: float = np.nan
    n_iter: int = 0

    @property
    def column_weights(self) -> Array:
        """Label weights times degree weights: the entries of Y, shape (labels,)."""
        return self.label_weights * self.view.problem.degree_weights()

    @property
    def f(self) -> Array:
        """Decision values of `Combination`, shape (N, K)."""
        problem, graph, how = self.view.problem, self.view.problem.graph, self.combination
        weights, sums = self.column_weights, self.filter_sum
        if not problem.balanced:
            return sums
        mass = problem.class_mass(weights)
        if how.constant:
            Y = problem.columns(weights)
            sums = sums + how.constant * np.outer(graph.v0, graph.inner(graph.v0, Y))
        present = mass > 0
        means = sums / np.where(present, mass, 1.0)
        means -= np.outer(sqrt_degree(graph), how.half_squared_means)
        means = np.where(present, means * mass[present].mean(), 0.0)
        return np.asarray(means + self.regression_sum)

    def with_labels(self, problem: Problem, label_weights: Array) -> "ViewAnswer":
        """Answer other labels with the same candidates: only the difference is solved for."""
        old, tol = self.view.problem, self.view.tol
        view = self.view.with_labels(problem.on(old.graph))
        answer = replace(self, view=view, label_weights=label_weights)
        before, now = self.column_weights, answer.column_weights
        difference = view.problem.columns(now) - old.columns(before)
        size = float(np.linalg.norm(old.graph.norms(difference)))
        if size == 0.0:
            return replace(answer, n_iter=0)
        norm = float(np.linalg.norm(now))
        carried = self.residual * float(np.linalg.norm(before)) / norm
        if carried > (CHANGES_ADD - 1) * tol:
            return answer.answered()
        filters, shares = view.label_filters.filters, self.combination.filters
        sums, residual, steps = filters.answer(
            difference, shares[None], min(_CHANGE_TOL, tol * norm / size)
        )
        return replace(
            answer,
            filter_sum=self.filter_sum + sums[0],
            residual=carried + residual * size / norm,
            n_iter=steps,
        )._with_regressions()

    def answered(self) -> "ViewAnswer":
        """Answer for all nodes."""
        view, how, filters = self.view, self.combination, self.view.label_filters.filters
        Y = view.problem.columns(self.column_weights)
        alone = np.zeros(len(filters.gammas))  # the heaviest filter: its residual is measured
        scale = view.label_filters.scales[how.heaviest] if view.problem.has_choice else 1.0
        alone[how.heaviest] = scale
        sums, residual, steps = filters.answer(Y, np.vstack([how.filters, alone]), view.tol)
        check_residual(residual, view.tol, view.modes)
        residual = max(residual, filters.rounding(Y, alone[None], sums[1:]))
        answer = replace(self, filter_sum=sums[0], residual=residual, n_iter=steps)
        return answer._with_regressions()

    def _with_regressions(self) -> "ViewAnswer":
        """Return the answer with the sum of the regressions at all nodes."""
        view, coefficients = self.view, self.combination.regressions
        total = np.zeros((view.problem.graph.rows, view.problem.n_classes))
        if view.ridges is not None and coefficients.any():
            with threads.single_blas:
                total = view.ridges.answer(self.label_weights, coefficients, view.tol)
        return replace(self, regression_sum=total)


@dataclass(frozen=True)
class ComponentFit:
    """The answer on one component, with everything that an audit or a change of labels starts from.

    Without features there is one view, the graph.
    """

    answers: tuple[ViewAnswer, ...]  # one for every view
    ensemble: Ensemble

    @property
    def heaviest(self) -> ViewAnswer:
        """The answer of the view that weighs most."""
        return self.answers[int(np.argmax(self.ensemble.view_weights))]

    @property
    def problem(self) -> Problem:
        """The labels that are answered, on the graph of the heaviest view."""
        return self.heaviest.view.problem

    @property
    def residual(self) -> float:
        """The largest over the views."""
        return max(answer.residual for answer in self.answers)

    @property
    def n_iter(self) -> int:
        """Steps of all views."""
        return sum(answer.n_iter for answer in self.answers)

    @property
    def is_weighed(self) -> bool:
        """Whether the candidates were weighed by the labels that are answered."""
        return self.problem.has_labels_of(self.ensemble.problem)

    @property
    def f(self) -> Array:
        """Decision values, the sum over the views, shape (N, K).

        Where there is a choice their unit is such that softmax makes them probabilities.
        """
        f = self.answers[0].f
        for answer in self.answers[1:]:
            f = f + answer.f
        return np.asarray(f * self.ensemble.sharpness if self.problem.has_choice else f)

    def with_labels(self, problem: Problem) -> "ComponentFit":
        """Answer other labels with the same candidates: only the difference is solved for."""
        weighed = self.ensemble.problem
        weights = self.ensemble.label_weights * weighed.sample_weight
        known = dict(zip(weighed.labels(), weights.tolist(), strict=True))
        # Labels that were weighed keep their weights, new ones count fully.
        now = np.array([known.get(label, label[2]) for label in problem.labels()])
        return replace(self, answers=tuple(a.with_labels(problem, now) for a in self.answers))


def fit_component(
    problem: Problem, options: SolverOptions, without_modes: DiffusionFilters | None = None
) -> ComponentFit:
    """Weigh the candidates, then answer for all nodes."""
    fit = weigh(problem, options, without_modes=without_modes)
    return replace(fit, answers=tuple(answer.answered() for answer in fit.answers))


def weigh(
    problem: Problem,
    options: SolverOptions,
    before: ComponentFit | None = None,
    without_modes: DiffusionFilters | None = None,
) -> ComponentFit:
    """Weigh the candidates by the labels, without an answer for all nodes.

    An earlier fit of nearly the same labels lends its modes and kernels.
    """
    graphs = problem.views or ((0.0, problem.graph),)
    old = [None] * len(graphs) if before is None else [answer.view for answer in before.answers]
    views = [
        View.of(problem.on(graph), options, known, without_modes).among(len(graphs), share)
        for (share, graph), known in zip(graphs, old, strict=True)
    ]
    with threads.single_blas:
        ensemble = weigh_candidates(views, None if before is None else before.ensemble.candidates)
    weighed, weights = iter(ensemble.candidates), ensemble.label_weights * problem.sample_weight
    nothing, answers = np.empty((0, 0)), []
    for view, how in zip(views, ensemble.combinations, strict=True):
        some = tuple(islice(weighed, len(view.candidates)))
        answers.append(ViewAnswer(replace(view, candidates=some), how, weights, nothing, nothing))
    return ComponentFit(tuple(answers), ensemble)

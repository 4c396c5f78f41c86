"""RobustGC on one connected graph with nothing to tune: modes, candidates, ensemble, answer."""

from dataclasses import dataclass, replace

import numpy as np

from robustgc.choice import candidates
from robustgc.choice.ensemble import Ensemble, weigh_candidates
from robustgc.choice.values import Ridges
from robustgc.graph import threads
from robustgc.graph.graph import SMALL
from robustgc.graph.weights import Array
from robustgc.linalg.eigenpairs import Eigenpairs
from robustgc.linalg.filters import DIFFUSION_TOL, DiffusionFilters, LiftedFilters, check_residual
from robustgc.linalg.ladder import SolverOptions, dtype_and_tolerance
from robustgc.linalg.modes import find_modes
from robustgc.models.label_filters import LabelFilters
from robustgc.transduction.problem import Problem, sqrt_degree

# By the digits that modes have on graphs of this size, and by time.
_SINGLE = 10_000  # nodes from which candidates are weighed in single precision throughout
_TOL = (1e-6, 1e-4)  # of an answer whose modes are chosen: up to so many nodes, and above
_COARSE_TOL = (1e-3, 1e-6)  # of leave-one-out answers: where there is a choice, and where not
_CHANGE_TOL = 1e-2  # of the difference that changed labels make, at most
# Residuals of changes add up; where they reach so many times the tolerance all is solved anew.
CHANGES_ADD = 4.0


@dataclass(frozen=True)
class ComponentFit:
    """The answer on one graph, with everything that an audit or a change of labels starts from."""

    problem: Problem  # with the labels that are answered
    modes: Eigenpairs
    spectrum: candidates.SpectralClarity
    label_filters: LabelFilters  # at the labels by which the candidates were weighed
    ensemble: Ensemble
    label_weights: Array  # sample weights times those by the posterior of the label, (labels,)
    filter_sum: Array  # sum_k a_k K_k Y, (N, K)
    ridges: Ridges | None  # of the labels that are answered
    regression_sum: Array  # the regressions with their coefficients, (N, K)
    residual: float
    n_iter: int
    tol: float  # relative residual that the answer was to reach

    @property
    def column_weights(self) -> Array:
        """Label weights times degree weights: the entries of Y, shape (labels,)."""
        return self.label_weights * self.problem.degree_weights()

    @property
    def is_weighed(self) -> bool:
        """Whether the candidates were weighed by the labels that are answered."""
        return self.problem.has_labels_of(self.ensemble.problem)

    @property
    def f(self) -> Array:
        """Decision values of `Combination`, shape (N, K).

        Where there is a choice their unit is such that softmax makes them probabilities.
        """
        problem, graph, how = self.problem, self.problem.graph, self.ensemble.combination
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
        f = np.where(present, means * mass[present].mean(), 0.0) + self.regression_sum
        return np.asarray(f * self.ensemble.sharpness if problem.has_choice else f)

    def with_labels(self, problem: Problem) -> "ComponentFit":
        """Answer other labels with the same candidates: only the difference is solved for."""
        ridges = self.ridges
        if ridges is not None:
            ridges = Ridges(problem, self.label_filters.at_nodes(problem.nodes))
        weights = self._kept_label_weights(problem)
        fit = replace(self, problem=problem, label_weights=weights, ridges=ridges)
        before, now = self.column_weights, fit.column_weights
        difference = problem.columns(now) - self.problem.columns(before)
        size = float(np.linalg.norm(problem.graph.norms(difference)))
        if size == 0.0:
            return replace(fit, n_iter=0)
        norm = float(np.linalg.norm(now))
        carried = self.residual * float(np.linalg.norm(before)) / norm
        if carried > (CHANGES_ADD - 1) * self.tol:
            return fit.answered()
        tol = min(_CHANGE_TOL, self.tol * norm / size)
        filters, shares = self.label_filters.filters, self.ensemble.combination.filters
        sums, residual, steps = filters.answer(difference, shares[None], tol)
        return replace(
            fit,
            filter_sum=self.filter_sum + sums[0],
            residual=carried + residual * size / norm,
            n_iter=steps,
        )._with_regressions()

    def answered(self) -> "ComponentFit":
        """Answer for all nodes."""
        problem, how, filters = self.problem, self.ensemble.combination, self.label_filters.filters
        Y = problem.columns(self.column_weights)
        alone = np.zeros(len(filters.gammas))  # the heaviest filter: its residual is measured
        alone[how.heaviest] = self.label_filters.scales[how.heaviest] if problem.has_choice else 1.0
        sums, residual, steps = filters.answer(Y, np.vstack([how.filters, alone]), self.tol)
        check_residual(residual, self.tol, self.modes)
        residual = max(residual, filters.rounding(Y, alone[None], sums[1:]))
        fit = replace(self, filter_sum=sums[0], residual=residual, n_iter=steps)
        return fit._with_regressions()

    def _with_regressions(self) -> "ComponentFit":
        """Return the fit with the sum of the regressions at all nodes."""
        coefficients = self.ensemble.combination.regressions
        total = np.zeros((self.problem.graph.rows, self.problem.n_classes))
        if self.ridges is not None and coefficients.any():
            with threads.single_blas:
                total = self.ridges.answer(self.label_weights, coefficients, self.tol)
        return replace(self, regression_sum=total)

    def _kept_label_weights(self, problem: Problem) -> Array:
        """Return label weights: labels that were weighed keep theirs, new ones count fully."""
        weighed = self.ensemble.problem
        weights = self.ensemble.label_weights * weighed.sample_weight
        known = dict(zip(weighed.labels(), weights.tolist(), strict=True))
        return np.array([known.get(label, label[2]) for label in problem.labels()])


def fit_component(
    problem: Problem, options: SolverOptions, without_modes: DiffusionFilters | None = None
) -> ComponentFit:
    """Weigh the candidates, then answer for all nodes."""
    return weigh(problem, options, without_modes=without_modes).answered()


def weigh(
    problem: Problem,
    options: SolverOptions,
    before: ComponentFit | None = None,
    without_modes: DiffusionFilters | None = None,
) -> ComponentFit:
    """Weigh the candidates by the labels, without an answer for all nodes.

    An earlier fit of nearly the same labels lends its modes and kernels. Without modes all kernels
    are ZhouGC's.
    """
    options, tol, coarse = _precision(problem, options)
    graph, exact = problem.graph, not problem.has_choice
    known, earlier = None, None
    if before is not None:
        modes, known, earlier = before.modes, before.label_filters, before.ensemble.candidates
    elif without_modes is None:
        Y, count = problem.columns(problem.sample_weight), candidates.wanted_modes(problem) + 1
        modes = find_modes(graph, count, Y[:, 1:] - Y[:, :1], options, exact=exact)
    else:
        modes, tol = without_modes.modes, max(tol, DIFFUSION_TOL)
    spectrum = before.spectrum if before else candidates.SpectralClarity.of(problem, modes)
    with threads.single_blas:
        if known is not None:
            pairs, filters = tuple(known.pairs), known.filters
        else:
            if without_modes is None:
                pairs = candidates.kernels(problem, modes, spectrum)
                gammas = [eta * modes.values[q - 1] for q, eta in pairs]
            else:
                gammas = without_modes.gammas.tolist()
                pairs = tuple((0, gamma / without_modes.limit) for gamma in gammas)
            numbers = [q for q, _ in pairs]
            filters = LiftedFilters(graph, modes, numbers, gammas, options, exact=exact)
        etas = [eta for _, eta in pairs]
        label_filters = LabelFilters(filters, etas, problem.nodes, coarse, known)
        some = candidates.all_candidates(problem, pairs, spectrum)
        ridges = None if some[-1].is_filter else Ridges(problem, label_filters)
        ensemble = weigh_candidates(problem, some, label_filters, ridges, earlier)
    weights, nothing = ensemble.label_weights * problem.sample_weight, np.empty((0, 0))
    return ComponentFit(
        *(problem, modes, spectrum, label_filters, ensemble, weights, nothing, ridges, nothing),
        residual=np.nan,
        n_iter=0,
        tol=tol,
    )


def _precision(problem: Problem, options: SolverOptions) -> tuple[SolverOptions, float, float]:
    """Return options with the precision that weights are worth, and two tolerances.

    These are of the answer, and of what it says without each label.
    """
    free = problem.has_choice and options.tol is None
    if free and options.dtype == "auto" and problem.graph.n > _SINGLE:
        options = replace(options, dtype="float32")
    tol = dtype_and_tolerance(problem.graph, options)[1]
    if free and problem.graph.n > SMALL:
        tol = max(tol, _TOL[problem.graph.n > _SINGLE])  # modes have no more digits
    return options, tol, max(tol, _COARSE_TOL[not problem.has_choice])

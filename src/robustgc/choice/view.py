"""One view of the nodes: its modes, the candidates on it, and what these need at the labels.

Without features there is one view, the graph itself. With them the graph, the features and their
mixtures are views of the same nodes, and the candidates on all of them are weighed together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from robustgc.choice import candidates
from robustgc.choice.candidates import Candidate, SpectralClarity
from robustgc.choice.values import LabelValues, Ridges
from robustgc.graph import threads
from robustgc.graph.graph import SMALL
from robustgc.graph.weights import Array
from robustgc.linalg.eigenpairs import Eigenpairs
from robustgc.linalg.filters import DIFFUSION_TOL, DiffusionFilters, LiftedFilters
from robustgc.linalg.ladder import SolverOptions, dtype_and_tolerance
from robustgc.linalg.modes import find_modes
from robustgc.models.label_filters import LabelFilters
from robustgc.transduction.problem import Problem

# By the digits that modes have on graphs of this size, and by time.
_SINGLE = 10_000  # nodes from which candidates are weighed in single precision throughout
_TOL = (1e-6, 1e-4)  # of an answer whose modes are chosen: up to so many nodes, and above
_COARSE_TOL = (1e-3, 1e-6)  # of leave-one-out answers: where there is a choice, and where not


@dataclass(frozen=True)
class View:
    """The candidates on one graph of the nodes."""

    problem: Problem  # on the graph of this view
    modes: Eigenpairs
    spectrum: SpectralClarity
    label_filters: LabelFilters  # at the labels by which the candidates are weighed
    ridges: Ridges | None  # of the labels that are answered
    candidates: tuple[Candidate, ...]  # with their prior; once they are weighed, with their weight
    tol: float  # relative residual that an answer is to reach

    @classmethod
    def of(
        cls,
        problem: Problem,
        options: SolverOptions,
        before: "View | None" = None,
        without_modes: DiffusionFilters | None = None,
    ) -> "View":
        """Find the modes, and build the candidates.

        A view of nearly the same labels lends its modes and kernels. Without modes all kernels are
        ZhouGC's.
        """
        options, tol, coarse = _precision(problem, options)
        if without_modes is not None:
            tol = max(tol, DIFFUSION_TOL)
        modes = before.modes if before else _modes(problem, options, without_modes)
        spectrum = before.spectrum if before else SpectralClarity.of(problem, modes)
        known = before.label_filters if before else None
        with threads.single_blas:
            if known is not None:
                pairs, filters = tuple(known.pairs), known.filters
            else:
                pairs, filters = _filters(problem, modes, spectrum, options, without_modes)
            etas = [eta for _, eta in pairs]
            label_filters = LabelFilters(filters, etas, problem.nodes, coarse, known)
            some = candidates.all_candidates(problem, pairs, spectrum)
            ridges = None if some[-1].is_filter else Ridges(problem, label_filters)
        return cls(problem, modes, spectrum, label_filters, ridges, some, tol)

    def among(self, count: int, features: float) -> "View":
        """Return the view as one of several: its share of the prior, and that of the features."""
        some = (replace(c, weight=c.weight / count, features=features) for c in self.candidates)
        return replace(self, candidates=tuple(some))

    def with_labels(self, problem: Problem) -> "View":
        """Return the view with other labels."""
        ridges = self.ridges
        if ridges is not None:
            ridges = Ridges(problem, self.label_filters.at_nodes(problem.nodes))
        return replace(self, problem=problem, ridges=ridges)

    def values(self, some: Sequence[Candidate], w: Array) -> LabelValues:
        """Return what some candidates say at every label without it, from weights of the labels."""
        return LabelValues(self.problem, some, self.label_filters, self.ridges, w)


def _modes(
    problem: Problem, options: SolverOptions, without_modes: DiffusionFilters | None
) -> Eigenpairs:
    if without_modes is not None:
        return without_modes.modes
    Y, count = problem.columns(problem.sample_weight), candidates.wanted_modes(problem) + 1
    exact = not problem.has_choice
    return find_modes(problem.graph, count, Y[:, 1:] - Y[:, :1], options, exact=exact)


def _filters(
    problem: Problem,
    modes: Eigenpairs,
    spectrum: SpectralClarity,
    options: SolverOptions,
    without_modes: DiffusionFilters | None,
) -> tuple[tuple[tuple[int, float], ...], LiftedFilters]:
    """Return n_modes and eta of the kernels, and the filters that apply them."""
    if without_modes is None:
        pairs = candidates.kernels(problem, modes, spectrum)
        gammas = [eta * modes.values[q - 1] for q, eta in pairs]
    else:
        gammas = without_modes.gammas.tolist()
        pairs = tuple((0, gamma / without_modes.limit) for gamma in gammas)
    numbers, exact = [q for q, _ in pairs], not problem.has_choice
    return pairs, LiftedFilters(problem.graph, modes, numbers, gammas, options, exact=exact)


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

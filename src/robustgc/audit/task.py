"""RobustGC component by component: the problem, its solution, what a changed label changes."""

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.audit.issues import LabelIssues, component_issues, label_issues
from robustgc.choice.asked import Model
from robustgc.choice.fit import ComponentFit, fit_component, weigh
from robustgc.choice.problem import Problem
from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.weights import Array, Weights
from robustgc.linalg.bounded import diffusions
from robustgc.linalg.cost import ENSEMBLE, refuse_if_too_large
from robustgc.linalg.deflated import Complement
from robustgc.linalg.ladder import Attempt, Options, precision, solve_robust
from robustgc.linalg.lifted import MEDIUM, WORST
from robustgc.linalg.solution import NotConvergedError, Outcome, Shifts, Solution, reported
from robustgc.models.paper import bound
from robustgc.transduction.answer import Certificate
from robustgc.transduction.labels import Labels


@dataclass(frozen=True)
class Piece:
    """One component that was solved.

    `Y` are the columns that the paper's model has answered, `fit` what is known where it is not the
    paper's model; `nodes` are those of the component in the whole graph.
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


class Task:
    """A model, labels with their sizes, and the components solved so far.

    Parameters
    ----------
    W : weights from `check_weights`
    labels : Labels
    sizes : ndarray, shape (N,)
    model : Model
    earlier : dict
        Pieces of a fit with other labels on the same graph, from which this one starts.
    """

    def __init__(
        self,
        W: Weights,
        labels: Labels,
        sizes: Array,
        model: Model,
        earlier: dict[int, Piece] | None = None,
    ) -> None:
        self.W, self.labels, self.sizes, self.model = W, labels, sizes, model
        self.pieces: dict[int, Piece] = {}
        self._earlier = earlier or {}
        codes = labels.codes
        self._mass = np.bincount(
            codes[codes >= 0], weights=sizes[codes >= 0], minlength=len(labels.classes)
        )

    def solve(
        self, graph: Graph, Y: Array, psd: bool, options: Options
    ) -> tuple[Solution, Certificate]:
        """Answer one component; Y are its columns of +1 / -1 / 0."""
        nodes = np.arange(graph.n) if graph._nodes is None else np.asarray(graph._nodes)
        codes = self.labels.codes[nodes]
        labelled = np.flatnonzero(codes >= 0)
        here = nodes[labelled]
        before = self._earlier.get(int(nodes[0]))
        problem = self.problem(graph, labelled, here, codes[labelled], self.sizes[here])
        piece = self.answer(problem, Y, psd, options, before)
        self.pieces[int(nodes[0])] = replace(piece, nodes=nodes)
        return piece.solution, piece.certificate

    def answer(
        self,
        problem: Problem,
        Y: Array,
        psd: bool,
        options: Options,
        before: Piece | None = None,
    ) -> Piece:
        """Answer one component; Y are its columns of +1 / -1 / 0."""
        if before is not None:  # the graph that knows its products and factors
            problem = replace(problem, graph=before.graph)
        graph = problem.graph
        if self.model.of_the_paper:
            assert self.model.eta is not None
            piece = self._by_the_paper(problem, Y, psd, options, before, self.model.eta)
        else:
            refuse_if_too_large(graph, ENSEMBLE * problem.n_classes, precision(graph, options)[0])
            piece = self._by_ensemble(problem, Y, psd, options, before)
        tol = precision(graph, options)[1]
        # Modes to choose from are known to some digits only, and so are those of large graphs.
        exact = piece.fit is None or graph.n <= (SMALL if problem.has_choice else MEDIUM)
        reported(piece.solution, tol if exact or options.tol is not None else max(tol, WORST))
        return piece

    def issues(self, options: Options) -> LabelIssues:
        """Return what all labels say of each other."""
        given = np.flatnonzero(self.labels.codes >= 0)
        found = (component_issues(self.fit(piece, options)) for piece in self.pieces.values())
        return label_issues(found, given, self.labels.codes[given], self.labels.classes)

    def problem(
        self,
        graph: Graph,
        nodes: NDArray[Any],
        names: NDArray[Any],
        codes: NDArray[np.int64],
        sizes: Array,
    ) -> Problem:
        """Return the problem of one component.

        Parameters
        ----------
        graph : Graph
        nodes, names : ndarray of int
            The labelled nodes by their places in the component, and in the whole graph.
        codes, sizes : ndarray
            Classes and sample weights of these labels.
        """
        classes, local = np.unique(codes, return_inverse=True)
        here = np.bincount(local, weights=sizes, minlength=len(classes))
        elsewhere = np.maximum(self._mass[classes] - here, 0.0)
        elsewhere[elsewhere < 1e-9 * self._mass.max()] = 0.0
        others = bool(elsewhere.any() or np.delete(self._mass, classes).any())
        codes = local.astype(np.int64)
        return Problem(graph, nodes, codes, sizes, elsewhere, others, self.model, classes, names)

    def _by_the_paper(
        self,
        problem: Problem,
        Y: Array,
        psd: bool,
        options: Options,
        before: Piece | None,
        eta: float,
    ) -> Piece:
        """Solve Theorem 1's system; after a change of labels, for the difference only."""
        graph = problem.graph
        Y = Y * graph.placed(problem.nodes, problem.sample_weight)[:, None]
        if before is not None and before.Y is not None and graph.n > SMALL:
            old = before.certificate
            tol, change = precision(graph, options)[1], Y - before.Y
            size = float(np.linalg.norm(graph.norms(change)) / np.linalg.norm(graph.norms(Y)))
            f, residual, steps = before.solution.f, old.residual, 0
            if size:
                dtype = precision(graph, options)[0]
                rest = Complement(graph, np.empty((graph.rows, 0)), old.lambda_1, dtype)
                gammas, share = np.array([old.gamma]), np.array([[old.gamma]])
                x, measured, steps = rest.mixed(change, gammas, share, min(1e-2, tol / size))
                f, residual = f + x[0], max(residual, measured * size)
            solution = Solution(f, residual, steps)
            certificate = replace(old, residual=residual, n_iter=steps)
            return Piece(problem, solution, certificate, None, Y)
        refuse_if_too_large(graph, Y.shape[1], precision(graph, options)[0])
        outcome, history = solve_robust(graph, Y, Shifts(etas=[eta]), options)
        certificate = _of_the_paper(graph, outcome, psd, history)
        return Piece(problem, outcome.solutions[0], certificate, None, Y)

    def _by_ensemble(
        self, problem: Problem, Y: Array, psd: bool, options: Options, before: Piece | None
    ) -> Piece:
        start, tried = time.perf_counter(), tuple[Attempt, ...]()
        reason = f"{problem.graph.n} nodes"
        old = before.fit if before is not None else None
        if old is not None and np.array_equal(old.problem.classes, problem.classes):
            fit, reason = old.with_labels(problem), "changed labels: only the difference"
        else:
            try:
                fit = fit_component(problem, options)
            except NotConvergedError as failure:
                if not problem.has_choice or self.model.n_modes not in (None, 1):
                    raise
                tried = (Attempt("ensemble", reason, str(failure), _since(start)),)
                if self._needs_lambda_1(problem.graph, options):
                    piece = self._by_the_paper(
                        problem, Y, psd, options, None, self.model.eta or 0.9
                    )
                    history = (*tried, *piece.certificate.history)
                    return replace(
                        piece, certificate=replace(piece.certificate, history=history), Y=None
                    )
                start, reason = time.perf_counter(), "no modes"
                fit = _without_modes(problem, options)
        f = spread(fit.f, problem.classes, Y.shape[1])
        last = Attempt(fit.modes.engine, reason, fit.modes.note, _since(start))
        solution = Solution(f, fit.residual, fit.n_iter)
        return Piece(problem, solution, certify(fit, psd, (*tried, last)), fit)

    def _needs_lambda_1(self, graph: Graph, options: Options) -> bool:
        """Whether it is the paper's model that answers where an ensemble cannot.

        On large graphs it may take minutes to find lambda_1. Where nothing was asked for but an
        answer, there are filters that need none.
        """
        asked = self.model.eta is not None or options.tol is not None or options.solver != "auto"
        return asked or graph.n <= MEDIUM or graph.spread is not None

    def fit(self, piece: Piece, options: Options) -> ComponentFit:
        """Return the fit of a component whose candidates were weighed by its labels."""
        if piece.fit is not None:
            return piece.fit if piece.fit.is_weighed else weigh(piece.problem, options, piece.fit)
        try:
            return fit_component(piece.problem, options)
        except NotConvergedError:
            if not piece.problem.has_choice or piece.graph.spread is not None:
                raise
            return _without_modes(piece.problem, options)


def _without_modes(problem: Problem, options: Options) -> ComponentFit:
    """Weigh and answer by filters that need no modes."""
    graph, Y = problem.graph, problem.columns(problem.sample_weight)
    dtype = precision(graph, options)[0]
    return fit_component(problem, options, diffusions(graph, Y, dtype, options.watching("bounded")))


def _of_the_paper(
    graph: Graph, outcome: Outcome, psd: bool, history: tuple[Attempt, ...]
) -> Certificate:
    """Return the evidence of one model."""
    solution, gamma, limit = outcome.solutions[0], outcome.gammas[0], outcome.lambda_1
    top = 1.0 if psd else 2.0
    return Certificate(
        graph.n,
        solution.residual,
        solution.n_iter,
        extension=gamma,
        lambda_1=limit,
        gamma=gamma,
        condition_bound=(top - gamma) / (limit - gamma),
        eigen_residual=outcome.eigen_residual,
        history=history,
    )


def _since(start: float) -> float:
    return time.perf_counter() - start


def spread(f: Array, classes: NDArray[Any], columns: int) -> Array:
    """Return decision values in the shape of the estimators: one column for two classes."""
    if columns == 1:
        return np.asarray(f[:, 1:] - f[:, :1])
    if len(classes) == columns:
        return f
    out = np.zeros((len(f), columns))
    out[:, classes] = f
    return out


def certify(fit: ComponentFit, psd: bool, history: tuple[Attempt, ...]) -> Certificate:
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
        condition_bound=bound(limit, gamma, positive_semidefinite=psd),
        eigen_residual=fit.modes.residual,
        history=history,
        selection=tuple(sorted(candidates, key=lambda c: -c.weight))
        if fit.problem.has_choice
        else (),
    )

"""RobustGC component by component: what was asked, what was found, what a changed label changes."""

import time
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustgc.asked import Model
from robustgc.audit import LabelIssues, judgement, label_issues
from robustgc.choice.fit import rule, ruled_again
from robustgc.choice.problem import Question, Ruling, votes
from robustgc.complement import Complement
from robustgc.cost import COMMITTEE, refuse_if_too_large
from robustgc.engines import Attempt, Options, precision, solve_robust
from robustgc.graph import SMALL, Graph
from robustgc.labels import Labels
from robustgc.lifted import MEDIUM, WORST
from robustgc.models import bound
from robustgc.outcome import NotConvergedError, Shifts, Solution, reported
from robustgc.transduction import Certificate
from robustgc.weights import Array, Weights


class Given(NamedTuple):
    """The labels of one component: their places in it, their nodes, classes and sizes."""

    places: NDArray[Any]
    nodes: NDArray[Any]
    codes: NDArray[np.int64]
    sizes: Array


@dataclass(frozen=True)
class Piece:
    """One component that was solved."""

    graph: Graph
    nodes: NDArray[Any]
    classes: NDArray[Any]
    question: Question
    solution: Solution
    certificate: Certificate
    ruling: Ruling | None = None
    Y: Array | None = None  # of the paper's model: the columns that were answered
    labelled: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=np.int64))


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
        given = Given(labelled, here, codes[labelled], self.sizes[here])
        piece = self.answer(graph, Y, given, psd, options, before)
        self.pieces[int(nodes[0])] = replace(piece, nodes=nodes)
        return piece.solution, piece.certificate

    def answer(
        self,
        graph: Graph,
        Y: Array,
        given: Given,
        psd: bool,
        options: Options,
        before: Piece | None = None,
    ) -> Piece:
        """Answer one component from its labels."""
        graph = graph if before is None else before.graph
        question, classes = self._question(given)
        if self.model.of_the_paper:
            assert self.model.eta is not None
            piece = self._by_the_paper(graph, Y, psd, options, question, before, self.model.eta)
        else:
            refuse_if_too_large(graph, COMMITTEE * question.n_classes, precision(graph, options)[0])
            piece = self._by_committee(graph, Y, psd, options, question, classes, before)
        tol = precision(graph, options)[1]
        # Modes to choose from are known to some digits only, and so are those of large graphs.
        exact = piece.ruling is None or graph.n <= (SMALL if question.free else MEDIUM)
        reported(piece.solution, tol if exact or options.tol is not None else max(tol, WORST))
        return replace(piece, labelled=given.nodes, classes=classes)

    def issues(self, options: Options) -> LabelIssues:
        """Return what all labels say of each other."""
        given = np.flatnonzero(self.labels.codes >= 0)
        found = (
            judgement(self.ruling(piece, options), piece.labelled, piece.classes)
            for piece in self.pieces.values()
        )
        return label_issues(found, given, self.labels.codes[given], self.labels.classes)

    def _question(self, given: Given) -> tuple[Question, NDArray[Any]]:
        classes, local = np.unique(given.codes, return_inverse=True)
        size = given.sizes
        here = np.bincount(local, weights=size, minlength=len(classes))
        elsewhere = np.maximum(self._mass[classes] - here, 0.0)
        elsewhere[elsewhere < 1e-9 * self._mass.max()] = 0.0
        question = Question(
            given.places,
            local.astype(np.int64),
            len(classes),
            size,
            elsewhere,
            bool(elsewhere.any() or np.delete(self._mass, classes).any()),
            self.model.eta,
            self.model.n_modes,
            self.model.balanced,
        )
        return question, classes

    def _by_the_paper(
        self,
        graph: Graph,
        Y: Array,
        psd: bool,
        options: Options,
        question: Question,
        before: Piece | None,
        eta: float,
    ) -> Piece:
        """Solve Theorem 1's system; after a change of labels, for the difference only."""
        Y = Y * graph.placed(question.nodes, question.size)[:, None]
        nothing = np.empty(0)
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
            return Piece(graph, nothing, nothing, question, solution, certificate, None, Y)
        refuse_if_too_large(graph, Y.shape[1], precision(graph, options)[0])
        outcome, history = solve_robust(graph, Y, Shifts(etas=[eta]), options)
        solution, gamma, limit = outcome.solutions[0], outcome.gammas[0], outcome.lambda_1
        certificate = Certificate(
            graph.n,
            solution.residual,
            solution.n_iter,
            extension=gamma,
            lambda_1=limit,
            gamma=gamma,
            condition_bound=bound(limit, gamma, positive_semidefinite=psd),
            eigen_residual=outcome.eigen_residual,
            history=history,
        )
        return Piece(graph, nothing, nothing, question, solution, certificate, None, Y)

    def _by_committee(
        self,
        graph: Graph,
        Y: Array,
        psd: bool,
        options: Options,
        question: Question,
        classes: NDArray[Any],
        before: Piece | None,
    ) -> Piece:
        start = time.perf_counter()
        old = before.ruling if before is not None else None
        same = before is not None and np.array_equal(before.classes, classes)
        if old is not None and same:
            ruling = old.changed(question, _weights(old, question))
            reason = "changed labels: only the difference"
        else:
            try:
                ruling, reason = rule(graph, question, options), f"{graph.n} nodes"
            except NotConvergedError as failure:
                if not question.free or self.model.n_modes not in (None, 1):
                    raise
                # The paper's model has engines that need no more than lambda_1.
                tried = Attempt("committee", f"{graph.n} nodes", str(failure), _since(start))
                piece = self._by_the_paper(
                    graph, Y, psd, options, question, None, self.model.eta or 0.9
                )
                known = replace(piece.certificate, history=(tried, *piece.certificate.history))
                return replace(piece, certificate=known, Y=None)
        f = spread(ruling.f, classes, Y.shape[1])
        tried = Attempt(ruling.modes.engine, reason, ruling.modes.note, _since(start))
        return Piece(
            graph,
            np.empty(0),
            classes,
            question,
            Solution(f, ruling.residual, ruling.n_iter),
            certify(ruling, psd, (tried,)),
            ruling,
        )

    def ruling(self, piece: Piece, options: Options) -> Ruling:
        """Return what the labels of a component say of each other."""
        if piece.ruling is not None and piece.ruling.fresh:
            return piece.ruling
        if piece.ruling is not None:
            return ruled_again(piece.ruling, options)
        return rule(piece.graph, piece.question, options)


def _since(start: float) -> float:
    return time.perf_counter() - start


def _weights(old: Ruling, question: Question) -> Array:
    """Return label weights: labels as they were judged keep theirs, new ones count fully."""
    judged, verdict = old.verdict
    weight = question.size * votes(old.graph, question.nodes, old.most)
    known = {
        (int(node), int(code)): (w, size)
        for node, code, w, size in zip(
            judged.nodes, judged.codes, verdict, judged.size, strict=True
        )
    }
    for k, key in enumerate(zip(question.nodes, question.codes, strict=True)):
        was = known.get((int(key[0]), int(key[1])))
        if was is not None and was[1] == question.size[k]:
            weight[k] = was[0]
    return np.asarray(weight)


def spread(f: Array, classes: NDArray[Any], columns: int) -> Array:
    """Return decision values in the shape of the estimators: one column for two classes."""
    if columns == 1:
        return np.asarray(f[:, 1:] - f[:, :1])
    if len(classes) == columns:
        return f
    out = np.zeros((len(f), columns))
    out[:, classes] = f
    return out


def certify(ruling: Ruling, psd: bool, history: tuple[Attempt, ...]) -> Certificate:
    """Return the evidence: of the heaviest member where members differ."""
    candidates = ruling.committee.candidates
    values = ruling.modes.values
    lifted = [(c.weight, c.n_modes, c.eta) for c in candidates if c.lifted and c.eta]
    _, n_modes, eta = max(lifted)
    limit = float(values[n_modes - 1])
    gamma = eta * limit
    shares = sum(w for w, *_ in lifted)
    mean = sum(w / shares * eta * float(values[q - 1]) for w, q, eta in lifted)
    return Certificate(
        ruling.graph.n,
        ruling.residual,
        ruling.n_iter,
        extension=mean,
        lambda_1=float(values[0]),
        gamma=gamma,
        condition_bound=bound(limit, gamma, positive_semidefinite=psd),
        eigen_residual=ruling.modes.residual,
        history=history,
        selection=tuple(sorted(candidates, key=lambda c: -c.weight))
        if ruling.question.free
        else (),
    )

"""RobustGC on one connected graph with nothing to tune: modes, candidates, committee, answer."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.committee import DEFAULT_ETA, ETAS, Committee, convene
from robustgc.engines import Options, precision
from robustgc.graph import SMALL, Graph
from robustgc.heldout import HeldOut
from robustgc.lifted import MEDIUM, Filters, Modes, check_residual, find_modes
from robustgc.weights import Array

_DROP = 0.01  # beside the heaviest, a member that light is not worth a solve
_MOST_MODES = 60
_CONSTANT = 2.0  # weight of the constant on a piece of a larger graph, its smoothest mode
_WITNESSES = 4  # labels of a piece that give half of that: one label is no majority
_WIDER = 3.0  # a gap behind one mode more than K classes need must be that much wider


@dataclass(frozen=True)
class Question:
    """Labels on one connected graph, and what was asked of the model.

    Attributes
    ----------
    nodes, codes : ndarray of int
        The labelled nodes and their classes, 0 .. n_classes - 1.
    size : ndarray
        Weight of every label.
    elsewhere : ndarray, shape (n_classes,)
        Label mass of the classes in other components.
    component : bool
        Whether other components have labels: then the constant on this one is a mode as any.
    eta, n_modes : number or None
        None: to be chosen.
    balanced : bool
        Whether classes count alike where nothing is to be chosen.
    """

    nodes: NDArray[Any]
    codes: NDArray[np.int64]
    n_classes: int
    size: Array
    elsewhere: Array
    component: bool
    eta: float | None
    n_modes: int | None
    balanced: bool = False

    @property
    def free(self) -> bool:
        """Whether there is anything to choose."""
        return self.eta is None or self.n_modes is None

    def columns(self, n: int, weight: Array) -> Array:
        """Return a column per class with the label weights."""
        Y = np.zeros((n, self.n_classes))
        Y[self.nodes, self.codes] = weight
        return Y


@dataclass(frozen=True)
class Ruling:
    """The answer on one graph with everything that led to it.

    Attributes
    ----------
    sums : ndarray, shape (2, N, K)
        Answers of the balanced and of the counting members to the label columns, before the
        classes are put on one scale.
    judged : tuple of Question and ndarray, or None
        The labels that the committee has judged, and their weights; None: these ones.
    """

    graph: Graph
    question: Question
    modes: Modes
    committee: Committee
    heldout: HeldOut
    mix: Array
    pulled: Array
    weight: Array
    sums: Array
    residual: float
    n_iter: int
    tol: float
    judged: tuple[Question, Array] | None = None

    @property
    def fresh(self) -> bool:
        """Whether the committee has judged these labels."""
        return self.judged is None

    @property
    def verdict(self) -> tuple[Question, Array]:
        """The labels that the committee has judged, and their weights."""
        return self.judged or (self.question, self.weight)

    @property
    def f(self) -> Array:
        """Decision values, a column per class."""
        Y = self.question.columns(self.graph.n, self.weight)
        mass = Y.sum(axis=0) + self.question.elsewhere
        v0 = self.graph.v0
        sums = self.sums + self.pulled[:, None, None] * np.outer(v0, v0 @ Y)
        there = mass > 0
        balanced = sums[0] / np.where(there, mass, 1.0) * mass[there].mean()
        return np.asarray(np.where(there, balanced, 0.0) + sums[1])

    def changed(self, question: Question, weight: Array) -> "Ruling":
        """Answer other labels with the same members: only the difference is solved for."""
        before = self.question.columns(self.graph.n, self.weight)
        after = question.columns(self.graph.n, weight)
        difference = after - before
        size = float(np.linalg.norm(difference))
        if size == 0.0:
            return replace(self, question=question, weight=weight, n_iter=0)
        tol = min(1e-2, self.tol * float(np.linalg.norm(after)) / size)
        filters = self.heldout.filters
        sums, residual, steps = filters.answer(difference, self.mix[:2], tol)
        return replace(
            self,
            question=question,
            weight=weight,
            sums=self.sums + sums,
            residual=max(self.residual, residual * size / float(np.linalg.norm(after))),
            n_iter=steps,
            judged=self.verdict,
        )


def rule(graph: Graph, question: Question, options: Options, modes: Modes | None = None) -> Ruling:
    """Choose and answer; with the modes of an earlier ruling on the same graph, if there are."""
    modes, models, default = _candidates(graph, question, options, modes)
    gammas = [eta * modes.values[q - 1] for q, eta in models]
    filters = Filters(graph, modes, [q for q, _ in models], gammas, options)
    units = np.array([(1 - eta) / eta for _, eta in models])
    tol = precision(graph, options)[1]
    coarse = max(tol, 1e-3 if graph.n > MEDIUM else 1e-6)  # enough to rank classes
    heldout = HeldOut(
        graph, filters, units, question.nodes, question.codes, question.elsewhere, coarse
    )
    families = _families(question)
    size = question.size * (votes(graph, question.nodes) if question.free else 1.0)
    committee = convene(
        models,
        default,
        heldout,
        heldout.seen,
        question.codes,
        size,
        question.n_classes,
        families=families,
        free=question.free,
    )
    mix, pulled = _mixed(committee, units, families)
    if not question.free:  # one model, as it stands
        mix, pulled = np.array([[1.0], [0.0], [1.0]]), np.zeros(2)
        if not question.balanced:
            mix[:2] = mix[1::-1]
    weight = committee.trust * size
    Y = question.columns(graph.n, weight)
    sums, residual, steps = filters.answer(Y, mix, tol)
    check_residual(residual, tol, modes)
    return Ruling(
        graph,
        question,
        modes,
        committee,
        heldout,
        mix,
        pulled,
        weight,
        sums[:2],
        residual,
        steps,
        tol,
    )


def _families(question: Question) -> tuple[tuple[bool, float], ...]:
    """Return the ways to count classes: alike, or by their labels, with or without v0."""
    if not question.free:
        return ((question.balanced, 0.0),)
    m = len(question.nodes)
    constant = _CONSTANT * m / (m + _WITNESSES) * question.component
    return ((True, constant), (False, max(1.0, constant)), (False, constant / 2))


def votes(graph: Graph, nodes: NDArray[Any]) -> Array:
    """Return label weights that give every label one vote, however many neighbours it has.

    Eigenvectors grow with sqrt(d). A node that hangs on by next to nothing is no better a witness
    than others, so that twice the usual weight is the most.
    """
    return np.asarray(np.minimum(2.0, np.sqrt(np.median(graph.d) / graph.d[nodes])))


def _mixed(
    committee: Committee, units: Array, families: tuple[tuple[bool, float], ...]
) -> tuple[Array, Array]:
    """Return the share of every model in the balanced and the counting sum; the heaviest alone."""
    weights = np.array([c.weight for c in committee.candidates]).reshape(len(families), -1)
    factors = committee.factors.reshape(weights.shape)
    factors = np.where(weights >= _DROP * weights.max(), factors, 0.0)
    mix, pulled = np.zeros((3, len(units))), np.zeros(2)
    for (balanced, with_v0), row in zip(families, factors, strict=True):
        k = 0 if balanced else 1
        mix[k] += row * units
        pulled[k] += with_v0 * row.sum()
    heaviest = int(np.argmax(weights.sum(axis=0)))
    mix[2, heaviest] = units[heaviest]
    return mix, pulled


def _candidates(
    graph: Graph, question: Question, options: Options, modes: Modes | None
) -> tuple[Modes, list[tuple[int, float]], int]:
    """Return the modes, the models to weigh, and which of them is the default."""
    K = question.n_classes
    etas = ETAS if question.eta is None else (question.eta,)
    if question.n_modes is not None:
        wanted = question.n_modes
    elif graph.n <= MEDIUM:
        wanted = min(3 * K + 9, _MOST_MODES)
    else:
        wanted = min(K + 2, _MOST_MODES)
    Y = question.columns(graph.n, question.size)
    Y = Y[:, 1:] - Y[:, :1]
    if modes is None:
        modes = find_modes(graph, wanted + 1, Y, options)
    values = modes.values
    if question.n_modes is not None:
        if len(values) < question.n_modes:
            raise ValueError(
                f"n_modes={question.n_modes} is not possible here: a component of {graph.n} nodes "
                f"has {len(values)} modes that can be told from the others. Lower n_modes, or "
                "leave it at 'auto'."
            )
        numbers, default = [question.n_modes], question.n_modes
    else:
        numbers, default = _numbers(values, K, wanted, graph.n)
    models = [(q, float(eta)) for q in numbers for eta in etas]
    middle = DEFAULT_ETA[K == 2] if question.eta is None else float(question.eta)
    return modes, models, models.index((default, middle))


def _numbers(values: Array, K: int, wanted: int, n: int) -> tuple[list[int], int]:
    """Return the numbers of modes to weigh, and the default: the widest gap that K classes need."""
    known = len(values)
    top = min(known, wanted) if n > SMALL else min(known, wanted, max(1, n // 4))
    gaps = np.diff(values[: top + 1])
    if known < wanted and n > MEDIUM:  # those that stand clear: the widest gap is behind them
        default = min(known, max(1, K - 1))
    else:
        near = gaps[: max(1, K - 1)]
        default = int(np.argmax(near)) + 1 if near.size else 1
        if len(gaps) >= K and gaps[K - 1] > _WIDER * near.max():
            default = K  # a class of two clusters: the modes below the gap belong together
    ratios = gaps / np.maximum(values[: len(gaps)], 1e-300)
    widest = (np.argsort(-ratios, kind="stable")[:2] + 1).tolist()
    some = {1, 2, 3, K - 1, K, K + 2, 2 * K, 3 * K, default, *widest}
    return sorted(q for q in some if 1 <= q <= top), default

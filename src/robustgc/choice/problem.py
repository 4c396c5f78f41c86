"""A question to RobustGC on one connected graph, and the answer with all that led to it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.choice.ensemble import Committee
from robustgc.choice.fits import Fits
from robustgc.choice.kernels import HeldOut
from robustgc.choice.ridges import Ridges
from robustgc.graph import Graph
from robustgc.lifted import Modes
from robustgc.weights import Array


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

    def columns(self, graph: Graph, weight: Array) -> Array:
        """Return a column per class with the label weights."""
        return graph.placed(self.nodes, np.eye(self.n_classes)[self.codes] * weight[:, None])

    def mass(self, weight: Array) -> Array:
        """Return the sums of these columns, with those of other components."""
        here = np.bincount(self.codes, weights=weight, minlength=self.n_classes)
        return np.asarray(here + self.elsewhere)


@dataclass(frozen=True)
class Ruling:
    """The answer on one graph with everything that led to it.

    Attributes
    ----------
    mix : ndarray, shape (3, models)
        Share of every model in the balanced sum, in the counting one, and the heaviest alone.
    pulled : ndarray, shape (2,)
        Share of v0 in the two sums.
    tilt : ndarray, shape (K,)
        What is taken from every class of the balanced sum, by sqrt(d).
    fitted : ndarray, shape (fits,)
        Share of every fit.
    weight : ndarray, shape (labels,)
        Of the labels in the sums.
    sums : ndarray, shape (2, N, K)
        Answers of the balanced and of the counting members to the label columns, before the
        classes are put on one scale.
    fits : Fits or Ridges
        Least squares of these labels.
    least : ndarray, shape (N, K)
        Their answer.
    most : float or None
        What a label counts at most for its few neighbours; None: labels count as they were given.
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
    tilt: Array
    fitted: Array
    weight: Array
    sums: Array
    fits: Fits | Ridges
    least: Array
    residual: float
    n_iter: int
    tol: float
    most: float | None
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
        Y, v0 = self.question.columns(self.graph, self.weight), self.graph.v0
        mass = self.question.mass(self.weight)
        pull = np.outer(v0, self.graph.inner(v0, Y))
        sums = self.sums + self.pulled[:, None, None] * pull
        there = mass > 0
        balanced = sums[0] / np.where(there, mass, 1.0) - np.outer(heights(self.graph), self.tilt)
        f = np.where(there, balanced * mass[there].mean(), 0.0) + sums[1]
        return np.asarray(f + self.least)

    def changed(self, question: Question, weight: Array) -> "Ruling":
        """Answer other labels with the same members: only the difference is solved for."""
        before = self.question.columns(self.graph, self.weight)
        difference = question.columns(self.graph, weight) - before
        whole = float(np.linalg.norm(weight))
        size = float(np.linalg.norm(self.graph.norms(difference)))
        if size == 0.0:
            return replace(self, question=question, weight=weight, n_iter=0)
        fits = self._fits_of(question)
        least = fitted(self.graph, question, fits, weight, self.fitted, self.tol)
        tol = min(1e-2, self.tol * whole / size)
        filters = self.heldout.filters
        sums, residual, steps = filters.answer(difference, self.mix[:2], tol)
        return replace(
            self,
            question=question,
            weight=weight,
            sums=self.sums + sums,
            fits=fits,
            least=least,
            residual=max(self.residual, residual * size / whole),
            n_iter=steps,
            judged=self.verdict,
        )

    def _fits_of(self, question: Question) -> Fits | Ridges:
        """Return least squares of other labels, of the same kind."""
        if isinstance(self.fits, Fits):
            return fits_of(self.graph, question, self.modes, self.fits.numbers)
        heldout = self.heldout
        if not np.array_equal(heldout.nodes, question.nodes):
            heldout = heldout.of(question.nodes, question.elsewhere)
        return self.fits.of(heldout, question.codes, votes(self.graph, question.nodes))


def fitted(
    graph: Graph, question: Question, fits: Fits | Ridges, weight: Array, shares: Array, tol: float
) -> Array:
    """Return the answer of least squares, whose rows have the votes of the labels already."""
    if not shares.any():
        return np.zeros((graph.rows, question.n_classes))
    return fits.answer(weight / votes(graph, question.nodes), shares, tol)


def fits_of(graph: Graph, question: Question, modes: Modes, numbers: Sequence[int]) -> Fits:
    """Return least squares of the labels on the first modes."""
    nodes, codes, K = question.nodes, question.codes, question.n_classes
    return Fits(graph, modes, numbers, nodes, codes, K, votes(graph, nodes))


def heights(graph: Graph) -> Array:
    """Return sqrt(d), with which decision values grow, as 1 for the usual node."""
    return np.asarray(np.sqrt(graph.d / graph.usual_degree))


def votes(graph: Graph, nodes: NDArray[Any], most: float | None = 2.0) -> Array:
    """Return label weights that give every label one vote, however many neighbours it has.

    Eigenvectors grow with sqrt(d). A node that hangs on by next to nothing is no better a witness
    than others, so that there is a limit: twice the usual weight. Without one labels count alike.
    """
    if most is None:
        return np.ones(len(nodes))
    return np.asarray(np.minimum(most, 1.0 / graph.at(heights(graph), nodes)))

"""What lifted models say of every label without it: exact, or in folds where labels are many."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.candidates import Unseen
from robustgc.graph import Graph
from robustgc.lifted import Filters
from robustgc.unseen import FOLDS, deal
from robustgc.weights import Array

FEW = 500  # labels up to which each is left out by itself on graphs that are not small
_VALUES = 2**22  # of the unit columns that this may take: 32 MB
_TOGETHER = 20  # columns that go through a product together


class HeldOut:
    """Held-out answers of some models for any label columns.

    Parameters
    ----------
    graph : Graph
    filters : Filters
    units : ndarray, shape (models,)
        Factors that bring every model's lifted modes to weight 1.
    nodes : ndarray of int
        Those that carry a label.
    codes : ndarray of int
        Their classes.
    elsewhere : ndarray, shape (K,)
        Label mass of the classes in other components.
    tol : float
    """

    def __init__(
        self,
        graph: Graph,
        filters: Filters,
        units: Array,
        nodes: NDArray[Any],
        codes: NDArray[np.int64],
        elsewhere: Array,
        tol: float,
    ) -> None:
        self.graph, self.filters, self.units, self.nodes = graph, filters, units, nodes
        self._elsewhere, self._tol = elsewhere, tol
        self._v0 = graph.at(graph.v0, nodes)
        self.fold: NDArray[np.int64] | None = None
        self._kernels: list[Array] | None = None
        self._beyond: Array | None = None
        m = len(nodes)
        if filters.complete:
            self._rows = filters.modes.vectors[nodes]
        elif m <= FEW and (m * graph.n <= _VALUES or m <= 2 * FOLDS):
            self._kernels = self._between_labels()
        else:
            self.fold = deal(codes, 5 if graph.n >= 100_000 else FOLDS)

    @property
    def cheap(self) -> bool:
        """Whether the kernel between labels is at hand."""
        return self.filters.complete or self._kernels is not None

    def _between_labels(self) -> list[Array]:
        """Return every model's kernel between the labels, its diagonal zeroed."""
        columns = self.graph.placed(self.nodes, np.eye(len(self.nodes)))
        kernels = self.filters.rows(self.nodes, columns, self._tol) * self.units[:, None, None]
        self._own = [K.diagonal()[:, None].copy() for K in kernels]
        for K in kernels:
            np.fill_diagonal(K, 0.0)
        return list(kernels)

    def kernels(self, mix: Array, of: NDArray[Any]) -> Array:
        """Return mixed kernels between some labels and all: the evidence for and against.

        Parameters
        ----------
        mix : ndarray, shape (sums, models)
        of : ndarray of int
            Which labels.

        Returns
        -------
        ndarray, shape (sums, len(of), labels)
        """
        if self._kernels is not None:
            return np.stack(
                [sum(w * K[of] for w, K in zip(row, self._kernels, strict=True)) for row in mix]
            )
        if self.filters.complete:
            weights = (mix * self.units) @ self.filters.weights
            found = np.stack([(self._rows[of] * row) @ self._rows.T for row in weights])
        else:
            columns = self.graph.placed(self.nodes[of], np.eye(len(of)))
            rows = self.filters.rows(self.nodes, columns, self._tol, mix * self.units)
            found = rows.transpose(0, 2, 1)
        found[:, np.arange(len(of)), of] = 0.0
        return np.asarray(found)

    def __call__(self, Y: Array) -> Unseen:
        """Return what is said of every label without it, given label columns (labels, K)."""
        pull = self._v0[:, None] * (self._v0 @ Y - self._v0[:, None] * Y)
        left = Y.sum(axis=0) + self._elsewhere - Y
        if self.filters.complete:
            return self._spectral(Y), pull, left
        if self._kernels is not None:
            return [K @ Y for K in self._kernels], pull, left
        return self._in_folds(Y), *self._without_folds(Y)

    def seen(self, Y: Array) -> Unseen:
        """Return the same with all labels, their own included."""
        pull = self._v0[:, None] * (self._v0 @ Y)
        left = np.broadcast_to(Y.sum(axis=0) + self._elsewhere, Y.shape)
        if self._kernels is not None:
            return (
                [K @ Y + k * Y for K, k in zip(self._kernels, self._own, strict=True)],
                pull,
                left,
            )
        columns = self.graph.placed(self.nodes, Y)
        answers = self.filters.rows(self.nodes, columns, self._tol) * self.units[:, None, None]
        return list(answers), pull, left

    def _in_folds(self, Y: Array) -> Sequence[Array]:
        """Answer every label by the labels outside of its fold.

        What the known modes say is computed for these columns. The rest, which takes products with
        the graph and says little of other labels, is computed for the first columns that come and
        kept: a label's weight in it stays what it was then.
        """
        assert self.fold is not None
        if self._beyond is None:
            self._beyond = self._rest_in_folds(Y)
        V = self.graph.at(self.filters.modes.vectors, self.nodes)
        answers = self._beyond.copy()
        for k in range(int(self.fold.max()) + 1):
            mine = self.fold == k
            known = V[~mine].T @ Y[~mine]
            for answer, weights in zip(answers, self.filters.weights, strict=True):
                answer[mine] += V[mine] @ (weights[:, None] * known)
        return list(answers * self.units[:, None, None])

    def _rest_in_folds(self, Y: Array) -> Array:
        """Solve for every fold's labels by themselves, as many as is good for products."""
        assert self.fold is not None
        count, K = int(self.fold.max()) + 1, Y.shape[1]
        answers = np.zeros((len(self.units), *Y.shape))
        together = max(1, _TOGETHER // K)
        for first in range(0, count, together):
            folds = range(first, min(first + together, count))
            own = np.zeros((len(Y), len(folds) * K))
            for place, k in enumerate(folds):
                mine = self.fold == k
                own[mine, place * K : (place + 1) * K] = Y[mine]
            columns = self.graph.placed(self.nodes, own)
            rows = self.filters.rest(self.nodes, columns, self._tol)
            for place, k in enumerate(folds):
                others = self.fold != k
                answers[:, others] += rows[:, others, place * K : (place + 1) * K]
        return answers

    def _without_folds(self, Y: Array) -> tuple[Array, Array]:
        """Return the pull of v0 and the label mass that are left without every label's fold."""
        pull, left = np.empty_like(Y), np.empty_like(Y)
        assert self.fold is not None
        for k in range(int(self.fold.max()) + 1):
            mine = self.fold == k
            pull[mine] = self._v0[mine, None] * (self._v0[~mine] @ Y[~mine])
            left[mine] = Y[~mine].sum(axis=0) + self._elsewhere
        return pull, left

    def _spectral(self, Y: Array) -> Sequence[Array]:
        """Leave each label out in closed form: ``F_i - K_ii Y_i``."""
        V, known = self._rows, self._rows.T @ Y
        squares = V**2
        found = []
        for unit, weights in zip(self.units, self.filters.weights, strict=True):
            own = squares @ weights
            found.append(unit * (V @ (weights[:, None] * known) - own[:, None] * Y))
        return found

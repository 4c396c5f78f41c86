"""What lifted models say of every label without it, in closed form: ``F_i - K_ii Y_i``."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.choice.candidates import Unseen
from robustgc.graph import Graph
from robustgc.lifted import Filters
from robustgc.weights import Array

FEW = 500  # labels up to which the kernel between all of them may be computed
_WORK = 6e6  # entries and values of a product with all label columns, up to which it is
_PROBES = (32, 64)  # columns for the diagonal of the kernel: with few labels, and with many
_MANY = 300  # labels are, that are also more than a hundredth of the nodes
_SEED = 20180523


class HeldOut:
    """Held-out answers of some models for any label columns.

    What the known modes say is exact. Off them, with few labels on a graph that is not large, the
    kernel between all labels is computed. Else the answers to the label columns are, and the
    diagonal of the kernel from columns that add up labels with random signs: off the modes labels
    know little of each other, so that a label's own part stands out.

    Parameters
    ----------
    graph : Graph
    filters : Filters
    units : ndarray, shape (models,)
        Factors that bring every model's lifted modes to weight 1.
    nodes : ndarray of int
        Those that carry a label.
    elsewhere : ndarray, shape (K,)
        Label mass of the classes in other components.
    tol : float
    earlier : HeldOut or None
        The same models with other labels: what is off the modes is computed for changes only.
    """

    def __init__(
        self,
        graph: Graph,
        filters: Filters,
        units: Array,
        nodes: NDArray[Any],
        elsewhere: Array,
        tol: float,
        earlier: "HeldOut | None" = None,
    ) -> None:
        self.graph, self.filters, self.units, self.nodes = graph, filters, units, nodes
        self._elsewhere, self._tol = elsewhere, tol
        self._v0 = graph.at(graph.v0, nodes)
        self._rows = graph.at(filters.modes.vectors, nodes)
        self._weights = units[:, None] * filters.weights
        self._own = self._weights @ (self._rows**2).T  # (models, labels), of the modes
        self._kernels: Array | None = None
        self._known: Array | None = None  # off the modes, without each label
        self._earlier = earlier if earlier is not None and earlier._known is not None else None
        m = len(nodes)
        work = m * (graph.entries + 8.0 * graph.n)
        few = m <= _PROBES[0] or (m <= FEW and work <= _WORK)
        few |= earlier is not None and earlier._kernels is not None
        if filters.complete or self._earlier is not None or not few:
            return
        if earlier is None or earlier._kernels is None:
            self._kernels = self._off_modes(nodes, np.eye(m))
        else:
            self._kernels = self._with_changes(earlier)
        self._rest_own = np.einsum("kii->ki", self._kernels).copy()
        np.einsum("kii->ki", self._kernels)[:] = 0.0

    def of(self, nodes: NDArray[Any], elsewhere: Array) -> "HeldOut":
        """Return the same models with labels at other nodes."""
        return HeldOut(self.graph, self.filters, self.units, nodes, elsewhere, self._tol, self)

    @property
    def cheap(self) -> bool:
        """Whether the kernel between labels is at hand."""
        return self.filters.complete or self._kernels is not None

    def _off_modes(
        self, nodes: NDArray[Any], columns: Array, at: NDArray[Any] | None = None
    ) -> Array:
        """Return every model's answers off the modes to columns over some nodes, at some nodes."""
        placed = self.graph.placed(nodes, columns)
        rest = self.filters.rest(nodes if at is None else at, placed, self._tol)
        return np.asarray(rest * self.units[:, None, None])

    def _with_changes(self, earlier: "HeldOut") -> Array:
        """Return the kernel between these labels: of new ones it is computed."""
        assert earlier._kernels is not None
        new = np.setdiff1d(self.nodes, earlier.nodes)
        known, place = _found_in(self.nodes, earlier.nodes)
        kernels = np.zeros((len(self.units), len(self.nodes), len(self.nodes)))
        old = earlier._kernels.copy()
        np.einsum("kii->ki", old)[:] = earlier._rest_own
        kernels[:, known[:, None], known] = old[:, place[:, None], place]
        if new.size:
            columns = self._off_modes(new, np.eye(len(new)), self.nodes)
            here = np.searchsorted(self.nodes, new)
            kernels[:, :, here] = columns
            kernels[:, here] = columns.transpose(0, 2, 1)
        return kernels

    def between(self, models: NDArray[Any]) -> Array:
        """Return some models' kernels between the labels, their diagonal included."""
        found = np.stack([(self._rows * w) @ self._rows.T for w in self._weights[models]])
        if self._kernels is not None:
            found += self._kernels[models]
            np.einsum("kii->ki", found)[:] += self._rest_own[models]
        return found

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
        if self.cheap:
            found = np.stack([(self._rows[of] * row) @ self._rows.T for row in mix @ self._weights])
            if self._kernels is not None:
                found += np.tensordot(mix, self._kernels[:, of], axes=1)
        else:
            columns = self.graph.placed(self.nodes[of], np.eye(len(of)))
            rows = self.filters.rows(self.nodes, columns, self._tol, mix * self.units)
            found = rows.transpose(0, 2, 1)
        found[:, np.arange(len(of)), of] = 0.0
        return np.asarray(found)

    def __call__(self, Y: Array, models: NDArray[Any]) -> Unseen:
        """Return what some models say of every label without it, given columns (labels, K)."""
        pull = self._v0[:, None] * (self._v0 @ Y - self._v0[:, None] * Y)
        left = Y.sum(axis=0) + self._elsewhere - Y
        answers = self._by_modes(Y, models) - self._own[models, :, None] * Y
        if not self.filters.complete:
            answers += self._beyond(Y, models)
        return answers, pull, left

    def at_labels(self, Y: Array, models: NDArray[Any]) -> Unseen:
        """Return the same with all labels, their own included."""
        pull = self._v0[:, None] * (self._v0 @ Y)
        left = np.broadcast_to(Y.sum(axis=0) + self._elsewhere, Y.shape)
        answers = self._by_modes(Y, models)
        if not self.filters.complete:
            answers += self._beyond(Y, models) + self._rest_own[models, :, None] * Y
        return answers, pull, left

    def _by_modes(self, Y: Array, models: NDArray[Any]) -> Array:
        """Return what the known modes say with all labels: (models, labels, K)."""
        known = self._weights[models, :, None] * (self._rows.T @ Y)
        return np.asarray(self._rows @ known)

    def _beyond(self, Y: Array, models: NDArray[Any]) -> Array:
        """Return what is said off the modes without each label.

        Without the kernel it is computed for the first columns that come, and kept: a label's
        weight in it stays what it was then.
        """
        if self._kernels is not None:
            return np.asarray(self._kernels[models] @ Y)
        if self._known is None and self._earlier is not None:
            self._known = self._from_earlier(Y, self._earlier)
        elif self._known is None:
            m, K = Y.shape
            rng = np.random.default_rng(_SEED)
            count = _PROBES[m > max(_MANY, self.graph.n // 100)]
            group = rng.permutation(m) % count
            probes = np.zeros((m, count))
            probes[np.arange(m), group] = rng.choice([-1.0, 1.0], m)
            rest = self._off_modes(self.nodes, np.hstack([Y, probes]))
            self._rest_own = np.einsum("kic,ic->ki", rest[:, :, K:], probes)
            self._known = rest[:, :, :K] - self._rest_own[:, :, None] * Y
            self._first = Y
        assert self._known is not None
        return np.asarray(self._known[models])

    def _from_earlier(self, Y: Array, earlier: "HeldOut") -> Array:
        """Return what is said off the modes from what was said with other labels.

        The kernel is symmetric: its columns for the nodes whose labels have changed tell what these
        mean to all others, and what all others mean to a new one.
        """
        nodes = np.union1d(self.nodes, earlier.nodes)
        before, now = (np.zeros((len(nodes), Y.shape[1])) for _ in range(2))
        was, here = np.searchsorted(nodes, earlier.nodes), np.searchsorted(nodes, self.nodes)
        before[was], now[here] = earlier._first, Y
        changed = np.flatnonzero((before != now).any(axis=1))
        columns = self._off_modes(nodes[changed], np.eye(len(changed)), nodes)
        assert earlier._known is not None
        whole = np.einsum("kic,ij->kcj", columns, before)  # of the changed nodes, by symmetry
        own = columns[:, changed, np.arange(len(changed))]
        said = np.zeros((len(self.units), len(nodes), Y.shape[1]))
        diagonal = np.zeros((len(self.units), len(nodes)))
        said[:, changed], diagonal[:, changed] = whole, own
        said[:, was] = earlier._known + earlier._rest_own[:, :, None] * earlier._first
        diagonal[:, was] = earlier._rest_own
        said += columns @ (now - before)[changed]
        self._first, self._rest_own = Y, diagonal[:, here]
        return np.asarray(said[:, here] - self._rest_own[:, :, None] * Y)


def _found_in(nodes: NDArray[Any], others: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return which of these nodes are among the others, and their places there; all ascend."""
    known = np.flatnonzero(np.isin(nodes, others))
    return known, np.searchsorted(others, nodes[known])

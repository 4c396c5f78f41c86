"""Lifted filters at the labelled nodes, with all labels and without each: ``F_i - K_ii Y_i``.

Filter k is ``K_k = s_k sum_l gamma_k / (mu_l - gamma_k) v_l v_l'`` with ``s_k = (1 - eta) / eta``,
by which the lifted modes have the weight 1 (docs/lifted.md). Label columns Y have the shape
(labels, K), answers (filters, labels, K).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustgc.choice.candidates import Candidate
from robustgc.lifted import Filters
from robustgc.weights import Array

# By time on graphs of a few thousand nodes; the number of probes by the error of the diagonal.
_MOST_LABELS = 500  # up to which the kernel between all labels may be computed
_WORK = 6e6  # entries and values of a product with a column per label, up to which it is
_PROBES = (32, 64)  # columns for the diagonal of the kernel: with few labels, and with many
_MANY_LABELS = 300  # if they are more than a hundredth of the nodes as well
_SEED = 20180523


class LabelFilters:
    """Some lifted filters restricted to the labelled nodes.

    The part of the known modes is exact. The part off the modes is, with few labels on a graph that
    is not large, the kernel between all labels. Else only its products with the label columns are
    computed, and its diagonal from columns that add up labels with random signs: off the modes
    labels know little of each other, so that a label's own part stands out.

    Parameters
    ----------
    filters : Filters
    etas : array-like, shape (filters,)
    nodes : ndarray of int, shape (labels,)
        The labelled nodes, ascending.
    tol : float
    earlier : LabelFilters or None
        The same filters at other labels: off the modes only what has changed is computed.
    """

    def __init__(
        self,
        filters: Filters,
        etas: ArrayLike,
        nodes: NDArray[Any],
        tol: float,
        earlier: "LabelFilters | None" = None,
    ) -> None:
        self.filters, self.nodes, self.etas = filters, nodes, np.asarray(etas, dtype=float)
        self.scales = (1 - self.etas) / self.etas
        numbers = filters.n_modes.tolist()
        self.pairs = tuple(zip(numbers, self.etas.tolist(), strict=True))  # (n_modes, eta)
        self._graph, self._tol = filters.graph, tol
        self._earlier = earlier if earlier is not None and earlier._first is not None else None
        self._V = self._graph.at(filters.modes.vectors, nodes)  # (labels, modes)
        self._mode_weights = self.scales[:, None] * filters.weights  # (filters, modes)
        self._mode_diagonal = self._mode_weights @ (self._V**2).T  # (filters, labels)
        # Off the modes: the kernel without its diagonal, (filters, labels, labels), or the label
        # columns that came first and the answers to them without each label.
        self._kernel: Array | None = None
        self._first: tuple[Array, Array] | None = None
        self._diagonal: Array = np.zeros((len(self.etas), len(nodes)))
        if filters.complete or self._earlier is not None:
            return
        if (earlier is not None and earlier._kernel is not None) or self._few_labels():
            kernel = self._kernel_off_modes(earlier)
            self._diagonal = np.einsum("kii->ki", kernel).copy()
            np.einsum("kii->ki", kernel)[:] = 0.0
            self._kernel = kernel

    @property
    def has_kernel(self) -> bool:
        """Whether the kernel between labels is at hand."""
        return self.filters.complete or self._kernel is not None

    def places(self, candidates: Sequence[Candidate]) -> NDArray[np.int64]:
        """Return which filter every candidate has."""
        place = {pair: k for k, pair in enumerate(self.pairs)}
        return np.array([place[c.n_modes, c.eta] for c in candidates], dtype=np.int64)

    def at_nodes(self, nodes: NDArray[Any]) -> "LabelFilters":
        """Return the same filters with labels at other nodes."""
        if np.array_equal(nodes, self.nodes):
            return self
        return LabelFilters(self.filters, self.etas, nodes, self._tol, self)

    def leave_one_out(self, Y: Array, which: NDArray[Any]) -> Array:
        """Return answers of some filters at every label without it, ``F_i - K_ii Y_i``."""
        answers = self._by_modes(Y, which) - self._mode_diagonal[which, :, None] * Y
        if not self.filters.complete:
            answers += self._off_modes_without_i(Y, which)
        return np.asarray(answers)

    def at_labels(self, Y: Array, which: NDArray[Any]) -> Array:
        """Return answers of some filters at every label with all labels, ``F_i``."""
        answers = self._by_modes(Y, which)
        if not self.filters.complete:
            answers += self._off_modes_without_i(Y, which) + self._diagonal[which, :, None] * Y
        return answers

    def kernels(self, which: NDArray[Any]) -> Array:
        """Return kernels of some filters between the labels, shape (which, labels, labels)."""
        found = np.stack([(self._V * w) @ self._V.T for w in self._mode_weights[which]])
        if self._kernel is not None:
            found += self._kernel[which]
            np.einsum("kii->ki", found)[:] += self._diagonal[which]
        return found

    def weighted_kernels(self, weights: Array, rows: NDArray[Any]) -> Array:
        """Return some rows of weighted sums of the kernels between labels, ``K_ii`` set to 0.

        The weights have the shape (sums, filters), the result (sums, rows, labels).
        """
        if self.has_kernel:
            V = self._V
            found = np.stack([(V[rows] * w) @ V.T for w in weights @ self._mode_weights])
            if self._kernel is not None:
                found += np.tensordot(weights, self._kernel[:, rows], axes=1)
        else:
            columns = self._graph.placed(self.nodes[rows], np.eye(len(rows)))
            found = self.filters.rows(self.nodes, columns, self._tol, weights * self.scales)
            found = found.transpose(0, 2, 1)
        found[:, np.arange(len(rows)), rows] = 0.0
        return np.asarray(found)

    def _few_labels(self) -> bool:
        m = len(self.nodes)
        work = m * (self._graph.entries + 8.0 * self._graph.n)
        return m <= _PROBES[0] or (m <= _MOST_LABELS and work <= _WORK)

    def _by_modes(self, Y: Array, which: NDArray[Any]) -> Array:
        """Return the part of the known modes with all labels."""
        return np.asarray(self._V @ (self._mode_weights[which, :, None] * (self._V.T @ Y)))

    def _off_modes(
        self, nodes: NDArray[Any], columns: Array, at: NDArray[Any] | None = None
    ) -> Array:
        """Return the part off the modes of columns over some nodes, at these or other nodes."""
        placed = self._graph.placed(nodes, columns)
        rest = self.filters.rest(nodes if at is None else at, placed, self._tol)
        return np.asarray(rest * self.scales[:, None, None])

    def _off_modes_without_i(self, Y: Array, which: NDArray[Any]) -> Array:
        """Return the part off the modes at every label without it.

        Without the kernel it is computed for the first columns that come, and kept: the weights of
        the labels in it stay what they were then.
        """
        if self._kernel is not None:
            return np.asarray(self._kernel[which] @ Y)
        if self._first is None:
            earlier = self._earlier
            answers = self._with_probes(Y) if earlier is None else self._from_earlier(Y, earlier)
            self._first = Y, answers
        return np.asarray(self._first[1][which])

    def _with_probes(self, Y: Array) -> Array:
        """Compute products with the label columns, and the diagonal from random signs."""
        m, K = Y.shape
        rng = np.random.default_rng(_SEED)
        count = _PROBES[m > max(_MANY_LABELS, self._graph.n // 100)]
        group = rng.permutation(m) % count
        probes = np.zeros((m, count))
        probes[np.arange(m), group] = rng.choice([-1.0, 1.0], m)
        products = self._off_modes(self.nodes, np.hstack([Y, probes]))
        self._diagonal = np.einsum("kic,ic->ki", products[:, :, K:], probes)
        return np.asarray(products[:, :, :K] - self._diagonal[:, :, None] * Y)

    def _kernel_off_modes(self, earlier: "LabelFilters | None") -> Array:
        """Return the kernel between the labels off the modes: columns of new nodes are computed."""
        m = len(self.nodes)
        if earlier is None or earlier._kernel is None:
            return self._off_modes(self.nodes, np.eye(m))
        new = np.setdiff1d(self.nodes, earlier.nodes)
        known = np.flatnonzero(np.isin(self.nodes, earlier.nodes))
        place = np.searchsorted(earlier.nodes, self.nodes[known])
        kernel, old = np.zeros((len(self.etas), m, m)), earlier._kernel.copy()
        np.einsum("kii->ki", old)[:] = earlier._diagonal
        kernel[:, known[:, None], known] = old[:, place[:, None], place]
        if new.size:
            columns = self._off_modes(new, np.eye(len(new)), self.nodes)
            here = np.searchsorted(self.nodes, new)
            kernel[:, :, here] = columns
            kernel[:, here] = columns.transpose(0, 2, 1)
        return kernel

    def _from_earlier(self, Y: Array, earlier: "LabelFilters") -> Array:
        """Return the part off the modes from that of the earlier labels.

        The kernel is symmetric: its columns for the nodes whose labels have changed tell what these
        mean to all others, and what all others mean to a new one.
        """
        assert earlier._first is not None
        old, old_answers = earlier._first
        nodes = np.union1d(self.nodes, earlier.nodes)
        before, now = (np.zeros((len(nodes), Y.shape[1])) for _ in range(2))
        was, here = np.searchsorted(nodes, earlier.nodes), np.searchsorted(nodes, self.nodes)
        before[was], now[here] = old, Y
        changed = np.flatnonzero((before != now).any(axis=1))
        columns = self._off_modes(nodes[changed], np.eye(len(changed)), nodes)
        answers = np.zeros((len(self.etas), len(nodes), Y.shape[1]))
        diagonal = np.zeros((len(self.etas), len(nodes)))
        answers[:, changed] = np.einsum("kic,ij->kcj", columns, before)
        diagonal[:, changed] = columns[:, changed, np.arange(len(changed))]
        answers[:, was] = old_answers + earlier._diagonal[:, :, None] * old
        diagonal[:, was] = earlier._diagonal
        answers += columns @ (now - before)[changed]
        self._diagonal = diagonal[:, here]
        return np.asarray(answers[:, here] - self._diagonal[:, :, None] * Y)

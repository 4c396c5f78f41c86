"""What each filter says of every label without it, ``F_i - K_ii Y_i``, from labelled nodes only.

Kernel k is ``K_k = s_k sum_l gamma_k / (mu_l - gamma_k) v_l v_l'`` with ``s_k = (1 - eta) / eta``,
by which the lifted modes have the weight 1 (docs/lifted.md). Label columns Y have the shape
(labels, K), answers (filters, labels, K).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustgc.graph.weights import Array
from robustgc.linalg.filters import LiftedFilters
from robustgc.models.leave_one_out import without_own_label

# By time on graphs of a few thousand nodes; the number of probes by the error of the diagonal.
_MOST_LABELS = 500  # up to which the kernel between all labels may be computed
_WORK = 6e6  # entries and values of a product with a column per label, up to which it is
_PROBES = (32, 64)  # columns for the diagonal of the kernel: with few labels, and with many
_MANY_LABELS = 300  # if they are more than a hundredth of the nodes as well
_NEAR_TOL = 0.1  # of what labels mean to each other, which is only ranked
_ROUNDING = 1e-5  # of single precision, with what a recurrence adds
_SEED = 20180523


class _NearRows:
    """Rows of some kernels between labelled nodes: those of one report are there for the next."""

    def __init__(self, count: int, of: NDArray[Any], labels: NDArray[Any]) -> None:
        self.of, self.labels = of, labels  # nodes of rows and columns, in the order they came
        self.values = np.empty((count, len(of), len(labels)), dtype=np.float32)

    def add(self, nodes: NDArray[Any], values: Array, axis: int) -> None:
        """Add rows (axis 1) or columns (axis 2)."""
        self.values = np.concatenate([self.values, values.astype(np.float32)], axis=axis)
        if axis == 1:
            self.of = np.concatenate([self.of, nodes])
        else:
            self.labels = np.concatenate([self.labels, nodes])

    def at(self, of: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.float32]:
        """Return the values at some rows and columns, (filters, of, labels)."""
        i, j = _places(of, self.of), _places(labels, self.labels)
        return np.asarray(self.values[:, i[:, None], j])


def _places(nodes: NDArray[Any], among: NDArray[Any]) -> NDArray[Any]:
    """Return where some nodes stand among others, which have any order."""
    order = np.argsort(among)
    return np.asarray(order[np.searchsorted(among, nodes, sorter=order)])


class LabelFilters:
    """Some lifted filters restricted to the labelled nodes, which ascend.

    With few labels on a graph that is not large, the kernel between them is computed. Else the part
    of the known modes is exact, and off the modes only products with the label columns are
    computed, and the diagonal from columns that add up labels with random signs: off the modes
    labels know little of each other, so that a label's own part stands out.

    `earlier` are the same filters at other labels: only what has changed is computed.
    """

    def __init__(
        self,
        filters: LiftedFilters,
        etas: ArrayLike,
        nodes: NDArray[Any],
        tol: float,
        earlier: "LabelFilters | None" = None,
    ) -> None:
        self.filters, self.nodes, self.etas = filters, nodes, np.asarray(etas, dtype=float)
        self.scales = (1 - self.etas) / self.etas
        # n_modes and eta of every filter.
        self.pairs = list(zip(filters.n_modes.tolist(), self.etas.tolist(), strict=True))
        self._graph, self._tol, m = filters.graph, tol, len(nodes)
        self.V = self._graph.at(filters.modes.vectors, nodes)  # (labels, modes)
        self.mode_weights = self.scales[:, None] * filters.weights  # (filters, modes)
        self.kernel: Array | None = None  # (filters, labels, labels), where it is at hand
        # Off the modes: the label columns that came first, the answers to them, the diagonal.
        self._first: tuple[Array, Array, Array] | None = None
        self._earlier = earlier if earlier is not None and earlier._first is not None else None
        no_nodes = np.array([], dtype=np.int64)
        self._near: _NearRows = (
            _NearRows(len(self.etas), no_nodes, nodes) if earlier is None else earlier._near
        )
        work = 0.0 if filters.complete else m * (self._graph.entries + 8.0 * self._graph.n)
        few = m <= _PROBES[0] or (m <= _MOST_LABELS and work <= _WORK)
        if earlier is not None and earlier.kernel is not None:
            self.kernel = self._changed(earlier.nodes, earlier.kernel)
        elif few and self._earlier is None:
            self.kernel = self._columns(nodes, nodes)

    def at_nodes(self, nodes: NDArray[Any]) -> "LabelFilters":
        """Return the same filters with labels at other nodes."""
        if np.array_equal(nodes, self.nodes):
            return self
        return LabelFilters(self.filters, self.etas, nodes, self._tol, self)

    def leave_one_out(self, Y: Array) -> Array:
        """Return answers of every filter at every label without it, ``F_i - K_ii Y_i``.

        Without the kernel, the part off the modes is that of the first columns that came: the
        weights of the labels in it stay what they were then.
        """
        if self.kernel is not None:
            return without_own_label(self.kernel @ Y, np.einsum("kii->ki", self.kernel), Y)
        answers = self.V @ (self.mode_weights[:, :, None] * (self.V.T @ Y))
        answers = without_own_label(answers, self.mode_weights @ (self.V**2).T, Y)
        if self.filters.complete:
            return answers
        if self._first is None:
            earlier = self._earlier
            self._first = self._probed(Y) if earlier is None else self._updated(Y, earlier)
        first, whole, diagonal = self._first
        return without_own_label(answers + whole, diagonal, first)

    def rounding(self) -> Array:
        """Return of what size answers without the own label are rounding, shape (filters,).

        Single precision leaves so much of the part of a label itself where it is taken out of a
        product. Where labels are far from each other, that is all there is.
        """
        if self._first is None:
            return np.zeros(len(self.etas))
        first, _, diagonal = self._first
        own = diagonal[:, :, None] * first
        return np.asarray(_ROUNDING * np.sqrt(np.mean(own**2, axis=(1, 2))))

    def influence(self, weights: Array, rows: NDArray[Any]) -> Array:
        """Return some rows of a weighted sum of the kernels between labels, ``K_ii`` set to 0.

        Without the kernel they have one digit or two: enough to rank what speaks for a class. Rows
        that were computed once are kept, for labels to come as well.
        The weights have the shape (filters,), the result (rows, labels).
        """
        if self.kernel is not None:
            K = np.tensordot(weights, self.kernel[:, rows], axes=1)
        else:
            K = (self.V[rows] * (weights @ self.mode_weights)) @ self.V.T
            if not self.filters.complete:
                K += np.tensordot(weights, self._near_rows(self.nodes[rows]), axes=1)
        K[np.arange(len(rows)), rows] = 0.0
        return np.asarray(K)

    def _near_rows(self, of: NDArray[Any]) -> NDArray[np.float32]:
        """Return rows of the kernels off the modes, to a digit or two: (filters, of, labels)."""
        near = self._near
        if (labels := np.setdiff1d(self.nodes, near.labels)).size:
            # Kernels are symmetric: rows at new labels are columns of these.
            near.add(labels, self._kernel_off_modes(labels, near.of, near=True), axis=2)
        if (rows := np.setdiff1d(of, near.of)).size:
            columns = self._kernel_off_modes(rows, near.labels, near=True)
            near.add(rows, columns.transpose(0, 2, 1), axis=1)
        return near.at(of, self.nodes)

    def _kernel_off_modes(
        self,
        nodes: NDArray[Any],
        at: NDArray[Any],
        columns: Array | None = None,
        *,
        near: bool = False,
    ) -> Array:
        """Return the part off the modes of columns over some nodes (one each), at other nodes."""
        columns = np.eye(len(nodes)) if columns is None else columns
        tol = max(self._tol, _NEAR_TOL) if near else self._tol
        rest = self.filters.answer_off_modes(at, self._graph.placed(nodes, columns), tol, near=near)
        return np.asarray(rest * self.scales[:, None, None])

    def _columns(self, nodes: NDArray[Any], at: NDArray[Any]) -> Array:
        """Return columns of the kernels for some nodes, at others: (filters, at, nodes)."""
        V, graph = self.filters.modes.vectors, self._graph
        here, there = graph.at(V, at), graph.at(V, nodes)
        if nodes is at and self.mode_weights.min(initial=0.0) >= 0:  # half the work
            roots = (here * np.sqrt(w) for w in self.mode_weights)
            K = np.stack([root @ root.T for root in roots])
        else:
            K = np.stack([(here * w) @ there.T for w in self.mode_weights])
        if not self.filters.complete:
            K += self._kernel_off_modes(nodes, at)
        return K

    def _changed(self, before: NDArray[Any], kernel: Array) -> Array:
        """Return the kernel between the labels from that of earlier ones: new columns only."""
        if np.array_equal(before, self.nodes):
            return kernel
        old, m = np.isin(self.nodes, before), len(self.nodes)
        known, new = np.flatnonzero(old), np.flatnonzero(~old)
        place = np.searchsorted(before, self.nodes[known])
        K = np.zeros((len(self.etas), m, m))
        K[:, known[:, None], known] = kernel[:, place[:, None], place]
        if new.size:
            K[:, :, new] = columns = self._columns(self.nodes[new], self.nodes)
            K[:, new] = columns.transpose(0, 2, 1)
        return K

    def _probed(self, Y: Array) -> tuple[Array, Array, Array]:
        """Compute products with the label columns, and the diagonal from random signs."""
        m, K = Y.shape
        rng = np.random.default_rng(_SEED)
        count = _PROBES[m > max(_MANY_LABELS, self._graph.n // 100)]
        order = rng.permutation(m)
        probes = np.zeros((m, count))
        # As many of either sign in a column: what all labels have in common cancels.
        probes[np.arange(m), order % count] = 1.0 - 2.0 * (order // count % 2)
        products = self._kernel_off_modes(self.nodes, self.nodes, np.hstack([Y, probes]))
        return Y, products[:, :, :K], np.einsum("kic,ic->ki", products[:, :, K:], probes)

    def _updated(self, Y: Array, earlier: "LabelFilters") -> tuple[Array, Array, Array]:
        """Return the part off the modes from that of the earlier labels.

        The kernel is symmetric: its columns for the nodes whose labels have changed say what these
        mean to all others, and what all others mean to a new one.
        """
        assert earlier._first is not None
        old, old_answers, old_diagonal = earlier._first
        nodes = np.union1d(self.nodes, earlier.nodes)
        before, now = (np.zeros((len(nodes), Y.shape[1])) for _ in range(2))
        was, here = np.searchsorted(nodes, earlier.nodes), np.searchsorted(nodes, self.nodes)
        before[was], now[here] = old, Y
        changed = np.flatnonzero((before != now).any(axis=1))
        columns = self._kernel_off_modes(nodes[changed], nodes)
        answers = np.zeros((len(self.etas), *before.shape))
        diagonal = np.zeros((len(self.etas), len(nodes)))
        answers[:, changed] = np.einsum("kic,ij->kcj", columns, before)
        diagonal[:, changed] = columns[:, changed, np.arange(len(changed))]
        answers[:, was], diagonal[:, was] = old_answers, old_diagonal
        answers += columns @ (now - before)[changed]
        return Y, answers[:, here], diagonal[:, here]

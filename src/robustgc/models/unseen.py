"""Leave-one-out values of ZhouGC and BelkinGC in closed form, without refitting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.weights import Array
from robustgc.linalg.spectrum import full_spectrum
from robustgc.models.paper import zhou
from robustgc.models.resolvents import zhou_at_nodes

FEW = 200  # labels up to which each is left out by itself on a graph of any size
FOLDS = 10
_SEED = 20180521
_COLUMNS = 2**22  # values of unit columns that each label by itself may take


@dataclass(frozen=True)
class LabelledGraph:
    """A connected graph with the class codes of its nodes, -1 for unlabelled."""

    graph: Graph
    codes: NDArray[np.int64]

    @property
    def labelled(self) -> NDArray[np.int64]:
        """The nodes that carry a label."""
        return np.flatnonzero(self.codes >= 0)

    def one_hot(self, n_classes: int) -> Array:
        """Return a row for every label."""
        return np.asarray(np.eye(n_classes)[self.codes[self.labelled]])


def zhou_leave_one_out(part: LabelledGraph, n_classes: int, gammas: Sequence[float]) -> list[Array]:
    """Return ZhouGC's leave-one-out values at every label, for every gamma: (labels, K) each.

    ``K = gamma (L_N + gamma I)^-1`` does not depend on the labels, so that leaving one out takes
    ``K_ii Y_i`` away: exact. Where that would take too many columns (above 1500 nodes with more
    than 200 labels, fewer above 20,000 nodes) a tenth of each class is left out at a time. -inf
    where a class has no label left.
    """
    graph, nodes, Y = part.graph, part.labelled, part.one_hot(n_classes)
    if graph.n <= SMALL:
        return [_mark_empty_classes(_zhou_dense(graph, nodes, Y, gamma), Y) for gamma in gammas]
    few = len(nodes) <= FEW and graph.n * len(nodes) <= _COLUMNS
    if few or len(nodes) <= FOLDS * n_classes:
        kernels = zhou_at_nodes(graph, nodes, np.eye(len(nodes)), gammas)
        return [_mark_empty_classes(_off_diagonal(K) @ Y, Y) for K in kernels]
    fold = stratified_folds(part.codes[nodes], FOLDS)
    others = ~np.eye(FOLDS, dtype=bool)[fold]
    by_fold = np.hstack([Y * (fold == k)[:, None] for k in range(FOLDS)])
    found = zhou_at_nodes(graph, nodes, by_fold, gammas)
    split = [F.reshape(len(nodes), FOLDS, n_classes) for F in found]
    return [_mark_empty_classes(np.einsum("lk,lkc->lc", others, F), Y, fold) for F in split]


def _zhou_dense(graph: Graph, nodes: NDArray[Any], Y: Array, gamma: float) -> Array:
    if len(nodes) <= FEW:
        units = np.zeros((graph.n, len(nodes)))
        units[nodes, np.arange(len(nodes))] = 1.0
        return np.asarray(_off_diagonal(zhou(graph, units, gamma=gamma).f[nodes]) @ Y)
    spectrum = full_spectrum(graph)
    V, weights = spectrum.vectors[nodes], gamma / (spectrum.values + gamma)
    return np.asarray(V @ ((V.T @ Y).T * weights).T - (V**2 @ weights)[:, None] * Y)


def _off_diagonal(K: Array) -> Array:
    """Leave the own label out where nothing has to be taken away again, so that nothing cancels."""
    np.fill_diagonal(K, 0.0)
    return K


def belkin_leave_one_out(basis: Array, Y: Array) -> Array:
    """Return BelkinGC's leave-one-out values; -inf where a class has no other label.

    By the hat matrix, ``Y_i - r_i / (1 - h_ii)``; refitted where that is not determined.

    Parameters
    ----------
    basis : ndarray, shape (labels, p)
        The labelled rows of the eigenvectors.
    Y : ndarray, shape (labels, K)
        One-hot rows.
    """
    known = hat_matrix_factors(basis)
    if known is not None:
        U, own = known
        return _mark_empty_classes(Y - (Y - U @ (U.T @ Y)) / (1.0 - own)[:, None], Y)
    F = np.zeros(Y.shape)
    for i in range(len(Y)):
        rest = np.arange(len(Y)) != i
        F[i] = basis[i] @ np.linalg.lstsq(basis[rest], Y[rest], rcond=None)[0]
    return _mark_empty_classes(F, Y)


def hat_matrix_factors(basis: Array) -> tuple[Array, Array] | None:
    """Return U and ``h_ii`` of the hat matrix ``U U'``; None if a fit without i is not unique."""
    if basis.shape[0] <= basis.shape[1]:
        return None
    U, sizes, _ = np.linalg.svd(basis, full_matrices=False)
    own = np.einsum("ij,ij->i", U, U)
    if sizes[-1] <= 1e-10 * sizes[0] or own.max() > 1 - 1e-8:
        return None
    return U, own


def stratified_folds(codes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Deal the labels of every class evenly into folds; the same way every time."""
    rng = np.random.default_rng(_SEED)
    fold = np.empty(len(codes), dtype=np.int64)
    for k in np.unique(codes):
        mine = rng.permutation(np.flatnonzero(codes == k))
        fold[mine] = (np.arange(len(mine)) + rng.integers(count)) % count
    return fold


def _mark_empty_classes(F: Array, Y: Array, fold: NDArray[np.int64] | None = None) -> Array:
    """Put -inf where a class has no label left once a label, or its fold, is out."""
    out = Y
    if fold is not None:
        out = np.stack([Y[fold == k].sum(axis=0) for k in range(FOLDS)])[fold]
    return np.where(Y.sum(axis=0) - out > 0.5, F, -np.inf)

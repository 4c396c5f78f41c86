"""What ZhouGC and BelkinGC say of every label when they have not seen it, without refitting."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import SMALL, Graph
from robustgc.models import zhou
from robustgc.spectrum import full_spectrum
from robustgc.weights import Array

FEW = 200  # labels up to which each is left out by itself on a graph of any size
FOLDS = 10
_SEED = 20180521
_BLOCK = 2**24  # values of unit columns that are worth it, or held at a time: 128 MB


@dataclass(frozen=True)
class Piece:
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


def zhou_unseen(part: Piece, n_classes: int, gamma: float) -> Array:
    """Return ZhouGC's values at every label without it, a column per class; -inf: none is left.

    ``K = gamma (L_N + gamma I)^-1`` does not depend on the labels, so that leaving one out takes
    ``K_ii Y_i`` away: exact. Where that would take too many columns (above 1500 nodes with more
    than 200 labels, fewer above 100,000 nodes) a tenth of each class is left out at a time.
    """
    graph, nodes, Y = part.graph, part.labelled, part.one_hot(n_classes)
    if len(nodes) <= FEW and (graph.n * len(nodes) <= _BLOCK or len(nodes) <= FOLDS * n_classes):
        F = np.zeros(Y.shape)
        for block, K in _kernel_columns(graph, nodes, gamma):
            K[block, np.arange(len(block))] = 0.0  # nothing is taken away, so nothing cancels
            F += K @ Y[block]
        return _kept(F, Y)
    if graph.n <= SMALL:
        spectrum = full_spectrum(graph)
        V, weights = spectrum.vectors, gamma / (spectrum.values + gamma)
        own = V[nodes] ** 2 @ weights
        return _kept(V[nodes] @ ((V[nodes].T @ Y).T * weights).T - own[:, None] * Y, Y)
    fold = _folds(part.codes[nodes])
    by_fold = np.stack([_propagated(graph, nodes, Y * (fold == k)[:, None], gamma)
                        for k in range(FOLDS)])  # fmt: skip
    others = ~np.eye(FOLDS, dtype=bool)[fold]
    return _kept(np.einsum("lk,klc->lc", others, by_fold), Y, fold)


def belkin_unseen(basis: Array, Y: Array) -> Array:
    """Return BelkinGC's values at every label without it; -inf where its class has none left.

    By the hat matrix, ``Y_i - r_i / (1 - h_ii)``; refitted where that is not determined.

    Parameters
    ----------
    basis : ndarray, shape (labels, p)
        The labelled rows of the eigenvectors.
    Y : ndarray, shape (labels, K)
        One-hot rows.
    """
    known = determined(basis)
    if known is not None:
        U, own = known
        return _kept(Y - (Y - U @ (U.T @ Y)) / (1.0 - own)[:, None], Y)
    F = np.zeros(Y.shape)
    for i in range(len(Y)):
        rest = np.arange(len(Y)) != i
        F[i] = basis[i] @ np.linalg.lstsq(basis[rest], Y[rest], rcond=None)[0]
    return _kept(F, Y)


def determined(basis: Array) -> tuple[Array, Array] | None:
    """Return what spans the fits and the ``h_ii``; None where a label less leaves them open."""
    if basis.shape[0] <= basis.shape[1]:
        return None
    U, sizes, _ = np.linalg.svd(basis, full_matrices=False)
    own = np.einsum("ij,ij->i", U, U)
    if sizes[-1] <= 1e-10 * sizes[0] or own.max() > 1 - 1e-8:
        return None
    return U, own


def _kernel_columns(
    graph: Graph, nodes: NDArray[Any], gamma: float
) -> Iterator[tuple[NDArray[Any], Array]]:
    """Yield ``K[nodes, nodes[block]]``, block by block."""
    step = max(1, _BLOCK // graph.n)
    for start in range(0, len(nodes), step):
        block = np.arange(start, min(start + step, len(nodes)))
        yield block, _propagated(graph, nodes, np.eye(len(nodes))[:, block], gamma)


def _propagated(graph: Graph, nodes: NDArray[Any], Y: Array, gamma: float) -> Array:
    columns = np.zeros((graph.n, Y.shape[1]))
    columns[nodes] = Y
    return np.asarray(zhou(graph, columns, gamma=gamma, tol=1e-7).f[nodes])


def _folds(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Deal the labels of every class evenly; the same way every time."""
    rng = np.random.default_rng(_SEED)
    fold = np.empty(len(codes), dtype=np.int64)
    for k in np.unique(codes):
        mine = rng.permutation(np.flatnonzero(codes == k))
        fold[mine] = (np.arange(len(mine)) + rng.integers(FOLDS)) % FOLDS
    return fold


def _kept(F: Array, Y: Array, fold: NDArray[np.int64] | None = None) -> Array:
    """Put -inf where a class has no label left once a label, or its fold, is out."""
    out = Y
    if fold is not None:
        out = np.stack([Y[fold == k].sum(axis=0) for k in range(FOLDS)])[fold]
    return np.where(Y.sum(axis=0) - out > 0.5, F, -np.inf)

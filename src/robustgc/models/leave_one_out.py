"""Leave-one-out answers in closed form: what a model says at a label that it does not see.

All models are linear in the labels, ``F = K Y``. Where the kernel K does not depend on them,
leaving label i out takes ``K_ii Y_i`` away, exactly and without a refit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solveh_banded

from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.laplacian import operator
from robustgc.graph.weights import Array
from robustgc.linalg.spectrum import full_spectrum
from robustgc.models.paper import robust, zhou

FEW = 200  # labels up to which each is left out by itself on a graph of any size
FOLDS = 10
_SEED = 20180521
_COLUMNS = 2**22  # values of unit columns that each label by itself may take
_TOLERANCE = 1e-7  # relative to the largest value, where steps end in any case
_CHANGE = 1e-4  # relative to each value, where they may end before: enough to rank classes
_HELD = 2**24  # values in memory at a time: 128 MB


def leave_one_out(graph: Graph, y: ArrayLike, *, gamma: float) -> Array:
    """Return, at every labelled node, the decision of `robust` fitted without that label.

    The system does not depend on the labels, so leaving label i out changes ``f_i`` by the known
    amount ``K_ii y_i`` with ``K = P0 (L_N / gamma - I)^-1 P0``: exact, and no refit.

    Parameters
    ----------
    graph : Graph
    y : array-like, shape (N,) or (N, columns)
        +1, -1, 0 for unlabelled.
    gamma : float
        ``0 < gamma < lambda_1``.

    Returns
    -------
    ndarray, shape as y
        NaN at unlabelled nodes. A sign opposite to the label's: the model disagrees with it.

    Examples
    --------
    Node 4 is labelled +1 among -1: without that label the model says -1.

    >>> import numpy as np
    >>> from robustgc import Graph, lambda_1, leave_one_out
    >>> W = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    >>> W[2, 3] = W[3, 2] = 0.1
    >>> graph = Graph(W)
    >>> leave_one_out(graph, [1, 0, 0, -1, 1, -1], gamma=0.9 * lambda_1(graph)).round(1)
    array([ 1.5,  nan,  nan, -1.5, -4.5, -1.5])
    """
    f = robust(graph, y, gamma=gamma).f
    Y = np.asarray(y, dtype=float).reshape(graph.n, -1)
    nodes = np.flatnonzero(Y.any(axis=1))
    if graph.n <= SMALL:
        spectrum = full_spectrum(graph)
        diagonal = spectrum.vectors[nodes, 1:] ** 2 @ (gamma / (spectrum.values[1:] - gamma))
    else:
        diagonal = robust(graph, graph.placed(nodes, np.eye(len(nodes))), gamma=gamma).f[nodes]
        diagonal = diagonal.diagonal()
    F = without_own_label(f.reshape(Y.shape), graph.placed(nodes, diagonal), Y)
    return np.where(Y != 0, F, np.nan).reshape(f.shape)


def without_own_label(F: Array, diagonal: Array, Y: Array) -> Array:
    """Return ``F_i - K_ii Y_i``: what all other labels say at every label, for any leading axes."""
    return np.asarray(F - diagonal[..., None] * Y)


@dataclass(frozen=True)
class LabelledGraph:
    """A connected graph, its labelled nodes, and a one-hot row with the class of each."""

    graph: Graph
    nodes: NDArray[np.int64]
    Y: Array

    @classmethod
    def of(cls, graph: Graph, codes: NDArray[np.int64], n_classes: int) -> Self:
        """Read the class codes of all nodes, -1 for unlabelled."""
        nodes = np.flatnonzero(codes >= 0)
        return cls(graph, nodes, np.eye(n_classes)[codes[nodes]])

    @property
    def codes(self) -> NDArray[np.int64]:
        """The class of every label."""
        return np.asarray(self.Y.argmax(axis=1))


def zhou_leave_one_out(part: LabelledGraph, gammas: Sequence[float]) -> list[Array]:
    """Return ZhouGC's leave-one-out values at every label, for every gamma: (labels, K) each.

    ``K = gamma (L_N + gamma I)^-1``. Where each label by itself would take too many columns (above
    1500 nodes with more than 200 labels, fewer above 20,000 nodes) a tenth of each class is left
    out at a time. -inf where a class has no label left.
    """
    graph, nodes, Y = part.graph, part.nodes, part.Y
    m, n_classes = Y.shape
    if graph.n <= SMALL and m > FEW:
        spectrum = full_spectrum(graph)
        V, answers = spectrum.vectors[nodes], []
        for gamma in gammas:
            weights = gamma / (spectrum.values + gamma)
            F = V @ ((V.T @ Y).T * weights).T
            answers.append(without_own_label(F, V**2 @ weights, Y))
        return [_mark_empty_classes(F, Y) for F in answers]
    if m <= FOLDS * n_classes or (m <= FEW and graph.n * m <= _COLUMNS):
        # The own label is left out of the sum: nothing is taken away again, so nothing cancels.
        kernels = zhou_at_nodes(graph, nodes, np.eye(m), gammas)
        return [_mark_empty_classes((K * ~np.eye(m, dtype=bool)) @ Y, Y) for K in kernels]
    fold = stratified_folds(part.codes, FOLDS)
    others = ~np.eye(FOLDS, dtype=bool)[fold]
    by_fold = np.hstack([Y * (fold == k)[:, None] for k in range(FOLDS)])
    answers = zhou_at_nodes(graph, nodes, by_fold, gammas)
    split = [F.reshape(m, FOLDS, n_classes) for F in answers]
    return [_mark_empty_classes(np.einsum("lk,lkc->lc", others, F), Y, fold) for F in split]


def belkin_leave_one_out(basis: Array, Y: Array) -> Array:
    """Return BelkinGC's leave-one-out values (labels, K); -inf where a class has no other label.

    By the hat matrix, ``Y_i - r_i / (1 - h_ii)``; refitted where that is not determined. The basis
    are the labelled rows (labels, p) of the eigenvectors, Y one-hot rows (labels, K).
    """
    factors = hat_matrix_factors(basis)
    if factors is not None:
        U, own = factors
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


def zhou_at_nodes(
    graph: Graph, nodes: NDArray[Any], Y: Array, gammas: Sequence[float]
) -> list[Array]:
    """Return the rows `nodes` of ``gamma (L_N + gamma I)^-1 B``, with B zero but for Y there.

    Above 1500 nodes gammas below 1 come from one Lanczos run for all, of which only these rows are
    kept: shifted systems share their Krylov space. The number of steps grows with ``gamma^-1/2``.
    The others are answered by `zhou` one by one, which keeps signs far from the labels.
    """
    low = [gamma for gamma in gammas if gamma < 1 and graph.n > SMALL]
    answers = {gamma: np.empty(Y.shape) for gamma in gammas}
    step = max(1, _HELD // max(graph.n, len(nodes) * _max_steps(low)))
    for part in (slice(start, start + step) for start in range(0, Y.shape[1], step)):
        B = graph.placed(nodes, Y[:, part])
        for gamma, rows in zip(low, _lanczos(graph, B, nodes, low), strict=True):
            answers[gamma][:, part] = rows
        for gamma in set(gammas) - set(low):
            answers[gamma][:, part] = zhou(graph, B, gamma=gamma).f[nodes]
    return [answers[gamma] for gamma in gammas]


def _max_steps(gammas: Sequence[float]) -> int:
    """Return the steps after which conjugate gradients have converged on any graph."""
    return int(np.sqrt(2.0 / min(gammas)) / 2 * np.log(2.0 / _TOLERANCE)) + 10 if gammas else 1


def _lanczos(graph: Graph, B: Array, nodes: NDArray[Any], gammas: Sequence[float]) -> list[Array]:
    """Run a recurrence for every column, in step, until the rows looked at change no more.

    The recurrences of `linalg.lanczos` leave v0 out, which has a part in ZhouGC; they keep whole
    vectors or run twice, and end by a residual, which does not see values far from all labels.
    """
    L, limit = operator(graph), _max_steps(gammas)
    size = np.sqrt(np.einsum("ij,ij->j", B, B))
    q, before, beta = B / np.where(size > 0, size, 1.0), np.zeros_like(B), np.zeros(B.shape[1])
    rows, alphas, betas = [], [], []
    answer: list[Array] = []
    for step in range(1, limit + 1 if gammas else 0):
        rows.append(q[nodes])
        w = L(q) - beta * before
        alphas.append(np.einsum("ij,ij->j", q, w))
        w -= alphas[-1] * q
        beta = np.sqrt(np.einsum("ij,ij->j", w, w))
        beta[beta < 1e-13] = 0.0  # the space is complete
        betas.append(beta)
        before, q = q, w / np.where(beta > 0, beta, np.inf)
        if step % 20 == 0 or step == limit:
            last, answer = answer, _evaluated(np.array(rows), alphas, betas, size, gammas)
            if last and all(map(_has_converged, last, answer, [size > 0] * len(gammas))):
                break
    return answer


def _has_converged(last: Array, now: Array, counted: NDArray[np.bool_]) -> bool:
    """Whether every value has been reached, however far from its label, and has its digits."""
    still = (np.abs(now - last) <= _CHANGE * np.abs(now)) & (now != 0)
    return bool(still[:, counted].all())


def _evaluated(
    rows: Array, alphas: list[Array], betas: list[Array], size: Array, gammas: Sequence[float]
) -> list[Array]:
    """Return ``gamma Q (T + gamma I)^-1 e_1 |b|`` for every gamma and column."""
    bands = np.stack([np.vstack([np.zeros_like(betas[:1]), betas[:-1]]), np.array(alphas)])
    first = np.eye(len(alphas))[0]
    answer = []
    for gamma in gammas:
        shift = np.array([[0.0], [gamma]])
        solved = [solveh_banded(bands[:, :, c] + shift, first) for c in range(len(size))]
        weights = gamma * size * np.column_stack(solved)
        answer.append(np.einsum("kmc,kc->mc", rows, weights))
    return answer

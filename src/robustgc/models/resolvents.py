"""Solve ZhouGC for many gammas and columns on a large graph, at some nodes only."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded

from robustgc.graph.graph import Graph
from robustgc.graph.laplacian import operator
from robustgc.graph.weights import Array
from robustgc.models.paper import zhou

_TOLERANCE = 1e-7  # beside the largest value, where steps end in any case
_CHANGE = 1e-4  # beside each value, where they may end before: enough to rank classes
_HELD = 2**24  # values held at a time: 128 MB


def zhou_at_nodes(
    graph: Graph, nodes: NDArray[Any], Y: Array, gammas: Sequence[float]
) -> list[Array]:
    """Return the rows `nodes` of ``gamma (L_N + gamma I)^-1 B``, with B zero but for Y there.

    Gammas below 1 come from one Lanczos run for all, of which only these rows are kept: shifted
    systems share their Krylov space. The others are summed as a series, a few steps each, which
    keeps signs far from the labels.

    Parameters
    ----------
    graph : Graph
    nodes : ndarray of int, shape (m,)
    Y : ndarray, shape (m, columns)
    gammas : sequence of float
        For steps that grow with ``gamma^-1/2``, so not too small.
    """
    low = [gamma for gamma in gammas if gamma < 1]
    found = {gamma: np.empty(Y.shape) for gamma in gammas}
    for part in _blocks(graph.n, len(nodes) * _max_steps(low), Y.shape[1]):
        B = np.zeros((graph.n, Y[:, part].shape[1]))
        B[nodes] = Y[:, part]
        for gamma, rows in zip(low, _lanczos(graph, B, nodes, low), strict=True):
            found[gamma][:, part] = rows
        for gamma in set(gammas) - set(low):
            found[gamma][:, part] = zhou(graph, B, gamma=gamma).f[nodes]
    return [found[gamma] for gamma in gammas]


def _blocks(n: int, kept: int, columns: int) -> Iterator[slice]:
    step = max(1, _HELD // max(n, kept))
    for start in range(0, columns, step):
        yield slice(start, start + step)


def _max_steps(gammas: Sequence[float]) -> int:
    """Return the steps after which conjugate gradients have converged on any graph."""
    return int(np.sqrt(2.0 / min(gammas)) / 2 * np.log(2.0 / _TOLERANCE)) + 10 if gammas else 1


def _lanczos(graph: Graph, B: Array, nodes: NDArray[Any], gammas: Sequence[float]) -> list[Array]:
    """Run a recurrence for every column, in step, until the rows looked at change no more."""
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

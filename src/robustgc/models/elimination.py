"""Solve Dirichlet problems by elimination without subtraction: accurate for any weights."""

import numpy as np

from robustgc.graph.weights import Array

_BLOCK = 64  # nodes eliminated between two products of matrices


def harmonic_values(A: Array, boundary_weight: Array, boundary_sum: Array) -> Array:
    """Solve ``f_i = (A f + boundary_sum)_i / (A 1 + boundary_weight)_i`` for every node i.

    Nodes are taken out one by one and their weight is handed on to their neighbours. All of it
    adds, multiplies and divides numbers >= 0, and a degree is always summed afresh from the
    weights, so the error is a few roundings relative to
    ``max |boundary_sum / boundary_weight|`` for any weights, where the factors of a matrix would
    lose a cluster that is held by weak edges only.

    Parameters
    ----------
    A : ndarray, shape (n, n)
        Symmetric weights >= 0 between the free nodes; the diagonal counts as 0.
    boundary_weight : ndarray, shape (n,)
        Weight of each node's edges to the nodes whose values are given.
    boundary_sum : ndarray, shape (n, columns)
        The same edges, times the values given.

    Examples
    --------
    A path of four nodes, 1 and -1 given at its ends:

    >>> import numpy as np
    >>> from robustgc.models.elimination import harmonic_values
    >>> A = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> harmonic_values(A, np.array([1.0, 1.0]), np.array([[1.0], [-1.0]])).round(4).ravel()
    array([ 0.3333, -0.3333])
    """
    A = A.copy()
    given = np.column_stack([boundary_weight, boundary_sum])
    n, taken = len(A), []
    for end in range(n, 0, -_BLOCK):
        start = max(0, end - _BLOCK)
        block, rest = slice(start, end), slice(0, start)
        to_rest, to_given = A[block, rest].copy(), given[block].copy()
        inverse = _inverse(A[block, block], to_rest.sum(axis=1) + to_given[:, 0])
        reach = A[rest, block] @ inverse
        A[rest, rest] += reach @ to_rest
        given[rest] += reach @ to_given
        taken.append((block, inverse, to_rest, to_given[:, 1:]))
    f = np.empty(boundary_sum.shape)
    for block, inverse, to_rest, pulled in reversed(taken):
        f[block] = inverse @ (to_rest @ f[: block.start] + pulled)
    return f


def _inverse(A: Array, out: Array) -> Array:
    """Return ``(D - A)^-1`` with ``D = A 1 + out``, the diagonal of A passed over."""
    n = len(A)
    left, R = A.copy(), np.eye(n)
    np.fill_diagonal(left, 0.0)  # an edge to itself holds a node nowhere
    out = out.copy()
    pivots = np.empty(n)
    for k in range(n):
        pivots[k] = left[k, k + 1 :].sum() + out[k]
        share = left[k + 1 :, k] / pivots[k]
        left[k + 1 :, k + 1 :] += np.outer(share, left[k, k + 1 :])
        out[k + 1 :] += share * out[k]
        R[k + 1 :] += np.outer(share, R[k])
    for k in range(n - 1, -1, -1):
        R[k] = (R[k] + left[k, k + 1 :] @ R[k + 1 :]) / pivots[k]
    return R

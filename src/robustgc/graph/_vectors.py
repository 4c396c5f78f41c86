"""Compiled loops over blocks of vectors; each call covers the rows a to b - 1."""

from typing import Any

import numpy as np

from robustgc.graph._kernels import compiled


@compiled
def recur(
    w: Any, q: Any, before: Any, v0: Any, alpha: Any, beta: Any, sums: Any, a: int, b: int
) -> None:
    """Take ``alpha q + beta before`` from w; add up ``|w|^2`` and ``v0' w`` for every column."""
    columns = w.shape[1]
    for i in range(a, b):
        for c in range(columns):
            x = w[i, c] - alpha[c] * q[i, c] - beta[c] * before[i, c]
            w[i, c] = x
            sums[0, c] += np.float64(x) * x
            sums[1, c] += np.float64(x) * v0[i]


@compiled
def normalise(
    w: Any, v0: Any, off: Any, size: Any, scale: Any, q: Any, u: Any, a: int, b: int
) -> None:
    """Store ``q = (w - off v0) size`` and ``u = scale q``."""
    columns = w.shape[1]
    for i in range(a, b):
        for c in range(columns):
            x = (w[i, c] - off[c] * v0[i]) * size[c]
            q[i, c] = x
            u[i, c] = x * scale[i]


@compiled
def advance(
    w: Any,
    x: Any,
    before: Any,
    v0: Any,
    scale: Any,
    factors: Any,
    u: Any,
    copy: Any,
    sums: Any,
    a: int,
    b: int,
) -> None:
    """Store the next vectors ``f0 w + f1 x + f2 before + f3 v0`` in before, scaled in u.

    The first of them go into copy, too; ``|.|^2`` and ``v0' .`` are added up by column. The whole
    recurrence is this one pass over the vectors.
    """
    columns, kept = w.shape[1], copy.shape[0]
    for first in range(a, b, 256):  # a few rows at a time: in cache for all columns
        last = min(first + 256, b)
        for c in range(columns):
            f0, f1, f2, f3 = factors[0, c], factors[1, c], factors[2, c], factors[3, c]
            square, along = 0.0, 0.0
            for i in range(first, last):
                y = f0 * w[i, c] + f1 * x[i, c] + (f2 * before[i, c] + f3 * v0[i])
                before[i, c] = y
                u[i, c] = y * scale[i]
                square += np.float64(y) * y
                along += np.float64(y) * v0[i]
            if c < kept:
                for i in range(first, last):
                    copy[c, i] = before[i, c]
            sums[0, c] += square
            sums[1, c] += along


@compiled
def chebyshev(
    indptr: Any,
    indices: Any,
    data: Any,
    scale: Any,
    x: Any,
    before: Any,
    factors: Any,
    shares: Any,
    sums: Any,
    a: int,
    b: int,
) -> None:
    """Store ``f0 L_N x + f1 x + f2 before`` in before; add shares of all three to the sums.

    One pass over the matrix and the vectors. Shares are those of the new vector, of x and of what
    before was, by sum: sums that are added to every third time only. The loops over columns are
    those that become vector instructions, so sums are in the precision of x.
    """
    columns, f1, f2 = x.shape[1], factors[1], factors[2]
    one = x.dtype.type(1)
    row = np.empty(columns, x.dtype)
    for i in range(a, b):
        own = scale[i]
        for c in range(columns):
            row[c] = 0
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = np.uint64(indices[p])
            w = one if data is None else x.dtype.type(data[p])
            other = scale[j]
            for c in range(columns):
                row[c] += w * (own * x[i, c] - other * x[j, c])
        own *= factors[0]
        for c in range(columns):
            row[c] = own * row[c] + f1 * x[i, c] + f2 * before[i, c]
        for s in range(shares.shape[1]):
            s0, s1, s2 = shares[0, s], shares[1, s], shares[2, s]
            for c in range(columns):
                sums[s, i, c] += s0 * row[c] + s1 * x[i, c] + s2 * before[i, c]
        for c in range(columns):
            before[i, c] = row[c]

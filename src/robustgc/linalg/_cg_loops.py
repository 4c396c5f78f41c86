"""Compiled loops of multigrid and conjugate gradients; each call covers the rows a to b - 1.

Loops over columns become vector instructions, and sums of a row are in the precision of x.
"""

from typing import Any

import numpy as np

from robustgc.graph.loops import compiled

_CHUNK = 256  # rows whose sums are in the precision of the vectors


@compiled
def plus_product(
    indptr: Any,
    indices: Any,
    data: Any,
    scale: Any,
    before: Any,
    factor: Any,
    x: Any,
    out: Any,
    a: int,
    b: int,
) -> None:
    """Store ``scale before + factor A x``; ``scale = None`` means 1."""
    columns = x.shape[1]
    row = np.empty(columns, x.dtype)
    for i in range(a, b):
        own = x.dtype.type(1) if scale is None else scale[i]
        for c in range(columns):
            row[c] = own * before[i, c]
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j, w = np.uint64(indices[p]), factor * data[p]
            for c in range(columns):
                row[c] += w * x[j, c]
        for c in range(columns):
            out[i, c] = row[c]


@compiled
def damped(
    indptr: Any,
    indices: Any,
    data: Any,
    inverse: Any,
    right: Any,
    factors: Any,
    x: Any,
    before: Any,
    a: int,
    b: int,
) -> None:
    """Store ``x + f0 inverse (right - A x) + f1 (x - before)`` in before."""
    columns, f1 = x.shape[1], factors[1]
    row = np.empty(columns, x.dtype)
    for i in range(a, b):
        for c in range(columns):
            row[c] = right[i, c]
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j, w = np.uint64(indices[p]), data[p]
            for c in range(columns):
                row[c] -= w * x[j, c]
        own = factors[0] * inverse[i]
        for c in range(columns):
            before[i, c] = x[i, c] + own * row[c] + f1 * (x[i, c] - before[i, c])


@compiled
def inner(A: Any, x: Any, y: Any, sums: Any, a: int, b: int) -> None:
    """Add ``A' y`` to the first rows of the sums and ``x . y`` by column to the last."""
    columns, known = y.shape[1], A.shape[1]
    some = np.empty((known + 1, columns), y.dtype)
    for first in range(a, b, _CHUNK):
        some[:] = 0
        for i in range(first, min(first + _CHUNK, b)):
            for q in range(known):
                own = A[i, q]
                for c in range(columns):
                    some[q, c] += own * y[i, c]
            for c in range(columns):
                some[known, c] += x[i, c] * y[i, c]
        sums += some


@compiled
def descend(alpha: Any, p: Any, image: Any, x: Any, r: Any, sums: Any, a: int, b: int) -> None:
    """Add ``alpha p`` to x, take ``alpha image`` from r, and add up ``|r|^2`` by column."""
    columns = p.shape[1]
    some = np.empty(columns, p.dtype)
    for first in range(a, b, _CHUNK):
        some[:] = 0
        for i in range(first, min(first + _CHUNK, b)):
            for c in range(columns):
                x[i, c] += alpha[c] * p[i, c]
                y = r[i, c] - alpha[c] * image[i, c]
                r[i, c] = y
                some[c] += y * y
        sums += some


@compiled
def turn(A: Any, known: Any, beta: Any, z: Any, p: Any, a: int, b: int) -> None:
    """Store ``z - A known + beta p`` in p."""
    columns = p.shape[1]
    for i in range(a, b):
        for c in range(columns):
            p[i, c] = z[i, c] + beta[c] * p[i, c]
        for q in range(A.shape[1]):
            own = A[i, q]
            for c in range(columns):
                p[i, c] -= own * known[q, c]

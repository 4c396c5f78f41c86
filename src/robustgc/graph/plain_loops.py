"""The loops of `graph.loops` and `io._rows` in numpy: the same names, and the same results.

For graphs that are answered before numba is loaded. Every function takes what its compiled twin
takes, and its sums have the same order.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

# Of `merge`, here and compiled.
FOUND = 9  # numbers that it leaves for every range of rows
ROUNDING = 1e-12  # of two directions that are meant to have the same weight
MEAN, MAX = 1, 2  # ways to make one weight of two; 3 is their sum


def _rows(indptr: Any, a: int, b: int) -> NDArray[np.int64]:
    """Return the row of every entry of the rows a to b - 1."""
    return np.repeat(np.arange(a, b), np.diff(indptr[a : b + 1]))


def _entries(
    indptr: Any, indices: Any, data: Any, a: int, b: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return row, column and weight of these entries."""
    part = slice(int(indptr[a]), int(indptr[b]))
    j = indices[part].astype(np.int64)
    w = np.ones(len(j)) if data is None else data[part].astype(np.float64)
    return _rows(indptr, a, b), j, w


def product(indptr: Any, indices: Any, data: Any, u: Any, out: Any, a: int, b: int) -> None:
    """Store ``sum_j w_ij u_j``."""
    _, j, w = _entries(indptr, indices, data, a, b)
    starts = indptr[a : b + 1] - indptr[a]
    out[a:b] = sp.csr_array((w, j, starts), shape=(b - a, len(u))) @ u


def inspect(
    indptr: Any, indices: Any, data: Any, columns: int, degrees: Any, stats: Any, a: int, b: int
) -> None:
    """Store the degrees, and in `stats` what the checks need to know of the entries."""
    i, j, w = _entries(indptr, indices, data, a, b)
    odd = (j < 0) | (j >= columns)
    odd[1:] |= (i[1:] == i[:-1]) & (j[1:] <= j[:-1])
    for k, fault in enumerate((odd, ~((w >= 0) & (w < np.inf)), w == 0, i == j)):
        stats[k] += fault.sum()
    stats[4] = min(stats[4], w.min(initial=np.inf))
    stats[5] = max(stats[5], w.max(initial=-np.inf))
    degrees[a:b] = np.bincount(i - a, w, minlength=b - a)


def diagonal(indptr: Any, indices: Any, data: Any, out: Any, a: int, b: int) -> None:
    """Store the entries ``w_ii``."""
    i, j, w = _entries(indptr, indices, data, a, b)
    out[i[i == j]] = w[i == j]


def _scrambled_bits(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def asymmetry(indptr: Any, indices: Any, bits: Any, first: int, out: Any, a: int, b: int) -> None:
    """Store the sum of a hash of the entries above the diagonal, less that of those below."""
    row = (_rows(indptr, a, b) + first).astype(np.uint64)
    part = slice(int(indptr[a]), int(indptr[b]))
    j = indices[part].astype(np.uint64)
    low, high = np.minimum(row, j), np.maximum(row, j)
    h = _scrambled_bits(_scrambled_bits(low * np.uint64(0x9E3779B97F4A7C15) + high) + np.uint64(1))
    if bits is not None:
        h = _scrambled_bits(h ^ bits[part])
    out[0] = (h * (j > row) - h * (j < row)).sum(dtype=np.uint64)  # arrays wrap around unwarned


def components(indptr: Any, indices: Any, data: Any, root: Any, least: float, number: Any) -> int:
    """Give components numbers in the order of their first node; return how many there are."""
    n = len(number)
    i, j, w = _entries(indptr, indices, data, 0, n)
    inside = j < n  # others are nodes of other processes
    i, j, w = i[inside], j[inside], w[inside]
    joined = w / root[i] / root[j] > least  # divided: the product of tiny roots would be 0
    ends = (i[joined], j[joined])
    pattern = sp.csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(n, n))
    count, number[:] = connected_components(pattern, directed=False)
    return int(count)


def count(sources: Any, targets: Any, counts: Any) -> None:
    """Count the entries of every row; an edge has one in the rows of both its nodes."""
    for ends in (sources, targets[sources != targets]):
        counts += np.bincount(ends, minlength=len(counts))


def fill(sources: Any, targets: Any, weights: Any, place: Any, entries: Any, values: Any) -> None:
    """Write the entries of all edges from `place` on, in the order of the edges."""
    s, t = sources.astype(np.int64), targets.astype(np.int64)
    both = np.stack([np.ones(len(s), dtype=bool), s != t], axis=1).ravel()
    rows = np.stack([s, t], axis=1).ravel()[both]
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    at = place[rows] + np.arange(len(rows)) - np.searchsorted(rows, rows)
    entries[at] = np.stack([2 * t, 2 * s + 1], axis=1).ravel()[both][order]
    if values is not None:
        values[at] = 1.0 if weights is None else np.repeat(weights, 2)[both][order]


def merge(
    indptr: Any, entries: Any, values: Any, way: int, kept: Any, findings: Any, a: int, b: int
) -> None:
    """Sort every row and make one entry of all of a neighbour, at the start of the row."""
    rows, mine, w = _entries(indptr, entries, values, a, b)
    order = np.lexsort((mine, rows))
    mine, w = mine[order], w[order]
    j, back = mine // 2, mine % 2 == 1
    new = np.ones(len(j), dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]) | (j[1:] != j[:-1])
    group = np.cumsum(new) - 1
    i, j = rows[new], j[new]
    there, out = _per_group(group[~back], w[~back], len(i))
    backs, into = _per_group(group[back], w[back], len(i))
    findings[0] += np.maximum(there - 1, 0).sum()
    findings[1] += (i == j).sum()
    whole = np.maximum(out, into)  # they are the same but for rounding, or one is not there
    if way == 0:
        differ = (there > 0) & (backs > 0) & (abs(out - into) > ROUNDING * whole) & (i < j)
        findings[4] += differ.sum()
        if differ.any():
            k = int(differ.argmax())
            findings[5:9] = i[k] + 1, j[k] + 1, out[k], into[k]
    elif way != MAX:
        whole = np.where(i == j, whole, (out + into) / (2 if way == MEAN else 1))
    left = whole != 0
    findings[2] += (~left).sum()
    findings[3] += (whole[left] != 1).sum()
    kept[a:b] = np.bincount(i[left] - a, minlength=b - a)
    before = np.cumsum(kept[a:b]) - kept[a:b]
    at = np.repeat(indptr[a:b] - before, kept[a:b]) + np.arange(int(left.sum()))
    entries[at] = j[left]
    if values is not None:
        values[at] = whole[left]


def _per_group(
    group: NDArray[np.int64], w: NDArray[np.float64], groups: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return how many there are in every group, and the sum of their weights as they come."""
    return np.bincount(group, minlength=groups), np.bincount(group, w, minlength=groups)


def pack(indptr: Any, kept: Any, entries: Any, values: Any) -> int:
    """Move the kept entries of all rows together and correct the row pointers."""
    counts = np.diff(indptr)
    rank = np.arange(len(entries)) - np.repeat(indptr[:-1], counts)
    left = rank < np.repeat(kept, counts)
    indptr[1:] = np.cumsum(kept)
    for array in (entries,) if values is None else (entries, values):
        array[: indptr[-1]] = array[left]
    return int(indptr[-1])

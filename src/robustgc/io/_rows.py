"""Compiled loops that put edges into rows, for `robustgc.io.rows`.

While rows are made, the entry of a neighbour j is ``2 j``, plus 1 where the edge was given from j.
"""

from typing import Any

import numpy as np

from robustgc.graph.loops import compiled
from robustgc.graph.plain_loops import MAX, MEAN, ROUNDING

SHORT = 64  # entries of a row that insertion sorts fastest


@compiled
def count(sources: Any, targets: Any, counts: Any) -> None:
    """Count the entries of every row; an edge has one in the rows of both its nodes."""
    for e in range(len(sources)):
        i, j = sources[e], targets[e]
        counts[i] += 1
        if i != j:
            counts[j] += 1


@compiled
def fill(sources: Any, targets: Any, weights: Any, place: Any, entries: Any, values: Any) -> None:
    """Write the entries of all edges; `place` has the next free one of every row.

    Without weights every edge has 1.
    """
    for e in range(len(sources)):
        i, j = sources[e], targets[e]
        p = place[i]
        place[i] = p + 1
        entries[p] = 2 * j
        if values is not None:
            values[p] = 1.0 if weights is None else weights[e]
        if i != j:
            p = place[j]
            place[j] = p + 1
            entries[p] = 2 * i + 1
            if values is not None:
                values[p] = 1.0 if weights is None else weights[e]


@compiled
def _sort(entries: Any, values: Any, first: int, last: int) -> None:
    """Sort one row, equal entries in the order of the input."""
    if last - first > SHORT:
        if values is None:
            entries[first:last].sort()
        else:
            order = np.argsort(entries[first:last], kind="mergesort")
            entries[first:last] = entries[first:last][order]
            values[first:last] = values[first:last][order]
        return
    for p in range(first + 1, last):
        entry, q = entries[p], p
        value = 0.0 if values is None else values[p]
        while q > first and entries[q - 1] > entry:
            entries[q] = entries[q - 1]
            if values is not None:
                values[q] = values[q - 1]
            q -= 1
        entries[q] = entry
        if values is not None:
            values[q] = value


@compiled
def merge(
    indptr: Any, entries: Any, values: Any, way: int, lengths: Any, counts: Any, a: int, b: int
) -> None:
    """Sort every row and make one entry of all of a neighbour, at the start of the row.

    `counts`: copies, self-loops, zeros, weights other than 1, pairs whose directions differ, and of
    the first such pair both nodes + 1 and both weights. Copies are added up as they came.
    """
    for i in range(a, b):
        first, last = indptr[i], indptr[i + 1]
        _sort(entries, values, first, last)
        p = q = first
        while p < last:
            j = entries[p] // 2
            there, back, out, into = 0, 0, 0.0, 0.0
            while p < last and entries[p] // 2 == j:
                w = 1.0 if values is None else values[p]
                if entries[p] % 2 == 0:
                    there, out = there + 1, out + w
                else:
                    back, into = back + 1, into + w
                p += 1
            if i == j:
                counts[1] += 1
            counts[0] += max(there - 1, 0)
            w = max(out, into)  # they are the same but for rounding, or one is not there
            if way == 0:
                if there > 0 and back > 0 and abs(out - into) > ROUNDING * w and i < j:
                    counts[4] += 1
                    if counts[5] == 0:
                        counts[5], counts[6], counts[7], counts[8] = i + 1, j + 1, out, into
            elif i != j:
                w = max(out, into) if way == MAX else out + into
                if way == MEAN:
                    w /= 2
            if w == 0:
                counts[2] += 1
                continue
            counts[3] += w != 1
            entries[q] = j
            if values is not None:
                values[q] = w
            q += 1
        lengths[i] = q - first


@compiled
def pack(indptr: Any, lengths: Any, entries: Any, values: Any) -> int:
    """Move the merged entries of all rows together and correct the row pointers."""
    q = 0
    for i in range(len(lengths)):
        first = indptr[i]
        indptr[i] = q
        for p in range(first, first + lengths[i]):
            entries[q] = entries[p]
            if values is not None:
                values[q] = values[p]
            q += 1
    indptr[len(lengths)] = q
    return q

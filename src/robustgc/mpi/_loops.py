"""Compiled loops over names, edges and rows that are distributed over ranks.

A rank's rows are counted from its first one, and in `post` and `put` the columns are so too: the
entry of a neighbour is twice that number, which may be negative, plus 1 where the edge was given
from there. `robustgc.io._rows` merges such rows as it does whole matrices.

The columns of a rank's rows are numbered anew: the rows' own first, then all others. Which others
there are is kept in a bit for every node: 1/8 byte each, and as much for counts.
"""

from typing import Any

import numpy as np

from robustgc.graph.loops import compiled, mixed


@compiled
def owners_of_numbers(names: Any, size: int, out: Any) -> None:
    """Give every number to a rank, by its hash."""
    for k in range(len(names)):
        h = mixed(np.uint64(names[k]) + np.uint64(0x9E3779B97F4A7C15))
        out[k] = h % np.uint64(size)


@compiled
def owners_of_text(offsets: Any, letters: Any, size: int, out: Any) -> None:
    """Give every text to a rank, by a hash of its bytes (FNV-1a, its bits mixed)."""
    for k in range(len(out)):
        h = np.uint64(0xCBF29CE484222325)
        for p in range(offsets[k], offsets[k + 1]):
            h = (h ^ np.uint64(letters[p])) * np.uint64(0x100000001B3)
        out[k] = mixed(h) % np.uint64(size)


@compiled
def post(
    sources: Any,
    targets: Any,
    weights: Any,
    owner: Any,
    number: Any,
    first: Any,
    place: Any,
    rows: Any,
    entries: Any,
    values: Any,
) -> None:
    """Write the entries of edges by rank; `place` has the next free one of every rank."""
    for e in range(len(sources)):
        for back in range(2):
            i, j = (targets[e], sources[e]) if back else (sources[e], targets[e])
            if back and i == j:
                continue
            r = owner[i]
            p = place[r]
            place[r] = p + 1
            rows[p] = number[i] - first[r]
            entries[p] = 2 * (number[j] - first[r]) + back
            if weights is not None:
                values[p] = weights[e]


@compiled
def put(rows: Any, entries: Any, values: Any, place: Any, out: Any, out_values: Any) -> None:
    """Move entries to their rows; `place` has the next free one of every row."""
    for k in range(len(rows)):
        p = place[rows[k]]
        place[rows[k]] = p + 1
        out[p] = entries[k]
        if values is not None:
            out_values[p] = values[k]


@compiled
def mark(indices: Any, first: int, last: int, bits: Any) -> None:
    """Set the bits of all columns outside of ``first`` to ``last - 1``."""
    for p in range(len(indices)):
        j = np.int64(indices[p])
        if j < first or j >= last:
            bits[j >> 6] |= np.uint64(1) << np.uint64(j & 63)


@compiled
def _ones(x: Any) -> Any:
    """Count the bits of a 64-bit word that are set."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def count(bits: Any, before: Any) -> None:
    """Store how many bits are set before every word, and in all."""
    total = np.int64(0)
    for k in range(len(bits)):
        before[k] = total
        total += np.int64(_ones(bits[k]))
    before[len(bits)] = total


@compiled
def listed(bits: Any, out: Any) -> None:
    """Store the numbers of the set bits, ascending."""
    place = 0
    for k in range(len(bits)):
        word = bits[k]
        while word:
            low = word & (~word + np.uint64(1))
            out[place] = 64 * k + np.int64(_ones(low - np.uint64(1)))
            place += 1
            word ^= low


@compiled
def renumber(indices: Any, first: int, last: int, bits: Any, before: Any, out: Any) -> None:
    """Store the new number of every column: from 0 in the rows' own range, then the others."""
    for p in range(len(indices)):
        j = np.int64(indices[p])
        if first <= j < last:
            out[p] = j - first
        else:
            below = bits[j >> 6] & ((np.uint64(1) << np.uint64(j & 63)) - np.uint64(1))
            out[p] = last - first + before[j >> 6] + np.int64(_ones(below))


@compiled
def smallest(
    indptr: Any,
    indices: Any,
    data: Any,
    root: Any,
    least: float,
    number: Any,
    labels: Any,
    found: Any,
) -> None:
    """Lower ``found`` of every row's piece to the labels of other ranks' nodes joined to it."""
    n = len(number)
    for i in range(n):
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = indices[p]
            if j >= n:
                w = 1.0 if data is None else data[p]
                if w > least * root[i] * root[j] and labels[j] < found[number[i]]:
                    found[number[i]] = labels[j]

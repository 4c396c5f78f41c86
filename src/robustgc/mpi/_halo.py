"""Compiled loops that number the columns of some rows: the rows' own first, then all others.

Which columns there are is kept in a bit for every node: 1/8 byte each, and as much for counts.
"""

from typing import Any

import numpy as np

from robustgc.graph.loops import compiled


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

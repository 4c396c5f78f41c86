"""Compiled loops over edges and rows that are distributed over ranks.

A rank's rows are counted from its first one, and in `post` and `put` the columns are so too: the
entry of a neighbour is twice that number, which may be negative, plus 1 where the edge was given
from there. `robustgc.io._rows` merges such rows as it does whole matrices.
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
def inspect(indptr: Any, indices: Any, data: Any, n: int, faults: Any, a: int, b: int) -> None:
    """Read every entry once, as `graph.loops.inspect` does where all rows are there.

    faults[0]: entries out of order, repeated or out of range; [1]: not finite or negative; [2]:
    zero; [3]: other than 1; [4]: rows whose sum overflows.
    """
    for i in range(a, b):
        total, before = 0.0, -1
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            w = 1.0 if data is None else data[p]
            faults[0] += j <= before or j >= n
            faults[1] += not (0.0 <= w < np.inf)
            faults[2] += w == 0.0
            faults[3] += w != 1.0
            total += w
            before = j
        faults[4] += not total < np.inf

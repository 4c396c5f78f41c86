"""Compiled loops that sort edges, and read them from text, for `buckets` and `chunks`.

An edge is a record of one or two 64-bit words: ``row * 2^32 + column`` and the bits of the weight.
The loops release the interpreter lock and keep equal keys in the order of the input.
"""

from typing import Any

import numpy as np

from robustgc.graph.loops import compiled


@compiled
def _starts(counts: Any) -> None:
    """Replace how many there are in every group by where the group starts."""
    start = 0
    for d in range(len(counts)):
        start, counts[d] = start + counts[d], start


@compiled
def _put(records: Any, p: int, place: Any, group: int, out: Any) -> None:
    """Copy a record to the next free place of its group."""
    q = place[group]
    place[group] = q + 1
    out[q, 0] = records[p, 0]
    if records.shape[1] == 2:
        out[q, 1] = records[p, 1]


@compiled
def radix_pass(records: Any, out: Any, shift: int, counts: Any) -> None:
    """Order the records by ``len(counts)`` values of the key, from the bit `shift` on."""
    s, mask = np.uint64(shift), np.uint64(len(counts) - 1)
    counts[:] = 0
    for p in range(len(records)):
        counts[(records[p, 0] >> s) & mask] += 1
    _starts(counts)
    for p in range(len(records)):
        _put(records, p, counts, (records[p, 0] >> s) & mask, out)


@compiled
def distribute(records: Any, cuts: Any, out: Any, ends: Any) -> None:
    """Group the records by ``cuts[d - 1] <= key < cuts[d]``; group d ends at ``ends[d]``.

    `cuts` has a power of two minus one values, so that the search has no branches.
    """
    half = (len(cuts) + 1) // 2
    groups = np.empty(len(records), dtype=np.uint16)
    ends[:] = 0
    for p in range(len(records)):
        key, group, step = records[p, 0], 0, half
        while step > 0:
            group += step * (cuts[group + step - 1] <= key)
            step //= 2
        groups[p] = group
        ends[group] += 1
    _starts(ends)
    for p in range(len(records)):
        _put(records, p, ends, groups[p], out)


@compiled
def merge(records: Any, floats: Any, add: bool, counts: Any) -> int:
    """Keep one record per key of sorted records, at the front; return how many are kept.

    `floats` are the same records as numbers, for the weights. counts[0]: pairs with copies, [1]:
    key of the first; [2]: pairs whose weights differ or, if added, overflow, [3]: the first key.
    """
    two, kept, alone = records.shape[1] == 2, 0, True
    for p in range(1, len(records)):
        key = records[p, 0]
        if key != records[kept, 0]:
            kept, alone = kept + 1, True
            records[kept, 0] = key
            if two:
                records[kept, 1] = records[p, 1]
            continue
        if alone and (key >> np.uint64(32)) <= (key & np.uint64(0xFFFFFFFF)):
            counts[1] = key if counts[0] == 0 else counts[1]
            counts[0] += np.uint64(1)
        alone = False
        if two and add:
            floats[kept, 1] += floats[p, 1]
        if two and (floats[kept, 1] == np.inf if add else floats[kept, 1] != floats[p, 1]):
            counts[3] = key if counts[2] == 0 else counts[3]
            counts[2] += np.uint64(1)
    return kept + 1


# Whole numbers below 2^53 and these powers are exact, so one division rounds correctly.
_POWERS = np.array([float(f"1e{k}") for k in range(16)])
_SPACE, _TAB, _RETURN, _LINE, _COMMA, _DOT = 32, 9, 13, 10, 44, 46


@compiled
def _digits(text: Any, p: int) -> Any:
    """Read digits from p on: the number, where it ends."""
    number = np.int64(0)
    while 48 <= text[p] <= 57:
        number = number * 10 + (text[p] - 48)
        p += 1
    return number, p


@compiled
def _blanks(text: Any, p: int) -> int:
    while text[p] == _SPACE or text[p] == _TAB:
        p += 1
    return p


@compiled
def _gap(text: Any, p: int) -> int:
    """Step over one separator: spaces, tabs, at most one comma."""
    p = _blanks(text, p)
    return _blanks(text, p + 1) if text[p] == _COMMA else p


@compiled
def _word_end(text: Any, p: int) -> int:
    while text[p] > _SPACE and text[p] != _COMMA:
        p += 1
    return p


@compiled
def _weight(text: Any, p: int) -> Any:
    """Read a plain decimal of at most 15 digits; 0: it is not so plain."""
    whole, dot = _digits(text, p)
    part, end = _digits(text, dot + 1) if text[dot] == _DOT else (np.int64(0), dot)
    digits = end - p - (text[dot] == _DOT)
    if not 0 < digits <= 15 or end != _word_end(text, p):
        return 0.0
    power = _POWERS[max(0, end - dot - 1)]
    return (whole * power + part) / power


@compiled
def parse(
    text: Any, rest: bool, limit: int, sources: Any, targets: Any, weights: Any, hard: Any
) -> Any:
    """Read the lines of a text that ends with a line end: how many edges, how many hard lines.

    Without `weights` there are two columns, or more if `rest`. A line that is not plain keeps its
    place; `hard` has its edge and start, and start and end of the weight if only that is not plain.
    """
    p, k, h = 0, 0, 0
    while p < len(text):
        start = p
        p = _blanks(text, p)
        empty = text[p] == _LINE or (text[p] == _RETURN and text[p + 1] == _LINE)
        if not empty and text[p] != 35 and text[p] != 37:  # comments: # and %
            word, exact = start, True
            i, end = _digits(text, p)
            plain = 0 < end - p <= 10 and i < limit
            p = _gap(text, end)
            plain &= p > end
            j, end = _digits(text, p)
            plain &= 0 < end - p <= 10 and j < limit
            if weights is not None:
                p = _gap(text, end)
                plain &= p > end
                weights[k], word = _weight(text, p), p
                end = _word_end(text, p)
                plain &= end > p
                exact = weights[k] > 0
            p = _blanks(text, end)
            more = rest and (p > end or text[p] == _COMMA)
            if text[p] == _RETURN:
                p += 1
            plain &= text[p] == _LINE or more
            sources[k], targets[k] = i, j
            if not (plain and exact):
                hard[h, 0], hard[h, 1] = k, start
                hard[h, 2], hard[h, 3] = (word, end) if plain else (start, start)
                h += 1
            k += 1
        while text[p] != _LINE:
            p += 1
        p += 1
    return k, h

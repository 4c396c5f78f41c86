"""Edges, each given once or in both directions -> the rows of one symmetric matrix."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.csr import CSR, PARTS
from robustgc.graph.plain_loops import FOUND
from robustgc.graph.quoting import quoted, short
from robustgc.io.errors import InputError

_MANY = 2**20  # edges at a time whose copies are added up
_SAMPLE = 2**14
_FEW = 2**18  # entries that numpy has sorted before numba is loaded
WAYS = ("mean", "max", "sum")  # numbered from 1, as in _rows.merge


class EdgeCounts(NamedTuple):
    """What `_rows.merge` has counted, and the first pair of nodes whose directions differ."""

    copies: int
    self_loops: int
    zeros: int
    not_one: int  # weights other than 1
    differing: int
    pair: tuple[float, float, float, float]  # both nodes, both weights

    def notes(self) -> tuple[str, ...]:
        """Say what the user should know of the edges."""
        every = [
            (self.copies, "came more than once; the weights were added up"),
            (self.zeros // 2, "of weight 0 left out"),
        ]
        notes = [f"{_edges(count)} {text}" for count, text in every if count]
        if loops := self.self_loops:
            notes.append(f"{loops} self-loop{'s' * (loops > 1)} kept; they count in the degree")
        return tuple(notes)


def _edges(count: int) -> str:
    return f"{count} edge{'s' * (count != 1)}"


def refuse_directed(
    count: int, pair: tuple[float, float, float, float], names: Any, where: str
) -> None:
    """Refuse `count` edges whose two directions have different weights, if there are any.

    `pair` has the nodes of the first one, and its weights; `names` has the names of nodes.
    """
    if not count:
        return
    i, j = (short(str(names[int(k)]), 90) for k in pair[:2])
    raise InputError(
        f"{where}: {_edges(count)} came in both directions with different weights (where there "
        f"are none, not as often), first {i} - {j}: {pair[2]:g} there, {pair[3]:g} back. The "
        "graph must be undirected: correct it, or choose with --symmetrise "
        f"{'|'.join(WAYS)} (symmetrise= in Python)."
    )


def edge_name(where: str, names: Any, i: int, j: int) -> str:
    """Name an edge by its nodes, for `check_edge_weights`."""
    return f"{where}, edge {short(str(names[i]), 90)} - {short(str(names[j]), 90)}"


def check_edge_weights(weights: NDArray[np.float64], edge: Callable[[int], str]) -> None:
    """Refuse weights that are negative or not finite; `edge` names an edge by its number."""
    bad = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if len(bad):
        weight = weights[bad[0]]
        raise InputError(
            f"{edge(int(bad[0]))}: weight {weight:g} is "
            f"{'negative' if weight < 0 else 'not finite'} ({len(bad)} such in all). Weights say "
            "how alike two nodes are: give finite numbers of 0 or more."
        )


def assemble(
    sources: NDArray[Any],
    targets: NDArray[Any],
    weights: NDArray[np.float64] | None,
    names: Sequence[Any] | NDArray[Any],
    *,
    symmetrise: str | None = None,
    where: str = "The graph",
) -> tuple[CSR, tuple[str, ...]]:
    """Put edges together, in two passes over them and one over the rows; also say what was noticed.

    An edge may be given once, or in both directions with the same weight: it is one edge then.
    Copies of the same pair in the same direction are added up. `symmetrise` says what to do where
    the two directions differ, a missing one counting as 0; without it an edge given in one
    direction is an edge, and different weights are refused. Weights have been checked; None: 1
    each. `names` are those of all nodes, in the order of their numbers.
    """
    way, n = way_number(symmetrise), len(names)
    sources, targets, weights, copies = _without_copies(sources, targets, weights)
    counts, indptr, entries, values = _rows(sources, targets, weights, n, way)
    if values is None and counts.not_one:  # copies: there are weights after all
        del entries
        counts, indptr, entries, values = _rows(sources, targets, None, n, way, ones=True)
    refuse_directed(counts.differing, counts.pair, names, where)
    notes = counts._replace(copies=counts.copies + copies).notes()
    return CSR(indptr, entries, values if counts.not_one else None), notes


def _rows(
    sources: NDArray[Any],
    targets: NDArray[Any],
    weights: NDArray[np.float64] | None,
    n_nodes: int,
    way: int,
    *,
    ones: bool = False,
) -> tuple[EdgeCounts, NDArray[np.int64], NDArray[Any], NDArray[np.float64] | None]:
    """Put edges into rows: what was counted, row pointers, columns and weights.

    Edges without weights have none in the rows either, unless `ones` says so.
    """
    loops = _loops(2 * len(sources))
    indptr = np.zeros(n_nodes + 1, dtype=np.int64)
    loops.count(sources, targets, indptr[1:])
    np.cumsum(indptr, out=indptr)
    entries = np.empty(indptr[-1], dtype=index_type(2 * n_nodes))
    values = np.empty(indptr[-1]) if ones or weights is not None else None
    loops.fill(sources, targets, weights, indptr[:-1].copy(), entries, values)
    counts, lengths = merge_rows(indptr, entries, values, way)
    if not counts.differing:
        entries, values = pack_rows(indptr, lengths, entries, values)
    return counts, indptr, entries, values


def _loops(entries: int) -> Any:
    """Return the loops over rows, compiled where there are many entries."""
    return threads.loops("io._rows" if entries > _FEW else "graph.plain_loops")


def _without_copies(
    sources: NDArray[Any], targets: NDArray[Any], weights: NDArray[np.float64] | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None, int]:
    """Add up copies first where a sample has many: rows would take room for all of them.

    Also returns how many there were more than once.
    """
    many = len(sources)
    some = slice(None, None, many // _SAMPLE + 1)
    if many < _MANY or 2 * len(np.unique(_keys(sources[some], targets[some]))) > _SAMPLE // 2:
        return sources, targets, weights, 0
    keys, sums = np.empty(0, dtype=np.int64), np.zeros(0)
    for start in range(0, many, _MANY):
        part = slice(start, start + _MANY)
        new = np.ones(len(sources[part])) if weights is None else weights[part]
        keys, place = np.unique(
            np.concatenate([keys, _keys(sources[part], targets[part])]), return_inverse=True
        )
        sums = np.bincount(place, np.concatenate([sums, new])).astype(np.float64, copy=False)
    return keys >> 32, keys & (2**32 - 1), sums, many - len(keys)


def _keys(sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int64]:
    """Return both ends in one word."""
    return (sources.astype(np.int64) << 32) | targets.astype(np.int64)


def way_number(symmetrise: str | None) -> int:
    """Return the number by which `_rows.merge` knows what to do with two directions."""
    if symmetrise not in (None, *WAYS):
        raise InputError(
            f"symmetrise={quoted(symmetrise)} is unknown; choose from {', '.join(WAYS)}."
        )
    return 0 if symmetrise is None else 1 + WAYS.index(symmetrise)


def index_type(count: int) -> Any:
    """Return the smallest type for whole numbers below `count`."""
    return np.int32 if count < 2**31 else np.int64


def merge_rows(
    indptr: NDArray[np.int64], entries: NDArray[Any], values: NDArray[np.float64] | None, way: int
) -> tuple[EdgeCounts, NDArray[np.int64]]:
    """Make one entry of all of a neighbour, in place; also return how many every row has then.

    Columns may be counted from any node, below 0 too, as long as rows are counted from the same.
    """
    loops = _loops(len(entries))
    lengths = np.empty(len(indptr) - 1, dtype=np.int64)
    cuts = threads.even_entries(indptr, PARTS)
    start = np.zeros(FOUND)
    parts = threads.collect(loops.merge, cuts, indptr, entries, values, way, lengths, found=start)
    counts = parts.sum(axis=0)[:5].astype(int).tolist()
    i, j, there, back = next((part[5:9] for part in parts if part[5]), np.zeros(4)).tolist()
    return EdgeCounts._make([*counts, (i - 1, j - 1, there, back)]), lengths


def pack_rows(
    indptr: NDArray[np.int64],
    lengths: NDArray[np.int64],
    entries: NDArray[Any],
    values: NDArray[np.float64] | None,
) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Return the entries that `merge_rows` has left, without gaps; `indptr` is corrected."""
    size = _loops(len(entries)).pack(indptr, lengths, entries, values)
    if size == len(entries):
        return entries, values
    return entries[:size].copy(), None if values is None else values[:size].copy()

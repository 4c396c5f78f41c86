"""Edges, each given once or in both directions -> one symmetric matrix, and what was noticed."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph._plain import FOUND
from robustgc.graph.csr import CSR, PARTS
from robustgc.graph.quoting import quoted, short
from robustgc.io.opening import InputError

_MANY = 2**20  # edges at a time whose copies are added up
_SAMPLE = 2**14
_FEW = 2**18  # entries that numpy has sorted before numba is loaded
WAYS = ("mean", "max", "sum")  # numbered from 1, as in _rows.merge


@dataclass(frozen=True)
class Assembled:
    """A symmetric weight matrix, and what the user should know of the edges."""

    W: CSR
    notes: tuple[str, ...]


class Found(NamedTuple):
    """What `_rows.merge` has counted, and the first pair whose directions differ."""

    copies: int
    selves: int
    zeros: int
    others: int  # weights other than 1
    differ: int
    pair: tuple[float, float, float, float]  # both nodes, both weights


class DirectedError(InputError):
    """The two directions of `count` edges differ; `pair` is the first of them."""

    def __init__(self, count: int, pair: tuple[int, int], weights: tuple[float, float]) -> None:
        super().__init__(count, pair, weights)
        self.count, self.pair, self.weights = count, pair, weights


def assemble(
    sources: NDArray[Any],
    targets: NDArray[Any],
    weights: NDArray[np.float64] | None,
    n_nodes: int,
    *,
    symmetrise: str | None = None,
) -> Assembled:
    """Put edges together, in two passes over them and one over the rows.

    An edge may be given once, or in both directions with the same weight: it is one edge then.
    Copies of the same pair in the same direction are added up.

    Parameters
    ----------
    sources, targets : ndarray of int
    weights : ndarray or None
        None: 1 each.
    n_nodes : int
    symmetrise : {None, "mean", "max", "sum"}
        What to do where the two directions differ, a missing one counting as 0. None: an edge
        given in one direction is an edge, different weights are refused.

    Raises
    ------
    DirectedError
        Both directions with different weights; `directed` puts it in words.
    """
    way = way_of(symmetrise)
    sources, targets, weights, copies = _thinned(sources, targets, weights)
    found, indptr, entries, values = _rows(sources, targets, weights, n_nodes, way)
    if values is None and found.others:  # copies: there are weights after all
        del entries
        found, indptr, entries, values = _rows(sources, targets, None, n_nodes, way, ones=True)
    if found.differ:
        i, j, there, back = found.pair
        raise DirectedError(found.differ, (int(i), int(j)), (there, back))
    notes = noticed(found._replace(copies=found.copies + copies))
    return Assembled(CSR(indptr, entries, values if found.others else None), notes)


def _rows(
    sources: NDArray[Any],
    targets: NDArray[Any],
    weights: NDArray[np.float64] | None,
    n_nodes: int,
    way: int,
    *,
    ones: bool = False,
) -> tuple[Found, NDArray[np.int64], NDArray[Any], NDArray[np.float64] | None]:
    """Put edges into rows: what was noticed, row pointers, columns and weights.

    Edges without weights have none in the rows either, unless `ones` says so.
    """
    loops = _loops(2 * len(sources))
    indptr = np.zeros(n_nodes + 1, dtype=np.int64)
    loops.count(sources, targets, indptr[1:])
    np.cumsum(indptr, out=indptr)
    entries = np.empty(indptr[-1], dtype=entry_type(n_nodes))
    values = np.empty(indptr[-1]) if ones or weights is not None else None
    loops.fill(sources, targets, weights, indptr[:-1].copy(), entries, values)
    found, kept = merged(indptr, entries, values, way)
    if found.differ:
        return found, indptr, entries, values
    entries, values = packed(indptr, kept, entries, values)
    return found, indptr, entries, values


def _loops(entries: int) -> Any:
    """Return the loops over rows, compiled where there are many entries."""
    return threads.loops("io._rows" if entries > _FEW else "graph._plain")


def _thinned(
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
        given = np.ones(len(sources[part])) if weights is None else weights[part]
        keys, place = np.unique(
            np.concatenate([keys, _keys(sources[part], targets[part])]), return_inverse=True
        )
        sums = np.bincount(place, np.concatenate([sums, given])).astype(np.float64, copy=False)
    return keys >> 32, keys & (2**32 - 1), sums, many - len(keys)


def _keys(sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int64]:
    """Return both ends in one word."""
    return (sources.astype(np.int64) << 32) | targets.astype(np.int64)


def way_of(symmetrise: str | None) -> int:
    """Return the number by which `_rows.merge` knows what to do with two directions."""
    if symmetrise not in (None, *WAYS):
        raise InputError(
            f"symmetrise={quoted(symmetrise)} is unknown; choose from {', '.join(WAYS)}."
        )
    return 0 if symmetrise is None else 1 + WAYS.index(symmetrise)


def entry_type(n_nodes: int) -> Any:
    """Return the smallest type for twice the number of a node."""
    return np.int32 if n_nodes < 2**30 else np.int64


def merged(
    indptr: NDArray[np.int64], entries: NDArray[Any], values: NDArray[np.float64] | None, way: int
) -> tuple[Found, NDArray[np.int64]]:
    """Make one entry of all of a neighbour, in place; also how many every row has then.

    Columns may be counted from any node, below 0 too, as long as rows are counted from the same.
    """
    loops = _loops(len(entries))
    kept = np.empty(len(indptr) - 1, dtype=np.int64)
    cuts = threads.even_entries(indptr, PARTS)
    start = np.zeros(FOUND)
    parts = threads.collect(loops.merge, cuts, indptr, entries, values, way, kept, found=start)
    copies, selves, zeros, others, differ = parts.sum(axis=0)[:5].astype(int).tolist()
    i, j, there, back = next((part[5:9] for part in parts if part[5]), np.zeros(4)).tolist()
    return Found(copies, selves, zeros, others, differ, (i - 1, j - 1, there, back)), kept


def packed(
    indptr: NDArray[np.int64],
    kept: NDArray[np.int64],
    entries: NDArray[Any],
    values: NDArray[np.float64] | None,
) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Return the entries that `merged` has left, without gaps; `indptr` is corrected."""
    size = _loops(len(entries)).pack(indptr, kept, entries, values)
    if size == len(entries):
        return entries, values
    return entries[:size].copy(), None if values is None else values[:size].copy()


def noticed(found: Found) -> tuple[str, ...]:
    """Say what the user should know of the edges."""
    notes = [
        (found.copies, "came more than once; the weights were added up"),
        (found.zeros // 2, "of weight 0 left out"),
    ]
    said = [f"{_edges(number)} {text}" for number, text in notes if number]
    if selves := found.selves:
        said.append(f"{selves} self-loop{'s' * (selves > 1)} kept; they count in the degree")
    return tuple(said)


def directed(error: DirectedError, names: Any, where: str) -> InputError:
    """Say which edge has two weights, by the names of its nodes."""
    i, j = (short(str(names[k]), 90) for k in error.pair)
    return InputError(
        f"{where}: {_edges(error.count)} came in both directions with different weights (where "
        f"there are none, not as often), first {i} - {j}: "
        f"{error.weights[0]:g} there, {error.weights[1]:g} back. The graph must be undirected: "
        f"correct it, or choose with --symmetrise {'|'.join(WAYS)} (symmetrise= in Python)."
    )


def _edges(count: int) -> str:
    return f"{count} edge{'s' * (count != 1)}"

"""Edges with named nodes, each rank having some -> rows of weights, each rank having its own.

Every name belongs to a rank, by its hash, which numbers it and has its row. Edges become rows as on
one machine, by `robustgc.io.rows`.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.io.rows import EdgeCounts, index_type, merge_rows, pack_rows, refuse_directed
from robustgc.mpi.exchange import Text, all_to_all, all_to_all_text
from robustgc.mpi.share import Share
from robustgc.mpi.world import collective_errors

EDGES = 2**19  # that a rank sends at a time: what is under way takes memory too


@dataclass(frozen=True, eq=False)
class NodeNumbers:
    """The numbers of the names that a rank has sent to `number_names`, and its own nodes."""

    number: NDArray[np.int64]  # of every name that was sent, over all ranks
    owner: NDArray[np.int32]  # the ranks that these names belong to
    names: NDArray[Any]  # the rank's own: numbers ascending, or text sorted
    counts: NDArray[np.int64]  # what all ranks have counted for its own names
    first: NDArray[np.int64]  # number of the first name of every rank, and of all names


def number_names(comm: Any, names: Any, counts: NDArray[np.int64]) -> NodeNumbers:
    """Give a number to every name of all ranks; `counts` are added up by name.

    Names are an array of int64, or an Arrow array of large strings, of the same kind on all ranks;
    one may come more than once.
    """
    numbers = isinstance(names, np.ndarray)
    with collective_errors(comm):
        owner = _owners(names, comm.size)
        order = np.argsort(owner, kind="stable")
        going = np.bincount(owner, minlength=comm.size).astype(np.int64)
        sorted_names = names[order] if numbers else names.take(order)
    arrived, coming = (all_to_all if numbers else all_to_all_text)(comm, going, sorted_names)
    counted, _ = all_to_all(comm, going, counts[order])
    with collective_errors(comm):
        own, place = np.unique(arrived, return_inverse=True) if numbers else _unique(arrived)
        # In double precision: exact up to 2^53.
        total = np.bincount(place, weights=counted, minlength=len(own)).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(comm.allgather(len(own)))]).astype(np.int64)
    answers, _ = all_to_all(comm, coming, place.astype(np.int64) + first[comm.rank])
    number = np.empty(len(owner), dtype=np.int64)
    number[order] = answers
    return NodeNumbers(number, owner, own, total, first)


def _owners(names: Any, size: int) -> NDArray[np.int32]:
    """Give every name to a rank."""
    out, loops = np.empty(len(names), dtype=np.int32), threads.loops("mpi._loops")
    if isinstance(names, np.ndarray):
        loops.owners_of_numbers(names, size, out)
    else:
        loops.owners_of_text(*Text.of(names), size, out)
    return out


def _unique(names: Any) -> tuple[NDArray[np.object_], NDArray[np.int64]]:
    """Return texts sorted, every one once, and the place of each among them."""
    coded = names.dictionary_encode()
    order = np.asarray(pc.array_sort_indices(coded.dictionary)).astype(np.int64)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    own = np.array(coded.dictionary.take(order).to_pylist(), dtype=object)
    return own, place[np.asarray(coded.indices)]


class EdgeEnds(NamedTuple):
    """Edges of a rank: places of their nodes among the names that it has numbered, weights."""

    sources: NDArray[Any]
    targets: NDArray[Any]
    weights: NDArray[np.float64] | None

    def counts(self, names: int) -> NDArray[np.int64]:
        """Count the entries of every name's row: two of an edge, one of a self-loop."""
        out = np.zeros(names, dtype=np.int64)
        threads.loops("io._rows").count(self.sources, self.targets, out)
        return out


def share_of(
    comm: Any, edges: EdgeEnds, nodes: NodeNumbers, way: int, where: str
) -> tuple[Share, EdgeCounts]:
    """Send every edge to the ranks of its nodes, which put their rows together.

    Copies are added up in the same order in both rows of an edge, so the weights are symmetric to
    the last bit. Also returns what was counted over all ranks. `way` is that of `way_number`,
    `where` says what is read.
    """
    first = int(nodes.first[comm.rank])
    indptr, entries, values = _entries(comm, edges, nodes)
    with collective_errors(comm):
        own_counts, lengths = merge_rows(indptr, entries, values, way)
    counts = _total(comm, own_counts, first)
    if counts.differing:
        refuse_directed(counts.differing, counts.pair, _names(comm, counts, nodes, first), where)
    if edges.weights is None and counts.not_one:  # copies: there are weights after all
        with collective_errors(comm):
            ones = np.ones(len(edges.sources))
        return share_of(comm, edges._replace(weights=ones), nodes, way, where)
    with collective_errors(comm):
        entries, values = pack_rows(indptr, lengths, entries, values)
        entries += entries.dtype.type(first)
    data = values if counts.not_one else None
    return Share(comm, first, int(nodes.first[-1]), indptr, entries, data), counts


def _entries(
    comm: Any, edges: EdgeEnds, nodes: NodeNumbers
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.float64] | None]:
    """Return where rows start, their entries as they came, and the weights of these."""
    indptr = np.concatenate([[0], np.cumsum(nodes.counts)]).astype(np.int64)
    with collective_errors(comm):
        place = indptr[:-1].copy()
        entries = np.empty(indptr[-1], dtype=index_type(2 * int(nodes.first[-1])))
        values = None if edges.weights is None else np.empty(indptr[-1])
    rounds = -(-max(comm.allgather(len(edges.sources))) // EDGES)
    for k in range(rounds):
        part = EdgeEnds._make(
            None if ends is None else ends[k * EDGES : (k + 1) * EDGES] for ends in edges
        )
        with collective_errors(comm):
            counts, *going = _posted(part, nodes, entries.dtype)
        rows, coming, *weights, _ = all_to_all(comm, counts, *going)
        values_coming = weights[0] if weights else None
        threads.loops("mpi._loops").put(rows, coming, values_coming, place, entries, values)
    return indptr, entries, values


def _posted(edges: EdgeEnds, nodes: NodeNumbers, kind: Any) -> list[NDArray[Any]]:
    """Return how many entries of edges go to every rank, and these entries, sorted by rank.

    They are rows, entries, and weights if there are any.
    """
    there, back = edges.sources, edges.targets[edges.sources != edges.targets]
    counts = np.bincount(nodes.owner[there], minlength=len(nodes.first) - 1)
    counts += np.bincount(nodes.owner[back], minlength=len(counts))
    rows, entries = (np.empty(counts.sum(), dtype=kind) for _ in range(2))
    weights = None if edges.weights is None else np.empty(len(rows))
    place = np.cumsum(counts) - counts
    threads.loops("mpi._loops").post(
        *edges, nodes.owner, nodes.number, nodes.first, place, rows, entries, weights
    )
    return [counts, rows, entries, *([] if weights is None else [weights])]


def _total(comm: Any, counts: EdgeCounts, first: int) -> EdgeCounts:
    """Add up what the ranks have counted; the first pair is numbered over all of them."""
    i, j, there, back = counts.pair
    every = comm.allgather(counts._replace(pair=(i + first, j + first, there, back)))
    pair = next((rank.pair for rank in every if rank.differing), every[0].pair)
    return EdgeCounts._make([*(sum(rank[k] for rank in every) for k in range(5)), pair])


def _names(comm: Any, counts: EdgeCounts, nodes: NodeNumbers, first: int) -> dict[int, Any]:
    """Return the names of the first pair, whichever ranks have them."""
    pair = [int(k) for k in counts.pair[:2]]
    own = {k: nodes.names[k - first] for k in pair if 0 <= k - first < len(nodes.names)}
    return {k: name for some in comm.allgather(own) for k, name in some.items()}

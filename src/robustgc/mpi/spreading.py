"""Edges, each rank having some -> rows, each rank having its own; see `robustgc.io.rows`."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.io.rows import EdgeCounts, index_type, merge_rows, pack_rows, refuse_directed
from robustgc.mpi.naming import NodeNumbers
from robustgc.mpi.routing import all_to_all
from robustgc.mpi.share import Share
from robustgc.mpi.world import collective_errors

EDGES = 2**19  # that a rank sends at a time: what is under way takes memory too


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
    the last bit.

    Parameters
    ----------
    comm : communicator
    edges : EdgeEnds
    nodes : NodeNumbers
    way : int
        What to do where the two directions differ, as `way_number` numbers it.
    where : str
        What is read, for messages.

    Returns
    -------
    share : Share
    counts : EdgeCounts
        Over all ranks.
    """
    first = int(nodes.first[comm.rank])
    indptr, entries, values = _rows(comm, edges, nodes)
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


def _rows(
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
        with collective_errors(comm):
            counts, rows, going, weights = _posted(edges, nodes, entries.dtype, k * EDGES)
        rows, _ = all_to_all(comm, rows, counts)
        going, _ = all_to_all(comm, going, counts)
        weights = None if weights is None else all_to_all(comm, weights, counts)[0]
        threads.loops("mpi._spread").put(rows, going, weights, place, entries, values)
    return indptr, entries, values


def _posted(edges: EdgeEnds, nodes: NodeNumbers, kind: Any, start: int) -> Any:
    """Return the entries of some edges, sorted by rank."""
    loops, ranks = threads.loops("mpi._spread"), len(nodes.first) - 1
    a, b = (min(k, len(edges.sources)) for k in (start, start + EDGES))
    counts = np.zeros(ranks, dtype=np.int64)
    loops.tally(edges.sources, edges.targets, nodes.owner, counts, a, b)
    rows, entries = (np.empty(counts.sum(), dtype=kind) for _ in range(2))
    weights = None if edges.weights is None else np.empty(len(rows))
    place = np.cumsum(counts) - counts
    loops.post(*edges, nodes.owner, nodes.number, nodes.first, place, rows, entries, weights, a, b)
    return counts, rows, entries, weights


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

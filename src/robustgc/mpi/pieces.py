"""The connected components of a graph that is spread over ranks, and each of them by itself."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.weights import NEGLIGIBLE, Array
from robustgc.mpi.exchange import fetch, owners, send
from robustgc.mpi.halo import Halo
from robustgc.mpi.share import Share
from robustgc.mpi.world import library


@dataclass(frozen=True, eq=False)
class RankComponents:
    """The component of every own node.

    Attributes
    ----------
    count : int
        How many components there are.
    number, size : ndarray of int, shape (rows,)
        Of the own nodes' components: numbers in the order of their first nodes, and how many nodes.
    """

    count: int
    number: NDArray[np.int64]
    size: NDArray[np.int64]


def find_components(share: Share, halo: Halo, d: Array) -> RankComponents:
    """Find the components: within ranks first, then across, the smallest node giving its number.

    Every round a component tells the one that has its number of a smaller one beside it, and all
    follow these pointers: the number of rounds grows with the logarithm of the number of pieces.
    """
    comm, bounds, rows = share.comm, halo.bounds, share.rows
    root = halo.values(np.sqrt(np.where(d > 0, d, 1.0)))
    W, smallest = halo.W, threads.loops("mpi._halo").smallest
    inside, local = W.components(root, NEGLIGIBLE)
    label = np.full(inside, share.n, dtype=np.int64)
    np.minimum.at(label, local, np.arange(share.first, share.first + rows))
    pointer = label[local]  # of every own node, the smallest that it is known to be joined to
    while True:
        least, around = label.copy(), halo.values(label[local])
        smallest(W.indptr, W.indices, W.data, root, NEGLIGIBLE, local, around, least)
        better = least < label
        told, value, _ = send(comm, owners(bounds, label[better]), label[better], least[better])
        np.minimum.at(pointer, told - share.first, value)
        pointer = fetch(comm, bounds, pointer, pointer)
        label, before = fetch(comm, bounds, pointer, label), label
        if not comm.allreduce(bool(label.any()), library().LOR):
            break  # all nodes are joined to the first
        if not comm.allreduce(bool((label != before).any() or better.any()), library().LOR):
            break
    return _numbered(share, bounds, label[local])


def _numbered(share: Share, bounds: NDArray[Any], label: NDArray[np.int64]) -> RankComponents:
    comm, first = share.comm, share.first
    names, local, counts = np.unique(label, return_inverse=True, return_counts=True)
    told, some, _ = send(comm, owners(bounds, names), names, counts.astype(np.int64))
    size = np.zeros(share.rows, dtype=np.int64)
    np.add.at(size, told - first, some)
    roots = size > 0
    here = comm.allgather(int(roots.sum()))
    number = np.cumsum(roots) - 1 + sum(here[: comm.rank])
    return RankComponents(
        sum(here),
        fetch(comm, bounds, number, names)[local],
        fetch(comm, bounds, size, names)[local],
    )


def without_faint_links(share: Share, halo: Halo, pieces: RankComponents) -> tuple[Share, int]:
    """Return the rows without links between components, and how many there were on all ranks.

    As `weights.separated`: a weight too small to join two nodes may be most of the lesser one's
    degree.
    """
    comm, W, number = share.comm, halo.W, pieces.number
    if W.data is None or pieces.count == 1:
        return share, 0
    inside = np.repeat(number, np.diff(W.indptr)) == halo.values(number)[W.indices]
    faint = int(comm.allreduce(int(np.count_nonzero(~inside)))) // 2
    if faint == 0:
        return share, 0
    kept, bounds = W.only(inside), np.arange(share.first, share.first + share.rows)
    columns = np.concatenate([bounds, halo.ghosts])[kept.indices]
    # Own columns come before those of other ranks: in order of their numbers they do not.
    order = np.lexsort((columns, np.repeat(bounds, np.diff(kept.indptr))))
    data = None if kept.data is None else kept.data[order]
    return Share(comm, share.first, share.n, kept.indptr, columns[order], data), faint


def extract_component(
    share: Share, halo: Halo, mine: NDArray[np.bool_]
) -> tuple[Share, NDArray[np.int64]]:
    """Return one component by itself, its nodes numbered anew; and the own rows that are in it.

    Parameters
    ----------
    share, halo
        Rows that `without_faint_links` has passed.
    mine : ndarray of bool, shape (rows,)
        Whether own nodes are in it.
    """
    comm = share.comm
    rows = np.flatnonzero(mine)
    sizes = comm.allgather(len(rows))
    first = sum(sizes[: comm.rank])
    number = np.full(share.rows, -1, dtype=np.int64)
    number[rows] = np.arange(first, first + len(rows))
    columns = halo.values(number)
    W = halo.W
    starts = np.asarray(W.indptr[rows], dtype=np.int64)
    counts = np.asarray(W.indptr[rows + 1]) - starts
    indptr = np.concatenate([[0], np.cumsum(counts)])
    entries = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], counts)
    found = columns[W.indices[entries]]
    data = None if W.data is None else W.data[entries]
    # Own columns come before those of other ranks: in order of their numbers they do not.
    order = np.lexsort((found, np.repeat(np.arange(len(rows)), np.diff(indptr))))
    data = None if data is None else data[order]
    return Share(comm, first, sum(sizes), indptr, found[order], data), rows

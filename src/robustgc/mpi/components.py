"""The connected components of a graph that is spread over ranks, and each of them by itself."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.graph import Graph
from robustgc.graph.weights import NEGLIGIBLE, Array
from robustgc.mpi.exchange import fetch, owners, send
from robustgc.mpi.halo import Halo
from robustgc.mpi.share import Share
from robustgc.mpi.world import library
from robustgc.transduction.answer import Partition


def find_components(share: Share, halo: Halo, d: Array) -> Partition:
    """Find the components: within ranks first, then across, the smallest node giving its number.

    Every round a component tells the one that has its number of a smaller one next to it, and all
    follow these pointers: the number of rounds grows with the logarithm of the number of components
    within ranks.
    """
    comm, bounds, rows = share.comm, halo.bounds, share.rows
    root = halo.values(np.sqrt(np.where(d > 0, d, 1.0)))
    W, smallest = halo.W, threads.loops("mpi._loops").smallest
    inside, local = W.components(root, NEGLIGIBLE)
    label = np.full(inside, share.n, dtype=np.int64)
    np.minimum.at(label, local, np.arange(share.first, share.first + rows))
    pointer = label[local]  # of every own node, the smallest that it is known to be joined to
    while True:
        least, around = label.copy(), halo.values(label[local])
        smallest(W.indptr, W.indices, W.data, root, NEGLIGIBLE, local, around, least)
        better = least < label
        roots, value, _ = send(comm, owners(bounds, label[better]), label[better], least[better])
        np.minimum.at(pointer, roots - share.first, value)
        pointer = fetch(comm, bounds, pointer, pointer)
        label, before = fetch(comm, bounds, pointer, label), label
        if not comm.allreduce(bool(label.any()), library().LOR):
            break  # all nodes are joined to the first
        if not comm.allreduce(bool((label != before).any() or better.any()), library().LOR):
            break
    return _numbered(share, bounds, label[local])


def _numbered(share: Share, bounds: NDArray[Any], label: NDArray[np.int64]) -> Partition:
    comm, first = share.comm, share.first
    names, local, counts = np.unique(label, return_inverse=True, return_counts=True)
    at, some, _ = send(comm, owners(bounds, names), names, counts.astype(np.int64))
    size = np.zeros(share.rows, dtype=np.int64)
    np.add.at(size, at - first, some)
    roots = size > 0
    here = comm.allgather(int(roots.sum()))
    number = np.cumsum(roots) - 1 + sum(here[: comm.rank])
    return Partition(
        sum(here),
        fetch(comm, bounds, number, names)[local],
        fetch(comm, bounds, size, names)[local],
    )


def without_faint_links(share: Share, halo: Halo, partition: Partition) -> tuple[Share, int]:
    """Return the rows without links between components, and how many there were on all ranks.

    As `weights.separated`: a weight too small to join two nodes may be most of the lesser one's
    degree.
    """
    comm, W, number = share.comm, halo.W, partition.number
    if W.data is None or partition.count == 1:
        return share, 0
    inside = np.repeat(number, np.diff(W.indptr)) == halo.values(number)[W.indices]
    faint = int(comm.allreduce(int(np.count_nonzero(~inside)))) // 2
    if faint == 0:
        return share, 0
    rest, rows = W.only(inside), np.arange(share.first, share.first + share.rows)
    columns = np.concatenate([rows, halo.ghosts])[rest.indices]
    return _sorted_share(comm, share.first, share.n, rest.indptr, columns, rest.data), faint


def extract_component(
    share: Share, halo: Halo, rows: NDArray[np.int64]
) -> tuple[Share, NDArray[np.int64]]:
    """Return the component that has some of the own nodes, from rows without faint links.

    Also the number in it of every own node, -1 for those of other components.
    """
    comm = share.comm
    sizes = comm.allgather(len(rows))
    first = sum(sizes[: comm.rank])
    number = np.full(share.rows, -1, dtype=np.int64)
    number[rows] = np.arange(first, first + len(rows))
    columns = halo.values(number)
    indptr, entries = halo.W.entries_of(rows)
    columns = columns[halo.W.indices[entries]]
    data = None if halo.W.data is None else halo.W.data[entries]
    return _sorted_share(comm, first, sum(sizes), indptr, columns, data), number


def _sorted_share(
    comm: Any, first: int, n: int, indptr: NDArray[Any], columns: NDArray[Any], data: Array | None
) -> Share:
    """Return rows whose columns ascend: own ones came before those of other ranks."""
    order = np.lexsort((columns, np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))))
    return Share(comm, first, n, indptr, columns[order], None if data is None else data[order])


def gather_components(
    share: Share, halo: Halo, number: NDArray[Any], chosen: NDArray[np.int64]
) -> list[tuple[NDArray[np.int64], Graph]]:
    """Gather whole components, the k-th on rank k, k + ranks and so on: nodes, and their graph.

    `number` has the component of every own node. The components to gather are `chosen`, ascending,
    the same on every rank.
    """
    W, comm, first = halo.W, share.comm, share.first
    mine = np.flatnonzero(np.isin(number, chosen))
    to = np.searchsorted(chosen, number[mine]) % comm.size
    numbers, nodes, _ = send(comm, to, number[mine], mine + first)
    indptr, entries = W.entries_of(mine)
    counts = np.diff(indptr)
    names = np.concatenate([np.arange(first, first + share.rows), halo.ghosts])
    data = np.ones(len(entries)) if W.data is None else W.data[entries]
    row, columns = np.repeat(mine, counts), names[W.indices[entries]]
    ends = send(comm, np.repeat(to, counts), number[row], row + first, columns, data)
    order, edges = np.lexsort((nodes, numbers)), np.argsort(ends[0], kind="stable")
    numbers, nodes = numbers[order], nodes[order]
    of_edges, i, j, w = (x[edges] for x in ends[:4])
    gathered = []
    for c in chosen[comm.rank :: comm.size].tolist():
        own = nodes[slice(*np.searchsorted(numbers, [c, c + 1]))]
        some = slice(*np.searchsorted(of_edges, [c, c + 1]))
        places = (np.searchsorted(own, i[some]), np.searchsorted(own, j[some]))
        A = sp.csr_array((w[some], places), shape=(len(own), len(own)))
        gathered.append((own, Graph._trusted(A)))
    return gathered

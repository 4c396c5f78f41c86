"""Things that belong to nodes of other ranks: sent there, asked for there."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.mpi.world import collective_errors


def send(comm: Any, ranks: NDArray[Any], *arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Send rows of arrays to ranks; return those that came here, by the rank they are from.

    The last array returned has the number of rows from every rank.
    """
    order = np.argsort(ranks, kind="stable")
    sizes = np.bincount(ranks, minlength=comm.size).astype(np.int64)
    counts = np.empty_like(sizes)
    comm.Alltoall(sizes, counts)
    found: list[NDArray[Any]] = []
    for array in arrays:
        into = np.empty((int(counts.sum()), *array.shape[1:]), dtype=array.dtype)
        width = int(np.prod(array.shape[1:], dtype=np.int64))
        exchange(comm, array[order], sizes * width, into, counts * width)
        found.append(into)
    return [*found, counts]


def all_to_all(
    comm: Any, items: NDArray[Any], counts: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Send items, those for rank 0 first; return what came, and how much from each rank.

    Parameters
    ----------
    comm : communicator
    items : ndarray
        Of the same type on every rank.
    counts : ndarray of int64, shape (ranks,)
        How many go to each rank.
    """
    coming = np.empty(comm.size, dtype=np.int64)
    comm.Alltoall(np.ascontiguousarray(counts, dtype=np.int64), coming)
    with collective_errors(comm):
        got = np.empty(int(coming.sum()), dtype=items.dtype)
    exchange(comm, items, counts, got, coming)
    return got, coming


def exchange(
    comm: Any,
    out: NDArray[Any],
    sizes: NDArray[Any],
    into: NDArray[Any],
    counts: NDArray[Any],
) -> None:
    """Send the parts of one array in the order of the ranks, and get those of another."""
    requests, out, into = [], np.ascontiguousarray(out).reshape(-1), into.reshape(-1)
    for start, array, lengths in ((comm.Irecv, into, counts), (comm.Isend, out, sizes)):
        place = 0
        for rank, length in enumerate(lengths.tolist()):
            for first in range(place, place + length, LARGE):
                requests.append(start(array[first : min(place + length, first + LARGE)], rank))
            place += length
    for request in requests:
        request.Wait()


LARGE = 2**31 - 1  # values that one message may have


def owners(bounds: NDArray[Any], nodes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rank that has every node; `bounds` are the first nodes of the ranks."""
    return np.asarray(np.searchsorted(bounds[1:], nodes, side="right"), dtype=np.int64)


def fetch(
    comm: Any, bounds: NDArray[Any], values: NDArray[Any], nodes: NDArray[Any]
) -> NDArray[Any]:
    """Return values of any nodes from the ranks that have them; each rank asks for its own list."""
    wanted, where = np.unique(nodes, return_inverse=True)
    asked, counts = send(comm, owners(bounds, wanted), wanted)
    sizes = np.bincount(owners(bounds, wanted), minlength=comm.size).astype(np.int64)
    found = np.empty(len(wanted), dtype=values.dtype)
    exchange(comm, values[asked - bounds[comm.rank]], counts, found, sizes)
    return np.asarray(found[where])

"""Numbers and texts sent between ranks, and values of nodes asked for where they are."""

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustgc.io.opening import InputError
from robustgc.mpi.world import collective_errors

LARGE = 2**31 - 1  # values that one message may have


def send(comm: Any, ranks: NDArray[Any], *arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Send every row of arrays to the rank that is named for it, as `all_to_all` does."""
    order = np.argsort(ranks, kind="stable")
    counts = np.bincount(ranks, minlength=comm.size)
    return all_to_all(comm, counts, *(array[order] for array in arrays))


def all_to_all(comm: Any, counts: NDArray[Any], *arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Send rows of arrays, `counts[r]` of them to rank r; return those that came here.

    Rows stand in the order of the ranks, and arrays have the same types on all of them. The last
    array returned has the number of rows from every rank.
    """
    sizes = np.ascontiguousarray(counts, dtype=np.int64)
    coming = np.empty_like(sizes)
    comm.Alltoall(sizes, coming)
    with collective_errors(comm):
        received = [np.empty((int(coming.sum()), *x.shape[1:]), dtype=x.dtype) for x in arrays]
    for array, into in zip(arrays, received, strict=True):
        exchange(comm, array, sizes, into, coming)
    return [*received, coming]


def exchange(
    comm: Any, out: NDArray[Any], sizes: NDArray[Any], into: NDArray[Any], counts: NDArray[Any]
) -> None:
    """Send the rows of one array in the order of the ranks, and get those of another."""
    width = int(np.prod(out.shape[1:], dtype=np.int64))
    requests, out, into = [], np.ascontiguousarray(out).reshape(-1), into.reshape(-1)
    for start, array, rows in ((comm.Irecv, into, counts), (comm.Isend, out, sizes)):
        place = 0
        for rank, length in enumerate((rows * width).tolist()):
            for first in range(place, place + length, LARGE):
                requests.append(start(array[first : min(place + length, first + LARGE)], rank))
            place += length
    for request in requests:
        request.Wait()


def owners(bounds: NDArray[Any], nodes: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rank that has every node; `bounds` are the first nodes of the ranks."""
    return np.asarray(np.searchsorted(bounds[1:], nodes, side="right"), dtype=np.int64)


def fetch(
    comm: Any, bounds: NDArray[Any], values: NDArray[Any], nodes: NDArray[Any]
) -> NDArray[Any]:
    """Return values of any nodes from the ranks that have them; each rank asks for its own list."""
    wanted, where = np.unique(nodes, return_inverse=True)
    own, counts = send(comm, owners(bounds, wanted), wanted)
    answers, _ = all_to_all(comm, counts, values[own - bounds[comm.rank]])
    return np.asarray(answers[where])


class Text(NamedTuple):
    """Texts as their bytes, one after the other; text k starts at ``offsets[k]``."""

    offsets: NDArray[np.int64]
    letters: NDArray[np.uint8]

    @classmethod
    def of(cls, names: Any) -> "Text":
        """Share the memory of an Arrow array of large strings without nulls."""
        if not len(names):
            return cls(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8))
        _, offsets, letters = names.buffers()
        every = np.frombuffer(offsets, dtype=np.int64)[names.offset :][: len(names) + 1]
        none = np.zeros(0, dtype=np.uint8)  # Arrow has no buffer where all texts are empty
        return cls(every, none if letters is None else np.frombuffer(letters, dtype=np.uint8))

    def arrow(self) -> Any:
        """Return them as an Arrow array of large strings."""
        import pyarrow as pa

        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.letters)]
        return pa.Array.from_buffers(pa.large_string(), len(self.offsets) - 1, buffers)


def all_to_all_text(
    comm: Any, counts: NDArray[np.int64], names: Any
) -> tuple[Any, NDArray[np.int64]]:
    """Send texts, an Arrow array of large strings, as `all_to_all` sends numbers."""
    text = Text.of(names)
    lengths, coming = all_to_all(comm, counts, np.diff(text.offsets))
    cuts = text.offsets[np.concatenate([[0], np.cumsum(counts)])]
    letters, _ = all_to_all(comm, np.diff(cuts), text.letters[cuts[0] : cuts[-1]])
    return Text(np.concatenate([[0], np.cumsum(lengths)]), letters).arrow(), coming


def check_equal(comm: Any, text: str, short: str, what: str, cure: str) -> None:
    """Refuse, on all ranks, a text that is not the same on all of them.

    `short` has it in a few words; the message begins with `what` and ends with `cure`.
    """
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    every = comm.allgather((digest, short))
    other = [rank for rank, (known, _) in enumerate(every) if known != every[0][0]]
    if not other:
        return
    here, there = every[0][1], every[other[0]][1]
    differ = f"rank 0 has {here}, rank {other[0]} {'others' if here == there else there}"
    ranks = ", ".join(map(str, other[:8])) + (", ..." if len(other) > 8 else "")
    plural = "s" * (len(other) > 1)
    raise InputError(f"{what} not the same on rank{plural} {ranks} as on rank 0: {differ}. {cure}")

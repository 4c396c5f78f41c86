"""Numbers from every rank to every other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.mpi.world import together

LIMIT = 2**27  # items that a rank sends at a time: MPI counts them in 32 bits


def swap(
    comm: Any, items: NDArray[Any], counts: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Send items to the ranks; return what came from them, and how much from each.

    Parameters
    ----------
    comm : communicator
    items : ndarray
        Of the same type on every rank; those for rank 0 first.
    counts : ndarray of int64, shape (size,)
        How many go to each rank.
    """
    coming = np.empty(comm.size, dtype=np.int64)
    comm.Alltoall(np.ascontiguousarray(counts, dtype=np.int64), coming)
    with together(comm):
        got = np.empty(int(coming.sum()), dtype=items.dtype)
    step = max(1, LIMIT // comm.size)  # nobody gets more than LIMIT either
    rounds = -(-max(comm.allgather(int(counts.max(initial=0)))) // step)
    if rounds <= 1:
        _send(comm, np.ascontiguousarray(items), counts, got, coming)
        return got, coming
    starts, places = _starts(counts), _starts(coming)
    for k in range(rounds):
        out, back = (np.clip(many - k * step, 0, step) for many in (counts, coming))
        with together(comm):
            some = np.concatenate(_slices(items, starts + k * step, out))
            room = np.empty(int(back.sum()), dtype=items.dtype)
        _send(comm, some, out, room, back)
        for part, piece in zip(
            _slices(got, places + k * step, back), _slices(room, _starts(back), back), strict=True
        ):
            part[:] = piece
    return got, coming


def _send(comm: Any, items: Any, counts: Any, room: Any, coming: Any) -> None:
    comm.Alltoallv(
        [items, (counts.tolist(), _starts(counts).tolist())],
        [room, (coming.tolist(), _starts(coming).tolist())],
    )


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(counts) - counts


def _slices(
    items: NDArray[Any], starts: NDArray[np.int64], counts: NDArray[np.int64]
) -> list[NDArray[Any]]:
    pairs = zip(starts.tolist(), counts.tolist(), strict=True)
    return [items[start : start + count] for start, count in pairs]

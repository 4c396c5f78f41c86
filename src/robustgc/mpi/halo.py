"""What the rows of a rank need of other ranks' node values, and how it gets there."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.csr import CSR
from robustgc.mpi.exchange import all_to_all, exchange
from robustgc.mpi.share import Share


class Halo:
    """The rows of a rank with their columns numbered anew: own nodes first, then those of others.

    They are numbered in place where they can be: memory is for one graph, not two.

    Attributes
    ----------
    W : CSR
        The rows; columns from ``rows`` on are those of other ranks.
    ghosts : ndarray of int
        The numbers, over all ranks, of these, ascending.
    bounds : ndarray of int, shape (ranks + 1,)
        The first row of every rank, and the number of all.
    """

    def __init__(self, share: Share) -> None:
        self.comm, self.rows = share.comm, share.rows
        self.bounds = np.array([*self.comm.allgather(share.first), share.n], dtype=np.int64)
        self.W, self.ghosts = _renumbered(share)
        cuts = np.searchsorted(self.ghosts, self.bounds)
        self._wanted = np.diff(cuts)  # of every rank
        self._send, self._given = all_to_all(self.comm, self._wanted, self.ghosts)
        self._send -= share.first
        self._room: dict[tuple[int, str], tuple[NDArray[Any], NDArray[Any]]] = {}

    @property
    def nbytes(self) -> int:
        """Bytes of the rows and of what is kept for the exchange."""
        return int(self.W.nbytes + self.ghosts.nbytes + self._send.nbytes)

    def with_halo(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return node values (rows, columns) with those of other ranks below; kept for reuse."""
        columns = X.shape[1]
        key = (columns, X.dtype.char)
        if key not in self._room:
            room = np.empty((self.rows + len(self.ghosts), columns), X.dtype)
            self._room = {key: (room, np.empty((len(self._send), columns), X.dtype))}
        whole, out = self._room[key]
        whole[: self.rows] = X
        if self.comm.size > 1:
            if len(out):
                np.take(X, self._send, axis=0, out=out, mode="clip")  # no check: twice as fast
            exchange(self.comm, out, self._given, whole[self.rows :], self._wanted)
        return whole

    def values(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return a value for every column of the rows: own nodes, then those of others."""
        return self.with_halo(x[:, None])[:, 0].copy()


def _renumbered(share: Share) -> tuple[CSR, NDArray[Any]]:
    loops = threads.loops("mpi._loops")
    first, last = share.first, share.first + share.rows
    bits = np.zeros(-(-share.n // 64), dtype=np.uint64)
    before = np.empty(len(bits) + 1, dtype=np.int64)
    loops.mark(share.indices, first, last, bits)
    loops.count(bits, before)
    ghosts = np.empty(int(before[-1]), dtype=np.int32 if share.n < 2**31 else np.int64)
    loops.listed(bits, ghosts)
    small = np.dtype(np.int32 if share.rows + len(ghosts) < 2**31 else np.int64)
    indices = share.indices
    if indices.dtype != small or not indices.flags.writeable:
        indices = np.empty(len(indices), dtype=small)
    loops.renumber(share.indices, first, last, bits, before, indices)
    return CSR(share.indptr, indices, share.data), ghosts

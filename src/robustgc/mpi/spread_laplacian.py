"""The normalised Laplacian on the rows of a rank."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.csr import CSR, PARTS
from robustgc.graph.laplacian import Laplacian, single_unit
from robustgc.mpi.world import sum_over_ranks

if TYPE_CHECKING:
    from robustgc.mpi.spread_graph import DistributedGraph


class DistributedLaplacian(Laplacian):
    """``L_N`` in a working precision: products get what they need of other ranks, sums are of all.

    Two sums over the ranks for every step of the recurrences, and one exchange of node values.
    """

    def __init__(self, graph: "DistributedGraph", dtype: str) -> None:
        self.graph, self.dtype = graph, np.dtype(dtype)
        self.comm, self.halo = graph.comm, graph.halo
        self.nodes, self.rows, self.first = None, graph.rows, graph.first
        # What single precision could not hold is brought to a scale, which cannot matter.
        scale = single_unit(graph) if self.dtype == np.float32 else 1.0
        W = graph.halo.W
        data = W.data if W.data is None else (W.data / scale).astype(self.dtype)
        self._csr = self._own = CSR(W.indptr, W.indices, data)
        root = np.sqrt(graph.d / scale)
        self.scale = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0).astype(dtype)
        self.v0 = graph.v0.astype(dtype)
        parts = PARTS if self.rows >= threads.ALONE else 1
        self._even, self._cuts = threads.even_rows(self.rows, parts), self._own.cuts(parts)

    def norm(self, x: NDArray[Any]) -> float:
        """Return the norm of node values over all ranks."""
        squares = float(np.einsum("i,i->", x, x, dtype=np.float64))
        return float(np.sqrt(self.comm.allreduce(squares)))

    def multiply(self, u: NDArray[Any], out: NDArray[Any]) -> NDArray[np.float64]:
        """Store ``L_N q`` for ``u = scale q`` in out; return ``q' L_N q`` for every column."""
        dots = threads.collect(
            threads.loops().laplacian,
            self._cuts,
            self._own.indptr,
            self._own.indices,
            self._own.data,
            self.scale,
            self.halo.with_halo(u),
            out,
            found=np.zeros(u.shape[1]),
        )
        return sum_over_ranks(self.comm, dots.sum(axis=0))

    def recur(self, *arguments: NDArray[Any]) -> NDArray[np.float64]:
        """Return the sums of `Laplacian.recur` over all ranks."""
        return sum_over_ranks(self.comm, super().recur(*arguments))

    def advance(self, *arguments: NDArray[Any]) -> NDArray[np.float64]:
        """Return the sums of `Laplacian.advance` over all ranks."""
        return sum_over_ranks(self.comm, super().advance(*arguments))

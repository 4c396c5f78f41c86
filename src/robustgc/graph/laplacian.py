"""The normalised Laplacian as the solvers use it: blocks of columns, any precision, all cores."""

from functools import singledispatch
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from robustgc.graph import threads
from robustgc.graph.csr import CSR, PARTS
from robustgc.graph.graph import Graph, per_graph
from robustgc.graph.weights import Operator, divided

Block: TypeAlias = NDArray[Any]  # node values, C-ordered: a row for every row of the matrix
_NO_SHARES = np.empty((3, 0))
_SINGLE = 50  # powers of two that degrees may be away from 1 in single precision: squares fit too


class Laplacian:
    """``L_N`` in a working precision, with the vectors that every product needs.

    Blocks are C-ordered arrays with a row for every row of the stored matrix; for a piece of a
    larger graph the rows outside of it are and stay zero (`embed`, `restrict`), as is `scale`,
    which is ``D^-1/2``.
    """

    def __init__(self, graph: Graph, dtype: DTypeLike = np.float64) -> None:
        self.graph, self.dtype = graph, np.dtype(dtype)
        W, nodes = graph._whole, graph._nodes
        rows = sp.issparse(W) or isinstance(W, CSR)
        unit = single_unit(graph) if self.dtype == np.float32 else 1.0
        if nodes is not None and (2 * graph.n < W.shape[0] or not rows or unit != 1):
            # A small piece: its own matrix is less work. Other pieces may not bear its unit.
            W, nodes = graph.W, None
        W = divided(W, unit) if rows else W
        self.nodes, self.rows = nodes, W.shape[0]
        self._csr = CSR.from_scipy(W) if sp.issparse(W) else W if isinstance(W, CSR) else None
        if self._csr is None:
            A = graph._A
            stored = isinstance(A, np.ndarray)
            self._dense: Any = divided(A, unit).astype(self.dtype, copy=False) if stored else A
            self._o = (graph._o / unit).astype(self.dtype)
        d = self.embed(graph.d)
        d /= unit
        root = np.sqrt(d, out=d)
        self.scale = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0).astype(dtype)
        root /= float(np.linalg.norm(root)) or 1.0
        self.v0 = root.astype(dtype)
        self.first = 0  # number of the first row
        parts = PARTS if self.rows >= threads.ALONE else 1
        self._even = threads.even_rows(self.rows, parts)
        self._cuts = self._even if self._csr is None else self._csr.cuts(parts)

    def embed(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return a copy with a row for every row of the stored matrix."""
        if self.nodes is None:
            return np.array(X)
        whole = np.zeros((self.rows, *X.shape[1:]), dtype=X.dtype)
        whole[self.nodes] = X
        return whole

    def restrict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the rows of the graph's own nodes (the last axis of X)."""
        return X if self.nodes is None else X[..., self.nodes]

    def norm(self, x: NDArray[Any]) -> float:
        """Return the norm of node values."""
        return float(np.linalg.norm(x))

    def _reached(self, u: NDArray[Any]) -> NDArray[Any]:
        """Return the node values that the rows read, in the order of their columns."""
        return u

    def _sums(self, loop: Any, cuts: Any, shape: Any, *arrays: Any) -> NDArray[np.float64]:
        """Run a loop over ranges of rows; return the sums over all nodes that it makes."""
        parts = threads.collect(loop, cuts, *arrays, found=np.zeros(shape))
        return np.asarray(parts.sum(axis=0))

    def __call__(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return ``L_N X`` for a vector or a block of columns."""
        u = (X if X.ndim == 2 else X[:, None]) * self.scale[:, None]
        out = np.empty_like(u)
        self.multiply(u, out)
        return np.asarray(out.reshape(X.shape))

    def multiply(self, u: NDArray[Any], out: NDArray[Any]) -> NDArray[np.float64]:
        """Store ``L_N q`` for ``u = scale q`` in out; return ``q' L_N q`` for every column."""
        if self._csr is not None:
            loop, A = threads.loops().laplacian, self._csr
            arrays = (A.indptr, A.indices, A.data, self.scale, self._reached(u), out)
            return self._sums(loop, self._cuts, u.shape[1], *arrays)
        np.multiply(self._o[:, None], u, out=out)
        out -= (self._dense @ u).astype(self.dtype, copy=False)
        dots = np.einsum("ij,ij->j", out, u, dtype=np.float64)
        out *= self.scale[:, None]
        return np.asarray(dots)

    def recur(
        self, w: Block, q: Block, before: Block, alpha: NDArray[Any], beta: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Take ``alpha q + beta before`` from w; return ``|w|^2`` and ``v0' w`` by column."""
        loop = threads.loops().recur
        a, b = alpha.astype(self.dtype), beta.astype(self.dtype)
        return self._sums(loop, self._even, (2, w.shape[1]), w, q, before, self.v0, a, b)

    def advance(
        self, w: Block, x: Block, before: Block, factors: NDArray[Any], u: Block, copy: Block
    ) -> NDArray[np.float64]:
        """Store ``f0 w + f1 x + f2 before + f3 v0`` in before; return its sums, as `recur` does."""
        loop, f = threads.loops().advance, factors.astype(self.dtype)
        arrays = (w, x, before, self.v0, self.scale, f, u, copy)
        return self._sums(loop, self._even, (2, w.shape[1]), *arrays)

    def chebyshev(
        self,
        x: Block,
        before: Block,
        factors: NDArray[Any],
        shares: NDArray[Any] = _NO_SHARES,
        sums: NDArray[Any] | None = None,
    ) -> None:
        """Store ``f0 L_N x + f1 x + f2 before`` in before; add shares of all three to the sums.

        The shares, (3, sums), are of the new vectors, of x, and of what before was.
        """
        factors, shares = factors.astype(self.dtype), shares.astype(self.dtype)
        sums = np.empty((0, 0, 0), self.dtype) if sums is None else sums
        if self._csr is not None and not self.graph.distributed:
            loop, A = threads.loops().chebyshev, self._csr
            arrays = (A.indptr, A.indices, A.data, self.scale, x, before, factors, shares, sums)
            threads.run(loop, A.cuts(), *arrays)
            return
        new = factors[0] * self(x) + factors[1] * x + factors[2] * before
        for k, share in enumerate(shares.T):
            sums[k] += share[0] * new + share[1] * x + share[2] * before
        before[:] = new

    def normalise(
        self, w: Block, off: NDArray[Any], size: NDArray[Any], q: Block, u: Block
    ) -> None:
        """Store ``q = (w - off v0) size`` and ``u = scale q``."""
        loop = threads.loops().normalise
        c, s = off.astype(self.dtype), size.astype(self.dtype)
        threads.run(loop, threads.shares(self.rows), w, self.v0, c, s, self.scale, q, u)


@singledispatch
def laplacian_of(graph: Graph, dtype: str) -> Laplacian:
    """Return ``L_N`` of a graph; `robustgc.mpi.graph` has that of a distributed one."""
    return Laplacian(graph, dtype)


@per_graph
def operator(graph: Graph, dtype: str = "float64") -> Laplacian:
    """Return ``L_N`` once for all solvers; that of a piece has only the piece's nodes."""
    return laplacian_of(graph if graph._nodes is None else Graph._trusted(graph.W), dtype)


@per_graph
def _degrees(graph: Graph) -> tuple[float, float]:
    """Return the middle of the degrees as a power of two, and how many of them they span."""
    most = graph.largest(graph.d)
    if most == 0:
        return 0.0, 0.0
    # A node without a degree is out of reach of every product.
    below = np.log2(most) - np.log2(np.where(graph.d > 0, graph.d, most))
    width = graph.largest(below)
    return float(np.log2(most) - width / 2), width


def single_unit(graph: Graph) -> float:
    """Return the power of two that brings degrees into single precision; 1 if they are there."""
    middle, width = _degrees(graph)
    return 1.0 if abs(middle) + width / 2 <= _SINGLE else float(2.0 ** np.round(middle))


def fits_single(graph: Graph) -> bool:
    """Return whether there is a unit in which single precision holds all degrees."""
    return _degrees(graph)[1] <= 2 * _SINGLE and (
        single_unit(graph) == 1 or not isinstance(graph._whole, Operator)
    )

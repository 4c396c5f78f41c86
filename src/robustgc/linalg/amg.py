"""Algebraic multigrid by smoothed aggregation: V-cycles on blocks of columns, on all cores.

The hierarchy is pyamg's smoothed aggregation. Its own cycle takes one column at a time on one core;
here every level multiplies all columns in one pass. Smoothing is a Chebyshev polynomial of degree
two, the same before and after the coarse correction, so that the cycle is symmetric.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.csr import CSR
from robustgc.graph.graph import Graph
from robustgc.linalg.eigenpairs import SEED
from robustgc.linalg.solution import NotConvergedError

COARSE = 1000  # rows that a dense inverse may have
_ALONE = Lock()
_WORTH = 0.1  # of the nodes that elimination takes out, at least
_FILL = 80  # operations an entry that a coarser matrix may take; hubs join all groups
_MATRICES = 5  # products with the matrix of a level
_LOW = 1 / 6  # the share of the spectrum below is left to the coarse levels


@dataclass(frozen=True)
class Level:
    """A matrix, its smoother, and the prolongation from and restriction to the next level."""

    A: CSR
    P: CSR
    R: CSR
    inverse: NDArray[Any]  # of the diagonal
    top: float  # largest eigenvalue of the scaled matrix

    def smooth(self, x: NDArray[Any] | None, b: NDArray[Any]) -> NDArray[Any]:
        """Damp the upper part of the error in x by two Chebyshev steps; None stands for 0.

        What was in x is lost.
        """
        high, low = 1.1 * self.top, self.top * _LOW
        centre, half = (high + low) / 2, (high - low) / 2
        beta = 0.5 * (half / centre) ** 2 * centre
        if x is None:
            x, new = np.zeros_like(b), b * (self.inverse / self.inverse.dtype.type(centre))
        else:
            new = np.zeros_like(b)
            self._step(b, (1 / centre, 0.0), x, new)
        self._step(b, (1 / (centre - beta), beta / (centre - beta)), new, x)
        return x

    def _step(
        self, b: NDArray[Any], factors: tuple[float, float], x: NDArray[Any], before: NDArray[Any]
    ) -> None:
        loop, A, f = threads.loops("linalg._cg_loops").damped, self.A, np.array(factors, b.dtype)
        threads.run(
            loop, A.cuts(), A.indptr, A.indices, A.data, self.inverse[:, 0], b, f, x, before
        )


@dataclass(frozen=True)
class Elimination:
    """Nodes of one or two neighbours, eliminated exactly, so that nothing is to be smoothed.

    Aggregates have a hard time with long branches and chains, which are gone after a few of these.
    """

    P: CSR
    R: CSR
    inverse: NDArray[Any]  # of the diagonal where a node is taken out, else 0


class Hierarchy:
    """Levels of smoothed aggregation for ``L_N``, with v0 as the near-null vector."""

    def __init__(self, graph: Graph, dtype: Any = np.float32) -> None:
        self.levels: list[Level | Elimination] = []
        self._P: list[Any] = []
        A, b = graph.laplacian(), graph.v0
        top = 2.0  # of the Laplacian, scaled by its diagonal: exact for every graph
        with _seeded():
            while A.shape[0] > COARSE:
                out = _independent_nodes(A)
                if out.mean() > _WORTH:
                    A, b = self._eliminate(A, b, out, dtype)  # a Laplacian still: top is 2
                    continue
                P, b_coarse = _prolongator(A, b, top)
                if P.shape[1] > 0.8 * A.shape[0]:  # nothing more to put together
                    break
                parts = [_single(M, dtype) for M in (A, P, sp.csr_array(P.T))]
                inverse = (1.0 / A.diagonal()).astype(dtype)[:, None]
                self.levels.append(Level(parts[0], parts[1], parts[2], inverse, top))
                self._P.append(P)
                A, b = sp.csr_array(P.T @ (A @ P)), b_coarse
                top = _largest(A)
        if A.shape[0] > 5 * COARSE:
            raise NotConvergedError(
                f"multigrid coarsening stopped: the coarsest level still has {A.shape[0]} nodes"
            )
        entries = [level.A.nnz for level in self.levels if isinstance(level, Level)]
        self.work = _MATRICES * sum(entries)  # entries of the matrices that a cycle reads, about
        self._coarsest = A.toarray()
        self._inverse = sla.pinvh(self._coarsest, rtol=1e-10)
        self.dtype = np.dtype(dtype)

    def _eliminate(
        self, A: Any, b: NDArray[Any], out: NDArray[np.bool_], dtype: Any
    ) -> tuple[Any, NDArray[Any]]:
        """Take nodes out; return the Schur complement and its null vector."""
        inverse = np.where(out, 1.0 / A.diagonal(), 0.0)
        kept = np.flatnonzero(~out)
        to_kept = sp.csr_array(
            (np.ones(len(kept)), (kept, np.arange(len(kept)))), shape=(len(out), len(kept))
        )
        P = sp.csr_array(to_kept - sp.diags_array(inverse) @ (A @ to_kept))
        up, down = (_single(M, dtype) for M in (P, sp.csr_array(P.T)))
        self.levels.append(Elimination(up, down, inverse.astype(dtype)[:, None]))
        self._P.append(P)
        S = sp.csr_array(to_kept.T @ (A @ P))
        # The diagonal anew from its null vector: differences of weights far apart lose all digits.
        S.setdiag(0.0)
        S.eliminate_zeros()
        b = b[kept]
        return sp.csr_array(S + sp.diags_array(-(S @ b) / b)), b

    def __call__(self, r: NDArray[Any]) -> NDArray[Any]:
        """Apply one cycle to a vector or a block of columns."""
        columns = r.reshape(len(r), -1)
        if columns.shape[1] == 0:
            return r
        # Scaled to 1: single precision would lose small residuals to underflow.
        size = np.abs(columns).max(axis=0)
        size[size == 0] = 1.0
        b = (columns / size).astype(self.dtype)
        return np.asarray((self._cycle(0, b) * size).reshape(r.shape), dtype=r.dtype)

    def _cycle(self, depth: int, b: NDArray[Any]) -> NDArray[Any]:
        if depth == len(self.levels):
            return np.asarray(self._inverse @ b.astype(float), dtype=self.dtype)
        level = self.levels[depth]
        if isinstance(level, Elimination):
            rest = self._cycle(depth + 1, multiply(level.R, b))
            return _plus(level.inverse[:, 0], b, 1.0, level.P, rest)
        x = level.smooth(None, b)
        rest = multiply(level.R, _plus(None, b, -1.0, level.A, x))
        x = _plus(None, x, 1.0, level.P, self._cycle(depth + 1, rest))
        return level.smooth(x, b)

    def single(self, r: NDArray[np.float32]) -> NDArray[np.float32]:
        """Apply one cycle to a block of columns of usual size, in single precision throughout."""
        return np.asarray(self._cycle(0, r))

    def coarse_modes(self, count: int) -> NDArray[Any] | None:
        """Return the first eigenvectors of the coarsest level on the nodes, if it has so many."""
        if not self._P or not count < len(self._coarsest) <= 2 * COARSE:
            return None
        M = sp.eye_array(self._P[0].shape[0], format="csr")  # inner products on the nodes
        for P in self._P:
            M = sp.csr_array(P.T @ M @ P)
        X = sla.eigh(self._coarsest, M.toarray(), subset_by_index=[0, count])[1][:, 1:]
        for P in reversed(self._P):
            X = P @ X
        return np.asarray(X)


@contextmanager
def _seeded() -> Iterator[None]:
    """Give pyamg, which draws from numpy's global generator, the same numbers every time."""
    with _ALONE, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own dependencies
        state = np.random.get_state()  # noqa: NPY002
        np.random.seed(SEED)  # noqa: NPY002
        try:
            yield
        finally:
            np.random.set_state(state)  # noqa: NPY002


def _independent_nodes(A: Any) -> NDArray[np.bool_]:
    """Return nodes of at most two neighbours of which no two are joined."""
    degree = np.diff(A.indptr) - 1
    chance = np.random.default_rng(SEED).permutation(len(degree)) + 1
    chance[degree > 2] = 0
    highest = np.maximum.reduceat(chance[A.indices], A.indptr[:-1])  # its own included
    return np.asarray((degree <= 2) & (chance == highest))


def _prolongator(A: Any, b: NDArray[Any], top: float) -> tuple[Any, NDArray[Any]]:
    """Aggregate the nodes; return the smoothed prolongator and the coarse near-null vector.

    pyamg has this too, but through block matrices, whose conversion takes most of its set-up.
    """
    from pyamg.aggregation import standard_aggregation  # noqa: PLC0415  few need it
    from pyamg.strength import symmetric_strength_of_connection  # noqa: PLC0415

    strong = symmetric_strength_of_connection(sp.csr_matrix(A), theta=0.0)
    groups = sp.csr_array(standard_aggregation(strong)[0], dtype=float)
    size = np.sqrt(groups.T @ b**2)
    size[size == 0] = 1.0
    plain = sp.csr_array(sp.diags_array(b) @ groups @ sp.diags_array(1.0 / size))
    damp = sp.diags_array((4.0 / 3.0 / top) / A.diagonal())
    smooth = sp.csr_array(plain - damp @ (A @ plain))
    wide = np.diff(smooth.indptr)  # what a row of A meets there is met again in what P' A P sums
    if float(wide @ (abs(A).sign() @ wide)) > _FILL * A.nnz:
        return plain, size
    return smooth, size


def _largest(A: Any) -> float:
    """Estimate the largest eigenvalue of a matrix scaled by its diagonal."""
    from pyamg.util.linalg import approximate_spectral_radius  # noqa: PLC0415

    return float(approximate_spectral_radius(sp.csr_matrix(sp.diags_array(1.0 / A.diagonal()) @ A)))


def multiply(M: CSR, X: NDArray[Any]) -> NDArray[Any]:
    """Return ``M X`` for a matrix that need not be square."""
    out = np.empty((len(M.indptr) - 1, X.shape[1]), dtype=X.dtype)
    threads.run(threads.loops().product, M.cuts(), M.indptr, M.indices, M.data, X, out)
    return out


def _plus(
    scale: NDArray[Any] | None, b: NDArray[Any], factor: float, M: CSR, X: NDArray[Any]
) -> NDArray[Any]:
    """Return ``scale b + factor M X``."""
    loop, out = threads.loops("linalg._cg_loops").plus_product, np.empty_like(b)
    parts = (M.indptr, M.indices, M.data, scale, b, X.dtype.type(factor), X, out)
    threads.run(loop, M.cuts(), *parts)
    return out


def _single(M: Any, dtype: Any) -> CSR:
    return CSR(M.indptr, M.indices, M.data.astype(dtype))

"""A connected graph whose nodes are distributed over ranks, and the solvers that it has instead."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.csr import CSR, PARTS
from robustgc.graph.graph import Graph, per_graph
from robustgc.graph.laplacian import Laplacian, laplacian_of, operator, single_unit
from robustgc.graph.weights import Array
from robustgc.linalg.eigenpairs import Eigenpairs
from robustgc.linalg.modes import accurate_modes, checkpointed
from robustgc.linalg.multigrid import preconditioned_pairs, solve_by_multigrid
from robustgc.linalg.solution import NotConvergedError, Solution, Watch, ignore_progress
from robustgc.mpi.checkpoint import Arrays
from robustgc.mpi.halo import Halo
from robustgc.mpi.petsc import krylov_schur, slepc_pairs, solve_by_petsc
from robustgc.mpi.share import Share
from robustgc.mpi.world import available, library, sum_over_ranks

CheckpointCall: TypeAlias = Callable[[str, Callable[[], Arrays]], Arrays]


def no_checkpoint(name: str, make: Callable[[], Arrays]) -> Arrays:
    """Keep nothing."""
    return make()


class DistributedGraph(Graph):
    """The paper's operators on rows of node values; sums over nodes go over all ranks.

    All methods are called by all ranks together. The rows are those of a connected graph that have
    been checked. ``keep(name, make)`` returns arrays that an earlier run has kept, or makes and
    keeps them.
    """

    distributed, is_here = True, False

    def __init__(self, share: Share, keep: CheckpointCall = no_checkpoint) -> None:
        self.comm, self.first, self.n = share.comm, share.first, share.n
        self.halo = Halo(share)
        self._whole, self._nodes, self._memo = self.halo.W, None, {}
        self.d = self.halo.W.sum(axis=1)
        self.keep = keep

    @property
    def rows(self) -> int:
        """How many nodes have their values here."""
        return self.halo.rows

    @cached_property
    def most_rows(self) -> int:
        """How many have them on any one rank."""
        return int(np.diff(self.halo.bounds).max())

    @cached_property
    def entries(self) -> int:
        """Number of stored weights over all ranks."""
        return int(self.comm.allreduce(self._whole.nnz))

    @cached_property
    def v0(self) -> Array:
        """The own part of the unit eigenvector of ``L_N`` for eigenvalue 0."""
        largest = self.comm.allreduce(float(self.d.max(initial=0.0)), library().MAX)
        root = np.sqrt(self.d / (largest or 1.0))
        return np.asarray(root / (self.norms(root[:, None])[0] or 1.0))

    @property
    def top(self) -> float:
        """An upper bound on the eigenvalues of ``L_N``."""
        return 2.0

    def inner(self, A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
        """Return ``A' B`` over all ranks."""
        return sum_over_ranks(self.comm, A.T @ B)

    def dots(self, A: NDArray[Any], B: NDArray[Any]) -> Array:
        """Return the inner products column by column over all ranks."""
        return sum_over_ranks(self.comm, np.einsum("ij,ij->j", A, B, dtype=np.float64))

    def largest(self, A: NDArray[Any]) -> float:
        """Return the largest absolute value over all ranks."""
        return float(self.comm.allreduce(super().largest(A), library().MAX))

    def at(self, X: NDArray[Any], nodes: NDArray[Any]) -> NDArray[Any]:
        """Return the values of some nodes, numbered over all ranks, to all ranks."""
        here = self.here(nodes)
        found = np.zeros((len(nodes), *X.shape[1:]), dtype=X.dtype)
        found[here] = X[nodes[here] - self.first]
        return sum_over_ranks(self.comm, found)

    def placed(self, nodes: NDArray[Any], values: Array) -> Array:
        """Return the own part of node values that are 0 but for some nodes."""
        here = self.here(nodes)
        X = np.zeros((self.rows, *values.shape[1:]))
        X[nodes[here] - self.first] = values[here]
        return X

    def here(self, nodes: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which of some nodes, numbered over all ranks, are own nodes."""
        return np.asarray((nodes >= self.first) & (nodes < self.first + self.rows))

    @cached_property
    def usual_degree(self) -> float:
        """The median of the degrees over all ranks."""
        middle = (self.n - 1) // 2
        low = self._ranked(middle)
        return (low + (low if self.n % 2 else self._ranked(middle + 1))) / 2

    def _ranked(self, k: int) -> float:
        """Return the degree with k below it, by bisection on its bits: they order as it does."""
        bits = self.d.view(np.uint64)
        low, high = 0, 2**63
        while low < high:
            middle = (low + high) // 2
            if int(self.comm.allreduce(int((bits <= middle).sum()))) > k:
                high = middle
            else:
                low = middle + 1
        return float(np.array([low], dtype=np.uint64).view(np.float64)[0])

    @cached_property
    def volume(self) -> float:
        """The sum of the degrees over all ranks."""
        return float(self.comm.allreduce(float(self.d.sum())))

    def available(self) -> float:
        """Return the bytes that any rank can still take."""
        return available(self.comm)

    def L_N(self, x: Array) -> Array:
        """Apply ``L_N`` to the own part of a vector or a block of columns."""
        return np.asarray(operator(self)(x))

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("A graph that is distributed over ranks cannot be pickled.")


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
        self._csr = CSR(W.indptr, W.indices, data)
        root = np.sqrt(graph.d / scale)
        self.scale = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0).astype(dtype)
        self.v0 = graph.v0.astype(dtype)
        parts = PARTS if self.rows >= threads.ALONE else 1
        self._even, self._cuts = threads.even_rows(self.rows, parts), self._csr.cuts(parts)

    def norm(self, x: NDArray[Any]) -> float:
        """Return the norm of node values over all ranks."""
        squares = float(np.einsum("i,i->", x, x, dtype=np.float64))
        return float(np.sqrt(self.comm.allreduce(squares)))

    def _reached(self, u: NDArray[Any]) -> NDArray[Any]:
        return self.halo.with_halo(u)

    def _sums(self, *arguments: Any) -> NDArray[np.float64]:
        return sum_over_ranks(self.comm, super()._sums(*arguments))


@laplacian_of.register(DistributedGraph)
@per_graph
def _distributed_laplacian(graph: DistributedGraph, dtype: str) -> DistributedLaplacian:
    return DistributedLaplacian(graph, dtype)


@solve_by_multigrid.register
def _(
    graph: DistributedGraph,
    b: Array,
    gamma: float,
    start: Array,
    tol: float,
    off: Array,
    *,
    patient: bool = True,
) -> Solution:
    return solve_by_petsc(graph, b, gamma, start, tol, off)


@preconditioned_pairs.register
def _(
    graph: DistributedGraph, pair_tol: float, count: int, needed: int, watch: Watch
) -> Eigenpairs:
    """Find them by SLEPc, all that are looked for, or take those of an earlier run."""

    def make() -> Arrays:
        pairs = slepc_pairs(graph, pair_tol, count, watch)
        about = np.array([pairs.residual, pairs.steps])
        return {"values": pairs.values, "vectors": pairs.vectors, "about": about}

    kept = graph.keep(f"pairs-{count}-{pair_tol:g}", make)
    residual, steps = kept["about"].tolist()
    return Eigenpairs(kept["values"], kept["vectors"], residual, steps=int(steps))


@checkpointed.register
def _(graph: DistributedGraph, search: Callable[[], Eigenpairs]) -> Eigenpairs:
    found: list[Eigenpairs] = []

    def make() -> Arrays:
        found.append(search())
        beyond = np.array([found[0].next_eigenvalue])
        return {"values": found[0].values, "vectors": found[0].vectors, "beyond": beyond}

    kept = graph.keep("modes", make)
    if found:
        return found[0]
    note = f"{len(kept['values'])} modes, kept by an earlier run"
    beyond = float(kept["beyond"][0])
    modes = Eigenpairs(kept["values"], kept["vectors"], next_eigenvalue=beyond)
    return modes.measured(graph, "checkpoint", note)


@accurate_modes.register
def _(graph: DistributedGraph, count: int) -> Eigenpairs:
    try:
        pairs = krylov_schur(graph, 1e-10, count, ignore_progress)
        note = f"{count} modes, Krylov-Schur {pairs.steps} restarts"
    except NotConvergedError:
        pairs = slepc_pairs(graph, 1e-8, count, ignore_progress)
        note = f"{count} modes, preconditioned {pairs.steps} steps"
    return pairs.measured(graph, "slepc", note)

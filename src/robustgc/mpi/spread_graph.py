"""A connected graph whose nodes are spread over ranks: every rank has some rows of everything."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array
from robustgc.linalg.eigenpairs import Eigenpairs
from robustgc.linalg.solution import NotConvergedError, Solution, Watch, ignore_progress
from robustgc.mpi import slepc, systems
from robustgc.mpi.halo import Halo
from robustgc.mpi.share import Share
from robustgc.mpi.spread_laplacian import DistributedLaplacian
from robustgc.mpi.world import available, library, sum_over_ranks

Arrays: TypeAlias = dict[str, NDArray[Any]]
CheckpointCall: TypeAlias = Callable[[str, Callable[[], Arrays]], Arrays]


def no_checkpoint(name: str, make: Callable[[], Arrays]) -> Arrays:
    """Keep nothing."""
    return make()


class DistributedGraph(Graph):
    """The paper's operators on rows of node values; sums over nodes go over all ranks.

    All methods are called by all ranks together.

    Parameters
    ----------
    share : Share
        Rows of a connected graph that have been checked.
    keep : callable
        ``keep(name, make)`` returns arrays that an earlier run has kept, or makes and keeps them.
    """

    def __init__(self, share: Share, keep: CheckpointCall = no_checkpoint) -> None:
        self.comm, self.first, self.n = share.comm, share.first, share.n
        self.halo = Halo(share)
        self._whole, self._nodes, self._memo = self.halo.W, None, {}
        self.spread = self
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
        here = self._here(nodes)
        found = np.zeros((len(nodes), *X.shape[1:]), dtype=X.dtype)
        found[here] = X[nodes[here] - self.first]
        return sum_over_ranks(self.comm, found)

    def placed(self, nodes: NDArray[Any], values: Array) -> Array:
        """Return the own part of node values that are 0 but for some nodes."""
        here = self._here(nodes)
        X = np.zeros((self.rows, *values.shape[1:]))
        X[nodes[here] - self.first] = values[here]
        return X

    def _here(self, nodes: NDArray[Any]) -> NDArray[np.bool_]:
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
        return np.asarray(self.operator("float64")(x))

    def operator(self, dtype: str) -> DistributedLaplacian:
        """Return ``L_N`` in a working precision."""
        key = f"operator{dtype}"
        if key not in self._memo:
            self._memo[key] = DistributedLaplacian(self, dtype)
        found: DistributedLaplacian = self._memo[key]
        return found

    def first_pairs(self, graph: Graph, pair_tol: float, count: int, watch: Watch) -> Eigenpairs:
        """Return the first eigenpairs by SLEPc."""

        def make() -> Arrays:
            pairs = slepc.preconditioned_pairs(self, pair_tol, count, watch)
            about = np.array([pairs.residual, pairs.steps])
            return {"values": pairs.values, "vectors": pairs.vectors, "about": about}

        kept = self.keep(f"pairs-{count}-{pair_tol:g}", make)
        residual, steps = kept["about"].tolist()
        return Eigenpairs(kept["values"], kept["vectors"], residual, steps=int(steps))

    def modes(self, find: Callable[[], Eigenpairs]) -> Eigenpairs:
        """Return the modes, from an earlier run if it has kept them."""
        found: list[Eigenpairs] = []

        def make() -> Arrays:
            found.append(find())
            beyond = np.array([found[0].next_eigenvalue])
            return {"values": found[0].values, "vectors": found[0].vectors, "beyond": beyond}

        kept = self.keep("modes", make)
        if found:
            return found[0]
        note = f"{len(kept['values'])} modes, kept by an earlier run"
        beyond = float(kept["beyond"][0])
        modes = Eigenpairs(kept["values"], kept["vectors"], next_eigenvalue=beyond)
        return modes.measured(self, "checkpoint", note)

    def eigenpairs(self, count: int) -> Eigenpairs:
        """Return the first eigenpairs to many digits."""
        try:
            pairs = slepc.krylov_schur(self, 1e-10, count, ignore_progress)
            note = f"{count} modes, Krylov-Schur {pairs.steps} restarts"
        except NotConvergedError:
            pairs = slepc.preconditioned_pairs(self, 1e-8, count, ignore_progress)
            note = f"{count} modes, preconditioned {pairs.steps} steps"
        return pairs.measured(self, "slepc", note)

    def solve_shifted(
        self, b: Array, gamma: float, start: Array, tol: float, off: Array
    ) -> Solution:
        """Solve ``(L_N - gamma I) x = b`` off some modes by PETSc."""
        return systems.solve_by_petsc(self, b, gamma, start, tol, off)

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("A graph that is spread over ranks cannot be pickled.")

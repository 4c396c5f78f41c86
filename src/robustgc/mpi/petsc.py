"""Node values, Laplacians and systems as PETSc has them: conjugate gradients with multigrid."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from robustgc.graph.graph import per_graph
from robustgc.graph.laplacian import operator
from robustgc.graph.weights import Array
from robustgc.linalg.cg import ShiftedSystem, rounding_floor
from robustgc.linalg.solution import NotConvergedError, Solution
from robustgc.mpi.world import library, petsc

if TYPE_CHECKING:
    from robustgc.mpi.graph import DistributedGraph

_LITTLE = 1e-8  # added to L_N beside its largest eigenvalue: nearly the pseudo-inverse off v0
_STEPS = 300


@contextmanager
def petsc_failures() -> Iterator[None]:
    """Turn an error of PETSc or SLEPc into that of a solver which has not converged."""
    try:
        yield
    except petsc().Error as failure:
        raise NotConvergedError(f"PETSc's error {failure.ierr}") from failure


def vector(graph: "DistributedGraph", x: Array) -> Any:
    """Return node values as a vector."""
    found = petsc().Vec().createMPI((graph.rows, graph.n), comm=graph.comm)
    found.array[:] = x
    return found


class ShellOperator:
    """A symmetric operator as PETSc calls it: by its products."""

    def __init__(self, apply: Callable[[Array], Array]) -> None:
        self._apply = apply

    def mult(self, matrix: Any, x: Any, y: Any) -> None:
        """Store the product with x in y."""
        y.array[:] = self._apply(x.array_r)

    def apply(self, pc: Any, x: Any, y: Any) -> None:
        """Store the same: of a preconditioner."""
        y.array[:] = self._apply(x.array_r)


def shell_matrix(graph: "DistributedGraph", apply: Callable[[Array], Array]) -> Any:
    """Return an operator on node values as a matrix."""
    size = ((graph.rows, graph.n), (graph.rows, graph.n))
    found = petsc().Mat().createPython(size, ShellOperator(apply), comm=graph.comm)
    found.setOption(petsc().Mat.Option.SYMMETRIC, True)
    found.setUp()
    return found


def laplacian_matrix(graph: "DistributedGraph", shift: float) -> Any:
    """Return ``L_N + shift I`` with its entries; v0 is told to be nearly its null vector."""
    W, rows, first = graph.halo.W, graph.rows, graph.first
    _check_count(graph, W.nnz + rows)
    numbers = np.concatenate([np.arange(first, first + rows), graph.halo.ghosts])
    scale = 1.0 / np.sqrt(graph.halo.values(graph.d))
    row = np.repeat(np.arange(rows), np.diff(W.indptr))
    weights = np.ones(W.nnz) if W.data is None else W.data
    weights = np.where(W.indices == row, 0.0, weights)  # self-loops are not in L_N
    off = np.bincount(row, weights=weights, minlength=rows)
    # Every row has its diagonal at the end.
    indptr = (W.indptr + np.arange(rows + 1)).astype(petsc().IntType)
    columns = np.empty(W.nnz + rows, dtype=petsc().IntType)
    values = np.empty(W.nnz + rows)
    places, ends = np.arange(W.nnz) + row, indptr[1:] - 1
    columns[places], columns[ends] = numbers[W.indices], numbers[:rows]
    values[places] = -weights * scale[row] * scale[W.indices]
    values[ends] = off * scale[:rows] ** 2
    csr = (indptr, columns, values)
    size = ((rows, graph.n), (rows, graph.n))
    found = petsc().Mat().createAIJ(size, csr=csr, comm=graph.comm)
    if shift:
        found.shift(shift)
    found.setOption(petsc().Mat.Option.SYMMETRIC, True)
    near = petsc().NullSpace().create(vectors=[vector(graph, graph.v0)], comm=graph.comm)
    found.setNearNullSpace(near)
    return found


def _check_count(graph: "DistributedGraph", entries: int) -> None:
    most = np.iinfo(petsc().IntType).max
    largest = graph.comm.allreduce(max(int(entries), graph.n), library().MAX)
    if largest > most:
        raise NotConvergedError(
            f"multigrid would need numbers up to {largest}, and this PETSc counts to {most}: use "
            "more ranks, or a PETSc with 64-bit indices"
        )


@per_graph
def gamg_cycle(graph: "DistributedGraph") -> Any:
    """Return a multigrid cycle, nearly the pseudo-inverse of ``L_N``, set up once."""
    pc = petsc().PC().create(comm=graph.comm)
    matrix = laplacian_matrix(graph, 2 * _LITTLE)
    pc.setOperators(matrix, matrix)
    pc.setType("gamg")
    pc.setUseAmat(False)  # after the type; else it smooths with the matrix that is solved
    pc.setUp()
    return pc


class MultigridPreconditioner:
    """That cycle as the preconditioner of something else."""

    def __init__(self, graph: "DistributedGraph") -> None:
        self._cycle = gamg_cycle(graph)

    def apply(self, pc: Any, x: Any, y: Any) -> None:
        """Store the cycle's answer to x in y."""
        self._cycle.apply(x, y)


@petsc_failures()
def solve_by_petsc(
    graph: "DistributedGraph", b: Array, gamma: float, start: Array, tol: float, off: Array
) -> Solution:
    """Solve ``(L_N - gamma I) x = b`` off some modes, v0 among them, from a guess.

    ``L_N^+ (L_N - gamma I)`` has its eigenvalues between ``1 - gamma / lambda`` and 1 there, so
    that a few dozen steps do, however small lambda_1 is.

    Raises
    ------
    NotConvergedError
        The tolerance was not reached, or negative curvature was met: lambda_1 came out too large.
    """
    multigrid, apply = gamg_cycle(graph), ShiftedSystem(graph, operator(graph), -gamma, off)
    r, z = vector(graph, b[:, 0]), vector(graph, b[:, 0])

    def precondition(x: Array) -> Array:
        r.array[:] = x
        multigrid.apply(r, z)
        return apply.project(z.array_r)

    ksp = petsc().KSP().create(comm=graph.comm)
    ksp.setOperators(shell_matrix(graph, apply))
    ksp.setType("cg")
    ksp.setNormType(petsc().KSP.NormType.UNPRECONDITIONED)
    ksp.setInitialGuessNonzero(True)
    ksp.setTolerances(rtol=tol, atol=0.0, max_it=_STEPS)
    pc = ksp.getPC()
    pc.setType("python")
    pc.setPythonContext(ShellOperator(precondition))
    found, steps, sizes = apply.project(start), 0, graph.norms(b)
    for c in np.flatnonzero(sizes):
        right, x = vector(graph, b[:, c]), vector(graph, found[:, c])
        ksp.solve(right, x)
        reason = ksp.getConvergedReason()
        if reason in (
            petsc().KSP.ConvergedReason.DIVERGED_INDEFINITE_MAT,
            petsc().KSP.ConvergedReason.DIVERGED_INDEFINITE_PC,
        ):
            raise NotConvergedError("negative curvature: lambda_1 came out too large")
        steps = max(steps, ksp.getIterationNumber())
        found[:, c] = x.array_r
    ksp.destroy()
    found[:, sizes == 0] = 0.0
    sizes[sizes == 0] = 1.0
    residual = float((graph.norms(apply(found) - b) / sizes).max(initial=0.0))
    if residual > max(3 * tol, rounding_floor(graph.norms(found) / sizes)):
        raise NotConvergedError(f"residual {residual:.1e} after {steps} iterations")
    return Solution(found, residual, steps)

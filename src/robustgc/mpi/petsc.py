"""Systems solved by PETSc, by conjugate gradients with multigrid, and eigenpairs found by SLEPc."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from robustgc.graph.graph import per_graph
from robustgc.graph.laplacian import operator
from robustgc.graph.weights import Array
from robustgc.linalg.cg import ShiftedSystem, rounding_floor
from robustgc.linalg.eigenpairs import ROUNDING_LEVEL, Eigenpairs
from robustgc.linalg.solution import NotConvergedError, Solution, Watch
from robustgc.mpi.world import library, petsc, slepc

if TYPE_CHECKING:
    from robustgc.mpi.graph import DistributedGraph

_LITTLE = 1e-8  # added to L_N beside its largest eigenvalue: nearly the pseudo-inverse off v0
_STEPS = 300  # of conjugate gradients
_PAIR_STEPS = 200  # of the preconditioned solvers of eigenpairs
_RESTARTS = 30  # of Krylov-Schur: a probe, not a siege


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


def slepc_pairs(graph: "DistributedGraph", pair_tol: float, count: int, watch: Watch) -> Eigenpairs:
    """Return the first pairs where Krylov spaces stall.

    LOBPCG with multigrid, then generalised Davidson: the first fails at times. The residual of
    every pair reaches `pair_tol` relative to its value.
    """
    tried = []
    for kind in ("lobpcg", "gd"):
        try:
            return _run(graph, kind, pair_tol, count, graph.v0[:, None], watch)
        except NotConvergedError as failure:
            tried.append(f"{kind}: {failure}")
    raise NotConvergedError("; ".join(tried))


def krylov_schur(
    graph: "DistributedGraph", pair_tol: float, count: int, watch: Watch
) -> Eigenpairs:
    """Return the same by Krylov-Schur, where it does not stall.

    One start vector shows one direction of a repeated eigenvalue: more are looked for off what was
    found, until nothing there is below the last value kept.
    """
    first = _run(graph, "krylovschur", pair_tol, count, graph.v0[:, None], watch)
    values, V, residual, steps = first.values, first.vectors, first.residual, first.steps
    while count > 1:
        off = np.column_stack([graph.v0, V])
        more = _run(graph, "krylovschur", pair_tol, 1, off, watch)
        steps += more.steps
        if more.values[0] >= values[-1] * (1 - 1e-9):
            break
        values, V = np.append(values, more.values), np.column_stack([V, more.vectors])
        order = np.argsort(values, kind="stable")[:count]
        values, V, residual = values[order], V[:, order], max(residual, more.residual)
    return Eigenpairs(values, V, residual, steps=steps)


@petsc_failures()
def _run(
    graph: "DistributedGraph", kind: str, pair_tol: float, count: int, off: Array, watch: Watch
) -> Eigenpairs:
    eps = slepc().EPS().create(comm=graph.comm)
    eps.setOperators(shell_matrix(graph, operator(graph)))
    eps.setProblemType(slepc().EPS.ProblemType.HEP)
    eps.setWhichEigenpairs(slepc().EPS.Which.SMALLEST_REAL)
    eps.setDeflationSpace([vector(graph, column) for column in off.T])
    eps.setType(kind)
    eps.setConvergenceTest(slepc().EPS.Conv.REL)
    eps.setTolerances(pair_tol, _RESTARTS if kind == "krylovschur" else _PAIR_STEPS)
    if kind == "krylovschur":
        eps.setDimensions(count, max(40, 2 * count + 1))
    else:
        eps.setDimensions(count)
        transform = eps.getST()
        transform.setType("precond")
        transform.getKSP().setType("preonly")
        pc = transform.getKSP().getPC()
        pc.setType("python")  # the one cycle for eigenpairs and systems: set up once
        pc.setPythonContext(MultigridPreconditioner(graph))
    if kind == "lobpcg":
        eps.setLOBPCGBlockSize(count + 1)  # the last of a block converges late

    def monitor(solver: Any, step: int, done: int, values: Any, errors: Any) -> None:
        watch(step, float(errors[min(done, len(errors) - 1)]) if len(errors) else np.nan, np.inf)

    eps.setMonitor(monitor)
    eps.solve()
    steps, found = eps.getIterationNumber(), eps.getConverged()
    if found < count:
        eps.destroy()
        raise NotConvergedError(f"{found} of {count} eigenpairs after {steps} steps")
    V = np.empty((graph.rows, count))
    x = vector(graph, graph.v0)
    values = np.array([eps.getEigenpair(k, x).real for k in range(count)])
    for k in range(count):
        eps.getEigenpair(k, x)
        V[:, k] = x.array_r
    eps.destroy()
    return _measured(graph, values, V, pair_tol, steps)


def _measured(
    graph: "DistributedGraph", values: Array, V: Array, pair_tol: float, steps: int
) -> Eigenpairs:
    """Measure the pairs on the matrix itself."""
    order = np.argsort(values, kind="stable")
    values, V = values[order], graph.P0(V[:, order])
    V /= graph.norms(V)
    if values[0] < ROUNDING_LEVEL:
        raise NotConvergedError(f"lambda_1 = {values[0]:.1e} is at the level of rounding")
    rest = float((graph.norms(graph.L_N(V) - V * values) / values).max())
    slant = float(np.abs(graph.inner(V, V) - np.eye(len(values))).max())
    if rest > 10 * pair_tol or slant > 1e-6:
        raise NotConvergedError(f"residual {rest:.1e}, inner products {slant:.1e} off")
    return Eigenpairs(values, V, rest, steps=steps)

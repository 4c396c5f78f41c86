"""The first eigenpairs of ``L_N`` by SLEPc, with v0 as its deflation space."""

from typing import TYPE_CHECKING, Any

import numpy as np

from robustgc.graph.laplacian import operator
from robustgc.graph.weights import Array
from robustgc.linalg.eigenpairs import ROUNDING_LEVEL, Eigenpairs
from robustgc.linalg.solution import NotConvergedError, Watch
from robustgc.mpi.petsc import MultigridPreconditioner, petsc_failures, shell_matrix, vector
from robustgc.mpi.world import slepc

if TYPE_CHECKING:
    from robustgc.mpi.graph import DistributedGraph

_STEPS = 200  # of the preconditioned solvers
_RESTARTS = 30  # of Krylov-Schur: a probe, not a siege


def preconditioned_pairs(
    graph: "DistributedGraph", pair_tol: float, count: int, watch: Watch
) -> Eigenpairs:
    """Return the first pairs where Krylov spaces stall.

    LOBPCG with multigrid, then generalised Davidson: the first fails at times.

    Parameters
    ----------
    pair_tol : float
        Residual to reach, beside every value.
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
    eps.setTolerances(pair_tol, _RESTARTS if kind == "krylovschur" else _STEPS)
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
    return _checked(graph, values, V, pair_tol, steps)


def _checked(
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

"""Systems off some modes: PETSc's conjugate gradients with multigrid."""

from typing import TYPE_CHECKING

import numpy as np

from robustgc.graph.weights import Array
from robustgc.linalg.solution import NotConvergedError, Solution
from robustgc.mpi.matrices import ShellOperator, gamg_cycle, shell_matrix, vector
from robustgc.mpi.world import petsc

if TYPE_CHECKING:
    from robustgc.mpi.spread_graph import DistributedGraph

_STEPS = 300


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
    L, multigrid = graph.operator("float64"), gamg_cycle(graph)

    def project(x: Array) -> Array:
        return np.asarray(x - off @ graph.inner(off, x))

    def apply(x: Array) -> Array:
        return project(L(x) - gamma * x)

    r, z = vector(graph, b[:, 0]), vector(graph, b[:, 0])

    def precondition(x: Array) -> Array:
        r.array[:] = x
        multigrid.apply(r, z)
        return project(z.array_r)

    ksp = petsc().KSP().create(comm=graph.comm)
    ksp.setOperators(shell_matrix(graph, apply))
    ksp.setType("cg")
    ksp.setNormType(petsc().KSP.NormType.UNPRECONDITIONED)
    ksp.setInitialGuessNonzero(True)
    ksp.setTolerances(rtol=tol, atol=0.0, max_it=_STEPS)
    pc = ksp.getPC()
    pc.setType("python")
    pc.setPythonContext(ShellOperator(precondition))
    found, steps, sizes = project(start), 0, graph.norms(b)
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
    # What double precision can reach: rounding of x alone moves apply(x) by eps * 2 * |x|.
    lengths = float((graph.norms(found) / sizes).max(initial=0.0))
    if residual > max(3 * tol, min(100 * np.finfo(float).eps * lengths, 1e-6)):
        raise NotConvergedError(f"residual {residual:.1e} after {steps} iterations")
    return Solution(found, residual, steps)

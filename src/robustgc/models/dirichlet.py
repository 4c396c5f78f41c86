"""Solve the Dirichlet problem: values given on some nodes, harmonic on all others.

``L_uu f_u = W_ul y_l`` with the combinatorial Laplacian: elimination on small graphs, conjugate
gradients on large ones. A residual does not see a cluster that is held by weak edges only, so the
one solution that is known, 1 everywhere where 1 is given, is solved along and has to come out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.weights import Array, Operator, Weights, divided
from robustgc.linalg.amg import Hierarchy
from robustgc.linalg.cg import conjugate_gradients, factorised, relative_residual
from robustgc.linalg.solution import Apply, NotConvergedError, Solution
from robustgc.models.elimination import harmonic_values

PROBE_STEPS = 150  # plain steps before multigrid is the better bet
PATIENT_STEPS = 5000  # plain steps where there is nothing else
_WRONG = 1e-4  # error in the known solution that is let pass
_EPS = float(np.finfo(float).eps)


def dirichlet(graph: Graph, given: NDArray[np.bool_], values: Array, tol: float) -> Solution:
    """Keep values where they are given and be harmonic on the other nodes.

    Parameters
    ----------
    graph : Graph
    given : ndarray of bool, shape (N,)
        At least one.
    values : ndarray, shape (N, columns)
        What is not given is passed over.
    tol : float
        Relative residual asked of iterations (more than 1500 free nodes), each node's equation
        divided by the root of its degree.

    Raises
    ------
    NotConvergedError
        No method reached the tolerance, or the known solution did not come out.
    """
    f = np.where(given[:, None], values, 0.0)
    free = np.flatnonzero(~given)
    if not free.size:
        return Solution(f, 0.0)
    held = np.asarray(graph._A @ np.column_stack([f, given]))[free]
    # Inverses of tiny weights overflow: a power of two in the middle of them becomes 1.
    o = graph._o[free]
    extreme = not (1e-100 < o.min() and o.max() < 1e100) and not isinstance(graph._A, Operator)
    unit = 2.0 ** np.round((np.log2(o.min()) + np.log2(o.max())) / 2) if extreme else 1.0
    boundary_sum, boundary_weight = held[:, :-1] / unit, held[:, -1] / unit
    A = _between(graph, free)
    system = _System(A if unit == 1 else divided(A, unit), o / unit, boundary_weight, boundary_sum)
    if free.size <= SMALL:
        A = system.A.toarray() if sp.issparse(system.A) else np.asarray(system.A)
        f[free] = harmonic_values(A, boundary_weight, boundary_sum)
        return Solution(f, system.checked(f[free], tol, "elimination"))
    f[free], residual, n_iter = _iterated(system, tol)
    return Solution(f, residual, n_iter)


def _between(graph: Graph, free: NDArray[Any]) -> Weights:
    """Return the weights among some nodes."""
    A = graph._A
    if isinstance(A, Operator):
        part = A.part(free)
        return part @ np.eye(free.size) if free.size <= SMALL else part
    return sp.csr_array(A[free][:, free]) if sp.issparse(A) else A[np.ix_(free, free)]


@dataclass(frozen=True)
class _System:
    A: Weights  # among free nodes
    o: Array  # their degrees without self-loops
    boundary_weight: Array
    boundary_sum: Array

    def residual(self, f: Array) -> float:
        """Return the relative residual, less what rounding leaves in its products."""
        o, root = self.o[:, None], np.sqrt(self.o)[:, None]
        r = np.abs(o * f - self.A @ f - self.boundary_sum)
        rounding = 16 * _EPS * (o * np.abs(f) + self.A @ np.abs(f) + np.abs(self.boundary_sum))
        return relative_residual(np.maximum(r - rounding, 0.0) / root, self.boundary_sum / root)

    def checked(self, f: Array, tol: float, name: str) -> float:
        """Return the residual, or refuse it."""
        residual = self.residual(f)
        if not residual <= 10 * tol:  # NaN is refused too
            raise NotConvergedError(
                f"{name}: the residual is {residual:.1e}, and {tol:.1e} was asked for. Raise tol, "
                "or bring the weights to a common scale."
            )
        return residual


def _iterated(system: _System, tol: float) -> tuple[Array, float, int]:
    """Climb from plain conjugate gradients to multigrid to a factorisation."""
    root = np.sqrt(system.o)[:, None]
    S = _scaled(system.A, root)

    def apply(x: Array) -> Array:
        return np.asarray(x - S(x))

    b = np.column_stack([system.boundary_sum, system.boundary_weight]) / root
    sizes = np.sqrt(np.einsum("ij,ij->j", b, b))
    x, steps, tried = np.zeros_like(b), 0, []
    for name, preconditioner, limit, sharper in _rungs(system, root):
        try:
            x, n_iter = conjugate_gradients(
                apply,
                b,
                preconditioner(),
                _identity,
                goal=sharper * tol * sizes,
                limit=limit,
                start=x,
            )
            steps += n_iter
            f = x / root
            wrong = float(np.abs(f[:, -1] - 1.0).max())
            residual = system.checked(f[:, :-1], tol, name)
            if wrong <= _WRONG:
                return f[:, :-1], residual, steps
            tried.append(f"{name}: error {wrong:.1e} where the solution is known")
        except (MemoryError, RuntimeError, ValueError, np.linalg.LinAlgError) as failure:
            tried.append(str(failure) or f"{name}: out of memory")
    raise NotConvergedError(
        f"Harmonic values on {len(system.o)} nodes did not reach the tolerance {tol:g}. Tried "
        f"{'; '.join(tried)}. Some nodes are held by very weak edges only: remove these edges "
        "(their piece is then answered by itself), or label a node there."
    )


def _rungs(system: _System, root: Array) -> list[tuple[str, Callable[[], Apply], int, float]]:
    """Name methods in order: how to precondition, steps allowed, factor of the tolerance."""
    if isinstance(system.A, Operator):
        return [("conjugate gradients", lambda: _identity, PATIENT_STEPS, 1.0)]
    rungs: list[tuple[str, Callable[[], Apply], int, float]] = []
    if sp.issparse(system.A):
        rungs.append(
            ("multigrid", lambda: Hierarchy(cast(Graph, _Grounded(system, root))), 300, 1e-3)
        )
    rungs.append(("factorisation", lambda: factorised(_matrix(system, root)), 50, 1e-3))
    return [("conjugate gradients", lambda: _identity, PROBE_STEPS, 1.0), *rungs]


class _Grounded:
    """What `Hierarchy` asks of a graph: a matrix and the vector it nearly sends to zero."""

    def __init__(self, system: _System, root: Array) -> None:
        self.v0 = root[:, 0] / np.linalg.norm(root)
        self.laplacian = lambda: _matrix(system, root)


def _matrix(system: _System, root: Array) -> Weights:
    if not sp.issparse(system.A):
        return np.eye(len(root)) - system.A / root / root[:, 0]
    scale = sp.diags_array(1.0 / root[:, 0])
    return sp.csr_array(sp.eye_array(len(root)) - scale @ system.A @ scale)


def _scaled(A: Weights, root: Array) -> Apply:
    """Return ``o^-1/2 A o^-1/2`` as a function."""
    return lambda x: np.asarray(A @ (x / root)) / root


def _identity(x: Array) -> Array:
    return x

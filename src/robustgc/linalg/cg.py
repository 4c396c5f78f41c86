"""Solve ``(L_N + shift I) X = B`` by conjugate gradients: one verb for every model.

A negative shift is the robust model: the system is solved on the complement of v0, where it is
positive definite exactly while ``-shift < lambda_1`` (Theorem 1). Conjugate gradients watch the
curvature, so a shift beyond lambda_1 is noticed rather than answered. Modes known in closed form
may be left out as well.

On large graphs passes over blocks of vectors are what a solve costs. There it is done in single
precision and refined in double, by four passes and a cycle of multigrid an iteration.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.graph import Graph, per_graph
from robustgc.graph.laplacian import Laplacian, operator
from robustgc.graph.weights import Array, Weights
from robustgc.linalg.amg import Hierarchy
from robustgc.linalg.ordering import sparse_factors
from robustgc.linalg.solution import (
    FAILURES,
    Apply,
    NotConvergedError,
    NotConvexError,
    Solution,
    check_tol,
)

# Enough for spectra where plain iterations are the right tool; beyond that, factorise.
PLAIN_ITERATIONS = 500
_SINGLE_STEPS = 60  # of a round, and of all before the last
_SINGLE_WORK = 1e10  # entries and values that all steps may touch: some seconds
_SINGLE_GAIN = 0.3  # of a round at least, or double precision is the better bet
Single = NDArray[np.float32]


def solve_shifted(
    graph: Graph, B: Array, shift: float, *, off: Array | None = None, tol: float = 1e-10
) -> Solution:
    """Solve ``(L_N + shift I) X = B`` on the complement of some modes.

    Plain conjugate gradients first; where they stall (kNN graphs, grids, paths: small lambda_1)
    the same iteration preconditioned by a factorisation, which then needs a few dozen steps.

    The shift of the robust model is ``-gamma``. The modes `off` are orthonormal columns, by default
    v0, or none if the shift is positive. NotConvexError: negative curvature was met, so ``-shift``
    is not below the smallest eigenvalue there. NotConvergedError: no method reached the relative
    residual `tol`, nor the limit that rounding sets.

    Examples
    --------
    >>> import numpy as np
    >>> from robustgc import Graph
    >>> from robustgc.linalg.cg import solve_shifted
    >>> triangle = Graph(np.ones((3, 3)) - np.eye(3))
    >>> solve_shifted(triangle, np.array([1.0, -1.0, 0.0]), -0.5).f.round(6)
    array([ 1., -1.,  0.])
    """
    check_tol(tol)
    if off is None:
        off = graph.v0[:, None] if shift <= 0 else np.empty((graph.n, 0))
    apply = ShiftedSystem(graph, graph.L_N, shift, off)
    b = apply.project(B)
    rungs: list[tuple[str, Callable[[], Apply], int]] = [
        ("conjugate gradients", lambda: _identity, PLAIN_ITERATIONS),
        ("conjugate gradients with a factorisation", lambda: _preconditioner(graph, shift), 2000),
    ]
    tried, close = [], None
    for name, preconditioner, limit in rungs:
        try:
            x, n_iter = conjugate_gradients(
                apply, b, preconditioner(), apply.project, goal=tol / 2 * _norms(b), limit=limit
            )
        except FAILURES as failure:
            tried.append(f"{name}: {str(failure) or 'the factors do not fit in memory'}")
            continue
        residual = relative_residual(apply(x) - b, b)
        # What double precision can reach: rounding of x alone moves apply(x) by eps * 2 * |x|.
        floor = 50 * np.finfo(float).eps * (2 + abs(shift)) * _norms(x) / (_norms(b) + _TINY)
        if residual <= max(tol, min(float(floor.max(initial=0.0)), 1e-6)):
            return Solution(x, residual, n_iter)
        if residual <= 10 * tol and (close is None or residual < close.residual):
            close = Solution(x, residual, n_iter)  # good enough if nothing is better
        tried.append(f"{name}: residual {residual:.1e} after {n_iter} iterations")
    if close is not None:
        return close
    raise NotConvergedError(
        f"The linear system with {graph.n} nodes did not reach the tolerance {tol:g}. Tried "
        f"{'; '.join(tried)}. {'Lower eta' if shift < 0 else 'Raise gamma'}, or remove very weak "
        "edges."
    )


class ShiftedSystem:
    """``L_N + shift I`` on the complement of some orthonormal modes."""

    def __init__(self, graph: Graph, L: Apply, shift: float, off: Array) -> None:
        self._graph, self._L, self._shift, self._off = graph, L, shift, off

    def __call__(self, x: Array) -> Array:
        """Apply the operator to columns off the modes."""
        return self.project(self._L(x) + self._shift * x)

    def project(self, x: NDArray[Any]) -> NDArray[Any]:
        """Take the modes out of columns."""
        off = self._off
        return np.asarray(x - off @ self._graph.inner(off, x)) if off.shape[1] else x


def conjugate_gradients(
    apply: Apply,
    b: Array,
    precondition: Apply,
    project: Apply,
    *,
    goal: Array,
    limit: int,
    start: Array | None = None,
) -> tuple[Array, int]:
    """Solve for every column at once; stop when the residual of each is below its goal.

    The residual is recomputed from its definition when the recurrence says it is done, because
    the two drift apart on ill-conditioned systems.
    """
    x = np.zeros_like(b) if start is None else start
    r = b if start is None else b - apply(x)
    p = z = project(precondition(r))
    rz = _dots(r, z)
    for n_iter in range(limit + 1):
        if (_norms(r) <= goal).all():
            r = b - apply(x)
            if (_norms(r) <= 2 * goal).all():
                return x, n_iter
            p = z = project(precondition(r))
            rz = _dots(r, z)
        if n_iter == limit:
            break
        image = apply(p)
        curvature = _dots(p, image)
        # Rounding alone can make a vanishing curvature negative; that is stagnation, not a proof.
        if (curvature < -1e-13 * _dots(p, p)).any():
            raise NotConvexError(
                "Negative curvature: the shifted Laplacian is not positive definite on the "
                "complement of v0. Theorem 1 needs gamma < lambda_1; lower gamma."
            )
        step = np.divide(rz, curvature, out=np.zeros_like(rz), where=curvature > 0)
        x, r = x + step * p, r - step * image
        z = project(precondition(r))
        rz, old = _dots(r, z), rz
        p = z + np.divide(rz, old, out=np.zeros_like(rz), where=old > 0) * p
    return x, limit


def solve_in_single_precision(
    graph: Graph, cycle: Hierarchy, b: Array, gamma: float, start: Array, tol: float, off: Array
) -> Solution:
    """Solve ``(L_N - gamma I) x = b`` off some modes, v0 among them, from a guess.

    Where a round of single precision brings hardly anything, return what is there.
    """
    single = operator(graph, "float32")
    system = ShiftedSystem(graph, operator(graph), -gamma, off)
    sizes = np.sqrt(np.einsum("ij,ij->j", b, b))
    sizes[sizes == 0] = 1.0
    work = b.shape[1] * (cycle.work + single.graph.entries + 16.0 * len(b))
    most = int(np.clip(_SINGLE_WORK / work, 10, _SINGLE_STEPS))
    x, steps, few = system.project(start), 0, off.astype(np.float32)
    best = Solution(np.zeros_like(b), np.inf, 0)
    while True:
        r = b - system(x)
        norms = np.sqrt(np.einsum("ij,ij->j", r, r))
        residual = float((norms / sizes).max(initial=0.0))
        little = not residual <= _SINGLE_GAIN * best.residual
        if residual < best.residual:
            best = Solution(x, residual, steps)
        if residual <= tol or little or steps >= most:
            return best
        unit = np.where(norms > 0, norms, 1.0)
        goal = np.where(norms > 0, 0.7 * tol * sizes / unit, 1.0)
        change, taken = _descended(
            single, cycle, (r / unit).astype(np.float32), gamma, goal, few, most
        )
        x, steps = np.asarray(x + system.project(change * unit)), steps + taken


def _descended(
    L: Laplacian, cycle: Hierarchy, r: Single, gamma: float, goal: Array, off: Single, most: int
) -> tuple[Single, int]:
    """Return what conjugate gradients in single precision make of residuals, and the steps."""
    loops, rows = threads.loops("linalg._cg_loops"), L._even
    x, p, image = np.zeros_like(r), np.zeros_like(r), np.zeros_like(r)
    factors, no_vectors = np.array([1.0, -gamma, 0.0]), np.empty((len(r), 0), r.dtype)
    rz, beta = np.zeros(r.shape[1]), np.zeros(r.shape[1])
    for step in range(most):
        z, old = cycle.single(r), rz
        known = _summed(loops.inner, rows, off, r, z, shape=(off.shape[1] + 1, r.shape[1]))
        rz = known[-1]
        beta = np.divide(rz, old, out=np.zeros_like(rz), where=old > 0)
        threads.run(loops.turn, rows, off, *_as(r, known[:-1], beta), z, p)
        L.chebyshev(p, image, factors)
        curvature = _summed(loops.inner, rows, no_vectors, p, image, shape=(1, r.shape[1]))[0]
        if (curvature < 0).any():
            return x, step
        alpha = np.divide(rz, curvature, out=np.zeros_like(rz), where=curvature > 0)
        squares = _summed(loops.descend, rows, *_as(r, alpha), p, image, x, r, shape=r.shape[1:])
        if (np.sqrt(squares) <= goal).all():
            break
    return x, step + 1


def _as(r: Single, *arrays: Array) -> list[Single]:
    return [array.astype(r.dtype) for array in arrays]


def _summed(
    loop: Callable[..., None], rows: NDArray[np.int64], *args: Any, shape: tuple[int, ...]
) -> Array:
    found: Array = threads.collect(loop, rows, *args, found=np.zeros(shape)).sum(axis=0)
    return found


def _preconditioner(graph: Graph, shift: float) -> Apply:
    """Return ``(L_N + shift I)^-1`` for a positive shift, nearly ``L_N^+`` else.

    ``L_N^+ (L_N - gamma I)`` has eigenvalues ``1 - gamma / lambda_l`` on the complement of v0:
    its condition number is at most ``1 / (1 - eta)``, however small lambda_1 is.
    """
    if shift <= 0:
        return regularised_inverse(graph, "normalized")
    return factorised(_shifted(graph.laplacian(), shift))


@per_graph
def regularised_inverse(graph: Graph, kind: str) -> Apply:
    """Return ``(L + delta I)^-1`` with delta 1e-8 of the largest eigenvalue, factorised once.

    Small enough to act as the pseudo-inverse off v0, large enough that modes below rounding do
    not swamp the others.
    """
    L = graph.laplacian(kind)
    return factorised(_shifted(L, 2e-8 * float(L.diagonal().max())))


def _shifted(L: Weights, shift: float) -> Weights:
    if sp.issparse(L):
        return L + shift * sp.eye_array(L.shape[0], format="csr")
    return L + shift * np.eye(L.shape[0])


def factorised(M: Weights) -> Apply:
    """Factorise a symmetric positive definite matrix once; return the solve."""
    if not sp.issparse(M):
        factor = sla.cho_factor(M, lower=True)
        return lambda b: np.asarray(sla.cho_solve(factor, b))
    lu = sparse_factors(M)
    return lambda b: np.asarray(lu.solve(b))


def rounding_floor(lengths: Array) -> float:
    """Return the residual that double precision can reach, by ``|x| / |b|`` of the columns.

    Rounding of x alone moves ``L_N x`` by ``2 eps |x|``.
    """
    return min(100 * np.finfo(float).eps * float(lengths.max(initial=0.0)), 1e-6)


def relative_residual(r: Array, b: Array) -> float:
    """Return the largest ``|r| / |b|`` over the columns; columns with ``b = 0`` count ``|r|``."""
    norms = _norms(b)
    return float((_norms(r) / np.where(norms > 0, norms, 1.0)).max(initial=0.0))


def rounding_of_modes(graph: Graph, V: Array, weights: Array, Y: Array, f: Array) -> float:
    """Return what rounding leaves of modes in closed form, relative to the largest value of f.

    ``v_l' y`` has an error of about ``eps |y|``, and the answer has it times the mode's weight:
    much, where a mode of huge weight is next to nothing at all labelled nodes. Columns are classes
    that are compared, so the largest value of all of them is the measure.
    """
    most = graph.largest(V * weights)
    if most == 0:
        return 0.0
    error = np.finfo(float).eps * most * float(graph.norms(Y.reshape(len(Y), -1)).max())
    size = graph.largest(f)
    return error / size if size > 0 else 0.0


_TINY = np.finfo(float).tiny


def _identity(x: Array) -> Array:
    return x


def _dots(a: Array, b: Array) -> Array:
    """Inner products column by column; a vector counts as one column."""
    return np.atleast_1d(np.einsum("i...,i...->...", a, b))


def _norms(a: Array) -> Array:
    return np.sqrt(_dots(a, a))

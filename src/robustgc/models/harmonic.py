"""Harmonic values: labels are kept as they are, and every other node is the mean of its neighbours.

``L_uu f_u = W_ul y_l`` with the combinatorial Laplacian: elimination on small graphs, conjugate
gradients on large ones. A residual does not see a cluster that is held by weak edges only, so the
one solution that is known, 1 everywhere where 1 is given, is solved along and has to come out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.weights import Array, Operator, Weights, divided
from robustgc.linalg.amg import Hierarchy
from robustgc.linalg.cg import conjugate_gradients, factorised, relative_residual
from robustgc.linalg.solution import (
    Apply,
    NotConvergedError,
    Solution,
    check_tol,
)
from robustgc.models.parameters import checked_labels, columns_by_nodes, shaped

PROBE_STEPS = 150  # plain steps before multigrid is the better bet
PATIENT_STEPS = 5000  # plain steps where there is nothing else
FAILURES = (MemoryError, RuntimeError, ValueError, np.linalg.LinAlgError)  # of one method
_WRONG = 1e-4  # error in the known solution that is let pass
_EPS = float(np.finfo(float).eps)
_BLOCK = 64  # nodes eliminated between two products of matrices


def harmonic(graph: Graph, y: ArrayLike, *, tol: float = 1e-10) -> Solution:
    """Keep the labels and give every other node the mean of its neighbours, by weight.

    Zhu, Ghahramani and Lafferty (2003): ``L_uu f_u = -L_ul y_l`` with the combinatorial Laplacian
    ``L = D - W``, u the unlabelled and l the labelled nodes. Labels are taken as certain; wrong
    ones are kept too. Self-loops cancel in ``D - W``.

    Parameters
    ----------
    graph : Graph
    y : array-like, shape (N,) or (N, columns)
        +1 and -1 for labels, 0 for unlabelled; at least one label in every column.
    tol : float
        Relative residual asked of iterations (more than 1500 unlabelled nodes).

    Returns
    -------
    Solution
        ``f`` lies between the smallest and the largest label, and equals y on labelled nodes.

    Raises
    ------
    NotConvergedError
        No method reached the tolerance.

    Examples
    --------
    >>> from robustgc import Graph, harmonic
    >>> chain = Graph([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> harmonic(chain, [1, 0, 0, -1]).f.round(4)
    array([ 1.    ,  0.8333, -0.8333, -1.    ])
    """
    Y, tol = checked_labels(graph, y), check_tol(tol)
    columns = Y.reshape(graph.n, -1)
    empty = np.flatnonzero(~(columns != 0).any(axis=0))
    if empty.size:
        raise ValueError(
            f"Column {empty[0]} of y has no label, so that every constant is harmonic. Label at "
            "least one node with +1 or -1, or leave the column out."
        )
    f, residual, n_iter = np.empty_like(columns), 0.0, 0
    for labelled, together in columns_by_nodes(columns):
        part = _solve_dirichlet(graph, labelled, columns[:, together], tol)
        f[:, together] = part.f
        residual, n_iter = max(residual, part.residual), max(n_iter, part.n_iter)
    return shaped(Solution(f, residual, n_iter), Y, tol)


def _solve_dirichlet(
    graph: Graph, labelled: NDArray[np.bool_], values: Array, tol: float
) -> Solution:
    """Keep values (N, columns) on labelled nodes, at least one, and be harmonic on the others.

    `tol` is the relative residual asked of iterations, each node's equation divided by the root of
    its degree.
    """
    f = np.where(labelled[:, None], values, 0.0)
    free = np.flatnonzero(~labelled)
    if not free.size:
        return Solution(f, 0.0)
    boundary = np.asarray(graph._A @ np.column_stack([f, labelled]))[free]
    # Inverses of tiny weights overflow: a power of two in the middle of them becomes 1.
    o = graph._o[free]
    extreme = not (1e-100 < o.min() and o.max() < 1e100) and not isinstance(graph._A, Operator)
    unit = 2.0 ** np.round((np.log2(o.min()) + np.log2(o.max())) / 2) if extreme else 1.0
    A = _between(graph, free)
    A = A if unit == 1 else divided(A, unit)
    system = _System(A, o / unit, boundary[:, -1] / unit, boundary[:, :-1] / unit)
    if free.size <= SMALL:
        A = A.toarray() if sp.issparse(A) else np.asarray(A)
        f[free] = harmonic_values(A, system.boundary_weight, system.boundary_sum)
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
    """The equations ``o f - A f = boundary_sum``, and their matrix scaled by ``o^-1/2``."""

    A: Weights  # among free nodes
    o: Array  # their degrees without self-loops
    boundary_weight: Array
    boundary_sum: Array

    @cached_property
    def root(self) -> Array:
        """Roots of the degrees, a column."""
        return np.sqrt(self.o)[:, None]

    @property
    def v0(self) -> Array:
        """The unit vector that the scaled matrix nearly sends to 0, as `Hierarchy` needs it."""
        return np.asarray(self.root[:, 0] / np.linalg.norm(self.root))

    def laplacian(self) -> Weights:
        """Return the scaled matrix, ``I - o^-1/2 A o^-1/2``."""
        if not sp.issparse(self.A):
            return np.eye(len(self.o)) - self.A / self.root / self.root[:, 0]
        scale = sp.diags_array(1.0 / self.root[:, 0])
        return sp.csr_array(sp.eye_array(len(self.o)) - scale @ self.A @ scale)

    def multiplied(self, x: Array) -> Array:
        """Return the product of the scaled matrix with x."""
        return np.asarray(x - np.asarray(self.A @ (x / self.root)) / self.root)

    def residual(self, f: Array) -> float:
        """Return the relative residual, less what rounding leaves in its products."""
        o = self.o[:, None]
        r = np.abs(o * f - self.A @ f - self.boundary_sum)
        rounding = 16 * _EPS * (o * np.abs(f) + self.A @ np.abs(f) + np.abs(self.boundary_sum))
        return relative_residual(
            np.maximum(r - rounding, 0.0) / self.root, self.boundary_sum / self.root
        )

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
    b = np.column_stack([system.boundary_sum, system.boundary_weight]) / system.root
    sizes = np.sqrt(np.einsum("ij,ij->j", b, b))
    x, steps, tried = np.zeros_like(b), 0, []
    for name, preconditioner, limit, sharper in _rungs(system):
        try:
            goal = sharper * tol * sizes
            x, n_iter = conjugate_gradients(
                system.multiplied, b, preconditioner(), _identity, goal=goal, limit=limit, start=x
            )
            steps += n_iter
            f = x / system.root
            wrong = float(np.abs(f[:, -1] - 1.0).max())
            residual = system.checked(f[:, :-1], tol, name)
            if wrong <= _WRONG:
                return f[:, :-1], residual, steps
            tried.append(f"{name}: error {wrong:.1e} where the solution is known")
        except FAILURES as failure:
            tried.append(str(failure) or f"{name}: out of memory")
    raise NotConvergedError(
        f"Harmonic values on {len(system.o)} nodes did not reach the tolerance {tol:g}. Tried "
        f"{'; '.join(tried)}. Some nodes are held by very weak edges only: remove these edges "
        "(their piece is then answered by itself), or label a node there."
    )


def _rungs(system: _System) -> list[tuple[str, Callable[[], Apply], int, float]]:
    """Name methods in order: how to precondition, steps allowed, factor of the tolerance."""
    if isinstance(system.A, Operator):
        return [("conjugate gradients", lambda: _identity, PATIENT_STEPS, 1.0)]
    rungs: list[tuple[str, Callable[[], Apply], int, float]] = [
        ("conjugate gradients", lambda: _identity, PROBE_STEPS, 1.0),
        ("multigrid", lambda: Hierarchy(cast(Graph, system)), 300, 1e-3),
        ("factorisation", lambda: factorised(system.laplacian()), 50, 1e-3),
    ]
    return rungs if sp.issparse(system.A) else [rungs[0], rungs[2]]


def _identity(x: Array) -> Array:
    return x


def harmonic_values(A: Array, boundary_weight: Array, boundary_sum: Array) -> Array:
    """Solve ``f_i = (A f + boundary_sum)_i / (A 1 + boundary_weight)_i`` for every node i.

    Nodes are taken out one by one and their weight is handed on to their neighbours. All of it
    adds, multiplies and divides numbers >= 0, and a degree is always summed afresh from the
    weights, so the error is a few roundings relative to
    ``max |boundary_sum / boundary_weight|`` for any weights, where the factors of a matrix would
    lose a cluster that is held by weak edges only.

    A are symmetric weights >= 0 between the free nodes, whose diagonal counts as 0;
    `boundary_weight` is the weight of each node's edges to the nodes with fixed values, and
    `boundary_sum` (n, columns) the sum over them of weight times value.

    Examples
    --------
    A path of four nodes, 1 and -1 given at its ends:

    >>> import numpy as np
    >>> from robustgc.models.harmonic import harmonic_values
    >>> A = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> harmonic_values(A, np.array([1.0, 1.0]), np.array([[1.0], [-1.0]])).round(4).ravel()
    array([ 0.3333, -0.3333])
    """
    A = A.copy()
    boundary = np.column_stack([boundary_weight, boundary_sum])
    n, eliminated = len(A), []
    for end in range(n, 0, -_BLOCK):
        start = max(0, end - _BLOCK)
        block, rest = slice(start, end), slice(0, start)
        to_rest, to_boundary = A[block, rest].copy(), boundary[block].copy()
        inverse = _inverse(A[block, block], to_rest.sum(axis=1) + to_boundary[:, 0])
        reach = A[rest, block] @ inverse
        A[rest, rest] += reach @ to_rest
        boundary[rest] += reach @ to_boundary
        eliminated.append((block, inverse, to_rest, to_boundary[:, 1:]))
    f = np.empty(boundary_sum.shape)
    for block, inverse, to_rest, fixed in reversed(eliminated):
        f[block] = inverse @ (to_rest @ f[: block.start] + fixed)
    return f


def _inverse(A: Array, out: Array) -> Array:
    """Return ``(D - A)^-1`` with ``D = A 1 + out``, the diagonal of A passed over."""
    n = len(A)
    left, R = A.copy(), np.eye(n)
    np.fill_diagonal(left, 0.0)  # an edge to itself holds a node nowhere
    out = out.copy()
    pivots = np.empty(n)
    for k in range(n):
        pivots[k] = left[k, k + 1 :].sum() + out[k]
        share = left[k + 1 :, k] / pivots[k]
        left[k + 1 :, k + 1 :] += np.outer(share, left[k, k + 1 :])
        out[k + 1 :] += share * out[k]
        R[k + 1 :] += np.outer(share, R[k])
    for k in range(n - 1, -1, -1):
        R[k] = (R[k] + left[k, k + 1 :] @ R[k + 1 :]) / pivots[k]
    return R

"""The multigrid solver, for spectra that crowd towards 0 (grids, roads, neighbour graphs).

Algebraic multigrid with v0 as its near-null vector is nearly the pseudo-inverse of ``L_N``: LOBPCG
with it finds the first eigenpairs, and conjugate gradients with it solve
``(L_N - gamma I) f = gamma P0 y`` in a few dozen steps, whatever lambda_1 is.
"""

from functools import singledispatch

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from robustgc.graph import threads
from robustgc.graph.graph import Graph, per_graph
from robustgc.graph.laplacian import Laplacian, fits_single, operator
from robustgc.graph.weights import Array
from robustgc.linalg.amg import Hierarchy
from robustgc.linalg.cg import (
    ShiftedSystem,
    conjugate_gradients,
    relative_residual,
    rounding_floor,
    solve_in_single_precision,
)
from robustgc.linalg.eigenpairs import ROUNDING_LEVEL, SEED, Eigenpairs, count_leading
from robustgc.linalg.ordering import factorised, is_near_tree
from robustgc.linalg.solution import (
    Apply,
    Gammas,
    NotConvergedError,
    NotConvexError,
    PathSolution,
    Solution,
    Watch,
    ignore_progress,
)

_STEPS = 100
_ENOUGH = 10  # steps, where not all modes are needed
_AHEAD = 100.0  # times the residual asked for that a mode may have halfway, to get there
_SINGLE = 1e-5  # tolerance from which single precision is tried first
USEFUL = 0.1  # residual of an answer by which nodes may be told apart
_ROUGH = 16.0  # times the residual asked for that a mode may have where patience is over
_PATIENT = 30_000  # nodes up to which steps take little time
_PATIENCE = 5e6  # steps times nodes: some seconds


def run(graph: Graph, Y: Array, requested: Gammas, tol: float, watch: Watch) -> PathSolution:
    """Answer RobustGC for all gammas, each started from the one before."""
    modes = first_pairs(graph, max(np.sqrt(tol), 1e-6), watch=watch)
    limit = float(modes.values[0])
    gammas = requested(limit)
    b = graph.P0(Y)
    solutions, x = [], np.zeros_like(b)
    for k, gamma in enumerate(gammas):
        if k == 0:  # what the eigenvectors know of the answer
            weights = 1.0 / (modes.values - gamma)
            known = graph.inner(modes.vectors, b)
            x = modes.vectors @ (known.T * np.where(weights > 0, weights, 0.0)).T
        solution = solve_by_multigrid(graph, b, gamma, x, tol, graph.v0[:, None])
        x = solution.f
        solutions.append(Solution(gamma * x, solution.residual, solution.n_iter))
        watch(k + 1, solution.residual, len(gammas))
    taken = ", ".join(str(solution.n_iter) for solution in solutions)
    note = f"LOBPCG {modes.steps} steps, solves {taken}"
    return PathSolution(limit, modes.residual, gammas, solutions, note)


@singledispatch
@threads.single_blas
def solve_by_multigrid(
    graph: Graph,
    b: Array,
    gamma: float,
    start: Array,
    tol: float,
    off: Array,
    *,
    patient: bool = True,
) -> Solution:
    """Solve ``(L_N - gamma I) x = b`` off some modes, v0 among them, from a guess.

    Without patience what single precision makes of it is returned, with its residual, where that
    is of any use.
    """
    cycle = hierarchy(graph)
    if tol >= _SINGLE and isinstance(cycle, Hierarchy) and fits_single(graph):
        solution = solve_in_single_precision(graph, cycle, b, gamma, start, tol, off)
        if solution.residual <= (tol if patient else USEFUL):
            return solution
        if not patient:
            raise NotConvergedError(f"residual {solution.residual:.1e} in single precision")
        start = solution.f  # all of it in double precision
    apply = ShiftedSystem(graph, operator(graph), -gamma, off)
    sizes, start = np.sqrt(np.einsum("i...,i...->...", b, b)), apply.project(start)
    try:
        x, n_iter = conjugate_gradients(
            apply, b, cycle, apply.project, goal=tol * sizes, limit=300, start=start
        )
    except NotConvexError as failure:
        raise NotConvergedError("negative curvature: lambda_1 came out too large") from failure
    residual = relative_residual(apply(x) - b, b)
    lengths = np.sqrt(np.einsum("i...,i...->...", x, x)) / np.where(sizes > 0, sizes, 1.0)
    if residual > max(2 * tol, rounding_floor(lengths)):
        raise NotConvergedError(f"residual {residual:.1e} after {n_iter} iterations")
    return Solution(x, residual, n_iter)


@per_graph
def hierarchy(graph: Graph) -> Hierarchy | Apply:
    """Set up what nearly inverts ``L_N`` once: multigrid, or for a near-tree its factors.

    They fill in nothing there, while aggregates around hubs are too large.
    """
    if not is_near_tree(graph):
        return Hierarchy(graph)
    shift = 2e-8 * sp.eye_array(graph.n, format="csr")  # hardly more than nothing, off v0
    solve, v0 = factorised(graph, graph.laplacian() + shift), graph.v0[:, None]

    def inverse(r: Array) -> Array:
        x = solve(np.asarray(r, dtype=float).reshape(len(r), -1))
        return np.asarray((x - v0 @ (v0.T @ x)).reshape(r.shape))

    return inverse


def first_pairs(
    graph: Graph,
    pair_tol: float,
    count: int = 1,
    watch: Watch = ignore_progress,
    needed: int | None = None,
) -> Eigenpairs:
    """Return the first non-trivial eigenpairs of ``L_N``.

    They are kept on the graph. With `needed`: once those up to there have converged, or after some
    steps as many as have, if any.
    """
    key = f"first_pairs{pair_tol, count, needed}"
    if key not in graph._memo:
        graph._memo[key] = preconditioned_pairs(graph, pair_tol, count, needed or count, watch)
    found: Eigenpairs = graph._memo[key]
    return found


@singledispatch
@threads.single_blas
def preconditioned_pairs(
    graph: Graph, pair_tol: float, count: int, needed: int, watch: Watch
) -> Eigenpairs:
    """Find what `first_pairs` returns by LOBPCG; on ranks `robustgc.mpi.graph` does.

    The best combination of the vectors, their preconditioned residuals and the last
    changes, until the residuals relative to the first values are below `pair_tol`; the error of
    a value is about the square. All start from the coarsest level but one, which is random, so
    that no symmetry hides v1.
    """
    L, cycle = operator(graph), hierarchy(graph)
    rng = np.random.default_rng(SEED)
    X = np.column_stack([_from_coarse(graph, cycle, count), rng.standard_normal((graph.n, 1))])
    X, image, values = rayleigh_ritz(L, orthonormal(graph, X))
    change = np.empty((graph.n, 0))
    best, strict, enough = np.inf, needed == count, needed
    limit = _STEPS if strict else int(np.clip(_PATIENCE / graph.n, 2 * _ENOUGH, _STEPS))
    for step in range(_STEPS):
        R = image - X * values
        sizes = np.linalg.norm(R[:, :count], axis=0) / np.maximum(values[:count], 1e-300)
        best = float(sizes[:needed].max())
        watch(step, best, np.inf)
        if values[0] < ROUNDING_LEVEL and best > pair_tol:
            raise NotConvergedError(f"lambda_1 = {values[0]:.1e} is at the level of rounding")
        if best <= pair_tol:
            known = len(values) if needed == count else count_leading(sizes <= pair_tol)
            return Eigenpairs(values, X, best, steps=step).first(known)
        if needed < count and step >= _ENOUGH and (known := count_leading(sizes <= pair_tol)):
            return Eigenpairs(values, X, float(sizes[:known].max()), steps=step).first(known)
        if not strict and step >= _ENOUGH and sizes[0] > 1:
            break  # no cycle of multigrid is of help here
        if not strict and step >= limit and (sizes[0] <= _ROUGH * pair_tol or step >= 1.5 * limit):
            if not sizes[0] <= USEFUL:
                break
            return Eigenpairs(values, X, float(sizes[0]), steps=step).first(1)
        if needed < count and step == _ENOUGH // 2:  # those that crowd only cost time
            ahead = count_leading(sizes <= _AHEAD * pair_tol)
            if 2 * ahead < enough and enough > 1 and graph.n > _PATIENT:
                break  # fewer than classes need: filters that need none say as much, and sooner
            count = min(count, max(2, ahead + 1))
            needed, k = min(needed, count - 1), count + 1
            X, image, R, change = (block[:, :k] for block in (X, image, R, change))
            values = values[:k]
        Z = orthonormal(graph, np.column_stack([cycle(R), change]), off=X)
        image_z = L(Z)
        k = X.shape[1]
        small = np.block([[np.diag(values), image.T @ Z], [Z.T @ image, Z.T @ image_z]])
        values, turn = sla.eigh((small + small.T) / 2, subset_by_index=[0, k - 1])
        change = Z @ turn[k:]
        X, image = X @ turn[:k] + change, image @ turn[:k] + image_z @ turn[k:]
        if step % 8 == 7:  # rounding adds up in what is only combined
            X, image, values = rayleigh_ritz(L, orthonormal(graph, X))
    raise NotConvergedError(f"LOBPCG: residual {best:.1e} after {step + 1} steps")


def rayleigh_ritz(L: Laplacian, X: Array) -> tuple[Array, Array, Array]:
    """Return Ritz vectors in the span of orthonormal columns, their images and values."""
    image = L(X)
    values, turn = sla.eigh(X.T @ image)
    return X @ turn, image @ turn, values


def orthonormal(graph: Graph, Z: Array, off: Array | None = None) -> Array:
    """Orthonormalise columns off v0 and some others; directions that are not there are dropped.

    By the eigenvectors of their Gram matrix: two products with the block, no factorisation of it.
    Once more where rounding has left something.
    """
    B = graph.v0[:, None] if off is None else np.column_stack([graph.v0, off])
    for _ in range(3):
        Z = Z - B @ (B.T @ Z)
        gram = Z.T @ Z
        size = np.sqrt(gram.diagonal())
        size[size == 0] = 1.0
        values, U = sla.eigh(gram / size / size[:, None])
        keep = values > 1e-12 * values[-1]
        Z = Z @ (U[:, keep] / np.sqrt(values[keep]) / size[:, None])
        if values[keep][0] > 1e-4 and np.abs(B.T @ Z).max() < 1e-12:
            break
    return np.asarray(Z)


def _from_coarse(graph: Graph, cycle: Hierarchy | Apply, count: int) -> Array:
    """Carry the first eigenvectors of the coarsest level up: a start close to the end."""
    coarse = cycle.coarse_modes(count) if isinstance(cycle, Hierarchy) else None
    if coarse is None:
        return np.random.default_rng(SEED + 7).standard_normal((graph.n, count))
    return coarse

"""The first modes of a graph: by the eigensolver that suits it, as many as can be had."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial, singledispatch

import numpy as np
import scipy.linalg as sla

from robustgc.graph import threads
from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.laplacian import Laplacian, operator
from robustgc.graph.weights import Array
from robustgc.linalg.block_lanczos import block_lanczos_modes, inverse_lanczos_modes
from robustgc.linalg.eigenpairs import (
    MOST_TINY,
    TINY,
    Eigenpairs,
    count_distinct,
    count_leading,
    count_reliable,
    resolution,
)
from robustgc.linalg.factors import has_cheap_factors, has_few_cycles
from robustgc.linalg.krylov import probe_steps
from robustgc.linalg.ladder import SolverOptions, cure, dtype_and_tolerance
from robustgc.linalg.lanczos import LanczosRecurrences, TridiagonalProblem
from robustgc.linalg.multigrid import first_pairs
from robustgc.linalg.ordering import numbered
from robustgc.linalg.solution import NotConvergedError, Watch, ignore_progress
from robustgc.linalg.spectrum import eigenpairs, full_spectrum

LARGE_GRAPH_RESIDUAL = 1e-3  # residual of modes of large graphs where nothing better was asked for
MEDIUM = 30_000  # nodes up to which any number of modes takes seconds
HUGE = 300_000  # nodes from which a pass over the vectors is what a step costs
_AFFORDABLE = 4e6  # values of the modes that multigrid looks for, to weigh candidates
_HARD = 0.01  # a lambda_1 below is better left to multigrid; above, products get there
_LIMIT = 300


def find_modes(
    graph: Graph, count: int, Y: Array, options: SolverOptions, *, exact: bool = True
) -> Eigenpairs:
    """Return the first modes: as many as asked for, or fewer where more would cost too much.

    Up to 1500 nodes all are there. Above, block Lanczos finds those that stand clear of the bulk of
    the spectrum, and multigrid those of grids and neighbour graphs; both start from the label
    columns Y. Up to 30,000 nodes `exact` are all that are asked for, to many digits; to weigh
    candidates those that stand clear will do, to some digits.
    """
    try:
        return checkpointed(graph, partial(_searched_modes, graph, count, Y, options, exact))
    except NotConvergedError as failure:
        raise NotConvergedError(
            f"The first modes of the graph of {graph.n} nodes were not found: "
            f"{str(failure).rstrip('.')}. {cure(graph, 'lower n_modes,')}"
        ) from failure


@singledispatch
def checkpointed(graph: Graph, search: Callable[[], Eigenpairs]) -> Eigenpairs:
    """Return the modes that a search finds; those of a distributed graph may have been kept."""
    return search()


def _searched_modes(
    graph: Graph, count: int, Y: Array, options: SolverOptions, exact: bool
) -> Eigenpairs:
    if graph.n <= SMALL and not graph.distributed:
        return full_spectrum(graph).nontrivial().measured(graph, "dense", "all modes")
    near = numbered(graph)
    if near.graph is not graph:
        found = _searched_modes(near.graph, count, near.to(Y), options, exact)
        return replace(found, vectors=near.back(found.vectors))
    count = min(count, graph.n // 8)
    if exact and graph.n <= MEDIUM and (graph.is_here or graph.distributed):
        for few in (count, 1):  # those of a hard graph may be too many to ask for
            try:
                return accurate_modes(graph, few)
            except NotConvergedError:
                continue
    if exact or graph.n <= MEDIUM or not (has_cheap_factors(graph) or has_few_cycles(graph)):
        try:
            return _by_products(graph, count, Y, options, exact)
        except NotConvergedError:
            if not graph.is_sparse:
                raise
    pair_tol = (
        LARGE_GRAPH_RESIDUAL / 4 if options.tol is None else max(options.tol / 100, 1e-10)
    )  # for eta 0.99
    if not exact and options.tol is None:  # what takes some seconds
        count = max(3, min(count, int(_AFFORDABLE // graph.n)))
    if not exact and has_cheap_factors(graph):
        modes = inverse_lanczos_modes(graph, Y, count, pair_tol, options.watching("modes"))
        note = f"{len(modes.values)} modes, {modes.steps} products with the inverse"
        return modes.measured(graph, "factors", note)
    needed = count if exact or options.tol is not None else max(1, min(count - 1, Y.shape[1]))
    watch = options.watching("modes")
    modes = first_pairs(graph, pair_tol, count, watch, needed).first(count)
    note = f"{len(modes.values)} modes, LOBPCG {modes.steps} steps"
    return modes.measured(graph, "multigrid", note)


def _by_products(
    graph: Graph, count: int, Y: Array, options: SolverOptions, exact: bool
) -> Eigenpairs:
    """Find the modes that stand clear; on huge graphs without a basis that grows with restarts."""
    (dtype, tol), watch = dtype_and_tolerance(graph, options), options.watching("modes")
    if graph.n > HUGE:
        modes = leading_modes(graph, Y, count, dtype, watch)
        modes = modes.first(count_reliable(modes.values))
    else:
        strict = (exact or options.tol is not None) and dtype == "float64"
        residual = max(tol / 100, 1e-10) if strict else None
        with threads.single_blas:
            modes = block_lanczos_modes(graph, Y, count, dtype, watch, residual)
    return modes.measured(graph, "krylov", f"{len(modes.values)} modes, {modes.steps} products")


@singledispatch
def accurate_modes(graph: Graph, count: int) -> Eigenpairs:
    """Return as many modes as asked for, to many digits.

    And all that are tiny: what is left to products is not to have an eigenvalue that they miss.
    """
    found = eigenpairs(graph, count + 1)
    while found.values[-1] < TINY and count < min(MOST_TINY, graph.n // 8):
        count = min(max(4 * count, 16), MOST_TINY, graph.n // 8)
        found = eigenpairs(graph, count + 1)
    return found.nontrivial().measured(graph, "eigenpairs", f"{len(found.values) - 1} modes")


def participation_ratios(graph: Graph, vectors: Array) -> Array:
    """Return the participation ratio of each mode: the share of the volume on which it lives.

    1 where it is of the same size everywhere; the share of the smaller side where it has two.
    """
    squares = (vectors / graph.v0[:, None]) ** 2
    return np.asarray(1.0 / graph.inner(graph.v0**2, squares**2))


def leading_modes(
    graph: Graph, Y: Array, count: int, dtype: str, watch: Watch = ignore_progress
) -> Eigenpairs:
    """Return the modes that stand clear of the bulk, from the Krylov spaces of the labels.

    Each label column has its own Krylov space. Those Ritz pairs are taken that have converged and
    have none below them that has not; the random column of the recurrences guards against a
    lambda_1 that no label sees. NotConvergedError: not even lambda_1 stands clear, after the probe
    where it is small; or no label sees it.
    """
    L, probe = operator(graph, dtype), probe_steps(graph)
    lanczos = LanczosRecurrences(L, Y, basis_bytes=graph.available() / 3)
    clear = resolution(L.dtype).ritz
    first, check = 0, 4
    most = 0  # modes taken at once so far, and the Ritz pairs that gave them
    best: tuple[float, dict[int, TridiagonalProblem]] = (np.inf, {})
    for step in range(1, _LIMIT + 1):
        lanczos.step()
        watch(step, np.nan, np.inf)
        over = not lanczos.betas[-1].any()
        if step < check and not over:
            continue
        check = max(step + 1, int(1.1 * step))
        problems = lanczos.problems()
        cut, guarded = _first_unconverged(problems, Y.shape[1], clear)
        taken = [p.theta[p.theta < cut] for c, p in problems.items() if c != Y.shape[1]]
        values = np.concatenate([*taken, np.empty(0)])
        if values.size and guarded and lanczos.basis_kept:
            first, found = first or step, count_distinct(values)
            if found >= most:
                most, best = found, (cut, problems)
            # Fewer than before: copies of converged pairs have begun to come up among them.
            if most >= count or found < most or step >= 1.15 * first + 2 or over:
                modes = _combined_modes(graph, L, lanczos, best[1], best[0], clear, count)
                return replace(modes, steps=step)
        hard = any(problem.theta[0] < _HARD for problem in problems.values())
        if over or not lanczos.basis_kept or (step >= probe and not first and hard):
            break
    raise NotConvergedError(f"no mode stood clear after {step} Lanczos steps")


def _first_unconverged(
    problems: dict[int, TridiagonalProblem], guard: int, clear: float
) -> tuple[float, bool]:
    """Return the smallest Ritz value that has not converged, and whether the guard has lambda_1."""
    cut, low = np.inf, min((float(p.theta[0]) for p in problems.values()), default=np.inf)
    for problem in problems.values():
        rest = problem.last * np.abs(problem.S[-1])
        unconverged = problem.theta[rest > clear * max(low, 1e-300)]
        cut = min(cut, float(unconverged.min(initial=np.inf)))
    return cut, guard in problems and float(problems[guard].theta[0]) < cut


def _combined_modes(
    graph: Graph,
    L: Laplacian,
    lanczos: LanczosRecurrences,
    problems: dict[int, TridiagonalProblem],
    cut: float,
    clear: float,
    count: int,
) -> Eigenpairs:
    """Combine the Ritz vectors of all columns: Rayleigh-Ritz on what they span."""
    vectors, guard = [], lanczos.Y.shape[1]
    for c, problem in problems.items():
        if c == guard:
            continue
        chosen = np.flatnonzero(problem.theta < cut)[: 2 * count]
        steps = len(problem.theta)
        sizes = np.array([size[c] for size in lanczos.sizes[:steps]])
        basis = np.stack([q[c] for q in lanczos.basis[:steps]])
        weights = (problem.S[:, chosen] * sizes[:, None]).astype(basis.dtype)
        vectors.append(np.asarray(basis.T @ weights, dtype=float))
    X = graph.P0(np.column_stack(vectors))
    gram = graph.inner(X, X)
    size = np.sqrt(np.maximum(gram.diagonal(), 1e-300))
    values, U = sla.eigh(gram / size / size[:, None])
    X = X @ (U[:, values > 1e-3] / np.sqrt(values[values > 1e-3]) / size[:, None])
    image = graph.L_N(X)
    form = graph.inner(X, image)
    theta, turn = sla.eigh((form + form.T) / 2)
    X, image = X @ turn, image @ turn
    rest = graph.norms(image - X * theta)
    good = rest <= 100 * clear * theta[0]
    keep = count_leading(good)
    low = float(problems[guard].theta[0]) if guard in problems else theta[0]
    if keep == 0 or theta[0] > low * (1 + 1e-3) or theta[0] < resolution(L.dtype).least:
        raise NotConvergedError(
            f"lambda_1 is about {low:.1e}, and the Krylov spaces of the labels do not resolve it"
        )
    return Eigenpairs(theta, X).first(min(keep, count))

"""The Krylov solver: one Lanczos run gives lambda_1 and the solutions for every gamma.

Shifted systems share their Krylov space, so the space of the labels answers all of them, and
contains v1 as well; the random column guards against labels that cannot see v1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.graph import Graph
from robustgc.graph.laplacian import Laplacian
from robustgc.graph.weights import Array
from robustgc.linalg.eigenpairs import Resolution, resolution
from robustgc.linalg.lanczos import LanczosRecurrences, TridiagonalProblem
from robustgc.linalg.solution import Gammas, NotConvergedError, PathSolution, Solution, Watch

SLOW = "converges slowly"
_PATIENCE = 1000  # products that may be promised before multigrid is the better bet
_PATIENT_STEPS = 5000  # steps, when it was asked for or nothing else is left


@dataclass(frozen=True)
class _RitzPair:
    """The smallest Ritz pair at some step: later, copies of it appear and blur its vector."""

    lambda_1: float
    residual: float  # beside lambda_1
    guarded: bool  # whether the random column has seen it as well
    column: int
    tridiagonal: TridiagonalProblem


@dataclass(frozen=True)
class _State:
    """How far the run is after some steps."""

    columns: dict[int, TridiagonalProblem]
    pair: _RitzPair
    gammas: Array
    residuals: Array  # worst column, by gamma

    @property
    def worst(self) -> float:
        return max(float(self.residuals.max(initial=0.0)), self.pair.residual)


def run(
    L: Laplacian, Y: NDArray[Any], requested: Gammas, tol: float, patient: bool, watch: Watch
) -> PathSolution:
    """Solve ``(L_N - gamma I) f = gamma P0 y`` for all gammas, with lambda_1 from the same space.

    To the tolerance for the residuals of all systems, and of lambda_1 relative to itself. Without
    label columns only lambda_1 is asked for. A basis that takes too much memory is not kept but
    computed a second time. `NotConvergedError` says how far it got.
    """
    lanczos = LanczosRecurrences(L, Y, basis_bytes=L.graph.available() / 4)
    patience, probe = np.inf if patient else _PATIENCE, probe_steps(L.graph)
    limit = min(_PATIENT_STEPS if patient else _PATIENCE, 3 * L.graph.n + 100)  # n span everything
    trace: list[tuple[int, float]] = []
    check, converged = 2, None
    for step in range(1, limit + 1):
        lanczos.step()
        over = not lanczos.betas[-1].any()
        if step < check and not over and step < limit:
            continue
        # A check takes the cube of the steps: with many of them it is what costs.
        check = max(step + 1, int((1.06 if step < 500 else 1.3) * step))
        state = _assess(lanczos, requested, tol, converged)
        trace.append((step, min(state.worst, trace[-1][1] if trace else np.inf)))
        expected = _expected(trace, tol)
        watch(step, state.worst, expected)
        converged = state.pair if state.pair.guarded and state.pair.residual <= tol else None
        if converged:
            if converged.lambda_1 < resolution(L.dtype).least:
                raise NotConvergedError(
                    f"lambda_1 = {converged.lambda_1:.1e} is too small for Lanczos here"
                )
            requested(converged.lambda_1)  # refuses a gamma beyond
            if state.worst <= tol:
                return _path_solution(lanczos, state, tol)
        if over or (step >= probe and expected > patience):
            break
    best = trace[-1][1]  # stagnation at a small residual is a matter of precision
    pace = f"{SLOW}, about {expected:.0f} expected" if best > 1e-3 else "no more progress"
    raise NotConvergedError(f"residual {best:.1e} after {step} steps, {pace}")


def probe_steps(graph: Graph) -> int:
    """Return after how many steps Lanczos is judged: soon where multigrid would be cheap."""
    # On grids, roads and neighbour graphs.
    few = graph.is_sparse and graph.entries <= 12 * graph.n
    return 30 if few else 60


def _assess(
    lanczos: LanczosRecurrences, requested: Gammas, tol: float, converged: _RitzPair | None
) -> _State:
    """Measure the residuals so far; a converged Ritz pair stays unless a lower one appears."""
    columns, guard = lanczos.problems(), lanczos.Y.shape[1]
    digits = resolution(lanczos.L.dtype)
    pair = _pair(columns, guard, tol, digits)
    if converged and pair.lambda_1 > converged.lambda_1 * (1 - digits.same):
        pair = converged
    gammas = np.array([float(g) for g in requested(pair.lambda_1, converged=False)])
    residuals = np.zeros(len(gammas))
    for c, tridiagonal in columns.items():
        if c != guard:
            convex = gammas < tridiagonal.theta[0]
            with np.errstate(divide="ignore", invalid="ignore"):  # of what is not convex
                own = tridiagonal.system_residuals(np.where(convex, gammas, 0.0))
            residuals = np.maximum(residuals, np.where(convex, own, np.inf))
    return _State(columns, pair, gammas, residuals)


def _pair(
    columns: dict[int, TridiagonalProblem], guard: int, tol: float, digits: Resolution
) -> _RitzPair:
    """Return the smallest Ritz pair over all columns, from the column that has it best."""
    finite = all(np.isfinite(tridiagonal.theta).all() for tridiagonal in columns.values())
    if not columns or not finite:
        raise NotConvergedError("the products are not finite in this precision")
    low = min(float(tridiagonal.theta[0]) for tridiagonal in columns.values())
    limit = max(low, float(np.finfo(float).tiny))
    near = {c: s for c, s in columns.items() if s.theta[0] <= limit * (1 + digits.same)}
    guarded = guard in near and near[guard].residual <= max(tol, digits.converged) * limit
    column = min(near, key=lambda c: near[c].residual)
    return _RitzPair(limit, near[column].residual / limit, guarded, column, near[column])


def _expected(trace: list[tuple[int, float]], tol: float) -> float:
    """Extrapolate the residual of the last half of the steps to the tolerance."""
    step, now = trace[-1]
    if now <= tol:
        return float(step)
    earlier = [(s, r) for s, r in trace if s <= step // 2 and np.isfinite(r)]
    if not earlier or earlier[-1][1] <= now:
        return np.inf
    rate = np.log(earlier[-1][1] / now) / (step - earlier[-1][0])
    return float(step + np.log(now / tol) / rate)


def _path_solution(lanczos: LanczosRecurrences, state: _State, tol: float) -> PathSolution:
    """Put the answers together and measure the worst of them on the matrix itself."""
    gammas, m = state.gammas, lanczos.Y.shape[1]
    steps, pair = len(lanczos.alphas), state.pair
    weights = []  # of the basis vectors, by column: in every solution, and in the Ritz vector
    for c in range(max(m, 1)):
        own = np.zeros((len(gammas) * bool(m) + (c == pair.column), steps))
        if c in state.columns and m:
            x = state.columns[c].solve(gammas) * gammas * lanczos.norms[c]
            own[: len(gammas), : len(x)] = x.T
        if c == pair.column:
            own[-1, : len(pair.tridiagonal.theta)] = pair.tridiagonal.S[:, 0]
        weights.append(own * [size[c] for size in lanczos.sizes[:steps]])
    if lanczos.basis_kept:
        found, products = _combined(lanczos.basis, weights), steps + 1
        size = sum(q.nbytes for q in lanczos.basis) / 1e6
        note = f"{products} products, basis of {size:.0f} MB"
    else:
        found, products = _second_pass(lanczos, weights), 2 * steps + 1
        note = f"{products} products; the basis did not fit into memory, so it was computed twice"
    worst = int(np.argmax(state.residuals)) if len(gammas) else 0
    eigen, system = _measured(lanczos, state, found, worst)
    if max(eigen, system) > 10 * tol:
        raise NotConvergedError(
            f"the recurrences promise {state.worst:.1e} after {steps} steps, but the residual is "
            f"{max(eigen, system):.1e}"
        )
    residuals = [float(r) for r in state.residuals]
    if residuals:
        residuals[worst] = max(residuals[worst], system)
    solutions = []
    for g, residual in enumerate(residuals):
        columns = [lanczos.L.restrict(own[g]) for own in found]
        f = columns[0][:, None] if m == 1 else np.column_stack(columns)  # one is not copied
        solutions.append(Solution(f, residual, products))
    return PathSolution(
        pair.lambda_1,
        max(pair.residual, eigen),
        [float(gamma) for gamma in gammas],
        solutions,
        note,
    )


def _combined(basis: list[NDArray[Any]], weights: list[Array]) -> list[NDArray[Any]]:
    """Sum the basis vectors with the weights of every answer; the newest vector has none."""
    rows, dtype = basis[0].shape[1], basis[0].dtype
    found = [np.empty((len(own), rows), dtype=dtype) for own in weights]

    def work(a: int, b: int) -> None:
        step = 2**14  # stays in cache
        for first in range(a, b, step):
            here = slice(first, min(first + step, b))
            for c, own in enumerate(weights):
                stack = np.stack([q[c, here] for q in basis[: own.shape[1]]])
                np.matmul(own.astype(dtype), stack, out=found[c][:, here])

    # What takes time for many answers is the first touch of their memory: that is shared, too.
    many = max(len(own) for own in weights) > 4
    threads.run(work, threads.shares(rows) if many else threads.even_rows(rows, 1))
    return found


def _second_pass(lanczos: LanczosRecurrences, weights: list[Array]) -> list[NDArray[Any]]:
    """Run the same recurrences again and add their vectors up as they come."""
    found = [np.zeros((len(own), lanczos.L.rows), dtype=lanczos.L.dtype) for own in weights]
    lanczos.start()
    for step in range(weights[0].shape[1]):
        for c, own in enumerate(weights):
            for g, weight in enumerate(own[:, step]):
                found[c][g] += lanczos.x[:, c] * lanczos.L.dtype.type(weight)
        lanczos.step()
    return found


def _measured(
    lanczos: LanczosRecurrences, state: _State, found: list[NDArray[Any]], worst: int
) -> tuple[float, float]:
    """Return the residuals of the eigenpair and of the worst system, from one product.

    The arrays of the recurrences are taken over for it: nothing new is allocated. Where only the
    random column has the pair its vector was not kept; its own estimate has to do (0 here).
    """
    L, m = lanczos.L, lanczos.Y.shape[1]
    w, x, b = lanczos.w, lanczos.x, lanczos.before
    none, one = np.zeros(m + 1), np.ones(m + 1)
    if lanczos.basis_kept and m:  # the labels off v0 are where the basis began
        for c in range(m):
            b[:, c] = lanczos.basis[0][c] * L.dtype.type(lanczos.norms[c])
        b[:, m] = 0
    else:
        lanczos.fill(b, guard=False)
        L.normalise(b, lanczos.squares(b)[1], one, b, lanczos.u)  # u is only room here
    known = state.pair.column < len(found)
    v = found[state.pair.column][-1] if known else np.zeros(L.rows, L.dtype)
    for c, column in enumerate([*(own[worst] for own in found[:m]), v]):
        w[:, c] = column
    L.normalise(w, none, one, x, lanczos.u)
    L.multiply(lanczos.u, w)
    gamma = float(state.gammas[worst]) if len(state.gammas) else 0.0
    alpha, beta = np.full(m + 1, gamma), np.full(m + 1, gamma)
    alpha[m] = state.pair.lambda_1
    rest = np.sqrt(L.recur(w, x, b, alpha, beta)[0])
    length = L.norm(v)
    eigen = rest[m] / (length * state.pair.lambda_1) if known else 0.0
    sizes = np.where(lanczos.norms[:m] > 0, lanczos.norms[:m], 1.0) * (gamma or 1.0)
    return float(eigen), float((rest[:m] / sizes).max(initial=0.0))

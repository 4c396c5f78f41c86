"""Compute the first modes of a large graph as Ritz vectors of its labels' Krylov spaces."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from robustgc.graph.graph import Graph
from robustgc.graph.laplacian import Laplacian, operator
from robustgc.graph.weights import Array
from robustgc.linalg.eigenpairs import Eigenpairs, count_distinct, count_leading, resolution
from robustgc.linalg.lanczos import LanczosRecurrences, TridiagonalProblem
from robustgc.linalg.solution import NotConvergedError, Watch, ignore_progress

_HARD = 0.01  # a lambda_1 below is better left to multigrid; above, products get there
_LIMIT = 300


def leading_modes(
    graph: Graph, Y: Array, count: int, dtype: str, probe: int, watch: Watch = ignore_progress
) -> Eigenpairs:
    """Return the modes that stand clear of the bulk.

    Each label column has its own Krylov space. Those Ritz pairs are taken that have converged and
    have none below them that has not; the random column of the recurrences guards against a
    lambda_1 that no label sees.

    Raises
    ------
    NotConvergedError
        Not even lambda_1 stands clear, after the probe where it is small; or no label sees it.
    """
    L = operator(graph, dtype)
    lanczos = LanczosRecurrences(L, Y, basis_bytes=graph.available() / 3)
    clear = resolution(L.dtype).ritz
    first, check = 0, 4
    most = 0  # modes taken at once so far, and the Ritz pairs that gave them
    best: tuple[float, list[TridiagonalProblem | None]] = (np.inf, [])
    for step in range(1, _LIMIT + 1):
        lanczos.step()
        watch(step, np.nan, np.inf)
        over = not lanczos.betas[-1].any()
        if step < check and not over:
            continue
        check = max(step + 1, int(1.1 * step))
        tridiagonals = [lanczos.tridiagonal(c) for c in range(Y.shape[1] + 1)]
        cut, guarded = _first_unconverged(tridiagonals, clear)
        taken = [
            tridiagonal.theta[_below(tridiagonal, cut)]
            for tridiagonal in tridiagonals[:-1]
            if tridiagonal is not None
        ]
        values = np.concatenate([*taken, np.empty(0)])
        if values.size and guarded and lanczos.basis_kept:
            first, found = first or step, count_distinct(values)
            if found >= most:
                most, best = found, (cut, tridiagonals)
            # Fewer than before: copies of converged pairs have begun to come up among them.
            if most >= count or found < most or step >= 1.15 * first + 2 or over:
                modes = _combined_modes(graph, L, lanczos, best[1], best[0], clear, count)
                return replace(modes, steps=step)
        hard = any(s is not None and s.theta[0] < _HARD for s in tridiagonals)
        if over or not lanczos.basis_kept or (step >= probe and not first and hard):
            break
    raise NotConvergedError(f"no mode stood clear after {step} Lanczos steps")


def _first_unconverged(
    tridiagonals: list[TridiagonalProblem | None], clear: float
) -> tuple[float, bool]:
    """Return the smallest Ritz value that has not converged, and whether the guard has lambda_1."""
    cut, low = np.inf, np.inf
    for tridiagonal in tridiagonals:
        if tridiagonal is not None:
            low = min(low, float(tridiagonal.theta[0]))
    for tridiagonal in tridiagonals:
        if tridiagonal is None:
            continue
        rest = tridiagonal.last * np.abs(tridiagonal.S[-1])
        open_ = tridiagonal.theta[rest > clear * max(low, 1e-300)]
        cut = min(cut, float(open_.min(initial=np.inf)))
    guard = tridiagonals[-1]
    return cut, guard is not None and float(guard.theta[0]) < cut


def _below(tridiagonal: TridiagonalProblem, cut: float) -> NDArray[Any]:
    return np.flatnonzero(tridiagonal.theta < cut)


def _combined_modes(
    graph: Graph,
    L: Laplacian,
    lanczos: LanczosRecurrences,
    tridiagonals: list[TridiagonalProblem | None],
    cut: float,
    clear: float,
    count: int,
) -> Eigenpairs:
    """Combine the Ritz vectors of all columns: Rayleigh-Ritz on what they span."""
    vectors = []
    for c, tridiagonal in enumerate(tridiagonals[:-1]):
        if tridiagonal is None:
            continue
        chosen = _below(tridiagonal, cut)[: 2 * count]
        steps = len(tridiagonal.theta)
        sizes = np.array([size[c] for size in lanczos.sizes[:steps]])
        basis = np.stack([q[c] for q in lanczos.basis[:steps]])
        weights = (tridiagonal.S[:, chosen] * sizes[:, None]).astype(basis.dtype)
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
    guard = tridiagonals[-1]
    low = float(guard.theta[0]) if guard is not None else theta[0]
    if keep == 0 or theta[0] > low * (1 + 1e-3) or theta[0] < resolution(L.dtype).least:
        raise NotConvergedError(
            f"lambda_1 is about {low:.1e}, and the Krylov spaces of the labels do not resolve it"
        )
    return Eigenpairs(theta, X).first(min(keep, count))

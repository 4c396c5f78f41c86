"""Systems ``(L_N - gamma I) x = b`` off the first modes, for many columns and gammas at once.

What the first modes know is answered in closed form elsewhere (`robustgc.lifted`); off them the
spectrum begins higher, so that a short Krylov space answers every gamma, and multigrid the rest.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc import multigrid
from robustgc.graph import Graph
from robustgc.lanczos import Small, small
from robustgc.outcome import NotConvergedError, Watch, nobody
from robustgc.solve import solve_shifted
from robustgc.weights import Array

LIMIT = 400  # steps of the recurrences; where more are expected multigrid is the better bet
_ROWS = 4096  # of the basis that are combined at a time


class Complement:
    """``L_N`` on the complement of v0 and some modes.

    Parameters
    ----------
    graph : Graph
    vectors : ndarray, shape (N, Q)
        Orthonormal eigenvectors off v0.
    beyond : float
        A lower bound on the eigenvalues off them.
    dtype : {"float64", "float32"}
        Working precision of the recurrences.
    watch : callable
        Told of the steps.
    """

    def __init__(
        self, graph: Graph, vectors: Array, beyond: float, dtype: str, watch: Watch = nobody
    ) -> None:
        self.graph, self.beyond, self.dtype = graph, beyond, np.dtype(dtype)
        self._watch = watch
        self._L = multigrid.operator(graph, dtype)
        self._off = np.column_stack([graph.v0, vectors]).astype(self.dtype)

    def rows(
        self, nodes: NDArray[Any], B: Array, gammas: Array, tol: float, mix: Array | None = None
    ) -> Array:
        """Return x at some nodes only, shape (gammas, nodes, columns), or sums as in `mixed`."""
        found = [self._answers(part, gammas, tol, nodes, mix)[0] for part in self._blocks(B)]
        return np.concatenate(found, axis=2)

    def mixed(self, B: Array, gammas: Array, mix: Array, tol: float) -> tuple[Array, float, int]:
        """Return sums of x over the gammas, shape (sums, N, columns), their residual, the steps.

        Parameters
        ----------
        mix : ndarray, shape (sums, gammas)
        """
        found, residual, steps = [], 0.0, 0
        for part in self._blocks(B):
            x, rest, taken = self._answers(part, gammas, tol, mix=mix)
            found.append(x)
            residual, steps = max(residual, rest), max(steps, taken)
        return np.concatenate(found, axis=2), residual, steps

    def _blocks(self, B: Array) -> list[Array]:
        """Cut columns so that a basis of some steps fits into memory."""
        column = max(self.graph.most_rows, 1) * self.dtype.itemsize * 24
        step = int(max(1, min(32, self.graph.available() / 4 // column)))
        return [B[:, k : k + step] for k in range(0, B.shape[1], step)] or [B]

    def _project(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(x - self._off @ self.graph.inner(self._off, x))

    def _answers(
        self,
        B: Array,
        gammas: Array,
        tol: float,
        nodes: NDArray[Any] | None = None,
        mix: Array | None = None,
    ) -> tuple[Array, float, int]:
        room = self.beyond - float(gammas.max())
        expected = np.sqrt(2.0 / max(room, 1e-300)) / 2 * np.log(2 / tol)
        sparse = multigrid.possible(self.graph)
        if expected <= LIMIT or not sparse or self.beyond > 0.05:
            try:
                return self._by_lanczos(B, gammas, tol, nodes, mix)
            except NotConvergedError:
                if not sparse:
                    raise
        return self._one_by_one(B, gammas, tol, nodes, mix)

    def _by_lanczos(
        self,
        B: Array,
        gammas: Array,
        tol: float,
        nodes: NDArray[Any] | None,
        mix: Array | None,
    ) -> tuple[Array, float, int]:
        """Run a recurrence from every column, in step; all gammas share its space."""
        q = self._project(np.asarray(B, dtype=self.dtype))
        dots = self.graph.dots
        size, whole = np.sqrt(dots(q, q)), np.sqrt(dots(B, B))
        size[size < 64 * np.finfo(self.dtype).eps * whole] = 0.0
        q = q * np.divide(1.0, size, out=np.zeros_like(size), where=size > 0).astype(self.dtype)
        before, beta = np.zeros_like(q), np.zeros(q.shape[1])
        kept: list[NDArray[Any]] = []
        alphas: list[Array] = []
        betas: list[Array] = []
        check, slowest = 3, 0
        for step in range(1, 2 * LIMIT + 1):
            kept.append(q if nodes is None else self.graph.at(q, nodes))
            w = self._L(q)
            w -= before * beta.astype(self.dtype)
            alphas.append(dots(q, w))
            w = self._project(w - q * alphas[-1].astype(self.dtype))
            beta = np.sqrt(dots(w, w))
            beta[beta < 64 * np.finfo(self.dtype).eps] = 0.0
            betas.append(beta)
            if step >= check or not beta.any():
                check = max(step + 2, int(1.15 * step))
                a, b = np.array(alphas), np.array(betas)
                columns = sorted(np.flatnonzero(size).tolist(), key=lambda c: c != slowest)
                smalls, residual = _until(a, b, columns, gammas, tol)
                self._watch(step, residual, np.inf)
                if residual <= tol:
                    return _combined(kept, smalls, size, gammas, mix), residual, step
                slowest = [*smalls][-1]
                if not beta.any():
                    break
            inverse = np.divide(1.0, beta, out=np.zeros_like(beta), where=beta > 0)
            before, q = q, w * inverse.astype(self.dtype)
        raise NotConvergedError(f"residual {residual:.1e} after {step} steps off the modes")

    def _one_by_one(
        self,
        B: Array,
        gammas: Array,
        tol: float,
        nodes: NDArray[Any] | None,
        mix: Array | None,
    ) -> tuple[Array, float, int]:
        """Solve for every gamma by conjugate gradients with multigrid, from the one before."""
        off = np.asarray(self._off, dtype=float)
        b = np.asarray(B, dtype=float)
        b = b - off @ self.graph.inner(off, b)
        found: dict[float, Array] = {}
        x, residual, steps = np.zeros_like(b), 0.0, 0
        for gamma in np.unique(gammas):
            try:
                solution = multigrid.solved(self.graph, b, float(gamma), x, tol, off)
            except NotConvergedError:
                if self.graph.spread is not None:
                    raise
                solution = solve_shifted(self.graph, b, -float(gamma), off=off, tol=tol)
            x = solution.f
            residual, steps = max(residual, solution.residual), max(steps, solution.n_iter)
            self._watch(len(found) + 1, residual, len(np.unique(gammas)))
            found[float(gamma)] = x if nodes is None else self.graph.at(x, nodes)
        each = [found[float(gamma)] for gamma in gammas]
        if mix is None:
            return np.stack(each), residual, steps
        return (
            np.stack([sum(m * x for m, x in zip(row, each, strict=True)) for row in mix]),
            residual,
            steps,
        )


def _until(
    alphas: Array, betas: Array, columns: Sequence[int], gammas: Array, tol: float
) -> tuple[dict[int, Small], float]:
    """Return the tridiagonal problems up to the first that misses the tolerance, and the residual.

    Where one column is not there yet, the others need not be asked: on most visits it is one.
    """
    smalls: dict[int, Small] = {}
    worst = 0.0
    for c in columns:
        smalls[c] = one = small(alphas[:, c], betas[:, c])
        if gammas.max() >= one.theta[0]:
            return smalls, np.inf
        worst = max(worst, float(one.system_residuals(gammas).max()))
        if worst > tol:
            break
    return smalls, worst


def _combined(
    kept: list[NDArray[Any]],
    smalls: dict[int, Small],
    size: Array,
    gammas: Array,
    mix: Array | None,
) -> Array:
    """Return ``Q (T - gamma)^-1 e_1 |b|`` for every gamma, or sums of them over the gammas."""
    count = len(gammas) if mix is None else len(mix)
    rows, columns = kept[0].shape
    weights = np.zeros((columns, count, len(kept)))
    for c, one in smalls.items():
        each = one.solved(gammas) * size[c]  # (steps, gammas); fewer steps if the column has ended
        weights[c, :, : len(each)] = (each if mix is None else each @ mix.T).T
    weights = weights.astype(kept[0].dtype)
    out = np.empty((count, rows, columns))
    for first in range(0, rows, _ROWS):
        part = slice(first, first + _ROWS)
        basis = np.stack([vector[part].T for vector in kept], axis=1)  # (columns, steps, rows)
        out[:, part] = (weights @ basis).transpose(1, 2, 0)
    return out

"""Run Lanczos recurrences side by side: one for every label column, one for a random vector.

All of them go through each product with W together. Nothing is orthogonalised but against v0:
copies of converged Ritz values do no harm to the solutions, nor to the smallest value.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

from robustgc.graph import threads
from robustgc.graph.laplacian import Laplacian
from robustgc.graph.weights import Array
from robustgc.linalg.eigenpairs import SEED


@dataclass(frozen=True)
class TridiagonalProblem:
    """Eigenvalues theta and eigenvectors S of the Lanczos matrix T of one column."""

    theta: Array
    S: Array
    last: float  # the next off-diagonal entry: what couples the space to the rest

    @property
    def residual(self) -> float:
        """Of the smallest Ritz pair."""
        return float(self.last * abs(self.S[-1, 0]))

    def solve(self, gammas: Array) -> Array:
        """Return ``(T - gamma)^-1 e_1``, one column per gamma."""
        return np.asarray(self.S @ (self.S[0][:, None] / (self.theta[:, None] - gammas)))

    def system_residuals(self, gammas: Array) -> Array:
        """Return the relative residual of every shifted system, without forming a solution."""
        ends = self.S[-1] * self.S[0]
        return np.asarray(
            self.last * np.abs((ends[:, None] / (self.theta[:, None] - gammas)).sum(0))
        )


class LanczosRecurrences:
    """Lanczos recurrences in step: one from every label column, one from a random vector."""

    def __init__(self, L: Laplacian, Y: NDArray[Any], basis_bytes: float) -> None:
        self.L, self.Y, self._basis_bytes, self.basis_kept = L, Y, basis_bytes, True
        shape = (L.rows, Y.shape[1] + 1)
        self.w, self.x, self.before, self.u = (np.zeros(shape, L.dtype) for _ in range(4))
        self._floor = 32 * float(np.finfo(L.dtype).eps)
        self.start()

    def start(self) -> None:
        """Go to the beginning: the projected labels and the random vector, normalised."""
        self.alphas: list[Array] = []
        self.betas: list[Array] = []
        self.basis: list[NDArray[Any]] = []
        self.norms = np.ones(self.w.shape[1])
        self.fill(self.w)
        for _ in range(2):  # once more: where a column is mostly v0, rounding leaves some of it
            sums = self.squares(self.w)
            left, size = self._alive(sums, np.sqrt(sums[0]))
            self.norms = self.norms * left
            self.L.normalise(self.w, sums[1], size, self.x, self.u)
            if (sums[1] ** 2 < 0.01 * sums[0]).all():
                break
            self.w[:] = self.x
        room = self._keep()  # without columns where the basis is not kept
        room[:] = self.x[:, : len(room)].T
        # Vectors are kept as they come; what makes them unit and free of v0 goes into the factors.
        self.sizes = [np.where(self.norms > 0, 1.0, 0.0)]
        self._off = [np.zeros_like(self.norms)]

    def fill(self, X: NDArray[Any], guard: bool = True) -> None:
        """Write the label columns and, into the last one, the random vector."""
        nodes = slice(None) if self.L.nodes is None else self.L.nodes
        X[:] = 0
        X[nodes, :-1] = self.Y
        if guard:
            loop = threads.loops().random_values
            threads.run(loop, threads.shares(len(X)), SEED, self.L.first, self.L.v0, X)

    def squares(self, X: NDArray[Any]) -> Array:
        """Return ``|x|^2`` and ``v0' x`` by column."""
        nothing = np.zeros(X.shape[1])
        return self.L.recur(X, X, X, nothing, nothing)

    def _alive(self, sums: Array, scale: Array | float) -> tuple[Array, Array]:
        """Return the norms off v0 and their inverses, both 0 for a column at its end."""
        left = np.sqrt(np.maximum(sums[0] - sums[1] ** 2, 0.0))
        left = np.where(left > self._floor * scale, left, 0.0)
        return left, np.divide(1.0, left, out=np.zeros_like(left), where=left > 0)

    @property
    def _columns(self) -> int:
        return max(int(self.Y.shape[1]), 1)

    def _keep(self) -> NDArray[Any]:
        """Return room for the next vector of the basis; forget the basis where there is none."""
        shape = (self._columns, self.L.rows)
        size = shape[0] * shape[1] * self.L.dtype.itemsize
        if self.basis_kept and (len(self.basis) + 1) * size > self._basis_bytes:
            self.basis_kept = False
            self.basis.clear()
        copy = np.empty(shape if self.basis_kept else (0, self.L.rows), self.L.dtype)
        if self.basis_kept:
            self.basis.append(copy)
        return copy

    def step(self) -> None:
        """Go one product further: ``L q - alpha q - beta q-`` with ``q = size (x - off v0)``."""
        size, off = self.sizes[-1], self._off[-1]
        alpha = self.L.multiply(self.u, self.w) * size**2
        factors = np.stack([size, -alpha * size, np.zeros_like(size), alpha * size * off])
        if self.betas:
            beta = self.betas[-1] * self.sizes[-2]
            factors[2] -= beta
            factors[3] += beta * self._off[-2]
        sums = self.L.advance(self.w, self.x, self.before, factors, self.u, self._keep())
        self.x, self.before = self.before, self.x
        left, inverse = self._alive(sums, 1.0)  # a column that ends here is zero from now on
        self.alphas.append(alpha)
        self.betas.append(left)
        self.sizes.append(inverse)
        self._off.append(sums[1])

    def problems(self) -> dict[int, TridiagonalProblem]:
        """Return the tridiagonal problem of every column that was not zero from the start."""
        alphas, betas = np.array(self.alphas), np.array(self.betas)
        alive = np.flatnonzero(self.norms).tolist()
        return {c: _tridiagonal_problem(alphas[:, c], betas[:, c]) for c in alive}


def _tridiagonal_problem(alpha: Array, beta: Array) -> TridiagonalProblem:
    """Return the tridiagonal problem of a recurrence, up to where it ended."""
    ended = np.flatnonzero(beta == 0)
    k = int(ended[0]) + 1 if ended.size else len(beta)
    if k == 1:
        return TridiagonalProblem(alpha[:1], np.ones((1, 1)), float(beta[0]))
    theta, S = eigh_tridiagonal(alpha[:k], beta[: k - 1])
    return TridiagonalProblem(theta, S, float(beta[k - 1]))

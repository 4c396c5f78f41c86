"""Lanczos recurrences in step: every label column has its own, and a random vector has one.

All of them go through each product with W together. Nothing is orthogonalised but against v0:
copies of converged Ritz values do no harm to the solutions, nor to the smallest value.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

from robustgc.laplacian import Laplacian
from robustgc.weights import Array

_SEED = 20180521


@dataclass(frozen=True)
class Small:
    """The tridiagonal problem of one column after some steps."""

    theta: Array
    S: Array
    last: float  # the next off-diagonal entry: what couples the space to the rest

    @property
    def residual(self) -> float:
        """Of the smallest Ritz pair."""
        return float(self.last * abs(self.S[-1, 0]))

    def solved(self, gammas: Array) -> Array:
        """Return ``(T - gamma)^-1 e_1``, one column per gamma."""
        return np.asarray(self.S @ (self.S[0][:, None] / (self.theta[:, None] - gammas)))

    def system_residuals(self, gammas: Array) -> Array:
        """Return the relative residual of every shifted system, without forming a solution."""
        ends = self.S[-1] * self.S[0]
        return np.asarray(
            self.last * np.abs((ends[:, None] / (self.theta[:, None] - gammas)).sum(0))
        )


class Recurrences:
    """Lanczos recurrences in step: one from every label column, one from a random vector."""

    def __init__(self, L: Laplacian, Y: NDArray[Any]) -> None:
        self.L, self.Y = L, Y
        shape = (L.rows, Y.shape[1] + 1)
        self.w, self.q, self.before, self.u = (np.zeros(shape, L.dtype) for _ in range(4))
        self._floor = 32 * float(np.finfo(L.dtype).eps)
        self.start()

    def start(self) -> None:
        """Go to the beginning: the projected labels and the random vector, normalised."""
        self.fill(self.w)
        self.before[:] = 0
        self.alphas: list[Array] = []
        self.betas: list[Array] = []
        self.norms = self._normalised(self.squares(self.w), relative=True)
        # Once more: where a column is mostly v0, rounding left some of it.
        self.w[:] = self.q
        self.norms = self.norms * self._normalised(self.squares(self.w), relative=True)
        self.beta = np.zeros_like(self.norms)

    def fill(self, X: NDArray[Any]) -> None:
        """Write the label columns and, into the last one, the random vector."""
        nodes = slice(None) if self.L.nodes is None else self.L.nodes
        X[:] = 0
        X[nodes, :-1] = self.Y
        rng, step = np.random.default_rng(_SEED), 2**20
        for a in range(0, len(X), step):
            here = slice(a, min(a + step, len(X)))
            draw = rng.standard_normal(here.stop - a, dtype=np.float32)
            X[here, -1] = draw * (self.L.v0[here] > 0)

    def squares(self, X: NDArray[Any]) -> Array:
        """Return ``|x|^2`` and ``v0' x`` by column."""
        nothing = np.zeros(X.shape[1])
        return self.L.recur(X, X, X, nothing, nothing)

    def _normalised(self, sums: Array, relative: bool = False) -> Array:
        left = np.sqrt(np.maximum(sums[0] - sums[1] ** 2, 0.0))
        least = self._floor * (np.sqrt(sums[0]) if relative else 1.0)
        alive = left > least
        size = np.divide(1.0, left, out=np.zeros_like(left), where=alive)
        self.L.normalise(self.w, sums[1], size, self.q, self.u)
        return np.where(alive, left, 0.0)

    def step(self) -> None:
        """Go one product further."""
        alpha = self.L.multiply(self.u, self.w)
        sums = self.L.recur(self.w, self.q, self.before, alpha, self.beta)
        self.q, self.before = self.before, self.q
        self.beta = self._normalised(sums)  # a column that ends here is zero from now on
        self.alphas.append(alpha)
        self.betas.append(self.beta)

    def small(self, column: int) -> Small | None:
        """Return the tridiagonal problem of a column; None if it was zero from the start."""
        if self.norms[column] == 0:
            return None
        alpha, beta = (np.array([row[column] for row in x]) for x in (self.alphas, self.betas))
        ended = np.flatnonzero(beta == 0)
        k = int(ended[0]) + 1 if ended.size else len(beta)
        if k == 1:
            return Small(alpha[:1], np.ones((1, 1)), float(beta[0]))
        theta, S = eigh_tridiagonal(alpha[:k], beta[: k - 1])
        return Small(theta, S, float(beta[k - 1]))

"""The type of eigenpairs that every eigensolver returns."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array

BLOCK = 4  # columns of a product: equal eigenvalues up to that often are told apart at once


@dataclass(frozen=True)
class Eigenpairs:
    """Some of the lowest eigenpairs of a Laplacian in ascending order.

    Without the trivial pair, unless they are a `Spectrum`.

    Attributes
    ----------
    values : ndarray, shape (k,)
    vectors : ndarray, shape (N, k)
        Orthonormal columns.
    residual : float
        ``|L v - lambda v| / lambda`` of the first pair, or the largest of all that were wanted.
    next_eigenvalue : float
        About the next eigenvalue, where it is known; else 0.
    steps : int
        Products or iterations that it took.
    method, note : str
        What found them, and what it took.
    """

    values: Array
    vectors: Array
    residual: float = np.nan
    next_eigenvalue: float = 0.0
    steps: int = 0
    method: str = ""
    note: str = ""

    @property
    def spectrum_floor(self) -> float:
        """A lower bound on the eigenvalues off these pairs."""
        return float(max(self.next_eigenvalue, *self.values[-1:].tolist(), 0.0))

    def first(self, k: int) -> Self:
        """Return the first k pairs."""
        return replace(
            self, values=self.values[:k], vectors=self.vectors[:, :k], next_eigenvalue=0.0
        )

    def measured(self, graph: Graph, method: str, note: str) -> Self:
        """Return them with the residual of the first pair, and what found them."""
        v, value = self.vectors[:, :1], float(self.values[0])
        residual = float(graph.norms(graph.L_N(v) - self.values[0] * v)[0]) / max(value, 1e-300)
        return replace(self, residual=residual, method=method, note=note)


def count_reliable(values: Array, copies: int = BLOCK) -> int:
    """Return how many of the computed modes are certain to be the lowest ones.

    A Krylov space has as many copies of an eigenvalue as it was started from vectors; where there
    are so many there may be more, as in a star. Of such an eigenvalue one mode is taken, and none
    above.
    """
    for k in range(len(values) - copies + 1):
        if values[k + copies - 1] - values[k] <= 1e-4 * values[k]:
            return k + 1
    return len(values)

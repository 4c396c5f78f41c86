"""Node values, and the sums over nodes that solvers ask for.

Where the nodes of a graph are distributed over processes (robustgc.mpi), every process has some
rows of all values, and these methods are over all of them.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.resources import available
from robustgc.graph.weights import Array


class NodeValues:
    """How values of the nodes are summed, read and written; all of them are here."""

    n: int

    @cached_property
    def d(self) -> Array:
        """Degrees."""
        raise NotImplementedError

    @property
    def rows(self) -> int:
        """How many nodes have their values here."""
        return self.n

    @property
    def most_rows(self) -> int:
        """How many have them in any one process."""
        return self.n

    def inner(self, A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
        """Return ``A' B``."""
        return np.asarray(A.T @ B)

    def dots(self, A: NDArray[Any], B: NDArray[Any]) -> Array:
        """Return the inner products column by column, summed in double precision."""
        return np.asarray(np.einsum("ij,ij->j", A, B, dtype=np.float64))

    def norms(self, A: NDArray[Any]) -> Array:
        """Return the norm of every column."""
        return np.asarray(np.sqrt(self.dots(A, A)))

    def largest(self, A: NDArray[Any]) -> float:
        """Return the largest absolute value."""
        return max(float(A.max(initial=0.0)), -float(A.min(initial=0.0)))

    def at(self, X: NDArray[Any], nodes: NDArray[Any]) -> NDArray[Any]:
        """Return the values of some nodes, wherever they are."""
        return np.asarray(X[nodes])

    def placed(self, nodes: NDArray[Any], values: Array) -> Array:
        """Return node values that are 0 but for some nodes."""
        X = np.zeros((self.rows, *values.shape[1:]))
        X[nodes] = values
        return X

    @cached_property
    def usual_degree(self) -> float:
        """The median of the degrees."""
        return float(np.median(self.d))

    @cached_property
    def volume(self) -> float:
        """The sum of the degrees."""
        return float(self.d.sum())

    def available(self) -> float:
        """Return the bytes that can still be taken here."""
        return available()

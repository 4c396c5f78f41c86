"""Least squares of the labels on the first modes: what many labels can tell of many classes.

BelkinGC's idea, a little shrunk. Filters weigh every label by itself; a fit takes into account
that labels close to each other say the same. It pays where there are more labels than modes.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from robustgc.graph import Graph
from robustgc.lifted import Modes
from robustgc.weights import Array

_SHRINKAGE = 3.0  # beside the sum of squares of a mode over all labels, about their number
_OF_CONSTANT = 1e-6  # the same for the constant, as a share


class Fits:
    """Fits by the first q modes, for some q.

    Parameters
    ----------
    graph : Graph
    modes : Modes
    numbers : sequence of int
        The q.
    nodes, codes : ndarray of int
        The labelled nodes and their classes.
    n_classes : int
    votes : ndarray, shape (labels,)
        By which the rows are multiplied: eigenvectors grow with sqrt(d).
    """

    kernels = False  # what is off the modes plays no part

    def __init__(
        self,
        graph: Graph,
        modes: Modes,
        numbers: Sequence[int],
        nodes: NDArray[Any],
        codes: NDArray[np.int64],
        n_classes: int,
        votes: Array,
    ) -> None:
        self.numbers = tuple(numbers)
        self.members: tuple[tuple[int, float | None, float | None], ...]
        self.members = tuple((q, None, None) for q in numbers)
        self._n, self._v0, self._vectors = graph.n, graph.v0, modes.vectors
        most = max(self.numbers, default=0)
        rows = np.column_stack(
            [graph.at(graph.v0, nodes), graph.at(modes.vectors[:, :most], nodes)]
        )
        self._rows = np.sqrt(graph.n) * votes[:, None] * rows
        self._targets = np.eye(n_classes)[codes] - 1.0 / n_classes

    def leave_one_out(self, weight: Array) -> list[Array]:
        """Return what each fit says of every label without it, in closed form."""
        found = []
        for X, inverse, c in self._solved(weight):
            own = (np.einsum("ij,ij->i", X @ inverse, X) * weight)[:, None]
            found.append((X @ c - own * self._targets) / (1.0 - own))
        return found

    def at_labels(self, weight: Array) -> list[Array]:
        """Return the same with all labels."""
        return [X @ c for X, _, c in self._solved(weight)]

    def coefficients(self, weight: Array, shares: Array) -> Array:
        """Return the sum of the fits, each with its share, by mode: the constant first."""
        total = np.zeros((self._rows.shape[1], self._targets.shape[1]))
        for share, (_, _, c) in zip(shares, self._solved(weight), strict=True):
            total[: len(c)] += share * c
        return np.asarray(np.sqrt(self._n) * total)

    def answer(self, weight: Array, shares: Array, tol: float) -> Array:
        """Return the sum of the fits at all nodes."""
        c = self.coefficients(weight, shares)
        known = self._vectors[:, : len(c) - 1] @ c[1:]
        return np.asarray(np.outer(self._v0, c[0]) + known)

    def _solved(self, weight: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Give the rows, the inverse and the solution of every fit, from one pass over the rows."""
        weighted = self._rows * weight[:, None]
        squares, right = weighted.T @ self._rows, weighted.T @ self._targets
        penalty = np.full(len(squares), _SHRINKAGE)
        penalty[0] = _OF_CONSTANT * len(weight)
        squares += np.diag(penalty)
        for size in (q + 1 for q in self.numbers):
            inverse = sla.inv(squares[:size, :size])
            yield self._rows[:, :size], inverse, inverse @ right[:size]

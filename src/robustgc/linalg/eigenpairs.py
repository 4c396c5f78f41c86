"""Eigenpairs as every eigensolver returns them, and how small an eigenvalue may be."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array

SEED = 20180521  # start vectors are random, so that no symmetry of the graph can hide v_1


@dataclass(frozen=True)
class Resolution:
    """What products with ``L_N`` resolve in one precision."""

    # The smallest eigenvalue. Rounding leaves a residual of about eps / lambda relative to it:
    # 2e-10 in double and 1e-4 in single precision, a little less than what modes need.
    least: float
    # The residual, relative to its eigenvalue, of a mode that candidates may be weighed with, or
    # of a random column that has seen lambda_1.
    converged: float
    ritz: float  # the same of one Ritz pair of a label's own Krylov space, relative to lambda_1
    same: float  # the relative difference of values that are the same eigenvalue


_RESOLUTION = {
    "float64": Resolution(least=1e-6, converged=1e-5, ritz=1e-6, same=1e-6),
    "float32": Resolution(least=1e-3, converged=1e-4, ritz=3e-4, same=1e-4),
}
# An eigenvalue below this share of the largest is "tiny": it is settled on differences along edges
# or by elimination, and the models treat its mode in closed form.
TINY = _RESOLUTION["float64"].least
MOST_TINY = 64  # modes that are looked for because they are tiny
# Where nothing but double precision is in the way (multigrid, factors, SLEPc), an eigenvalue below
# this is rounding: four digits above eps.
ROUNDING_LEVEL = 2e-12
UNRESOLVED = 1e-25  # of the largest eigenvalue: edges resolve down to the square of rounding
_COPIES = 1e-4  # relative difference of copies of an eigenvalue, by the digits that all modes have
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


def resolution(dtype: DTypeLike) -> Resolution:
    """Return what products resolve in a precision."""
    return _RESOLUTION[np.dtype(dtype).name]


def count_reliable(values: Array, copies: int = BLOCK) -> int:
    """Return how many of the computed modes are certain to be the lowest ones.

    A Krylov space has as many copies of an eigenvalue as it was started from vectors; where there
    are so many there may be more, as in a star. Of such an eigenvalue one mode is taken, and none
    above.
    """
    for k in range(len(values) - copies + 1):
        if values[k + copies - 1] - values[k] <= _COPIES * values[k]:
            return k + 1
    return len(values)


def count_leading(converged: NDArray[np.bool_]) -> int:
    """Return how many of the first ones have converged."""
    return len(converged) if converged.all() else int(np.argmin(converged))


def count_distinct(values: Array) -> int:
    """Return how many different eigenvalues there are, copies not counted."""
    ordered = np.sort(values)
    return int(1 + (np.diff(ordered) > _COPIES * ordered[1:]).sum())

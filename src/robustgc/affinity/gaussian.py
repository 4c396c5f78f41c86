"""The Gaussian kernel matrix of many points, multiplied block by block and never stored."""

from collections import deque
from collections.abc import Iterator
from copy import copy
from itertools import combinations_with_replacement
from math import sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances

from robustgc.affinity.points import Points, squared_distances
from robustgc.graph import threads
from robustgc.graph.weights import NEGLIGIBLE, Array, Operator

SEED = 6011
ROWS = 2048  # rows and columns of a block: 32 MB


def gaussian(A: Any, B: Any, unit: float, sigma: float, scale: float) -> Array:
    """Return ``exp(-|a - b|^2 / (scale sigma^2))`` for points from `Points` and their unit.

    Squared distances come from a matrix product where the kernel is not much narrower than the
    extent of the data, else from differences: they are exact where the kernel needs it.
    """
    sparse = sp.issparse(A) or sp.issparse(B)
    width = sigma * sqrt(scale)
    wide = not sparse and width > 1e-2 * unit
    if wide:
        K = squared_distances(A, B)[0]
    else:
        K = euclidean_distances(A, B) if sparse else np.empty((len(A), len(B)))

    def fill(a: int, b: int) -> None:
        part = K[a:b]
        with np.errstate(over="ignore"):  # so far apart that the weight is 0
            if wide:
                part *= -((unit / width) ** 2)
            else:
                part[:] = part if sparse else cdist(A[a:b], B)
                part *= unit
                part /= sigma
                part *= part / -scale
        np.exp(part, out=part)

    threads.run(fill, threads.even_rows(len(K), threads.n_threads()))
    return np.asarray(K)


def gaussian_points(X: Any, sigma: float, scale: float) -> Points:
    """Return points in a unit in which the width of the kernel is within double precision too."""
    return Points(X, least=min(1e-50 * sigma * sqrt(scale), 1e250))


class GaussianOperator(Operator):
    """``exp(-|x_i - x_j|^2 / (scale sigma^2))`` between all points, in memory for the points only.

    Multiplies like the matrix: ``operator @ V`` computes every block of the upper half once, on
    all cores, and uses it for its mirror image too. The order of sums does not depend on the
    number of threads. The diagonal is 1 with self-loops, 0 without.

    Examples
    --------
    >>> import numpy as np
    >>> from robustgc.affinity.gaussian import GaussianOperator
    >>> K = GaussianOperator(np.array([[0.0], [1.0], [2.0]]), sigma=1.0)
    >>> K @ np.array([1.0, 0.0, 0.0])
    array([1. , 0.60653066, 0.13533528])
    """

    def __init__(self, X: Any, sigma: float, scale: float = 2.0, self_loops: bool = True) -> None:
        points = gaussian_points(X, sigma, scale)
        self._X, self._unit = points.X, points.unit
        self._sigma, self._scale, self._loop = sigma, scale, float(self_loops)
        self._degrees: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._X.shape[0], self._X.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes of the points; a product takes a block of 32 MB as well."""
        return int(self._X.data.nbytes)

    def diagonal(self) -> Array:
        """Return the self-loops."""
        return np.full(self.shape[0], self._loop)

    def sum(self, axis: int = 1) -> Array:
        """Return the degrees; computed once, as the matrix is symmetric along either axis."""
        if self._degrees is None:
            self._degrees = self @ np.ones(self.shape[0])
        return self._degrees.copy()

    def __matmul__(self, V: ArrayLike) -> Array:
        V = np.asarray(V, dtype=float)
        if V.ndim not in (1, 2) or len(V) != self.shape[0]:
            raise ValueError(
                f"A matrix of shape {self.shape} cannot multiply an array of shape {V.shape}; it "
                f"must have {self.shape[0]} rows."
            )
        out = np.zeros(V.shape)
        for i, j, K in self._upper_half():
            if i != j:
                out[j] += K.T @ V[i]
            out[i] += K @ V[j]
        return out

    def part(self, nodes: NDArray[Any]) -> "GaussianOperator":
        """Return the rows and columns of some of the points."""
        other = copy(self)
        other._X, other._degrees = self._X[nodes], None
        return other

    def without_diagonal(self) -> "GaussianOperator":
        """Return the same weights without self-loops."""
        other = copy(self)
        other._loop = 0.0
        other._degrees = None if self._degrees is None else self._degrees - self._loop
        return other

    def sparse(self, share: float = 0.25) -> Any:
        """Return the weights that connect (`weights.components`) as a sparse matrix, if few do.

        A narrow kernel reaches few points, and its lambda_1 is tiny: there the solvers that need a
        matrix are the right ones, and what is left out cannot be told from zero. None where a
        sample says that more than `share` of all pairs are connected.
        """
        root, n = self._roots(), self.shape[0]
        sample = np.random.default_rng(SEED).choice(n, min(n, 256), replace=False)
        reach = self._joined(sample, np.arange(n), root)
        if reach.mean() > share:
            return None
        parts = []
        for i, j, K in self._upper_half():
            K[K <= NEGLIGIBLE * np.multiply.outer(root[i], root[j])] = 0.0
            part = sp.coo_array(np.triu(K) if i == j else K)
            parts.append((part.row + i.start, part.col + j.start, part.data))
        rows, cols, data = (np.concatenate(column) for column in zip(*parts, strict=True))
        upper = sp.coo_array((data, (rows.astype(np.int32), cols.astype(np.int32))), shape=(n, n))
        return sp.csr_array(upper + sp.triu(upper, k=1).T)

    def components(self) -> tuple[int, NDArray[np.int64]]:
        """Count connected components and number them per node, as `weights.components` does.

        A search that starts from the first point not yet reached and asks, for a block of
        points, which of the others they touch: over at once where all are close, and at worst
        as long as a product.
        """
        root, count = self._roots(), 0
        number = np.full(self.shape[0], -1, dtype=np.int64)
        while (number < 0).any():
            first = int(np.argmax(number < 0))
            number[first] = count
            waiting = deque([first])
            while waiting and (number < 0).any():
                block = [waiting.popleft() for _ in range(min(len(waiting), ROWS))]
                touched = self._touched(np.array(block), np.flatnonzero(number < 0), root)
                number[touched] = count
                waiting.extend(touched.tolist())
            count += 1
        return count, number

    def _roots(self) -> Array:
        """Return the roots of the degrees, 1 for an isolated point."""
        root = np.sqrt(self.sum(axis=1))
        root[root == 0] = 1.0
        return root

    def _touched(self, nodes: NDArray[Any], others: NDArray[Any], root: Array) -> NDArray[Any]:
        """Return those of the others that any of the nodes is joined to."""
        joined = np.zeros(len(others), dtype=bool)
        for start in range(0, len(others), ROWS):
            part = others[start : start + ROWS]
            joined[start : start + ROWS] = self._joined(nodes, part, root).any(axis=0)
        return others[joined]

    def _joined(self, nodes: NDArray[Any], others: NDArray[Any], root: Array) -> NDArray[np.bool_]:
        K = self._between(self._X[nodes], self._X[others])
        return np.asarray(K / root[others] / root[nodes, None] > NEGLIGIBLE)

    def _between(self, A: Any, B: Any) -> Array:
        return gaussian(A, B, self._unit, self._sigma, self._scale)

    def _upper_half(self) -> Iterator[tuple[slice, slice, Array]]:
        """Compute the blocks of the upper half one by one: rows, columns, weights."""
        n = self.shape[0]
        blocks = [slice(first, min(n, first + ROWS)) for first in range(0, n, ROWS)]
        for i, j in combinations_with_replacement(blocks, 2):
            K = self._between(self._X[i], self._X[j])
            if i == j:
                np.fill_diagonal(K, self._loop)
            yield i, j, K

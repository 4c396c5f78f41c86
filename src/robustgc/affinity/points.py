"""Shift and scale points so that distances lose no digits, and find which are near each other."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from robustgc.graph.csr import CSR
from robustgc.graph.weights import Array

EPS = float(np.finfo(float).eps)
BLOCK = 2**22  # values of a temporary array: 32 MB
FAR = 1e100  # from here on all fitted points are equally far, and squares do not overflow yet


class Points:
    """Points moved to their mean and scaled to 1; a distance of 1 between them was `unit` before.

    `least` is the least unit: points so near each other that a kernel of great width cannot tell
    them apart become smaller than 1.
    """

    def __init__(self, X: Any, least: float = 0.0) -> None:
        largest = float(abs(X).max()) if min(X.shape) else 0.0
        # Sums of huge coordinates overflow; a power of two takes nothing from them.
        self._factor = 2.0**-1000 if largest > 1e250 else 1.0
        X = X if self._factor == 1 else X * self._factor
        self._centre = 0.0 if sp.issparse(X) else X.mean(axis=0)
        self._size = float(abs(X - self._centre).max()) or 1.0
        if self._size > float(np.finfo(float).max) * self._factor / (4 * X.shape[1] ** 0.5):
            raise ValueError(
                f"The points reach {largest:.3g}: distances between them are beyond what double "
                "precision can hold. Divide all coordinates by 1e10; their unit does not matter."
            )
        self._size = max(self._size, least * self._factor)
        self.unit = self._size / self._factor
        # scipy would multiply by 1 / size, which may overflow
        sparse, size = sp.issparse(X), self._size
        self.X = _with_data(X, X.data / size) if sparse else (X - self._centre) / size

    def moved(self, X: Any) -> Any:
        """Move and scale other points in the same way; those beyond `FAR` stay there.

        They keep their direction. Nothing that follows from distances depends on how far beyond
        they are.
        """
        X = X if self._factor == 1 else X * self._factor
        if sp.issparse(X):
            peaks = np.repeat(_peaks(X), np.diff(X.indptr))
            return _with_data(X, _within(X.data, peaks, self._size))
        X = X - self._centre
        return _within(X, _peaks(X)[:, None], self._size)

    def neighbours(self, k: int) -> tuple[Array, NDArray[np.int64]]:
        """Return distances and numbers of each point's k nearest others, in blocks."""
        distances, numbers = NearestNeighbors(n_neighbors=k).fit(self.X).kneighbors()
        return distances * self.unit, numbers

    def near(self, A: Any, k: int, reach: Array | float = 0.0) -> tuple[Any, Any, Array]:
        """Find the fitted points near to `moved` ones: the k nearest, and all within reach.

        `reach` is how far each fitted point sees, in scaled units. A matrix of (m, N) distances is
        held. Returns rows and columns, the pairs of a moved and a fitted point (for rounding, a few
        more than these), and their distances in scaled units.
        """
        sparse = sp.issparse(A) or sp.issparse(self.X)
        if sparse:
            D, slack = euclidean_distances(A, self.X, squared=True), np.zeros((A.shape[0], 1))
        else:
            D, slack = squared_distances(A, self.X)
        kth = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
        with np.errstate(over="ignore"):  # a reach without end reaches all
            rows, columns = np.nonzero((D <= kth + slack) | (D < np.square(reach) + slack))
        if sparse:
            return rows, columns, np.sqrt(D[rows, columns])
        return rows, columns, self.apart(A, rows, columns)

    def apart(self, A: Array, rows: NDArray[Any], columns: NDArray[Any]) -> Array:
        """Return distances of pairs of a moved and a fitted point, from their differences."""
        distances = np.empty(len(rows))
        step = max(1, BLOCK // A.shape[1])
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            difference = A[rows[part]]
            difference -= self.X[columns[part]]
            distances[part] = np.sqrt(np.einsum("ij,ij->i", difference, difference))
        return distances


def _peaks(X: Any) -> Array:
    """Return the largest coordinate of every point, whatever its sign."""
    if min(X.shape) == 0:
        return np.zeros(X.shape[0])
    peaks = abs(X).max(axis=1)
    return np.asarray(peaks.toarray() if sp.issparse(X) else peaks, dtype=float).ravel()


def _within(X: Array, peaks: Array, size: float) -> Array:
    """Return coordinates in units of `size`; a point that peaks beyond `FAR` is drawn back."""
    far = peaks / FAR > size
    if not far.any():
        return X / size
    return X / np.where(far, peaks, size) * np.where(far, FAR, 1.0)


def _with_data(X: Any, data: Array) -> Any:
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def squared_distances(A: Array, B: Array) -> tuple[Array, Array]:
    """Return ``|a|^2 - 2 a'b + |b|^2``, and how far each row may be off.

    Ten times faster than differences, but the error is eps times the squared size of the points,
    not of their distance.
    """
    a, b = np.einsum("ij,ij->i", A, A)[:, None], np.einsum("ij,ij->i", B, B)
    D = A @ B.T
    D *= -2.0
    D += a
    D += b
    return np.maximum(D, 0.0, out=D), EPS * (8 + A.shape[1]) * (a + b.max())


def k_smallest(
    rows: NDArray[Any], columns: NDArray[Any], distances: Array, k: int
) -> NDArray[np.bool_]:
    """Mark the k nearest columns of every row (ascending); of equally near ones, the first."""
    order = np.lexsort((columns, distances, rows))
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    marked = np.empty(len(rows), dtype=bool)
    marked[order] = rank < k
    return marked


def row_keys(X: Any) -> list[int]:
    """Return a hash of each row's exact values; -0.0 counts as 0.0."""
    if not sp.issparse(X):
        return [hash(row.tobytes()) for row in np.ascontiguousarray(X) + 0.0]
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    parts = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    columns = X.indices.astype(np.int64)
    return [hash((columns[a:b].tobytes(), X.data[a:b].tobytes())) for a, b in parts]


def as_float(X: Any) -> Any:
    """Return points or weights in double precision, sparse ones by rows."""
    if sp.issparse(X):
        return sp.csr_array(X.astype(np.float64, copy=False))
    return np.asarray(X, dtype=np.float64)


def same(A: Any, B: Any) -> bool:
    """Whether two inputs hold the same values."""
    if A is B:
        return True
    if isinstance(A, CSR):
        return A.same(B)
    if sp.issparse(A):
        return bool(A.nnz == B.nnz and (A != B).nnz == 0)
    return bool(np.array_equal(A, B))

"""The k nearest neighbours of many points, by an index that is held against exact search.

faiss sorts the points into lists around a random sample of them and looks for the neighbours of
a point in the lists next to it. How many lists is decided here: ever more, until the neighbours
of a sample are right.
"""

import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.affinity.points import BLOCK, Points, k_smallest
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Array

EXACT = 1e11  # points^2 * (dimensions + 50) that exact search does in a few seconds
TREE = 5  # dimensions up to which scikit-learn's tree is fast at any number of points
RECALL = 0.97  # share of the true neighbours of the sample that must be found
SAMPLE, SEED = 500, 7919


def approximates(X: Any, ann: object) -> bool:
    """Return whether the index is to be used for these points, or refuse `ann`."""
    if not isinstance(ann, bool | np.bool_) and not (isinstance(ann, str) and ann == "auto"):
        raise ValueError(f"ann={quoted(ann)} is not allowed; it must be 'auto', True or False.")
    if isinstance(ann, str):
        n, dimensions = X.shape
        large = dimensions > TREE and float(n) * n * (dimensions + 50) > EXACT
        return large and not sp.issparse(X) and find_spec("faiss") is not None
    if ann and sp.issparse(X):
        raise ValueError(
            "ann=True needs a dense array; sparse points are searched exactly. Pass X.toarray() "
            "if that fits into memory, or ann='auto'."
        )
    if ann and find_spec("faiss") is None:
        raise ImportError(
            "ann=True needs faiss, which is not installed. Run pip install 'robustgc[ann]', or "
            "pass ann='auto' or ann=False to search exactly."
        )
    return bool(ann)


def approximate(points: Points, k: int) -> tuple[Array, NDArray[np.int64]]:
    """Return distances and numbers of the k nearest others of each point, nearly all right.

    The same points give the same bytes. Distances are exact in double precision. A point for
    which the index has no k neighbours, or whose neighbours are too near to be told apart in
    single precision, is searched exactly.
    """
    n = len(points.X)
    index = _Index(points, k)
    index.widen()
    distances, numbers = np.empty((n, k)), np.empty((n, k), dtype=np.int64)
    step = max(1, BLOCK // max(k + 2, points.X.shape[1]))
    for start in range(0, n, step):
        rows = np.arange(start, min(n, start + step))
        distances[rows], numbers[rows], doubtful = index.search(rows)
        rows = rows[doubtful]
        distances[rows], numbers[rows] = exactly(points, rows, k)
    return distances * points.unit, numbers


def exactly(points: Points, rows: NDArray[Any], k: int) -> tuple[Array, NDArray[np.int64]]:
    """Find the k nearest others of some of the points by looking at all of them, in blocks."""
    n = points.X.shape[0]
    distances, numbers = np.empty((len(rows), k)), np.empty((len(rows), k), dtype=np.int64)
    step = max(1, BLOCK // n)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        i, j, apart = points.near(points.X[part], k + 1)
        others = j != part[i]
        i, j, apart = i[others], j[others], apart[others]
        nearest = k_smallest(i, j, apart, k)
        distances[start : start + step], numbers[start : start + step] = _by_distance(
            apart[nearest].reshape(-1, k), j[nearest].reshape(-1, k)
        )
    return distances, numbers


class _Index:
    """Lists of points in single precision, and the search in some of them."""

    def __init__(self, points: Points, k: int) -> None:
        faiss = _faiss()
        self._points, self._k = points, k
        self._X = points.X.astype(np.float32)
        n, dimensions = self._X.shape
        self._lists = min(n, int(4 * np.sqrt(n)))
        heads = np.random.default_rng(SEED).choice(n, self._lists, replace=False)
        self._heads = faiss.IndexFlatL2(dimensions)  # kept: the index does not own it
        self._heads.add(self._X[heads])
        self._index = faiss.IndexIVFFlat(self._heads, dimensions, self._lists)
        self._index.is_trained = True  # the heads are given; k-means would cost more than it saves
        self._index.add(self._X)
        self._index.nprobe = min(16, self._lists)
        self._size = np.linalg.norm(self._X, axis=1)

    def widen(self) -> None:
        """Search twice as many lists until enough neighbours of a sample are found."""
        n, k = len(self._X), self._k
        sample = np.sort(np.random.default_rng(SEED).choice(n, min(n, SAMPLE), replace=False))
        true = exactly(self._points, sample, k)[0]
        while self._index.nprobe < self._lists:
            # Compared by distance: of equally near points either is right.
            if np.mean(self.search(sample)[0] <= true[:, -1:] * (1 + 1e-9)) >= RECALL:
                break
            self._index.nprobe = min(2 * self._index.nprobe, self._lists)

    def search(self, rows: NDArray[Any]) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_]]:
        """Return distances and numbers of the neighbours found, and whose are doubtful."""
        n, k = len(self._X), self._k
        # One more for the point itself, one more to see beyond the last.
        nearest = np.sort(self._index.search(self._X[rows], min(k + 2, n))[1], axis=1)
        i, column = np.nonzero((nearest >= 0) & (nearest != rows[:, None]))
        apart = np.full(nearest.shape, np.inf)
        apart[i, column] = self._points.apart(self._points.X[rows], i, nearest[i, column])
        distances, numbers = _by_distance(apart, nearest)
        # Rounding to single precision moves a point by 1e-7 of its size: far less than this.
        last, size = distances[:, k - 1], self._size[rows]
        doubtful = ~np.isfinite(last) | ((last > 0) & (last < 1e-5 * size))
        return distances[:, :k], numbers[:, :k], doubtful


def _by_distance(distances: Array, numbers: NDArray[Any]) -> tuple[Array, NDArray[Any]]:
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(distances, order, 1), np.take_along_axis(numbers, order, 1)


def _faiss() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its bindings, on newer Pythons
        return import_module("faiss")

"""Points -> weights: Gaussian kernel, k nearest neighbours, own kernel, or weights as given.

Each class makes the weight matrix of the fitted points (`weights`) and the weights between new
points and fitted ones (`rows`), from which the out-of-sample extension is computed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from robustgc.weights import Array, Weights, check_weights


class Affinity(ABC):
    """A way to weigh pairs of points."""

    @property
    def positive_semidefinite(self) -> bool:
        """Whether the weight matrix is *known* to be positive semi-definite."""
        return False

    @abstractmethod
    def weights(self) -> Weights:
        """Return the checked weight matrix of the fitted points."""

    @abstractmethod
    def rows(self, X_new: Any) -> tuple[Weights, Array]:
        """Return ``k(x, x_j)`` for a block of new points, and ``k(x, x)``."""


def make(
    X: Any, affinity: object, *, sigma: object, scale: object, self_loops: bool, n_neighbors: object
) -> Affinity:
    """Build the affinity that an estimator's parameters name, after checking them."""
    if callable(affinity):
        return Kernel(X, affinity)
    if affinity == "precomputed":
        return Precomputed(check_weights(X))
    if affinity == "knn":
        return Nearest(X, _neighbours(n_neighbors, X.shape[0]))
    if affinity == "rbf":
        scale = _positive("scale", scale)
        width = typical_distance(X) if sigma is None else _positive("sigma", sigma)
        return Gaussian(X, width, scale, bool(self_loops))
    raise ValueError(
        f"affinity={affinity!r} is unknown; it must be 'rbf', 'knn', 'precomputed' or a function "
        "kernel(A, B) that returns the matrix of k(a, b)."
    )


@dataclass(frozen=True)
class Gaussian(Affinity):
    """``exp(-|x - x'|^2 / (scale sigma^2))``, with or without its unit diagonal."""

    X: Any
    sigma: float
    scale: float = 2.0
    self_loops: bool = True

    @property
    def positive_semidefinite(self) -> bool:
        """A Gaussian kernel matrix is, as long as its diagonal is kept."""
        return self.self_loops

    @cached_property
    def _points(self) -> "Points":
        return Points(self.X)

    def _kernel(self, X_new: Any) -> Array:
        with np.errstate(over="ignore"):  # so far apart that the weight is 0
            K = self._points.distances(X_new, self.sigma) / self.sigma
            K *= K / -self.scale
        return np.asarray(np.exp(K, out=K))

    def weights(self) -> Weights:
        """Return the kernel matrix of the fitted points."""
        W = self._kernel(self.X)
        np.fill_diagonal(W, 1.0 if self.self_loops else 0.0)
        return check_weights(W)

    def rows(self, X_new: Any) -> tuple[Weights, Array]:
        """Return the kernel between new and fitted points."""
        return self._kernel(X_new), np.full(X_new.shape[0], float(self.self_loops))


@dataclass(frozen=True)
class Nearest(Affinity):
    """``(A + A') / 2`` with ``A[i, j] = 1`` if j is among the k nearest neighbours of i."""

    X: Any
    n_neighbors: int

    @cached_property
    def _points(self) -> "Points":
        return Points(self.X)

    @cached_property
    def _index(self) -> tuple[Weights, Array]:
        """The directed graph, and how far each point's k-th neighbour is."""
        distances, neighbours = self._points.neighbours(self.n_neighbors)
        n, k = neighbours.shape
        ends = (np.repeat(np.arange(n), k), neighbours.ravel())
        return sp.csr_array((np.ones(n * k), ends), shape=(n, n)), distances[:, -1]

    def weights(self) -> Weights:
        """Return the symmetrised neighbour graph."""
        A = self._index[0]
        return check_weights((A + A.T) / 2)

    def rows(self, X_new: Any) -> tuple[Weights, Array]:
        """Return half for a neighbour of x, half for a point that x is a neighbour of."""
        distances = self._points.distances(X_new)
        k = self.n_neighbors
        nearest = np.argpartition(distances, k - 1, axis=1)[:, :k]
        K = np.where(distances < self._index[1], 0.5, 0.0)  # x is nearer than their k-th neighbour
        np.put_along_axis(K, nearest, np.take_along_axis(K, nearest, axis=1) + 0.5, axis=1)
        return K, np.zeros(len(K))


@dataclass(frozen=True)
class Kernel(Affinity):
    """The user's own function: ``kernel(A, B)`` returns the matrix of ``k(a, b)``."""

    X: Any
    kernel: Callable[[Any, Any], Any]

    def _matrix(self, A: Any, B: Any) -> Any:
        K = self.kernel(A, B)
        K = K if sp.issparse(K) else np.asarray(K)
        if K.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"The affinity function returned shape {K.shape} for {A.shape[0]} and "
                f"{B.shape[0]} points; it must return the ({A.shape[0]}, {B.shape[0]}) matrix of "
                "k(a, b)."
            )
        return K

    def weights(self) -> Weights:
        """Return the function's matrix, checked."""
        return check_weights(self._matrix(self.X, self.X))

    def rows(self, X_new: Any) -> tuple[Weights, Array]:
        """Return the function's values between new and fitted points."""
        K = _checked_rows(self._matrix(X_new, self.X))
        return K, np.asarray(self._matrix(X_new, X_new).diagonal(), dtype=float)


@dataclass(frozen=True)
class Precomputed(Affinity):
    """Weights as given; new points come as rows of weights to the fitted nodes."""

    W: Weights

    def weights(self) -> Weights:
        """Return the weights as given."""
        return self.W

    def rows(self, X_new: Any) -> tuple[Weights, Array]:
        """Return the rows as given; a new point has the self-loop that all fitted nodes have."""
        loops = np.asarray(self.W.diagonal())
        if loops.min() != loops.max():
            raise ValueError(
                f"The fitted nodes have self-loops from {loops.min():.3g} to {loops.max():.3g}, so "
                "the self-loop k(x, x) of a new point cannot be known from its row of weights. Use "
                "affinity=kernel with a function, or fit on a graph with equal self-loops."
            )
        return _checked_rows(X_new), np.full(X_new.shape[0], loops[0])


def typical_distance(X: Any) -> float:
    """Return the median distance to the 7th nearest neighbour: the default ``sigma``.

    A local scale: wide enough to join a point to its neighbours, too narrow to join clusters.
    """
    k = min(7, X.shape[0] - 1)
    distances, _ = Points(X).neighbours(k)
    sigma = float(np.median(distances[:, -1]))
    if sigma == 0:
        raise ValueError(
            f"Most points have {k} or more exact copies, so sigma cannot be chosen from distances "
            "to neighbours. Pass sigma=, or drop the copies."
        )
    return sigma


class Points:
    """Points moved to their mean and scaled to 1, where distances neither cancel nor overflow."""

    def __init__(self, X: Any) -> None:
        self._centre = 0.0 if sp.issparse(X) else X.mean(axis=0)
        self._unit = float(abs(X - self._centre).max()) or 1.0
        self._X = self._moved(X)

    def _moved(self, X: Any) -> Any:
        return X / self._unit if sp.issparse(X) else (X - self._centre) / self._unit

    def neighbours(self, k: int) -> tuple[Array, Any]:
        """Return distances and numbers of each point's k nearest others."""
        distances, numbers = NearestNeighbors(n_neighbors=k).fit(self._X).kneighbors()
        return distances * self._unit, numbers

    def distances(self, X_new: Any, resolution: float = 0.0) -> Array:
        """Return distances from new points, exact where the resolution asks for it.

        ``|a|^2 - 2 a'b + |b|^2`` is ten times faster, but its error is eps times the squared
        extent of the data: only good beside a resolution that is not much smaller than that.
        """
        A = self._moved(X_new)
        if sp.issparse(A) or sp.issparse(self._X) or resolution > 1e-2 * self._unit:
            return np.asarray(euclidean_distances(A, self._X) * self._unit)
        return np.asarray(cdist(A, self._X) * self._unit)


def _checked_rows(K: Any) -> Weights:
    """Refuse weights to new points that no kernel gives."""
    K = sp.csr_array(K).astype(float) if sp.issparse(K) else np.asarray(K, dtype=float)
    values = K.data if sp.issparse(K) else K
    if values.size and not (np.isfinite(values).all() and values.min() >= 0):
        raise ValueError(
            f"Weights between new points and nodes range from {np.min(values)} to "
            f"{np.max(values)}; they must be finite and >= 0."
        )
    return K


def _positive(name: str, value: object) -> float:
    if not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name}={value!r} is not allowed; it must be a number > 0.")
    return float(value)


def _neighbours(value: object, n: int) -> int:
    if value is None:
        return min(10, n - 1)
    if not isinstance(value, Integral) or not 1 <= int(value) < n:
        raise ValueError(
            f"n_neighbors={value!r} is not allowed for {n} points; it must be a whole number from "
            f"1 to {n - 1}, since a point is not its own neighbour."
        )
    return int(value)

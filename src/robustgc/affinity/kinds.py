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

from robustgc.affinity.gaussian import GaussianOperator, gaussian, gaussian_points
from robustgc.affinity.neighbours import approximate, approximates
from robustgc.affinity.points import Points, k_smallest
from robustgc.graph.quoting import quoted
from robustgc.graph.structure import check_sparse
from robustgc.graph.weights import Array, Weights, check_weights, divided, unit_of

KINDS = ("rbf", "knn", "precomputed")
DENSE = 5000  # points up to which the Gaussian weights are stored, in 200 MB


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
    X: Any,
    affinity: object,
    *,
    sigma: object,
    scale: object,
    self_loops: bool,
    n_neighbors: object,
    ann: object = "auto",
) -> Affinity:
    """Build the affinity that an estimator's parameters name, after checking them."""
    check_kind(affinity)
    if callable(affinity):
        return Kernel(X, affinity)
    if affinity == "precomputed":
        return Precomputed(check_weights(X))
    if affinity == "knn":
        return Nearest(X, _neighbours(n_neighbors, X.shape[0]), approximates(X, ann))
    scale = _positive("scale", scale)
    width = typical_distance(X, ann) if sigma is None else _positive("sigma", sigma)
    return Gaussian(X, width, scale, bool(self_loops))


def check_kind(affinity: object) -> None:
    """Refuse an unknown affinity."""
    if not callable(affinity) and not (isinstance(affinity, str) and affinity in KINDS):
        raise ValueError(
            f"affinity={quoted(affinity)} is unknown; it must be 'rbf', 'knn', 'precomputed' or a "
            "function kernel(A, B) that returns the matrix of k(a, b)."
        )


def as_matrix(X: Any) -> Any:
    """Return weights as an array or a scipy matrix; `check_weights` says what is wrong with one."""
    W = X if sp.issparse(X) else np.asarray(X)
    if W.ndim == 0:
        raise TypeError(
            f"X holds one value of type {type(W.item()).__name__}; give the weight matrix, a row "
            "and a column per node."
        )
    return W


@dataclass(frozen=True)
class Gaussian(Affinity):
    """``exp(-|x - x'|^2 / (scale sigma^2))``, with or without its unit diagonal.

    Of more than 5000 points the full matrix is never stored: a narrow kernel is kept as a sparse
    matrix, a wide one is computed again in every product.
    """

    X: Any
    sigma: float
    scale: float = 2.0
    self_loops: bool = True

    @property
    def positive_semidefinite(self) -> bool:
        """A Gaussian kernel matrix is, as long as its diagonal is kept."""
        return self.self_loops

    @cached_property
    def _points(self) -> Points:
        return gaussian_points(self.X, self.sigma, self.scale)

    def _kernel(self, A: Any) -> Array:
        return gaussian(A, self._points.X, self._points.unit, self.sigma, self.scale)

    def weights(self) -> Weights:
        """Return the kernel matrix of the fitted points; above 5000 sparse, or by its products."""
        if self.X.shape[0] > DENSE:
            products = GaussianOperator(self.X, self.sigma, self.scale, self.self_loops)
            sparse = products.sparse()
            return products if sparse is None else check_weights(sparse)
        W = self._kernel(self._points.X)
        np.fill_diagonal(W, 1.0 if self.self_loops else 0.0)
        return check_weights(W)

    def rows(self, X_new: Any) -> tuple[Weights, Array]:
        """Return the kernel between new and fitted points."""
        loops = np.full(X_new.shape[0], float(self.self_loops))
        return self._kernel(self._points.moved(X_new)), loops


@dataclass(frozen=True)
class Nearest(Affinity):
    """``(A + A') / 2`` with ``A[i, j] = 1`` if j is among the k nearest neighbours of i."""

    X: Any
    n_neighbors: int
    approximate: bool = False  # whether neighbours come from an index; see `neighbours`

    @property
    def search(self) -> str:
        """How neighbours are found."""
        return "approximate" if self.approximate else "exact"

    @cached_property
    def _points(self) -> Points:
        return Points(self.X)

    @cached_property
    def _index(self) -> tuple[Weights, Array]:
        """The directed graph, and how far each point's k-th neighbour is."""
        find = approximate if self.approximate else Points.neighbours
        distances, neighbours = find(self._points, self.n_neighbors)
        n, k = neighbours.shape
        starts = np.arange(0, n * k + 1, k)
        A = sp.csr_array((np.ones(n * k), neighbours.ravel(), starts), shape=(n, n))
        return A, distances[:, -1]

    def weights(self) -> Weights:
        """Return the symmetrised neighbour graph."""
        A = self._index[0]
        return check_weights((A + A.T) / 2)

    def rows(self, X_new: Any) -> tuple[Weights, Array]:
        """Return half for a neighbour of x, half for a point that x is a neighbour of."""
        reach = self._index[1] / self._points.unit
        rows, columns, distances = self._points.near(
            self._points.moved(X_new), self.n_neighbors, reach
        )
        K = 0.5 * k_smallest(rows, columns, distances, self.n_neighbors)
        K += 0.5 * (distances < reach[columns])  # x is nearer than their k-th neighbour
        shape = (X_new.shape[0], len(reach))
        K = sp.csr_array((K[K > 0], (rows[K > 0], columns[K > 0])), shape=shape)
        return K, np.zeros(shape[0])


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
        W = check_weights(self._matrix(self.X, self.X))
        return divided(W, vars(self).setdefault("_unit", unit_of(W)))

    @cached_property
    def _unit(self) -> float:
        return unit_of(check_weights(self._matrix(self.X, self.X)))

    def rows(self, X_new: Any) -> tuple[Weights, Array]:
        """Return the function's values between new and fitted points."""
        K = _in_unit(_checked_rows(self._matrix(X_new, self.X)), self._unit)
        return K, _in_unit(_checked_rows(self._matrix(X_new, X_new).diagonal()), self._unit)


@dataclass(frozen=True)
class Precomputed(Affinity):
    """Weights as given; new points come as rows of weights to the fitted nodes."""

    W: Weights

    @cached_property
    def _unit(self) -> float:
        return unit_of(self.W)

    def weights(self) -> Weights:
        """Return the weights as given, in a unit that double precision can bear."""
        return divided(self.W, self._unit)

    def rows(self, X_new: Any) -> tuple[Weights, Array]:
        """Return the rows as given; a new point has the self-loop that all fitted nodes have."""
        loops = np.asarray(self.W.diagonal())
        if loops.min() != loops.max():
            raise ValueError(
                f"The fitted nodes have self-loops from {loops.min():.3g} to {loops.max():.3g}, so "
                "the self-loop k(x, x) of a new point cannot be known from its row of weights. Use "
                "affinity=kernel with a function, or fit on a graph with equal self-loops."
            )
        K = _in_unit(_checked_rows(X_new), self._unit)
        return K, np.full(X_new.shape[0], loops[0] / self._unit)


def typical_distance(X: Any, ann: object = False) -> float:
    """Return the median distance to the 7th nearest neighbour: the default ``sigma``.

    A local scale: wide enough to join a point to its neighbours, too narrow to join clusters.
    """
    k = min(7, X.shape[0] - 1)
    find = approximate if approximates(X, ann) else Points.neighbours
    distances, _ = find(Points(X), k)
    sigma = float(np.median(distances[:, -1]))
    if sigma == 0:
        raise ValueError(
            f"Most points have {k} or more exact copies, so sigma cannot be chosen from distances "
            "to neighbours. Pass sigma=, or drop the copies."
        )
    return sigma


def _checked_rows(K: Any) -> Weights:
    """Refuse weights to new points that no kernel gives."""
    if sp.issparse(K):
        check_sparse(K, "the matrix of the affinity function")
    K = sp.csr_array(K).astype(float) if sp.issparse(K) else np.asarray(K, dtype=float)
    values = K.data if sp.issparse(K) else K
    if values.size and not (np.isfinite(values).all() and values.min() >= 0):
        raise ValueError(
            f"Weights between new points and nodes range from {np.min(values)} to "
            f"{np.max(values)}; they must be finite and >= 0."
        )
    return K


def _in_unit(K: Weights, unit: float) -> Weights:
    """Return weights to new points in the unit of the fitted ones."""
    largest = float(K.max()) if min(K.shape) else 0.0
    if largest > float(np.finfo(float).max) / 2**40 * unit:  # sums of them would overflow
        raise ValueError(
            f"Weights between new points and nodes reach {largest:.3g}, which is too large "
            "relative to the weights of the graph for double precision. Give both in the same unit."
        )
    return divided(K, unit)


def _positive(name: str, value: object) -> float:
    if not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name}={quoted(value)} is not allowed; it must be a number > 0.")
    return float(value)


def _neighbours(value: object, n: int) -> int:
    if value is None:
        return min(10, n - 1)
    if not isinstance(value, Integral) or not 1 <= int(value) < n:
        raise ValueError(
            f"n_neighbors={quoted(value)} is not allowed for {n} points; it must be a whole number "
            f"from 1 to {n - 1}, since a point is not its own neighbour."
        )
    return int(value)

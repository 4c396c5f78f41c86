"""What every loader returns."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from robustgc.graph.weights import Array, Weights


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A graph or points, with the true class of every node.

    Attributes
    ----------
    name : str
    weights : csr_array, shape (N, N), or None
    points : ndarray, shape (N, n_features), or None
    labels : ndarray of str, shape (N,)
        The true class of every node.
    names : ndarray of str, shape (N,)
        What the nodes are called.
    citation, licence : str
    """

    name: str
    labels: NDArray[Any]
    names: NDArray[Any]
    citation: str
    licence: str
    weights: Weights = None
    points: Array | None = None

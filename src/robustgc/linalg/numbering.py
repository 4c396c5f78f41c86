"""Nodes numbered layer by layer, so that the values of neighbours are near each other in memory.

A product with ``L_N`` reads a row of values for every entry. Where neighbours carry far numbers
(points, trees, edge lists in any order) each is a cache miss, and takes two to five times as long.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

from robustgc.graph.csr import CSR
from robustgc.graph.graph import Graph, per_graph

_FEW = 10_000  # nodes whose values stay in cache anyway
_MANY = 2_000_000  # entries from which numbering takes longer than what it saves
_NEARER = 1.2  # times nearer neighbours have to come


@dataclass(frozen=True)
class Numbering:
    """The same graph with other numbers for its nodes.

    Attributes
    ----------
    graph : Graph
    order : ndarray of int or None
        The old number of every node; None: all keep theirs.
    place : ndarray of int or None
        The new number of every node.
    """

    graph: Graph
    order: NDArray[Any] | None = None
    place: NDArray[Any] | None = None

    def to(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return node values in the new order."""
        return X if self.order is None else X[self.order]

    def back(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return node values in the old order."""
        return X if self.place is None else X[self.place]

    def nodes(self, nodes: NDArray[Any]) -> NDArray[Any]:
        """Return the new numbers of some nodes."""
        return nodes if self.place is None else self.place[nodes]


@per_graph
def cuthill_mckee_order(graph: Graph) -> NDArray[Any]:
    """Return the nodes in reverse Cuthill-McKee order: layer by layer from one at the rim."""
    return np.asarray(reverse_cuthill_mckee(_rows(graph), symmetric_mode=True))


def mean_bandwidth(graph: Graph) -> float:
    """Return the mean bandwidth after Cuthill-McKee: how far a row's first entry is to its left."""
    W, place = _rows(graph), np.empty(graph.n, dtype=np.int64)
    place[cuthill_mckee_order(graph)] = np.arange(graph.n)
    first = np.minimum.reduceat(place[W.indices], W.indptr[:-1])
    return float(np.maximum(place - first, 0).mean())


@per_graph
def numbered(graph: Graph) -> Numbering:
    """Return the graph with nodes numbered by layers, where that brings neighbours nearer."""
    here = graph.is_sparse and graph.is_here
    if not here or graph.n <= _FEW or graph.entries > _MANY:
        return Numbering(graph)
    W, order = _rows(graph), cuthill_mckee_order(graph)
    renumbered = sp.csr_array(W[order][:, order])
    if _distance(W) < _NEARER * _distance(renumbered):
        return Numbering(graph)
    renumbered.sort_indices()
    near = Graph._trusted(renumbered, d=graph.d[order])
    near._memo |= {"numbered()": Numbering(near), "cuthill_mckee_order()": np.arange(graph.n)}
    place = np.empty(graph.n, dtype=np.int64)
    place[order] = np.arange(graph.n)
    return Numbering(near, order, place)


def _rows(graph: Graph) -> Any:
    W = graph.W
    return sp.csr_matrix(W.to_scipy() if isinstance(W, CSR) else W)


def _distance(W: Any) -> float:
    """Return how far the numbers of neighbours are from each other, on average."""
    row = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    return float(np.abs(row - W.indices).mean())

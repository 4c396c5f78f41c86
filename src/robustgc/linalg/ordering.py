"""In which order nodes are numbered, and eliminated.

A product with ``L_N`` reads a row of values for every entry. Where neighbours carry far numbers
(points, trees, edge lists in any order) each is a cache miss, and takes two to five times as long.
Sparse factors fill in little where nodes are eliminated in a good order.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import SuperLU, splu

from robustgc.graph import threads
from robustgc.graph.csr import CSR
from robustgc.graph.graph import Graph, per_graph
from robustgc.graph.weights import Array
from robustgc.linalg.solution import Apply, NotConvergedError

_CACHED = 10_000  # nodes whose values stay in cache anyway
_MANY = 2_000_000  # entries from which numbering takes longer than what it saves
_NEARER = 1.2  # times nearer neighbours have to come
_LOOPS = 5_000  # edges more than a tree has; what is left without its branches has small factors
_FEW = 0.1  # of the nodes in branches: no hub has so many that an order by degrees takes long


@dataclass(frozen=True)
class Numbering:
    """The same graph with other numbers for its nodes; without an order all keep theirs."""

    graph: Graph
    order: NDArray[Any] | None = None  # the old number of every node
    place: NDArray[Any] | None = None  # the new one

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
    if not here or graph.n <= _CACHED or graph.entries > _MANY:
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


@per_graph
def is_near_tree(graph: Graph) -> bool:
    """Whether there are hardly more edges than a tree has."""
    here = graph.is_sparse and graph.is_here
    return here and graph.entries / 2 < graph.n + min(_LOOPS, graph.n // 20)


def factorised(graph: Graph, M: Any) -> Apply:
    """Factorise a symmetric matrix with the pattern of ``L_N``; return the solve.

    Branches from their leaves on, where nothing fills in, then the others by degrees. By degrees
    alone SuperLU took minutes at the hub of a star, and at that of a star with loops.
    """
    order = _order(graph)
    if order is None:
        inner = sparse_factors(M)
        return lambda b: np.asarray(inner.solve(b))
    lu = sparse_factors(M[order][:, order], "NATURAL")

    def solve(b: Array) -> Array:
        x = np.empty_like(b)
        x[order] = lu.solve(b[order])
        return x

    return solve


@per_graph
def _order(graph: Graph) -> NDArray[Any] | None:
    """Return the order where a good part of the nodes are in branches, else None."""
    L = graph.laplacian()
    order = np.empty(graph.n, dtype=np.int64)
    count = threads.loops().leaves(L.indptr, L.indices, order)
    if count < _FEW * graph.n:
        return None
    inner = np.ones(graph.n, dtype=bool)
    inner[order[:count]] = False
    core = np.flatnonzero(inner)
    if core.size:
        # SuperLU gives no order without factors; those of a regular matrix, whatever they are for.
        regular = L[core][:, core] + 1e-3 * sp.eye_array(len(core))
        order[count:] = core[np.argsort(sparse_factors(regular).perm_c)]
    return order


def sparse_factors(M: Any, order: str = "MMD_AT_PLUS_A") -> SuperLU:
    """Factorise a symmetric matrix, by default eliminating nodes by degrees."""
    symmetric: dict[str, Any] = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    try:
        return splu(sp.csc_array(M), permc_spec=order, **symmetric)
    except RuntimeError as failure:
        raise NotConvergedError(str(failure)) from failure

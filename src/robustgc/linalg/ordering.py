"""In which order nodes are eliminated, so that the factors of a sparse matrix fill in little."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import SuperLU, splu

from robustgc.graph import threads
from robustgc.graph.graph import Graph, per_graph
from robustgc.graph.weights import Array
from robustgc.linalg.solution import Apply, NotConvergedError

_LOOPS = 5_000  # edges more than a tree has; what is left without its branches has small factors
_FEW = 0.1  # of the nodes in branches: no hub has so many that an order by degrees takes long


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
    """Factorise a symmetric matrix, by default eliminating nodes by degrees.

    Raises
    ------
    NotConvergedError
        SuperLU met a pivot that is zero.
    """
    symmetric: dict[str, Any] = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    try:
        return splu(sp.csc_array(M), permc_spec=order, **symmetric)
    except RuntimeError as failure:
        raise NotConvergedError(str(failure)) from failure

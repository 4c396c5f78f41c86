"""A weight matrix checked once, and the paper's operators on it.

Why a matrix was refused is answered by `check_weights` and `Graph`.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

Array: TypeAlias = NDArray[np.float64]
Weights: TypeAlias = Any  # float64 ndarray, or csr_array in canonical form

# Up to here one full eigendecomposition takes about a second and answers everything.
SMALL = 1500
# Squares of rounding errors: a coupling below this cannot be told from none in double precision.
NEGLIGIBLE = 1e-24

_Result = TypeVar("_Result")


class Graph:
    """A connected undirected graph with non-negative weights.

    Section 2.1 of the paper: ``S = D^-1/2 W D^-1/2``, ``L_N = I - S``, ``v0`` proportional to
    ``sqrt(d)``. The operators are methods that take a vector or a block of columns.

    Parameters
    ----------
    W : array or scipy sparse matrix, shape (N, N)
        Symmetric, finite, non-negative weights of a connected graph. Self-loops are allowed and
        count in the degree. The input is never modified; it may be kept without a copy.

    Attributes
    ----------
    W : ndarray or csr_array
        The weights in float64, exactly symmetric.
    d : ndarray, shape (N,)
        Degrees ``W 1``.
    v0 : ndarray, shape (N,)
        The unit eigenvector of ``L_N`` for eigenvalue 0.
    n : int
        Number of nodes.

    Examples
    --------
    >>> from robustgc import Graph
    >>> path = Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> path.d
    array([1., 2., 1.])
    >>> bool(abs(path.L_N(path.v0)).max() < 1e-15)
    True
    """

    def __init__(self, W: ArrayLike | Weights) -> None:
        self._build(check_weights(W))
        _check_connected(self)

    @classmethod
    def _trusted(cls, W: Weights) -> "Graph":
        """Build from weights that `check_weights` has passed and that are known to be connected."""
        graph = cls.__new__(cls)
        graph._build(W)
        return graph

    def _build(self, W: Weights) -> None:
        self.W = W
        self.n: int = W.shape[0]
        self._loops: Array = np.asarray(W.diagonal())
        # L_N is applied as (o - A), from off-diagonal weights alone: written as I - S it would
        # lose all digits of small eigenvalues where self-loops are heavy.
        self._A = _without_diagonal(W) if self._loops.any() else W
        self._o: Array = np.asarray(self._A.sum(axis=1)).ravel()
        self.d: Array = self._o + self._loops
        self._sqrt_d: Array = np.sqrt(self.d)
        self.v0: Array = self._sqrt_d / (np.linalg.norm(self._sqrt_d) or 1.0)
        self._memo: dict[str, Any] = {}

    def S(self, x: Array) -> Array:
        """Apply ``D^-1/2 W D^-1/2`` to a vector or a block of columns."""
        root, loops = _column(self._sqrt_d, x), _column(self._loops, x)
        u = x / root
        return np.asarray((self._A @ u + loops * u) / root)

    def L_N(self, x: Array) -> Array:
        """Apply the normalised Laplacian ``I - S`` to a vector or a block of columns."""
        root, o = _column(self._sqrt_d, x), _column(self._o, x)
        u = x / root
        return np.asarray((o * u - self._A @ u) / root)

    def P0(self, x: Array) -> Array:
        """Project a vector or a block of columns on the complement of ``v0``."""
        return np.asarray(x - np.multiply.outer(self.v0, np.einsum("i,i...", self.v0, x)))

    def laplacian(self, kind: str = "normalized") -> Weights:
        """Return ``L_N`` ("normalized") or ``D - W`` ("combinatorial") as an explicit matrix."""
        scale = self._sqrt_d if kind == "normalized" else np.ones(self.n)
        if sp.issparse(self._A):
            A = self._A.tocoo()
            off = -A.data / scale[A.row] / scale[A.col]
            L = sp.coo_array((off, (A.row, A.col)), A.shape)
            return sp.csr_array(L + sp.diags_array(self._o / scale / scale))
        L = -self._A / scale / scale[:, None]
        np.fill_diagonal(L, self._o / scale / scale)
        return L

    def dirichlet(self, U: Array) -> Array:
        """Sum ``w_ij (u_i - u_j)(u_i - u_j)'`` over the edges, which equals ``U' (D - W) U``.

        Formed from differences along edges: where ``U`` is nearly constant on clusters it keeps
        relative accuracy far below the rounding of ``U' (D - W) U``.
        """
        edges = sp.coo_array(sp.triu(self._A, k=1))
        gram = np.zeros((U.shape[1], U.shape[1]))
        step = max(1, 2**22 // max(1, U.shape[1]))
        for start in range(0, edges.nnz, step):
            part = slice(start, start + step)
            jump = U[edges.row[part]] - U[edges.col[part]]
            gram += jump.T @ (jump * edges.data[part, None])
        return gram

    def __repr__(self) -> str:
        kind = "sparse" if sp.issparse(self.W) else "dense"
        return f"Graph(n={self.n}, {kind})"

    def __getstate__(self) -> dict[str, Any]:
        return {"W": self.W}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._build(state["W"])


def per_graph(function: Callable[..., _Result]) -> Callable[..., _Result]:
    """Remember ``function(graph, *args)`` on the graph: a Graph never changes."""

    @wraps(function)
    def remembered(graph: Graph, *args: Any) -> _Result:
        key = f"{function.__name__}{args}"
        if key not in graph._memo:
            graph._memo[key] = function(graph, *args)
        value: _Result = graph._memo[key]
        return value

    return remembered


def components(W: Weights) -> tuple[int, NDArray[np.int64]]:
    """Count connected components and number them per node, for weights from `check_weights`.

    Nodes count as joined only by weights that double precision can tell from zero beside their
    degrees (``S_ij > 1e-24``): clusters a hundred bandwidths apart under a Gaussian kernel are
    separate components, although no weight is exactly zero.
    """
    root = np.sqrt(np.asarray(W.sum(axis=1)).ravel())
    root[root == 0] = 1.0
    if sp.issparse(W):
        edges = W.tocoo()
        keep = edges.data / root[edges.row] / root[edges.col] > NEGLIGIBLE
        ends = (edges.row[keep], edges.col[keep])
        pattern = sp.csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=W.shape)
    else:
        pattern = sp.csr_array(W / root / root[:, None] > NEGLIGIBLE)
    count, number = connected_components(pattern, directed=False)
    return int(count), number.astype(np.int64)


def check_weights(W: ArrayLike | Weights) -> Weights:
    """Return weights as float64 (ndarray or canonical csr_array), or say why they are refused.

    Checks: numeric, square, not empty, finite, non-negative, symmetric to rounding. Duplicate
    entries of a sparse matrix are summed, as scipy does. The input is never modified.
    """
    W, rtol = _as_float(W)
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise ValueError(
            f"The weight matrix has shape {W.shape}; it must be square, one row and one column "
            "per node. For points use affinity='rbf' or 'knn' instead of 'precomputed'."
        )
    if W.shape[0] == 0:
        raise ValueError("The graph is empty: 0 nodes. At least 2 nodes are needed.")
    values = W.data if sp.issparse(W) else W
    if not np.isfinite(values).all():
        _refuse(W, ~np.isfinite(values), "not finite", "Weights must be finite numbers; remove "
                "the edge or give it a weight.")  # fmt: skip
    if values.size and values.min() < 0:
        _refuse(W, values < 0, "negative", "Weights must be >= 0; use similarities, for instance "
                "exp(-distance), or drop these edges.")  # fmt: skip
    with np.errstate(over="ignore"):
        if not np.isfinite(np.asarray(W.sum(axis=1))).all():
            raise ValueError(
                f"A node's degree (sum of weights) overflows; the largest weight is "
                f"{values.max():.3g}. Divide all weights by it; their scale does not matter."
            )
    return _symmetrised(W, rtol)


def _as_float(W: Any) -> tuple[Weights, float]:
    """Convert to float64 without touching the input; also the asymmetry its precision excuses."""
    if not sp.issparse(W):
        W = np.asarray(W)
    if W.dtype.kind not in "biuf":
        raise TypeError(
            f"The weight matrix has dtype {W.dtype}; real numbers are needed (float, int or bool). "
            "Convert it first, for instance with W.astype(float)."
        )
    rtol = 1e-10 if W.dtype.kind != "f" or W.dtype.itemsize >= 8 else 1e-5
    if not sp.issparse(W):
        return np.asarray(W, dtype=np.float64), rtol
    if W.ndim != 2:
        return W, rtol
    # Convert before anything is summed: int8 duplicates would wrap around.
    W = sp.csr_array(W.astype(np.float64))
    if not W.has_canonical_format or (W.data == 0).any():
        W = W.copy()  # its index arrays may be the caller's
        W.sum_duplicates()
        W.eliminate_zeros()
    return W, rtol


def _refuse(W: Weights, bad: NDArray[np.bool_], what: str, cure: str) -> None:
    """Raise with the first offending entry and how many there are."""
    if sp.issparse(W):
        first = int(np.flatnonzero(bad)[0])
        i, j = int(np.searchsorted(W.indptr, first, side="right")) - 1, int(W.indices[first])
    else:
        i, j = (int(k) for k in np.argwhere(bad)[0])
    raise ValueError(f"W[{i}, {j}] = {W[i, j]} is {what} ({int(bad.sum())} such entries). {cure}")


def _symmetrised(W: Weights, rtol: float) -> Weights:
    """Refuse directed weights; average away differences of the size of rounding."""
    Wt = sp.csr_array(W.T) if sp.issparse(W) else W.T
    gap = abs(W - Wt)
    if gap.max() == 0:
        return W
    excess = gap - rtol * (W + Wt)
    allowed = 8 * np.finfo(float).eps * W.max()
    bad = sp.coo_array(excess) if sp.issparse(W) else excess
    offending = (bad.data if sp.issparse(W) else bad) > allowed
    if offending.any():
        where = sp.coo_array(np.maximum(excess, 0)) if not sp.issparse(W) else bad
        worst = int(np.argmax(where.data))
        i, j = int(where.row[worst]), int(where.col[worst])
        raise ValueError(
            f"The weight matrix is not symmetric: W[{i}, {j}] = {W[i, j]:.6g} but W[{j}, {i}] = "
            f"{W[j, i]:.6g} ({int(offending.sum()) // 2} such pairs). The graph must be "
            "undirected. Pass (W + W.T) / 2 if either direction counts as half an edge."
        )
    return W * 0.5 + Wt * 0.5


def _column(v: Array, x: Array) -> Array:
    """Shape a vector of node values so that it scales the rows of x."""
    return v if x.ndim == 1 else v[:, None]


def _without_diagonal(W: Weights) -> Weights:
    if sp.issparse(W):
        A = sp.csr_array(W - sp.diags_array(W.diagonal()))
        A.eliminate_zeros()
        return A
    A = W.copy()
    np.fill_diagonal(A, 0.0)
    return A


def _check_connected(graph: Graph) -> None:
    """Refuse what the paper's model excludes: one node, isolated nodes, several components."""
    if graph.n < 2:
        raise ValueError("The graph has 1 node. At least 2 nodes are needed.")
    isolated = np.flatnonzero(graph._o == 0)
    if isolated.size:
        raise ValueError(
            f"{isolated.size} of {graph.n} nodes have no edge to another node, the first is node "
            f"{isolated[0]}. The paper's model needs a connected graph. Remove them, or use "
            "RobustGC(affinity='precomputed'), which answers component by component."
        )
    count, number = components(graph.W)
    if count > 1:
        sizes = np.sort(np.bincount(number))[::-1]
        raise ValueError(
            f"The graph is not connected: {count} components, the largest of {sizes[0]} and "
            f"{sizes[1]} nodes (weights below {NEGLIGIBLE:g} of the degrees do not connect). The "
            "paper's model needs a connected graph. Keep one component, or use "
            "RobustGC(affinity='precomputed'), which answers component by component."
        )

"""A connected graph, checked once, and the paper's operators on it."""

from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from robustgc.graph.csr import CSR
from robustgc.graph.quoting import check_choice
from robustgc.graph.resources import available
from robustgc.graph.weights import NEGLIGIBLE, Array, Operator, Weights, check_weights, components

# Up to here one full eigendecomposition takes about a second and answers everything.
SMALL = 1500
KINDS = ("normalized", "combinatorial")
LEAST = 1e-305  # of the degrees; below 2e-308 numbers lose digits

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

    distributed = False  # whether every process has some of the rows only (robustgc.mpi)

    def __init__(self, W: ArrayLike | Weights) -> None:
        self._build(check_weights(W))
        if 0 < self.d.max() < LEAST:
            raise ValueError(
                f"The largest degree is {self.d.max():.3g}, where double precision has next to no "
                "digits left. Multiply all weights by 1e300; their scale does not matter."
            )
        _check_connected(self)

    @classmethod
    def _trusted(
        cls, W: Weights, nodes: NDArray[Any] | None = None, d: Array | None = None
    ) -> "Graph":
        """Build from weights that `check_weights` has passed and that are known to be connected.

        With `nodes`: the connected piece of W that they are, of weights that `separated` has
        passed: an entry that leads out of the piece would count as a self-loop. Nothing of W is
        copied unless something asks for the matrix of the piece: operators work on all of W, with
        zeros outside.
        """
        graph = cls.__new__(cls)
        graph._build(W, nodes)
        if d is not None:
            graph.d = d
        return graph

    def _build(self, W: Weights, nodes: NDArray[Any] | None = None) -> None:
        self._whole, self._nodes = _stored(W), nodes
        self.n: int = W.shape[0] if nodes is None else len(nodes)
        self._memo: dict[str, Any] = {}

    @cached_property
    def W(self) -> Weights:
        """The weights."""
        if self._nodes is None:
            return self._whole
        W = self._whole
        if isinstance(W, Operator):
            return _stored(W.part(self._nodes))
        if not (sp.issparse(W) or isinstance(W, CSR)):
            return W[np.ix_(self._nodes, self._nodes)]
        part = CSR(W.indptr, W.indices, W.data).part(self._nodes)
        return part if isinstance(W, CSR) else part.to_scipy()

    @cached_property
    def d(self) -> Array:
        """Degrees, self-loops included."""
        if isinstance(self._whole, Operator):  # which nothing has separated
            return np.asarray(self.W.sum(axis=1), dtype=float).ravel()
        d = np.asarray(self._whole.sum(axis=1), dtype=float).ravel()
        return d if self._nodes is None else d[self._nodes]

    @cached_property
    def v0(self) -> Array:
        """The unit eigenvector of ``L_N`` for eigenvalue 0."""
        root = np.sqrt(self.d / (self.d.max() or 1.0))  # sums of huge degrees would overflow
        return np.asarray(root / (np.linalg.norm(root) or 1.0))

    @cached_property
    def _sqrt_d(self) -> Array:
        return np.sqrt(self.d)

    @cached_property
    def _loops(self) -> Array:
        return np.asarray(self.W.diagonal())

    @cached_property
    def _A(self) -> Weights:
        """Weights between different nodes.

        L_N is applied as (o - A), from these alone: written as I - S it would lose all digits of
        small eigenvalues where self-loops are heavy.
        """
        if isinstance(self.W, Operator):
            return self.W.without_diagonal()
        W = self.W.to_scipy() if isinstance(self.W, CSR) else self.W
        return _without_diagonal(W) if self._loops.any() else W

    @cached_property
    def top(self) -> float:
        """An upper bound on the eigenvalues of ``L_N``, by Gershgorin: self-loops lower it."""
        if isinstance(self._whole, CSR):  # of graphs that may be huge, not worth a pass
            return 2.0
        return 2.0 * float((self._o / self.d).max())

    @cached_property
    def _o(self) -> Array:
        """Degrees without self-loops."""
        if isinstance(self.W, CSR) and not self._loops.any():
            return self.W.sum(axis=1)
        return np.asarray(self._A.sum(axis=1)).ravel()

    @property
    def is_sparse(self) -> bool:
        """Whether the weights are stored as a sparse matrix, wherever its rows are."""
        return sp.issparse(self._whole) or isinstance(self._whole, CSR)

    @property
    def is_here(self) -> bool:
        """Whether this process has the matrix: it is neither known by products, nor on ranks."""
        return not isinstance(self._whole, Operator)

    @property
    def entries(self) -> int:
        """Number of stored weights."""
        W = self._whole
        return int(W.nnz if hasattr(W, "nnz") else W.shape[0] ** 2)

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
        return np.asarray(x - np.multiply.outer(self.v0, self.inner(self.v0, x)))

    def laplacian(self, kind: str = "normalized") -> Weights:
        """Return ``L_N`` ("normalized") or ``D - W`` ("combinatorial") as an explicit matrix."""
        check_choice("laplacian", kind, KINDS)
        if isinstance(self._whole, Operator):
            raise ValueError(
                f"This method needs the matrix of the {self.n} nodes; the kernel is too wide to "
                "store it. Use affinity='knn', landmarks=, or a smaller sigma."
            )
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
        edges = sp.coo_array(sp.triu(sp.coo_array(self._A), k=1))
        gram = np.zeros((U.shape[1], U.shape[1]))
        step = max(1, 2**22 // max(1, U.shape[1]))
        for start in range(0, edges.nnz, step):
            part = slice(start, start + step)
            jump = U[edges.row[part]] - U[edges.col[part]]
            gram += jump.T @ (jump * edges.data[part, None])
        return gram

    @property
    def rows(self) -> int:
        """How many nodes have their values here."""
        return self.n

    @property
    def most_rows(self) -> int:
        """How many have them in any one process."""
        return self.n

    def inner(self, A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
        """Return ``A' B``."""
        return np.asarray(A.T @ B)

    def dots(self, A: NDArray[Any], B: NDArray[Any]) -> Array:
        """Return the inner products column by column, summed in double precision."""
        return np.asarray(np.einsum("ij,ij->j", A, B, dtype=np.float64))

    def norms(self, A: NDArray[Any]) -> Array:
        """Return the norm of every column."""
        return np.asarray(np.sqrt(self.dots(A, A)))

    def largest(self, A: NDArray[Any]) -> float:
        """Return the largest absolute value."""
        return max(float(A.max(initial=0.0)), -float(A.min(initial=0.0)))

    def at(self, X: NDArray[Any], nodes: NDArray[Any]) -> NDArray[Any]:
        """Return the values of some nodes, wherever they are."""
        return np.asarray(X[nodes])

    def placed(self, nodes: NDArray[Any], values: Array) -> Array:
        """Return node values that are 0 but for some nodes."""
        X = np.zeros((self.rows, *values.shape[1:]))
        X[nodes] = values
        return X

    @cached_property
    def usual_degree(self) -> float:
        """The median of the degrees."""
        return float(np.median(self.d))

    @cached_property
    def volume(self) -> float:
        """The sum of the degrees."""
        return float(self.d.sum())

    def available(self) -> float:
        """Return the bytes that can still be taken here."""
        return available()

    def __repr__(self) -> str:
        kind = "dense" if isinstance(self._whole, np.ndarray) else "sparse"
        return f"Graph(n={self.n}, {kind})"

    def __getstate__(self) -> dict[str, Any]:
        return {"W": self.W}  # never what is outside of a piece

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._build(state["W"])


def _stored(W: Weights) -> Weights:
    """Return weights known by products as a matrix, if they are of a small graph."""
    if isinstance(W, Operator) and W.shape[0] <= SMALL:
        return W @ np.eye(W.shape[0])
    return W


def per_graph(function: Callable[..., _Result]) -> Callable[..., _Result]:
    """Remember ``function(graph, *args)`` on the graph: a Graph never changes."""

    @wraps(function)
    def remembered(graph: Graph, /, *args: Any) -> _Result:
        key = f"{function.__name__}{args}"
        if key not in graph._memo:
            graph._memo[key] = function(graph, *args)
        value: _Result = graph._memo[key]
        return value

    return remembered


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

"""Eigenpairs of the Laplacian: lambda_1, the first few, or all of a small graph.

Eigenvectors of tiny eigenvalues are settled by a Rayleigh-Ritz step on differences along edges
(`Graph.dirichlet`), so that lambda_1 has relative accuracy even where it is far below rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from robustgc.graph import SMALL, Array, Graph, per_graph
from robustgc.solve import Apply, NotConvergedError, factorised

KINDS = ("normalized", "combinatorial")
_EPS = np.finfo(float).eps
_SEED = 20180521  # start vectors: random, so that no symmetry of the graph can hide v1


@dataclass(frozen=True)
class Spectrum:
    """Eigenpairs in ascending order, the trivial one first.

    Attributes
    ----------
    values : ndarray, shape (k,)
        ``lambda_0 = 0, lambda_1, ...``
    vectors : ndarray, shape (N, k)
        Orthonormal columns ``v_0, v_1, ...``
    residual : float
        Largest ``|L v - lambda v| / |L|`` over the pairs.
    """

    values: Array
    vectors: Array
    residual: float


def lambda_1(graph: Graph) -> float:
    """Return the smallest non-trivial eigenvalue of ``L_N``, the bound on gamma in Theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> from robustgc import Graph, lambda_1
    >>> round(lambda_1(Graph(np.ones((6, 6)) - np.eye(6))), 12)
    1.2
    """
    return float(eigenpairs(graph, 2).values[1])


@per_graph
def full_spectrum(graph: Graph, kind: str = "normalized") -> Spectrum:
    """Return all eigenpairs by one dense decomposition: N^3 work, N^2 memory.

    Lemma 1 of the paper. Any number of parameters and label sets can be answered from it.

    Examples
    --------
    >>> from robustgc import Graph, full_spectrum
    >>> full_spectrum(Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]])).values
    array([0., 1., 2.])
    """
    u0, top = _null_vector(graph, kind)
    L = graph.laplacian(kind)
    M = L if isinstance(L, np.ndarray) else L.toarray()
    # Lift the trivial pair above all others instead of sorting it out afterwards: eigenvalues
    # near 0 would mix with it, and at 2 (bipartite graphs) they would with the usual 2 v0 v0'.
    values, vectors = np.linalg.eigh(M + 1.5 * top * np.outer(u0, u0))
    return _assembled(graph, kind, values[:-1], vectors[:, :-1])


def eigenpairs(graph: Graph, k: int, kind: str = "normalized") -> Spectrum:
    """Return the first k eigenpairs, the trivial one included.

    Small graphs: from the full decomposition. Larger ones: Lanczos on the Laplacian; where that
    stalls, Lanczos on its pseudo-inverse through one factorisation.

    Raises
    ------
    NotConvergedError
        Neither converged; the text says how far each got.
    """
    if kind not in KINDS:
        raise ValueError(f"laplacian={kind!r} is unknown; it must be one of {', '.join(KINDS)}.")
    if not 1 <= k <= graph.n:
        raise ValueError(
            f"{k} eigenvectors were asked of a graph of {graph.n} nodes; it has {graph.n}. "
            f"Ask for 1 to {graph.n}."
        )
    if graph.n <= SMALL or 2 * k > graph.n:
        full = full_spectrum(graph, kind)
        return Spectrum(full.values[:k], full.vectors[:, :k], full.residual)
    return _lanczos(graph, k, kind)


@per_graph
def _lanczos(graph: Graph, k: int, kind: str) -> Spectrum:
    """Run the ladder: plain Lanczos, then Lanczos on the pseudo-inverse; check at the end."""
    u0, top = _null_vector(graph, kind)
    if k == 1:
        return _assembled(graph, kind, np.empty(0), np.empty((graph.n, 0)))
    L = graph.laplacian(kind)
    keep = np.delete(np.arange(graph.n), int(np.argmax(graph.d)))

    def project(x: Array) -> Array:
        return np.asarray(x - u0 * np.einsum("i,i", u0, x))

    def flipped(x: Array) -> Array:  # smallest becomes largest, the trivial pair goes to -top
        return np.asarray(top * x - L @ x - (2 * top * np.einsum("i,i", u0, x)) * u0)

    def inverted() -> LinearOperator:
        solve = factorised(L[keep][:, keep])

        def apply(x: Array) -> Array:
            y = np.zeros_like(x)
            y[keep] = solve(project(x)[keep])
            return project(y)

        return LinearOperator((graph.n, graph.n), matvec=apply, dtype=float)

    rungs: list[tuple[str, Callable[[], LinearOperator], int]] = [
        ("Lanczos", lambda: LinearOperator(L.shape, matvec=flipped, dtype=float), 30),
        ("Lanczos on the factorised pseudo-inverse", inverted, 300),
    ]
    tried = []
    for name, operator, restarts in rungs:
        try:
            vectors = _largest(operator(), k - 1, restarts, project)
        except (ArpackNoConvergence, MemoryError, RuntimeError, np.linalg.LinAlgError) as failure:
            tried.append(f"{name}: {str(failure) or 'the factors do not fit in memory'}")
            continue
        values = np.einsum("ij,ij->j", vectors, L @ vectors)
        result = _assembled(graph, kind, values, vectors)
        # An eigenvalue lies within the residual of each Ritz value.
        if result.residual * top <= max(1e-6 * result.values[1], 100 * _EPS * top):
            return result
        tried.append(f"{name}: residual {result.residual:.1e}, lambda_1 {result.values[1]:.3e}")
    raise NotConvergedError(
        f"The first {k} eigenpairs of a graph of {graph.n} nodes did not converge. Tried "
        f"{'; '.join(tried)}."
    )


def _largest(operator: LinearOperator, k: int, restarts: int, project: Apply) -> Array:
    """Return the k dominant eigenvectors of an operator, orthonormal and off the trivial one."""
    rng = np.random.default_rng(_SEED)

    def run(k: int, V: Array) -> tuple[Array, Array]:
        def apply(x: Array) -> Array:
            y = operator.matvec(x - V @ (V.T @ x))
            return np.asarray(y - V @ (V.T @ y))

        values, vectors = eigsh(
            LinearOperator(operator.shape, matvec=apply, dtype=float) if V.size else operator,
            k=k,
            which="LA",
            v0=rng.standard_normal(operator.shape[0]),
            ncv=max(40, 2 * k + 1),
            maxiter=restarts,
            tol=1e-11,
        )
        clean = np.column_stack([project(v) for v in vectors.T[::-1]])
        return values[::-1], np.linalg.qr(clean)[0]

    values, V = run(k, np.empty((operator.shape[0], 0)))
    # One start vector shows one direction of a repeated eigenvalue. Look for more on the
    # complement of what was found, until nothing there beats the last value kept.
    while k > 1:
        more, extra = run(1, V)
        if more[0] <= values[-1] + 1e-9 * abs(values[0] - values[-1]):
            break
        order = np.argsort(-np.append(values, more[0]), kind="stable")[:k]
        values, V = np.append(values, more[0])[order], np.column_stack([V, extra])[:, order]
    return V


def _null_vector(graph: Graph, kind: str) -> tuple[Array, float]:
    """Return the trivial eigenvector and a bound on the largest eigenvalue."""
    if kind == "normalized":
        return graph.v0, 2.0
    return np.full(graph.n, graph.n**-0.5), 2.0 * float(graph.d.max())


def _assembled(graph: Graph, kind: str, values: Array, vectors: Array) -> Spectrum:
    """Refine the small eigenpairs, put the trivial one in front, measure the residual."""
    u0, top = _null_vector(graph, kind)
    scale = graph._sqrt_d if kind == "normalized" else np.ones(graph.n)
    values, vectors = _refined(graph, scale, values, vectors, 1e-3 * top)
    L = graph.laplacian(kind)
    residuals = np.linalg.norm(L @ vectors - vectors * values, axis=0) / top
    return Spectrum(
        np.concatenate([[0.0], values]),
        np.column_stack([u0, vectors]),
        float(residuals.max(initial=0.0)),
    )


def _refined(graph: Graph, scale: Array, values: Array, vectors: Array, below: float) -> tuple[
    Array, Array
]:  # fmt: skip
    """Settle the eigenpairs below a level by Rayleigh-Ritz on edge differences, level by level.

    A dense decomposition leaves an error of eps |L| in every eigenvalue and mixes eigenvectors
    closer than that. On edge differences the error is relative to the level, so each pass
    resolves eight more digits, down to the square of rounding.
    """
    few = min(int((values < below).sum()), 64)
    if few == 0 or below < 1e-28:
        return values, vectors
    Q = vectors[:, :few]
    ritz, rotation = sla.eigh(graph.dirichlet(Q / scale[:, None]))
    values, vectors = values.copy(), vectors.copy()
    values[:few], vectors[:, :few] = ritz, Q @ rotation
    return _refined(graph, scale, values, vectors, below * 1e-8)

"""Eigenpairs of the Laplacian: lambda_1, the first few, or all of a small graph.

Eigenvectors of tiny eigenvalues are settled by a Rayleigh-Ritz step on differences along edges
(`Graph.dirichlet`), so that lambda_1 has relative accuracy even where it is far below rounding.
"""

from contextlib import nullcontext
from functools import cached_property
from numbers import Integral

import numpy as np
import scipy.linalg as sla
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from robustgc.graph import threads
from robustgc.graph.alerts import ResidualWarning, warn
from robustgc.graph.graph import KINDS, SMALL, Graph, per_graph
from robustgc.graph.quoting import check_choice, quoted
from robustgc.graph.weights import Array, Weights
from robustgc.linalg.cg import regularised_inverse
from robustgc.linalg.eigenpairs import MOST_TINY, SEED, TINY, UNRESOLVED, Eigenpairs
from robustgc.linalg.multigrid import first_pairs
from robustgc.linalg.solution import FAILURES, Apply, NotConvergedError

_RESTARTS = 30  # of plain Lanczos: a probe, not a siege


class Spectrum(Eigenpairs):
    """Eigenpairs in ascending order, the trivial one first; the arrays are read-only.

    Attributes
    ----------
    values : ndarray, shape (k,)
        ``lambda_0 = 0, lambda_1, ...``
    vectors : ndarray, shape (N, k)
        Orthonormal columns ``v_0, v_1, ...``
    residual : float
        Largest ``|L v - lambda v|`` over the pairs, relative to the largest eigenvalue.
    """

    def nontrivial(self) -> Eigenpairs:
        """Return all pairs but the trivial one."""
        return Eigenpairs(self.values[1:], self.vectors[:, 1:])


def full_spectrum(graph: Graph, kind: str = "normalized") -> Spectrum:
    """Return all eigenpairs by one dense decomposition: N^3 work, N^2 memory.

    Lemma 1 of the paper. Any number of parameters and label sets can be answered from it; it is
    kept on the graph.

    Examples
    --------
    >>> from robustgc import Graph, full_spectrum
    >>> full_spectrum(Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]])).values
    array([0., 1., 2.])
    """
    check_choice("laplacian", kind, KINDS)
    return _full_spectrum(graph, kind)


def eigenpairs(graph: Graph, k: int, kind: str = "normalized") -> Spectrum:
    """Return the first k eigenpairs, the trivial one included.

    Small graphs: from the full decomposition. Larger ones: Lanczos; where that stalls, multigrid;
    for tiny eigenvalues, block inverse iteration through one factorisation.

    Raises
    ------
    NotConvergedError
        Neither converged; the text says how far each got.
    """
    check_choice("laplacian", kind, KINDS)
    if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= graph.n:
        raise ValueError(
            f"{quoted(k)} eigenvectors were asked of a graph of {graph.n} nodes; it has {graph.n}. "
            f"Ask for 1 to {graph.n}."
        )
    if graph.n <= SMALL or 8 * k > graph.n:
        return full_spectrum(graph, kind).first(k)
    if graph.n <= 2 * SMALL and 10 * graph.entries > graph.n**2:
        # Factors of a matrix that is nearly full take longer than all of its eigenvalues.
        found = _decomposed(graph, kind)
        if not _unresolved(found.values):
            return found.first(k)
    return _iterated(graph, max(k, 2), kind).first(k)


def tiny_modes(graph: Graph) -> Spectrum:
    """Return the eigenpairs of ``L_N`` that count as tiny, the trivial one always among them."""
    below = TINY * _Matrix(graph, "normalized").top
    known = full_spectrum(graph) if graph.n <= SMALL else _iterated(graph, 2, "normalized")
    return known.first(max(1, min(int((known.values < below).sum()), MOST_TINY)))


class _Matrix:
    """A Laplacian, what divides its nodes, its trivial eigenvector, a bound on its eigenvalues.

    The bound is Gershgorin's: it is far below 2 where self-loops are heavy.
    """

    def __init__(self, graph: Graph, kind: str) -> None:
        self.graph, self.kind = graph, kind
        if kind == "normalized":
            self.scale, self.u0 = graph._sqrt_d, graph.v0
            self.top = 2.0 * float((graph._o / graph.d).max())
        else:
            self.scale, self.u0 = np.ones(graph.n), np.full(graph.n, graph.n**-0.5)
            self.top = 2.0 * float(graph._o.max())

    @cached_property
    def L(self) -> Weights:
        """The matrix itself."""
        return self.graph.laplacian(self.kind)

    def by_edges(self, Q: Array) -> Array:
        """Return the quadratic form of L on columns, accurate where it is tiny."""
        return self.graph.dirichlet(Q / self.scale[:, None])

    def assembled(self, vectors: Array, values: Array | None = None) -> Spectrum:
        """Refine the small eigenpairs, put the trivial one in front, measure the residual."""
        if values is None:
            values = np.einsum("ij,ij->j", vectors, self.L @ vectors)
        order = np.argsort(values, kind="stable")
        values, vectors = self._refined(values[order], vectors[:, order], 1e-3 * self.top)
        rest = (self.L @ vectors - vectors * values) / self.top
        spectrum = Spectrum(
            np.concatenate([[0.0], np.maximum(values, 0.0)]),  # none is below 0: that is rounding
            np.column_stack([self.u0, vectors]),
            float(np.linalg.norm(rest, axis=0).max(initial=0.0)),
        )
        spectrum.values.flags.writeable = spectrum.vectors.flags.writeable = False
        return spectrum

    def _refined(self, values: Array, vectors: Array, below: float) -> tuple[Array, Array]:
        """Settle the eigenpairs below a level by Rayleigh-Ritz on edge differences, level by level.

        A dense decomposition leaves an error of eps |L| in every eigenvalue and mixes eigenvectors
        closer than that. On edge differences the error is relative to the level, so each pass
        resolves eight more digits, down to the square of rounding.
        """
        few = int((values < below).sum())
        if few == 0 or below < 1e-26 * values.max(initial=0.0):
            return values, vectors
        W, n = self.graph.W, self.graph.n
        edges = n**2 / 2 if isinstance(W, np.ndarray) else W.nnz / 2
        if edges * few**2 < 2e10:  # a few seconds; a level of so many pairs is not worth more
            Q = vectors[:, :few]
            ritz, rotation = sla.eigh(self.by_edges(Q))
            values, vectors = values.copy(), vectors.copy()
            values[:few], vectors[:, :few] = ritz, Q @ rotation
        return self._refined(values, vectors, below * 1e-8)

    def relative_residual(self, found: Spectrum, k: int) -> float:
        """Return ``|L v - lambda v| / lambda`` over the first pairs, less what rounding leaves."""
        V, values = found.vectors[:, 1:k], found.values[1:k]
        rest = np.linalg.norm((self.L @ V - V * values) / self.top, axis=0)
        unavoidable = 200 * np.finfo(float).eps
        return float((np.maximum(rest - unavoidable, 0) / (values / self.top)).max(initial=0.0))


@per_graph
def _decomposed(graph: Graph, kind: str) -> Spectrum:
    matrix = _Matrix(graph, kind)
    M = matrix.L if isinstance(matrix.L, np.ndarray) else matrix.L.toarray()
    # Lift the trivial pair above all others instead of sorting it out afterwards: eigenvalues
    # near 0 would mix with it, and at 2 (bipartite graphs) they would with the usual 2 v0 v0'.
    # On so few nodes threads gain nothing; beside another program they take ten times as long.
    with threads.single_blas if graph.n <= SMALL else nullcontext():
        values, vectors = _eigh(M + 1.5 * matrix.top * np.outer(matrix.u0, matrix.u0))
    return matrix.assembled(vectors[:, :-1], values[:-1])


def _eigh(A: Array) -> tuple[Array, Array]:
    """Return all eigenpairs; divide and conquer fails on a few matrices of all sizes of entries."""
    try:
        values, vectors = np.linalg.eigh(A)
    except np.linalg.LinAlgError:
        values, vectors = sla.eigh(A, driver="ev")  # the QR algorithm
    return values, vectors


@per_graph
def _full_spectrum(graph: Graph, kind: str) -> Spectrum:
    """Return all eigenpairs; warn once where lambda_1 is not resolved."""
    found = _decomposed(graph, kind)
    if _unresolved(found.values):
        warn(
            f"lambda_1 = {found.values[1]:.1e} is below what double precision resolves, about "
            f"{UNRESOLVED * found.values[-1]:.0e}: parts of the graph hang together by next to "
            "nothing, and the size of decision values means little there. Remove the weakest "
            "links, so that these parts are answered by themselves.",
            ResidualWarning,
        )
    return found


def _unresolved(values: Array) -> bool:
    """Return whether lambda_1 is below the square of rounding, which is all that edges resolve."""
    return bool(values[1] < UNRESOLVED * values[-1])


@per_graph
def _iterated(graph: Graph, k: int, kind: str) -> Spectrum:
    """Return k or more pairs, with all that are tiny among them, up to a limit."""
    matrix = _Matrix(graph, kind)
    ways = {"Lanczos": _by_lanczos, "multigrid": _by_multigrid, "inverse iteration": _by_inverses}
    if kind != "normalized" or not graph.is_sparse:
        del ways["multigrid"]
    tried = []
    for name, search in ways.items():
        try:
            return search(matrix, k)
        except FAILURES as failure:
            tried.append(f"{name}: {str(failure) or 'its vectors or factors do not fit in memory'}")
    raise NotConvergedError(
        f"The first {k} eigenpairs of a graph of {graph.n} nodes did not converge. Tried "
        f"{'; '.join(tried)}."
    )


def _by_lanczos(matrix: _Matrix, k: int) -> Spectrum:
    try:
        found = matrix.assembled(_lanczos(matrix, k - 1))
    except ArpackError as failure:
        raise NotConvergedError(str(failure)) from failure
    lambda_1, top = found.values[1], matrix.top
    if not (lambda_1 >= TINY * top and found.residual <= 1e-8 * lambda_1 / top):
        raise NotConvergedError(f"lambda_1 {lambda_1:.1e}, residual {found.residual:.1e}")
    return found


def _by_multigrid(matrix: _Matrix, k: int) -> Spectrum:
    modes = first_pairs(matrix.graph, 1e-8, k - 1).first(k - 1)
    found = matrix.assembled(modes.vectors, modes.values)
    residual = matrix.relative_residual(found, k)
    if found.values[1] < TINY * matrix.top or residual > 1e-6:
        raise NotConvergedError(f"lambda_1 {found.values[1]:.1e}, residual {residual:.1e}")
    return found


def _by_inverses(matrix: _Matrix, k: int) -> Spectrum:
    inverse, wanted = regularised_inverse(matrix.graph, matrix.kind), max(k, 8)
    while True:
        found = matrix.assembled(_inverse_iteration(matrix, wanted, inverse, k)).first(wanted)
        if found.values[-1] > TINY * matrix.top or wanted > MOST_TINY:
            break
        wanted *= 2
    residual = matrix.relative_residual(found, k)
    if not residual <= 1e-6:
        raise NotConvergedError(f"residual {residual:.1e} of lambda")
    return found


def _lanczos(matrix: _Matrix, k: int) -> Array:
    """Return the k lowest eigenvectors of a Laplacian after the trivial one, by ARPACK.

    Right for well-separated spectra (random graphs, social networks); ArpackError where it stalls.
    """
    rng, L, u0, top = np.random.default_rng(SEED), matrix.L, matrix.u0, matrix.top

    def run(k: int, V: Array) -> tuple[Array, Array]:
        def flipped(x: Array) -> Array:  # smallest becomes largest; u0 and V go to the bottom
            low = 2 * top * (V @ (V.T @ x) + np.einsum("i,i", u0, x) * u0)
            return np.asarray(top * x - L @ x - low)

        values, vectors = eigsh(
            LinearOperator(L.shape, matvec=flipped, dtype=float),
            k=k,
            which="LA",
            v0=rng.standard_normal(L.shape[0]),
            ncv=max(40, 2 * k + 1),
            maxiter=_RESTARTS,
            tol=1e-11,
        )
        return values[::-1], vectors[:, ::-1]

    values, V = run(k, np.empty((L.shape[0], 0)))
    # One start vector shows one direction of a repeated eigenvalue. Look for more on the
    # complement of what was found, until nothing there beats the last value kept.
    while k > 1:
        more, extra = run(1, V)
        if more[0] <= values[-1] + 1e-9 * abs(values[0] - values[-1]):
            break
        order = np.argsort(-np.append(values, more[0]), kind="stable")[:k]
        values, V = np.append(values, more[0])[order], np.column_stack([V, extra])[:, order]
    return np.asarray(V)


def _inverse_iteration(matrix: _Matrix, k: int, inverse: Apply, needed: int) -> Array:
    """Return k or more of the lowest eigenvectors by a restarted block Krylov space.

    Those that are needed converge, and all whose values are tiny. Blocks see all directions of
    repeated and of indistinguishably small eigenvalues, which a single vector does not. Each cycle
    keeps the best combination of ``X, T X, T^2 X`` with the inverse T.
    """
    rng, L, u0, top = np.random.default_rng(SEED), matrix.L, matrix.u0, matrix.top
    X = _orthonormal(rng.standard_normal((L.shape[0], min(k + 4, L.shape[0] // 4))), u0)
    best = np.inf
    for cycle in range(60):
        blocks = [X]
        for _ in range(2):
            blocks.append(_orthonormal(inverse(blocks[-1]), u0))
        Q = _orthonormal(np.column_stack(blocks), u0)
        X = Q @ np.linalg.eigh(matrix.by_edges(Q))[1][:, : X.shape[1]]
        image = L @ X[:, :k]
        values = np.einsum("ij,ij->j", X[:, :k], image)
        rest = np.linalg.norm((image - X[:, :k] * values) / top, axis=0)
        # The pairs that are asked for and all tiny ones; those after them need only be clear of 0.
        counted = np.arange(k) < needed
        counted |= values - rest * top < TINY * top
        residual = rest[counted].max()
        if residual < 1e-14 or (residual < 1e-10 and residual > 0.5 * best and cycle > 2):
            break
        best = min(best, residual)
    return X


def _orthonormal(X: Array, u0: Array) -> Array:
    """Orthonormalise columns of any scale, off the trivial vector; twice is enough."""
    for _ in range(2):
        X = X - np.outer(u0, u0 @ X)
        X = np.linalg.qr(X / np.linalg.norm(X, axis=0))[0]
    return np.asarray(X)

"""Eigenvectors of large Laplacians: Lanczos where it converges, inverse iteration where not."""

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from robustgc.graph.weights import Array, Weights
from robustgc.linalg.solution import Apply

_SEED = 20180521  # start vectors: random, so that no symmetry of the graph can hide v1
_RESTARTS = 30  # of plain Lanczos: a probe, not a siege


def lanczos(L: Weights, u0: Array, top: float, k: int) -> Array:
    """Return the k lowest eigenvectors of a Laplacian after the trivial one, by ARPACK.

    Right for well-separated spectra (random graphs, social networks); ArpackError where it stalls.
    """
    rng = np.random.default_rng(_SEED)

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


def inverse_iteration(
    L: Weights,
    u0: Array,
    top: float,
    k: int,
    inverse: Apply,
    ritz: Callable[[Array], Array],
    *,
    needed: int,
    tiny: float,
) -> Array:
    """Return k or more of the lowest eigenvectors by a restarted block Krylov space.

    Parameters
    ----------
    L, u0, top
        The Laplacian, its trivial eigenvector, a bound on its largest eigenvalue.
    k : int
        How many vectors to iterate.
    needed : int
        How many of them must converge; beside them all whose values are below ``tiny * top``.
    inverse : callable
        Apply ``(L + a little)^-1`` to a block of columns.
    ritz : callable
        Quadratic form of the Laplacian on a block of columns, accurate where it is tiny.

    Notes
    -----
    Blocks see all directions of repeated and of indistinguishably small eigenvalues, which a
    single vector does not. Each cycle keeps the best combination of ``X, T X, T^2 X``.
    """
    rng = np.random.default_rng(_SEED)
    X = _orthonormal(rng.standard_normal((L.shape[0], min(k + 4, L.shape[0] // 4))), u0)
    best = np.inf
    for cycle in range(60):
        blocks = [X]
        for _ in range(2):
            blocks.append(_orthonormal(inverse(blocks[-1]), u0))
        Q = _orthonormal(np.column_stack(blocks), u0)
        X = Q @ np.linalg.eigh(ritz(Q))[1][:, : X.shape[1]]
        image = L @ X[:, :k]
        values = np.einsum("ij,ij->j", X[:, :k], image)
        rest = np.linalg.norm((image - X[:, :k] * values) / top, axis=0)
        # The pairs that are asked for and all tiny ones; those after them need only be clear of 0.
        counted = np.arange(k) < needed
        counted |= values - rest * top < tiny * top
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


FAILURES = (ArpackError, MemoryError, RuntimeError, np.linalg.LinAlgError)

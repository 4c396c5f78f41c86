"""Points: clusters, duplicates, huge coordinates, constant columns, and illegal ones."""

import numpy as np
import pandas as pd
import scipy.sparse as sp

from tests.fuzz.draw import chance, exponents, pick, reach, size


def _normal(rng, n, d):
    return rng.normal(size=(n, d))


def _clusters(rng, n, d):
    return rng.normal(size=(n, d)) + 9 * rng.integers(0, 3, n)[:, None]


def _duplicates(rng, n, d):
    return rng.normal(size=(n, d))[rng.integers(0, max(1, n // 4), n)]


def _one_place(rng, n, d):
    return np.full((n, d), pick(rng, 0.0, 1.0, -1e300))


def _line(rng, n, d):
    return np.arange(n * d, dtype=float).reshape(n, d)


def _extreme(rng, n, d):
    return rng.choice([-1.0, 1.0], (n, d)) * exponents(rng, (n, d), reach(rng))


def _binary(rng, n, d):
    return rng.integers(0, 2, (n, d)).astype(float)


def kernel(A, B):
    """Return a kernel of one's own."""
    A, B = (part.toarray() if sp.issparse(part) else part for part in (A, B))
    return 1.0 / (1.0 + np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2))


KINDS = [_normal, _clusters, _duplicates, _one_place, _line, _extreme, _binary]


def points(rng):
    """Return finite points, a row each."""
    n, d = size(rng), pick(rng, 1, 2, 2, 3, 10)
    X = pick(rng, *KINDS)(rng, n, d)
    if chance(rng, 0.2):
        X[:, rng.integers(d)] = pick(rng, 0.0, 7.0, 1e200)
    if chance(rng, 0.15):
        X = X / max(1.0, np.abs(X).max()) * pick(rng, 1e-300, 1e-150, 1e-8, 1e8, 1e150, 1e300)
    if chance(rng, 0.1):
        X = X + pick(rng, 1e8, 1e15, -1e300)
    return X


def _with(value):
    def damage(rng, X):
        X = X.copy()
        X[rng.integers(len(X)), rng.integers(X.shape[1])] = value
        return X

    return damage


ILLEGAL = [
    _with(np.nan), _with(np.inf), _with(-np.inf),
    lambda rng, X: X[:, :0],
    lambda rng, X: X[:1],
    lambda rng, X: X[:0],
    lambda rng, X: X[0],
    lambda rng, X: X[None],
    lambda rng, X: X.astype(complex),
    lambda rng, X: pick(rng, X.astype(str), [["a", "b"]] * len(X)),
    lambda rng, X: pick(rng, None, "points.csv", 3.5, [], {}, [[1], [2, 3]], object()),
]  # fmt: skip
CONTAINERS = [
    np.asarray, np.asarray, np.asarray, np.asfortranarray, np.ndarray.tolist, np.matrix,
    sp.csr_array, sp.csc_matrix, sp.coo_array, pd.DataFrame,
]  # fmt: skip


def contained(rng, X):
    if np.abs(X).max(initial=0.0) < 1e30 and chance(rng, 0.1):
        X = X.astype(pick(rng, np.float32, np.int64))
    return pick(rng, *CONTAINERS)(X)

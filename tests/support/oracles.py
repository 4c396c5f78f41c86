"""The paper's formulas, dense, as printed: slow, obvious, and independent of the library."""

from fractions import Fraction

import numpy as np


def laplacian(W):
    """L_N = I - D^-1/2 W D^-1/2 with self-loops in the degree."""
    d = W.sum(axis=1)
    return np.eye(len(W)) - W / np.sqrt(d)[:, None] / np.sqrt(d)[None, :]


def null_vector(W):
    root = np.sqrt(W.sum(axis=1))
    return root / np.linalg.norm(root)


def projector(W):
    v0 = null_vector(W)
    return np.eye(len(W)) - np.outer(v0, v0)


def lambda_1(W):
    return np.sort(np.linalg.eigvalsh(laplacian(W)))[1]


def robust(W, y, gamma):
    """Theorem 1: (L_N / gamma - I)^-1 P0 y."""
    return np.linalg.inv(laplacian(W) / gamma - np.eye(len(W))) @ (projector(W) @ y)


def zhou(W, y, gamma):
    return gamma * np.linalg.inv(laplacian(W) + gamma * np.eye(len(W))) @ y


def belkin(W, y, p, kind="normalized"):
    """Least squares on the first p eigenvectors, by the pseudo-inverse."""
    L = laplacian(W) if kind == "normalized" else np.diag(W.sum(axis=1)) - W
    V = np.linalg.eigh(L)[1][:, :p]
    labelled = y != 0
    return V @ (np.linalg.pinv(V[labelled]) @ y[labelled])


def extend(W, f, k_x, k_xx, gamma):
    """Equation (oosextension), one new point at a time; None where d_x is too small."""
    d, d_x = W.sum(axis=1), k_x.sum()
    if gamma >= 1 or not d_x > k_xx / (1 - gamma):
        return None
    return (k_x / np.sqrt(d_x * d) @ f) / (1 - gamma - k_xx / d_x)


def objective(W, y, gamma, f):
    return f @ laplacian(W) @ f / 2 - gamma / 2 * np.sum((f + y) ** 2)


def condition_number(W, gamma):
    """Of L_N / gamma - I on the complement of v0."""
    values = np.sort(np.linalg.eigvalsh(laplacian(W)))[1:] / gamma - 1
    return np.abs(values).max() / np.abs(values).min()


def harmonic(W, y):
    """L_uu f_u = -L_ul y_l with L = D - W."""
    L, u, f = np.diag(W.sum(axis=1)) - W, y == 0, y.astype(float)
    f[u] = np.linalg.solve(L[np.ix_(u, u)], -L[np.ix_(u, ~u)] @ y[~u])
    return f


def harmonic_exactly(W, y):
    """Return the same in rational numbers, by elimination with the first pivot that is not 0."""
    u = [i for i in range(len(W)) if y[i] == 0]
    A = [[Fraction(W[i][j]) * (i != j) for j in range(len(W))] for i in range(len(W))]
    rows = [
        [sum(A[i]) if i == j else -A[i][j] for j in u]
        + [sum(A[i][j] * Fraction(y[j]) for j in range(len(W)))]
        for i in u
    ]
    for k in range(len(u)):
        pivot = next(i for i in range(k, len(u)) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(len(u)):
            if i != k:
                factor = rows[i][k]
                rows[i] = [x - factor * z for x, z in zip(rows[i], rows[k], strict=True)]
    f = np.array(y, dtype=float)
    f[u] = [float(row[-1]) for row in rows]
    return f


def poisson(W, y):
    """The pseudo-inverse of L_N on P0 y; what rounding puts along v0 is taken out again.

    As (L_N + v0 v0')^-1, the same off v0: a pseudo-inverse may take the rounding of 0 for an
    eigenvalue.
    """
    P, v0 = projector(W), null_vector(W)
    return P @ np.linalg.solve(laplacian(W) + np.outer(v0, v0), P @ y)

"""Weight matrices: ordinary, extreme and illegal ones, in every container."""

import numpy as np
import scipy.sparse as sp

from robustgc import CSR
from tests.fuzz.draw import chance, exponents, pick, reach, size, symmetric


def _random(rng, n):
    W = np.where(rng.random((n, n)) < rng.uniform(0.02, 0.6), 1.0, 0.0)
    return W * exponents(rng, (n, n), reach(rng))


def _tree(rng, n):
    W = np.zeros((n, n))
    for i in range(1, n):
        W[i, rng.integers(i)] = exponents(rng, None, reach(rng))
    return W


def _path(rng, n):
    return np.diag(exponents(rng, n - 1, reach(rng)), -1)


def _hub(rng, n):
    W = np.zeros((n, n))
    W[1:, 0] = exponents(rng, n - 1, reach(rng))
    return W + _random(rng, n) * pick(rng, 0.0, 1.0)


def _clusters(rng, n):
    """Cliques joined by links that are faint, down to nothing."""
    group = rng.integers(0, pick(rng, 2, 3, 5), n)
    W = (group[:, None] == group).astype(float)
    ties = rng.random((n, n)) < 2 / n
    faint = pick(rng, 1e-6, 1e-13, 1e-20, 1e-24, 1e-30, 1e-100, 1e-300)
    return np.where(W > 0, W, ties * faint * exponents(rng, (n, n), 1)) * pick(rng, 1.0, 1e9, 1e60)


def _heavy(rng, n):
    """One edge that outweighs all others."""
    W = _random(rng, n)
    W[n - 1, rng.integers(n)] = pick(rng, 1e12, 1e60, 1e200, 1e300)
    return W


def _alike(rng, n):
    return np.ones((n, n)) * pick(rng, 1.0, 5e-324, 1e-310, 1e-200, 1e200, 1e305)


def _grid(rng, n):
    side = max(2, int(np.sqrt(n)))
    line = np.diag(np.ones(side - 1), -1)
    return np.kron(np.eye(side), line) + np.kron(line, np.eye(side))


def _bipartite(rng, n):
    side = np.arange(n) < n // 2 + 1
    return np.where(side[:, None] != side, _random(rng, n), 0.0)


def _empty(rng, n):
    return np.zeros((n, n))


# Add a kind here: from a generator and a number of nodes to the lower half of a matrix.
KINDS = {
    "random": _random, "tree": _tree, "path": _path, "hub": _hub, "clusters": _clusters,
    "clusters again": _clusters, "heavy": _heavy, "alike": _alike, "grid": _grid,
    "bipartite": _bipartite, "empty": _empty,
}  # fmt: skip


def weights(rng):
    """Return a symmetric matrix of weights of 0 or more, finite; it may be in pieces."""
    W = symmetric(pick(rng, *KINDS.values())(rng, size(rng)))
    n = len(W)
    if chance(rng, 0.3):
        np.fill_diagonal(W, 0.0)
    if chance(rng, 0.15):
        W[np.diag_indices(n)] = exponents(rng, n, reach(rng)) * (rng.random(n) < 0.5)
    if chance(rng, 0.15):  # isolated nodes
        gone = rng.random(n) < 0.2
        W[gone] = W[:, gone] = 0.0
    if chance(rng, 0.1):
        order = rng.permutation(n)
        W = W[order][:, order]
    return W


def _wrong_value(value):
    def damage(rng, W):
        W = W.copy()
        W[rng.integers(len(W)), rng.integers(len(W))] = value
        return W

    return damage


def _wrong_rows(rng, W):
    """CSR whose pointers or columns lead elsewhere."""
    good = sp.csr_array(W)
    indptr, indices = good.indptr.copy(), good.indices.copy()
    damaged = pick(rng, indptr, indices)
    if len(damaged):
        damaged[rng.integers(len(damaged))] = pick(rng, -1, 10**6, 2**31 - 1, -(2**31))
    return CSR(indptr, indices, pick(rng, None, good.data))


ILLEGAL = [
    _wrong_value(np.nan), _wrong_value(np.inf), _wrong_value(-1.0), _wrong_value(0.25),
    _wrong_rows,
    lambda rng, W: W[:-1],
    lambda rng, W: W[:0, :0],
    lambda rng, W: W[0],
    lambda rng, W: W[None],
    lambda rng, W: W.astype(complex),
    lambda rng, W: W.astype(str),
    lambda rng, W: W.astype(object),
    lambda rng, W: pick(rng, None, "graph.csv", 7, [], {}, [[1, 2], [3]], object()),
]  # fmt: skip


def _strided(W):
    return np.repeat(np.repeat(W, 2, axis=0), 2, axis=1)[::2, ::2]


def _read_only(W):
    W = W.copy()
    W.setflags(write=False)
    return W


def _csr(W):
    return CSR.from_scipy(sp.csr_array(W))


CONTAINERS = [
    np.asarray, np.asarray, np.asfortranarray, np.ndarray.tolist, np.matrix, _strided, _read_only,
    sp.csr_array, sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_array,
    sp.dok_array, sp.bsr_array, sp.dia_array, _csr, _csr,
]  # fmt: skip


def contained(rng, W):
    """Return a matrix in one of the containers that users have."""
    return pick(rng, *CONTAINERS)(W)

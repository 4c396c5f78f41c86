"""Random graphs and classic ones; hypothesis strategies for connected weighted graphs."""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

# Every container a user may hold a weight matrix in.
CONTAINERS = {
    "array": np.asarray,
    "list": lambda W: W.tolist(),
    **{
        f"{fmt}_{kind}": getattr(sp, f"{fmt}_{kind}")
        for fmt in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")
        for kind in ("array", "matrix")
    },
}


def random_weights(rng, n, *, density=0.3, loops=False, low=0.05):
    """Connected: a random tree plus random edges, weights in (low, 1]."""
    W = np.zeros((n, n))
    for i in range(1, n):
        W[i, rng.integers(i)] = rng.uniform(low, 1)
    extra = np.tril(rng.random((n, n)) < density, -1)
    W[extra] = rng.uniform(low, 1, extra.sum())
    W = W + W.T
    if loops:
        W[np.diag_indices(n)] = rng.uniform(0, 1, n) * (rng.random(n) < 0.5)
    return W


def random_labels(rng, n, share=0.4):
    """+1, -1, 0, with both classes present."""
    y = np.where(rng.random(n) < share, rng.choice([-1.0, 1.0], n), 0.0)
    i, j = rng.permutation(n)[:2]
    y[i], y[j] = 1.0, -1.0
    return y


def complete(n):
    return np.ones((n, n)) - np.eye(n)


def path(n, weights=None):
    w = np.ones(n - 1) if weights is None else np.asarray(weights, dtype=float)
    return sp.csr_array(sp.diags_array([w, w], offsets=[1, -1]))


def cycle(n):
    return np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0)


def cycle_sparse(n):
    nodes = np.arange(n)
    W = sp.coo_array((np.ones(n), (nodes, np.roll(nodes, 1))), shape=(n, n))
    return sp.csr_array(W + W.T)


def star(n):
    W = np.zeros((n, n))
    W[0, 1:] = W[1:, 0] = 1
    return W


def two_cliques(n, bridge):
    W = np.kron(np.eye(2), complete(n))
    W[n - 1, n] = W[n, n - 1] = bridge
    return W


def grid(rows, cols):
    across = sp.kron(sp.eye_array(rows), path(cols))
    return sp.csr_array(across + sp.kron(path(rows), sp.eye_array(cols)))


def block_model(rng, n, inside=18.0, across=2.0):
    """Two equal blocks with Poisson degrees, unit weights, isolated nodes tied to a neighbour."""
    half = n // 2
    m_in, m_out = int(n * inside / 2), int(n * across / 2)
    shift = rng.integers(0, 2, m_in) * half
    rows = np.concatenate([rng.integers(0, half, m_in) + shift, rng.integers(0, half, m_out)])
    cols = np.concatenate(
        [rng.integers(0, half, m_in) + shift, half + rng.integers(0, half, m_out)]
    )
    rows, cols = np.append(rows, np.arange(n - 1)[::7]), np.append(cols, np.arange(1, n)[::7])
    keep = rows != cols
    W = sp.coo_array((np.ones(keep.sum()), (rows[keep], cols[keep])), shape=(n, n)).tocsr()
    W = sp.csr_array(W + W.T)
    W.data[:] = 1.0
    return W


def block_labels(n, count, rng):
    y = np.zeros(n)
    nodes = rng.choice(n, count, replace=False)
    y[nodes] = np.where(nodes < n // 2, 1.0, -1.0)
    return y


def nodes_of_largest_piece(W):
    _, number = connected_components(W, directed=False)
    return np.flatnonzero(number == np.bincount(number).argmax())


def largest_piece(W):
    keep = nodes_of_largest_piece(W)
    return sp.csr_array(W[keep][:, keep])


def labelled_blocks(seed, n, count):
    """The largest piece of a two-block model with some labels, +1 and -1."""
    rng = np.random.default_rng(seed)
    W = largest_piece(block_model(rng, n))
    return W, block_labels(W.shape[0], count, rng)


@st.composite
def weighted_graphs(draw, min_nodes=2, max_nodes=12):
    """Connected weighted graphs, with and without self-loops."""
    n = draw(st.integers(min_nodes, max_nodes))
    weight = st.floats(0.05, 1.0)
    W = np.zeros((n, n))
    for i in range(1, n):
        W[i, draw(st.integers(0, i - 1))] = draw(weight)
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), weight)
    for i, j, w in draw(st.lists(pairs, max_size=2 * n)):
        W[max(i, j), min(i, j)] = w  # i == j is a self-loop
    return np.tril(W) + np.tril(W, -1).T


@st.composite
def labelled_graphs(draw, min_nodes=2, max_nodes=12):
    W = draw(weighted_graphs(min_nodes, max_nodes))
    n = len(W)
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=n, max_size=n)))
    i, j = draw(st.permutations(range(n)))[:2]
    y[i], y[j] = 1.0, -1.0
    return W, y


def wheel(n):
    """A hub and a rim: hundreds of eigenvalues crowd from 1/3 on."""
    rim = np.arange(1, n)
    i, j = np.append(np.zeros(n - 1, dtype=int), rim), np.append(rim, np.append(rim[1:], 1))
    W = sp.coo_array((np.ones(len(i)), (i, j)), shape=(n, n)).tocsr()
    return sp.csr_array(W + W.T)

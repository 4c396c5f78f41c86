"""Connected graphs of up to a million entries whose spectra are awkward, with 20 classes each."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import kneighbors_graph

SEED, K = 20_261, 20
Drawn: TypeAlias = tuple[Any, NDArray[np.int64]]


def largest(W: Any, y: NDArray[np.int64]) -> Drawn:
    piece = connected_components(W, directed=False)[1]
    keep = np.flatnonzero(piece == np.bincount(piece).argmax())
    return sp.csr_matrix(W)[keep][:, keep], y[keep]


def of_edges(n: int, i: Any, j: Any) -> Any:
    apart = i != j
    W = sp.coo_matrix((np.ones(apart.sum()), (i[apart], j[apart])), shape=(n, n)).tocsr()
    W = W + W.T
    W.data[:] = 1.0
    return sp.csr_matrix(W)


def weighted(W: Any, powers: float) -> Any:
    """Give every edge a weight of its own, over so many powers of ten."""
    upper = sp.triu(W, 1, format="csr")
    upper.data = 10 ** np.random.default_rng(SEED).uniform(-powers, 0, upper.nnz)
    return sp.csr_matrix(upper + upper.T)


def slabs(n: int) -> NDArray[np.int64]:
    return np.arange(n) * K // n


def _drawn(n: int) -> NDArray[np.int64]:
    return np.random.default_rng(SEED + 1).integers(0, K, n)


def below(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the first nodes of a tree classes in turn, and every other that of its parent."""
    y = np.arange(len(parent) + 1) % K
    for k in range(3 * K, len(y)):
        y[k] = y[parent[k - 1]]
    return y


def path(n: int, extra: int = 0, *, around: bool = False) -> Drawn:
    far = np.random.default_rng(SEED).integers(0, n, (2, extra))
    i = np.append(np.arange(n - 1), far[0])
    j = np.append(np.arange(1, n), far[1])
    if around:
        i, j = np.append(i, n - 1), np.append(j, 0)
    return of_edges(n, i, j), slabs(n)


def lattice(*shape: int, around: bool = False) -> Drawn:
    """Join neighbours of a lattice, with `around` also its ends; classes are slabs."""
    nodes, n = np.arange(np.prod(shape)).reshape(shape), int(np.prod(shape))
    i, j = [], []
    for axis, size in enumerate(shape):
        following = np.roll(nodes, -1, axis)
        inside = np.arange(size if around else size - 1)
        i.append(np.take(nodes, inside, axis).ravel())
        j.append(np.take(following, inside, axis).ravel())
    return of_edges(n, np.concatenate(i), np.concatenate(j)), slabs(n)


def neighbours(n: int, d: int) -> Drawn:
    rng = np.random.default_rng(SEED)
    c = rng.integers(0, K, n)
    X = 1.5 * rng.standard_normal((K, d))[c] + rng.standard_normal((n, d))
    near = kneighbors_graph(X, 8).tocoo()
    return largest(of_edges(n, near.row, near.col), c)


def clique(first: int, s: int) -> tuple[NDArray[Any], NDArray[Any]]:
    i, j = np.triu_indices(s, 1)
    return i + first, j + first


def cliques(m: int, s: int) -> Drawn:
    i, j = (np.add.outer(s * np.arange(m), ends).ravel() for ends in clique(0, s))
    ends = s * np.arange(1, m)
    return of_edges(m * s, np.append(i, ends - 1), np.append(j, ends)), slabs(m * s)


def lollipop(s: int, tail: int) -> Drawn:
    i, j = clique(0, s)
    k = np.arange(s - 1, s + tail - 1)
    return of_edges(s + tail, np.append(i, k), np.append(j, k + 1)), slabs(s + tail)


def barbell(s: int, between: int) -> Drawn:
    n = 2 * s + between
    (i, j), (k, m) = clique(0, s), clique(s + between, s)
    p = np.arange(s - 1, s + between)
    return of_edges(n, np.concatenate([i, k, p]), np.concatenate([j, m, p + 1])), slabs(n)


def star(n: int, loops: int = 0) -> Drawn:
    i, j = np.random.default_rng(SEED).integers(1, n, (2, loops))
    W = of_edges(n, np.append(np.zeros(n - 1, int), i), np.append(np.arange(1, n), j))
    return W, _drawn(n)


def double_star(n: int) -> Drawn:
    i = np.where(np.arange(2, n) < n // 2, 0, 1)
    W = of_edges(n, np.append(i, 0), np.append(np.arange(2, n), 1))
    return W, _drawn(n)


def wheel(n: int) -> Drawn:
    rim = np.arange(1, n)
    i = np.concatenate([np.zeros(n - 1, int), rim])
    return of_edges(n, i, np.concatenate([rim, np.append(rim[1:], 1)])), slabs(n)


def caterpillar(spine: int, legs: int) -> Drawn:
    n = spine * (legs + 1)
    i = np.append(np.arange(spine - 1), np.arange(spine, n) % spine)
    return of_edges(n, i, np.append(np.arange(1, spine), np.arange(spine, n))), slabs(spine)[
        np.arange(n) % spine
    ]


def binary_tree(n: int) -> Drawn:
    i = np.arange(1, n)
    return of_edges(n, (i - 1) // 2, i), below((i - 1) // 2)


def random_tree(n: int, extra: int = 0) -> Drawn:
    """Draw a tree with some edges more: they crowd the first modes."""
    rng = np.random.default_rng(SEED)
    parent = (rng.random(n - 1) * np.arange(1, n)).astype(int)
    i, j = rng.integers(0, n, (2, extra))
    W = of_edges(n, np.concatenate([parent, i]), np.concatenate([np.arange(1, n), j]))
    return W, below(parent)


def preferential(n: int, m: int) -> Drawn:
    """Join every node with m earlier ones, drawn by their degrees; classes as in a tree."""
    rng = np.random.default_rng(SEED)
    ends = np.empty(2 * m * n, dtype=np.int64)  # of all edges so far
    ends[: 2 * m] = 0
    for k in range(1, n):
        chosen = ends[(rng.random(m) * 2 * m * k).astype(np.int64)]
        ends[2 * m * k : 2 * m * (k + 1)] = np.append(chosen, np.full(m, k))
    pairs = ends.reshape(n, 2, m)[1:]
    W = of_edges(n, pairs[:, 0].ravel(), pairs[:, 1].ravel())
    return W, below(pairs[:, 0, 0])


def small_world(n: int) -> Drawn:
    rng, i = np.random.default_rng(SEED), np.tile(np.arange(n), 3)
    j = (i + np.repeat([1, 2, 3], n)) % n
    far = rng.random(3 * n) < 0.01
    j[far] = rng.integers(0, n, far.sum())
    return largest(of_edges(n, i, j), slabs(n))


def regular(n: int) -> Drawn:
    rng = np.random.default_rng(SEED)
    i, j = (np.concatenate([rng.permutation(n), rng.permutation(n)[: n // 2]]) for _ in range(2))
    return largest(of_edges(n, i, j), _drawn(n))


def _weighted_grid() -> Drawn:
    W, y = lattice(450, 450)
    return weighted(W, 3), y


def _weighted_tree() -> Drawn:
    W, y = random_tree(300_000, 25_000)
    return weighted(W, 3), y


HARD: dict[str, Callable[[], Drawn]] = {
    "path": lambda: path(200_000),
    "path and 25,000 edges": lambda: path(400_000, 25_000),
    "cycle": lambda: path(400_000, around=True),
    "grid": lambda: lattice(450, 450),
    "grid, weighted": _weighted_grid,
    "torus": lambda: lattice(450, 450, around=True),
    "3-D grid": lambda: lattice(55, 55, 55),
    "neighbours, 2-D": lambda: neighbours(60_000, 2),
    "neighbours, 3-D": lambda: neighbours(90_000, 3),
    "neighbours, 8-D": lambda: neighbours(60_000, 8),
    "path of cliques": lambda: cliques(4_000, 16),
    "lollipop": lambda: lollipop(700, 250_000),
    "barbell": lambda: barbell(600, 100_000),
    "star": lambda: star(400_000),
    "hub with 100 loops": lambda: star(400_000, 100),
    "double star": lambda: double_star(400_000),
    "wheel 40,000": lambda: wheel(40_000),
    "wheel 250,000": lambda: wheel(250_000),
    "caterpillar": lambda: caterpillar(50_000, 7),
    "binary tree": lambda: binary_tree(400_000),
    "preferential tree": lambda: preferential(400_000, 1),
    "random tree": lambda: random_tree(300_000),
    **{
        f"random tree and {extra:,} edges": lambda extra=extra: random_tree(300_000, extra)
        for extra in (1_000, 4_000, 25_000, 100_000)
    },
    "random tree, weighted": _weighted_tree,
    "preferential attachment": lambda: preferential(160_000, 3),
    "small world": lambda: small_world(160_000),
    "random, degree 3": lambda: regular(300_000),
}

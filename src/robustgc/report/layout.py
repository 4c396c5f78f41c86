"""Where the nodes of a picture lie: by the first modes of the graph, or by two of its directions.

A picture is not a result: it has to be there quickly, for every graph, and to show what belongs
together. So a few Lanczos steps are enough, and where nothing better is to be had the nodes of a
class are put side by side.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import svds

from robustgc.graph.csr import CSR
from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array

MOST_NODES = 3000
MOST_LABELLED = 1000
MOST_EDGES = 10_000
_WHOLE = 5_000_000  # entries of a matrix up to which modes are those of the whole graph
_PER_ROW = 2000  # entries that are read of one row: a hub may have millions
_DENSE = 400
_STEPS = 60
_WORK = 120_000_000  # products of entries: about a second
_DIRECTIONS = 512  # features up to which the covariance is decomposed
_WIDE = 1.3  # a page is wider than high
_GOLDEN = np.pi * (3 - np.sqrt(5))


@dataclass(frozen=True, eq=False)
class Drawing:
    """Nodes that are drawn, their places, and the edges between them."""

    nodes: NDArray[np.int64]  # ascending
    xy: Array  # (n, 2), within a box whose longer side goes from 0 to 1
    edges: NDArray[np.int64]  # (m, 2), pairs of rows of `nodes`


def layout(
    W: Any,
    points: Any = None,
    classes: NDArray[np.int64] | None = None,
    labelled: NDArray[np.bool_] | None = None,
    *,
    seed: int,
) -> Drawing:
    """Place the nodes of a graph for a picture; of a large one, those of a sample.

    At most 3000 nodes are drawn, with all labelled ones up to 1000, and at most 10,000 edges: the
    heaviest, among equals random ones. Without weights, or with weights known only by products, no
    edges are drawn. Points are drawn by their first two principal components. The classes, -1 for
    none, are what is left to go by where a graph has no shape.

    Examples
    --------
    >>> import numpy as np
    >>> from robustgc.report.layout import layout
    >>> W = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    >>> drawn = layout(W, seed=7)
    >>> drawn.xy.shape, len(drawn.edges)
    ((6, 2), 6)
    """
    rng = np.random.default_rng(seed)
    nodes = _sample((points if W is None else W).shape[0], labelled, rng)
    rows = _rows(W)
    edges = np.zeros((0, 2), dtype=np.int64) if rows is None else _edges(rows, nodes, rng)
    codes = np.full(len(nodes), -1) if classes is None else classes[nodes]
    ways = [] if points is None else [partial(_directions, points, nodes)]
    ways += [] if rows is None else [partial(_modes_of, rows, nodes, rng)]
    for way in ways:
        try:
            xy = way()
        except Exception:  # a plain picture is better than no report
            continue
        if len(xy) == len(nodes) and np.isfinite(xy).all():
            return Drawing(nodes, _boxed(xy), edges)
    return Drawing(nodes, _boxed(_by_class(codes)), edges)


def _sample(
    n: int, labelled: NDArray[np.bool_] | None, rng: np.random.Generator
) -> NDArray[np.int64]:
    if n <= MOST_NODES:
        return np.arange(n)
    first = np.flatnonzero([] if labelled is None else labelled)
    if len(first) > MOST_LABELLED:
        first = rng.choice(first, MOST_LABELLED, replace=False)
    others = np.setdiff1d(rng.choice(n, MOST_NODES, replace=False), first)
    others = rng.permutation(others)[: MOST_NODES - len(first)]
    return np.sort(np.concatenate([first, others])).astype(np.int64)


def _rows(W: Any) -> CSR | None:
    """Return the weights as rows, sharing their arrays; None if they are not stored."""
    if isinstance(W, CSR):
        return W
    if isinstance(W, np.ndarray):
        W = sp.csr_array(W.astype(float))
    if not sp.issparse(W):
        return None
    W = W.tocsr()
    return CSR(W.indptr, W.indices, W.data)


def _edges(rows: CSR, nodes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    starts = np.asarray(rows.indptr[nodes], dtype=np.int64)
    counts = np.asarray(rows.indptr[nodes + 1], dtype=np.int64) - starts
    taken = np.minimum(counts, _PER_ROW)
    row = np.repeat(np.arange(len(nodes)), taken)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(taken) - taken, taken)
    entries = starts[row] + nth * counts[row] // np.maximum(taken[row], 1)
    column = np.asarray(rows.indices[entries], dtype=np.int64)
    place = np.minimum(np.searchsorted(nodes, column), len(nodes) - 1)
    weight = np.ones(len(row)) if rows.data is None else np.asarray(rows.data[entries])
    chosen = np.flatnonzero((nodes[place] == column) & (place != row) & (weight > 0))
    if len(chosen) > 2 * MOST_EDGES:  # every edge is there twice; equal weights are left to chance
        chance = weight[chosen] * (1.0 - 1e-9 * rng.random(len(chosen)))
        chosen = chosen[np.argpartition(-chance, 2 * MOST_EDGES)[: 2 * MOST_EDGES]]
    low, high = np.minimum(row, place)[chosen], np.maximum(row, place)[chosen]
    pairs, first = np.unique(low * len(nodes) + high, return_index=True)
    best = np.lexsort((rng.random(len(pairs)), -weight[chosen][first]))[:MOST_EDGES]
    return np.column_stack(np.divmod(pairs[np.sort(best)], max(len(nodes), 1)))


def _directions(points: Any, nodes: NDArray[np.int64]) -> Array:
    """Return the first two principal components of the drawn points."""
    rows = points[nodes]
    X = np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=float)
    X = X - X.mean(axis=0)
    if X.shape[1] <= 2:
        return np.column_stack([X, np.zeros((len(X), 2 - X.shape[1]))])
    if X.shape[1] <= _DIRECTIONS:
        return np.asarray(X @ np.linalg.eigh(X.T @ X)[1][:, :-3:-1])
    U, size, _ = svds(X, k=2, random_state=np.random.RandomState(20180521))
    return np.asarray((U * size)[:, ::-1])


def _modes_of(rows: CSR, nodes: NDArray[np.int64], rng: np.random.Generator) -> Array:
    """Place every component by its own modes, and the components side by side."""
    if rows.nnz > _WHOLE:
        raise ValueError(f"{rows.nnz} entries are too many to look at for a picture.")
    W = rows.to_scipy()
    number = connected_components(W, directed=False)[1]
    drawn = number[nodes]
    boxes = []
    for c in np.argsort(-np.bincount(drawn), kind="stable")[: len(np.unique(drawn))]:
        here = np.flatnonzero(drawn == c)
        if len(here) < 5:  # two or three nodes have no shape
            xy = _circle(len(here))
        else:
            inside = np.flatnonzero(number == c)
            graph = Graph._trusted(W if len(inside) == len(number) else W[inside][:, inside])
            xy = _spectral(graph, rng)[np.searchsorted(inside, nodes[here])]
        boxes.append((here, xy))
    return _packed(boxes, len(nodes))


def _spectral(graph: Graph, rng: np.random.Generator) -> Array:
    """Return two squashed modes.

    All degrees are raised by their mean: the first modes of the plain Laplacian may live on a few
    nodes that hang on by one edge, and would show nothing else.
    """
    d = graph.d + graph.d.mean()
    scaled = sp.csr_array(graph.W).astype(float)
    S = sp.diags_array(d**-0.5) @ scaled @ sp.diags_array(d**-0.5)
    if graph.n <= _DENSE:
        vectors = np.linalg.eigh(S.toarray())[1][:, :-4:-1]
    else:
        steps = 3 * _STEPS if graph.n <= MOST_NODES else _STEPS
        vectors = _lanczos(sp.csr_array(S), min(steps, max(30, _WORK // S.nnz)), rng)
    u = vectors[:, 1:3] / np.sqrt(d)[:, None]
    u = u - np.median(u, axis=0)
    squashed = np.tanh(u / (2.0 * np.mean(np.abs(u), axis=0) + 1e-300))
    ranks = 2.0 * u.argsort(axis=0).argsort(axis=0) / graph.n - 1.0
    # Ranks alone would hide the gaps between groups, the modes alone heap the nodes in a group.
    return np.asarray((0.7 * squashed + 0.3 * ranks) * [_WIDE, 1.0])


def _lanczos(S: Any, steps: int, rng: np.random.Generator) -> Array:
    """Return about the three uppermost eigenvectors: fixed work, converged or not.

    The solvers of `linalg` work until their residual is small, which a picture has no time for.
    """
    Q, M = np.zeros((steps, S.shape[0])), np.zeros((steps, steps))
    q = rng.standard_normal(S.shape[0])
    for k in range(steps):
        Q[k] = q / np.linalg.norm(q)
        q = S @ Q[k]
        M[k, k] = Q[k] @ q
        for _ in range(2):
            q = q - (Q[: k + 1] @ q) @ Q[: k + 1]
        if k + 1 < steps:
            M[k, k + 1] = M[k + 1, k] = np.linalg.norm(q)
            if M[k, k + 1] < 1e-12:
                M, Q = M[: k + 1, : k + 1], Q[: k + 1]
                break
    return np.asarray((np.linalg.eigh(M)[1][:, :-4:-1].T @ Q).T)


def _packed(boxes: list[tuple[NDArray[np.int64], Array]], n: int) -> Array:
    """Put boxes on shelves, the largest first; a side is the root of the number of nodes."""
    sides = np.sqrt([len(here) for here, _ in boxes])
    width = max(sides[0], 1.25 * np.sqrt(((sides + 1) ** 2).sum()))
    if len(boxes) > 1 and sides[0] + sides[1] + 1 > width:
        width = sides[0] + sides[1] + 1
    xy, x, y, shelf = np.zeros((n, 2)), 0.0, 0.0, 0.0
    for (here, places), side in zip(boxes, sides, strict=True):
        if x > 0 and x + side > width:
            x, y, shelf = 0.0, y + shelf + 1.0, 0.0
        xy[here] = side * _boxed(places) + [x, y]
        x, shelf = x + side + 1.0, max(shelf, side)
    return xy


def _boxed(xy: Array) -> Array:
    """Move and scale to a box whose longer side goes from 0 to 1."""
    if not len(xy):
        return xy
    low = xy.min(axis=0)
    return np.asarray((xy - low) / (float((xy.max(axis=0) - low).max()) or 1.0))


def _circle(n: int) -> Array:
    angle = 2 * np.pi * np.arange(n) / max(n, 1)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _by_class(codes: NDArray[Any]) -> Array:
    """Give every class a disc, the nodes in it like seeds in a sunflower."""
    boxes = []
    for code in np.unique(codes):
        here = np.flatnonzero(codes == code)
        k = np.arange(len(here))
        turn = np.column_stack([np.cos(k * _GOLDEN), np.sin(k * _GOLDEN)])
        boxes.append((here, np.sqrt(k)[:, None] * turn))
    return _packed(boxes, len(codes)) if boxes else np.zeros((0, 2))

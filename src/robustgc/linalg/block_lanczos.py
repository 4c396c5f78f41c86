"""Compute the lowest eigenpairs of ``L_N`` by block Lanczos, on it or on its pseudo-inverse.

Modes that stand clear of the bulk of the spectrum converge within some dozens of products. Those
inside of it hardly do, and tell nothing of classes: the iteration stops where no further mode has
converged for a while, and returns the first modes up to there.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.linalg as sla
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.graph import Graph
from robustgc.graph.laplacian import operator
from robustgc.graph.weights import Array
from robustgc.linalg.chebyshev import COLUMNS, filtered_modes
from robustgc.linalg.eigenpairs import (
    BLOCK,
    ROUNDING_LEVEL,
    SEED,
    Eigenpairs,
    count_leading,
    count_reliable,
    resolution,
)
from robustgc.linalg.factors import pseudo_inverse
from robustgc.linalg.ordering import is_near_tree
from robustgc.linalg.solution import Apply, NotConvergedError, Watch, ignore_progress

_HARD, _BULK = 1e-3, 1e-2  # lambda_1 below is better left to multigrid; the same if modes crowd
_PROBE = 30
_LARGE = 30_000  # nodes; on smaller graphs twice as many products are tried
_MOST, _WORK = 400, 1.2e9  # products, and the values that they may touch: some seconds
_CLOSE = 10.0  # times that residual of modes that crowd
_MOST_INVERSE = 60  # products with the inverse
_GAP = 1.2  # a next eigenvalue that much larger: modes below it stand clear


def block_lanczos_modes(
    graph: Graph,
    start: Array,
    count: int,
    dtype: str,
    watch: Watch = ignore_progress,
    residual: float | None = None,
) -> Eigenpairs:
    """Return up to `count` of the first non-trivial modes, from sums of label columns.

    Most of what labels have in common with the graph lies in the modes that are wanted. A random
    column joins them, so that no symmetry hides a mode. Without a `residual` (of a mode, relative
    to its eigenvalue) they have enough digits to weigh candidates. NotConvergedError: not even
    lambda_1 has converged, or it is too small for products to resolve.
    """
    space = KrylovSpace(graph, first_block(graph, start), count, dtype)
    clear = resolution(dtype).converged if residual is None else residual
    most = int(np.clip(_WORK / space.work, 2 * _PROBE, _MOST))
    loose = residual is None and not graph.distributed
    patience = most // 2 if most // 2 < 2 * _PROBE else most  # on smaller graphs products are cheap
    found, last, before = 0, 0, (0, 0.0)
    for theta, S, rest in space.ritz_pairs(first=3, growth=1.1):
        done = space.products
        now = min(count, count_leading(rest <= clear * np.maximum(theta, 1e-300)))
        watch(done, float(rest[0] / max(theta[0], 1e-300)), np.inf)
        if now > found:
            found, last = now, done
        # Behind a gap: when would the next mode be there, at its pace since last time?
        gap = 0 < now < len(theta) and theta[now] > _GAP * theta[now - 1]
        behind = np.log(rest[now] / (clear * theta[now])) if gap else 0.0
        pace = (before[1] - behind) / (done - before[0]) if before[1] else 0.0
        wait = behind / pace if pace > 0 else 0.0
        before = (done, behind)
        stalled = found and done + wait > 1.3 * last + 6
        if found >= count or stalled or space.exhausted:
            break
        if loose and not found and done >= patience and theta[0] >= _BULK:
            start, cut = space.vectors(S[:, :COLUMNS]), float(theta[COLUMNS])
            modes = filtered_modes(graph, start, cut, _CLOSE * clear, count, dtype, watch)
            return replace(modes, steps=done + modes.steps)
        if done >= (patience if loose and not found else most):
            break
        if done >= (_PROBE if graph.n > _LARGE else 2 * _PROBE) and not found and theta[0] < _HARD:
            break
    if found == 0 or theta[0] < resolution(dtype).least:
        raise NotConvergedError(
            f"lambda_1 is about {theta[0]:.1e}, with a residual of {rest[0]:.1e} after {done} "
            "products of block Lanczos"
        )
    following = theta[found] - rest[found] if found < len(theta) else theta[found - 1]
    return space.modes(S[:, :found], following, BLOCK)


def first_block(graph: Graph, start: Array, columns: int = BLOCK) -> Array:
    """Return sums of the label columns, and at least one random column."""
    rng = np.random.default_rng(SEED)
    if start.shape[1] > columns - 1:
        start = start @ rng.standard_normal((start.shape[1], columns - 1))
    L, drawn = operator(graph, "float64"), np.empty((graph.rows, columns - start.shape[1]))
    for k in range(drawn.shape[1]):
        loop, column = threads.loops().random_values, np.empty((graph.rows, 1))
        threads.run(loop, threads.shares(graph.rows), SEED + k, L.first, L.v0, column)
        drawn[:, k] = column[:, 0]
    return np.column_stack([start, drawn])


@threads.single_blas
def inverse_lanczos_modes(
    graph: Graph, start: Array, count: int, residual: float, watch: Watch = ignore_progress
) -> Eigenpairs:
    """Return up to `count` of the first non-trivial modes, from label columns and the inverse.

    The first eigenvalues of ``L_N`` are the far ends of its inverse, so that some dozens of vectors
    span them however they crowd towards 0. Where an eigenvalue comes as often as the block has
    columns, a block as wide as all modes together finds its other modes, as in a binary tree.
    NotConvergedError: not even lambda_1 has the residual, relative to itself, or it is rounding.
    """
    modes, cut = _modes_by_the_inverse(graph, start, count, residual, watch, BLOCK)
    if not cut:
        return modes
    wide = max(count + 1, BLOCK)
    more, _ = _modes_by_the_inverse(graph, start, count, residual, watch, wide)
    return more if len(more.values) > len(modes.values) else modes


def _modes_by_the_inverse(
    graph: Graph, start: Array, count: int, residual: float, watch: Watch, block: int
) -> tuple[Eigenpairs, bool]:
    """Return modes from a block of some columns, and whether more may share an eigenvalue."""
    inverse = pseudo_inverse(graph)
    columns = first_block(graph, start, block)
    space = KrylovSpace(graph, columns, count, "float64", lambda X: -inverse(X))
    for theta, S, rest in space.ritz_pairs():  # noqa: B007  the last S counts
        found = min(count, count_leading(rest <= residual * np.abs(theta)))
        watch(space.products, float(rest[0] / abs(theta[0])), np.inf)
        if found == count or space.products == _MOST_INVERSE:
            break
    if found == 0:
        raise NotConvergedError(f"lambda_1 did not settle in {space.products} products")
    if theta[0] < -1 / ROUNDING_LEVEL and not is_near_tree(graph):  # little is lost by elimination
        raise NotConvergedError(f"lambda_1 = {-1 / theta[0]:.1e} is at the level of rounding")
    # Multiplied by the inverse once more, the Ritz vectors have that residual with L_N too.
    following = 1 / (rest[found] - theta[found]) if found < len(theta) else 0.0
    modes = space.modes(S[:, :found], following, min(block, count), theta[:found])
    return modes, len(modes.values) < found and not space.exhausted


class KrylovSpace:
    """A block Krylov space off v0: its orthonormal basis U and the projection ``U' L_N U``."""

    def __init__(
        self, graph: Graph, start: Array, count: int, dtype: str, apply: Apply | None = None
    ) -> None:
        self.graph, self.dtype, self.count = graph, np.dtype(dtype), count
        self._apply: Apply = operator(graph, dtype) if apply is None else apply
        self._v0 = graph.v0.astype(self.dtype)
        room = graph.available() / 3 // (max(graph.most_rows, 1) * self.dtype.itemsize)
        self._block: int = start.shape[1]
        wanted = max(3 * count + 20, count + 4 * self._block, 60)
        self._most = int(min(wanted, graph.n // 2, room))
        if self._most < count + 3 * self._block:
            raise NotConvergedError(
                f"{count} modes need a larger basis for block Lanczos than {graph.n} nodes, or the "
                "memory, have room for."
            )
        self._U: NDArray[Any] = np.empty(
            (graph.rows, self._most + self._block), self.dtype, order="F"
        )
        self._H = np.zeros((self._most + self._block,) * 2)
        self._size, self.products, self.exhausted = 0, 0, False
        self._coupled = 0  # the first vector that a product of the last block has a part of
        block = self._orthogonal(start.astype(self.dtype))[0]
        self._width = self._append(block)[0]

    @property
    def full(self) -> bool:
        """Whether no further block fits."""
        return self._size + 2 * self._block > self._most

    @property
    def work(self) -> int:
        """Values that a product touches, about: most of them to keep the basis orthogonal."""
        return self.graph.n * self._most + self.graph.entries * self._block

    def _orthogonal(self, X: NDArray[Any]) -> tuple[NDArray[Any], Array]:
        """Take v0 and the basis out of a block; return what was there of the basis.

        First what a product must have of it, the last two blocks (after a restart, all vectors),
        then what rounding has left of any.
        """
        inner, U = self.graph.inner, self._U[:, : self._size]
        known = np.zeros((self._size, X.shape[1]))
        for first in (max(0, self._coupled), 0):
            if first == 0:  # what a product has of v0 is rounding
                X -= np.outer(self._v0, inner(self._v0, X))
            part = inner(U[:, first:], X)
            X -= U[:, first:] @ part
            known[first:] += part
        return X, known

    def _append(self, X: NDArray[Any]) -> tuple[int, Array]:
        """Put the orthonormalised block behind the basis: how many columns, and ``Q' X``."""
        gram = self.graph.inner(X, X).astype(float)
        values, turn = sla.eigh((gram + gram.T) / 2)
        keep = values > max(1e-10 * values[-1], (64 * np.finfo(self.dtype).eps) ** 2)
        root = np.sqrt(values[keep])
        Q = X @ (turn[:, keep] / root).astype(self.dtype)
        width = int(keep.sum())
        self._U[:, self._size : self._size + width] = Q
        return width, root[:, None] * turn[:, keep].T

    def extend(self) -> None:
        """Multiply the last block and put what is new behind it."""
        first, last = self._size, self._size + self._width
        X = np.ascontiguousarray(self._U[:, first:last])
        self._size, self.products = last, self.products + 1
        image, known = self._orthogonal(self._apply(X))
        self._H[:last, first:last], self._H[first:last, :last] = known, known.T
        self._width, self._coupling = self._append(image)
        self._last, self._coupled = (first, last), first
        self.exhausted = self._width == 0

    def ritz_pairs(
        self, first: int = 1, growth: float = 0.0
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Extend the space until it is exhausted; give its Ritz pairs on the way, as `ritz` does.

        After `first` products, then always after `growth` times as many: pairs take time. A full
        basis is restarted from them when the next ones are asked for.
        """
        check = first
        while not self.exhausted:
            self.extend()
            if self.products < check and not self.full and not self.exhausted:
                continue
            check = int(growth * self.products) + 2
            theta, S, rest = self.ritz()
            yield theta, S, rest
            if self.full and not self.exhausted:
                self.restart(theta, S)

    def ritz(self) -> tuple[Array, Array, Array]:
        """Return Ritz values, their coefficients and the norms of their residuals."""
        form = self._H[: self._size, : self._size]
        theta, S = sla.eigh((form + form.T) / 2)
        first, last = self._last
        return theta, S, np.linalg.norm(self._coupling @ S[first:last], axis=0)

    def restart(self, theta: Array, S: Array) -> None:
        """Keep the first Ritz vectors and the block that comes next."""
        size, width = self._size, self._width
        keep = min(self.count + (self._most - self.count) // 3, size - self._block)
        following = self._U[:, size : size + width].copy()
        self._U[:, :keep] = self._U[:, :size] @ S[:, :keep].astype(self.dtype)
        self._U[:, keep : keep + width] = following
        self._H[:] = 0.0
        np.fill_diagonal(self._H[:keep, :keep], theta[:keep])
        self._size, self._coupled = keep, 0

    def vectors(self, S: Array) -> Array:
        """Return Ritz vectors."""
        return np.asarray(self._U[:, : self._size] @ S.astype(self.dtype), dtype=float)

    def modes(
        self, S: Array, following: float, copies: int, theta: Array | None = None
    ) -> Eigenpairs:
        """Return those of the first modes that are certain, with a bound on the next eigenvalue.

        In double precision, by Rayleigh-Ritz once more, on the matrix; with Ritz values `theta` of
        another operator, on what it makes of the Ritz vectors. `following` is such a bound if all
        are certain, before a reserve is taken off. So many as `copies` modes of one eigenvalue may
        be some of more.
        """
        X = self.vectors(S)
        if theta is not None:
            first, last = self._last
            new = self._U[:, self._size : self._size + self._width]
            X += new @ (self._coupling @ S[first:last] / theta)
        X = self.graph.P0(X)
        values, turn = sla.eigh(self.graph.inner(X, self.graph.L_N(X)), self.graph.inner(X, X))
        known = count_reliable(values, 2 if self.exhausted else copies)
        beyond = 0.98 * float(following) if known == len(values) else 0.0
        beyond = max(float(values[known - 1]), beyond)
        pairs = Eigenpairs(values, X @ turn, steps=self.products).first(known)
        return replace(pairs, next_eigenvalue=beyond)

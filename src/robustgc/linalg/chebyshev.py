"""Compute clustered lowest eigenpairs of ``L_N`` by Chebyshev-filtered subspace iteration.

Random regular graphs, small worlds and trees with many more edges have no mode that stands clear.
Krylov spaces need hundreds of products there, each made orthogonal to dozens of vectors. A
Chebyshev polynomial of a few vectors takes products alone.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.graph import Graph
from robustgc.graph.laplacian import operator
from robustgc.graph.weights import Array
from robustgc.linalg.eigenpairs import Eigenpairs, count_leading, count_reliable
from robustgc.linalg.multigrid import orthonormal, rayleigh_ritz
from robustgc.linalg.solution import NotConvergedError, Watch

COLUMNS = 8  # vectors that are filtered: the first ones of these converge
_GAIN = 9.0  # logarithm of what a round gains on the first of them: single precision bears it
_ROUND = 200  # products of a round at most: the first Ritz values may be far from the end
_GROWTH = 1e3  # of v0 before it is taken out again
_WORK = 8e9  # entries and values that all rounds may touch: some seconds


def filtered_modes(
    graph: Graph, start: Array, cut: float, residual: float, count: int, dtype: str, watch: Watch
) -> Eigenpairs:
    """Return up to `count` of the first modes by filtering a subspace.

    It starts from Ritz vectors, (N, COLUMNS), with values up to about `cut`. NotConvergedError: the
    first pair has not reached the residual, relative to its eigenvalue.
    """
    most = int(_WORK / (start.shape[1] * (graph.entries + 8.0 * graph.n)))
    values, X, rest = _ritz_pairs(graph, start)
    done = 0
    while True:
        centre, half = (graph.top + cut) / 2, (graph.top - cut) / 2
        gain = np.arccosh(max((centre - values[0]) / half, 1 + 1e-12))
        steps = int(min(np.ceil(_GAIN / gain), _ROUND, most - done))
        values, X, rest = _ritz_pairs(graph, _filtered(graph, X.astype(dtype), centre, half, steps))
        done, cut = done + steps, float(values[-1])
        watch(done, float(rest[0]), most)
        if rest[0] <= residual:
            break
        if done >= most:
            raise NotConvergedError(
                f"the lowest of {X.shape[1]} close eigenpairs still has the residual {rest[0]:.1e}"
            )
    found = min(count_leading(rest <= residual), count)
    known = count_reliable(values[:found])
    beyond = float(values[known - 1])
    if known < len(rest):
        beyond = max(beyond, float(0.98 * (1 - rest[known]) * values[known]))
    return Eigenpairs(values[:known], X[:, :known], float(rest[0]), beyond, done)


def _filtered(
    graph: Graph, x: NDArray[Any], centre: float, half: float, steps: int
) -> NDArray[Any]:
    """Return ``T_steps`` of columns: what is above the cut does not grow, what is below does."""
    L, v0 = operator(graph, str(x.dtype)), graph.v0.astype(x.dtype)
    clean = max(1, int(np.log(_GROWTH) / np.arccosh(centre / half)))
    x, before = np.ascontiguousarray(x), np.zeros_like(x)
    factors = np.array([1.0, -centre, 0.0]) / half
    for k in range(steps):
        L.chebyshev(x, before, factors)
        x, before = before, x
        factors = np.array([2 / half, -2 * centre / half, -1.0])
        if k % clean == 0:
            size = (1 / np.maximum(graph.norms(x), 1e-300)).astype(x.dtype)
            x, before = ((y - np.outer(v0, graph.inner(v0, y))) * size for y in (x, before))
    return x


def _ritz_pairs(graph: Graph, X: NDArray[Any]) -> tuple[Array, Array, Array]:
    """Return Ritz pairs of a span in double precision, and their relative residuals."""
    X = orthonormal(graph, np.asarray(X, dtype=float))
    X, image, values = rayleigh_ritz(operator(graph), X)
    return values, X, graph.norms(image - X * values) / np.maximum(values, 1e-300)

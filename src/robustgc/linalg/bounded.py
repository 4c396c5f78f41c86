"""Diffusion filters (ZhouGC) as polynomials, for graphs whose modes take too long to find.

``g / (lambda + g)`` needs no eigenvalue, and a polynomial of bounded degree is all of it. The
smaller g is, the farther labels reach: the least one is as small as the degree allows.
"""

from dataclasses import dataclass

import numpy as np

from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array
from robustgc.linalg.block_lanczos import KrylovSpace, first_block
from robustgc.linalg.deflated import MAX_DEGREE, DeflatedOperator
from robustgc.linalg.eigenpairs import Eigenpairs
from robustgc.linalg.solution import Watch, ignore_progress

_PRODUCTS = 20  # to estimate lambda_1, always from above
_NEAREST = 0.2  # the largest g: about ten steps of a walk
TOL = 5e-4
_WORK = 1e10  # entries and values that a polynomial may touch: some seconds
_ROUNDING = 64  # units of it, below which no eigenvalue is told from 0
_LEAST = 50  # its degree, at least


@dataclass(frozen=True)
class DiffusionFilters:
    """Filters ``g / (lambda + g)`` that a bounded number of products answers.

    Attributes
    ----------
    modes : Eigenpairs
        Without any; its note tells what these filters are.
    limit : float
        An upper bound on lambda_1.
    gammas : ndarray
        ``-g``, the smallest g first.
    """

    modes: Eigenpairs
    limit: float
    gammas: Array


def diffusion_filters(
    graph: Graph, Y: Array, dtype: str, watch: Watch = ignore_progress
) -> DiffusionFilters:
    """Return the filters that reach farthest and nearest, and one between them."""
    limit, rest = _first_value(graph, Y, dtype)
    step = max(Y.shape[1], 1) * (graph.entries + 8.0 * graph.n)
    most = int(np.clip(_WORK / step, _LEAST, MAX_DEGREE))
    none = np.empty((graph.rows, 0))
    off, g = DeflatedOperator(graph, none, 0.0, dtype, watch), _NEAREST
    while g > limit and off.degree(np.array([-g / 2]), TOL) <= most:
        g /= 2
    gammas = -np.unique(np.geomspace(g, _NEAREST, 3))
    degree = off.degree(gammas, TOL)
    note = f"ZhouGC with gamma {g:.1e}, {degree} products; lambda_1 at most {limit:.1e}"
    modes = Eigenpairs(np.empty(0), none, rest, method="bounded", note=note)
    return DiffusionFilters(modes, limit, gammas)


def _first_value(graph: Graph, Y: Array, dtype: str) -> tuple[float, float]:
    """Return a Ritz value, and its residual relative to it."""
    space = KrylovSpace(graph, first_block(graph, Y), 1, dtype)
    theta, _, rest = next(
        pairs for pairs in space.ritz_pairs() if space.exhausted or space.products == _PRODUCTS
    )
    # Once a space is exhausted it may hold rounding, most of which is v0.
    first = int(np.argmax(theta > _ROUNDING * np.finfo(dtype).eps))
    return float(theta[first]), float(rest[first] / max(theta[first], 1e-300))

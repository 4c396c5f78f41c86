"""An answer where neither modes nor lambda_1 can be had in seconds: ZhouGC's filter.

``g / (lambda + g)`` needs no eigenvalue, and a polynomial of bounded degree is all of it. The
smaller g is, the farther labels reach: it is as small as the degree allows.
"""

import numpy as np

from robustgc.block_lanczos import Space, first_block
from robustgc.complement import LIMIT, Complement
from robustgc.graph import Graph
from robustgc.outcome import Outcome, Solution, Watch, nobody
from robustgc.weights import Array

_PRODUCTS = 40  # to estimate lambda_1, always from above
_NEAREST = 0.2  # the largest g: about ten steps of a walk
_TOL = 5e-4
_WORK = 1e10  # entries and values that a polynomial may touch: some seconds
_ROUNDING = 64  # units of it, below which no eigenvalue is told from 0
_LEAST = 50  # its degree, at least


def solved(graph: Graph, Y: Array, dtype: str, watch: Watch = nobody) -> Outcome:
    """Answer with ``gamma = -g``, and an upper bound in place of lambda_1."""
    limit, rest = _first_value(graph, Y, dtype)
    step = max(Y.shape[1], 1) * (graph.entries + 8.0 * graph.n)
    most = int(np.clip(_WORK / step, _LEAST, LIMIT))
    off, g = Complement(graph, np.empty((graph.rows, 0)), 0.0, dtype, watch), _NEAREST
    while g > limit and off.degree(np.array([-g / 2]), _TOL) <= most:
        g /= 2
    f, residual, steps = off.mixed(Y, np.array([-g]), np.array([[g]]), _TOL)
    note = f"ZhouGC with gamma {g:.1e}, {steps} products; lambda_1 at most {limit:.1e}"
    return Outcome(limit, rest, [-g], [Solution(f[0], residual, steps)], note)


def _first_value(graph: Graph, Y: Array, dtype: str) -> tuple[float, float]:
    """Return a Ritz value, and its residual beside it."""
    space = Space(graph, first_block(graph, Y), 1, dtype)
    while space.products < _PRODUCTS and not space.exhausted:
        space.extend()
        theta, S, rest = space.ritz()
        if space.full:
            space.restart(theta, S)
    # Once a space is exhausted it may hold rounding, most of which is v0.
    first = int(np.argmax(theta > _ROUNDING * np.finfo(dtype).eps))
    return float(theta[first]), float(rest[first] / max(theta[first], 1e-300))

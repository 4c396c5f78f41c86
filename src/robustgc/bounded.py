"""RobustGC where neither modes nor lambda_1 can be had in seconds.

Theorem 1 needs a gamma below lambda_1, not lambda_1 itself: some products of block Lanczos say
about where that is, and a gamma far below is taken. A polynomial of bounded degree answers; its
residual says how well.
"""

import numpy as np

from robustgc.block_lanczos import Space, first_block
from robustgc.complement import LIMIT, Complement
from robustgc.graph import Graph
from robustgc.outcome import NotConvergedError, Outcome, Solution, Watch, nobody
from robustgc.weights import Array

_PRODUCTS = 40  # to estimate lambda_1, always from above
_BELOW = 4.0  # times lower it is taken to be; the same again where that was too high
_TRIES = 4
_ETA = 0.5
_WORK = 1.2e10  # entries and values that a polynomial may touch: some seconds
_LEAST = 100  # its degree, at least


def solved(graph: Graph, Y: Array, dtype: str, tol: float, watch: Watch = nobody) -> Outcome:
    """Answer for one gamma in bounded time, with the residual that this allows.

    Raises
    ------
    NotConvergedError
        lambda_1 is far below what products of Lanczos say.
    """
    low, rest = _first_value(graph, Y, dtype)
    step = max(Y.shape[1], 1) * (graph.entries + 8.0 * graph.n)
    most = int(np.clip(_WORK / step, _LEAST, LIMIT))
    for k in range(1, _TRIES + 1):
        beyond = low / _BELOW**k
        gamma = _ETA * beyond
        off = Complement(graph, np.empty((graph.rows, 0)), beyond, dtype, watch)
        try:
            f, residual, steps = off.mixed(
                Y, np.array([gamma]), np.array([[gamma]]), tol, most=most
            )
        except NotConvergedError:
            continue
        note = f"lambda_1 below {low:.1e}, gamma far below, a polynomial of degree {steps}"
        return Outcome(beyond, rest, [gamma], [Solution(f[0], residual, steps)], note)
    raise NotConvergedError(f"lambda_1 is far below {low:.1e}, and was not found")


def _first_value(graph: Graph, Y: Array, dtype: str) -> tuple[float, float]:
    """Return a Ritz value, and its residual beside it."""
    space = Space(graph, first_block(graph, Y), 1, dtype)
    while space.products < _PRODUCTS and not space.exhausted:
        space.extend()
        theta, S, rest = space.ritz()
        if space.full:
            space.restart(theta, S)
    return max(float(theta[0]), 1e-12), float(rest[0] / max(theta[0], 1e-12))

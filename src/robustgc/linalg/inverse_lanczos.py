"""Compute the lowest eigenpairs of ``L_N`` by block Lanczos on its pseudo-inverse."""

import numpy as np

from robustgc.graph import threads
from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array
from robustgc.linalg.block_lanczos import KrylovSpace, first_block
from robustgc.linalg.eigenpairs import BLOCK, Eigenpairs, count_reliable
from robustgc.linalg.factors import pseudo_inverse
from robustgc.linalg.ordering import is_near_tree
from robustgc.linalg.solution import NotConvergedError, Watch, ignore_progress

_MOST = 60  # products
_LEAST = 2e-12  # below that lambda_1 is rounding


def inverse_lanczos_modes(
    graph: Graph, start: Array, count: int, residual: float, watch: Watch = ignore_progress
) -> Eigenpairs:
    """Return up to `count` of the first non-trivial modes.

    The first eigenvalues of ``L_N`` are the far ends of its inverse, so that some dozens of vectors
    span them however they crowd towards 0. Where an eigenvalue comes as often as the block has
    columns, a block as wide as all modes together finds its other modes, as in a binary tree.

    Parameters
    ----------
    start : ndarray, shape (N, columns)
        Label columns to start from.
    residual : float
        ``|L_N v - lambda v| / lambda`` of every mode.

    Raises
    ------
    NotConvergedError
        Not even lambda_1 has converged, or it is rounding.
    """
    with threads.single_blas:
        found, cut = _modes(graph, start, count, residual, watch, BLOCK)
        if cut:
            more, _ = _modes(graph, start, count, residual, watch, max(count + 1, BLOCK))
            found = max(found, more, key=lambda modes: len(modes.values))  # the first if alike
        return found


def _modes(
    graph: Graph, start: Array, count: int, residual: float, watch: Watch, block: int
) -> tuple[Eigenpairs, bool]:
    """Return modes from a block of some columns, and whether more may share an eigenvalue."""
    inverse = pseudo_inverse(graph)
    columns = first_block(graph, start, block)
    space = KrylovSpace(graph, columns, count, "float64", lambda X: -inverse(X))
    while True:
        space.extend()
        theta, S, rest = space.ritz()
        open_ = np.flatnonzero(rest > residual * np.abs(theta))
        found = min(count, int(open_[0]) if open_.size else len(theta))
        watch(space.products, float(rest[0] / abs(theta[0])), np.inf)
        if found == count or space.products == _MOST or space.exhausted:
            break
        if space.full:
            space.restart(theta, S)
    if found == 0:
        raise NotConvergedError(f"lambda_1 did not settle in {space.products} products")
    if theta[0] < -1 / _LEAST and not is_near_tree(graph):  # little is lost by elimination
        raise NotConvergedError(f"lambda_1 = {-1 / theta[0]:.1e} is at the level of rounding")
    # Multiplied by the inverse once more, the Ritz vectors have that residual with L_N too.
    values, vectors = space.rayleigh_ritz(S[:, :found], theta[:found])
    following = 1 / (rest[found] - theta[found]) if found < len(theta) else 0.0
    known = count_reliable(values, 2 if space.exhausted else min(block, count))
    beyond = max(float(values[known - 1]), 0.98 * float(following) if known == found else 0.0)
    modes = Eigenpairs(
        values[:known], vectors[:, :known], next_eigenvalue=beyond, steps=space.products
    )
    return modes, known < found and not space.exhausted

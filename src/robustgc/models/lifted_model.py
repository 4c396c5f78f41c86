"""Solve RobustGC with the first modes lifted, for one given gamma."""

from numbers import Integral

import numpy as np

from robustgc.graph.graph import Graph
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Array
from robustgc.linalg.filters import LiftedFilters, check_residual
from robustgc.linalg.ladder import SolverOptions
from robustgc.linalg.modes import find_modes
from robustgc.linalg.solution import NotConvergedError, NotConvexError, Solution, check_positive


def solve_lifted(graph: Graph, Y: Array, *, n_modes: int, gamma: float, tol: float) -> Solution:
    """Return the minimiser with the first modes lifted.

    Raises
    ------
    NotConvexError
        ``gamma >= lambda_q``.
    """
    if not isinstance(n_modes, Integral) or not 1 <= n_modes < graph.n:
        raise ValueError(
            f"n_modes={quoted(n_modes)} is not allowed for a graph of {graph.n} nodes; it must be "
            f"a whole number from 1 to {graph.n - 1}."
        )
    options = SolverOptions(tol=tol, dtype="float64")
    modes = find_modes(graph, n_modes + 1, Y, options)
    if len(modes.values) < n_modes:
        raise NotConvergedError(
            f"n_modes={n_modes} was asked for, but only {len(modes.values)} modes of this graph of "
            f"{graph.n} nodes stand clear of the others. Lower n_modes."
        )
    limit = float(modes.values[n_modes - 1])
    gamma = check_positive(gamma)
    if gamma >= limit:
        raise NotConvexError(
            f"gamma = {gamma:.12g} is not below lambda_{n_modes} = {limit:.12g}: the problem with "
            f"the first {n_modes} modes lifted is strongly convex only below. Choose gamma = eta * "
            f"lambda_{n_modes} with 0 < eta < 1."
        )
    filters = LiftedFilters(graph, modes, [n_modes], [gamma], options)
    f, residual, steps = filters.answer(Y, np.ones((1, 1)), tol)
    check_residual(residual, tol, modes)
    return Solution(f[0], max(residual, filters.rounding(Y, np.ones((1, 1)), f)), steps)

"""The dense solver: one eigendecomposition answers everything about a small graph."""

from collections.abc import Sequence

import numpy as np

from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array
from robustgc.linalg.cg import relative_residual, rounding_of_modes
from robustgc.linalg.solution import Gammas, PathSolution, Solution
from robustgc.linalg.spectrum import full_spectrum, tiny_modes


def run(graph: Graph, Y: Array, requested: Gammas) -> PathSolution:
    """Answer RobustGC for all gammas from the full decomposition, which is kept on the graph."""
    spectrum = full_spectrum(graph)
    limit = float(spectrum.values[1])
    gammas = requested(limit)
    solutions = solve_by_spectrum(graph, Y, [-gamma for gamma in gammas], gammas)
    # What differences along edges resolve of a tiny lambda_1, a product with L_N does not.
    v, rest = spectrum.vectors[:, 1], np.finfo(float).eps
    residual = float(np.linalg.norm(graph.L_N(v) - limit * v)) / max(limit, rest)
    return PathSolution(limit, residual, gammas, solutions, "one decomposition")


def solve_by_spectrum(
    graph: Graph, Y: Array, shifts: Sequence[float], scales: Sequence[float]
) -> list[Solution]:
    """Return ``scale (L_N + shift I)^-1 Y`` for pairs of both, with the residual of each system.

    v0 takes part only where the shift is positive. Tiny modes are answered in closed form and are
    no part of the residual: products with ``L_N`` do not resolve them, and would measure their own
    rounding divided by the scale. What rounding leaves of them counts instead.
    """
    if not shifts:
        return []
    spectrum, tiny = full_spectrum(graph), tiny_modes(graph).values.size
    values, V = spectrum.values, spectrum.vectors
    known = V.T @ Y
    columns = [(known[tiny:].T / (values[tiny:] + shift)).T for shift in shifts]
    stacked = np.stack(columns, axis=-1).reshape(graph.n - tiny, -1)
    rest = (V[:, tiny:] @ stacked).reshape(*Y.shape, len(shifts))  # one product for all
    found = []
    for k, (shift, scale) in enumerate(zip(shifts, scales, strict=True)):
        x = np.ascontiguousarray(rest[..., k])
        there = (np.arange(tiny) > 0) | (shift > 0)
        weights = np.divide(scale, values[:tiny] + shift, out=np.zeros(tiny), where=there)
        f = scale * x + V[:, :tiny] @ (known[:tiny].T * weights).T
        rounding = rounding_of_modes(graph, V[:, :tiny], weights, Y, f)
        residual = system_residual(graph, x, Y, shift, V[:, :tiny])
        found.append(Solution(f, max(residual, rounding)))
    return found


def system_residual(
    graph: Graph, x: Array, Y: Array, shift: float, off: Array | None = None
) -> float:
    """Return the relative residual of ``(L_N + shift I) x = Y``, from its definition.

    On the complement of the modes that were answered in closed form, of which x has nothing.
    """
    V = np.empty((graph.n, 0)) if off is None else off
    r = graph.L_N(x) + shift * x - (Y - V @ (V.T @ Y))
    return relative_residual(r - V @ (V.T @ r), Y)

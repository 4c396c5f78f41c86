"""The dense engine: one eigendecomposition answers everything about a small graph."""

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import Graph
from robustgc.outcome import Outcome, Shifts, Solution
from robustgc.solve import relative_residual
from robustgc.spectrum import full_spectrum, tiny_modes
from robustgc.weights import Array


def run(graph: Graph, Y: Array, shifts: Shifts) -> Outcome:
    """Answer RobustGC for all gammas from the full decomposition, which is kept on the graph."""
    spectrum = full_spectrum(graph)
    limit = float(spectrum.values[1])
    gammas = shifts(limit)
    modes = tiny_modes(graph).vectors
    weights = [np.append(0.0, gamma / (spectrum.values[1:] - gamma)) for gamma in gammas]
    solutions = [
        Solution(f, system_residual(graph, f, Y, gamma, -gamma, modes))
        for f, gamma in zip(filtered(graph, Y, weights), gammas, strict=True)
    ]
    # What differences along edges resolve of a tiny lambda_1, a product with L_N does not.
    v, rest = spectrum.vectors[:, 1], np.finfo(float).eps
    residual = float(np.linalg.norm(graph.L_N(v) - limit * v)) / max(limit, rest)
    return Outcome(limit, residual, gammas, solutions, "one decomposition")


def filtered(graph: Graph, Y: Array, weights: list[NDArray[np.float64]]) -> list[Array]:
    """Return ``sum_l w_l (v_l' y) v_l`` for each set of weights: two products with V in all."""
    if not weights:
        return []
    V = full_spectrum(graph).vectors
    coefficients = V.T @ Y
    stacked = np.stack([(coefficients.T * w).T for w in weights])
    columns = np.moveaxis(stacked, 0, -1).reshape(graph.n, -1)
    found = (V @ columns).reshape(*Y.shape, len(weights))
    return [np.ascontiguousarray(found[..., k]) for k in range(len(weights))]


def system_residual(
    graph: Graph, f: Array, Y: Array, gamma: float, shift: float, off: Array | None = None
) -> float:
    """Return the relative residual of ``(L_N + shift I) f = gamma Y``, from its definition.

    On the complement of the modes that were answered in closed form: there a product with
    ``L_N`` would measure its own rounding.
    """
    V = np.empty((graph.n, 0)) if off is None else off
    f, b = f - V @ (V.T @ f), Y - V @ (V.T @ Y)
    r = (graph.L_N(f) + shift * f) / gamma - b
    return relative_residual(r - V @ (V.T @ r), Y)

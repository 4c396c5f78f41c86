"""The direct solver: a sparse factorisation, for graphs whose lambda_1 is nearly zero.

Tiny modes are known in closed form (`spectrum.tiny_modes`); conjugate gradients with a factorised
preconditioner solve for the rest. It costs memory, so it is the last rung.
"""

import numpy as np

from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array
from robustgc.linalg.cg import rounding_of_modes, solve_shifted
from robustgc.linalg.dense import system_residual
from robustgc.linalg.solution import Gammas, PathSolution, Solution
from robustgc.linalg.spectrum import Spectrum, eigenpairs, tiny_modes


def run(graph: Graph, Y: Array, requested: Gammas, tol: float) -> PathSolution:
    """Answer RobustGC for all gammas."""
    pair = eigenpairs(graph, 2)
    limit, v = float(pair.values[1]), pair.vectors[:, 1]
    gammas = requested(limit)
    modes = tiny_modes(graph)
    residual = float(np.linalg.norm(graph.L_N(v) - limit * v)) / max(limit, 1e-16)
    solutions = [_solved(graph, Y, gamma, modes, tol) for gamma in gammas]
    steps = sum(solution.n_iter for solution in solutions)
    closed = f", {modes.values.size - 1} tiny modes in closed form" if modes.values.size > 1 else ""
    return PathSolution(limit, residual, gammas, solutions, f"{steps} iterations{closed}")


def _solved(graph: Graph, Y: Array, gamma: float, modes: Spectrum, tol: float) -> Solution:
    """Answer the tiny modes in closed form and solve for the others."""
    V = modes.vectors
    rest = solve_shifted(graph, Y, -gamma, off=V, tol=tol)
    weights = np.append(0.0, gamma / (modes.values[1:] - gamma))
    f = gamma * rest.f + V @ ((V.T @ Y).T * weights).T
    residual = system_residual(graph, rest.f, Y, -gamma, V)
    return Solution(f, max(residual, rounding_of_modes(graph, V, weights, Y, f)), rest.n_iter)

"""Run one engine on a graph; compare answers."""

import numpy as np

from robustgc import Graph
from robustgc.linalg.ladder import SolverOptions, solve_robust
from robustgc.linalg.solution import Gammas

ETAS = [0.1, 0.5, 0.9]


def relative(actual, expected):
    return np.abs(actual - expected).max() / max(np.abs(expected).max(), 1e-300)


def answers(W, y, solver, *, etas=ETAS, **options):
    graph = Graph(W)
    Y = np.asarray(y, dtype=float).reshape(graph.n, -1)
    return solve_robust(graph, Y, Gammas(etas=etas), SolverOptions(solver=solver, **options))

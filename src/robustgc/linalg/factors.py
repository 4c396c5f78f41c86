"""Solve by sparse factors of ``L_N``: of any graph whose lambda_1 is tiny, or that fills in little.

The direct solver (`run`) costs memory, so it is the last rung. On trees, chains and planar graphs a
factorisation costs less than some cycles of multigrid, whatever the weights and however small
lambda_1 is.
"""

import numpy as np
import scipy.sparse as sp

from robustgc.graph import threads
from robustgc.graph.graph import Graph, per_graph
from robustgc.graph.laplacian import operator
from robustgc.graph.weights import Array
from robustgc.linalg.cg import (
    ShiftedSystem,
    relative_residual,
    rounding_of_modes,
    solve_shifted,
)
from robustgc.linalg.dense import system_residual
from robustgc.linalg.ordering import factorised, is_near_tree, mean_bandwidth
from robustgc.linalg.solution import Apply, Gammas, NotConvergedError, PathSolution, Solution
from robustgc.linalg.spectrum import Spectrum, eigenpairs, tiny_modes

_WORK = 6e10  # multiplications in a band; an ordering by degrees takes a small part of them
_HUB = 2_000  # neighbours of a node at which an ordering by degrees takes long
_ENTRY = 24  # bytes of an entry in both factors
_CYCLES = 0.2  # beside nodes: at most twice as many have three neighbours or more
_SOLVES = 6  # with the same factors


def run(graph: Graph, Y: Array, requested: Gammas, tol: float) -> PathSolution:
    """Answer RobustGC for all gammas.

    Tiny modes are answered in closed form, and conjugate gradients with a factorised
    preconditioner solve for the rest.
    """
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


@per_graph
def has_cheap_factors(graph: Graph) -> bool:
    """Whether sparse factors are cheap, estimated from the bandwidth after Cuthill-McKee."""
    if is_near_tree(graph):
        return True
    if not (graph.is_sparse and graph.is_here):
        return False
    if np.diff(graph.W.indptr).max() > _HUB:
        return False
    band = mean_bandwidth(graph)
    return graph.n * band**2 <= _WORK and graph.n * band * _ENTRY <= graph.available() / 3


@per_graph
def has_few_cycles(graph: Graph) -> bool:
    """Whether little is left of the graph without its nodes of one or two neighbours.

    A hierarchy begins by taking these out, while products are many as chains are long.
    """
    if not (graph.is_sparse and graph.is_here):
        return False
    return graph.entries / 2 - graph.n < _CYCLES * graph.n


@per_graph
def pseudo_inverse(graph: Graph) -> Apply:
    """Return what multiplies by the pseudo-inverse of ``L_N``."""
    # One node held at 0 makes the matrix regular; off v0 nothing else changes.
    held = int(np.argmax(graph.v0))
    ground = sp.coo_array(([1.0], ([held], [held])), shape=(graph.n, graph.n))
    solve = factorised(graph, graph.laplacian() + ground)
    return lambda X: graph.P0(solve(graph.P0(X)))


def solve_by_factors(graph: Graph, b: Array, gamma: float, tol: float, off: Array) -> Solution:
    """Solve ``(L_N - gamma I) x = b`` off some modes, v0 among them, by factors of the system.

    What rounding leaves, and modes known to some digits only, is solved for again.
    NotConvergedError: too much is left, or a mode below gamma is not among those left out.
    """
    apply = ShiftedSystem(graph, operator(graph), -gamma, off)
    inverse = factorised(graph, graph.laplacian() - gamma * sp.eye_array(graph.n, format="csr"))

    x, r, residual, steps = np.zeros_like(b), b, np.inf, 0
    with threads.single_blas:
        while residual > tol and steps < _SOLVES:
            x = x + apply.project(inverse(r))
            r = b - apply(x)
            residual, steps = relative_residual(r, b), steps + 1
    if (np.einsum("i...,i...->...", x, b) < 0).any():
        raise NotConvergedError("negative curvature: a mode below gamma was missed")
    if not residual <= 2 * tol:
        raise NotConvergedError(f"residual {residual:.1e} after {steps} solves with the factors")
    return Solution(x, residual, steps)

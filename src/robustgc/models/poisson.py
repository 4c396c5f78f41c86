"""The pseudo-inverse of the normalised Laplacian: Poisson learning, and the kernel of Remark 2."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.laplacian import operator
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Array, Operator
from robustgc.linalg import multigrid
from robustgc.linalg.cg import (
    conjugate_gradients,
    relative_residual,
    rounding_of_modes,
    solve_shifted,
)
from robustgc.linalg.dense import solve_by_spectrum
from robustgc.linalg.solution import Solution, check_tol
from robustgc.linalg.spectrum import full_spectrum, tiny_modes
from robustgc.models.harmonic import FAILURES, PATIENT_STEPS, PROBE_STEPS
from robustgc.models.parameters import checked_labels, shaped


def poisson(graph: Graph, y: ArrayLike, *, tol: float = 1e-10) -> Solution:
    """Solve ``L_N f = P0 y`` on the complement of v0: `robust` over gamma, as gamma goes to 0.

    ``f = sum_l (v_l' y) v_l / lambda_l`` over the non-trivial eigenpairs, that is Poisson learning
    with the normalised Laplacian.

    Parameters
    ----------
    graph : Graph
    y : array-like, shape (N,) or (N, columns)
        +1 and -1 for labels, 0 for unlabelled.
    tol : float
        Relative residual asked of iterations (graphs above 1500 nodes).

    Returns
    -------
    Solution
        Modes with eigenvalues below 1e-6 may be answered in closed form and are then left out of
        the residual, which could not resolve them.

    Raises
    ------
    NotConvergedError
        No method reached the tolerance.

    Examples
    --------
    >>> from robustgc import Graph, poisson
    >>> chain = Graph([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> poisson(chain, [1, 0, 0, -1]).f.round(4)
    array([ 6. ,  5.2440, -5.2440, -6. ])
    """
    Y, tol = checked_labels(graph, y), check_tol(tol)
    columns = Y.reshape(graph.n, -1)
    if graph.n <= SMALL:
        return shaped(solve_by_spectrum(graph, columns, [0.0], [1.0])[0], Y, tol)
    solution = _by_products(graph, graph.P0(columns), tol)
    return shaped(solution or _with_closed_modes(graph, columns, tol), Y, tol)


def _by_products(graph: Graph, b: Array, tol: float) -> Solution | None:
    """Solve by conjugate gradients, plain and then with multigrid; None where both stall."""
    L = operator(graph)
    sizes = np.sqrt(np.einsum("ij,ij->j", b, b))

    def apply(x: Array) -> Array:
        return graph.P0(L(x))

    # Where only products are known there is nothing else; a matrix can be factorised.
    plain = PATIENT_STEPS if isinstance(graph._whole, Operator) else PROBE_STEPS
    x, steps = np.zeros_like(b), 0
    for limit in (plain, 300) if graph.is_sparse else (plain,):
        try:
            cycle = graph.P0 if limit == plain else multigrid.hierarchy(graph)
            x, n_iter = conjugate_gradients(
                apply, b, cycle, graph.P0, goal=tol / 2 * sizes, limit=limit, start=x
            )
        except FAILURES:
            continue
        steps += n_iter
        residual = relative_residual(apply(x) - b, b)
        if residual <= 10 * tol:
            return Solution(x, residual, steps)
    return None


def _with_closed_modes(graph: Graph, Y: Array, tol: float) -> Solution:
    """Answer tiny modes in closed form and solve for the others through a factorisation."""
    modes = tiny_modes(graph)
    V = modes.vectors
    rest = solve_shifted(graph, Y, 0.0, off=V, tol=tol)
    weights = np.append(0.0, 1.0 / modes.values[1:])
    f = rest.f + V @ ((V.T @ Y).T * weights).T
    residual = max(rest.residual, rounding_of_modes(graph, V, weights, Y, f))
    return Solution(f, residual, rest.n_iter)


def node_kernel(graph: Graph, i: ArrayLike, j: ArrayLike) -> Array:
    """Return ``K(i, j) = e_i' L_N^+ e_j``, the reproducing kernel of the paper's Remark 2.

    Parameters
    ----------
    graph : Graph
    i, j : int or array-like of int
        Nodes; the answer has one row per ``i`` and one column per ``j``.

    Examples
    --------
    >>> from robustgc import Graph, node_kernel
    >>> node_kernel(Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), 0, [0, 1, 2])
    array([[ 0.625 , -0.1767767, -0.375 ]])
    """
    rows, cols = _checked_nodes(graph, i), _checked_nodes(graph, j)
    if graph.n <= SMALL:
        spectrum = full_spectrum(graph)
        V = spectrum.vectors[:, 1:]
        return np.asarray((V[rows] / spectrum.values[1:]) @ V[cols].T)
    units = np.zeros((graph.n, cols.size))
    units[cols, np.arange(cols.size)] = 1.0
    return np.asarray(solve_shifted(graph, units, 0.0, tol=1e-12).f[rows])


def _checked_nodes(graph: Graph, i: ArrayLike) -> NDArray[Any]:
    nodes = np.atleast_1d(np.asarray(i))
    whole = nodes.ndim == 1 and nodes.size > 0 and nodes.dtype.kind in "iu"
    if not whole or nodes.min() < 0 or nodes.max() >= graph.n:
        raise ValueError(
            f"Nodes must be integers from 0 to {graph.n - 1}, one or a list of them; got "
            f"{quoted(i)}."
        )
    return nodes

"""Models beside the paper's own that have no parameter: labels are +1, -1 and 0 for unlabelled.

`harmonic` keeps every label as it is; `poisson` is where RobustGC goes as gamma goes to 0.
"""

import numpy as np
from numpy.typing import ArrayLike

from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.laplacian import operator
from robustgc.graph.weights import Array, Operator
from robustgc.linalg import multigrid
from robustgc.linalg.cg import (
    conjugate_gradients,
    relative_residual,
    rounding_of_modes,
    solve_shifted,
)
from robustgc.linalg.dense import solve_by_spectrum
from robustgc.linalg.solution import Solution, check_tol, warn_if_inaccurate
from robustgc.linalg.spectrum import tiny_modes
from robustgc.models.dirichlet import PATIENT_STEPS, PROBE_STEPS, dirichlet
from robustgc.models.paper import _label_columns

_FAILURES = (MemoryError, RuntimeError, ValueError, np.linalg.LinAlgError)


def harmonic(graph: Graph, y: ArrayLike, *, tol: float = 1e-10) -> Solution:
    """Keep the labels and give every other node the mean of its neighbours, by weight.

    Zhu, Ghahramani and Lafferty (2003): ``L_uu f_u = -L_ul y_l`` with the combinatorial Laplacian
    ``L = D - W``, u the unlabelled and l the labelled nodes. Labels are taken as certain; wrong
    ones are kept too. Self-loops cancel in ``D - W``.

    Parameters
    ----------
    graph : Graph
    y : array-like, shape (N,) or (N, columns)
        +1 and -1 for labels, 0 for unlabelled; at least one label in every column.
    tol : float
        Relative residual asked of iterations (more than 1500 unlabelled nodes).

    Returns
    -------
    Solution
        ``f`` lies between the smallest and the largest label, and equals y on labelled nodes.

    Raises
    ------
    NotConvergedError
        No method reached the tolerance.

    Examples
    --------
    >>> from robustgc import Graph, harmonic
    >>> chain = Graph([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> harmonic(chain, [1, 0, 0, -1]).f.round(4)
    array([ 1.    ,  0.8333, -0.8333, -1.    ])
    """
    Y, tol = _label_columns(graph, y), check_tol(tol)
    columns = Y.reshape(graph.n, -1)
    together: dict[bytes, list[int]] = {}
    for k, given in enumerate(columns.T != 0):
        if not given.any():
            raise ValueError(
                f"Column {k} of y has no label, so that every constant is harmonic. Label at "
                "least one node with +1 or -1, or leave the column out."
            )
        together.setdefault(given.tobytes(), []).append(k)
    f, residual, n_iter = np.empty_like(columns), 0.0, 0
    for alike in together.values():  # columns that label the same nodes share one system
        found = dirichlet(graph, columns[:, alike[0]] != 0, columns[:, alike], tol)
        f[:, alike] = found.f
        residual, n_iter = max(residual, found.residual), max(n_iter, found.n_iter)
    return warn_if_inaccurate(Solution(f.reshape(Y.shape), residual, n_iter), tol)


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
    Y, tol = _label_columns(graph, y), check_tol(tol)
    columns = Y.reshape(graph.n, -1)
    if graph.n <= SMALL:
        found = solve_by_spectrum(graph, columns, [0.0], [1.0])[0]
        return warn_if_inaccurate(Solution(found.f.reshape(Y.shape), found.residual), tol)
    found = _by_products(graph, graph.P0(columns), tol) or _with_closed_modes(graph, columns, tol)
    return warn_if_inaccurate(Solution(found.f.reshape(Y.shape), found.residual, found.n_iter), tol)


def _by_products(graph: Graph, b: Array, tol: float) -> Solution | None:
    """Solve by conjugate gradients, plain and then with multigrid; None where both stall."""
    L, sparse = operator(graph), graph.is_sparse
    sizes = np.sqrt(np.einsum("ij,ij->j", b, b))

    def apply(x: Array) -> Array:
        return graph.P0(L(x))

    x, steps = np.zeros_like(b), 0
    for smooth in (False, True) if sparse else (False,):
        # Where only products are known there is nothing else; a matrix can be factorised.
        limit = (
            300 if smooth else PATIENT_STEPS if isinstance(graph._whole, Operator) else PROBE_STEPS
        )
        try:
            cycle = multigrid.hierarchy(graph) if smooth else graph.P0
            x, n_iter = conjugate_gradients(
                apply, b, cycle, graph.P0, goal=tol / 2 * sizes, limit=limit, start=x
            )
        except _FAILURES:
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

"""The paper's models on a `Graph`: labels are +1, -1 and 0 for unlabelled.

Theorem 1 is `robust`. Each model takes one label vector or a block of columns and returns a
`Solution`. The extension to new points is in `robustgc.models.extension`; the estimators in
`robustgc.estimators` put class names and components around these.
"""

from collections.abc import Iterable
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Array
from robustgc.linalg.cg import factorised, solve_shifted
from robustgc.linalg.dense import solve_by_spectrum, system_residual
from robustgc.linalg.filters import LiftedFilters, check_residual
from robustgc.linalg.ladder import SolverOptions, lambda_1, solve_robust
from robustgc.linalg.modes import find_modes
from robustgc.linalg.solution import (
    Gammas,
    NotConvergedError,
    NotConvexError,
    Solution,
    check_gamma,
    check_gammas,
    check_positive,
    check_tol,
    warn_if_inaccurate,
)
from robustgc.linalg.spectrum import eigenpairs
from robustgc.models.parameters import checked_labels, columns_by_nodes, shaped

_NEAR_ROUNDING = 1e-6  # ZhouGC's matrix is singular to working precision for a gamma below


def robust(
    graph: Graph,
    y: ArrayLike,
    *,
    gamma: float,
    n_modes: int = 1,
    tol: float = 1e-10,
    solver: str = "auto",
) -> Solution:
    """Minimise ``f' L_N f / 2 - gamma |f + y|^2 / 2`` over ``f' v0 = 0``: RobustGC.

    Theorem 1 of the paper: strongly convex exactly for ``0 < gamma < lambda_1``, and then
    ``f = (L_N / gamma - I)^-1 P0 y``. The parameter-free choice is ``gamma = 0.9 * lambda_1``.

    Parameters
    ----------
    graph : Graph
    y : array-like, shape (N,) or (N, columns)
        +1 and -1 for labels, 0 for unlabelled.
    gamma : float
        Trade-off, ``0 < gamma < lambda_1(graph)``.
    n_modes : int
        Eigenvalues up to this one are lifted to it, and ``gamma`` may be up to it: the model for
        several classes (docs/lifted.md). 1 is the paper's. `solver` has no part in it then.
    tol : float
        Relative residual asked of the iterative solvers (graphs above 1500 nodes).
    solver : {"auto", "dense", "krylov", "multigrid", "direct"}
        See `robustgc.linalg.ladder`.

    Returns
    -------
    Solution
        ``f`` (positive towards +1), ``residual``, ``n_iter``. Modes with eigenvalues below 1e-6
        are answered in closed form and left out of the residual, which could not resolve them.

    Raises
    ------
    NotConvexError
        ``gamma >= lambda_1`` (of the lifted model: ``lambda_q``).

    Examples
    --------
    >>> from robustgc import Graph, lambda_1, robust
    >>> chain = Graph([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> robust(chain, [1, 0, 0, -1], gamma=0.5 * lambda_1(chain)).f.round(4)
    array([ 0.5349,  0.4878, -0.4878, -0.5349])
    """
    if n_modes != 1:
        Y, tol = checked_labels(graph, y), check_tol(tol)
        columns = Y.reshape(graph.n, -1)
        solution = solve_lifted(graph, columns, n_modes=n_modes, gamma=gamma, tol=tol)
        return shaped(solution, Y, tol)
    return robust_path(graph, y, [gamma], tol=tol, solver=solver)[0]


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


def robust_path(
    graph: Graph,
    y: ArrayLike,
    gammas: Iterable[float] | None = None,
    *,
    etas: Iterable[float] | None = None,
    tol: float = 1e-10,
    solver: str = "auto",
) -> list[Solution]:
    """Return `robust` for every gamma of a grid, or for every ``gamma = eta * lambda_1``.

    Up to 1500 nodes all values come from one decomposition, which is kept on the graph. Above, one
    Krylov space answers them all where it converges; else each starts from the one before.

    Examples
    --------
    >>> from robustgc import Graph, robust_path
    >>> chain = Graph([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> [float(s.f[0].round(4)) for s in robust_path(chain, [1, 0, 0, -1], etas=[0.5, 0.9])]
    [0.5349, 4.7346]
    """
    Y, tol = checked_labels(graph, y), check_tol(tol)
    if (gammas is None) == (etas is None):
        raise ValueError(
            "Give gammas, or etas as shares of lambda_1 such as etas=[0.5, 0.9]: one of the two."
        )
    options = SolverOptions(solver=solver, tol=tol)
    outcome, _ = solve_robust(graph, Y.reshape(graph.n, -1), Gammas(gammas, etas), options)
    return [shaped(solution, Y, tol) for solution in outcome.solutions]


def zhou(graph: Graph, y: ArrayLike, *, gamma: float, tol: float = 1e-10) -> Solution:
    """Minimise ``f' L_N f / 2 + gamma |f - y|^2 / 2``: ZhouGC, section 2.3 of the paper.

    Solves ``(L_N + gamma I) f = gamma y`` for any ``gamma > 0``.

    Examples
    --------
    >>> from robustgc import Graph, zhou
    >>> zhou(Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), [1, 0, 0], gamma=1.0).f.round(4)
    array([0.5833, 0.2357, 0.0833])
    """
    return zhou_path(graph, y, [gamma], tol=tol)[0]


def zhou_path(
    graph: Graph, y: ArrayLike, gammas: Iterable[float], *, tol: float = 1e-10
) -> list[Solution]:
    """Return `zhou` for every gamma of a grid: up to 1500 nodes from one decomposition."""
    Y, gammas, tol = checked_labels(graph, y), check_gammas(gammas), check_tol(tol)
    if graph.n > SMALL or len(gammas) == 1:
        solutions = [_zhou(graph, Y, gamma, tol) for gamma in gammas]
    else:
        low = [gamma for gamma in gammas if gamma < 1]
        known = dict(zip(low, solve_by_spectrum(graph, Y, low, low), strict=True))
        solutions = [known[g] if g < 1 else _zhou_series(graph, Y, g) for g in gammas]
    return [warn_if_inaccurate(solution, tol) for solution in solutions]


def _zhou(graph: Graph, Y: Array, gamma: float, tol: float) -> Solution:
    if gamma < _NEAR_ROUNDING:
        if graph.n <= SMALL:
            return solve_by_spectrum(graph, Y, [gamma], [gamma])[0]
        # v0 in closed form, as its weight is 1 whatever gamma; the rest by a solve.
        rest = solve_shifted(graph, Y, gamma, off=graph.v0[:, None], tol=tol)
        return Solution(Y - graph.P0(Y) + gamma * rest.f, rest.residual, rest.n_iter)
    if graph.n > SMALL and gamma >= 1:
        return _zhou_series(graph, Y, gamma)
    # Elimination without pivoting has no cancellation on this matrix (an M-matrix), so even
    # values far from all labels keep their sign; a spectral sum drowns them in rounding.
    if graph.n <= SMALL:
        L = graph.laplacian()
        M = L if isinstance(L, np.ndarray) else L.toarray()
        x = factorised(M + gamma * np.eye(graph.n))(Y)
        return Solution(gamma * x, system_residual(graph, x, Y, gamma))
    rest = solve_shifted(graph, Y, gamma, tol=tol)
    return Solution(gamma * rest.f, rest.residual, rest.n_iter)


def _zhou_series(graph: Graph, Y: Array, gamma: float) -> Solution:
    """Sum ``gamma / (1 + gamma) (S / (1 + gamma))^k y``, the series of ZhouGC for a large gamma.

    Every term is a sum of products of weights: values far from all labels come out with their
    sign and digits, however small they are relative to the others.
    """
    term = gamma / (1 + gamma) * Y
    f, silent, n_iter = term, -1, 0
    while n_iter < 1 + 800 / np.log1p(gamma):  # all that double precision can hold
        n_iter += 1
        term = graph.S(term) / (1 + gamma)
        f = f + term
        silent, before = int((f == 0).sum()), silent
        if silent == before and (np.abs(term) <= 1e-17 * np.abs(f)).all():
            break
    return Solution(f, system_residual(graph, f / gamma, Y, gamma), n_iter)


def belkin(
    graph: Graph, y: ArrayLike, *, n_vectors: int, laplacian: str = "normalized"
) -> Solution:
    """Fit the labels by least squares on the first Laplacian eigenvectors: BelkGC.

    Section 2.2 of the paper, with ``p = n_vectors`` eigenvectors ``v_0 .. v_{p-1}``. With fewer
    labels than vectors the solution of least norm is taken. The paper's text says combinatorial
    Laplacian, its numbers come from the normalised one. If the cut after ``p`` separates equal
    eigenvalues, the vectors kept, and so the answer, are one choice among many.

    Returns
    -------
    Solution
        Here ``residual`` is that of the eigenpairs, relative to the largest eigenvalue.

    Examples
    --------
    >>> from robustgc import Graph, belkin
    >>> chain = Graph([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> belkin(chain, [1, 0, 0, -1], n_vectors=2).f.round(4)
    array([ 1.    ,  0.9535, -0.9535, -1.    ])
    """
    Y = checked_labels(graph, y)
    if not isinstance(n_vectors, Integral):
        raise ValueError(
            f"n_vectors={quoted(n_vectors)} is not allowed; it must be a whole number >= 1."
        )
    basis = eigenpairs(graph, n_vectors, laplacian)
    columns = Y.reshape(graph.n, -1)
    f = np.empty_like(columns)
    for labelled, together in columns_by_nodes(columns):
        targets = columns[np.ix_(labelled, together)]
        fit = np.linalg.lstsq(basis.vectors[labelled], targets, rcond=None)
        f[:, together] = basis.vectors @ fit[0]
    return shaped(Solution(f, basis.residual), Y, 1e-6)


def condition_bound(graph: Graph, gamma: float, *, positive_semidefinite: bool = False) -> float:
    """Bound the condition number of the robust system, section 3.2 of the paper.

    ``(c - gamma) / (lambda_1 - gamma)`` with ``c = 2``, or ``c = 1`` if W is *known* to be
    positive semi-definite (a Gaussian kernel matrix with its diagonal, for instance).

    Examples
    --------
    >>> from robustgc import Graph, condition_bound
    >>> condition_bound(Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), 0.9)
    11.0
    """
    limit = lambda_1(graph)
    gamma = check_gamma(gamma, limit)
    return condition_number_bound(limit, gamma, positive_semidefinite=positive_semidefinite)


def condition_number_bound(limit: float, gamma: float, *, positive_semidefinite: bool) -> float:
    """Return `condition_bound` for a known lambda_1; with a gamma below 0, of ZhouGC's system."""
    least = limit if gamma > 0 else 0.0
    return ((1.0 if positive_semidefinite else 2.0) - gamma) / (least - gamma)

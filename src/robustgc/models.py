"""The paper's models on a `Graph`: labels are +1, -1 and 0 for unlabelled.

Theorem 1 is `robust`. Each model takes one label vector or a block of columns and returns a
`Solution`. The estimators in `robustgc.estimators` put class names and components around these.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from robustgc.graph import SMALL, Array, Graph, Weights
from robustgc.solve import (
    NotConvexError,
    Solution,
    factorised,
    pseudo_inverse,
    relative_residual,
    solve_shifted,
)
from robustgc.spectrum import eigenpairs, full_spectrum, lambda_1


def robust(graph: Graph, y: ArrayLike, *, gamma: float, tol: float = 1e-10) -> Solution:
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
    tol : float
        Relative residual asked of the iterative solver (graphs above 1500 nodes).

    Returns
    -------
    Solution
        ``f`` (positive towards +1), ``residual``, ``n_iter``. The residual cannot go below about
        ``1e-16 / (lambda_1 - gamma)``, the limit that rounding of ``f`` itself sets.

    Raises
    ------
    NotConvexError
        ``gamma >= lambda_1``.

    Examples
    --------
    >>> from robustgc import Graph, lambda_1, robust
    >>> chain = Graph([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> robust(chain, [1, 0, 0, -1], gamma=0.5 * lambda_1(chain)).f.round(4)
    array([ 0.5349,  0.4878, -0.4878, -0.5349])
    """
    return robust_path(graph, y, [gamma], tol=tol)[0]


def robust_path(
    graph: Graph, y: ArrayLike, gammas: Iterable[float], *, tol: float = 1e-10
) -> list[Solution]:
    """Return `robust` for every gamma of a grid.

    Up to 1500 nodes all values come from one decomposition, which is kept on the graph; above,
    lambda_1 and a factorisation, where one was needed, are shared.
    """
    Y, gammas = _label_columns(graph, y), [float(gamma) for gamma in gammas]
    limit = lambda_1(graph)
    for gamma in gammas:
        _check_gamma(gamma, limit)
    if graph.n > SMALL:
        return [solve_shifted(graph, gamma * graph.P0(Y), -gamma, tol=tol) for gamma in gammas]
    values = full_spectrum(graph).values
    weights = [np.append(0.0, gamma / (values[1:] - gamma)) for gamma in gammas]
    return [
        _checked(graph, f, gamma * graph.P0(Y), -gamma)
        for f, gamma in zip(_filtered(graph, Y, weights), gammas, strict=True)
    ]


def zhou(graph: Graph, y: ArrayLike, *, gamma: float, tol: float = 1e-10) -> Solution:
    """Minimise ``f' L_N f / 2 + gamma |f - y|^2 / 2``: ZhouGC, section 2.3 of the paper.

    Solves ``(L_N + gamma I) f = gamma y`` for any ``gamma > 0``.

    Examples
    --------
    >>> from robustgc import Graph, zhou
    >>> zhou(Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), [1, 0, 0], gamma=1.0).f.round(4)
    array([0.5833, 0.2357, 0.0833])
    """
    Y = _label_columns(graph, y)
    _check_positive(gamma)
    # Elimination without pivoting has no cancellation on this matrix (an M-matrix), so even
    # values far from all labels keep their sign; a spectral sum drowns them in rounding. Only a
    # gamma near rounding, where the matrix is singular to working precision, needs the latter.
    if graph.n <= SMALL and gamma < 1e-6:
        return zhou_path(graph, y, [gamma], tol=tol)[0]
    if graph.n <= SMALL:
        L = graph.laplacian()
        M = L if isinstance(L, np.ndarray) else L.toarray()
        f = factorised(M + gamma * np.eye(graph.n))(gamma * Y)
        return _checked(graph, f, gamma * Y, gamma)
    return solve_shifted(graph, gamma * Y, gamma, tol=tol)


def zhou_path(
    graph: Graph, y: ArrayLike, gammas: Iterable[float], *, tol: float = 1e-10
) -> list[Solution]:
    """Return `zhou` for every gamma of a grid, from one decomposition up to 1500 nodes."""
    Y, gammas = _label_columns(graph, y), [float(gamma) for gamma in gammas]
    for gamma in gammas:
        _check_positive(gamma)
    if graph.n > SMALL:
        return [solve_shifted(graph, gamma * Y, gamma, tol=tol) for gamma in gammas]
    values = full_spectrum(graph).values
    weights = [gamma / (values + gamma) for gamma in gammas]
    return [
        _checked(graph, f, gamma * Y, gamma)
        for f, gamma in zip(_filtered(graph, Y, weights), gammas, strict=True)
    ]


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
    Y = _label_columns(graph, y)
    basis = eigenpairs(graph, n_vectors, laplacian)
    columns = Y.reshape(graph.n, -1)
    f = np.empty_like(columns)
    for k, column in enumerate(columns.T):
        labelled = column != 0
        fit = np.linalg.lstsq(basis.vectors[labelled], column[labelled], rcond=None)
        f[:, k] = basis.vectors @ fit[0]
    return Solution(f.reshape(Y.shape), basis.residual)


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
    _check_gamma(gamma, limit)
    return ((1.0 if positive_semidefinite else 2.0) - gamma) / (limit - gamma)


def extend(d: Array, f: Array, k_x: Weights, k_xx: ArrayLike, *, gamma: float) -> Array:
    """Extend decision values to new points: equation (oosextension) of the paper.

    ``f_x = sum_i S_xi f_i / (1 - gamma - k(x, x) / d_x)``, valid where the denominator is
    positive, that is ``d_x > k(x, x) / (1 - gamma)``: the point is close enough to the graph.

    Parameters
    ----------
    d : ndarray, shape (N,)
        Degrees of the fitted graph.
    f : ndarray, shape (N,) or (N, columns)
        Decision values on its nodes.
    k_x : array or sparse array, shape (n_new, N)
        ``k(x, x_j)`` between new points and nodes. Nothing of this size is allocated here; pass
        it in blocks of rows to bound memory.
    k_xx : array-like, scalar or shape (n_new,)
        ``k(x, x)``.
    gamma : float
        As in the fit; ``-gamma`` extends ZhouGC and 0 extends by weighted averaging.

    Returns
    -------
    ndarray, shape (n_new,) or (n_new, columns)
        NaN where the point is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from robustgc import extend
    >>> near_and_far = np.array([[0.9, 0.8], [0.0, 0.1]])
    >>> extend(np.array([1.5, 1.5]), np.array([0.4, 0.2]), near_and_far, 1.0, gamma=0.2).round(4)
    array([1.5377,    nan])
    """
    d_x = np.asarray(k_x.sum(axis=1), dtype=float).ravel()
    reach = np.where(d_x > 0, d_x, 1.0)
    room = 1.0 - gamma - np.asarray(k_xx, dtype=float) / reach
    valid = (room > 0) & (d_x > 0)
    factor = np.full(d_x.shape, np.nan)
    factor[valid] = 1.0 / np.sqrt(reach[valid]) / room[valid]
    f_x = np.asarray(k_x @ (f.T / np.sqrt(d)).T)
    return np.asarray((f_x.T * factor).T)


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
    rows, cols = (np.atleast_1d(np.asarray(nodes)) for nodes in (i, j))
    for nodes in (rows, cols):
        if nodes.dtype.kind not in "iu" or nodes.min() < 0 or nodes.max() >= graph.n:
            raise ValueError(f"Nodes must be integers from 0 to {graph.n - 1}; got {nodes}.")
    if graph.n <= SMALL:
        spectrum = full_spectrum(graph)
        V = spectrum.vectors[:, 1:]
        return np.asarray((V[rows] / spectrum.values[1:]) @ V[cols].T)
    units = np.zeros((graph.n, cols.size))
    units[cols, np.arange(cols.size)] = 1.0
    return np.asarray(pseudo_inverse(graph, units)[rows])


def _filtered(graph: Graph, Y: Array, weights: Iterable[Array]) -> list[Array]:
    """Return ``sum_l w_l (v_l' y) v_l`` for each set of weights."""
    V = full_spectrum(graph).vectors
    coefficients = V.T @ Y
    return [V @ (coefficients.T * w).T for w in weights]


def _checked(graph: Graph, f: Array, b: Array, shift: float) -> Solution:
    """Attach the residual of ``(L_N + shift I) f = b``, computed from its definition."""
    return Solution(f, relative_residual(graph.L_N(f) + shift * f - b, b))


def _label_columns(graph: Graph, y: ArrayLike) -> Array:
    Y = np.asarray(y)
    if Y.dtype.kind not in "biuf":
        raise TypeError(f"y has dtype {Y.dtype}; numbers are needed: +1, -1, 0 for unlabelled.")
    if Y.ndim not in (1, 2) or Y.shape[0] != graph.n:
        raise ValueError(
            f"y has shape {Y.shape} but the graph has {graph.n} nodes; it must be ({graph.n},) or "
            f"({graph.n}, columns), with 0 for unlabelled nodes."
        )
    if not np.isfinite(Y).all():
        raise ValueError("y contains NaN or infinity; use +1, -1 and 0 for unlabelled.")
    return Y.astype(float)


def _check_positive(gamma: float) -> None:
    if not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(f"gamma = {gamma} is not allowed; it must be a finite number > 0.")


def _check_gamma(gamma: float, limit: float) -> None:
    _check_positive(gamma)
    if gamma >= limit:
        raise NotConvexError(
            f"gamma = {gamma:.12g} is not below lambda_1 = {limit:.12g}: by Theorem 1 the problem "
            "is strongly convex only for gamma < lambda_1. Choose gamma = eta * lambda_1 with "
            "0 < eta < 1, for instance eta = 0.9."
        )

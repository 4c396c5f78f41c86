"""The out-of-sample extension: decision values for points outside the fitted graph."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Array, Weights
from robustgc.linalg.solution import as_number


def extend(d: ArrayLike, f: ArrayLike, k_x: Weights, k_xx: ArrayLike, *, gamma: float) -> Array:
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
    if not np.isfinite(as_number(gamma)):
        raise ValueError(
            f"gamma = {quoted(gamma)} is not allowed; it must be a finite number, that of the fit."
        )
    try:
        d, f = np.asarray(d, dtype=float), np.asarray(f, dtype=float)
        k_x = k_x if sp.issparse(k_x) else np.asarray(k_x, dtype=float)
        k_xx = np.asarray(k_xx, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"d, f, k_x and k_xx must be arrays of numbers ({error}).") from error
    nodes = d.shape[0] if d.ndim == 1 else -1
    if k_x.ndim != 2 or k_x.shape[1] != nodes or f.ndim not in (1, 2) or len(f) != nodes:
        raise ValueError(
            f"k_x has shape {k_x.shape}, f {f.shape} and d {d.shape}; for N nodes they must be "
            "(n_new, N), (N,) or (N, columns), and (N,)."
        )
    _check(d, f, k_x, k_xx)
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        d_x = np.asarray(k_x.sum(axis=1), dtype=float).ravel()
        reach = np.where(d_x > 0, d_x, 1.0)
        room = 1.0 - gamma - k_xx / reach
        valid = (room > 0) & (d_x > 0)
        factor = np.full(d_x.shape, np.nan)
        factor[valid] = 1.0 / np.sqrt(reach[valid]) / room[valid]
        f_x = (np.asarray(k_x @ (f.T / np.sqrt(d)).T).T * factor).T
    if not np.isfinite(f_x[valid]).all():
        raise ValueError(
            "The values at new points are beyond what double precision can hold. Divide all "
            "weights (k_x, k_xx and d) by one number, and f by another."
        )
    return np.asarray(f_x)


def _check(d: Array, f: Array, k_x: Weights, k_xx: Array) -> None:
    """Refuse numbers that no fit and no kernel gives."""
    weights = k_x.data if sp.issparse(k_x) else k_x
    if k_xx.shape not in ((), (k_x.shape[0],)):
        raise ValueError(
            f"k_xx has shape {k_xx.shape}; it must be one number, or one for each of the "
            f"{k_x.shape[0]} new points."
        )
    for name, values, least in (("d", d, 5e-324), ("k_x", weights, 0), ("k_xx", k_xx, 0)):
        if values.size and not (values.min() >= least and values.max() < np.inf):
            raise ValueError(
                f"{name} ranges from {values.min():.3g} to {values.max():.3g}; it must be finite "
                f"and {'above 0: isolated nodes have no part' if least else '>= 0'}."
            )
    if not np.isfinite(f).all():
        raise ValueError("f contains NaN or infinity; decision values on nodes must be finite.")

"""Leave-one-out decisions of RobustGC in closed form, without refitting."""

import numpy as np
from numpy.typing import ArrayLike

from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.weights import Array
from robustgc.linalg.spectrum import full_spectrum
from robustgc.models.paper import robust


def leave_one_out(graph: Graph, y: ArrayLike, *, gamma: float) -> Array:
    """Return, at every labelled node, the decision of `robust` fitted without that label.

    The system does not depend on the labels, so leaving label i out changes ``f_i`` by the known
    amount ``K_ii y_i`` with ``K = P0 (L_N / gamma - I)^-1 P0``: exact, and no refit.

    Parameters
    ----------
    graph : Graph
    y : array-like, shape (N,) or (N, columns)
        +1, -1, 0 for unlabelled.
    gamma : float
        ``0 < gamma < lambda_1``.

    Returns
    -------
    ndarray, shape as y
        NaN at unlabelled nodes. A sign opposite to the label's: the model disagrees with it.

    Examples
    --------
    Node 4 is labelled +1 among -1: without that label the model says -1.

    >>> import numpy as np
    >>> from robustgc import Graph, lambda_1, leave_one_out
    >>> W = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    >>> W[2, 3] = W[3, 2] = 0.1
    >>> graph = Graph(W)
    >>> leave_one_out(graph, [1, 0, 0, -1, 1, -1], gamma=0.9 * lambda_1(graph)).round(1)
    array([ 1.5,  nan,  nan, -1.5, -4.5, -1.5])
    """
    f = robust(graph, y, gamma=gamma).f
    Y = np.asarray(y, dtype=float).reshape(graph.n, -1)
    nodes = np.flatnonzero(Y.any(axis=1))
    own = np.zeros((graph.n, 1))
    own[nodes, 0] = _diagonal(graph, gamma, nodes)
    return np.where(Y != 0, f.reshape(Y.shape) - own * Y, np.nan).reshape(f.shape)


def _diagonal(graph: Graph, gamma: float, nodes: np.ndarray) -> Array:
    """Return ``K_ii`` at some nodes."""
    if graph.n <= SMALL:
        spectrum = full_spectrum(graph)
        weights = gamma / (spectrum.values[1:] - gamma)
        return np.asarray(spectrum.vectors[nodes, 1:] ** 2 @ weights)
    units = np.zeros((graph.n, nodes.size))
    units[nodes, np.arange(nodes.size)] = 1.0
    K = robust(graph, units, gamma=gamma).f
    return np.asarray(K[nodes, np.arange(nodes.size)])

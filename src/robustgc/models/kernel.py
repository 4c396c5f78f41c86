"""The reproducing kernel of Remark 2: the pseudo-inverse of the normalised Laplacian."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Array
from robustgc.linalg.cg import solve_shifted
from robustgc.linalg.spectrum import full_spectrum


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
    rows, cols = _nodes(graph, i), _nodes(graph, j)
    if graph.n <= SMALL:
        spectrum = full_spectrum(graph)
        V = spectrum.vectors[:, 1:]
        return np.asarray((V[rows] / spectrum.values[1:]) @ V[cols].T)
    units = np.zeros((graph.n, cols.size))
    units[cols, np.arange(cols.size)] = 1.0
    return np.asarray(solve_shifted(graph, units, 0.0, tol=1e-12).f[rows])


def _nodes(graph: Graph, given: ArrayLike) -> NDArray[Any]:
    nodes = np.atleast_1d(np.asarray(given))
    whole = nodes.ndim == 1 and nodes.size > 0 and nodes.dtype.kind in "iu"
    if not whole or nodes.min() < 0 or nodes.max() >= graph.n:
        raise ValueError(
            f"Nodes must be integers from 0 to {graph.n - 1}, one or a list of them; got "
            f"{quoted(given)}."
        )
    return nodes

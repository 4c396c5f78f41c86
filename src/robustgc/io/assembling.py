"""Edges, each given once or in both directions -> one symmetric matrix, and what was noticed."""

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.csr import CSR
from robustgc.io.opening import InputError

WAYS = ("mean", "max", "sum")


@dataclass(frozen=True)
class Assembled:
    """A symmetric weight matrix, and what the user should know of the edges."""

    W: CSR
    notes: tuple[str, ...]


def assemble(
    sources: NDArray[Any],
    targets: NDArray[Any],
    weights: NDArray[np.float64] | None,
    n_nodes: int,
    *,
    symmetrise: str | None = None,
) -> Assembled:
    """Put edges together.

    An edge may be given once, or in both directions with the same weight: it is one edge then.
    Copies of the same pair in the same direction are added up.

    Parameters
    ----------
    sources, targets : ndarray of int
    weights : ndarray or None
        None: 1 each.
    n_nodes : int
    symmetrise : {None, "mean", "max", "sum"}
        What to do where the two directions differ, a missing one counting as 0. None: an edge
        given in one direction is an edge, different weights are refused.

    Raises
    ------
    DirectedError
        Both directions with different weights; `directed` puts it in words.
    """
    if symmetrise not in (None, *WAYS):
        raise InputError(f"symmetrise={symmetrise!r} is unknown; choose from {', '.join(WAYS)}.")
    shape = (n_nodes, n_nodes)
    data = np.ones(len(sources), dtype=np.int8) if weights is None else weights
    A = sp.csr_array(sp.coo_array((data, (sources, targets)), shape=shape))
    notes = []
    if weights is None and A.nnz < len(sources):  # copies: a byte counts no more than 127
        A = sp.csr_array(sp.coo_array((np.ones(len(sources)), (sources, targets)), shape=shape))
    if copies := len(sources) - A.nnz:
        notes.append(f"{_edges(copies)} came more than once; the weights were added up")
    if loops := int(np.count_nonzero(A.diagonal())):
        notes.append(f"{loops} self-loop{'s' * (loops > 1)} kept; they count in the degree")
    if weights is not None and (zeros := int(np.count_nonzero(A.data == 0))):
        notes.append(f"{_edges(zeros)} of weight 0 left out")
        A.eliminate_zeros()
    W = _both_ways(A, symmetrise)
    graph = CSR.from_scipy(sp.csr_array(W))
    if graph.data is not None and graph.data.dtype != np.float64:
        graph = CSR(graph.indptr, graph.indices, graph.data.astype(np.float64))
    return Assembled(graph, tuple(notes))


def _both_ways(A: Any, symmetrise: str | None) -> Any:
    """Return the symmetric matrix of edges given in one direction or in both."""
    B = sp.csr_array(A.T)
    if symmetrise is not None:
        A, B = A.astype(np.float64), B.astype(np.float64)
        if symmetrise == "max":
            return A.maximum(B)
        total = A + B
        loops = sp.diags_array(A.diagonal())
        return total - loops if symmetrise == "sum" else (total / 2)
    shared = _pattern(A).multiply(_pattern(B))
    if shared.nnz == 0:
        return A + B
    twice = A.multiply(shared)  # given in both directions, or from a node to itself
    if (twice - B.multiply(shared)).count_nonzero():
        _refuse(twice, B)
    return A + B - twice


def _pattern(A: Any) -> Any:
    return sp.csr_array((np.ones(A.nnz, dtype=np.int8), A.indices, A.indptr), shape=A.shape)


class DirectedError(InputError):
    """The two directions of edges differ: `pair` is the first, `count` says how many."""

    def __init__(self, count: int, pair: tuple[int, int], values: tuple[float, float]) -> None:
        super().__init__(count, pair, values)
        self.count, self.pair, self.values = count, pair, values


def _refuse(twice: Any, B: Any) -> NoReturn:
    difference = sp.coo_array(twice - B.multiply(_pattern(twice)))
    difference.eliminate_zeros()
    i, j = int(difference.row[0]), int(difference.col[0])
    values = (float(twice[i, j]), float(B[i, j]))
    raise DirectedError(difference.nnz // 2, (i, j), values)


def directed(error: DirectedError, names: Any, where: str) -> InputError:
    """Say which edge has two weights, by the names of its nodes."""
    i, j = error.pair
    return InputError(
        f"{where}: {_edges(error.count)} came in both directions with different weights, first "
        f"{names[i]} -> {names[j]} with {error.values[0]:g} and back with {error.values[1]:g}. "
        "The graph must be undirected: correct the weights, or choose with --symmetrise "
        f"{'|'.join(WAYS)} (symmetrise= in Python)."
    )


def _edges(count: int) -> str:
    return f"{count} edge{'s' * (count != 1)}"

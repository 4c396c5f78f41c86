"""Estimate the memory and time of a fit beforehand, and refuse one that memory cannot hold."""

from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from robustgc.graph import threads
from robustgc.graph.csr import CSR
from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.quoting import check_choice, quoted
from robustgc.graph.resources import available
from robustgc.linalg.ladder import DTYPES, SINGLE

_STEPS = 30  # products of a typical run where lambda_1 is not small
_SECONDS = 2.5e-9  # per entry and column on one core, vectors beyond the cache: roughly
_ANSWER = 40  # bytes per node: class, reason, component, labels
ENSEMBLE_COLUMNS = 4  # columns for every class where candidates are weighed
GiB = 2**30


@dataclass(frozen=True)
class Estimate:
    """What one fit of RobustGC takes.

    Attributes
    ----------
    memory : float
        Bytes at the peak, the weights included.
    least : float
        Bytes with the slower way that keeps no Krylov basis.
    available : float
        Bytes this process can take now.
    seconds : float
        For spectra that need about 30 products (social networks, random graphs). Where lambda_1 is
        small, expect ten times that and more.
    solver : str
        The solver that would be tried first.
    """

    memory: float
    least: float
    available: float
    seconds: float
    solver: str

    @property
    def fits(self) -> bool:
        """Whether the machine has the memory now."""
        return self.least <= self.available

    def __str__(self) -> str:
        verdict = "fits" if self.fits else "does not fit"
        return (
            f"{self.memory / GiB:.2f} GiB (at least {self.least / GiB:.2f}), {verdict} into "
            f"{self.available / GiB:.2f} GiB; about {self.seconds:.2g} s with the {self.solver} "
            "engine, more if lambda_1 is small"
        )


def estimate(
    graph: Any = None,
    *,
    n_nodes: int | None = None,
    n_edges: int | None = None,
    weighted: bool = False,
    n_classes: int = 2,
    auto: bool = True,
    dtype: str = "auto",
) -> Estimate:
    """Estimate memory and time of a fit from a graph or from sizes alone.

    Parameters
    ----------
    graph : Graph, CSR, scipy sparse matrix, array or path of a graph folder
        Or None, and then:
    n_nodes, n_edges : int
        Sizes of a sparse graph.
    weighted : bool
        Whether its weights differ.
    n_classes : int
    auto : bool, default=True
        Whether eta and n_modes are chosen; False: a fit of ``RobustGC(eta=0.9, n_modes=1)``.
    dtype : {"auto", "float64", "float32"}

    Examples
    --------
    >>> from robustgc import estimate
    >>> need = estimate(n_nodes=50_000_000, n_edges=1_000_000_000, auto=False, dtype="float32")
    >>> bool(8 < need.least / 2**30 < 20)
    True
    """
    if graph is None:
        if n_nodes is None or n_edges is None:
            raise ValueError("Give a graph, or n_nodes and n_edges.")
        n_nodes, n_edges = _count("n_nodes", n_nodes, 1), _count("n_edges", n_edges, 0)
        entries = 2 * n_edges
        index = 4 if n_nodes < 2**31 else 8
        stored = 8.0 * (n_nodes + 1) + entries * (index + 8.0 * weighted)
    else:
        n_nodes, entries, stored = _sizes(graph)
    n_classes = _count("n_classes", n_classes, 1)
    check_choice("dtype", dtype, DTYPES)
    columns = ENSEMBLE_COLUMNS * n_classes if auto else 1 if n_classes == 2 else n_classes
    return _estimated(n_nodes, entries, stored, columns, dtype)


def _count(name: str, value: object, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(
            f"{name}={quoted(value)} is not allowed; it must be a whole number >= {least}."
        )
    return int(value)


def refuse_if_too_large(graph: Graph, columns: int, dtype: str) -> None:
    """Raise MemoryError if solving the graph needs more memory than there is."""
    n, entries, _ = _sizes(graph)
    need = _estimated(n, entries, 0, columns, dtype)  # the weights are there already
    need = replace(need, available=graph.available())
    if not need.fits:
        smaller = "Use dtype='float32' to halve it, free" if dtype == "float64" else "Free"
        raise MemoryError(
            f"Solving this graph of {n} nodes takes at least {need.least / GiB:.2f} GiB beside its "
            f"weights, and {need.available / GiB:.2f} GiB are available. {smaller} memory, or "
            "use a larger machine; robustgc.estimate tells the need before a run."
        )


def _sizes(graph: Any) -> tuple[int, int, float]:
    """Return nodes, entries and bytes of the weights."""
    if isinstance(graph, str | Path):
        graph = CSR.open(graph)
    if isinstance(graph, Graph) and graph.distributed:  # what any one process has
        share = graph.most_rows / graph.n
        return graph.most_rows, int(share * graph.entries), share * graph.entries * 12
    if isinstance(graph, Graph):
        n, rows = graph.n, graph._whole.shape[0]
        if 2 * n < rows:  # a small piece is solved by itself
            _, entries, stored = _sizes(graph._whole)
            return n, entries * n // rows, stored * n / rows
        graph = graph._whole
    if isinstance(graph, CSR):
        return graph.shape[0], graph.nnz, float(graph.nbytes)
    if sp.issparse(graph):
        coordinates = 12 if graph.shape[0] < 2**31 else 16
        return graph.shape[0], graph.nnz, float(graph.nnz * coordinates + 8 * graph.shape[0])
    if hasattr(graph, "shape") and not isinstance(graph, np.ndarray):  # products on the fly
        return graph.shape[0], graph.shape[0] ** 2, 0.0
    W = np.asarray(graph)
    return W.shape[0], W.size, float(W.nbytes)


def _estimated(n: int, entries: int, stored: float, columns: int, dtype: str) -> Estimate:
    if dtype == "auto":
        dtype = "float32" if n >= SINGLE else "float64"
    size = np.dtype(dtype).itemsize
    if n <= SMALL:
        return Estimate(stored + 40.0 * n * n, stored + 40.0 * n * n, available(), 1.0, "dense")
    vectors = n * size * (4 * (columns + 1) + 2 + columns) + 16.0 * n  # recurrences, v0, scale, d
    basis = float(_STEPS * n * columns * size)
    answer = float(n * (_ANSWER + 24 * columns))
    least = stored + vectors + answer
    seconds = _STEPS * (entries + 4 * n) * (columns + 1) * _SECONDS / threads.n_threads()
    return Estimate(least + basis, least, available(), seconds, "krylov")

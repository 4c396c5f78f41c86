"""Choose a solver by size and a probe, check its result, and try the next if it fails.

dense      one decomposition; up to 1500 nodes
krylov     Lanczos from the labels; a few products where lambda_1 is well apart from 0
multigrid  algebraic multigrid; grids, roads, neighbour graphs, where Lanczos would take thousands
direct     sparse factorisation; tiny lambda_1, graphs that fit it into memory
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.laplacian import fits_single, laplacian_of
from robustgc.graph.quoting import check_choice
from robustgc.graph.weights import Array, Operator
from robustgc.linalg import dense, factors, krylov, multigrid
from robustgc.linalg.solution import (
    FAILURES,
    Gammas,
    NotConvergedError,
    PathSolution,
    Watch,
    check_tol,
    ignore_progress,
)

SOLVERS = ("auto", "dense", "krylov", "multigrid", "direct")
DTYPES = ("auto", "float64", "float32")
TOLERANCE = {"float64": 1e-8, "float32": 1e-5}
SINGLE = 100_000  # nodes from which memory traffic is what a fit costs


@dataclass(frozen=True)
class SolverOptions:
    """Solver, tolerance, precision and progress report that systems are solved with.

    ``dtype="auto"`` is single precision where the graph is large and the tolerance allows it.
    Degrees too far apart for single precision are held in double, whatever was asked for;
    ``tol=None`` is 1e-8 in double and 1e-5 in single precision.
    """

    solver: str = "auto"
    tol: float | None = None
    dtype: str = "auto"
    watch: Callable[[str], Watch] | None = None

    def __post_init__(self) -> None:
        check_choice("solver", self.solver, SOLVERS)
        check_choice("dtype", self.dtype, DTYPES)
        if self.tol is not None:
            check_tol(self.tol)

    def watching(self, name: str) -> Watch:
        """Return what a stage of that name reports to."""
        return self.watch(name) if self.watch else ignore_progress


@dataclass(frozen=True)
class Attempt:
    """One solver that was tried, why, and what came of it."""

    solver: str  # its name and, where it is not double, the precision
    reason: str
    result: str
    seconds: float


def lambda_1(graph: Graph) -> float:
    """Return the smallest non-trivial eigenvalue of ``L_N``, the bound on gamma in Theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> from robustgc import Graph, lambda_1
    >>> round(lambda_1(Graph(np.ones((6, 6)) - np.eye(6))), 12)
    1.2
    """
    if "lambda_1" not in graph._memo:
        no_labels = np.empty((graph.rows, 0))
        outcome, _ = solve_robust(graph, no_labels, Gammas(), SolverOptions(tol=1e-10))
        graph._memo["lambda_1"] = outcome.lambda_1
    return float(graph._memo["lambda_1"])


def solve_robust(
    graph: Graph, Y: Array, requested: Gammas, options: SolverOptions
) -> tuple[PathSolution, tuple[Attempt, ...]]:
    """Answer RobustGC for all gammas, with lambda_1; climb the ladder until a result is right.

    The last attempt of the history is the one that answered.

    Raises
    ------
    NotConvexError
        A gamma is not below lambda_1.
    NotConvergedError
        No solver reached the tolerance; the text says what was tried and how far each got.
    """
    history: list[Attempt] = []
    for name, reason, solve in _rungs(graph, Y, requested, options, history):
        start = time.perf_counter()
        try:
            outcome = solve()
        except FAILURES as failure:
            text = str(failure) or "out of memory"
            history.append(Attempt(name, reason, text, time.perf_counter() - start))
            continue
        history.append(Attempt(name, reason, outcome.note, time.perf_counter() - start))
        if "float32" not in name and outcome.eigen_residual < 1e-6:
            graph._memo["lambda_1"] = outcome.lambda_1
        return outcome, tuple(history)
    tried = "; ".join(f"{attempt.solver}: {attempt.result}" for attempt in history)
    raise NotConvergedError(
        f"The graph of {graph.n} nodes was not solved to the tolerance "
        f"{dtype_and_tolerance(graph, options)[1]:g}. "
        f"Tried {tried}. {cure(graph, 'lower eta, try another solver,')}"
    )


def cure(graph: Graph, otherwise: str) -> str:
    """Return what to do where no solver reaches the tolerance, and what else if not that."""
    if isinstance(graph._whole, Operator):
        return (
            "The kernel is too wide to store and too narrow for products: use affinity='knn', "
            "landmarks= or another sigma."
        )
    return f"Raise tol, {otherwise} or remove very weak edges."


def dtype_and_tolerance(graph: Graph, options: SolverOptions) -> tuple[str, float]:
    """Return the dtype to begin with, and the relative residual to reach."""
    dtype = options.dtype
    if dtype == "auto":
        allowed = options.tol is None or options.tol >= TOLERANCE["float32"]
        dtype = "float32" if graph.n >= SINGLE and allowed else "float64"
    tol = options.tol or TOLERANCE[dtype]
    return dtype if dtype == "float64" or fits_single(graph) else "float64", tol


def _rungs(
    graph: Graph, Y: Array, requested: Gammas, options: SolverOptions, history: list[Attempt]
) -> Iterator[tuple[str, str, Callable[[], PathSolution]]]:
    """Name the solvers to try in order, each with its reason."""
    asked, (dtype, tol) = options.solver, dtype_and_tolerance(graph, options)
    auto, sparse = asked == "auto", graph.is_sparse

    def why(reason: str) -> str:
        return reason if auto else f"solver={asked!r}"

    def lanczos(dtype: str, patient: bool) -> Callable[[], PathSolution]:
        watch = options.watching("krylov")
        return lambda: krylov.run(laplacian_of(graph, dtype), Y, requested, tol, patient, watch)

    if asked in ("dense", "direct") and graph.distributed:
        raise ValueError(
            f"solver={asked!r} needs all {graph.n} nodes in one process; with engine='mpi' use "
            "'auto', 'krylov' or 'multigrid'."
        )
    if asked == "multigrid" and not sparse:
        raise ValueError(
            "solver='multigrid' needs a sparse weight matrix; this one is dense. Use 'auto', "
            "'krylov' or 'dense', or pass a scipy sparse matrix."
        )
    if asked == "dense" or (auto and graph.n <= SMALL):
        yield "dense", why(f"{graph.n} nodes"), lambda: dense.run(graph, Y, requested)
        return
    if asked in ("auto", "krylov"):
        reason = why(f"{graph.n} nodes: a probe")
        if dtype == "float32":
            yield "krylov float32", reason, lanczos("float32", not auto)
            reason = "single precision did not reach the tolerance"
        if not (auto and history and krylov.SLOW in history[-1].result):
            yield "krylov", reason, lanczos("float64", not auto)
    if asked == "multigrid" or (auto and sparse):
        yield (
            "multigrid",
            why("Lanczos would take too long"),
            lambda: multigrid.run(graph, Y, requested, tol, options.watching("multigrid")),
        )
    if asked == "direct" or (auto and graph.is_here):
        reason = why("what is left for hard spectra")
        yield "direct", reason, lambda: factors.run(graph, Y, requested, tol)
    if auto:
        yield "krylov", "nothing else is left", lanczos("float64", True)

"""RobustGC inside an MPI program: what the estimator asks of the ranks."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustgc.estimators.fits import AnswersOnly, GraphProblem
from robustgc.graph.alerts import warn
from robustgc.graph.quoting import quoted
from robustgc.graph.resources import rank_by_mpiexec
from robustgc.graph.weights import Array
from robustgc.linalg.ladder import SolverOptions
from robustgc.models.parameters import Parameters
from robustgc.mpi.exchange import check_equal
from robustgc.mpi.fit import Fitted, fit_codes
from robustgc.mpi.share import from_petsc, from_weights
from robustgc.mpi.world import collective_errors, world
from robustgc.transduction.labels import encode, unlabelled
from robustgc.transduction.priors import relative_sizes, with_shares

SPREAD = (
    "The nodes of this fit are spread over ranks: update and suggest_queries need them in one "
    "process. Fit with engine='local' to use them."
)
ALONE = (
    "engine='mpi' runs on one rank: this program was not started by mpiexec. Start it with "
    "mpiexec -n 4, or pass n_ranks=4."
)


def meet(error: Exception | None = None) -> None:
    """Wait for all ranks; if one comes with an error, all of them raise it."""
    with collective_errors(world()):
        if error is not None:
            raise error


def answer_all(problem: GraphProblem, options: SolverOptions) -> AnswersOnly:
    """Answer for weights and labels that every rank has; every rank gets all answers."""
    comm, labels, sizes = world(), problem.labels, problem.sample_weight
    if rank_by_mpiexec() is None:
        warn(ALONE)
    nodes = np.flatnonzero(labels.codes >= 0)
    given = replace(labels, codes=labels.codes[nodes])
    parts = (given.classes, nodes, given.codes, sizes[nodes])
    about, short = repr([part.tolist() for part in parts]), f"{len(nodes)} labels"
    check_equal(comm, about, short, "The labels are", "Give the same y to all ranks.")
    share = from_weights(problem.weights, comm)
    psd = problem.positive_semidefinite
    fitted = fit_codes(share, nodes, given, sizes[nodes], problem.parameters, options, psd=psd)
    mine = fitted.answer
    whole: dict[str, Any] = {
        name: np.concatenate(comm.allgather(getattr(mine, name)))
        for name in ("f", "codes", "reasons", "number", "d")
    }
    answer = replace(mine, **whole)
    if problem.shares is not None:
        answer = with_shares(answer, problem.shares)
    return AnswersOnly(answer, lambda: fitted.issues, SPREAD)


def answer_own(
    matrix: Any, y: Any, sample_weight: ArrayLike | None, unlabeled: Any, parameters: Parameters,
    options: SolverOptions,
) -> tuple[Fitted, AnswersOnly]:  # fmt: skip
    """Answer for a distributed matrix of petsc4py; every rank gets the answers of its own rows.

    Parameters
    ----------
    y : array-like of the own rows, or mapping
        From any node, numbered over all ranks, to its label.
    """
    share = from_petsc(matrix)
    comm = share.comm
    with collective_errors(comm):
        mine = _pairs(y, share.first, share.rows, unlabeled)
        sizes = _sizes(sample_weight, mine, share.first, share.rows)
    nodes, values, weight = _merged_labels(comm.allgather((*mine, sizes)), share.n)
    given = encode(values, n_nodes=len(nodes), unlabeled=unlabeled)
    keep = (weight > 0) & (given.codes >= 0)  # a mapping may have None in it
    given = replace(given, codes=given.codes[keep])
    weight = relative_sizes(weight[keep], given.codes, given.classes)
    fitted = fit_codes(share, nodes[keep], given, weight, parameters, options)
    return fitted, AnswersOnly(fitted.answer, lambda: fitted.issues, SPREAD)


def _pairs(y: Any, first: int, rows: int, unlabeled: Any) -> tuple[NDArray[Any], list[Any]]:
    """Return labelled nodes and their labels, as this rank has been given them."""
    if isinstance(y, Mapping):
        return np.array(list(y), dtype=np.int64), list(y.values())
    if len(y) != rows:
        raise ValueError(
            f"There are {len(y)} labels for the {rows} rows of this rank; y needs one entry for "
            "each of them, or may be a mapping from node to label."
        )
    values = np.empty(rows, dtype=object)
    values[:] = list(y)
    known = np.flatnonzero(~unlabelled(values, unlabeled, warn=True))
    return first + known, values[known].tolist()


def _sizes(
    sample_weight: ArrayLike | None, mine: tuple[NDArray[Any], list[Any]], first: int, rows: int
) -> Array:
    if sample_weight is None:
        return np.ones(len(mine[0]))
    sizes = np.asarray(sample_weight, dtype=float)
    here = (mine[0] >= first) & (mine[0] < first + rows)
    if sizes.shape != (rows,) or not here.all():
        raise ValueError(
            f"sample_weight has shape {sizes.shape} for {rows} rows of this rank; it must have one "
            "weight for each of them, and labels must be those of these rows."
        )
    found = sizes[mine[0] - first]
    if not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError("sample_weight must be finite and at least 0 (0 leaves a label out).")
    return np.asarray(found)


def _merged_labels(told: list[Any], n: int) -> tuple[NDArray[np.int64], NDArray[np.object_], Array]:
    """Put the labels of all ranks together; a node has one."""
    nodes = np.concatenate([part[0] for part in told]).astype(np.int64)
    values = np.empty(len(nodes), dtype=object)
    values[:] = [value for part in told for value in part[1]]
    sizes = np.concatenate([part[2] for part in told])
    bad = nodes[(nodes < 0) | (nodes >= n)]
    if bad.size:
        raise ValueError(
            f"{bad.size} labelled nodes are not in the graph, first {bad[0]}; nodes are numbered "
            f"from 0 to {n - 1} over all ranks."
        )
    order = np.argsort(nodes, kind="stable")
    nodes, values, sizes = nodes[order], values[order], sizes[order]
    again = np.flatnonzero(nodes[1:] == nodes[:-1])
    for k in again.tolist():
        if values[k] != values[k + 1]:
            raise ValueError(
                f"Node {nodes[k]} has two labels, {quoted(values[k])} and {quoted(values[k + 1])}. "
                "Keep one."
            )
    first = np.concatenate([[True], nodes[1:] != nodes[:-1]]) if len(nodes) else nodes == 0
    return nodes[first], values[first], sizes[first]

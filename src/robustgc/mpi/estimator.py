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
from robustgc.mpi.fit import Fitted, fit_problem
from robustgc.mpi.share import from_petsc, from_weights
from robustgc.mpi.world import collective_errors, world
from robustgc.transduction.labels import encode, unlabelled
from robustgc.transduction.priors import normalised_weights, with_shares

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
    comm, labels, nodes = world(), problem.labels, problem.nodes
    if rank_by_mpiexec() is None:
        warn(ALONE)
    known = (labels.classes, nodes, labels.codes, problem.sample_weight)
    about, short = repr([each.tolist() for each in known]), f"{len(nodes)} labels"
    check_equal(comm, about, short, "The labels are", "Give the same y to all ranks.")
    fitted = fit_problem(from_weights(problem.weights, comm), problem, options)
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

    The labels `y` are those of the own rows, or a mapping from any node, numbered over all ranks.
    """
    share = from_petsc(matrix)
    comm = share.comm
    with collective_errors(comm):
        mine = _pairs(y, share.first, share.rows, unlabeled)
        weights = _own_weights(sample_weight, mine[0], share.first, share.rows)
    nodes, values, weights = _merged_labels(comm.allgather((*mine, weights)), share.n)
    labels = encode(values, n_nodes=len(nodes), unlabeled=unlabeled)
    counts = (weights > 0) & (labels.codes >= 0)  # a mapping may have None in it
    labels = replace(labels, codes=labels.codes[counts])
    weights = normalised_weights(weights[counts], labels.codes, labels.classes)
    problem = GraphProblem(None, nodes[counts], labels, weights, parameters)
    fitted = fit_problem(share, problem, options)
    return fitted, AnswersOnly(fitted.answer, lambda: fitted.issues, SPREAD)


def _pairs(y: Any, first: int, rows: int, unlabeled: Any) -> tuple[NDArray[Any], list[Any]]:
    """Return the labelled nodes of this rank and their labels."""
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


def _own_weights(
    sample_weight: ArrayLike | None, nodes: NDArray[Any], first: int, rows: int
) -> Array:
    """Return the weights of this rank's labels from those of its rows."""
    if sample_weight is None:
        return np.ones(len(nodes))
    weights = np.asarray(sample_weight, dtype=float)
    here = (nodes >= first) & (nodes < first + rows)
    if weights.shape != (rows,) or not here.all():
        raise ValueError(
            f"sample_weight has shape {weights.shape} for {rows} rows of this rank; it must have "
            "one weight for each of them, and labels must be those of these rows."
        )
    weights = weights[nodes - first]
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("sample_weight must be finite and at least 0 (0 leaves a label out).")
    return np.asarray(weights)


def _merged_labels(
    of_ranks: list[Any], n: int
) -> tuple[NDArray[np.int64], NDArray[np.object_], Array]:
    """Put nodes, labels and weights of all ranks together; a node has one label."""
    nodes = np.concatenate([each[0] for each in of_ranks]).astype(np.int64)
    values = np.empty(len(nodes), dtype=object)
    values[:] = [value for each in of_ranks for value in each[1]]
    weights = np.concatenate([each[2] for each in of_ranks])
    bad = nodes[(nodes < 0) | (nodes >= n)]
    if bad.size:
        raise ValueError(
            f"{bad.size} labelled nodes are not in the graph, first {bad[0]}; nodes are numbered "
            f"from 0 to {n - 1} over all ranks."
        )
    order = np.argsort(nodes, kind="stable")
    nodes, values, weights = nodes[order], values[order], weights[order]
    first = np.diff(nodes, prepend=-1) > 0
    for k in np.flatnonzero(~first).tolist():
        if values[k - 1] != values[k]:
            raise ValueError(
                f"Node {nodes[k]} has two labels, {quoted(values[k - 1])} and {quoted(values[k])}. "
                "Keep one."
            )
    return nodes[first], values[first], weights[first]

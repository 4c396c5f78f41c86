"""A fit on ranks that one process starts on its machine, for notebooks and scripts.

A job is a temporary folder with a problem, and later with its answers; no code in it. Nobody reads
the answers before the ranks have ended well: files need not be written whole or not at all.
"""

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.audit.issues import LabelIssues
from robustgc.estimators.fits import AnswersOnly, GraphProblem
from robustgc.graph.csr import CSR
from robustgc.graph.weights import Array, Operator, Weights
from robustgc.linalg.ladder import SolverOptions
from robustgc.models.parameters import Parameters
from robustgc.mpi.fit import Fitted, fit_problem
from robustgc.mpi.mpiexec import run_ranks, write_error
from robustgc.mpi.stop import FailureBarrier
from robustgc.mpi.world import MissingMPIError, collective_errors, world
from robustgc.storage.answers import (
    constant_arrays,
    encoded_certificates,
    issue_arrays,
    node_arrays,
    read_answer,
    read_issues,
)
from robustgc.storage.files import read, write
from robustgc.storage.values import Checked, decoded_array, encoded
from robustgc.transduction.answer import Transduction
from robustgc.transduction.labels import Labels
from robustgc.transduction.priors import with_shares

ENDED = (
    "The ranks that n_ranks= started have ended, and with them what update and suggest_queries "
    "start from. Fit with engine='local' to use them."
)
GRAPH, PROBLEM, ABOUT = "graph", "problem", "about.json"


def fit_on_ranks(problem: GraphProblem, options: SolverOptions, n_ranks: int) -> AnswersOnly:
    """Answer for all nodes on some ranks of this machine.

    The weights go through a folder for temporary files, ``TMPDIR``, which is removed. What a rank
    has raised is raised again; a RuntimeError says that a rank died.
    """
    if isinstance(problem.weights, Operator):
        raise ValueError(
            "engine='mpi' needs weights that are stored, and this kernel is only ever multiplied "
            "with. Use affinity='knn', or a sparse matrix with affinity='precomputed'."
        )
    with tempfile.TemporaryDirectory(prefix="robustgc-") as name:
        folder = Path(name)
        write_job(folder, problem, options)
        run_ranks(int(n_ranks), folder)
        answer, issues = read_answers(folder, problem.weights.shape[0], problem.labels.classes)
    if problem.shares is not None:
        answer = with_shares(answer, problem.shares)
    return AnswersOnly(answer, issues, ENDED)


def main(folder: Path) -> None:
    """Answer a job together with the other ranks: all that a rank does."""
    try:
        ending = FailureBarrier(world())
    except MissingMPIError as error:
        write_error(folder, 0, error)
        return
    try:
        _answer(folder, ending.comm)
    except Exception as error:
        write_error(folder, ending.comm.rank, error)
        if not ending.all_ranks_arrive():
            ending.stop_all(f"{type(error).__name__}: {error}")


def _answer(folder: Path, comm: Any) -> None:
    from robustgc.mpi.reading import read_share  # here, so that what is missing is an error, too

    with collective_errors(comm):
        problem, options = read_job(folder)
    share = read_share(folder / GRAPH, comm).share
    write_answers(folder, fit_problem(share, problem, options))


def write_job(folder: Path, problem: GraphProblem, options: SolverOptions) -> None:
    """Write what the ranks need to answer."""
    _stored(problem.weights).save(folder / GRAPH)
    labels, weights = problem.labels, problem.sample_weight
    arrays = {"nodes": problem.nodes, "codes": labels.codes, "weights": weights}
    about = {
        "classes": encoded(labels.classes, "classes_"),
        "parameters": asdict(problem.parameters),
        "psd": problem.positive_semidefinite,
        "options": {"solver": options.solver, "tol": options.tol, "dtype": options.dtype},
    }
    write(folder / PROBLEM, about, arrays)


def _stored(W: Weights) -> CSR:
    """Return weights as a folder of a graph has them, where a weight of 0 is no entry."""
    if isinstance(W, CSR):
        return W
    rows = sp.csr_array(W)
    if not rows.data.all():
        rows = rows.copy()
        rows.eliminate_zeros()
    return CSR.from_scipy(rows)


def read_job(folder: Path) -> tuple[GraphProblem, SolverOptions]:
    """Return the problem without its graph, and how to solve it."""
    about, arrays = read(folder / PROBLEM)
    labels = Labels(decoded_array(about["classes"]), arrays["codes"], None)
    rest = (arrays["weights"], Parameters(**about["parameters"]), None, about["psd"])
    return GraphProblem(None, arrays["nodes"], labels, *rest), SolverOptions(**about["options"])


def write_answers(folder: Path, fitted: Fitted) -> None:
    """Write the answers, every rank its rows of each array. All ranks call this together."""
    comm, answer, columns = fitted.share.comm, fitted.answer, fitted.answer.f.shape[1]
    issues = fitted.issues  # all ranks judge them together: not below, where rank 0 is alone
    texts = sorted({text for some in comm.allgather(set(answer.reasons)) for text in some})
    constants: dict[int, Array] = {}
    for some in comm.allgather(answer.constants):
        constants |= some
    rows = node_arrays(answer, texts)
    rows["components"] = np.asarray(answer.number, dtype=np.int64)  # of one type on all ranks
    with collective_errors(comm):
        if comm.rank == 0:
            for name, values in rows.items():
                whole = (fitted.share.n, *values.shape[1:])
                room = np.lib.format.open_memmap(folder / f"{name}.npy", "w+", values.dtype, whole)
                room.flush()
            small = {**constant_arrays(constants, columns), **issue_arrays(issues)}
            for name, values in small.items():
                np.save(folder / f"{name}.npy", values, allow_pickle=False)
    with collective_errors(comm):
        for name, values in rows.items():
            _put(folder / f"{name}.npy", values, fitted.share.first)
    with collective_errors(comm):
        if comm.rank == 0:  # last: without it nothing is read
            about = {
                "reasons": texts,
                "certificates": encoded_certificates(answer.certificates),
                "issues": {"noise_rate": float(issues.noise_rate)},
            }
            (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")


def _put(file: Path, values: NDArray[Any], first: int) -> None:
    """Write rows at their place; not by a memory map, whose pages two ranks may share."""
    with file.open("r+b") as stream:
        np.lib.format.read_magic(stream)
        np.lib.format.read_array_header_1_0(stream)
        stream.seek(first * values[:1].nbytes if len(values) else 0, 1)
        stream.write(np.ascontiguousarray(values).data)


def read_answers(folder: Path, n: int, classes: NDArray[Any]) -> tuple[Transduction, LabelIssues]:
    """Read the answers for all n nodes, checked as those of a saved model are."""
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    arrays = {file.stem: np.load(file, allow_pickle=False) for file in folder.glob("*.npy")}
    checked = Checked(folder, about, arrays)
    answer, issues = read_answer(checked, n, len(classes)), read_issues(checked, n, classes)
    assert isinstance(issues, LabelIssues)
    return answer, issues

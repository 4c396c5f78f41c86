"""A folder with a question for the ranks, and later with their answers; no code in it."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.audit.issues import LabelIssues
from robustgc.estimators.fits import GraphProblem
from robustgc.estimators.saving.reading import Reading
from robustgc.estimators.saving.state import constant_arrays, encoded_certificates, issue_arrays
from robustgc.graph.csr import CSR
from robustgc.graph.weights import Array, Weights
from robustgc.linalg.ladder import SolverOptions
from robustgc.models.parameters import Parameters
from robustgc.mpi.fit import Fitted
from robustgc.mpi.world import collective_errors
from robustgc.storage.values import array, encoded
from robustgc.transduction.answer import Transduction
from robustgc.transduction.labels import Labels

GRAPH, MODEL, LABELS, ABOUT = "graph", "model.json", "labels.npz", "about.json"


@dataclass(frozen=True, eq=False)
class Job:
    """A problem but for its graph, and how to solve it."""

    problem: GraphProblem
    options: SolverOptions


def write_job(folder: Path, problem: GraphProblem, options: SolverOptions) -> None:
    """Write the question."""
    _stored(problem.weights).save(folder / GRAPH)
    labels, weights = problem.labels, problem.sample_weight
    np.savez(folder / LABELS, nodes=problem.nodes, codes=labels.codes, weights=weights)
    about = {
        "classes": encoded(labels.classes, "classes_"),
        "parameters": asdict(problem.parameters),
        "psd": problem.positive_semidefinite,
        "options": {"solver": options.solver, "tol": options.tol, "dtype": options.dtype},
    }
    (folder / MODEL).write_text(json.dumps(about), encoding="utf-8")


def _stored(W: Weights) -> CSR:
    """Return weights as they are kept in a folder, where a weight of 0 is no entry."""
    if isinstance(W, CSR):
        return W
    rows = sp.csr_array(W)
    if not rows.data.all():
        rows = rows.copy()
        rows.eliminate_zeros()
    return CSR.from_scipy(rows)


def read_job(folder: Path) -> Job:
    """Read the question, but for the graph."""
    about = json.loads((folder / MODEL).read_text(encoding="utf-8"))
    with np.load(folder / LABELS, allow_pickle=False) as found:
        nodes, codes, weights = found["nodes"], found["codes"], found["weights"]
    labels, parameters = Labels(array(about["classes"]), codes, None), about["parameters"]
    rest = (weights, Parameters(**parameters), None, about["psd"])
    return Job(GraphProblem(None, nodes, labels, *rest), SolverOptions(**about["options"]))


def write_answers(folder: Path, fitted: Fitted) -> None:
    """Write the answers, every rank its rows of each array. All ranks call this together."""
    comm, answer, columns = fitted.share.comm, fitted.answer, fitted.answer.f.shape[1]
    issues = fitted.issues  # found together: not below, where rank 0 is alone
    texts = sorted({text for some in comm.allgather(set(answer.reasons)) for text in some})
    constants: dict[int, Array] = {}
    for some in comm.allgather(answer.constants):
        constants |= some
    number = {text: code for code, text in enumerate(texts)}
    rows: dict[str, NDArray[Any]] = {
        "f": answer.f,
        "codes": answer.codes,
        "reasons": np.array([number[text] for text in answer.reasons], dtype=np.uint8),
        "components": np.asarray(answer.number, dtype=np.int64),
        "degrees": answer.d,
    }
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
    reading = Reading(folder, about, arrays)
    answer, issues = reading.answer(n, len(classes)), reading.issues(n, classes)
    assert isinstance(issues, LabelIssues)
    return answer, issues

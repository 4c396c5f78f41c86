"""`robustgc classify --engine mpi`: every rank reads, answers and writes its own rows."""

import time
from pathlib import Path
from typing import Any

from robustgc.cli import shared
from robustgc.cli.errors import WRONG_USAGE, stop
from robustgc.cli.options import PIPE
from robustgc.cli.ranks import Ranks, on_ranks
from robustgc.cli.shared import GraphQuestion, ModelQuestion


def classify(
    asked: ModelQuestion,
    output: Path | None,
    report: Path | None,
    save: Path | None,
    merge: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Answer on the ranks that mpiexec has started."""
    with on_ranks(quiet) as ranks:
        with ranks.once():
            check_usage(asked, output, report, save)
        assert output is not None
        found = _classified(ranks, asked, output, merge)
        from robustgc.cli.classify import sentence

        ranks.say(sentence(found))
        if as_json and ranks.first:
            shared.machine(found)


def check_usage(
    asked: ModelQuestion, output: Path | None, report: Path | None, save: Path | None
) -> None:
    """Refuse options that do not go with several ranks."""
    after = "Write one table with --merge, and use that."
    if asked.points is not None:
        stop(
            "--points does not go with --engine mpi, which reads graphs: make one of the points "
            "first, and give it as EDGES.",
            WRONG_USAGE,
        )
    shared.check_usage(asked)
    check_files(asked)
    if report is not None:
        stop(
            f"--report does not go with --engine mpi: a page needs the whole graph in one place. "
            f"{after}",
            WRONG_USAGE,
        )
    if save is not None:
        stop(
            f"--save does not go with --engine mpi: a model holds the whole graph. {after}",
            WRONG_USAGE,
        )
    if output is None:
        stop(
            "--engine mpi needs -o: a folder, to which every rank writes its part, or with --merge "
            "a .csv or .parquet file.",
            WRONG_USAGE,
        )


def check_files(asked: GraphQuestion) -> None:
    """Refuse input that not all ranks can read."""
    if PIPE in (str(asked.edges), getattr(asked, "labels", None)):
        stop(
            "standard input (-) does not go with --engine mpi: one rank has it, and all read. Name "
            "files.",
            WRONG_USAGE,
        )
    if asked.sheet is not None:
        stop(
            "--sheet does not go with --engine mpi, which reads tables of text and Parquet: "
            "convert EDGES first with `robustgc convert`.",
            WRONG_USAGE,
        )


def _classified(ranks: Ranks, asked: ModelQuestion, output: Path, merge: bool) -> dict[str, Any]:
    from robustgc.cli.classify import check_apart, inputs
    from robustgc.mpi.stop import StopMessage
    from robustgc.mpi.world import collective_errors
    from robustgc.mpi.write_parts import check_folder, check_mergeable, schema, write_parts
    from robustgc.mpi.write_parts import merge as merged

    comm, folder = ranks.comm, Path(f"{output}.parts") if merge else output
    checkpoint = Path(f"{output}.checkpoint")
    with collective_errors(comm):
        if ranks.first:  # all ranks see the same folders
            check_apart(inputs(asked), [output, folder, checkpoint])
            if merge:
                check_mergeable(output)
            check_folder(folder)
    stage = StopMessage(
        comm.rank,
        f"Finished parts in {folder} and the checkpoint {checkpoint} stay; the same command "
        "goes on from there.",
        comm.rank < 2,  # rank 1 too: it may be rank 0 that died
    )
    stage.watch(f"reading {asked.edges}")
    fitted, names, found, keep = _fitted(ranks, asked, checkpoint, stage)
    stage.now(f"writing {output}")
    write_parts(folder, fitted, names, output.suffix.lower() if merge else "")
    if merge:
        merged(folder, output, schema(fitted, names), comm)
    keep.clear()
    return found


def _fitted(
    ranks: Ranks, asked: ModelQuestion, checkpoint: Path, stage: Any
) -> tuple[Any, Any, dict[str, Any], Any]:
    """Read and fit; return what was found, names, a summary, and what was kept on the way."""
    from robustgc.io.label_files import read_labels
    from robustgc.linalg.ladder import SolverOptions
    from robustgc.models.parameters import Parameters
    from robustgc.mpi.checkpoint import Checkpoint, fingerprint
    from robustgc.mpi.fit import fit
    from robustgc.mpi.reading import read_share, route_labels
    from robustgc.mpi.world import collective_errors

    assert asked.edges is not None
    comm, start = ranks.comm, time.perf_counter()
    columns = {"source": asked.source, "target": asked.target, "weight": asked.weight}
    dialect = asked.dialect()
    known = read_share(asked.edges, comm, **columns, symmetrise=asked.symmetrise, dialect=dialect)
    stage.now(f"reading {asked.labels}")
    with collective_errors(comm):
        table = read_labels(
            Path(asked.labels or ""),
            node=asked.node_column,
            label=asked.label_column,
            sheet=asked.label_sheet,
            dialect=dialect,
            header=asked.labels_header,
        )
    nodes, values, notes = route_labels(
        table, known, ignore_unknown=asked.ignore_unknown, unlabelled=asked.unlabelled or None
    )
    for note in (*known.notes, *notes):
        ranks.say(f"note: {note}")
    parameters, options = Parameters(asked.eta, asked.n_modes, False), SolverOptions()
    with collective_errors(comm):
        settings = (columns, dialect, asked.symmetrise, parameters, options)
        mark = fingerprint(asked.edges, nodes, values, *settings) if ranks.first else ""
    keep = Checkpoint(checkpoint, comm, comm.bcast(mark))
    reading = time.perf_counter() - start
    stage.now("fitting")
    fitted = fit(known.share, nodes, values, parameters=parameters, options=options, keep=keep)
    stage.now("judging the labels")
    found = summary(fitted, parameters)
    for note in keep.notes:
        ranks.say(f"note: {note}")
    if keep.reused:
        ranks.say(f"taken over from {checkpoint}: {', '.join(keep.reused)}")
    fitting = time.perf_counter() - start - reading
    found |= {
        "notes": [*known.notes, *notes, *keep.notes],
        "taken_over": list(keep.reused),
        "seconds": {"reading": round(reading, 3), "fit": round(fitting, 3)},
    }
    return fitted, known.names, found, keep


def summary(fitted: Any, parameters: Any) -> dict[str, Any]:
    """Return what was found on all ranks, for machines; the names are those of one machine."""
    import numpy as np

    comm, codes, given = fitted.share.comm, fitted.answer.codes, fitted.labels.codes
    answered = int(((codes >= 0) | (given >= 0)).sum())
    answered, labels = comm.allreduce(np.array([answered, int((given >= 0).sum())])).tolist()
    solved = list(fitted.answer.certificates.values())
    largest = max(solved, key=lambda c: c.n_nodes, default=None)
    best = next((c for c in largest.selection if c.lifted), None) if largest else None
    issues, n = fitted.issues, fitted.share.n
    return {
        "nodes": n,
        "labels": labels,
        "classes": fitted.labels.classes.tolist(),
        "answered": answered,
        "unlabelled": n - answered,
        "noise_rate": issues.noise_rate,
        "suspicious": issues.n_wrong,
        "lambda_1": largest.lambda_1 if largest else None,
        "gamma": largest.gamma if largest else None,
        "eta": best.eta if best else parameters.eta,
        "n_modes": best.n_modes if best else parameters.n_modes or 1,
        "residual": max((c.residual for c in solved), default=0.0),
        "solver": largest.history[-1].solver if largest and largest.history else "none",
        "ranks": comm.size,
    }

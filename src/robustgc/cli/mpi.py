"""`--engine mpi` of `robustgc classify` and `robustgc info`: every rank has its own rows."""

import contextlib
import io
import os
import socket
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from robustgc.cli import shared
from robustgc.cli.messages import (
    WRONG_INPUT,
    described,
    many,
    print_json,
    refuse,
    say,
    say_notes,
    stop,
)
from robustgc.cli.options import PIPE, DataOptions, GraphOptions, LabelOptions, ModelOptions

_SIZE = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")  # how many ranks mpiexec says it has started
_MIB = 2**20


class Ranks:
    """The ranks of a command; the first, rank 0, speaks for all, and all others are silent."""

    def __init__(self, comm: Any, quiet: bool) -> None:
        self.comm, self.first = comm, comm.rank == 0
        self.silent = quiet or not self.first

    @contextmanager
    def once(self) -> Iterator[None]:
        """Let all ranks come to the same refusal, and rank 0 alone print it."""
        if self.first:
            yield
        else:
            with contextlib.redirect_stderr(io.StringIO()):
                yield


@contextmanager
def on_ranks(quiet: bool) -> Iterator[Ranks]:
    """Give the ranks; an error is printed once and ends all of them with an exit code."""
    from robustgc.graph.resources import rank_by_mpiexec
    from robustgc.mpi.stop import FailureBarrier
    from robustgc.mpi.world import MissingMPIError, world

    launched = rank_by_mpiexec()
    try:
        comm = world()
    except MissingMPIError as error:
        if launched:  # rank 0 tells it
            raise typer.Exit(WRONG_INPUT) from None
        stop(str(error))
    _check_size(comm, launched)
    barrier, ranks = FailureBarrier(comm), Ranks(comm, quiet)
    try:
        machines = len(set(comm.allgather(socket.gethostname())))
        started = f"{many(comm.size, 'rank')} on {many(machines, 'machine')}"
        alone = "one rank, since this was not started by mpiexec"
        say(f"engine mpi: {alone if launched is None else started}", ranks.silent)
        yield ranks
    except typer.Exit:  # of bad usage, which all ranks have seen
        raise
    except (Exception, KeyboardInterrupt) as error:
        text, code = described(error) or (f"{type(error).__name__}: {error}", 1)
        everywhere = barrier.all_ranks_arrive()
        if described(error) is None and (ranks.first or not everywhere):
            traceback.print_exc()
        if not everywhere:
            barrier.stop_all(text, code)
        with ranks.once():
            stop(text, code)


def _check_size(comm: Any, launched: int | None) -> None:
    """Refuse ranks that do not know of each other: each would do all of the work."""
    started = next((os.environ[name] for name in _SIZE if name in os.environ), "1")
    if launched is not None and started.isdigit() and int(started) != comm.size:
        if launched:
            raise typer.Exit(WRONG_INPUT)
        stop(
            f"mpiexec has started {started} ranks, but mpi4py knows of {comm.size}: they belong to "
            "different MPIs. Use the mpiexec of the MPI that mpi4py was built with."
        )


# robustgc classify --engine mpi


def classify_on_ranks(
    data: DataOptions,
    model: ModelOptions,
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
            _check_usage(data, model, output, report, save)
        assert output is not None
        summary = _classified(ranks, data, model, output, merge)
        say(shared.in_a_sentence(summary), ranks.silent)
        if as_json and ranks.first:
            print_json(summary)


def _check_usage(
    data: DataOptions,
    model: ModelOptions,
    output: Path | None,
    report: Path | None,
    save: Path | None,
) -> None:
    """Refuse options that do not go with several ranks."""
    if data.points is not None:
        refuse(
            "--points does not go with --engine mpi, which reads graphs: make a graph of the "
            "points first, and give it as EDGES."
        )
    shared.check_data(data, model)
    check_files(data)
    for option, path, why in (
        ("report", report, "a page needs the whole graph in one place"),
        ("save", save, "a model holds the whole graph"),
    ):
        if path is not None:
            refuse(
                f"--{option} does not go with --engine mpi: {why}. Leave it out; --merge writes "
                "all answers to one table."
            )
    if output is None:
        refuse(
            "--engine mpi needs -o: a folder, to which every rank writes its part, or with --merge "
            "a .csv or .parquet file."
        )


def check_files(graph: GraphOptions) -> None:
    """Refuse input that not all ranks can read."""
    labels = graph.labels if isinstance(graph, LabelOptions) else None
    if PIPE in (str(graph.edges), labels):
        refuse(
            "standard input (-) does not go with --engine mpi: only one rank has it, and all ranks "
            "read. Name files."
        )
    if graph.sheet is not None:
        refuse(
            "--sheet does not go with --engine mpi, which reads tables of text and Parquet: "
            "convert EDGES first with `robustgc convert`."
        )


def _read_share(graph: GraphOptions, comm: Any) -> Any:
    """Read the rows of this rank."""
    from robustgc.mpi.reading import read_share

    assert graph.edges is not None
    return read_share(
        graph.edges,
        comm,
        **graph.edge_columns,
        symmetrise=graph.symmetrise,
        dialect=graph.dialect(),
    )


def _classified(
    ranks: Ranks, data: DataOptions, model: ModelOptions, output: Path, merge: bool
) -> dict[str, Any]:
    """Read, fit and write; return the summary."""
    from robustgc.mpi.stop import StopMessage
    from robustgc.mpi.world import collective_errors
    from robustgc.mpi.write_parts import check_folder, check_mergeable, schema, write_parts
    from robustgc.mpi.write_parts import merge as merged

    comm, folder = ranks.comm, Path(f"{output}.parts") if merge else output
    path = Path(f"{output}.checkpoint")
    with collective_errors(comm):
        if ranks.first:  # all ranks see the same folders
            shared.check_apart(shared.inputs(data), [output, folder, path])
            if merge:
                check_mergeable(output)
            check_folder(folder)
    stage = StopMessage(
        comm.rank,
        f"Finished parts in {folder} and the checkpoint {path} stay; the same command goes on "
        "from there.",
        comm.rank < 2,  # rank 1 too: it may be rank 0 that died
    )
    stage.watch(f"reading {data.edges}")
    fitted, names, summary, checkpoint = _fitted(ranks, data, model, path, stage)
    stage.now(f"writing {output}")
    write_parts(folder, fitted, names, output.suffix.lower() if merge else "")
    if merge:
        merged(folder, output, schema(fitted, names), comm)
    checkpoint.clear()
    return summary


def _fitted(
    ranks: Ranks, data: DataOptions, model: ModelOptions, path: Path, stage: Any
) -> tuple[Any, Any, dict[str, Any], Any]:
    """Read and fit; return the fit, the names of the nodes, a summary, and the checkpoint."""
    from robustgc.linalg.ladder import SolverOptions
    from robustgc.models.parameters import Parameters
    from robustgc.mpi.checkpoint import Checkpoint, fingerprint
    from robustgc.mpi.fit import fit
    from robustgc.mpi.reading import route_labels
    from robustgc.mpi.world import collective_errors

    assert data.edges is not None
    comm, start = ranks.comm, time.perf_counter()
    known = _read_share(data, comm)
    stage.now(f"reading {data.labels}")
    with collective_errors(comm):
        table = data.label_table()
    nodes, values, notes = route_labels(
        table, known, ignore_unknown=data.ignore_unknown, unlabelled=data.unlabelled or None
    )
    say_notes((*known.notes, *notes), ranks.silent)
    parameters, options = Parameters(model.eta, model.n_modes, False), SolverOptions()
    with collective_errors(comm):
        settings = (data.edge_columns, data.dialect(), data.symmetrise, parameters, options)
        mark = fingerprint(data.edges, nodes, values, *settings) if ranks.first else ""
    checkpoint = Checkpoint(path, comm, comm.bcast(mark))
    reading = time.perf_counter() - start
    stage.now("fitting")
    fitted = fit(
        known.share, nodes, values, parameters=parameters, options=options, keep=checkpoint
    )
    stage.now("judging the labels")
    summary = _summary(fitted, parameters)
    say_notes(checkpoint.notes, ranks.silent)
    if checkpoint.reused:
        say(f"taken over from {path}: {', '.join(checkpoint.reused)}", ranks.silent)
    fitting = time.perf_counter() - start - reading
    summary |= {
        "notes": [*known.notes, *notes, *checkpoint.notes],
        "taken_over": checkpoint.reused,
        "seconds": {"reading": round(reading, 3), "fit": round(fitting, 3)},
    }
    return fitted, known.names, summary, checkpoint


def _summary(fitted: Any, parameters: Any) -> dict[str, Any]:
    """Return what was found on all ranks, for machines; the names are those of one machine."""
    import numpy as np

    comm, codes, given = fitted.share.comm, fitted.answer.codes, fitted.labels.codes
    answered = int(((codes >= 0) | (given >= 0)).sum())
    answered, labels = comm.allreduce(np.array([answered, int((given >= 0).sum())])).tolist()
    solved = fitted.answer.certificates.values()
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


# robustgc info --engine mpi


def info_on_ranks(graph: GraphOptions, as_json: bool) -> None:
    """Show the ranks, and for each its machine, rows, entries and memory."""
    with on_ranks(quiet=False) as ranks:
        with ranks.once():
            shared.check_graph(graph)
            check_files(graph)
        known = _read_share(graph, ranks.comm)
        say_notes(known.notes, ranks.silent)
        facts = _describe(known.share)
        if not ranks.first:
            return
        if as_json:
            print_json(facts)
        else:
            _show(facts)


def _describe(share: Any) -> dict[str, Any]:
    """Return what there is to say of the ranks. All of them call this together."""
    from robustgc.graph import resources
    from robustgc.mpi.world import need_per_rank

    comm, host = share.comm, socket.gethostname()
    hosts = comm.allgather(host)
    entries = comm.allreduce(len(share.indices))
    own = {
        "rank": comm.rank,
        "machine": host,
        "rows": share.rows,
        "entries": len(share.indices),
        "share": share.nbytes,
        # Ranks on one machine divide what it has.
        "available": resources.available() / hosts.count(host),
    }
    peak = need_per_rank(share.n, entries, share.data is not None, comm.size)
    return {
        "ranks": comm.size,
        "machines": len(set(hosts)),
        "nodes": share.n,
        "entries": entries,
        "estimated_peak": peak,
        "per_rank": comm.allgather(own),
    }


def _show(facts: dict[str, Any]) -> None:
    for name in ("ranks", "machines", "nodes", "entries"):
        typer.echo(f"{name:<28}{facts[name]}")
    typer.echo("\nGrids, roads and neighbour graphs take about ten times this peak (multigrid).")
    wide = max(len(row["machine"]) for row in facts["per_rank"]) + 2
    typer.echo(
        f"\n{'rank':>5}  {'machine':<{wide}}{'rows':>13}{'entries':>15}{'share':>12}"
        f"{'peak, about':>15}{'available':>13}"
    )
    for row in facts["per_rank"]:
        sizes = (row["share"], facts["estimated_peak"], row["available"])
        share, peak, free = (f"{size / _MIB:.0f} MiB" for size in sizes)
        typer.echo(
            f"{row['rank']:>5}  {row['machine']:<{wide}}{row['rows']:>13}{row['entries']:>15}"
            f"{share:>12}{peak:>15}{free:>13}"
        )

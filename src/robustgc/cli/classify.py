"""`robustgc classify`: labels for everything, from files."""

import itertools
import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from robustgc.cli import options, shared
from robustgc.cli.errors import WRONG_USAGE, stop
from robustgc.cli.options import PIPE
from robustgc.cli.shared import Answered, ModelQuestion, Question, asking
from robustgc.cli.times import in_words

Report = Annotated[
    Path | None, typer.Option(help="Page to write, one .html file that needs no network.")
]


@asking(ModelQuestion)
def classify(
    asked: ModelQuestion,
    output: options.Output = None,
    report: Report = None,
    save: Annotated[
        Path | None, typer.Option(help="Model to write, a folder or .zip, for robustgc predict.")
    ] = None,
    engine: options.Engine = "local",
    merge: Annotated[
        bool, typer.Option("--merge", help="With --engine mpi: one table instead of a folder.")
    ] = False,
    excel: options.Excel = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Give a label to every node of a graph, or every point, from a few labels, some of them wrong.

    One row per node: node, label, given, status (given, predicted, unlabelled), probability,
    decision value or a score per class, reason, suspicion of the given label.

    For instance:

      robustgc classify edges.csv --labels labels.csv -o predictions.csv --report report.html

      robustgc classify --points iris.csv --label-column species --id flower -k 10

      mpiexec -n 4 robustgc classify graph --labels labels.csv -o predictions --engine mpi
    """
    shared.check_engine(engine)
    shared.check_excel(excel, output)
    if engine == "mpi":
        if excel:
            stop("--excel does not go with --engine mpi; convert the table after it.", WRONG_USAGE)
        from robustgc.cli.spread import classify as spread

        with shared.guarded(asked.max_size, quiet):
            spread(asked, output, report, save, merge, as_json, quiet)
        return
    if merge:
        stop("--merge is for --engine mpi; on one machine -o is one file.", WRONG_USAGE)
    shared.check_usage(asked)
    with shared.guarded(asked.max_size, quiet):
        check_apart(inputs(asked), [output, report, save])
        check_targets(output, report, save)
        answer = shared.answered(asked, quiet)
        for note in answer.result.notes:
            shared.say(f"note: {note}", quiet)
        _ = answer.result.issues
        answer.times.lap("judging")
        _write(answer, subject(asked), output, report, save, excel)
        if output is None and not as_json:
            from robustgc.io.writing import print_table

            print_table(answer.result.columns(), excel=excel)
        answer.times.lap("writing")
        found = summary(answer)
        shared.say(sentence(found), quiet)
        if as_json:
            shared.machine(found)


def inputs(asked: Question) -> list[Path | None]:
    """Return the files that are read."""
    return [asked.edges, asked.points, None if asked.labels is None else Path(asked.labels)]


def check_apart(files: list[Path | None], outputs: list[Path | None]) -> None:
    """Refuse to write what is read."""
    read = {os.path.realpath(path) for path in files if path is not None}
    for path in outputs:
        if path is not None and os.path.realpath(path) in read:
            raise ValueError(f"{path} is what is read, so it is not written. Choose another name.")


def check_places(*outputs: Path | None) -> None:
    """Refuse two outputs in one place: the later one would replace the other."""
    for path, other in itertools.combinations([path for path in outputs if path is not None], 2):
        one, two = Path(os.path.realpath(path)), Path(os.path.realpath(other))
        if one.is_relative_to(two) or two.is_relative_to(one):
            raise ValueError(
                f"{path} and {other} are the same place, or one lies in the other; every output "
                "needs a place of its own. Choose another name."
            )


def check_targets(
    output: Path | None, report: Path | None = None, save: Path | None = None
) -> None:
    """Refuse, before the work, what could not be written after it."""
    from robustgc.io.opening import check_target
    from robustgc.io.writing import check_table
    from robustgc.storage.files import place

    check_places(output, report, save)
    if output is not None:
        check_table(output)
    if report is not None:
        check_target(report)
    if save is not None and not place(save).parent.is_dir():
        raise ValueError(f"{save} cannot be written: there is no folder {save.parent}.")
    if save is not None and not os.access(place(save).parent, os.W_OK):
        raise ValueError(
            f"{save} cannot be written: no permission in {save.parent}. Choose another folder."
        )


def _write(
    answer: Answered,
    name: str,
    output: Path | None,
    report: Path | None,
    save: Path | None,
    excel: bool,
) -> None:
    """Write all outputs, or none: they belong together."""
    from robustgc.graph.atomic import together

    with together(path for path in (output, report, save) if path is not None):
        if output is not None:
            answer.result.write(output, excel=excel)
        if report is not None:
            answer.result.report(report, title=f"Labels of {name}", command=command_line())
        if save is not None:
            answer.result.save(save)


def subject(asked: Question) -> str:
    """Return what the graph, or the points, are called in titles."""
    from robustgc.io.sources import STANDARD_INPUT

    path = asked.edges or asked.points or Path()
    return STANDARD_INPUT if str(path) == PIPE else path.name


def command_line() -> str:
    """Return the command that runs, as one would type it."""
    return shlex.join(["robustgc", *sys.argv[1:]])


def sentence(found: dict[str, Any]) -> str:
    """Say in words what was found."""
    text = (
        f"{found['nodes']} nodes, {found['labels']} labels of {len(found['classes'])} classes: "
        f"{found['answered'] - found['labels']} more nodes have a class now"
    )
    if left := found["unlabelled"]:
        text += f", {left} have none (see the column reason)"
    text += f". About {found['noise_rate']:.0%} of the labels look wrong"
    if found["suspicious"]:
        text += f": the {found['suspicious']} most suspicious"
    return f"{text}. {in_words(found['seconds'])}"


def summary(answer: Answered) -> dict[str, Any]:
    """Return what was found, for machines."""
    result, clf = answer.result, answer.result.estimator
    codes, given = clf._answer.codes, clf._labels.codes
    issues = result.issues
    return {
        "run": result.run,
        "nodes": len(codes),
        "labels": int((given >= 0).sum()),
        "classes": clf.classes_.tolist(),
        "answered": int(((codes >= 0) | (given >= 0)).sum()),
        "unlabelled": int(((codes < 0) & (given < 0)).sum()),
        "noise_rate": issues.noise_rate,
        "suspicious": issues.n_wrong,
        "lambda_1": clf.lambda_1_,
        "gamma": clf.gamma_,
        "eta": clf.eta_,
        "n_modes": clf.n_modes_,
        "residual": clf.residual_,
        "solver": clf.solver_,
        "notes": list(result.notes),
        "seconds": dict(answer.times),
    }

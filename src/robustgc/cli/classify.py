"""`robustgc classify`: labels for everything, from files."""

from pathlib import Path
from typing import Annotated, Any

import typer

from robustgc.cli import shared
from robustgc.cli.messages import guarded, print_json, refuse, say, say_notes
from robustgc.cli.options import (
    AsJson,
    DataOptions,
    Engine,
    Excel,
    ModelOptions,
    Output,
    Quiet,
    Report,
    grouped,
)


@grouped
def classify(
    data: DataOptions,
    model: ModelOptions,
    output: Output = None,
    report: Report = None,
    save: Annotated[
        Path | None, typer.Option(help="Model to write, a folder or .zip, for robustgc predict.")
    ] = None,
    engine: Engine = "local",
    merge: Annotated[
        bool, typer.Option("--merge", help="With --engine mpi: one table instead of a folder.")
    ] = False,
    excel: Excel = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Give a label to every node of a graph, or every point, from a few labels, some of them wrong.

    One row per node: node, label, given, status (given, predicted, unlabelled), probability,
    decision value or a score per class, reason, suspicion of the given label.

    For instance:

      robustgc classify edges.csv --labels labels.csv -o predictions.csv --report report.html

      robustgc classify --points iris.csv --label-column species --id flower -k 10

      mpiexec -n 4 robustgc classify graph --labels labels.csv -o predictions --engine mpi
    """
    shared.check_choice("engine", engine, "local", "mpi")
    shared.check_excel(excel, output)
    if engine == "mpi":
        if excel:
            refuse("--excel does not go with --engine mpi; convert the table afterwards.")
        from robustgc.cli.mpi import classify_on_ranks

        with guarded(data.max_size, quiet):
            classify_on_ranks(data, model, output, report, save, merge, as_json, quiet)
        return
    if merge:
        refuse("--merge is for --engine mpi; without it, -o is one file anyway.")
    shared.check_data(data, model)
    with guarded(data.max_size, quiet):
        shared.check_targets(data, output, report, save)
        result, times = shared.fit(data, model, quiet)
        say_notes(result.notes, quiet)
        _ = result.issues
        times.lap("judging")
        title, command = f"Labels of {shared.subject(data)}", shared.command_line()
        shared.write_together(
            (output, lambda path: result.write(path, excel=excel)),
            (report, lambda path: result.report(path, title=title, command=command)),
            (save, result.save),
        )
        if output is None and not as_json:
            from robustgc.io.writing import print_table

            print_table(result.columns(), excel=excel)
        times.lap("writing")
        summary = _summary(result, times)
        say(shared.in_a_sentence(summary), quiet)
        if as_json:
            print_json(summary)


def _summary(result: Any, times: shared.Times) -> dict[str, Any]:
    """Return what was found, for machines."""
    clf, issues = result.estimator, result.issues
    codes, given = clf._answer.codes, clf._labels.codes
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
        "seconds": dict(times),
    }

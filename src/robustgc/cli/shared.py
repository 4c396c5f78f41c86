"""What the commands that read data share: refusals of usage, reading and fitting, output files."""

import itertools
import os
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from robustgc.cli.messages import many, refuse
from robustgc.cli.options import (
    PIPE,
    DataOptions,
    GraphOptions,
    ModelOptions,
    TextOptions,
)

# Usage: what is wrong with the options, before any file is read.


def check_data(data: DataOptions, model: ModelOptions | None = None) -> None:
    """Refuse options of a graph or points, of labels and of a model that do not go together."""
    if (data.edges is None) == (data.points is None):
        refuse("give either EDGES or --points, one of the two.")
    if data.labels is None and (data.points is None or data.label_column is None):
        refuse(
            "give --labels, a table of nodes and their labels; or --label-column, if the labels "
            "are a column of --points."
        )
    if [str(data.edges), str(data.points), data.labels].count(PIPE) > 1:
        refuse("standard input (-) has one table only; name a file for the other one.")
    of_edges = (*data.edge_columns.values(), data.symmetrise)
    if data.points is not None and of_edges != (None,) * 4:
        refuse("--source, --target, --weight and --symmetrise are for EDGES, not for --points.")
    if data.labels is None and (data.node_column, data.label_sheet) != (None,) * 2:
        refuse(
            "--node-column and --label-sheet are for --labels; the column with the names of points "
            "is --id."
        )
    if data.points is None and (data.identity, data.columns, data.scaling) != (None,) * 3:
        refuse("--id, --columns and --scale are for --points, not for EDGES.")
    check_choice("affinity", data.affinity, "knn", "rbf")
    check_choice("metric", data.metric, "euclidean", "cosine")
    if data.scaling is not None:
        check_choice("scale", data.scaling, "standard", "none")
    if data.points is None and data.metric != "euclidean":
        refuse("--metric is for --points, not for EDGES.")
    if model is not None and model.eta is not None and not 0 < model.eta < 1:
        refuse(f"--eta {model.eta:g} is not strictly between 0 and 1; choose 0 < eta < 1.")
    _check_reading(data)


def check_graph(graph: GraphOptions) -> None:
    """Refuse options without a graph, or with values that are unknown."""
    if graph.edges is None:
        refuse("give EDGES, the file of the graph.")
    _check_reading(graph)


def _check_reading(graph: GraphOptions) -> None:
    if graph.symmetrise is not None:
        check_choice("symmetrise", graph.symmetrise, "mean", "max", "sum")
    check_dialect(graph)


def check_choice(option: str, value: str, *choices: str) -> None:
    """Refuse a value that is none of the choices of an option."""
    if value not in choices:
        *others, last = choices
        refuse(f"--{option} {value} is unknown; choose {', '.join(others)} or {last}.")


def check_excel(excel: bool, output: Path | None) -> None:
    """Refuse --excel for a file that spreadsheets do not open."""
    if excel and output is not None and output.suffix.lower() in (".parquet", ".pq"):
        refuse(
            f"--excel is for .csv, .tsv, .xlsx and standard output, not for {output}. Leave out "
            "--excel, or name a .csv or .xlsx file."
        )


def check_dialect(tables: TextOptions) -> None:
    """Refuse delimiters, decimal marks and encodings that do not exist."""
    from robustgc.io.errors import InputError

    try:
        tables.dialect()
    except InputError as error:
        refuse(str(error))


# Reading and fitting.


class Times(dict[str, float]):
    """Seconds by phase; together they are the time since the process started, without gaps."""

    # Until here the interpreter was alone and busy, so that the time of its processor is time.
    _last = time.perf_counter() - time.process_time()

    def lap(self, phase: str) -> None:
        """Count the time since the last phase ended as one of that name."""
        now = time.perf_counter()
        self[phase] = round(now - Times._last, 3)
        Times._last = now


def in_words(seconds: dict[str, float]) -> str:
    """Return the sentence of these times."""
    phases = ", ".join(f"{phase} {spent:.1f} s" for phase, spent in seconds.items())
    return f"{phases.replace('judging', 'judging labels').capitalize()}."


def fit(
    data: DataOptions, model: ModelOptions | None = None, quiet: bool = False
) -> tuple[Any, Times]:
    """Read the files and fit; return the result, and the seconds that every phase took."""
    from robustgc.api import classify

    times = Times()
    times.lap("starting")
    chosen = {} if model is None else asdict(model)
    inputs, labels = read(data)
    times.lap("reading")
    result = classify(
        **inputs,
        labels=labels,
        ignore_unknown=data.ignore_unknown,
        unlabelled=data.unlabelled or None,
        verbose=not quiet and sys.stderr.isatty(),
        **{name: value for name, value in chosen.items() if value is not None},
    )
    times.lap("fit")
    return result, times


def read(data: DataOptions) -> tuple[dict[str, Any], Any]:
    """Read the files: the graph or points, as arguments of `classify` and `compare`, and labels."""
    if data.points is not None:
        points = data.point_table()
        inputs, labels = {"points": points, **data.affinity_options()}, points.labels
        others, what = points.columns if points.header else (), f"column of {data.points}"
    else:
        graph = data.graph()
        named = data.labels != PIPE and data.labels in graph.attributes
        inputs, labels = {"graph": graph}, data.labels if named else None
        others, what = tuple(graph.attributes), f"node attribute of {data.edges}"
    _check_labels(data, labels is None, others, what)
    return inputs, data.label_table() if labels is None else labels


def _check_labels(data: DataOptions, in_file: bool, others: tuple[str, ...], what: str) -> None:
    """Refuse --labels that is no file and none of the others, and options of a file without one."""
    from robustgc.graph.quoting import listed, quoted
    from robustgc.io.errors import InputError
    from robustgc.io.label_files import names_file

    text = data.labels
    if in_file and others and text not in (None, PIPE) and not names_file(text):
        raise InputError(f"{text} is neither a file nor a {what} (there are {listed(others)}).")
    of_file = (data.node_column, data.label_column, data.label_sheet)
    if not in_file and text is not None and of_file != (None,) * 3:
        raise InputError(
            f"{quoted(text)} is a {what}; --node-column, --label-column and --label-sheet are for "
            f"a file. Leave them out, or name the file as ./{text}."
        )


# Outputs: refused before the work if they cannot be written after it.


def inputs(data: DataOptions) -> list[Path | None]:
    """Return the files that are read."""
    return [data.edges, data.points, None if data.labels is None else Path(data.labels)]


def check_apart(files: list[Path | None], outputs: list[Path | None]) -> None:
    """Refuse to write what is read."""
    read = {os.path.realpath(path) for path in files if path is not None}
    for path in outputs:
        if path is not None and os.path.realpath(path) in read:
            raise ValueError(f"{path} is an input, so it is not overwritten. Choose another name.")


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
    data: DataOptions, output: Path | None, report: Path | None, save: Path | None = None
) -> None:
    """Refuse a table, a page or a model that could not be written, or would replace the input."""
    from robustgc.io.opening import check_target
    from robustgc.io.writing import check_table
    from robustgc.storage.files import place

    check_apart(inputs(data), [output, report, save])
    check_places(output, report, save)
    if output is not None:
        check_table(output)
    if report is not None:
        check_target(report)
    if save is None:
        return
    cannot = f"{save} cannot be written:"
    if not place(save).parent.is_dir():
        raise ValueError(f"{cannot} there is no folder {save.parent}. Make it first.")
    if not os.access(place(save).parent, os.W_OK):
        raise ValueError(f"{cannot} no permission in {save.parent}. Choose another folder.")


def write_together(*outputs: tuple[Path | None, Callable[[Path], object]]) -> None:
    """Write all outputs that the user has named, or none: they belong together."""
    from robustgc.graph.atomic import together

    named = [(path, write) for path, write in outputs if path is not None]
    with together(path for path, _ in named):
        for path, write in named:
            write(path)


def subject(data: DataOptions) -> str:
    """Return what the graph, or the points, are called in titles."""
    from robustgc.io.sources import STANDARD_INPUT

    path = data.edges or data.points or Path()
    return STANDARD_INPUT if str(path) == PIPE else path.name


def command_line() -> str:
    """Return the command that runs, as one would type it."""
    return shlex.join(["robustgc", *sys.argv[1:]])


def in_a_sentence(summary: dict[str, Any]) -> str:
    """Say in words what a fit, on this machine or on ranks, has found."""
    more = summary["answered"] - summary["labels"]
    text = (
        f"{many(summary['nodes'], 'node')}, {many(summary['labels'], 'label')} of "
        f"{len(summary['classes'])} classes: {many(more, 'more node')} "
        f"{'has' if more == 1 else 'have'} a class now"
    )
    if without := summary["unlabelled"]:
        text += f", {without} {'has' if without == 1 else 'have'} none (see the column reason)"
    text += f". About {summary['noise_rate']:.0%} of the labels look wrong"
    if suspicious := summary["suspicious"]:
        text += f": the {'' if suspicious == 1 else f'{suspicious} '}most suspicious"
        text += " one" * (suspicious == 1)
    return f"{text}. {in_words(summary['seconds'])}"

"""What the commands share: messages, exit codes, options, and reading a question from files.

Data goes to standard output or to files; everything that is said goes to standard error.
"""

import functools
import inspect
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

from rich.console import Console

from robustgc.cli import options, point_options
from robustgc.cli.errors import WRONG_USAGE, described, stop
from robustgc.cli.text_tables import TextTables
from robustgc.cli.times import Times


@dataclass(frozen=True)
class GraphQuestion(TextTables):
    """Which graph the user has named on the command line, and how its file is to be read."""

    edges: options.Edges = None
    source: options.Source = None
    target: options.Target = None
    weight: options.Weight = None
    symmetrise: options.Symmetrise = None
    sheet: options.Sheet = None
    max_size: options.MaxSize = None

    def graph(self) -> Any:
        """Read the graph."""
        from robustgc.io.graph_files import read_graph

        assert self.edges is not None
        return read_graph(
            self.edges,
            source=self.source,
            target=self.target,
            weight=self.weight,
            symmetrise=self.symmetrise,
            sheet=self.sheet,
            dialect=self.dialect(),
        )


@dataclass(frozen=True)
class Question(GraphQuestion):
    """A graph, or points, with labels; every field is an option of the commands that ask."""

    labels: options.Labels = None
    points: point_options.Points = None
    ignore_unknown: options.IgnoreUnknown = False
    node_column: options.NodeColumn = None
    label_column: options.LabelColumn = None
    unlabelled: options.Unlabelled = None
    label_sheet: options.LabelSheet = None
    labels_header: options.LabelsHeader = None
    identity: point_options.Identity = None
    columns: point_options.Columns = None
    affinity: point_options.Affinity = "knn"
    neighbours: point_options.Neighbours = None
    metric: point_options.Metric = "euclidean"
    scaling: point_options.Scaling = None


@dataclass(frozen=True)
class ModelQuestion(Question):
    """The same, with what the user chooses of the model."""

    eta: options.Eta = None
    n_modes: options.NModes = None


def asking(kind: type[GraphQuestion]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that a kind of question has, before its own.

    The command is called with the question, then with its own options by name.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(kind, include_extras=True)
        _, *own = inspect.signature(command, eval_str=True).parameters.values()
        asked = [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=hints[field.name],
            )
            for field in fields(kind)
        ]
        own = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in own]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            question = kind(**{option.name: given.pop(option.name) for option in asked})
            command(question, **given)

        run.__signature__ = inspect.Signature([*asked, *own])  # type: ignore[attr-defined]
        run.__annotations__ = {option.name: option.annotation for option in [*asked, *own]}
        return run

    return decorated


@dataclass(frozen=True)
class Answered:
    """The result, and the seconds that it took so far."""

    result: Any
    times: Times


def answered(asked: Question, quiet: bool) -> Answered:
    """Read the files and fit."""
    from robustgc.api import classify

    times = Times()
    times.lap("starting")
    options: dict[str, Any] = {"verbose": not quiet and sys.stderr.isatty()}
    for name in ("eta", "n_modes"):  # only some commands let the user choose them
        if (value := getattr(asked, name, None)) is not None:
            options[name] = value
    inputs, labels = read(asked)
    if asked.points is not None:
        options |= point_options.model_options(asked)
    times.lap("reading")
    options |= {"ignore_unknown": asked.ignore_unknown, "unlabelled": asked.unlabelled or None}
    result = classify(**inputs, labels=labels, **options)
    times.lap("fit")
    return Answered(result, times)


def read(asked: Question) -> tuple[dict[str, Any], Any]:
    """Read the files: the graph or points by the name of the argument, and the labels."""
    if asked.points is not None:
        known: Any = point_options.read_points(asked)
        inputs, labels = {"points": known}, known.labels
        others, what = known.columns if known.header else (), f"column of {asked.points}"
    else:
        known = asked.graph()
        named = asked.labels != options.PIPE and asked.labels in known.attributes
        labels = asked.labels if named else None
        inputs, others = {"graph": known}, tuple(known.attributes)
        what = f"node attribute of {asked.edges}"
    if labels is None:
        return inputs, _label_file(asked, others, what)
    _check_no_file(asked, what)
    return inputs, labels


def _check_no_file(asked: Question, what: str) -> None:
    """Refuse options of a file of labels where these are a column or attribute."""
    of_file = [asked.node_column, asked.label_column, asked.label_sheet]
    if asked.labels is not None and any(option is not None for option in of_file):
        from robustgc.graph.quoting import quoted
        from robustgc.io.errors import InputError

        raise InputError(
            f"{quoted(asked.labels)} is a {what}; --node-column, --label-column and --label-sheet "
            f"are for a file. Leave them out, or name the file as ./{asked.labels}."
        )


def _label_file(asked: Question, others: tuple[str, ...], what: str) -> Any:
    """Read the file of labels; `others` are the columns or attributes that might be meant too."""
    from robustgc.graph.quoting import listed
    from robustgc.io.errors import InputError
    from robustgc.io.label_files import names_file, read_labels

    text = asked.labels or ""
    if others and text != options.PIPE and not names_file(text):
        raise InputError(f"{text} is neither a file nor a {what} (there are {listed(others)}).")
    return read_labels(
        Path(text),
        node=asked.node_column,
        label=asked.label_column,
        sheet=asked.label_sheet,
        dialect=asked.dialect(),
        header=asked.labels_header,
    )


def check_usage(asked: Question) -> None:
    """Refuse options that do not go together."""
    if (asked.edges is None) == (asked.points is None):
        stop("give either EDGES or --points, one of the two.", WRONG_USAGE)
    if asked.labels is None and (asked.points is None or asked.label_column is None):
        stop(
            "give --labels, a table of nodes and their labels; or, for --points that have a column "
            "with the labels, --label-column.",
            WRONG_USAGE,
        )
    if [str(asked.edges), str(asked.points), asked.labels].count(options.PIPE) > 1:
        stop("standard input (-) has one table; name a file for the other one.", WRONG_USAGE)
    of_edges = [asked.source, asked.target, asked.weight, asked.symmetrise]
    if asked.points is not None and any(option is not None for option in of_edges):
        stop("--source, --target, --weight and --symmetrise are for EDGES.", WRONG_USAGE)
    of_labels = [asked.node_column, asked.label_sheet]
    if asked.labels is None and any(option is not None for option in of_labels):
        stop(
            "--node-column and --label-sheet are for --labels; the names of points are --id.",
            WRONG_USAGE,
        )
    if reason := point_options.wrong_usage(asked):
        stop(reason, WRONG_USAGE)
    eta = getattr(asked, "eta", None)
    if eta is not None and not 0 < eta < 1:
        stop(f"--eta {eta:g} is not strictly between 0 and 1.", WRONG_USAGE)
    check_way(asked.symmetrise)
    check_dialect(asked)


def check_engine(engine: str) -> None:
    """Refuse an unknown engine."""
    if engine not in ("local", "mpi"):
        stop(f"--engine {engine} is unknown; choose local or mpi.", WRONG_USAGE)


def check_excel(excel: bool, output: Path | None) -> None:
    """Refuse --excel for a file that spreadsheets do not open."""
    if excel and output is not None and output.suffix.lower() in (".parquet", ".pq"):
        stop(
            f"--excel is for .csv, .tsv, .xlsx and standard output; {output} has types and needs "
            "no escapes. Leave out --excel, or name a .csv or .xlsx file.",
            WRONG_USAGE,
        )


def check_graph(asked: GraphQuestion) -> None:
    """Refuse a question without a graph, or with options that there are not."""
    if asked.edges is None:
        stop("give EDGES, the graph.", WRONG_USAGE)
    check_way(asked.symmetrise)
    check_dialect(asked)


def check_dialect(asked: TextTables) -> None:
    """Refuse delimiters, decimal marks and encodings that there are not."""
    from robustgc.io.errors import InputError

    try:
        asked.dialect()
    except InputError as error:
        stop(str(error), WRONG_USAGE)


def check_way(symmetrise: str | None) -> None:
    """Refuse an unknown way to make one weight of two."""
    if symmetrise not in (None, "mean", "max", "sum"):
        stop(f"--symmetrise {symmetrise} is unknown; mean, max or sum.", WRONG_USAGE)


@contextmanager
def guarded(max_size: str | None = None, quiet: bool = False) -> Iterator[None]:
    """Turn what goes wrong into one line and an exit code; files may have `max_size` bytes."""
    try:
        from robustgc.graph.compilation import announced
        from robustgc.io.limits import allowing

        note = functools.partial(_note, quiet=quiet)
        with allowing(max_size), announced(note), warnings.catch_warnings():
            warnings.showwarning = lambda text, *_, **__: say(f"warning: {text}", quiet)
            yield
    except (Exception, KeyboardInterrupt) as error:
        if (told := described(error)) is None:
            raise
        stop(*told)


def _note(text: str, quiet: bool) -> None:
    """Say a note, on the first of several ranks."""
    from robustgc.graph.resources import rank_by_mpiexec

    say(f"note: {text}", quiet or bool(rank_by_mpiexec()))


def say(text: str, quiet: bool = False) -> None:
    """Tell the user something, beside the data."""
    if not quiet:
        Console(stderr=True, highlight=False, soft_wrap=True, markup=False).print(text)


def machine(summary: dict[str, Any]) -> None:
    """Print a summary for machines; what is not finite is null."""
    from robustgc.io.writing import print_bytes

    text = json.dumps(_finite(summary), indent=1, ensure_ascii=False) + "\n"
    # Half a surrogate pair, as in names of files, has no UTF-8; JSON has this escape for it.
    print_bytes(text.encode("utf-8", errors="backslashreplace"))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value

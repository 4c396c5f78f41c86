"""What the commands share: messages, exit codes, options, and reading a question from files.

Data goes to standard output or to files; everything that is said goes to standard error.
"""

import functools
import inspect
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, NoReturn, get_type_hints

import typer
from rich.console import Console

from robustgc.commands.errors import WRONG_INPUT, WRONG_USAGE, described
from robustgc.commands.times import Times

# Where `--help` shows an option: what most people need stands first, without a heading of its own.
GRAPH_PANEL, LABELS_PANEL = "How the graph is read", "How the labels are read"
POINTS_PANEL, FILES_PANEL, MODEL_PANEL = "Points", "Files", "The model"

Edges = Annotated[
    Path | None,
    typer.Argument(
        metavar="EDGES",
        help="The graph: .csv .tsv .txt .parquet (source, target[, weight]), .graphml .gml .mtx "
        ".npz .json, also .gz .zst, or a folder of `robustgc convert`.",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels", "-l", help="A table (node, label), or the name of a node attribute of EDGES."
    ),
]
Points = Annotated[
    Path | None, typer.Option(help="Points instead of EDGES: .csv .parquet .npy .npz, a row each.")
]
Source = Annotated[
    str | None, typer.Option(rich_help_panel=GRAPH_PANEL, help="Column of EDGES with the one node.")
]
Target = Annotated[
    str | None,
    typer.Option(rich_help_panel=GRAPH_PANEL, help="Column of EDGES with the other node."),
]
Weight = Annotated[
    str | None,
    typer.Option(rich_help_panel=GRAPH_PANEL, help="Column, or edge attribute, with the weight."),
]
Symmetrise = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=GRAPH_PANEL,
        help="Where two directions differ: mean, max or sum of the weights.",
    ),
]
IgnoreUnknown = Annotated[
    bool,
    typer.Option(
        "--ignore-unknown",
        rich_help_panel=LABELS_PANEL,
        help="Leave out labels of nodes not in the graph.",
    ),
]
NodeColumn = Annotated[
    str | None,
    typer.Option(rich_help_panel=LABELS_PANEL, help="Column of LABELS with the node."),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(rich_help_panel=LABELS_PANEL, help="Column of LABELS with the label."),
]
Identity = Annotated[
    str | None,
    typer.Option("--id", rich_help_panel=POINTS_PANEL, help="Column of POINTS with their names."),
]
Columns = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=POINTS_PANEL, help="Columns of POINTS that count, separated by commas."
    ),
]
Affinity = Annotated[
    str, typer.Option(rich_help_panel=POINTS_PANEL, help="Graph of the points: knn or rbf.")
]
Neighbours = Annotated[
    int | None,
    typer.Option("-k", min=1, rich_help_panel=POINTS_PANEL, help="Neighbours of a point (knn)."),
]
Eta = Annotated[
    float | None,
    typer.Option(rich_help_panel=MODEL_PANEL, help="Instead of the automatic choice: 0 < eta < 1."),
]
NModes = Annotated[
    int | None,
    typer.Option(
        min=1,
        rich_help_panel=MODEL_PANEL,
        help="Instead of the automatic choice; 1: the paper's model.",
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        help="local: this machine. mpi: the ranks that mpiexec has started, each with a part."
    ),
]


def _checked_size(text: str | None) -> str | None:
    """Refuse what is no size."""
    if text is not None:
        from robustgc.io.limits import as_bytes

        try:
            as_bytes(text)
        except ValueError as error:
            stop(str(error), WRONG_USAGE)
    return text


MaxSize = Annotated[
    str | None,
    typer.Option(
        "--max-size",
        callback=_checked_size,
        rich_help_panel=FILES_PANEL,
        help="Bytes, as 8e9 or 8GB, that files may unpack to and a graph may need; else by memory.",
    ),
]
Excel = Annotated[
    bool,
    typer.Option(
        "--excel",
        help="Tables for spreadsheets: no text is a formula, UTF-8 is marked; not Parquet.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print a summary for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Table to write, .csv .tsv .parquet; else CSV on stdout."),
]


@dataclass(frozen=True)
class GraphQuestion:
    """Which graph the user has named on the command line, and how its file is to be read."""

    edges: Edges = None
    source: Source = None
    target: Target = None
    weight: Weight = None
    symmetrise: Symmetrise = None
    max_size: MaxSize = None

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
        )


@dataclass(frozen=True)
class Question(GraphQuestion):
    """A graph, or points, with labels; every field is an option of the commands that ask."""

    labels: Labels = None
    points: Points = None
    ignore_unknown: IgnoreUnknown = False
    node_column: NodeColumn = None
    label_column: LabelColumn = None
    identity: Identity = None
    columns: Columns = None
    affinity: Affinity = "knn"
    neighbours: Neighbours = None


@dataclass(frozen=True)
class ModelQuestion(Question):
    """The same, with what the user chooses of the model."""

    eta: Eta = None
    n_modes: NModes = None


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
    from robustgc.result import classify

    times = Times()
    times.lap("starting")
    options: dict[str, Any] = {"verbose": not quiet and sys.stderr.isatty()}
    for name in ("eta", "n_modes"):  # only some commands let the user choose them
        if (value := getattr(asked, name, None)) is not None:
            options[name] = value
    inputs, labels = read(asked)
    if asked.points is not None:
        options |= {"affinity": asked.affinity, "n_neighbors": asked.neighbours}
    times.lap("reading")
    result = classify(**inputs, labels=labels, ignore_unknown=asked.ignore_unknown, **options)
    times.lap("fit")
    return Answered(result, times)


def read(asked: Question) -> tuple[dict[str, Any], Any]:
    """Read the files: the graph or points by the name of the argument, and the labels."""
    from robustgc.io.label_files import read_labels
    from robustgc.io.point_files import read_points

    if asked.points is not None:
        chosen = asked.columns.split(",") if asked.columns else None
        known: Any = read_points(asked.points, name=asked.identity, columns=chosen)
        inputs = {"points": known}
    else:
        known = asked.graph()
        inputs = {"graph": known}
    labels: Any = asked.labels
    assert labels is not None
    if os.path.exists(labels) or labels not in getattr(known, "attributes", {}):
        labels = _label_file(asked, known, read_labels)
    return inputs, labels


def _label_file(asked: Question, known: Any, read: Any) -> Any:
    path = Path(asked.labels or "")
    attributes = list(getattr(known, "attributes", {}))
    if not os.path.exists(path) and attributes:
        from robustgc.io.opening import InputError
        from robustgc.quoting import short

        raise InputError(
            f"{path} is neither a file nor a node attribute of {asked.edges} (attributes: "
            f"{short(', '.join(attributes))})."
        )
    return read(path, node=asked.node_column, label=asked.label_column)


def check_usage(asked: Question) -> None:
    """Refuse options that do not go together."""
    if (asked.edges is None) == (asked.points is None):
        stop("give either EDGES or --points, one of the two.", WRONG_USAGE)
    if asked.labels is None:
        stop("give --labels, a table of nodes and their labels.", WRONG_USAGE)
    of_edges = [asked.source, asked.target, asked.weight, asked.symmetrise]
    if asked.points is not None and any(option is not None for option in of_edges):
        stop("--source, --target, --weight and --symmetrise are for EDGES.", WRONG_USAGE)
    if asked.points is None and (asked.identity, asked.columns) != (None, None):
        stop("--id and --columns are for --points.", WRONG_USAGE)
    if asked.affinity not in ("knn", "rbf"):
        stop(f"--affinity {asked.affinity} is unknown; choose knn or rbf.", WRONG_USAGE)
    eta = getattr(asked, "eta", None)
    if eta is not None and not 0 < eta < 1:
        stop(f"--eta {eta:g} is not strictly between 0 and 1.", WRONG_USAGE)
    check_way(asked.symmetrise)


def check_engine(engine: str) -> None:
    """Refuse an unknown engine."""
    if engine not in ("local", "mpi"):
        stop(f"--engine {engine} is unknown; choose local or mpi.", WRONG_USAGE)


def check_excel(excel: bool, output: Path | None) -> None:
    """Refuse --excel for a file that is no text."""
    if excel and output is not None and output.suffix.lower() in (".parquet", ".pq"):
        stop(
            f"--excel is for .csv, .tsv and standard output; {output} has types and needs no "
            "escapes. Leave out --excel, or name a .csv file.",
            WRONG_USAGE,
        )


def check_graph(asked: GraphQuestion) -> None:
    """Refuse a question without a graph, or with options that there are not."""
    if asked.edges is None:
        stop("give EDGES, the graph.", WRONG_USAGE)
    check_way(asked.symmetrise)


def check_way(symmetrise: str | None) -> None:
    """Refuse an unknown way to make one weight of two."""
    if symmetrise not in (None, "mean", "max", "sum"):
        stop(f"--symmetrise {symmetrise} is unknown; mean, max or sum.", WRONG_USAGE)


@contextmanager
def guarded(max_size: str | None = None, quiet: bool = False) -> Iterator[None]:
    """Turn what goes wrong into one line and an exit code; files may have `max_size` bytes."""
    try:
        from robustgc.compilation import announced
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
    from robustgc._ranked import rank_by_mpiexec

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


def stop(text: str, code: int = WRONG_INPUT) -> NoReturn:
    """End with a message."""
    typer.echo(f"robustgc: {text}", err=True)
    raise typer.Exit(code)

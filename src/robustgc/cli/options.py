"""The options of the commands: each is declared once, in the group that it belongs to.

A command lists groups in its signature, and `grouped` gives it the options of these groups.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from robustgc.cli.messages import refuse

PIPE = "-"  # standard input, as the name of a file


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, for every parameter that is a group of options, the options of the group."""
    groups: dict[str, Any] = {}
    options: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        group = parameter.annotation
        if is_dataclass(group):
            groups[parameter.name], hints = group, get_type_hints(group)
            options += [
                inspect.Parameter(
                    option.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=option.default,
                    annotation=Annotated[hints[option.name], option.metadata["typer"]],
                )
                for option in fields(group)
            ]
        else:
            options.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**values: Any) -> None:
        filled = {
            name: group(**{option.name: values.pop(option.name) for option in fields(group)})
            for name, group in groups.items()
        }
        command(**filled, **values)

    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _option(
    help: str, *flags: str, panel: str | None = None, default: Any = None, **more: Any
) -> Any:
    """Return a field of a group: an option with its help."""
    option = typer.Option(*flags, help=help, rich_help_panel=panel, **more)
    return field(default=default, metadata={"typer": option})


# Where `--help` shows an option: what most people need stands first, without a heading of its own.
FILES_PANEL = "Files"
_without_heading = functools.partial(_option, panel=None)
_of_file = functools.partial(_option, panel=FILES_PANEL)
_of_graph = functools.partial(_option, panel="How the graph is read")
_of_labels = functools.partial(_option, panel="How the labels are read")
_of_points = functools.partial(_option, panel="Points")
_of_model = functools.partial(_option, panel="The model")


def _checked_size(text: str | None) -> str | None:
    """Refuse what is no size."""
    if text is not None:
        from robustgc.io.limits import as_bytes

        try:
            as_bytes(text)
        except ValueError as error:
            refuse(str(error))
    return text


@dataclass(frozen=True)
class TextOptions:
    """How text tables are written, as far as the user says it, and how large files may be."""

    delimiter: str | None = _of_file(
        "What separates the fields of text tables: a character, tab or space; by default it is "
        "detected."
    )
    decimal: str | None = _of_file(
        "Decimal mark in text tables, . or , ; by default it is detected."
    )
    encoding: str | None = _of_file(
        "Encoding of text tables: utf-8, utf-16, cp1252, latin-1, ...; by default it is detected."
    )
    max_size: str | None = _of_file(
        "Bytes, as 8e9 or 8GB, that files may unpack to and a graph may need; by default what "
        "memory allows.",
        callback=_checked_size,
    )

    def dialect(self) -> Any:
        """Return the dialect for the readers; an InputError where there is no such thing."""
        from robustgc.io.dialect import Dialect

        return Dialect(self.delimiter, self.decimal, self.encoding)


@dataclass(frozen=True)
class TableOptions(TextOptions):
    """How the table of a graph, or of points, is read."""

    header: bool | None = _of_file(
        "Whether the first row of EDGES, or of POINTS, names the columns; by default it is "
        "detected.",
        "--header/--no-header",
        show_default=False,
    )
    sheet: str | None = _of_file(
        "Sheet of EDGES or POINTS (.xlsx); by default the first one with content."
    )

    def dialect(self) -> Any:
        """Return the dialect, with what the user says of the header."""
        return replace(super().dialect(), header=self.header)


@dataclass(frozen=True)
class GraphOptions(TableOptions):
    """Which graph the user has named, and how its file is read."""

    edges: Path | None = field(
        default=None,
        metadata={
            "typer": typer.Argument(
                metavar="EDGES",
                help="The graph: a table (source, target[, weight]) as .csv .tsv .txt .parquet "
                ".feather .jsonl .xlsx; .graphml .gml .gexf .net .edgelist .ncol .adjlist .mtx "
                ".npz .json; also .gz .zst .zip; a folder of `robustgc convert`; - for standard "
                "input.",
            )
        },
    )
    source: str | None = _of_graph("Column of EDGES with one of the two nodes of an edge.")
    target: str | None = _of_graph("Column of EDGES with the other node of an edge.")
    weight: str | None = _of_graph("Column, or edge attribute, with the weights.")
    symmetrise: str | None = _of_graph(
        "What to do where the two directions of an edge differ: take the mean, max or sum of their "
        "weights; by default such a graph is refused."
    )

    @property
    def edge_columns(self) -> dict[str, str | None]:
        """The columns that the user has named, as readers of edges call them."""
        return {"source": self.source, "target": self.target, "weight": self.weight}

    def graph(self) -> Any:
        """Read the graph."""
        from robustgc.io.graph_files import read_graph

        assert self.edges is not None
        return read_graph(
            self.edges,
            **self.edge_columns,
            symmetrise=self.symmetrise,
            sheet=self.sheet,
            dialect=self.dialect(),
        )


@dataclass(frozen=True)
class LabelColumns:
    """Where the labels are in their table, and what means that there is none."""

    node_column: str | None = _of_labels("Column of LABELS with the nodes.")
    label_column: str | None = _of_labels(
        "Column of LABELS with the labels; without --labels, a column of POINTS."
    )
    unlabelled: list[str] | None = _of_labels(
        'What means "no label", instead of -1 NA NaN None null N/A ? - and the like; may be '
        'repeated. "" alone: only empty cells.',
        metavar="TEXT",
    )
    label_sheet: str | None = _of_labels(
        "Sheet of LABELS (.xlsx); by default the first one with content."
    )


@dataclass(frozen=True)
class LabelOptions(LabelColumns):
    """Which labels the user has named, and how they are read."""

    labels: str | None = _without_heading(
        "A table (node, label), or the name of an attribute of EDGES or a column of POINTS.",
        "--labels",
        "-l",
    )
    ignore_unknown: bool = _of_labels(
        "Leave out labels of nodes that are not in the graph.", "--ignore-unknown", default=False
    )
    labels_header: bool | None = _of_labels(
        "Whether the first row of LABELS names the columns; by default it is detected.",
        "--labels-header/--no-labels-header",
        show_default=False,
    )


@dataclass(frozen=True)
class PointColumns:
    """What the columns of a table of points are."""

    identity: str | None = _of_points("Column of POINTS with their names.", "--id")
    columns: str | None = _of_points(
        "Columns of POINTS to use, separated by commas; by default all with numbers."
    )

    @property
    def column_list(self) -> list[str] | None:
        """The columns that the user has named."""
        return self.columns.split(",") if self.columns else None


@dataclass(frozen=True)
class PointOptions(PointColumns):
    """Which points the user has named, and how a graph is made of them."""

    points: Path | None = _without_heading(
        "Points instead of EDGES, one in a row: .csv .parquet .feather .jsonl .xlsx .npy .npz."
    )
    affinity: str = _of_points("Graph of the points: knn or rbf.", default="knn")
    neighbours: int | None = _of_points("Neighbours of a point (knn).", "-k", min=1)
    metric: str = _of_points("How points are compared: euclidean or cosine.", default="euclidean")
    scaling: str | None = _of_points(
        "standard: every column has mean 0 and deviation 1; none: as it is. By default standard, "
        "and none with --metric cosine.",
        "--scale",
    )

    def affinity_options(self) -> dict[str, Any]:
        """Return how the graph is made of the points, as `classify` and `compare` call it."""
        return {
            "affinity": self.affinity,
            "n_neighbors": self.neighbours,
            "metric": self.metric,
            "scaling": self.scaling,
        }


@dataclass(frozen=True)
class DataOptions(PointOptions, LabelOptions, GraphOptions):
    """A graph, or points, with labels."""

    def label_table(self) -> Any:
        """Read the table of labels."""
        from robustgc.io.label_files import read_labels

        return read_labels(
            Path(self.labels or ""),
            node=self.node_column,
            label=self.label_column,
            sheet=self.label_sheet,
            dialect=self.dialect(),
            header=self.labels_header,
        )

    def point_table(self) -> Any:
        """Read the points, with their labels where these are one of the columns."""
        from robustgc.io.point_columns import Choice
        from robustgc.io.point_files import read_points

        assert self.points is not None
        label = self.label_column if self.labels is None else self.labels
        choice = Choice(
            name=self.identity,
            label=None if label == PIPE and self.labels is not None else label,
            columns=self.column_list,
            or_file=self.labels is not None,
        )
        return read_points(self.points, choice, sheet=self.sheet, dialect=self.dialect())


@dataclass(frozen=True)
class ModelOptions:
    """What the user chooses of the model."""

    eta: float | None = _of_model("Eta, 0 < eta < 1, in place of the automatic choice.")
    n_modes: int | None = _of_model(
        "Number of modes, in place of the automatic choice; 1: the paper's model.", min=1
    )


# Options that stand alone.
Engine = Annotated[
    str,
    typer.Option(
        help="local: this process. mpi: the ranks that mpiexec has started, each with a part of "
        "the graph."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Table to write, .csv .tsv .parquet .xlsx; by default CSV on standard output.",
    ),
]
Report = Annotated[
    Path | None, typer.Option(help="Page to write, one .html file that needs no network.")
]
Excel = Annotated[
    bool,
    typer.Option(
        "--excel",
        help="Write tables for spreadsheets: no text becomes a formula, and UTF-8 is marked. Not "
        "for Parquet.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print a summary for machines, as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no messages except errors.")]

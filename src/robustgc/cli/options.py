"""The options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from robustgc.cli.errors import WRONG_USAGE, stop

# Where `--help` shows an option: what most people need stands first, without a heading of its own.
GRAPH_PANEL, LABELS_PANEL = "How the graph is read", "How the labels are read"
FILES_PANEL, MODEL_PANEL = "Files", "The model"
PIPE = "-"  # standard input, as the name of a file

Edges = Annotated[
    Path | None,
    typer.Argument(
        metavar="EDGES",
        help="The graph: a table (source, target[, weight]) as .csv .tsv .txt .parquet .feather "
        ".jsonl .xlsx; .graphml .gml .gexf .net .edgelist .ncol .adjlist .mtx .npz .json; also .gz "
        ".zst .zip; a folder of `robustgc convert`; - for standard input.",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        "-l",
        help="A table (node, label), or the name of an attribute of EDGES or a column of POINTS.",
    ),
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
    typer.Option(
        rich_help_panel=LABELS_PANEL,
        help="Column of LABELS, or without LABELS of POINTS, with the label.",
    ),
]
Unlabelled = Annotated[
    list[str] | None,
    typer.Option(
        "--unlabelled",
        metavar="TEXT",
        rich_help_panel=LABELS_PANEL,
        help="Label that means none, instead of -1 NA NaN None null N/A ? - and the like; may be "
        'repeated. "" alone: only empty cells.',
    ),
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
    typer.Option(
        "--output", "-o", help="Table to write, .csv .tsv .parquet .xlsx; else CSV on stdout."
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=FILES_PANEL, help="Sheet of EDGES or POINTS (.xlsx); else the first."
    ),
]
LabelSheet = Annotated[
    str | None,
    typer.Option(rich_help_panel=LABELS_PANEL, help="Sheet of LABELS (.xlsx); else the first."),
]
LabelsHeader = Annotated[
    bool | None,
    typer.Option(
        "--labels-header/--no-labels-header",
        show_default=False,
        rich_help_panel=LABELS_PANEL,
        help="Whether the first row of LABELS names the columns; else told from it.",
    ),
]

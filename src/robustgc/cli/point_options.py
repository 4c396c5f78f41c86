"""What the user says of points on the command line, and how it is read and checked."""

from pathlib import Path
from typing import Annotated, Any

import typer

from robustgc.cli.options import PIPE

PANEL = "Points"

Points = Annotated[
    Path | None,
    typer.Option(
        help="Points instead of EDGES: .csv .parquet .feather .jsonl .xlsx .npy .npz, a row each."
    ),
]
Identity = Annotated[
    str | None,
    typer.Option("--id", rich_help_panel=PANEL, help="Column of POINTS with their names."),
]
Columns = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=PANEL,
        help="Columns of POINTS that count, separated by commas; else all with numbers.",
    ),
]
Affinity = Annotated[
    str, typer.Option(rich_help_panel=PANEL, help="Graph of the points: knn or rbf.")
]
Neighbours = Annotated[
    int | None,
    typer.Option("-k", min=1, rich_help_panel=PANEL, help="Neighbours of a point (knn)."),
]
Metric = Annotated[
    str, typer.Option(rich_help_panel=PANEL, help="How points are compared: euclidean or cosine.")
]
Scaling = Annotated[
    str | None,
    typer.Option(
        "--scale",
        rich_help_panel=PANEL,
        help="standard: every column has mean 0 and deviation 1; none: as it is. By default "
        "standard, and none with --metric cosine.",
    ),
]


def model_options(asked: Any) -> dict[str, Any]:
    """Return what the user says of the points, as `classify` and `compare` in Python call it."""
    return {
        "affinity": asked.affinity,
        "n_neighbors": asked.neighbours,
        "metric": asked.metric,
        "scaling": asked.scaling,
    }


def read_points(asked: Any) -> Any:
    """Read the points of a question, with their labels where these are one of the columns."""
    from robustgc.io.point_files import read_points as read

    label = asked.label_column if asked.labels is None else asked.labels
    return read(
        asked.points,
        name=asked.identity,
        columns=column_list(asked.columns),
        label=None if label == PIPE and asked.labels is not None else label,
        or_file=asked.labels is not None,
        sheet=asked.sheet,
        dialect=asked.dialect(),
    )


def column_list(text: str | None) -> list[str] | None:
    """Return the columns that the user has named."""
    return text.split(",") if text else None


def wrong_usage(asked: Any) -> str:
    """Say which options do not go together; nothing: all of them do."""
    if asked.points is None and (asked.identity, asked.columns, asked.scaling) != (None,) * 3:
        return "--id, --columns and --scale are for --points."
    for option, value, known in (
        ("affinity", asked.affinity, ("knn", "rbf")),
        ("metric", asked.metric, ("euclidean", "cosine")),
        ("scale", asked.scaling, (None, "standard", "none")),
    ):
        if value not in known:
            return f"--{option} {value} is unknown; choose {known[-2]} or {known[-1]}."
    if asked.points is None and asked.metric != "euclidean":
        return "--metric is for --points."
    return ""

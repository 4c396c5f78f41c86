"""Options that say where in a file a table is, and the name that standard input has."""

from typing import Annotated

import typer

LABELS_PANEL, FILES_PANEL = "How the labels are read", "Files"
PIPE = "-"  # standard input, as the name of a file

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

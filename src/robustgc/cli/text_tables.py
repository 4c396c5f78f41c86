"""The options that say how text tables are written."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

_PANEL = "Files"

Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        show_default=False,
        rich_help_panel=_PANEL,
        help="Whether the first row of EDGES, or POINTS, names the columns; else told from it.",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=_PANEL,
        help="What stands between fields of text tables: a character, tab or space; else found.",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(rich_help_panel=_PANEL, help="Decimal mark in text tables, . or , ; else found."),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=_PANEL,
        help="Of text tables: utf-8, utf-16, cp1252, latin-1, ...; else found.",
    ),
]


@dataclass(frozen=True)
class TextTables:
    """How the text tables of a run are written, as far as the user says it."""

    header: Header = None
    delimiter: Delimiter = None
    decimal: Decimal = None
    encoding: Encoding = None

    def dialect(self) -> Any:
        """Return it for the readers; an InputError where there is no such thing."""
        from robustgc.io.dialect import Dialect

        return Dialect(self.delimiter, self.decimal, self.encoding, self.header)

"""Tables to .xlsx files: text stays text, and the same table gives the same bytes."""

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from robustgc.graph.quoting import short
from robustgc.io.opening import InputError
from robustgc.io.spreadsheets import library

ROWS = 2**20  # of a sheet, the header among them
LONGEST = 32767  # characters of a cell
_EXACT = 10**15  # spreadsheets keep 15 digits of a number
_DATE = (1980, 1, 1, 0, 0, 0)
_TIMES = re.compile(rb"<dcterms:(created|modified)[^>]*>[^<]*</dcterms:\1>")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def write_sheet(
    path: Path,
    table: Any,
    file: BinaryIO,
    run: str | None = None,
    rows: Iterable[Sequence[Any]] | None = None,
) -> None:
    """Write an Arrow table of text and numbers as the only sheet of an .xlsx file.

    Parameters
    ----------
    path : Path
        For messages.
    table : Arrow table
    file : file
    run : str or None
        Which run it is of; it becomes the identifier in the properties of the file.
    rows : iterable of sequences or None
        The rows of the table as values, where a column has values of several kinds; None: as the
        columns of the table have them.
    """
    _check(path, table)
    book = library().Workbook(write_only=True)
    book.properties.identifier = run
    sheet = book.create_sheet("robustgc")
    sheet.freeze_panes = "A2"
    sheet.append([_cell(sheet, name) for name in table.column_names])
    for row in _rows(table) if rows is None else rows:
        sheet.append([_cell(sheet, value) for value in row])
    content = io.BytesIO()
    book.save(content)
    _without_times(content, file)


def _rows(table: Any) -> Iterator[Sequence[Any]]:
    for batch in table.to_batches(max_chunksize=2**14):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _check(path: Path, table: Any) -> None:
    """Refuse a table that a sheet cannot hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if table.num_rows >= ROWS:
        raise InputError(
            f"{path}: a sheet has {ROWS} rows at most, and the table has {table.num_rows} and a "
            "header. Write .csv or .parquet."
        )
    for name, column in zip(table.column_names, table.columns, strict=True):
        longest = pc.max(pc.utf8_length(column)).as_py() if pa.types.is_string(column.type) else 0
        if max(longest or 0, len(name)) > LONGEST:
            raise InputError(
                f"{path}: a cell has {LONGEST} characters at most, and column {short(name, 60)} "
                f"has {max(longest or 0, len(name))} in one. Write .csv or .parquet."
            )


def _cell(sheet: Any, value: Any) -> Any:
    """Return a value for a cell; text never becomes a formula, an error or a number."""
    from openpyxl.cell import WriteOnlyCell

    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _EXACT:
        value = str(value)
    if isinstance(value, float) and not abs(value) < float("inf"):
        value = str(value)  # a sheet has no infinite numbers
    if value == "":
        return None
    if not isinstance(value, str):
        return value
    text = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", value)
    cell = WriteOnlyCell(sheet, value=text[:LONGEST])  # escapes are longer than what they stand for
    cell.data_type = "s"
    return cell


def _without_times(content: io.BytesIO, file: BinaryIO) -> None:
    """Copy an .xlsx file without the time at which it was written."""
    with (
        zipfile.ZipFile(content) as source,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            data = source.read(name)
            if name == "docProps/core.xml":
                data = _TIMES.sub(b"", data)
            about = zipfile.ZipInfo(name, _DATE)
            about.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(about, data)

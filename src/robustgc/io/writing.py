"""Tables to CSV, Parquet and .xlsx files, whole or not at all."""

import errno
import os
import re
import sys
from pathlib import Path
from typing import Any, BinaryIO

from robustgc.io import spreadsheets
from robustgc.io.arrow import pa, pa_csv, pc, pq
from robustgc.io.arrow_tables import PARQUET
from robustgc.io.frames import arrow, flat
from robustgc.io.opening import InputError, check_target, replacing
from robustgc.io.spreadsheets import write_sheet

SHEET = ".xlsx"
TYPED = (*PARQUET, SHEET)  # what keeps numbers apart from text
TABLES = (".csv", ".tsv", *TYPED)


# A spreadsheet takes text that begins so for a formula, and runs it.
_FORMULA = r"^([=+\-@\t\r])"
MARK = b"\xef\xbb\xbf"  # without it Excel reads UTF-8 as the old code page of the machine


def check_table(path: Path, *, excel: bool = False) -> None:
    """Refuse, before the work, a table that could not be written."""
    if excel and path.suffix.lower() in PARQUET:
        raise InputError(
            f"{path}: tables for spreadsheets are .csv, .tsv or .xlsx; a Parquet file has types "
            "and needs no escapes. Rename it, or leave out excel."
        )
    if path.suffix.lower() not in TABLES:
        raise InputError(f"{path}: tables are written as {', '.join(TABLES)}; rename it.")
    if path.suffix.lower() == SHEET:
        spreadsheets.library()
    check_target(path)


def print_table(columns: dict[str, Any], *, excel: bool = False) -> None:
    """Print columns as CSV, in UTF-8, on standard output; see `write_table`."""
    buffer = pa.BufferOutputStream()
    _write_text(flat(arrow(columns)), buffer, excel, ",")
    print_bytes(buffer.getvalue())


def print_bytes(data: Any) -> None:
    """Write to standard output; a reader that has enough, such as `head`, is no error."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        # What is left in the buffer would fail once more, with a traceback, at the end of Python.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if error.errno != errno.EPIPE:  # else the reader, such as `head`, has enough
            raise InputError(
                f"standard output cannot be written: {error.strerror}. Make room where it goes, or "
                "name a file with -o."
            ) from error


def _for_spreadsheets(table: Any) -> Any:
    """Return an Arrow table whose text begins no formula: it gets an apostrophe in front.

    Numbers stay numbers. An apostrophe is what spreadsheets themselves put before text.
    """
    columns = [
        pc.replace_substring_regex(column, _FORMULA, r"'\1")
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    names = [re.sub(_FORMULA, r"'\1", name) for name in table.column_names]
    return pa.table(columns, names=names)


def write_table(
    path: Path, columns: dict[str, Any], *, excel: bool = False, run: str | None = None
) -> None:
    """Write columns as a .csv, .tsv, .parquet or .xlsx file; the same ones in every kind of file.

    `excel` says that a spreadsheet will open it: text that would be a formula is escaped, and the
    file begins with the mark by which Excel knows UTF-8. Not for Parquet; an .xlsx file knows text
    from formulas anyway. `run` is the run that it is of: a Parquet file has it in its metadata, as
    ``robustgc_run``, an .xlsx file as the identifier of its properties; in a CSV file it would be a
    column or a line that breaks readers, so there is none.
    """
    check_table(path, excel=excel)
    table, ending = arrow(columns), path.suffix.lower()
    if ending not in PARQUET:
        table = flat(table)
    with replacing(path) as file:
        if ending in TYPED:
            write_typed(path, table, file, run)
        else:
            _write_text(table, file, excel, "\t" if ending == ".tsv" else ",")


def _write_text(table: Any, file: Any, excel: bool, delimiter: str) -> None:
    if excel:
        file.write(MARK)
        table = _for_spreadsheets(table)
    pa_csv.write_csv(table, file, pa_csv.WriteOptions(delimiter=delimiter))


def write_typed(
    path: Path, table: Any, file: BinaryIO, run: str | None = None, rows: Any = None
) -> None:
    """Write an Arrow table as one of `TYPED`, which the ending says; `rows` are as in a sheet."""
    if path.suffix.lower() == SHEET:
        write_sheet(path, table, file, run, rows)
        return
    named = table if run is None else table.replace_schema_metadata({"robustgc_run": run})
    pq.write_table(named, file)

"""Sheets of .xlsx files: read as text tables, and written; openpyxl does the work."""

import csv
import datetime
import functools
import io
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from robustgc.graph.quoting import listed, quoted, short
from robustgc.io import limits
from robustgc.io.arrow import pa, pc
from robustgc.io.dialect import Dialect
from robustgc.io.opening import InnerFile, InputError, packed_size, whole

ENDINGS = (".xlsx", ".xlsm")
_OBJECTS = 8  # bytes of memory for a byte of a sheet's XML, about
_OLD = b"\xd0\xcf\x11\xe0"  # how files begin that were encrypted, or are of before 2007
_BREAKS = re.compile(r"(?<!\s)\s*[\t\r\n\v\f]\s*")
ROWS = 2**20  # of a sheet, the header among them
LONGEST = 32767  # characters of a cell
_EXACT = 10**15  # spreadsheets keep 15 digits of a number
_DATE = (1980, 1, 1, 0, 0, 0)
_TIMES = re.compile(rb"<dcterms:(created|modified)[^>]*>[^<]*</dcterms:\1>")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def library() -> Any:
    """Return openpyxl, or say how to get it."""
    try:
        import openpyxl
    except ImportError as error:
        raise InputError(
            "Spreadsheets (.xlsx) need openpyxl, which is not installed: pip install "
            "'robustgc[excel]'. Or save the sheet as .csv."
        ) from error
    return openpyxl


def sheet_as_text(path: Path, sheet: str | None = None, decimal: str = ".") -> InnerFile:
    """Return a sheet as a table of text between tabs, with as many lines as the sheet has rows.

    So all that holds for text tables, such as how a header is recognised, holds for sheets. Without
    a name it is the first one that is not empty. Numbers are written with the decimal mark that
    cells of text have.
    """
    library()  # it is missing, or not, before the file is read
    content = whole(path)
    if content.getbuffer()[:4] == _OLD:
        raise InputError(
            f"{path} has a password, or is an old .xls file by another name. Save it as .xlsx "
            "without a password."
        )
    try:
        _check_size(path, content)
        chosen, notes, rows = _sheet(path, content, sheet)
    except InputError:
        raise
    except Exception as error:  # of openpyxl, zipfile, or the parser of XML
        raise InputError(
            f"{path} is not the spreadsheet that its ending says, or is damaged "
            f"({short(f'{type(error).__name__}: {error}')}). Save it again as .xlsx."
        ) from error
    for row in rows:
        row[:] = [_shown(value, decimal) for value in row]
    text, broken = _text(rows)
    if broken:
        notes = (*notes, f"{broken} cells with line breaks or tabs are read with spaces instead")
    table = InnerFile.of_bytes(path, ".tsv", text.encode(), notes)
    table.dialect = Dialect("\t", decimal, "utf-8")
    # Read again by those who need them: values take more memory than the file.
    table.cells = functools.partial(_cells, path, content, chosen)
    return table


def _sheet(
    path: Path, content: io.BytesIO, sheet: str | None
) -> tuple[str, tuple[str, ...], list[list[Any]]]:
    """Return the name of the sheet to read, what the user should know of the others, and its rows.

    Values of formulas are as they were last computed.
    """
    with warnings.catch_warnings():  # of styles and the like, which no table has
        warnings.simplefilter("ignore")
        book = library().load_workbook(content, read_only=True)
        name, notes = _sheet_name(path, book, sheet)
        book[name].reset_dimensions()
        rows, formulas = [], False
        for row in book[name].iter_rows():
            formulas = formulas or any(cell.data_type == "f" for cell in row)
            rows.append([cell.value for cell in row])
        return name, notes, _computed(path, content, book[name]) if formulas else rows


def _cells(path: Path, content: io.BytesIO, sheet: str) -> list[list[Any]]:
    """Return the values of a sheet by rows, without columns that are all empty."""
    *_, rows = _sheet(path, content, sheet)
    used = _used([[_shown(value, ".") for value in row] for row in rows])
    return [[_plain(row[k]) if k < len(row) else None for k in used] for row in rows]


def _plain(value: Any) -> Any:
    """Return a day as a day: openpyxl has a time of 0:00 with it."""
    midnight = isinstance(value, datetime.datetime) and value.time() == datetime.time()
    return value.date() if midnight else value


def _check_size(path: Path, content: io.BytesIO) -> None:
    """Refuse, before anything is unpacked, a file that unpacks to too much."""
    with zipfile.ZipFile(content) as archive:
        size = sum(member.file_size for member in archive.infolist())
    limits.check_unpacked(path, packed_size(path), size)
    limits.check_text(path, size, _OBJECTS, "XML")


def _sheet_name(path: Path, book: Any, sheet: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the name of the sheet to read, and what the user should know of the others."""
    names = [one.title for one in book.worksheets]
    if sheet is not None:
        if sheet not in names:
            raise InputError(
                f"{path} has no sheet {quoted(sheet, 90)}; its sheets are {listed(names)}."
            )
        return sheet, ()
    filled = [one for one in book.worksheets if not _is_empty(one)]
    used = [one.title for one in sorted(filled, key=lambda one: one.sheet_state != "visible")]
    if not used:
        raise InputError(f"{path} has no cells with values. Add the rows, and save it again.")
    if len(used) == 1:
        return used[0], ()
    note = (
        f"of {path} the sheet {quoted(used[0], 90)} is read, not {listed(used[1:])} (--sheet NAME, "
        "or --label-sheet for LABELS, reads another; sheet= and label_sheet= in Python)"
    )
    return used[0], (note,)


def _is_empty(sheet: Any) -> bool:
    sheet.reset_dimensions()  # what is claimed may be more than there is
    return not any(value is not None for row in sheet.iter_rows(values_only=True) for value in row)


def _computed(path: Path, content: io.BytesIO, sheet: Any) -> list[list[Any]]:
    """Return the values of a sheet that has formulas; refuse those without a value."""
    book = library().load_workbook(content, read_only=True, data_only=True)
    values = book[sheet.title]
    values.reset_dimensions()
    rows = []
    for formulas, row in zip(sheet.iter_rows(), values.iter_rows(), strict=True):
        for formula, cell in zip(formulas, row, strict=True):
            # A formula whose value is the empty text has the type of text, one without a value not.
            if formula.data_type == "f" and cell.value is None and cell.data_type != "str":
                raise InputError(
                    f"{path}, sheet {quoted(sheet.title, 60)}, cell {formula.coordinate}: a "
                    "formula that was never computed. Open the file in a spreadsheet and save it, "
                    "or write values."
                )
        rows.append([cell.value for cell in row])
    return rows


def _shown(value: Any, decimal: str) -> str:
    """Return the value of a cell as text, as a spreadsheet saves it to CSV."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return str(_plain(value).isoformat())
    return str(value).replace(".", decimal) if isinstance(value, float) else str(value)


def _used(rows: list[list[str]]) -> list[int]:
    """Return the columns that have text in some row."""
    return sorted({k for row in rows for k, value in enumerate(row) if value.strip()})


def _text(rows: list[list[str]]) -> tuple[str, int]:
    """Return rows as lines, without columns that are all empty, and how many cells had breaks."""
    used = _used(rows)
    lines, broken = io.StringIO(), 0
    writer = csv.writer(lines, delimiter="\t", lineterminator="\n")
    for row in rows:
        cells = [row[k] if k < len(row) else "" for k in used]
        broken += sum(bool(_BREAKS.search(cell)) for cell in cells)
        if any(cell.strip() for cell in cells):
            writer.writerow([_BREAKS.sub(" ", cell) for cell in cells])
        else:
            lines.write("\n")
    return lines.getvalue(), broken


def write_sheet(
    path: Path,
    table: Any,
    file: BinaryIO,
    run: str | None = None,
    rows: Iterable[Sequence[Any]] | None = None,
) -> None:
    """Write an Arrow table of text and numbers as the only sheet of an .xlsx file.

    The properties of the file have `run` as their identifier. `rows` are the values of the table
    where a column has values of several kinds, which Arrow cannot hold.
    """
    _check(path, table)
    book = library().Workbook(write_only=True)
    book.properties.identifier = run
    sheet = book.create_sheet("robustgc")
    sheet.freeze_panes = "A2"
    sheet.append([_cell(sheet, name) for name in table.column_names])
    for row in _table_rows(table) if rows is None else rows:
        sheet.append([_cell(sheet, value) for value in row])
    content = io.BytesIO()
    book.save(content)
    _without_times(content, file)


def _table_rows(table: Any) -> Iterator[Sequence[Any]]:
    for batch in table.to_batches(max_chunksize=2**14):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _check(path: Path, table: Any) -> None:
    """Refuse a table that a sheet cannot hold."""
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
    text = _CONTROL.sub(lambda control: f"\\x{ord(control[0]):02x}", value)
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

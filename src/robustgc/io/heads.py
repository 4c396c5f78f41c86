"""The beginning of a text table: how it is written, and what its first lines are."""

import codecs
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from robustgc.graph.quoting import quoted, short
from robustgc.io.dialect import (
    Dialect,
    delimiter_of,
    encoding_note,
    encoding_of,
    undecodable,
)
from robustgc.io.headers import first_row
from robustgc.io.opening import InnerFile, InputError, NoRowsError, kind, opened

SAMPLE = 2**16  # bytes from which delimiter and header are told
LONGEST = 2**20  # bytes of a line; the reader of tables takes blocks of that many
LONG = (
    "more than 1,048,576 bytes without an end of the line, which no row of a table has. Check that "
    "it is a table, with a row on each line."
)
RETURN = "a carriage return within the line. Save the file with LF or CR LF at the end of lines."
_EXCEL = re.compile(r"sep=([,;|\t])")  # a first line that tells Excel the delimiter
_NAMES = re.compile(r"\s*[#%][^\s#%][^,;|\t]*[,;|\t]")  # a name that begins with #, and a field
_MAGIC = {
    b"\x1f\x8b": "packed with gzip; name it .gz",
    b"\x28\xb5\x2f\xfd": "packed with zstd; name it .zst",
    b"PAR1": "a Parquet file; name it .parquet",
    b"PK\x03\x04": "a zip archive or a spreadsheet; unpack it, or save it as CSV",
    b"\x93NUMPY": "an array of numpy; name it .npy",
    b"<!DOCTYPE html": "a web page; download the file itself",
    b"<!doctype html": "a web page; download the file itself",
    b"<html": "a web page; download the file itself",
}
_PROSE = re.compile(r"[#%](\s|[#%]|$)")  # as people write comments, and no names
_ROWS = 200  # lines that tell whether names begin with #


@dataclass(frozen=True)
class Head:
    """The first lines of a text table, none of them cut.

    Attributes
    ----------
    lines : list of str
    first : int
        Place of the first line that is neither empty nor a comment.
    complete : bool
        Whether the file has no other lines.
    encoding, delimiter : str
    notes : tuple of str
    """

    lines: list[str]
    first: int
    complete: bool
    encoding: str
    delimiter: str
    notes: tuple[str, ...] = ()


def head(path: Path, dialect: Dialect) -> Head:
    """Look at the beginning of a text file.

    Raises
    ------
    InputError
        It is no text, or has no rows.
    """
    start, complete = _bytes(path)
    encoding = dialect.encoding or encoding_of(start)
    lines = _lines(path, start, encoding, complete)
    # In a sheet, a comment is alone in its row.
    sheet = isinstance(path, InnerFile) and path.dialect is not None
    rows = (
        k
        for k, line in enumerate(lines)
        if line.strip() and not (is_comment(line) and not (sheet and "\t" in line.strip()))
    )
    first = next(rows, None)
    if first is None:
        raise _no_rows(path, lines)
    notes = () if dialect.encoding else encoding_note(encoding, path)
    mark = dialect.delimiter
    if mark is None and (line := _EXCEL.fullmatch(lines[first])):
        mark, first = line[1], first + 1
    mark = mark or delimiter_of(lines[first:], kind(path), dialect.decimal)
    return Head(lines, first, complete, encoding, mark, notes)


def is_comment(line: str) -> bool:
    """Whether a line before the rows begins as comments do."""
    return line.lstrip()[:1] in ("#", "%")


def _no_rows(path: Path, lines: list[str]) -> InputError:
    """Return an error for a file without rows, or with rows that all look like comments."""
    for number, line in enumerate(lines, 1):
        if _NAMES.match(line):
            return InputError(
                f"{path} has only lines that are read as comments, such as line {number}: "
                f"{quoted(line, 90)}. If it is a row, put names that begin with # or % in double "
                "quotes, or add a header line above it."
            )
    return NoRowsError(f"{path} has no rows, only comments or empty lines. Add the rows.")


def _bytes(path: Path) -> tuple[bytes, bool]:
    """Return the first bytes, at least three lines, and whether they are all."""
    with opened(path) as stream:
        start = bytearray(stream.read(SAMPLE))
        ends = start.count(b"\n")
        while ends < 3 and (more := stream.read(SAMPLE)):  # long lines
            start += more
            ends += more.count(b"\n")
            if len(start) > (ends + 1) * LONGEST:
                _refuse_long(path, bytes(start))
        complete = not stream.read(1)
    for magic, what in _MAGIC.items():
        if start.startswith(magic):
            raise InputError(f"{path} is not what its ending says: it is {what}.")
    return bytes(start), complete


def _refuse_long(path: Path, start: bytes) -> None:
    """Say what is wrong with the first of some lines that is too long to be one."""
    lines = start.split(b"\n")
    number = next(k for k, line in enumerate(lines, 1) if len(line) > LONGEST)
    zero = "NUL bytes, and " * (b"\0" in lines[number - 1])
    raise InputError(f"{path}, line {number}: {zero}{LONG}")


def _lines(path: Path, start: bytes, encoding: str, complete: bool) -> list[str]:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(start, final=complete)
    except UnicodeDecodeError as bad:
        before = bad.object[: bad.start].decode(encoding, "ignore").split("\n")
        raise undecodable(path, len(before), bad.object[bad.start], encoding) from None
    text = text.removeprefix("\ufeff")
    if not complete:
        text = text[: text.rfind("\n") + 1]
    lines = [line.rstrip("\r") for line in text.split("\n")]
    cut = next((number for number, line in enumerate(lines, 1) if "\r" in line), None)
    if cut is not None:
        raise InputError(f"{path}, line {cut}: {RETURN}")
    return lines


def settle_comments(
    path: Path, start: Head, words: Sequence[str], header: bool | None
) -> tuple[Head, bool]:
    """Tell what the lines are that were skipped as comments, and say it.

    Parameters
    ----------
    path : Path
    start : Head
    words : sequence of str
        Names that a header of this kind of table may have.
    header : bool or None
        Whether the first row is one, as far as the user says it.

    Returns
    -------
    start : Head
        With the last of these lines as the first row, where it belongs to the table.
    header : bool
        Whether it is a header for sure.

    Raises
    ------
    InputError
        The last of them may be a row.
    """
    lines, mark = start.lines, start.delimiter
    above = [k for k, line in enumerate(lines[: start.first]) if is_comment(line)]
    if not above or start.first >= len(lines) or lines[above[0]].startswith("%%MatrixMarket"):
        return start, False
    rows = [_fields(line, mark) for line in lines[start.first :][:_ROWS] if line.strip()]
    last = above[-1]
    fields = _fields(lines[last].rstrip(mark), mark)  # a comment in a sheet has empty cells beside
    if len(fields) == len(rows[0]):
        if fields[0] in ("#", "%") and mark != " ":
            said = _skipped(path, start, above[:-1], len(fields))
            return replace(start, first=last, notes=(*start.notes, *said)), False
        if mark != " " and _is_header(lines[last], fields, rows, words, header):
            return _with_header(path, start, above, fields), True
        if _may_be_row(lines[last], fields, rows, words, mark):
            raise _open_question(path, last + 1, lines[last])
    said = _skipped(path, start, above, len(rows[0]))
    return replace(start, notes=(*start.notes, *said)), False


def _fields(line: str, mark: str) -> list[str]:
    if mark == " ":
        return line.split()
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=mark), [])]
    except csv.Error:  # told later, with its line
        return line.split(mark)


def _bare(fields: list[str]) -> list[str]:
    """Return the fields of a line without the sign at its beginning."""
    return [fields[0][1:].strip(), *fields[1:]]


def _hashed(fields: list[str]) -> bool:
    return any(field[:1] in ("#", "%") for field in fields)


def _is_header(
    line: str,
    fields: list[str],
    rows: list[list[str]],
    words: Sequence[str],
    header: bool | None,
) -> bool:
    """Whether a line such as #source,target names the columns of the rows below it."""
    if header is False or _hashed(fields[1:]) or first_row(rows[0], rows[1:], words, ".").header:
        return False
    known = any(field.lower() in words for field in _bare(fields))
    prose = _PROSE.match(line.lstrip()) is not None
    return known or (not prose and first_row(_bare(fields), rows, words, ".").header)


def _may_be_row(
    line: str, fields: list[str], rows: list[list[str]], words: Sequence[str], mark: str
) -> bool:
    """Whether a line is a row as likely as a comment: a name may begin with #."""
    if _PROSE.match(line.lstrip()):
        return False
    if _hashed(fields[1:]) or any(map(_hashed, rows)):
        return True
    named = first_row(rows[0], rows[1:], words, ".").header  # rows do not stand above a header
    return mark != " " and not named and not first_row(_bare(fields), rows, words, ".").header


def _open_question(path: Path, number: int, line: str) -> InputError:
    return InputError(
        f"{path}, line {number}: {quoted(line, 90)} has as many fields as the rows below it, so it "
        f"may be a row, or a comment. If names begin with {line.lstrip()[0]}, put this one in "
        "double quotes, or add a header line above; if it names the columns, remove the sign; if "
        "it is a comment, put a space after the sign."
    )


def _with_header(path: Path, start: Head, above: list[int], fields: list[str]) -> Head:
    last = above[-1]
    sign, names = fields[0][0], _bare(fields)
    lines = start.lines.copy()
    lines[last] = lines[last].lstrip()[1:].lstrip(" ")
    said = _skipped(path, start, above[:-1], len(fields))
    text = short(", ".join(names))
    note = f"line {last + 1} of {path.name} begins with {sign} and is read as a header: {text}"
    return replace(start, lines=lines, first=last, notes=(*start.notes, *said, note))


def _skipped(path: Path, start: Head, above: list[int], width: int) -> tuple[str, ...]:
    """Say which lines were skipped that are not plainly comments."""
    some = [
        k
        for k in above
        if len(_fields(start.lines[k], start.delimiter)) == width
        or not (start.lines[k].lstrip()[0] == "%" or _PROSE.match(start.lines[k].lstrip()))
    ]
    if not some:
        return ()
    first = f"line {some[0] + 1}: {quoted(start.lines[some[0]], 60)}"
    many = f"{len(above)} line{'s' * (len(above) > 1)}"
    return (f"{many} before the rows of {path.name} skipped as comments, such as {first}",)

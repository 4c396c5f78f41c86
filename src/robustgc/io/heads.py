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
    delimiter_note,
    delimiters,
    encoding_note,
    encoding_of,
    undecodable,
)
from robustgc.io.headers import First, first_row
from robustgc.io.opening import InnerFile, InputError, NoRowsError, kind, opened

SAMPLE = 2**16  # bytes from which delimiter and header are recognised
LONGEST = 2**20  # bytes of a line; the reader of tables takes blocks of that many
LONG = (
    "more than 1,048,576 bytes without an end of the line, which no row of a table has. Check that "
    "it is a table, with a row on each line."
)
RETURN = "a carriage return within the line. Save the file with LF or CR LF at the end of lines."
_EXCEL = re.compile(r"sep=([,;|\t])")  # a first line by which Excel knows the delimiter
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
_SIGNS = ("#", "%")
_PROSE = re.compile(r"[#%](\s|[#%]|$)")  # as people write comments, and no names
_ROWS = 200  # lines that show whether names begin with #


@dataclass(frozen=True)
class Head:
    """The first lines of a text table, none of them cut."""

    lines: list[str]
    first: int  # place of the first line of the table: its header, or a row
    complete: bool  # whether the file has no other lines
    encoding: str
    delimiter: str
    notes: tuple[str, ...] = ()
    header: bool = False  # whether the first line is a header that began with # or %


def head(path: Path, dialect: Dialect, words: Sequence[str], header: bool | None) -> Head:
    """Look at the beginning of a text file; refuse what is no text, or has no rows.

    `words` are names that a header of this kind of table may have; `header` says whether the first
    row is one, as far as the user says it.
    """
    content, complete = _bytes(path)
    encoding = dialect.encoding or encoding_of(content)
    lines = _lines(path, content, encoding, complete)
    # In a sheet, a comment is alone in its row.
    sheet = isinstance(path, InnerFile) and path.dialect is not None
    rows = (
        k
        for k, line in enumerate(lines)
        if line.strip() and not (_is_comment(line) and not (sheet and "\t" in line.strip()))
    )
    first = next(rows, None)
    if first is None:
        raise _no_rows(path, lines)
    notes = () if dialect.encoding else encoding_note(encoding, path)
    if dialect.delimiter is not None:
        mark = dialect.delimiter
    elif line := _EXCEL.fullmatch(lines[first]):
        mark, first = line[1], first + 1
    else:
        mark, *others = delimiters(lines[first:], kind(path), dialect.decimal)
        notes += delimiter_note(mark, others)
    start = Head(lines, first, complete, encoding, mark, notes)
    return _with_comments(path, start, words, header)


def _is_comment(line: str) -> bool:
    return line.lstrip()[:1] in _SIGNS


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


def _with_comments(path: Path, start: Head, words: Sequence[str], header: bool | None) -> Head:
    """Say which lines above the rows are skipped as comments.

    The last of them may be the header, or be refused as it may be a row.
    """
    lines, mark = start.lines, start.delimiter
    above = [k for k, line in enumerate(lines[: start.first]) if _is_comment(line)]
    if not above or start.first >= len(lines) or lines[above[0]].startswith("%%MatrixMarket"):
        return start
    rows = [_fields(line, mark) for line in lines[start.first :][:_ROWS] if line.strip()]
    last = above[-1]
    fields = _fields(lines[last].rstrip(mark), mark)  # a comment in a sheet has empty cells after
    comments = _skipped_note(path, start, above, len(rows[0]))
    others = _skipped_note(path, start, above[:-1], len(rows[0]))
    if len(fields) != len(rows[0]):
        return replace(start, notes=start.notes + comments)
    cut = mark != " "
    if cut and fields[0] in _SIGNS:  # it is the name of the first column
        return replace(start, first=last, notes=start.notes + others)
    prose = _PROSE.match(lines[last].lstrip()) is not None
    names, signs = [fields[0][1:].strip(), *fields[1:]], _has_sign(fields[1:])
    header_below = first_row(rows[0], rows[1:], words, ".").header
    likely = first_row(names, rows, words, ".")
    named = likely is First.KNOWN or (likely.header and not prose)
    if cut and named and not (signs or header_below or header is False):
        text = short(", ".join(names))
        note = f"line {last + 1} of {path.name} begins with {fields[0][0]} and is read as a header"
        plain = [*lines[:last], lines[last].lstrip()[1:].lstrip(" "), *lines[last + 1 :]]
        notes = (*start.notes, *others, f"{note}: {text}")
        return replace(start, lines=plain, first=last, notes=notes, header=True)
    plain_row = cut and not header_below and not likely.header
    if not prose and (signs or any(map(_has_sign, rows)) or plain_row):
        raise _row_or_comment(path, last + 1, lines[last])
    return replace(start, notes=start.notes + comments)


def _fields(line: str, mark: str) -> list[str]:
    if mark == " ":
        return line.split()
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=mark), [])]
    except csv.Error:  # the reader of the rows says what is wrong, with the line
        return line.split(mark)


def _has_sign(fields: list[str]) -> bool:
    return any(field[:1] in _SIGNS for field in fields)


def _row_or_comment(path: Path, number: int, line: str) -> InputError:
    return InputError(
        f"{path}, line {number}: {quoted(line, 90)} has as many fields as the rows below it, so it "
        f"may be a row, or a comment. If names begin with {line.lstrip()[0]}, put this one in "
        "double quotes, or add a header line above; if it names the columns, remove the sign; if "
        "it is a comment, put a space after the sign."
    )


def _skipped_note(path: Path, start: Head, above: list[int], width: int) -> tuple[str, ...]:
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
    were = "line is" if len(above) == 1 else "lines are"
    place = f"before the rows of {path.name}"
    return (f"{len(above)} {were} skipped as comments {place}, such as {first}",)

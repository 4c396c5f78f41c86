"""The beginning of a text table: its first lines, and how they are written."""

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from robustgc.graph.quoting import quoted
from robustgc.io.dialect import (
    Dialect,
    delimiter_of,
    encoding_note,
    encoding_of,
    undecodable,
)
from robustgc.io.inner_files import InnerFile
from robustgc.io.opening import InputError, NoRowsError, kind, opened

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

"""The first lines of a text table: how it is written, what are comments, and what a header."""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from robustgc.graph.quoting import quoted, short
from robustgc.io.dialect import (
    Dialect,
    delimiter_note,
    delimiters,
    encoding_note,
    encoding_of,
    is_number,
    undecodable,
)
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
_NAMELESS = ("", "unnamed: 0", "__index_level_0__")
_COUNTERS = ("index", "id", "nr", "no", "row", "#")
FEW = 4  # rows from which edges may show a header
_RARE = 0.05  # share of edges that touch no other, up to which one that does so is no edge


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
        sign = lines[last].lstrip()[0]
        raise InputError(
            f"{path}, line {last + 1}: {quoted(lines[last], 90)} has as many fields as the rows "
            f"below it, so it may be a row, or a comment. If names begin with {sign}, put this one "
            "in double quotes, or add a header line above; if it names the columns, remove the "
            "sign; if it is a comment, put a space after the sign."
        )
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


class First(Enum):
    """What the first row of a table is."""

    KNOWN = "a header, by its words"
    HEADER = "a header, by what stands below it"
    LIKELY = "a header, as it shares no name with edges that all share some"
    OPEN = "a row, but it might be a header"
    ROW = "a row"

    @property
    def header(self) -> bool:
        """Whether it is read as a header."""
        return self in (First.KNOWN, First.HEADER, First.LIKELY)


def first_row(first: list[str], rest: list[list[str]], words: Sequence[str], decimal: str) -> First:
    """Return what the first row is: by its words, or by numbers that start below it."""
    if any(field.lower() in words for field in first):
        return First.KNOWN
    if any(is_number(field, decimal) for field in first):
        return First.ROW  # else a row with one bad field would be lost
    columns = [[row[k].strip() for row in rest if len(row) > k] for k in range(len(first))]
    above = any(below and all(is_number(x, decimal) for x in below) for below in columns)
    return First.HEADER if above else First.OPEN


def first_edge(
    first: list[str], rest: list[list[str]], words: Sequence[str], decimal: str, *, alone: bool
) -> First:
    """Return what the first row of a table of edges is, by the names in the other rows.

    Names of columns are in no other row. An edge may be so too, of two nodes that have no other:
    it is taken for one unless such edges are rare among the others, or there are none. Not `alone`,
    other files have edges of the same graph, which may share a name with it.
    """
    kind = first_row(first, rest, words, decimal)
    if kind in (First.ROW, First.HEADER) or not rest or len(first) < 2:
        return kind
    start = int(len(first) > 2 and counts_rows(first[0], [row[0].strip() for row in rest if row]))
    pair = first[start : start + 2]
    edges = [[field.strip() for field in row[start : start + 2]] for row in rest]
    counts = Counter(name for edge in edges for name in edge)
    known = sum(field.lower() in words for field in first)
    if kind is First.KNOWN:  # one word may be the name of a node
        node = known == 1 and any(name in counts for name in pair) and pair not in edges
        return First.ROW if node else kind
    if pair[0] == pair[1] or any(name in counts or not name for name in pair):
        return First.ROW
    apart = sum(all(counts[name] == 1 for name in edge) for edge in edges)
    return First.LIKELY if alone and odd_one_out(apart, len(edges)) else First.OPEN


def odd_one_out(apart: int, edges: int) -> bool:
    """Whether an edge that shares no name with others is likely none, as `apart` of them do so."""
    return (apart + 1) / (edges + 2) <= _RARE or (apart == 0 and edges >= FEW)


def counts_rows(name: str, fields: list[str]) -> bool:
    """Whether a column is one that programs add: 0, 1, 2, ... or 1, 2, 3, ...

    Without a name it may have gaps, as where rows were left out later.
    """
    if not fields or not all(map(str.isdecimal, fields)):
        return False
    if name.lower() in _NAMELESS:
        return len(set(fields)) == len(fields)
    start = int(fields[0][:1])
    return (
        name.lower() in _COUNTERS
        and start in (0, 1)
        and fields == [str(k) for k in range(start, start + len(fields))]
    )


def counts_columns(first: list[str]) -> bool:
    """Whether a first row is 0, 1, 2, ..., as frames without names are written; or so after ''."""
    numbers = first[1:] if first[0] == "" else first
    return len(first) > 1 and numbers == [str(k) for k in range(len(numbers))]

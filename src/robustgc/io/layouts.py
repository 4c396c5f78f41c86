"""Find how one text file is written: its delimiter, header, decimal mark and so on, once."""

import csv
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from robustgc.graph.quoting import quoted
from robustgc.io.column_names import numbered_columns
from robustgc.io.dialect import Dialect, decimal_of
from robustgc.io.heads import First, Head, counts_rows, first_edge, first_row, head
from robustgc.io.opening import InnerFile, InputError, one_space, opened

INTEGER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)


@dataclass(frozen=True)
class Layout:
    """All that is known of how a text table is written; readers and messages go by it."""

    path: Path
    delimiter: str
    names: tuple[str, ...] | None  # the header; None where there is none
    width: int  # fields of a row that hold something
    skipped: int  # lines before the first row: comments, and the header
    sample: list[list[str]]  # some rows
    complete: bool = False  # whether these are all
    first: First = First.ROW  # what the first row is
    blank: int = 0  # fields at the end of a row that are empty in all of them
    encoding: str = "utf-8"
    decimal: str = "."
    nulls: tuple[str, ...] = ()  # what stands for a missing number; else one is an error
    notes: tuple[str, ...] = ()  # what the user should know of how the table is read

    @property
    def columns(self) -> tuple[str, ...]:
        """What the columns are called: ``column 1``, ``column 2``, ... without a header."""
        return self.names or numbered_columns(self.width)

    def opened(self) -> AbstractContextManager[Any]:
        """Give a stream of the text as UTF-8, its fields between one space where spaces cut."""
        return opened(self.path, spaced=self.delimiter == " ", encoding=self.encoding)

    def fields(self, column: int) -> list[str]:
        """Return a column of the sample."""
        return [row[column].strip() for row in self.sample if len(row) > column]

    def integers(self, column: int) -> bool:
        """Whether all fields of the sample are whole numbers, written the one usual way."""
        return all(map(INTEGER.fullmatch, self.fields(column)))


def find_layout(
    path: Path,
    words: Sequence[str],
    header: bool | None = None,
    dialect: Dialect | None = None,
    *,
    alone: bool | None = None,
) -> Layout:
    """Find out from its beginning how a text file is written, as far as `dialect` does not say it.

    `words` are names that a header of this kind of table may have. `header` says whether there is
    one; None: as `dialect` says, or to be found out. `alone` is for edges: whether the file has all
    of the graph, or part of it.
    """
    dialect = dialect or Dialect()
    if isinstance(path, InnerFile) and path.dialect is not None:  # a sheet: its text is our own
        dialect = replace(path.dialect, header=dialect.header)
    header = dialect.header if header is None else header
    start = head(path, dialect, words, header)
    numbers, rows = _rows(path, start)
    names, rest = [field.strip() for field in rows[0]], rows[1:]
    decimal, notes = decimal_of(path, numbers, rows, start.delimiter, dialect.decimal)
    header = True if start.header else header
    if header is not None:
        first = First.KNOWN if header else First.ROW
    elif alone is None:
        first = first_row(names, rest, words, decimal)
    else:
        first = first_edge(names, rest, words, decimal, alone=alone)
    names, blank = _trimmed(names, rest, first.header)
    if first.header and not names[-1]:
        _check_nameless(path, numbers[1:], [row[len(names) - 1 :] for row in rest])
    if alone is not None and first.header and _shifted(names, rest):
        names = ["", *names]  # as R writes names of rows, without a name for their column
    return Layout(
        path,
        start.delimiter,
        tuple(names) if first.header else None,
        len(names),
        start.first + first.header,
        rows[int(first.header) :],
        start.complete,
        first,
        blank,
        start.encoding,
        decimal,
        notes=(*start.notes, *notes),
    )


def _rows(path: Path, start: Head) -> tuple[list[int], list[list[str]]]:
    """Return the first rows, and their lines."""
    lines, mark = start.lines, start.delimiter
    if mark == " ":
        lines = one_space("\n".join(lines).encode()).decode().split("\n")
    numbered = [(k, line) for k, line in enumerate(lines[start.first :], start.first + 1) if line]
    rows = [_fields(f"{path}, line {number}", line, mark) for number, line in numbered]
    return [number for number, _ in numbered], rows


def _trimmed(first: list[str], rest: list[list[str]], header: bool) -> tuple[list[str], int]:
    """Return the first row without fields at its end that are empty in all rows, and how many."""
    width = len(first)
    if header and rest and all(len(row) == width + 1 and not row[-1].strip() for row in rest):
        return first, 1  # the header has no delimiter at its end
    while width > 1 and not first[width - 1]:
        if any(row[width - 1].strip() for row in rest if len(row) >= width):
            break
        width -= 1
    return first[:width], len(first) - width


def _check_nameless(path: Path, numbers: list[int], ends: list[list[str]]) -> None:
    """Refuse a last column without a name that some rows leave empty, and others do not."""
    filled = [n for n, end in zip(numbers, ends, strict=True) if end and end[0].strip()]
    if 0 < len(filled) < len(ends):
        raise InputError(
            f"{path}, line {filled[0]}: a field after the last column, which other lines leave "
            "empty. Remove it, or give the column a name in the header."
        )


def _shifted(names: list[str], rest: list[list[str]]) -> bool:
    long = bool(rest) and all(len(row) == len(names) + 1 for row in rest)
    return long and bool(rest[0][-1].strip()) and counts_rows("", [row[0] for row in rest])


def _fields(where: str, line: str, mark: str) -> list[str]:
    if reason := why_no_row(line, mark):
        raise InputError(f"{where}: {reason}")
    fields = next(csv.reader([line], delimiter=mark))
    if any(field[:1] == " " and field.lstrip()[:1] == '"' for field in fields):
        raise InputError(
            f"{where}: a space before a double quote, which makes it part of the text. Remove it."
        )
    if '"' not in line and _single_quotes(fields):
        raise InputError(
            f"{where}: text in single quotes is cut at {quoted(mark)}: {quoted(line)}. Put it in "
            "double quotes instead, which may hold what stands between fields."
        )
    return fields


def _single_quotes(fields: list[str]) -> bool:
    """Whether a field opens a single quote, and a later one closes it."""
    texts = [field.strip() for field in fields]
    opening = [k for k, text in enumerate(texts) if text[:1] == "'" and "'" not in text[1:]]
    closing = [k for k, text in enumerate(texts) if text[-1:] == "'" and "'" not in text[:-1]]
    return bool(opening and closing) and opening[0] < closing[-1]


def why_no_row(line: str, mark: str) -> str:
    """Say why a line is no row of a table before it is cut into fields; nothing: it may be one."""
    if (place := line.find("\0")) >= 0:
        return (
            f"a NUL byte, character {place + 1} of the line: the file is no text, or is UTF-16, or "
            "is damaged. Save it as UTF-8."
        )
    if len(line) <= csv.field_size_limit():
        return ""
    sizes = [len(field) for field in line.split(mark)]
    if max(sizes) <= csv.field_size_limit():
        return ""
    return (
        f"field {sizes.index(max(sizes)) + 1} has {max(sizes)} characters; at most "
        f"{csv.field_size_limit()} are read. Shorten it, or leave the column out; if a double "
        "quote was left open before it, close it."
    )

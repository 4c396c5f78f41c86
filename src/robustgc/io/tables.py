"""Tables of text (CSV, TSV, edge lists) and Parquet, with their header found."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robustgc.graph.quoting import listed, quoted, short
from robustgc.io import limits
from robustgc.io.decimals import decimal_of
from robustgc.io.dialect import Dialect, delimiter_note
from robustgc.io.headers import First, counts_rows, first_edge, first_row
from robustgc.io.heads import SAMPLE, Head, head, settle_comments
from robustgc.io.opening import InputError, kind, one_space, opened, packed_size, whole
from robustgc.io.reasons import explain, unfit
from robustgc.io.streaming import batches

__all__ = [
    "BLOCK", "INTEGER", "PARQUET", "SAMPLE", "TEXT", "Layout", "canonical", "column", "layout",
    "parquet", "read", "row_groups",
]  # fmt: skip

TEXT = (".csv", ".tsv", ".txt", ".edges", ".tab")
PARQUET = (".parquet", ".pq")
BLOCK = 2**20  # bytes at a time: larger ones cost memory and gain nothing
INTEGER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
_DIGIT, _INSIDE, _EXPONENT = (
    np.isin(np.arange(256), list(some)) for some in (b"0123456789", b"0123456789.eE", b"eE")
)


@dataclass(frozen=True)
class Layout:
    """How a text table is written.

    Attributes
    ----------
    delimiter : str
    names : tuple of str or None
        The header; None where there is none.
    width : int
        Fields of a row that hold something.
    skipped : int
        Lines before the first row: comments, and the header.
    sample : list of list of str
        Some rows.
    complete : bool
        Whether these are all.
    first : First
        What the first row is.
    blank : int
        Fields at the end of a row that are empty in all of them.
    encoding, decimal : str
    nulls : tuple of str
        What stands for a number that is not there; without any a missing one is an error.
    notes : tuple of str
    """

    delimiter: str
    names: tuple[str, ...] | None
    width: int
    skipped: int
    sample: list[list[str]]
    complete: bool = False
    first: First = First.ROW
    blank: int = 0
    encoding: str = "utf-8"
    decimal: str = "."
    nulls: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def fields(self, column: int) -> list[str]:
        """Return a column of the sample."""
        return [row[column].strip() for row in self.sample if len(row) > column]

    def integers(self, column: int) -> bool:
        """Whether all fields of the sample are whole numbers, written the one usual way."""
        return all(map(INTEGER.fullmatch, self.fields(column)))


def layout(
    path: Path,
    words: Sequence[str],
    header: bool | None = None,
    dialect: Dialect | None = None,
    *,
    alone: bool | None = None,
) -> Layout:
    """Look at the beginning of a text file.

    Parameters
    ----------
    path : Path
    words : sequence of str
        Names that a header of this kind of table may have.
    header : bool or None
        Whether there is one; None: as `dialect` says, or to be found out.
    dialect : Dialect or None
        How the table is written, as far as the user says it.
    alone : bool or None
        For edges: whether the file has all of the graph, or part of it. None: no edges.
    """
    dialect = dialect or Dialect()
    header = dialect.header if header is None else header
    start, above = settle_comments(path, head(path, dialect), words, header)
    numbers, rows = _rows(path, start)
    names, rest = [field.strip() for field in rows[0]], rows[1:]
    decimal, notes = decimal_of(path, numbers, rows, start.delimiter, dialect.decimal)
    if dialect.delimiter is None and start.lines[max(start.first - 1, 0)][:4] != "sep=":
        notes += delimiter_note(start.lines[start.first :], kind(path), dialect.decimal)
    header = True if above else header
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
    if reason := unfit(line, mark):
        raise InputError(f"{where}: {reason}")
    fields = next(csv.reader([line], delimiter=mark))
    if any(field[:1] == " " and field.lstrip()[:1] == '"' for field in fields):
        raise InputError(
            f"{where}: a space before a double quote, which would be part of the text. Remove it."
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


def _same(chunk: Any) -> Any:
    return chunk


def read(
    path: Path, look: Layout, types: dict[int, Any], keep: Callable[[Any], Any] = _same
) -> Any:
    """Read some columns of a text table, by number, as the Arrow types given: chunks of each.

    `keep` says what is kept of every chunk.

    Raises
    ------
    InputError
        A row does not fit, with its line.
    """
    import pyarrow as pa
    import pyarrow.csv as pc

    columns = [f"f{k}" for k in range(look.width + look.blank)]
    text = {k: pa.string() for k in range(len(columns)) if k not in types}  # to find open quotes
    reading = pc.ReadOptions(column_names=columns, skip_rows=look.skipped, block_size=BLOCK)
    converting = pc.ConvertOptions(
        column_types={columns[k]: kind for k, kind in (types | text).items()},
        include_columns=[columns[k] for k in (types | text)],
        strings_can_be_null=False,
        null_values=list(look.nulls),
        decimal_point=look.decimal,
    )
    chunks: list[list[Any]] = [[] for _ in types]
    if not look.sample:  # a header without rows
        return chunks
    try:
        with (
            opened(path, spaced=look.delimiter == " ", encoding=look.encoding) as stream,
            closing(
                batches(stream, reading, pc.ParseOptions(delimiter=look.delimiter), converting)
            ) as parts,
        ):
            for batch in parts:
                columns_read = [_one_line(column) for column in batch.columns]
                if look.blank and any(map(_filled, columns_read[-look.blank :])):
                    raise pa.ArrowInvalid("text after the last column")
                for part, column in zip(chunks, columns_read, strict=False):
                    part.append(keep(column))
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        if pa.int64() in types.values():  # numbers were a guess: text is tried next
            raise InputError(f"{path}: {short(error)}") from error
        raise explain(path, look, types, error) from error
    pa.default_memory_pool().release_unused()
    return chunks


def _one_line(column: Any) -> Any:
    """Return text without spaces around it; refuse what an open quote has swallowed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return column
    if pc.any(pc.match_substring(column, "\n")).as_py():
        raise pa.ArrowInvalid("a field goes on over the end of its line")
    return pc.utf8_trim_whitespace(column)


def _filled(column: Any) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.not_equal(column, "")).as_py())


def canonical(path: Path, encoding: str = "utf-8") -> bool:
    """Whether no number is written as 007, -0 or 0x7: read as a number, it would lose its name."""
    with opened(path, encoding=encoding) as stream:
        end = b"  \n"
        while block := stream.read(BLOCK):
            text = np.frombuffer(end + block, dtype=np.uint8)
            zeros = np.flatnonzero(text[2:-1] == ord("0")) + 2
            zeros = zeros[~_INSIDE[text[zeros - 1]]]  # most of them are inside of a number
            minus = text[zeros - 1] == ord("-")
            zeros, minus = (x[~(minus & _EXPONENT[text[zeros - 2]])] for x in (zeros, minus))
            after = text[zeros + 1]
            number = _DIGIT[after] | (after | 32 == ord("x"))
            if (number | (minus & (after != ord(".")))).any():
                return False
            end = (end + block)[-3:]
    return True


def parquet(
    path: Path, columns: Sequence[str] | None = None, groups: Sequence[int] | None = None
) -> Any:
    """Read a Parquet file, or some of its row groups, as an Arrow table."""
    import pyarrow.parquet as pq

    with _parquet(path) as source:
        _check_rows(path, pq.ParquetFile(source).metadata, groups)
        if groups is None:
            table = pq.read_table(source, columns=columns)
        else:
            table = pq.ParquetFile(source).read_row_groups(list(groups), columns=columns)
        table.validate(full=True)  # text that is not UTF-8
        len(table.column_names)  # names of columns that are not
    return table


def _check_rows(path: Path, about: Any, groups: Sequence[int] | None) -> None:
    """Refuse more rows than so small a file may have: equal ones are stored once and counted."""
    every = range(about.num_row_groups) if groups is None else groups
    parts = [about.row_group(k) for k in every]
    least = 4 * about.num_columns * sum(part.num_rows for part in parts)
    size = max(least, sum(part.total_byte_size for part in parts))
    limits.check_unpacked(path, packed_size(path), size)


def row_groups(path: Path) -> list[int]:
    """Return how many rows every row group of a Parquet file has."""
    import pyarrow.parquet as pq

    with _parquet(path) as source:
        about = pq.ParquetFile(source).metadata
        return [about.row_group(k).num_rows for k in range(about.num_row_groups)]


@contextmanager
def _parquet(path: Path) -> Iterator[Any]:
    import pyarrow as pa

    with opened(path) as stream:
        source = stream if path.suffix.lower() in PARQUET else whole(path)  # packed once more
        try:
            yield source
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"{path} is not the Parquet file that its ending says, or is cut short "
                f"({short(error)}). Write it again, or rename it."
            ) from error


def column(names: Sequence[str], wanted: str | None, usual: Sequence[str], place: int) -> int:
    """Return which column is meant: the one that was named, a usual name, or the usual place."""
    if wanted is not None:
        if wanted not in names:
            raise InputError(
                f"there is no column {quoted(wanted, 90)}; the columns are {listed(names)}"
            )
        return list(names).index(wanted)
    lower = [name.lower() for name in names]
    return next((lower.index(word) for word in usual if word in lower), place)

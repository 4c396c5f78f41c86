"""Tables of text (CSV, TSV, edge lists) and Parquet, with their header found."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robustgc.io import limits
from robustgc.io.opening import InputError, NoRowsError, one_space, opened, packed_size, whole
from robustgc.io.reasons import LONG, LONGEST, NUMBER, RETURN, delimiter, explain, unfit
from robustgc.quoting import listed, quoted, short

TEXT = (".csv", ".tsv", ".txt", ".edges", ".tab")
PARQUET = (".parquet", ".pq")
SAMPLE = 2**16  # bytes from which delimiter and header are told
BLOCK = 2**20  # bytes at a time: larger ones cost memory and gain nothing
_INTEGER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
_DIGIT, _INSIDE, _EXPONENT = (
    np.isin(np.arange(256), list(some)) for some in (b"0123456789", b"0123456789.eE", b"eE")
)
_MAGIC = {
    b"\x1f\x8b": "packed with gzip; name it .gz",
    b"\x28\xb5\x2f\xfd": "packed with zstd; name it .zst",
    b"PAR1": "a Parquet file; name it .parquet",
    b"PK\x03\x04": "a zip archive or a spreadsheet; unpack it, or save it as CSV",
    b"\x93NUMPY": "an array of numpy; name it .npy",
}


@dataclass(frozen=True)
class Layout:
    """How a text table is written.

    Attributes
    ----------
    delimiter : str
    names : tuple of str or None
        The header; None where there is none.
    width : int
        Fields of a row.
    skipped : int
        Lines before the first row: comments, and the header.
    sample : list of list of str
        Some rows.
    """

    delimiter: str
    names: tuple[str, ...] | None
    width: int
    skipped: int
    sample: list[list[str]]

    def integers(self, column: int) -> bool:
        """Whether all fields of the sample are whole numbers, written the one usual way."""
        fields = (row[column].strip() for row in self.sample if len(row) > column)
        return all(map(_INTEGER.fullmatch, fields))


def layout(path: Path, words: Sequence[str], header: bool | None = None) -> Layout:
    """Look at the beginning of a text file.

    Parameters
    ----------
    path : Path
    words : sequence of str
        Names that a header of this kind of table may have.
    header : bool or None
        Whether there is one; None: to be found out.
    """
    lines = _head(path)
    first = next(
        (k for k, line in enumerate(lines) if line.strip() and line.lstrip()[0] not in "#%"), None
    )
    if first is None:
        raise NoRowsError(f"{path} has no rows, only comments or empty lines. Add the rows.")
    mark = delimiter(path, lines[first])
    if mark == " ":
        lines = one_space("\n".join(lines).encode()).decode().split("\n")
    numbered = enumerate(lines[first:], first + 1)
    rows = [_fields(f"{path}, line {number}", line, mark) for number, line in numbered if line]
    names = [field.strip() for field in rows[0]]
    if header is None:
        header = _is_header(names, rows[1:], words)
    sample = rows[int(header) :]
    return Layout(mark, tuple(names) if header else None, len(names), first + header, sample)


def _fields(where: str, line: str, mark: str) -> list[str]:
    if reason := unfit(line, mark):
        raise InputError(f"{where}: {reason}")
    fields = next(csv.reader([line], delimiter=mark))
    if any(field[:1] == " " and field.lstrip()[:1] == '"' for field in fields):
        raise InputError(
            f"{where}: a space before a double quote, which would be part of the text. Remove it."
        )
    return fields


def _head(path: Path) -> list[str]:
    """Return the first lines, none of them cut."""
    with opened(path) as stream:
        head = bytearray(stream.read(SAMPLE))
        ends = head.count(b"\n")
        while ends < 3 and (more := stream.read(SAMPLE)):  # long lines
            head += more
            ends += more.count(b"\n")
            if len(head) > (ends + 1) * LONGEST:
                _refuse_long(path, bytes(head))
        whole_file = not stream.read(1)
    for magic, what in _MAGIC.items():
        if head.startswith(magic):
            raise InputError(f"{path} is not what its ending says: it is {what}.")
    if not whole_file:
        head = head[: head.rindex(b"\n") + 1]
    try:
        lines = [line.rstrip("\r") for line in head.decode("utf-8-sig").split("\n")]
    except UnicodeDecodeError as error:
        raise explain(path, None, {}, error) from error
    cut = next((number for number, line in enumerate(lines, 1) if "\r" in line), None)
    if cut is not None:
        raise InputError(f"{path}, line {cut}: {RETURN}")
    return lines


def _refuse_long(path: Path, head: bytes) -> None:
    """Say what is wrong with the first of some lines that is too long to be one."""
    lines = head.split(b"\n")
    number = next(k for k, line in enumerate(lines, 1) if len(line) > LONGEST)
    zero = "NUL bytes, and " * (b"\0" in lines[number - 1])
    raise InputError(f"{path}, line {number}: {zero}{LONG}")


def _same(chunk: Any) -> Any:
    return chunk


def _is_header(first: list[str], rest: list[list[str]], words: Sequence[str]) -> bool:
    """Whether the first row names columns: by its words, or by numbers that start below it."""
    if any(field.lower() in words for field in first):
        return True
    if any(map(NUMBER.fullmatch, first)):  # else a row with one bad field would be lost
        return False
    columns = [[row[k] for row in rest if len(row) > k] for k in range(len(first))]
    return any(below and all(map(NUMBER.fullmatch, below)) for below in columns)


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

    columns = [f"f{k}" for k in range(look.width)]
    text = {k: pa.string() for k in range(look.width) if k not in types}  # to find open quotes
    reading = pc.ReadOptions(column_names=columns, skip_rows=look.skipped, block_size=BLOCK)
    converting = pc.ConvertOptions(
        column_types={columns[k]: kind for k, kind in (types | text).items()},
        include_columns=[columns[k] for k in (types | text)],
        strings_can_be_null=False,
        null_values=[],
    )
    chunks: list[list[Any]] = [[] for _ in types]
    if not look.sample:  # a header without rows
        return chunks
    try:
        with (
            opened(path, spaced=look.delimiter == " ") as stream,
            pc.open_csv(
                stream, reading, pc.ParseOptions(delimiter=look.delimiter), converting
            ) as reader,
        ):
            for batch in reader:
                columns_read = [_one_line(column) for column in batch.columns]
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


def canonical(path: Path) -> bool:
    """Whether no number is written as 007, -0 or 0x7: read as a number, it would lose its name."""
    with opened(path) as stream:
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

"""Tables of text (CSV, TSV, edge lists) and Parquet, with their header found."""

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robustgc.io.opening import InputError, check_file, kind, opened
from robustgc.io.reasons import explain

TEXT = (".csv", ".tsv", ".txt", ".edges", ".tab")
PARQUET = (".parquet", ".pq")
SAMPLE = 2**16  # bytes from which delimiter and header are told
BLOCK = 2**20  # bytes at a time: larger ones cost memory and gain nothing
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)", re.IGNORECASE)
_INTEGER = re.compile(r"-?(0|[1-9]\d{0,17})|0")
_digit = np.isin(np.arange(256), list(b"0123456789"))
_inside = np.isin(np.arange(256), list(b"0123456789.eE"))


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
        return all(_INTEGER.fullmatch(row[column]) for row in self.sample if len(row) > column)


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
    with opened(path) as stream:
        head = stream.read(SAMPLE)
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:  # else a letter is cut in two at the end
            raise explain(path, _delimiter(path, ""), 0, {}) from error
        text = head[: error.start].decode("utf-8-sig")
    lines = text.splitlines()
    if len(head) == SAMPLE and len(lines) > 1:
        lines.pop()  # it may be cut
    comments = next((k for k, line in enumerate(lines) if not line.startswith(("#", "%"))), None)
    if comments is None or not any(line.strip() for line in lines[comments:]):
        raise InputError(f"{path} has no rows, only comments or empty lines.")
    delimiter = _delimiter(path, lines[comments])
    rows = [row for row in csv.reader(lines[comments:], delimiter=delimiter) if row]
    first = [field.strip() for field in rows[0]]
    if header is None:
        header = _is_header(first, rows[1:], words)
    names = tuple(first) if header else None
    return Layout(delimiter, names, len(first), comments + header, rows[int(header) :])


def _same(chunk: Any) -> Any:
    return chunk


def _delimiter(path: Path, line: str) -> str:
    if kind(path) in (".tsv", ".tab"):
        return "\t"
    return next((mark for mark in ("\t", ",", ";", " ") if mark in line.strip()), ",")


def _is_header(first: list[str], rest: list[list[str]], words: Sequence[str]) -> bool:
    """Whether the first row names columns: by its words, or by numbers that start below it."""
    if any(field.lower() in words for field in first):
        return True
    for k, field in enumerate(first):
        below = [row[k] for row in rest if len(row) > k]
        if below and not _NUMBER.fullmatch(field) and all(map(_NUMBER.fullmatch, below)):
            return True
    return False


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
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.csv as pc  # noqa: PLC0415

    columns = [f"f{k}" for k in range(look.width)]
    wanted = [columns[k] for k in types]
    reading = pc.ReadOptions(
        column_names=columns, skip_rows=look.skipped, block_size=BLOCK, use_threads=True
    )
    parsing = pc.ParseOptions(delimiter=look.delimiter)
    converting = pc.ConvertOptions(
        column_types={columns[k]: kind_ for k, kind_ in types.items()},
        include_columns=wanted,
        strings_can_be_null=False,
        null_values=[],
    )
    chunks: list[list[Any]] = [[] for _ in types]
    try:
        with opened(path) as stream, pc.open_csv(stream, reading, parsing, converting) as reader:
            for batch in reader:
                for part, column in zip(chunks, batch.columns, strict=True):
                    part.append(keep(column))
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise explain(path, look.delimiter, look.skipped, types, look.width, error) from error
    pa.default_memory_pool().release_unused()
    return chunks


def canonical(path: Path) -> bool:
    """Whether no number starts with a needless 0: read as a number, 007 would lose its name."""
    with opened(path) as stream:
        end = b" \n"
        while block := stream.read(BLOCK):
            text = np.frombuffer(end + block, dtype=np.uint8)
            zeros = np.flatnonzero(text[1:-1] == ord("0"))  # most of them inside of a number
            zeros = zeros[_inside[text[zeros]] == 0]
            if _digit[text[zeros + 2]].any():
                return False
            end = (end + block)[-2:]
    return True


def parquet(path: Path, columns: Sequence[str] | None = None) -> Any:
    """Read a Parquet file as an Arrow table."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    check_file(path)
    try:
        with opened(path) as stream:
            source = stream if path.suffix.lower() in PARQUET else io.BytesIO(stream.read())
            return pq.read_table(source, columns=columns)
    except pa.ArrowInvalid as error:
        raise InputError(
            f"{path} is not the Parquet file that its ending says, or is cut short ({error})."
        ) from error


def column(names: Sequence[str], wanted: str | None, usual: Sequence[str], place: int) -> int:
    """Return which column is meant: the one that was named, a usual name, or the usual place."""
    if wanted is not None:
        if wanted not in names:
            raise InputError(
                f"there is no column {wanted!r}; the columns are {', '.join(map(repr, names))}"
            )
        return list(names).index(wanted)
    lower = [name.lower() for name in names]
    return next((lower.index(word) for word in usual if word in lower), place)

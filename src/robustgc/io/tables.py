"""The rows of a text table, read fast; where that fails, slowly up to the first wrong line."""

import csv
import io
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import count, islice
from typing import Any

import numpy as np

from robustgc.graph.quoting import quoted, short
from robustgc.io.arrow import pa, pa_csv, pc
from robustgc.io.dialect import MISSING, is_number, undecodable
from robustgc.io.heads import LONG, LONGEST, RETURN
from robustgc.io.layouts import Layout, why_no_row
from robustgc.io.opening import InputError, opened

TEXT = (".csv", ".tsv", ".txt", ".edges", ".tab")
BLOCK = 2**20  # bytes at a time: larger ones cost memory and gain nothing
_DIGIT, _INSIDE, _EXPONENT = (
    np.isin(np.arange(256), list(some)) for some in (b"0123456789", b"0123456789.eE", b"eE")
)
_MARKS = {".": "point", ",": "comma"}
_PATIENCE = 5.0  # seconds that threads of Arrow may take to end; they need milliseconds


def read(layout: Layout, types: dict[int, Any], keep: Callable[[Any], Any] | None = None) -> Any:
    """Read some columns of a text table, by number, as Arrow types: chunks of each.

    `keep` changes every chunk, such as to one that needs less memory. A row that does not fit is
    refused, with its line.
    """
    columns = [f"f{k}" for k in range(layout.width + layout.blank)]
    text = {k: pa.string() for k in range(len(columns)) if k not in types}  # to find open quotes
    reading = pa_csv.ReadOptions(column_names=columns, skip_rows=layout.skipped, block_size=BLOCK)
    parsing = pa_csv.ParseOptions(delimiter=layout.delimiter)
    converting = pa_csv.ConvertOptions(
        column_types={columns[k]: kind for k, kind in (types | text).items()},
        include_columns=[columns[k] for k in (types | text)],
        strings_can_be_null=False,
        null_values=list(layout.nulls),
        decimal_point=layout.decimal,
    )
    chunks: list[list[Any]] = [[] for _ in types]
    if not layout.sample:  # a header without rows
        return chunks
    try:
        with (
            layout.opened() as stream,
            closing(batches(stream, reading, parsing, converting)) as parts,
        ):
            for batch in parts:
                columns_read = [_one_line(column) for column in batch.columns]
                after = columns_read[-layout.blank :] if layout.blank else []
                if any(pc.any(pc.not_equal(column, "")).as_py() for column in after):
                    raise pa.ArrowInvalid("text after the last column")
                for part, column in zip(chunks, columns_read, strict=False):
                    part.append(column if keep is None else keep(column))
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        if pa.int64() in types.values():  # numbers were a guess: text is tried next
            raise InputError(f"{layout.path}: {short(error)}") from error
        raise explain(layout, types, error) from error
    pa.default_memory_pool().release_unused()
    return chunks


def batches(stream: Any, reading: Any, parsing: Any, converting: Any) -> Generator[Any, None, None]:
    """Yield the record batches of a stream, whose threads keep nothing of Python's at the end.

    Arrow reads ahead, and closing its reader does not stop that. A thread that still reads a Python
    stream, or lets go of bytes that it got from one, while the interpreter ends aborts the process.
    """
    if isinstance(stream, pa.OSFile):  # nothing of Python's
        with pa_csv.open_csv(stream, reading, parsing, converting) as reader:
            yield from reader
        return
    lender, reader = _Lender(stream), None
    try:
        reader = pa_csv.open_csv(lender.file(), reading, parsing, converting)
        yield from reader
    finally:
        del reader
        lender.take_back()


class _Lender:
    """A stream whose blocks are lent to threads, and ends where they are wanted back."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._over, self._lock = stream, False, threading.Lock()
        self._lent: list[weakref.ref[Any]] = []

    def file(self) -> "_File":
        """Return what the threads are to read; it is lent as well."""
        file = _File(self)
        self._lent.append(weakref.ref(file))
        return file

    def read(self, size: int) -> memoryview:
        """Return a block; an empty one at the end, and when all is over."""
        with self._lock:
            try:
                block = memoryview(b"" if self._over else self._stream.read(size))
            except BaseException:
                self._lent = [one for one in self._lent if not isinstance(one(), _File)]
                raise  # with a traceback that keeps the file
            self._lent = [one for one in self._lent if one() is not None]
            self._lent.append(weakref.ref(block))
        return block

    def take_back(self) -> None:
        """End the stream, and wait until all that was lent is free."""
        with self._lock:
            self._over = True
        until = time.monotonic() + _PATIENCE
        while any(one() is not None for one in self._lent) and time.monotonic() < until:
            time.sleep(1e-3)


class _File(io.RawIOBase):
    """What Arrow takes for a file."""

    def __init__(self, lender: _Lender) -> None:
        self._lender = lender

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> memoryview:
        return self._lender.read(size)


def _one_line(column: Any) -> Any:
    """Return text without spaces around it; refuse what an open quote has swallowed."""
    if not pa.types.is_string(column.type):
        return column
    if pc.any(pc.match_substring(column, "\n")).as_py():
        raise pa.ArrowInvalid("a field goes on over the end of its line")
    return pc.utf8_trim_whitespace(column)


def read_text(layout: Layout, places: Sequence[int]) -> list[Any]:
    """Read some columns of a text table as text: a chunked Arrow array of each."""
    chunks = read(layout, dict.fromkeys(places, pa.string()))
    return [pa.chunked_array(part, type=pa.string()) for part in chunks]


def canonical(layout: Layout) -> bool:
    """Whether no number is written as 007, -0 or 0x7: read as a number, it would lose its name."""
    with opened(layout.path, encoding=layout.encoding) as stream:
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


def explain(layout: Layout, types: dict[int, Any], error: Exception) -> InputError:
    """Return an error that names the first line which is wrong; else one with the reader's own.

    `types` are the Arrow types of the columns, by number.
    """
    first = layout.names is None
    for number, raw in _lines(layout):
        if len(raw) > LONGEST:
            return InputError(f"{layout.path}, line {number}: {LONG}")
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as bad:
            return undecodable(layout.path, number, raw[bad.start], "utf-8")
        if number <= layout.skipped or not line:
            continue
        if reason := _wrong(line, layout, types, first):
            return InputError(f"{layout.path}, line {number}: {reason}")
        first = False
    return InputError(f"{layout.path} cannot be read: {short(error)}. Check how it was written.")


def place_of(layout: Layout | None, row: int) -> str:
    """Name a row, counted from 0, for messages: that of a text table by its line.

    None is a table that is no text. Empty lines are no rows.
    """
    if layout is None:
        return f"row {row + 1}"
    rows = (number for number, raw in _lines(layout) if number > layout.skipped and raw)
    return f"line {next(islice(rows, row, None), 0)}"


def _lines(layout: Layout) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers of lines, and the lines without their ends.

    What is too long to be one comes cut, and is the last.
    """
    with layout.opened() as stream, io.BufferedReader(stream, 2**20) as file:
        for number in count(1):
            if not (line := file.readline(LONGEST + 1)):
                return
            yield number, line.rstrip(b"\r\n")
            if len(line) > LONGEST and not line.endswith(b"\n"):
                return


def _wrong(line: str, layout: Layout, types: dict[int, Any], first: bool) -> str:
    """Say what is wrong with a line; `first`: it is the first one, and may be a header."""
    if "\r" in line:
        return RETURN
    if reason := why_no_row(line, layout.delimiter):
        return reason
    try:
        fields = next(csv.reader([line], delimiter=layout.delimiter, strict=True))
    except csv.Error:
        return (
            f"a double quote opens and does not close, or text stands next to it: {quoted(line)}. "
            "Close it; a quote that belongs to the text is written twice, in a field in quotes. "
            "Fields over several lines are not read: replace the line break."
        )
    if reason := _extra(fields, layout):
        return reason
    for place, kind in types.items():
        text = fields[place].strip()
        if (
            str(kind) == "double"
            and text not in layout.nulls
            and not is_number(text, layout.decimal)
        ):
            return _no_number(text, place, layout, first)
    return ""


def _extra(fields: list[str], layout: Layout) -> str:
    """Say why the number of fields is wrong; nothing: it is right."""
    width = layout.width + layout.blank
    if len(fields) != width:
        few = "few" if len(fields) < width else "many"
        return (
            f"{len(fields)} field{'s' * (len(fields) != 1)} where {width} are expected, too {few}: "
            f"{quoted(' | '.join(fields))}. Correct the line; text that holds "
            f"the delimiter ({quoted(layout.delimiter)}; --delimiter names another) must stand in "
            "double quotes."
        )
    extra = next((field for field in fields[layout.width :] if field.strip()), "")
    if extra:
        return (
            f"{quoted(extra)} after the last column: that field is empty in the first lines. "
            "Remove it, or give the column a name in the header."
        )
    return ""


def _no_number(text: str, place: int, layout: Layout, first: bool) -> str:
    column = f"column {place + 1}" + (f" ({quoted(layout.names[place])})" if layout.names else "")
    if text.lower() in MISSING:
        return (
            f"the value in {column} is missing ({quoted(text)}). Fill it in, or leave the line out."
        )
    cure = "Correct it"
    if first:
        cure = "If this line is a header, use --header (header=True in Python); else correct it"
    for mark, other in ((",", "."), (".", ",")):
        if layout.decimal == other and is_number(text, mark):
            cure = (
                f"Numbers are read with a decimal {_MARKS[other]}: write all of them so, or use "
                f"--decimal {mark} (decimal={mark!r} in Python) if they have a {_MARKS[mark]}"
            )
    return f"{quoted(text)} in {column} is no number. {cure}, or name the columns that are meant."

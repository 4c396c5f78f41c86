"""Tables whose columns have types, as Arrow tables: from files, and from objects of any library.

Files are Parquet, Feather and Arrow IPC, and JSON lines; objects speak Arrow's C stream.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robustgc.graph.quoting import short
from robustgc.io import limits
from robustgc.io.arrow import pa, pa_json, pq
from robustgc.io.opening import InputError, kind, opened, packed_size, whole

PARQUET = (".parquet", ".pq")
FEATHER = (".feather", ".arrow", ".ipc")
LINES = (".jsonl", ".ndjson")
TYPED = (*PARQUET, *FEATHER, *LINES)
_OBJECTS = 4  # bytes of memory for a byte of JSON whose values become columns, about
_FIRST = b"ARROW1"  # files begin so, streams do not


def read_typed(path: Path) -> Any:
    """Read a file whose ending is one of `TYPED` as an Arrow table."""
    if kind(path) in PARQUET:
        return parquet(path)
    if kind(path) in LINES:
        cure = " Every line is an object in braces, with the same keys."
        with _readable(path, "JSON lines", cure):
            return _checked(_json_lines(path))
    with _readable(path, "Feather or Arrow"):
        return _checked(_ipc(path))


@contextmanager
def _readable(path: Path, what: str, cure: str = "") -> Iterator[None]:
    """Say of a file that cannot be read that it is not what its ending says."""
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        raise InputError(
            f"{path} is not the {what} file that its ending says, or is cut short "
            f"({short(error)}).{cure} Write it again, or rename it."
        ) from error


def _checked(table: Any) -> Any:
    """Return a table whose text and names of columns are UTF-8; else an error."""
    table.validate(full=True)
    len(table.column_names)
    return table


def _ipc(path: Path) -> Any:
    data = whole(path).getbuffer()
    is_file = bytes(data[: len(_FIRST)]) == _FIRST
    with (pa.ipc.open_file if is_file else pa.ipc.open_stream)(pa.py_buffer(data)) as reader:
        batches, size = [], 0
        parts = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
        for batch in parts:
            batches.append(batch)
            size += batch.nbytes
            limits.check_unpacked(path, packed_size(path), size, more=True)
        return pa.Table.from_batches(batches, reader.schema)


def _json_lines(path: Path) -> Any:
    content = whole(path, factor=_OBJECTS, what="JSON")
    if not content.getbuffer()[:64].tobytes().lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        raise ValueError("its first line is no object in braces")
    options = pa_json.ReadOptions(block_size=min(len(content.getbuffer()) + 1, 2**30))
    table = pa_json.read_json(content, options)
    times = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
    if not times:
        return table
    content.seek(0)  # text that looks like a date is a name or a class, and stays as it is written
    schema = pa.schema([(name, pa.string()) for name in times])
    return pa_json.read_json(content, options, pa_json.ParseOptions(explicit_schema=schema))


def parquet(path: Path, groups: Sequence[int] | None = None) -> Any:
    """Read a Parquet file, or some of its row groups, as an Arrow table."""
    with _parquet(path) as source:
        _check_rows(path, pq.ParquetFile(source).metadata, groups)
        if groups is None:
            return _checked(pq.read_table(source))
        return _checked(pq.ParquetFile(source).read_row_groups(list(groups)))


def _check_rows(path: Path, about: Any, groups: Sequence[int] | None) -> None:
    """Refuse more rows than so small a file may have: equal ones are stored once and counted."""
    every = range(about.num_row_groups) if groups is None else groups
    parts = [about.row_group(k) for k in every]
    least = 4 * about.num_columns * sum(part.num_rows for part in parts)
    size = max(least, sum(part.total_byte_size for part in parts))
    limits.check_unpacked(path, packed_size(path), size)


def row_groups(path: Path) -> list[int]:
    """Return how many rows every row group of a Parquet file has."""
    with _parquet(path) as source:
        about = pq.ParquetFile(source).metadata
        return [about.row_group(k).num_rows for k in range(about.num_row_groups)]


@contextmanager
def _parquet(path: Path) -> Iterator[Any]:
    with opened(path) as stream:
        source = stream if path.suffix.lower() in PARQUET else whole(path)  # packed once more
        with _readable(path, "Parquet"):
            yield source


def is_table(value: Any) -> bool:
    """Whether an object gives its rows as an Arrow C stream: pandas, polars, pyarrow, DuckDB."""
    return hasattr(value, "__arrow_c_stream__")


def arrow_table(value: Any, where: str) -> Any:
    """Return the rows of an object as an Arrow table.

    The index of pandas is no column, unless it has the names of the columns: then the frame is an
    adjacency matrix, and the index names its rows. A stream that fails, or has no columns, as that
    of a Series, is refused.
    """
    try:
        if type(value).__module__.split(".")[0] == "pandas":  # its stream has the index as a column
            return pa.Table.from_pandas(value, preserve_index=_names_rows(value))
        return _plain(value if isinstance(value, pa.Table) else pa.table(value))
    except InputError:
        raise
    except Exception as error:  # of the library whose stream it is
        raise InputError(
            f"{where}, of type {type(value).__name__}, cannot be read as a table of columns "
            f"({short(f'{type(error).__name__}: {error}')}). A table has a row each, and "
            "columns that are all numbers, or all text, no two of the same name. Pass a "
            "frame or a table."
        ) from error


def _names_rows(frame: Any) -> bool:
    """Whether the index of a frame has the names of its columns."""
    columns = {str(name) for name in frame.columns}
    square = frame.index.nlevels == 1 and len(frame) == len(frame.columns)
    return square and {str(name) for name in frame.index} == columns


def _plain(table: Any) -> Any:
    """Return a table without string views, which few functions of Arrow know."""
    fields = [
        field.with_type(pa.large_string()) if str(field.type) == "string_view" else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields)) if fields != list(table.schema) else table

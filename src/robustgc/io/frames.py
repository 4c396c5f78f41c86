"""Columns as a table of the user's own frame library, and several names in one cell."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from robustgc.io.arrow import pa

LISTS = ("evidence",)  # columns with several names in a row
_SPECIAL = frozenset(';"\r\n')


def arrow(columns: dict[str, Any]) -> Any:
    """Return columns as an Arrow table; mixed values become text, NaN is null.

    `LISTS` become columns of lists, which text files have joined (`flat`). Half a surrogate pair,
    as in names of files that are no UTF-8, is written as its escape: no table can hold it.
    """
    return pa.table(
        {
            _encodable(name): (_lists if name in LISTS else _array)(values)
            for name, values in columns.items()
        }
    )


def flat(table: Any) -> Any:
    """Return an Arrow table with text in place of lists, for files that have no lists."""
    columns = [
        pa.array([None if row is None else join_names(row) for row in column.to_pylist()])
        if pa.types.is_list(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def _lists(rows: Any) -> Any:
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    names = np.empty(ends[-1], dtype=object)  # in one go numpy would make a table of tuples
    for k, name in enumerate(name for row in rows for name in row):
        names[k] = name
    values = _array(names) if len(names) else pa.nulls(0, pa.string())
    return pa.ListArray.from_arrays(ends, values)


def _array(values: Any) -> Any:
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return pa.array(array, from_pandas=True)  # NaN: there is none
    items = [_plain(value) for value in (values if isinstance(values, list) else array.tolist())]
    whole = all(item is None or type(item) is int for item in items)
    try:
        # Arrow would take whole numbers for int64, and refuse those of 2^63 and more.
        unsigned = whole and any(item is not None and item >= 2**63 for item in items)
        return pa.array(items, type=pa.uint64() if unsigned else None)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        # Of several kinds, too large, or with half a surrogate pair.
        texts = [None if item is None else _encodable(str(item)) for item in items]
        return pa.array(texts, type=pa.string())


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return value.item() if isinstance(value, np.generic) else value


def _encodable(text: str) -> str:
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")


def frame(columns: dict[str, Any], home: str) -> Any:
    """Return a table of pandas, polars or pyarrow; by default of pandas where it is installed."""
    table = arrow(columns)
    if home == "pyarrow":
        return table
    if home == "polars":
        import polars

        return polars.from_arrow(table)
    try:
        return _pandas(table)
    except ImportError:
        return table


def _pandas(table: Any) -> Any:
    """Return a frame of pandas that holds every whole number as it is.

    By default pandas makes floats of whole numbers next to missing values: above 2^53 two of them
    become one. Such columns get its own types for missing values; others stay as they were.
    """
    frame = table.to_pandas()
    own = {pa.int64(): "Int64", pa.uint64(): "UInt64"}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.type in own and column.null_count and _above_floats(column):
            exact = column.to_pandas(integer_object_nulls=True)
            frame[name] = exact.astype(own[column.type])
    return frame


def _above_floats(column: Any) -> bool:
    return any(value is not None and abs(value) > 2**53 for value in column.to_pylist())


def join_names(names: Iterable[object]) -> str:
    """Join names with semicolons; those that hold one, or a quote, stand in double quotes.

    Examples
    --------
    >>> join_names(["New York", "a;b", 7])
    'New York;"a;b";7'
    """
    return ";".join(map(_cell, names))


def _cell(name: object) -> str:
    text = str(name)
    if text and text == text.strip() and not _SPECIAL.intersection(text):
        return text
    return '"' + text.replace('"', '""') + '"'

"""Columns as a table of the user's own frame library."""

from typing import Any

import numpy as np


def arrow(columns: dict[str, Any]) -> Any:
    """Return columns as an Arrow table; mixed values become text, NaN is null."""
    import pyarrow as pa

    return pa.table({name: _array(pa, values) for name, values in columns.items()})


def _array(pa: Any, values: Any) -> Any:
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return pa.array(array, from_pandas=True)  # NaN: there is none
    items = [_plain(value) for value in (values if isinstance(values, list) else array.tolist())]
    try:
        return pa.array(items)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # of several kinds, or too large
        return pa.array([None if item is None else str(item) for item in items], type=pa.string())


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return value.item() if isinstance(value, np.generic) else value


def frame(columns: dict[str, Any], home: str) -> Any:
    """Return a table of pandas, polars or pyarrow; by default of pandas where it is installed."""
    table = arrow(columns)
    if home == "pyarrow":
        return table
    if home == "polars":
        import polars

        return polars.from_arrow(table)
    try:
        return table.to_pandas()
    except ImportError:
        return table

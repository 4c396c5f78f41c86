"""Tables of other libraries as Arrow tables, whatever library it is: they speak the C stream."""

from typing import Any

from robustgc.graph.quoting import short
from robustgc.io.errors import InputError


def is_table(value: Any) -> bool:
    """Whether an object gives its rows as an Arrow C stream: pandas, polars, pyarrow, DuckDB."""
    return hasattr(value, "__arrow_c_stream__")


def arrow_table(value: Any, where: str) -> Any:
    """Return the rows of an object as an Arrow table.

    The index of pandas is no column, unless it has the names of the columns: then the frame is an
    adjacency matrix, and the index names its rows.

    Raises
    ------
    InputError
        The stream has no columns, as that of a Series, or fails.
    """
    import pyarrow as pa

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
    import pyarrow as pa

    fields = [
        field.with_type(pa.large_string()) if str(field.type) == "string_view" else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields)) if fields != list(table.schema) else table

"""Tables to CSV and Parquet files, whole or not at all."""

import errno
import os
import sys
from pathlib import Path
from typing import Any

from robustgc.io.frames import arrow
from robustgc.io.opening import InputError, check_target, replacing
from robustgc.io.tables import PARQUET

TABLES = (".csv", ".tsv", *PARQUET)


def check_table(path: Path) -> None:
    """Refuse, before the work, a table that could not be written."""
    if path.suffix.lower() not in TABLES:
        raise InputError(f"{path}: tables are written as {', '.join(TABLES)}; rename it.")
    check_target(path)


def print_table(columns: dict[str, Any]) -> None:
    """Print columns as CSV, in UTF-8, on standard output."""
    import pyarrow as pa
    import pyarrow.csv as pc

    buffer = pa.BufferOutputStream()
    pc.write_csv(arrow(columns), buffer)
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(buffer.getvalue())
        sys.stdout.buffer.flush()
    except OSError as error:
        # What is left in the buffer would fail once more, with a traceback, at the end of Python.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if error.errno != errno.EPIPE:  # else the reader, such as `head`, has enough
            raise InputError(
                f"standard output cannot be written: {error.strerror}. Choose a file with -o."
            ) from error


def write_table(path: Path, columns: dict[str, Any]) -> None:
    """Write columns; the same ones in every kind of file."""
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    check_table(path)
    table = arrow(columns)
    with replacing(path) as file:
        if path.suffix.lower() in PARQUET:
            pq.write_table(table, file)
        else:
            mark = "\t" if path.suffix.lower() == ".tsv" else ","
            pc.write_csv(table, file, pc.WriteOptions(delimiter=mark))

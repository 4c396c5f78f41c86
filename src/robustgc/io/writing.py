"""Tables to CSV and Parquet files, whole or not at all."""

from pathlib import Path
from typing import Any

from robustgc.io.frames import arrow
from robustgc.io.opening import InputError, check_target, kind, replacing
from robustgc.io.tables import PARQUET


def check_table(path: Path) -> None:
    """Refuse, before the work, a table that could not be written."""
    if kind(path) not in (".csv", ".tsv", *PARQUET):
        raise InputError(f"{path}: tables are written as .csv, .tsv or .parquet; rename it.")
    check_target(path)


def print_table(columns: dict[str, Any]) -> None:
    """Print columns as CSV on standard output."""
    import sys  # noqa: PLC0415

    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.csv as pc  # noqa: PLC0415

    buffer = pa.BufferOutputStream()
    pc.write_csv(arrow(columns), buffer)
    sys.stdout.write(buffer.getvalue().to_pybytes().decode("utf-8"))
    sys.stdout.flush()


def write_table(path: Path, columns: dict[str, Any]) -> None:
    """Write columns; the same ones in every kind of file."""
    import pyarrow.csv as pc  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    check_table(path)
    table = arrow(columns)
    with replacing(path) as file:
        if kind(path) in PARQUET:
            pq.write_table(table, file)
        else:
            mark = "\t" if kind(path) == ".tsv" else ","
            pc.write_csv(table, file, pc.WriteOptions(delimiter=mark))

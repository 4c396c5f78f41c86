"""Part files -> one table, a block at a time."""

import io
import json
import shutil
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from robustgc.io.arrow_tables import PARQUET
from robustgc.io.opening import InputError, replacing
from robustgc.io.writing import SHEET, check_table
from robustgc.mpi.world import collective_errors
from robustgc.mpi.writing import MANIFEST, writer


def check_mergeable(target: Path) -> None:
    """Refuse, before the work, a table that is not made of parts: a sheet, or what cannot be."""
    if target.suffix.lower() == SHEET:
        raise InputError(
            f"{target}: parts are merged to .csv, .tsv or .parquet. Name such a file, and convert "
            "it afterwards."
        )
    check_table(target)


def merge(folder: Path, target: Path, columns: Any, comm: Any) -> None:
    """Make one table of the parts, and remove them. All ranks call this together.

    Parameters
    ----------
    folder : Path
        Of `write_parts`.
    target : Path
        .csv, .tsv or .parquet, as the parts are.
    columns : Arrow schema
    comm : communicator
    """
    with collective_errors(comm):
        if comm.rank == 0:
            about = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            files = [folder / part["file"] for part in about["parts"]]
            with replacing(target) as stream:
                if target.suffix.lower() in PARQUET:
                    _append_rows(files, stream)
                else:
                    _append_text(files, stream, columns)
            shutil.rmtree(folder)


def _append_rows(files: list[Path], stream: BinaryIO) -> None:
    with writer(stream, ".parquet", pq.read_schema(files[0])) as out:
        for file in files:
            with pq.ParquetFile(file) as part:
                for k in range(part.num_row_groups):
                    out.write_table(part.read_row_group(k))


def _append_text(files: list[Path], stream: BinaryIO, columns: Any) -> None:
    """Copy the files behind one header, which may have several lines: classes have any name."""
    header = _header(files[0].suffix, columns)
    stream.write(header)
    for file in files:
        with file.open("rb") as part:
            if part.read(len(header)) != header:
                raise InputError(
                    f"{file} does not begin with the columns of the others; it was changed. Run "
                    "again."
                )
            shutil.copyfileobj(part, stream, 2**20)


def _header(ending: str, columns: Any) -> bytes:
    empty = io.BytesIO()
    with writer(empty, ending, columns) as out:
        out.write_table(pa.Table.from_batches([], columns))
    return empty.getvalue()

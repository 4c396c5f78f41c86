"""Where a table or graph is: in a file, in the one file of an archive, in a sheet, or piped in."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robustgc.graph.quoting import quoted
from robustgc.io import archives, limits, spreadsheets
from robustgc.io.dialect import Dialect
from robustgc.io.inner_files import InnerFile
from robustgc.io.opening import InputError, check_file, kind, opened

STANDARD_INPUT = "standard input"
_BLOCK = 2**20
_SQUEEZED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_ENDINGS = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x93NUMPY": ".npy"}
_OTHER_SHEETS = (".xls", ".xlsb", ".ods", ".numbers")


def source(path: Path, sheet: str | None = None, dialect: Dialect | None = None) -> Path:
    """Return a path that `opened` can open and of which `kind` tells the kind.

    Parameters
    ----------
    path : Path
        Of a file; ``-`` is standard input.
    sheet : str or None
        Which sheet of a spreadsheet; None: the first.
    dialect : Dialect or None
        What the user says of text: cells of text with numbers may have its decimal mark.
    """
    if str(path) == "-":
        path = _standard_input()
    elif kind(path) == ".zip" and not os.path.isdir(path):
        check_file(path)
        path = archives.single_member(path)
    ending = kind(path)
    if ending in spreadsheets.ENDINGS:
        check_file(path)
        decimal = None if dialect is None else dialect.decimal
        return spreadsheets.sheet_as_text(path, sheet, decimal or ".")
    if ending in _OTHER_SHEETS:
        raise InputError(f"{path}: spreadsheets are read as .xlsx. Save it as .xlsx or .csv.")
    if sheet is not None:
        raise InputError(
            f"{path} has no sheets; sheet {quoted(sheet)} was asked for. Name an .xlsx file, or "
            "leave it "
            "out."
        )
    return path


def _standard_input() -> Path:
    """Read all of standard input, and tell by its first bytes what it is; else it is CSV."""
    content = _piped()
    head = content[:8]
    if head.startswith(b"PK\x03\x04"):
        where = Path(STANDARD_INPUT)
        if "xl/workbook.xml" in archives.names_in(where, content):
            return InnerFile.of_bytes(STANDARD_INPUT, ".xlsx", content)
        return archives.single_member(where, content)
    way = next((way for magic, way in _SQUEEZED.items() if head.startswith(magic)), None)
    if way is None:
        return InnerFile.of_bytes(STANDARD_INPUT, _ending(head), content)

    @contextmanager
    def stream() -> Iterator[Any]:
        import pyarrow as pa

        with pa.CompressedInputStream(pa.BufferReader(content), way) as unpacked:
            yield limits.Metered(unpacked, Path(STANDARD_INPUT), len(content))

    packed = InnerFile.of(STANDARD_INPUT, ".csv", len(content), stream, packing=way)
    with opened(packed) as unpacked:
        packed.ending = _ending(unpacked.read(8))
    return packed


def _piped() -> bytes:
    if sys.stdin is None:
        raise InputError("There is no standard input. Name a file instead of -.")
    content = io.BytesIO()
    while block := sys.stdin.buffer.read(_BLOCK):
        content.write(block)
        limits.check_text(Path(STANDARD_INPUT), content.tell(), 1.0, "content")
    if not content.tell():
        raise InputError(
            "standard input is empty. Pipe a table into the command, or name a file instead of -."
        )
    return content.getvalue()


def _ending(head: bytes) -> str:
    return next((ending for magic, ending in _ENDINGS.items() if head.startswith(magic)), ".csv")

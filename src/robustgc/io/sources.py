"""Where a table or graph is: in a file, in the one file of an archive, in a sheet, or piped in."""

import io
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from robustgc.graph.quoting import listed, quoted, short
from robustgc.io import limits, spreadsheets
from robustgc.io.arrow_tables import TYPED
from robustgc.io.dialect import Dialect
from robustgc.io.opening import (
    SQUEEZED,
    Blocks,
    InnerFile,
    InputError,
    check_file,
    kind,
    opened,
    packed_size,
)
from robustgc.io.tables import TEXT

STANDARD_INPUT = "standard input"
_BLOCK = 2**20
_SQUEEZED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_ENDINGS = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x93NUMPY": ".npy"}
_OTHER_SHEETS = (".xls", ".xlsb", ".ods", ".numbers")
_WAYS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FAILURES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


def source(path: Path, sheet: str | None = None, dialect: Dialect | None = None) -> Path:
    """Return a path that `opened` can open and of which `kind` tells the kind.

    ``-`` is standard input. Cells of a sheet that are text with numbers have the decimal mark of
    the dialect.
    """
    if str(path) == "-":
        path = _standard_input()
    if kind(path) == ".zip" and (isinstance(path, InnerFile) or not os.path.isdir(path)):
        check_file(path)
        path = _single_member(path)
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
            "leave it out."
        )
    return path


def table_source(
    path: Path,
    what: str,
    sheet: str | None = None,
    dialect: Dialect | None = None,
    others: tuple[str, ...] = (),
) -> Path:
    """Return the path of a table, as `source` does; refuse files of other kinds.

    `what` it holds is for the message; `others` are endings that the reader knows besides.
    """
    path = source(path, sheet, dialect)
    check_file(path)
    ending = kind(path)
    if ending not in (*TEXT, *TYPED, *others):
        raise InputError(
            f"{path}: {what} come as {', '.join((*TEXT, *TYPED, '.xlsx', *others))}, also with "
            f".gz, .zst or .zip, not as {ending or 'a file without an ending'}. Rename or convert "
            "it."
        )
    return path


def _standard_input() -> Path:
    """Read all of standard input, which is CSV unless its first bytes show another kind."""
    content = _piped()
    head = content[:8]
    piped = InnerFile.of_bytes(STANDARD_INPUT, ".zip", content)
    if head.startswith(b"PK\x03\x04"):
        if any(member.filename == "xl/workbook.xml" for member in _members(piped)):
            piped.ending = ".xlsx"
        return piped
    piped.packing = next((way for magic, way in _SQUEEZED.items() if head.startswith(magic)), "")
    with opened(piped) as stream:
        head = stream.read(8)
    known = (ending for magic, ending in _ENDINGS.items() if head.startswith(magic))
    piped.ending = next(known, ".csv")
    return piped


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


def _single_member(path: Path) -> InnerFile:
    """Return the one file that a zip archive holds.

    Refused are none or several, and what is encrypted, damaged, or unpacks to too much.
    """
    members = _members(path)
    if len(members) != 1:
        names = f"{len(members)}: {listed(member.filename for member in members)}"
        raise InputError(
            f"{path} is a zip archive that should hold one file, and holds "
            f"{names if members else 'none'}. Unpack it, and name the file that is meant."
        )
    member = members[0]
    ending = _member_ending(path, member)
    size = packed_size(path)
    if member.compress_size > size:
        raise InputError(f"{path} is damaged: it claims more bytes than it has. Write it again.")
    if not member.file_size:
        raise InputError(
            f"{path}: {quoted(member.filename)} in it is empty. Write the archive again."
        )
    limits.check_unpacked(path, size, member.file_size)

    @contextmanager
    def stream() -> Iterator[Any]:
        with _archive(path) as archive:
            yield limits.Metered(Blocks(_blocks(archive, member)), path, size)

    return InnerFile.of(path, ending, size, stream, packing="zip")


def _members(path: Path) -> list[zipfile.ZipInfo]:
    try:
        with _archive(path) as archive:
            return [m for m in archive.infolist() if not (m.is_dir() or _of_the_system(m.filename))]
    except (*_FAILURES, OSError, ValueError) as error:
        raise InputError(
            f"{path} is not the zip archive that it seems to be, or is cut short ({short(error)}). "
            "Write it again, or rename it."
        ) from error


def _archive(path: Path) -> zipfile.ZipFile:
    stored: Any = path.stream() if isinstance(path, InnerFile) else path
    return zipfile.ZipFile(stored)


def _of_the_system(name: str) -> bool:
    """Whether a file in an archive was added by a file manager."""
    parts = PurePosixPath(name).parts
    return "__MACOSX" in parts or parts[-1:] == (".DS_Store",)


def _member_ending(path: Path, member: zipfile.ZipInfo) -> str:
    if member.flag_bits & 1:
        raise InputError(f"{path} is encrypted. Unpack it with its password, and name the file.")
    if member.compress_type not in _WAYS:
        raise InputError(
            f"{path}: {quoted(member.filename)} is packed in a way that is not read here. Unpack "
            "it, or pack it again as usual."
        )
    ending = PurePosixPath(member.filename).suffix.lower()
    if ending in SQUEEZED or ending == ".zip":
        raise InputError(
            f"{path}: {quoted(member.filename)} in it is packed once more. Unpack the archive, and "
            "name the file."
        )
    return ending or Path(path.stem).suffix.lower()


def _blocks(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield a file in an archive; what is wrong with it is an OSError, as with packed files."""
    try:
        with archive.open(member) as file:
            while block := file.read(_BLOCK):
                yield block
    except _FAILURES as error:
        raise OSError(short(error)) from error

"""The one file inside of a zip archive, read where it is: nothing is written to disk."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from robustgc.graph.quoting import listed, quoted, short
from robustgc.io import limits
from robustgc.io.inner_files import InnerFile
from robustgc.io.opening import SQUEEZED, InputError, packed_size

_WAYS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FAILURES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


def single_member(path: Path, content: bytes | None = None) -> InnerFile:
    """Return the file that a zip archive holds, if it is one.

    Parameters
    ----------
    path : Path
        Of the archive.
    content : bytes or None
        The archive, where it is in memory.

    Raises
    ------
    InputError
        There are none or several, or it is encrypted, damaged, or unpacks to too much.
    """
    members = _members(path, content)
    if len(members) != 1:
        names = f"{len(members)}: {listed(member.filename for member in members)}"
        raise InputError(
            f"{path} is a zip archive that should hold one file, and holds "
            f"{names if members else 'none'}. Unpack it, and name the file that is meant."
        )
    member = members[0]
    ending = _ending(path, member)
    size = packed_size(path) if content is None else len(content)
    if member.compress_size > size:
        raise InputError(f"{path} is damaged: it claims more bytes than it has. Write it again.")
    if not member.file_size:
        raise InputError(f"{path}: {quoted(member.filename)} in it is empty. Write it again.")
    limits.check_unpacked(path, size, member.file_size)

    @contextmanager
    def stream() -> Iterator[Any]:
        with _archive(path, content) as archive, _opened(archive, member) as file:
            yield limits.Metered(_Member(file), path, size)

    return InnerFile.of(path, ending, size, stream, packing="zip")


def names_in(path: Path, content: bytes | None = None) -> list[str]:
    """Return the names of all files in an archive."""
    return [member.filename for member in _members(path, content)]


def _members(path: Path, content: bytes | None) -> list[zipfile.ZipInfo]:
    try:
        with _archive(path, content) as archive:
            return [m for m in archive.infolist() if not (m.is_dir() or _of_the_system(m.filename))]
    except (*_FAILURES, OSError, ValueError) as error:
        raise InputError(
            f"{path} is not the zip archive that it seems to be, or is cut short ({short(error)}). "
            "Write it again, or rename it."
        ) from error


def _archive(path: Path, content: bytes | None) -> zipfile.ZipFile:
    return zipfile.ZipFile(path if content is None else io.BytesIO(content))


def _of_the_system(name: str) -> bool:
    """Whether a name is of what file managers add to archives."""
    parts = PurePosixPath(name).parts
    return "__MACOSX" in parts or parts[-1:] == (".DS_Store",)


def _ending(path: Path, member: zipfile.ZipInfo) -> str:
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


def _opened(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    try:
        return archive.open(member)
    except _FAILURES as error:
        raise OSError(short(error)) from error


class _Member(io.RawIOBase):
    """A file in an archive; what is wrong with it is an OSError, as with other packed files."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        try:
            return int(self._file.readinto(room))
        except _FAILURES as error:
            raise OSError(short(error)) from error

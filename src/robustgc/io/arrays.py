"""Arrays of numpy in .npy and .npz files, of which nothing is believed before it was seen."""

import io
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.folder import read_header
from robustgc.graph.quoting import quoted, short
from robustgc.io import limits
from robustgc.io.opening import SQUEEZED, InnerFile, whole

_BLOCK = 2**20
_WAYS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_arrays(path: Path, only: tuple[str, ...] | None = None) -> dict[str, NDArray[Any]]:
    """Read the arrays of a .npz file, all of them or some.

    Raises
    ------
    ValueError
        The file is damaged, without its name; `TooLargeError` if it is too large.
    """
    with _source(path) as (file, size), zipfile.ZipFile(file) as bundle:
        members = [
            member
            for member in bundle.infolist()
            if only is None or member.filename.removesuffix(".npy") in only
        ]
        _check_members(path, members, size)
        return {member.filename.removesuffix(".npy"): _member(bundle, member) for member in members}


def read_array(path: Path) -> NDArray[Any]:
    """Read the array of a .npy file; errors are those of `read_arrays`."""
    with _source(path) as (file, size):
        return _values(file, size)


@contextmanager
def _source(path: Path) -> Iterator[tuple[BinaryIO, int]]:
    """Give the file, from memory where it is packed once more or piped in, and its size."""
    if path.suffix.lower() in SQUEEZED or isinstance(path, InnerFile):
        content = whole(path)
        yield content, len(content.getbuffer())
        return
    with path.open("rb") as file:
        yield file, os.fstat(file.fileno()).st_size


def _check_members(path: Path, members: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse, before anything is unpacked, what could not have been written by numpy."""
    names = [member.filename for member in members]
    if len(set(names)) != len(names):
        raise ValueError("it holds two arrays of the same name")
    for member in members:
        if member.compress_type not in _WAYS or member.flag_bits & 1:
            raise ValueError(f"{quoted(member.filename)} is encrypted, or packed in another way")
    packed = sum(member.compress_size for member in members)
    if packed > size:
        raise ValueError(f"its arrays claim {packed} bytes, more than its own {size}")
    limits.check_unpacked(path, size, sum(member.file_size for member in members))


def _member(bundle: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    try:
        with bundle.open(member) as stream:  # it ends where the member claims to end
            return _values(stream, member.file_size)
    except ValueError as failure:
        raise ValueError(f"{quoted(member.filename)}: {short(failure)}") from failure


def _values(stream: Any, size: int) -> NDArray[Any]:
    shape, fortran, dtype = read_header(stream, size)
    values = np.empty(shape, dtype, order="F" if fortran else "C")
    flat: Any = values.T if fortran else values
    place = memoryview(flat).cast("B") if values.nbytes else memoryview(b"")
    done = 0
    while done < len(place):  # pages of `values` are taken as they are filled
        count = _into(stream, place[done : done + _BLOCK])
        if not count:
            raise ValueError(f"it is cut short after {done} of {len(place)} bytes")
        done += count
    if isinstance(stream, zipfile.ZipExtFile) and stream.read(1):
        raise ValueError("it has more bytes than it claims")
    return values


def _into(stream: io.BufferedIOBase, room: memoryview) -> int:
    return stream.readinto(room)

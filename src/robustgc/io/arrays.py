"""Arrays and matrices of numpy, scipy and Matrix Market in files, checked before they are read."""

import io
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.graph.folder import read_header
from robustgc.graph.quoting import listed, quoted, short
from robustgc.graph.structure import check_sparse
from robustgc.io import limits
from robustgc.io.errors import InputError
from robustgc.io.opening import SQUEEZED, InnerFile, whole

_BLOCK = 2**20
_WAYS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_COMMENTS = re.compile(rb"(?:%.*\n|\s*\n)*")
_NO_NUMBER = re.compile(rb"[^0-9+\-.eE \t\r\n]|[eE](?![+-]?[0-9])")
_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
_EVERY = ("format", "shape", "data", "indices", "indptr", "row", "col", "coords", "offsets")


def read_arrays(path: Path, only: tuple[str, ...] | None = None) -> dict[str, NDArray[Any]]:
    """Read the arrays of a .npz file, all of them or some.

    A ValueError, without the name of the file, says how it is damaged.
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
        count = stream.readinto(place[done : done + _BLOCK])
        if not count:
            raise ValueError(f"it is cut short after {done} of {len(place)} bytes")
        done += count
    if isinstance(stream, zipfile.ZipExtFile) and stream.read(1):
        raise ValueError("it has more bytes than it claims")
    return values


def _sparse_matrix(path: Path) -> Any:
    """Read what ``scipy.sparse.save_npz`` wrote; errors do not name the file, or are ours."""
    arrays = read_arrays(path, _EVERY)
    kind, shape = _kind(arrays), _shape(arrays)
    if "coords" in arrays and len(coords := arrays["coords"]) == 2:  # how later versions write it
        arrays |= {"row": coords[0], "col": coords[1]}
    lost = [name for name in _PARTS[kind] if name not in arrays]
    if lost:
        raise ValueError(f"it lacks the array {listed(lost)} of a {kind} matrix")
    parts = {name: arrays[name] for name in _PARTS[kind]}
    seen = sum(array.nbytes for array in parts.values())
    limits.check_nodes(str(path), max(shape), parts["data"].size, seen)
    pair = (parts.get("row"), parts.get("col"))
    claims = SimpleNamespace(format=kind, ndim=2, shape=shape, coords=pair, **parts)
    try:
        check_sparse(claims, "the matrix")  # before scipy looks at the arrays
        if kind == "coo":
            return sp.coo_array((parts["data"], pair), shape=shape)
        return getattr(sp, f"{kind}_array")(tuple(parts.values()), shape=shape)
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: {short(error, 1000)}") from error


def _kind(arrays: dict[str, NDArray[Any]]) -> str:
    text = arrays.get("format")
    if text is None or text.ndim or text.dtype.kind not in "SU":
        raise ValueError(f"it has no text called format, but {listed(arrays) or 'no arrays'}")
    name = text.item()
    name = name.decode("ascii", "replace") if isinstance(name, bytes) else name
    if name not in _PARTS:
        raise ValueError(f"its format is {quoted(name)}; known are {', '.join(_PARTS)}")
    return str(name)


def _shape(arrays: dict[str, NDArray[Any]]) -> tuple[int, int]:
    shape = arrays.get("shape")
    if shape is None or shape.shape != (2,) or shape.dtype.kind not in "iu" or shape.min() < 0:
        raise ValueError(f"its shape is {quoted(shape)}; two whole numbers are needed")
    return int(shape[0]), int(shape[1])


def read_matrix_market(path: Path) -> Any:
    """Read a Matrix Market file."""
    import scipy.io  # slow to import

    content = whole(path)
    content.seek(0, io.SEEK_END)
    content.write(b"\n")
    text = content.getvalue()
    try:
        _check_claims(path, scipy.io.mminfo(io.BytesIO(text)), len(text))
        # Looked at first: scipy reads 00x as 0, and dies, and Python with it, of 5E- or a NUL.
        comments = _COMMENTS.match(text)
        if wrong := _NO_NUMBER.search(text, comments.end() if comments else 0):
            line = text[: wrong.start()].count(b"\n") + 1
            raise ValueError(f"line {line} has other things than finite numbers")
        return scipy.io.mmread(io.BytesIO(text))
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{path} is no Matrix Market file, or is cut short ({short(error)}). Write it again, "
            "or rename it."
        ) from error


def _check_claims(path: Path, claims: Any, size: int) -> None:
    """Refuse a header that claims more entries than the bytes can be, or too many nodes."""
    rows, columns, entries, layout, _, symmetry = claims
    least = 2 if layout == "array" else 4  # bytes: a digit and a line end, or two and their spaces
    if entries * least > size * (2 if symmetry != "general" else 1):
        raise InputError(
            f"{path}: its header claims {entries} entries, which is more than its {size} bytes can "
            "hold. It is damaged, or cut short; write it again."
        )
    if layout != "array":
        entries *= 2 if symmetry != "general" else 1
        limits.check_nodes(str(path), max(rows, columns), entries, size)


def read_scipy(path: Path) -> Any:
    """Read a sparse matrix that `scipy.sparse.save_npz` wrote."""
    try:
        return _sparse_matrix(path)
    except InputError:
        raise
    except Exception as error:  # of numpy, zipfile or zlib
        raise InputError(
            f"{path} is no sparse matrix that scipy.sparse.save_npz wrote, or is cut short "
            f"({short(error)}). Write it again; for points use --points."
        ) from error

"""Sparse matrices that scipy has saved: every array checked before scipy has it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.graph.quoting import listed, quoted, short
from robustgc.graph.structure import check_sparse
from robustgc.io import limits
from robustgc.io.arrays import read_arrays
from robustgc.io.errors import InputError

_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
_EVERY = ("format", "shape", "data", "indices", "indptr", "row", "col", "coords", "offsets")


def read_matrix(path: Path) -> Any:
    """Read what ``scipy.sparse.save_npz`` wrote.

    Raises
    ------
    ValueError, TypeError
        It is none, or its arrays do not fit together; the text has no place.
    """
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
    try:
        return _matrix_from_arrays(kind, shape, parts)
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: {short(error, 1000)}") from error


def _kind(arrays: dict[str, NDArray[Any]]) -> str:
    given = arrays.get("format")
    if given is None or given.ndim or given.dtype.kind not in "SU":
        raise ValueError(f"it has no text called format, but {listed(arrays) or 'no arrays'}")
    name = given.item()
    name = name.decode("ascii", "replace") if isinstance(name, bytes) else name
    if name not in _PARTS:
        raise ValueError(f"its format is {quoted(name)}; known are {', '.join(_PARTS)}")
    return str(name)


def _shape(arrays: dict[str, NDArray[Any]]) -> tuple[int, int]:
    given = arrays.get("shape")
    if given is None or given.shape != (2,) or given.dtype.kind not in "iu" or given.min() < 0:
        raise ValueError(f"its shape is {quoted(given)}; two whole numbers are needed")
    return int(given[0]), int(given[1])


def _matrix_from_arrays(kind: str, shape: tuple[int, int], parts: dict[str, NDArray[Any]]) -> Any:
    """Return the matrix; what its arrays are is checked before scipy looks at them."""
    coords = (parts.get("row"), parts.get("col"))
    check_sparse(SimpleNamespace(format=kind, ndim=2, shape=shape, coords=coords, **parts),
                 "the matrix")  # fmt: skip
    if kind == "coo":
        return sp.coo_array((parts["data"], coords), shape=shape)
    return getattr(sp, f"{kind}_array")(tuple(parts.values()), shape=shape)

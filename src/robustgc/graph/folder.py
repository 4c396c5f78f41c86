"""Graph folders and .npy files, mapped into memory after all that they claim was checked."""

import json
import math
import os
from io import BufferedIOBase
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from robustgc.graph.atomic import new_file
from robustgc.graph.quoting import quoted, short

FORMAT = "robustgc-csr"
VERSION = 1
_MANIFEST = 2**16  # bytes; ours has a hundred
_COUNT = "a whole number of 0 or more"
_KEYS = {"nodes": _COUNT, "entries": _COUNT, "weights": "'unit' or a type"}
_AGAIN = "Build the folder again."


def read_header(
    stream: BinaryIO | BufferedIOBase, size: int
) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and type of an array in the npy format; the stream is at its values then.

    `size` is how many bytes there are in all. A header that claims another size is refused, as room
    for the values would be taken at once; so are objects, which are code.
    """
    try:
        version = npy.read_magic(stream)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version} of the npy format, not (1, 0) or (2, 0)")
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(stream)
    except Exception as error:  # the header is Python text, and fails as Python does
        raise ValueError(f"its header is damaged: {short(error)}") from error
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not read")
    claimed, there = math.prod(shape) * dtype.itemsize, size - stream.tell()
    if min(shape, default=0) < 0 or claimed != there:
        raise ValueError(
            f"its header claims shape {short(str(shape))} of type {short(str(dtype))}, which is "
            f"{claimed} bytes, and it has {there}"
        )
    return shape, fortran, dtype


def map_array(path: Path) -> NDArray[Any]:
    """Map a .npy file into memory; a ValueError says why not, without its place and a cure."""
    try:
        with path.open("rb") as stream:
            read_header(stream, os.fstat(stream.fileno()).st_size)
        return np.asanyarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except OSError as failure:
        raise ValueError(failure.strerror or short(failure)) from failure


def mapped(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a graph folder, of the lengths that its manifest says."""
    about = read_manifest(path)
    nodes, entries, weights = about["nodes"], about["entries"], about["weights"]
    arrays = {}
    for name in ("indptr", "indices", *(["data"] if weights != "unit" else [])):
        try:
            arrays[name] = map_array(path / f"{name}.npy")
        except ValueError as failure:
            raise ValueError(f"{path / name}.npy cannot be read ({failure}). {_AGAIN}") from failure
    shapes = [array.shape for array in arrays.values()]
    if shapes != [(nodes + 1,), (entries,), (entries,)][: len(shapes)]:
        raise ValueError(
            f"The folder {path} should hold {nodes} nodes and {entries} entries by its manifest, "
            f"but its arrays have shapes {shapes}. {_AGAIN}"
        )
    if weights != "unit" and str(arrays["data"].dtype) != weights:
        raise ValueError(
            f"The folder {path} should have weights of type {quoted(weights)} by its manifest, but "
            f"data.npy has {arrays['data'].dtype}. {_AGAIN}"
        )
    if arrays["indptr"][-1] != entries:
        raise ValueError(
            f"{path / 'indptr.npy'} ends with {arrays['indptr'][-1]} for {entries} entries; it "
            f"must rise from 0 to the number of entries. {_AGAIN}"
        )
    return arrays


def read_manifest(path: Path) -> dict[str, Any]:
    """Return what the manifest of a graph folder says, every key of it checked."""
    where = path / "manifest.json"
    try:
        with where.open("rb") as stream:
            text = stream.read(_MANIFEST + 1)
        if len(text) > _MANIFEST:
            raise ValueError(f"it has more than {_MANIFEST} bytes")
        about = json.loads(text.decode("utf-8"))
    except FileNotFoundError as failure:
        raise FileNotFoundError(
            f"{path} has no manifest.json: it is not a graph folder, or the run that wrote it was "
            "stopped. Build it again with robustgc.build_csr."
        ) from failure
    except (ValueError, RecursionError, OSError) as failure:
        raise ValueError(f"{where} is damaged ({short(failure)}). {_AGAIN}") from failure
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ValueError(
            f"{where} does not describe a {FORMAT} folder. Name a folder that `robustgc convert` "
            "or robustgc.build_csr wrote."
        )
    if about.get("version") != VERSION:
        raise ValueError(
            f"{path} has format version {quoted(about.get('version'))}; this version of robustgc "
            f"reads version {VERSION}. Build the folder with this version, or upgrade robustgc."
        )
    for key, needed in _KEYS.items():
        value = about.get(key)
        if key == "weights":
            fits = isinstance(value, str)
        else:
            fits = type(value) is int and 0 <= value < 2**62
        if not fits:
            wrong = f"has a wrong {key!r}: {quoted(value)}"
            what = wrong if key in about else f"lacks the key {key!r}"
            raise ValueError(f"{where} {what}; {needed} is needed. {_AGAIN}")
    return about


def write_manifest(folder: Path, nodes: int, entries: int, weights: Any) -> None:
    """Finish a folder: without its manifest it does not open."""
    about = {"format": FORMAT, "version": VERSION, "nodes": int(nodes), "entries": int(entries)}
    about["weights"] = "unit" if weights is None else str(np.dtype(weights))
    with new_file(folder / "manifest.json", alone=True) as file:
        file.write(f"{json.dumps(about, indent=1)}\n".encode())

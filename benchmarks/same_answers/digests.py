"""What a run gives -> a SHA-256, and files -> what they say, without times, versions and places."""

import csv
import hashlib
import io
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

Run: TypeAlias = Callable[[], Any]
SIMPLE = (str, bytes, bool, int, float, complex, np.generic, type(None))
# Seconds, versions, dates; what a fit may cost; hashes of files, which have seconds in them.
VOLATILE = re.compile(
    r'"seconds": (?:\{[^}]*\}|[-+.\de]+)|"sha256": "\w+"|\b\d+\.\d+ s\b|\b\d+\.\d+\.\d+\w*\b|'
    r"\b20\d\d-\d\d-\d\d\b|(?:memory|time)[ _]of[ _]a[ _]fit.*|note: compiling loops.*\n"
)


def digest(value: Any) -> str:
    found = hashlib.sha256()
    for part in parts(value):
        found.update(part)
    return found.hexdigest()


def parts(value: Any) -> Iterator[bytes]:
    """Yield the bytes of a value, with its types and shapes; dicts are sorted."""
    if sp.issparse(value):
        W = value.tocsr()
        yield from parts(["sparse", W.shape, W.data, W.indices, W.indptr])
    elif isinstance(value, np.ndarray) and value.dtype.hasobject:
        yield from parts(["objects", value.shape, value.ravel().tolist()])
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype.str}{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, dict):
        yield from parts(
            sorted(([key, value[key]] for key in value), key=lambda pair: repr(pair[0]))
        )
    elif isinstance(value, list | tuple):
        yield f"{len(value)}[".encode()
        for item in value:
            yield from parts(item)
    elif isinstance(value, SIMPLE):
        yield f"{value!r};".encode(errors="backslashreplace")
    else:  # its repr may be an address
        raise TypeError(f"A run gave a {type(value).__name__}; give arrays, text or numbers.")


def cleaned(text: bytes) -> str:
    return VOLATILE.sub("", text.decode("utf-8").replace(os.getcwd(), "FOLDER"))


def content(path: Path) -> Any:
    """Return what a file, or a folder, says."""
    if path.is_dir():
        return {child.name: content(child) for child in path.iterdir()}
    read = READERS.get(path.suffix)
    return read(path) if read else cleaned(path.read_bytes())


def _rows(path: Path) -> list[list[str]]:
    rows = list(csv.reader(io.StringIO(cleaned(path.read_bytes()))))
    times = [k for k, head in enumerate(rows[0]) if head.startswith("seconds")]
    return [np.delete(row, times).tolist() for row in rows]


def _parquet(path: Path) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path).to_pydict()


def _sheets(path: Path) -> list[Any]:
    import openpyxl

    return [[sheet.title, list(sheet.values)] for sheet in openpyxl.load_workbook(path)]


def _packed(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    return {name: cleaned(b) if name.endswith(".json") else b for name, b in files.items()}


READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": _rows,
    ".npy": np.load,
    ".npz": lambda path: dict(np.load(path)),  # the file itself has the time
    ".parquet": _parquet,
    ".xlsx": _sheets,
    ".zip": _packed,
}

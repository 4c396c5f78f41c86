"""Files and graph folders that ranks read: the same on every rank, and unchanged meanwhile."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.csr import CSR
from robustgc.io.graph_files import folder_names, open_folder
from robustgc.io.opening import InputError
from robustgc.io.rows import index_type
from robustgc.mpi.exchange import check_equal
from robustgc.mpi.share import Share
from robustgc.mpi.world import check_memory, collective_errors, need_per_rank

GRAPH = ("manifest.json", "indptr.npy", "indices.npy", "data.npy", "names.json")
SHARED = (
    "All ranks need the same files at the same path: put them on a file system that all machines "
    "share."
)


@dataclass(frozen=True)
class Listing:
    """What there is at a path: names, sizes and times of the files, in the order of the names.

    Names are relative to a folder; a single file has the name ".". Names that start with _ or .
    are left out: programs that write part files mark with them. Of a graph folder only its own
    files are listed.
    """

    folder: bool
    files: tuple[tuple[str, int, int], ...]
    trouble: str = ""

    @property
    def graph(self) -> bool:
        """Whether it is a graph folder, or what is left of one."""
        return self.folder and any(name in GRAPH[:2] for name, _, _ in self.files)

    def same(self) -> str:
        """Return what must be the same on all ranks; clocks of file servers may differ."""
        return repr((self.folder, [file[:2] for file in self.files], self.trouble))

    def __str__(self) -> str:
        total = sum(size for _, size, _ in self.files)
        count = len(self.files)
        return self.trouble or f"{count} file{'s' * (count != 1)} of {total} bytes"


def listing(path: Path) -> Listing:
    """List what is at a path; one that cannot be read is a listing too, with the trouble."""
    try:
        if not os.path.isdir(path):
            about = os.stat(path)
            return Listing(False, ((".", about.st_size, about.st_mtime_ns),))
        every = []
        for name in _walked(path):
            about = os.stat(path / name)
            every.append((name, about.st_size, about.st_mtime_ns))
        if Listing(True, tuple(every)).graph:
            every = [file for file in every if file[0] in GRAPH]
        return Listing(True, tuple(every))
    except OSError as error:
        return Listing(False, (), f"nothing that can be read ({error.strerror or error})")


def _walked(path: Path) -> list[str]:
    names = []
    for folder, inside, files in os.walk(path):
        inside[:] = [name for name in inside if name[0] not in "_."]
        inner = Path(folder).relative_to(path)
        names += [(inner / name).as_posix() for name in files if name[0] not in "_."]
    return sorted(names)


def check_same(comm: Any, path: Path, seen: Listing) -> None:
    """Refuse, on all ranks, to read what is not the same on all of them."""
    text = seen.same()
    if seen.graph:
        try:
            text += repr((path / GRAPH[0]).read_bytes())
        except OSError as error:
            text += str(error)
    check_equal(comm, text, str(seen), f"{path} is", SHARED)


@contextmanager
def unchanged(path: Path, before: Listing) -> Iterator[None]:
    """Read something; an error if it was written meanwhile, whatever came of the reading."""
    try:
        yield
    except (OSError, ValueError) as error:
        if listing(path) != before:
            raise _changed(path, before) from error
        raise
    if listing(path) != before:
        raise _changed(path, before)


def _changed(path: Path, before: Listing) -> InputError:
    now = {name: rest for name, *rest in listing(path).files}
    old = {name: rest for name, *rest in before.files}
    names = sorted(name for name in now | old if now.get(name) != old.get(name))
    first = f" (first {names[0]})" if names and names[0] != "." else ""
    return InputError(
        f"{path} changed while it was read{first}. Wait until it is written, then start again."
    )


def read_folder(path: Path, comm: Any, seen: Listing) -> tuple[Share, NDArray[Any] | None]:
    """Read the rank's own rows, so many that ranks have about equal numbers of entries.

    The names are one list in JSON: every rank reads all of it, and keeps those of its rows.
    """
    with collective_errors(comm), unchanged(path, seen):
        graph = open_folder(path)
    n = graph.shape[0]
    need = need_per_rank(n, graph.nnz, graph.data is not None, comm.size)
    check_memory(comm, f"{path} ({n} nodes, {graph.nnz} entries)", need)
    with collective_errors(comm), unchanged(path, seen):
        cuts = threads.even_entries(graph.indptr, comm.size)
        first, last = (int(cut) for cut in cuts[comm.rank : comm.rank + 2])
        share = _own(comm, graph, first, last)
        names = folder_names(path, n)
        names = None if names is None else names[first:last].copy()
    return share, names


def _own(comm: Any, graph: CSR, first: int, last: int) -> Share:
    indptr = _read(graph.indptr, first, last + 1).astype(np.int64)
    start, stop = int(indptr[0]), int(indptr[-1])
    if not 0 <= start <= stop <= graph.nnz or (np.diff(indptr) < 0).any():
        raise InputError(
            f"indptr runs from {start} to {stop} in rows {first} to {last} of {graph.nnz} entries; "
            "it must rise from 0 to the number of entries. Build the folder again."
        )
    indices = _read(graph.indices, start, stop)
    if indices.dtype.kind not in "iu":
        raise InputError(f"indices have dtype {indices.dtype}; integers are needed. Build again.")
    n = graph.shape[0]
    # In 32 bits where they fit; what is out of range stays so, for the checks to say.
    inside = indices.size == 0 or (indices.min() >= 0 and indices.max() < n)
    signed = indices.astype(index_type(n) if inside else np.int64, copy=False)
    data = None if graph.data is None else _read(graph.data, start, stop).astype(np.float64)
    return Share(comm, first, n, indptr - start, signed, data)


def _read(array: NDArray[Any], start: int, stop: int) -> NDArray[Any]:
    """Copy a part of a mapped file by reading it: a file cut short meanwhile is an error then.

    Through the map it would end the process.
    """
    if not isinstance(array, np.memmap) or not isinstance(array.filename, str | Path):
        return np.array(array[start:stop])
    at = array.offset + start * array.itemsize
    part = np.fromfile(array.filename, dtype=array.dtype, count=stop - start, offset=at)
    if len(part) < stop - start:
        raise InputError(f"{array.filename} is cut short. Build the folder again.")
    return part

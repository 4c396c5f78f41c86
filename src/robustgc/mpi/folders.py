"""Graph folders, of which every rank reads its own rows."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.csr import CSR
from robustgc.io.graph_files import folder_names
from robustgc.io.opening import InputError
from robustgc.io.rows import index_type
from robustgc.mpi import memory
from robustgc.mpi.files import Listing, unchanged
from robustgc.mpi.share import Share
from robustgc.mpi.world import collective_errors


def read_folder(path: Path, comm: Any, seen: Listing) -> tuple[Share, NDArray[Any] | None]:
    """Read the rank's own rows, so many that ranks have about equal numbers of entries.

    The names are one list in JSON: every rank reads all of it, and keeps those of its rows.
    """
    with collective_errors(comm), unchanged(path, seen):
        graph = _opened(path)
    n = graph.shape[0]
    need = memory.need_per_rank(n, graph.nnz, graph.data is not None, comm.size)
    memory.check(comm, f"{path} ({n} nodes, {graph.nnz} entries)", need)
    with collective_errors(comm), unchanged(path, seen):
        cuts = threads.even_entries(graph.indptr, comm.size)
        first, last = (int(cut) for cut in cuts[comm.rank : comm.rank + 2])
        share = _own(comm, graph, first, last)
        names = folder_names(path, n)
        names = None if names is None else names[first:last].copy()
    return share, names


def _opened(path: Path) -> CSR:
    try:
        return CSR.open(path)
    except (OSError, ValueError) as error:
        raise InputError(str(error)) from error


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

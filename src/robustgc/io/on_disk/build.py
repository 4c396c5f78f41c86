"""Build a graph folder from edges that do not fit in memory.

The edges go to one file, which `buckets` sorts by row and column piece by piece; the pieces are
appended to the result.
"""

from collections.abc import Iterable
from contextlib import closing
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.atomic import new_folder
from robustgc.graph.csr import CSR
from robustgc.graph.folder import write_manifest
from robustgc.graph.quoting import quoted
from robustgc.io.on_disk.buckets import HALF, LOW, Bucket, Sorter, Words
from robustgc.io.on_disk.chunks import LIMIT, Chunk, read
from robustgc.io.rows import index_type

SMALLEST = 4096  # bytes of buffer


def build_csr(
    edges: str | Path | Iterable[Any],
    folder: str | Path,
    *,
    n_nodes: int | None = None,
    weighted: bool | None = None,
    duplicates: str = "refuse",
    buffer: int = 2**28,
) -> CSR:
    """Write the symmetric weight matrix of a list of edges to a folder, in bounded memory.

    Every edge is undirected and given once; it is stored in the rows of both its nodes. An edge
    of a node with itself is stored once.

    Parameters
    ----------
    edges : path, list of paths, or iterable of tuples of arrays
        Files ``.npy`` with integers of shape (edges, 2), or text ``.csv``, ``.tsv``, ``.txt``,
        ``.edges``, also with ``.gz``: two nodes and perhaps a weight per line, between commas,
        tabs or spaces; lines that start with # or % and a header are skipped. Or chunks
        ``(sources, targets)`` or ``(sources, targets, weights)``. Nodes are numbered from 0.
    folder : path
        The result; it must not exist. It appears when it is complete.
    n_nodes : int or None
        Number of nodes. None: the largest number of a node plus 1.
    weighted : bool or None
        False: ignore weights; True: demand them; None: use them if they are there.
    duplicates : {"refuse", "drop", "sum"}
        What to do with a pair of nodes that comes twice, in either direction: raise an error,
        keep one (the weights must be equal), or add the weights, 1 each if there are none.
    buffer : int
        Bytes of memory to work in, about. On disk the work needs up to 24 bytes per edge besides
        the result, twice that with weights.

    Returns
    -------
    CSR
        The graph, its arrays mapped from the files of the folder.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from robustgc import build_csr
    >>> with tempfile.TemporaryDirectory() as place:
    ...     path = build_csr([(np.array([0, 1]), np.array([1, 2]))], f"{place}/path")
    ...     path.indptr.tolist(), path.indices.tolist()
    ([0, 1, 3, 4], [1, 0, 2, 1])
    """
    if duplicates not in ("refuse", "drop", "sum"):
        raise ValueError(
            f"duplicates={quoted(duplicates)}; allowed are 'refuse', 'drop' and 'sum'."
        )
    if buffer < SMALLEST:
        raise ValueError(f"buffer={buffer} is too small; give at least {SMALLEST} bytes.")
    number = isinstance(n_nodes, Integral) and not isinstance(n_nodes, bool)
    if n_nodes is not None and not (number and 1 <= n_nodes <= LIMIT):
        raise ValueError(
            f"n_nodes={quoted(n_nodes)} is not from 1 to {LIMIT}; give the number of nodes."
        )
    with new_folder(folder) as partial:  # scratch and results alike: it is moved when it is whole
        whole, top, has_weights = _spill(
            read(edges, LIMIT if n_nodes is None else n_nodes, weighted),
            partial / "edges.work",
            duplicates == "sum",
        )
        nodes = top + 1 if n_nodes is None else n_nodes
        sorter = Sorter(buffer, whole.words, duplicates == "sum")
        with closing(_Result(partial, nodes, whole.words == 2)) as result:
            counts = []
            for records, of_bucket in threads.in_order(sorter.merged, sorter.leaves(whole)):
                result.append(records)
                counts.append(of_bucket)
            result.finish()
        _check_copies(np.array(counts), duplicates)
        keep = has_weights or bool(np.any(counts, axis=0)[0])
        if whole.words == 2 and not keep:  # nothing was added: all weights are 1
            (partial / "data.npy").unlink()
        weights = np.float64 if whole.words == 2 and keep else None
        write_manifest(partial, nodes, result.entries, weights)
    return CSR.open(folder)


def _spill(chunks: Iterable[Chunk], path: Path, ones: bool) -> tuple[Bucket, int, bool]:
    """Write all edges to a file: the bucket, the largest node and whether there are weights."""
    count, top, words, has_weights = 0, -1, 1, False
    with path.open("wb") as file:
        for sources, targets, weights in chunks:
            high = np.maximum(sources, targets)
            low = np.minimum(sources, targets).view(np.uint64)
            has_weights = weights is not None
            words = 2 if has_weights or ones else 1
            records = np.empty((len(high), words), dtype=np.uint64)
            records[:, 0] = low << HALF | high.view(np.uint64)
            if words == 2:
                records.view(np.float64)[:, 1] = 1.0 if weights is None else weights
            file.write(records.data)
            count += len(records)
            top = max(top, int(high.max(initial=-1)))
    if count == 0:
        raise ValueError("There are no edges; check the files or the iterable (is it used up?).")
    return Bucket(path, words, 2 * count, 0, (top + 1) << 32, mirrored=True), top, has_weights


def _check_copies(counts: Words, duplicates: str) -> None:
    """Refuse pairs that came more than once unless their copies could be merged as asked.

    `counts` has four numbers of every bucket, as `_loops.merge` counts them.
    """
    copies, _, unlike, _ = counts.sum(axis=0).tolist()
    if duplicates == "refuse" and copies:
        raise ValueError(
            f"{copies} pair{'s' * (copies > 1)} of nodes came more than once, the first is "
            f"{_first_pair(counts[:, :2])}. Every undirected edge is given once; pass "
            "duplicates='drop' to keep one of them or duplicates='sum' to add them."
        )
    if unlike:
        reason, cure = (
            ("have different weights", "pass duplicates='sum' to add them")
            if duplicates == "drop"
            else ("have an infinite sum", "scale the weights down")
        )
        pair = _first_pair(counts[:, 2:])
        raise ValueError(f"Copies of the pair {pair} {reason}; correct them or {cure}.")


def _first_pair(counts: Words) -> str:
    """Name the first pair of the first bucket that counted any."""
    key = int(counts[np.flatnonzero(counts[:, 0])[0], 1])
    i, j = sorted((key >> 32, key & (2**32 - 1)))
    return f"({i}, {j})"


class _Result:
    """The arrays of the folder, which grow at the end."""

    def __init__(self, folder: Path, nodes: int, weights: bool) -> None:
        self.nodes, self.entries, self.rows = nodes, 0, 0  # rows: pointers written
        self.indptr = _Stream(folder / "indptr.npy", np.int64)
        self.indices = _Stream(folder / "indices.npy", index_type(nodes))
        self.data = _Stream(folder / "data.npy", np.float64) if weights else None
        self.streams = [self.indptr, self.indices] + ([] if self.data is None else [self.data])

    def append(self, records: Words) -> None:
        """Add sorted records; their first row may be the last one of the records before."""
        keys = np.ascontiguousarray(records[:, 0])
        self._pointers(keys, int(keys[-1] >> HALF) + 1)
        self.indices.write(keys & LOW)
        if self.data is not None:
            self.data.write(records.view(np.float64)[:, 1])
        self.entries += len(keys)

    def _pointers(self, keys: Words, rows: int) -> None:
        """Write where the rows below `rows` start, in blocks: they may be many and empty."""
        for start in range(self.rows, rows, 2**16):
            block = np.arange(start, min(rows, start + 2**16), dtype=np.uint64) << HALF
            self.indptr.write(self.entries + np.searchsorted(keys, block))
        self.rows = max(self.rows, rows)

    def finish(self) -> None:
        """Add the empty rows at the end, and the lengths."""
        self._pointers(np.empty(0, dtype=np.uint64), self.nodes + 1)
        for stream in self.streams:
            stream.finish()

    def close(self) -> None:
        """Close the files, also after a failure."""
        for stream in self.streams:
            stream.file.close()


class _Stream:
    """A one-dimensional .npy file whose length is known at the end."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self.file, self.dtype, self.count = path.open("wb"), np.dtype(dtype), 0
        self._header()

    def _header(self) -> None:
        # numpy leaves room in the header for any length.
        about = {"descr": self.dtype.str, "fortran_order": False, "shape": (self.count,)}
        np.lib.format.write_array_header_1_0(self.file, about)

    def write(self, values: NDArray[Any]) -> None:
        self.file.write(np.ascontiguousarray(values, dtype=self.dtype).data)
        self.count += len(values)

    def finish(self) -> None:
        self.file.seek(0)
        self._header()

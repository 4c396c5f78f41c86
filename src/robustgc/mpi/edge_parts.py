"""Files of edges, as Spark or Dask write them, of which every rank reads some."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from robustgc.io import edge_tables, tables
from robustgc.io.dialect import Dialect
from robustgc.io.edge_tables import Edges
from robustgc.io.opening import SQUEEZED, InputError, NoRowsError, kind, opened
from robustgc.io.rows import index_type
from robustgc.mpi.spreading import EdgeEnds
from robustgc.mpi.world import collective_errors

SQUEEZING = 4  # bytes of text that are one byte of a packed file, about


class FilePart(NamedTuple):
    """What one rank reads: a file, or some row groups of a Parquet file.

    `alone` says that no other file has edges of the graph.
    """

    path: Path
    groups: tuple[int, ...] | None = None
    alone: bool = False

    @property
    def parquet(self) -> bool:
        """Whether it is a Parquet file."""
        return kind(self.path) in tables.PARQUET

    @property
    def empty(self) -> bool:
        """Whether it is text without a byte, as Spark writes a part without rows."""
        return not self.parquet and self.path.stat().st_size == 0

    def rows(self) -> float:
        """Return how many edges it has; of text about, by the length of the first lines."""
        if self.parquet:
            counts = tables.row_groups(self.path)
            return sum(counts if self.groups is None else (counts[k] for k in self.groups))
        if self.empty:
            return 0.0
        with opened(self.path) as stream:
            head = stream.read(tables.SAMPLE)
        squeezed = SQUEEZING if self.path.suffix.lower() in SQUEEZED else 1
        return self.path.stat().st_size * squeezed * (head.count(b"\n") or 1) / max(len(head), 1)

    def read(self, columns: dict[str, str | None], dialect: Dialect | None = None) -> Edges | None:
        """Read the edges; None if there are none."""
        if self.empty:
            return None
        try:
            if self.parquet:
                table = tables.parquet(self.path, groups=self.groups)
                self._refuse_matrix(table, columns)
                return edge_tables.arrow_edges(table, str(self.path), **columns)
            return edge_tables.text_edges(self.path, dialect=dialect, alone=self.alone, **columns)
        except NoRowsError:
            return None

    def _refuse_matrix(self, table: Any, columns: dict[str, str | None]) -> None:
        """Refuse an adjacency matrix, of which this may be some of the rows."""
        if self.groups is not None:
            rows = sum(tables.row_groups(self.path))
            if table.num_columns not in (rows, rows + 1):
                return
            table = tables.parquet(self.path)
        edge_tables.refuse_matrix(table, str(self.path), **columns)


def own_file_parts(comm: Any, files: Sequence[Path]) -> tuple[list[FilePart], tuple[str, ...]]:
    """Return what this rank reads, and what the user should know of it.

    Every rank gets as many files; where there are fewer than ranks, Parquet files are shared by
    their row groups.
    """
    every = [FilePart(path, alone=len(files) == 1) for path in files]
    if len(every) < comm.size:
        with collective_errors(comm):
            every = list(_split(every) if comm.rank == 0 else ())
        every = comm.bcast(every)
    notes: tuple[str, ...] = ()
    if len(every) < comm.size:
        count = len(every)
        text = "rank 0 read it for all" if count == 1 else f"{count} of the ranks read them for all"
        parts = "one part" if count == 1 else f"{count} parts"
        notes = (f"the edges are in {parts}, and {text} {comm.size}; write more part files",)
    return every[comm.rank :: comm.size], notes


def _split(pieces: Iterable[FilePart]) -> Iterable[FilePart]:
    for piece in pieces:
        if piece.path.suffix.lower() not in tables.PARQUET:  # text, or packed once more
            yield piece
            continue
        count = len(tables.row_groups(piece.path))
        yield from (piece._replace(groups=(k,)) for k in range(count)) if count > 1 else (piece,)


class NamedEdges(NamedTuple):
    """The edges of a rank, their names (of the same kind on all ranks), and what was noticed."""

    edges: EdgeEnds
    names: Any
    notes: tuple[str, ...]


def joined(comm: Any, found: list[Edges | None], where: str) -> NamedEdges:
    """Put the edges of a rank's pieces together, after asking the other ranks what they have."""
    some = [edges for edges in found if edges is not None]
    with_weights = next((str(edges.where) for edges in some if edges.weights is not None), "")
    without = next((str(edges.where) for edges in some if edges.weights is None), "")
    text = any(not isinstance(_numbers(edges.names), np.ndarray) for edges in some)
    notes = {note for edges in some for note in edges.notes}
    every = comm.allgather((with_weights, without, text, notes, len(found) - len(some)))
    weighted, plain = (next((rank[k] for rank in every if rank[k]), "") for k in (0, 1))
    if not (weighted or plain):
        raise InputError(f"{where} has no edges: all files are without rows. Write it again.")
    if weighted and plain:
        raise InputError(
            f"{plain} has no weights, but {weighted} has them. Give all files a column of weights, "
            "or none."
        )
    said = sorted(set().union(*(rank[3] for rank in every)))
    if empty := sum(rank[4] for rank in every):
        said.append(f"{empty} file{'s' * (empty > 1)} without rows")
    as_text = any(rank[2] for rank in every)
    with collective_errors(comm):
        names, places = _names([_numbers(edges.names) for edges in some], as_text)
        kind = index_type(len(names))
        edges = _ends(some, [place.astype(kind) for place in places], bool(weighted))
        return NamedEdges(edges, names, tuple(said))


def _numbers(names: Any) -> Any:
    """Return whole numbers in 64 bits; text where they do not fit, and of other names."""
    if not isinstance(names, np.ndarray):
        return names.cast(pa.large_string())
    if names.dtype == np.uint64 and names.size and int(names.max()) >= 2**63:
        return pa.array(names).cast(pa.large_string())
    return names.astype(np.int64, copy=False)


def _names(every: list[Any], as_text: bool) -> tuple[Any, list[NDArray[Any]]]:
    """Return the names of several tables, every one once, and the places of each table's names."""
    if not as_text:
        names = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *every]))
        return names, [np.searchsorted(names, some) for some in every]
    texts = [
        pa.array(some).cast(pa.large_string()) if isinstance(some, np.ndarray) else some
        for some in every
    ]
    coded = pa.chunked_array(texts, type=pa.large_string()).dictionary_encode()
    if not coded.num_chunks:
        return pa.array([], type=pa.large_string()), []
    coded = coded.unify_dictionaries()
    return coded.chunk(0).dictionary, [np.asarray(chunk.indices) for chunk in coded.chunks]


def _ends(some: list[Edges], places: list[NDArray[Any]], weighted: bool) -> EdgeEnds:
    """Return the edges of several tables together, by the places of their nodes."""
    columns: list[NDArray[Any]] = []
    for end in (0, 1):
        pairs = zip(some, places, strict=True)
        parts = [place[edges.ends[end]] for edges, place in pairs]
        columns.append(np.concatenate([np.empty(0, dtype=np.int32), *parts]))
    weights = [edges.weights for edges in some if edges.weights is not None]
    every = np.concatenate([np.empty(0), *weights]) if weighted else None
    return EdgeEnds(columns[0], columns[1], every)

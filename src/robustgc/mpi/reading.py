"""Graphs and labels from files, of which every rank reads its share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from robustgc.io import adjacency, arrow_tables, edge_tables, tables
from robustgc.io.dialect import Dialect
from robustgc.io.edge_columns import Wanted
from robustgc.io.edge_tables import Edges
from robustgc.io.heads import SAMPLE
from robustgc.io.label_files import LabelTable
from robustgc.io.label_nodes import check_header, labelled_rows
from robustgc.io.named import positions
from robustgc.io.opening import SQUEEZED, InputError, NoRowsError, check_file, kind, opened
from robustgc.io.rows import index_type, way_number
from robustgc.mpi import files, world
from robustgc.mpi.exchange import check_equal
from robustgc.mpi.files import read_folder
from robustgc.mpi.rows import EdgeEnds, number_names, share_of
from robustgc.mpi.share import Share, check_share
from robustgc.mpi.world import collective_errors

SQUEEZING = 4  # bytes of text that are one byte of a packed file, about


@dataclass(frozen=True, eq=False)
class DistributedInput:
    """A rank's checked share of a graph, and the names of its own nodes (None: their numbers).

    The notes are what the user should know of how the graph was read, the same on every rank.
    """

    share: Share
    names: NDArray[Any] | None
    notes: tuple[str, ...]


def read_share(
    path: Path,
    comm: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    symmetrise: str | None = None,
    dialect: Dialect | None = None,
) -> DistributedInput:
    """Read a rank's share of a graph; every rank calls this, with the same arguments.

    The path is that of a graph folder, of a folder of .parquet or text files with a row per edge
    (also in folders inside it), or of one such file; all else is as in `io.graph_files.read_graph`.
    """
    way = way_number(symmetrise)
    seen = files.listing(path)
    files.check_same(comm, path, seen)
    if seen.graph:
        share, names = read_folder(path, comm, seen)
        return DistributedInput(check_share(share), names, ())
    return _edges(path, comm, seen, Wanted(source, target, weight), dialect, way)


def _edges(
    path: Path,
    comm: Any,
    seen: files.Listing,
    wanted: Wanted,
    dialect: Dialect | None,
    way: int,
) -> DistributedInput:
    with collective_errors(comm):
        paths, notes = _edge_files(path, seen)
    parts, few = own_file_parts(comm, paths)
    with collective_errors(comm), files.unchanged(path, seen):
        rows = sum(part.rows() for part in parts)
    entries = 2 * int(comm.allreduce(rows))
    need = world.need_per_rank(0, entries, False, comm.size) + rows * world.PER_EDGE
    world.check_memory(comm, f"{path} (about {entries // 2} edges)", need)
    with collective_errors(comm), files.unchanged(path, seen):
        read = [part.read(wanted, dialect) for part in parts]
    edges, names, of_tables = _joined(comm, read, str(path))
    del read  # memory: it is all in `edges`
    with collective_errors(comm):
        counts = edges.counts(len(names))
    nodes = number_names(comm, names, counts)
    del counts, names
    n, entries = int(nodes.first[-1]), int(comm.allreduce(int(nodes.counts.sum())))
    need = world.need_per_rank(n, entries, edges.weights is not None, comm.size)
    world.check_memory(comm, f"{path} ({n} nodes, {entries} entries)", need)
    share, edge_counts = share_of(comm, edges, nodes, way, str(path))
    share = check_share(share)
    return DistributedInput(share, nodes.names, (*edge_counts.notes(), *of_tables, *notes, *few))


def _edge_files(path: Path, seen: files.Listing) -> tuple[list[Path], tuple[str, ...]]:
    """Return the files of edges at a path, and what was left out; an error if there are none."""
    known = (*arrow_tables.PARQUET, *tables.TEXT)
    if not seen.folder:
        check_file(path)
        if kind(path) not in known:
            raise InputError(
                f"{path}: files that end in {kind(path) or 'nothing'!r} cannot be shared between "
                f"ranks; what can are graph folders, folders of edge files ({', '.join(known)}, "
                "also with .gz or .zst), and single ones of these. Make a graph folder of it with "
                "`robustgc convert`."
            )
        return [path], ()
    names = [name for name, _, _ in seen.files]
    edges = [name for name in names if kind(Path(name)) in known]
    if not edges:
        raise InputError(
            f"{path} is neither a graph folder (it has no manifest.json) nor a folder of edge "
            f"files: there are none that end in {', '.join(known)}, also with .gz or .zst (names "
            "that start with _ or . do not count). Check the name."
        )
    others = [name for name in names if name not in set(edges)]
    ending = f"{len(others)} other file{'s' * (len(others) > 1)} in {path} not read"
    notes = (f"{ending}, first {others[0]}",) if others else ()
    return [path / name for name in edges], notes


def route_labels(
    table: LabelTable,
    graph: DistributedInput,
    *,
    ignore_unknown: bool = False,
    unlabelled: Any = None,
) -> tuple[NDArray[np.int64], list[Any], tuple[str, ...]]:
    """Find the labelled nodes, whichever ranks have them: their numbers, classes, and notes.

    The table must be the same on every rank, and so is what is returned. `ignore_unknown` leaves
    labels out whose node is not in the graph; `unlabelled` is what means "no label", as in
    `robustgc.transduction.missing.find_missing`.
    """
    comm, first = graph.share.comm, graph.share.first
    short = f"{len(table.labels)} rows"
    nodes = table.nodes.to_pylist() if hasattr(table.nodes, "to_pylist") else list(table.nodes)
    text = repr((nodes, list(table.labels)))
    check_equal(comm, text, short, f"{table.where}: the labels are", files.SHARED)
    with collective_errors(comm):
        own = graph.names
        if own is None:
            own = np.arange(first, first + graph.share.rows)
        place = positions(table.nodes, own)
    check_header(table, lambda name: comm.allreduce(int(positions([name], own)[0] >= 0)) > 0)
    # One rank at most has a node: numbers from 1 and zeros, added up.
    numbers = comm.allreduce(np.where(place < 0, 0, place + first + 1)) - 1
    rows, notes = labelled_rows(
        table, numbers, ignore_unknown=ignore_unknown, unlabelled=unlabelled
    )
    return np.array(list(rows), dtype=np.int64), [table.labels[k] for k in rows.values()], notes


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
        return kind(self.path) in arrow_tables.PARQUET

    @property
    def empty(self) -> bool:
        """Whether it is text without a byte, as Spark writes a part without rows."""
        return not self.parquet and self.path.stat().st_size == 0

    def rows(self) -> float:
        """Return how many edges it has; of text about, by the length of the first lines."""
        if self.parquet:
            counts = arrow_tables.row_groups(self.path)
            return sum(counts if self.groups is None else (counts[k] for k in self.groups))
        if self.empty:
            return 0.0
        with opened(self.path) as stream:
            head = stream.read(SAMPLE)
        squeezed = SQUEEZING if self.path.suffix.lower() in SQUEEZED else 1
        return self.path.stat().st_size * squeezed * (head.count(b"\n") or 1) / max(len(head), 1)

    def read(self, wanted: Wanted, dialect: Dialect | None = None) -> Edges | None:
        """Read the edges; None if there are none."""
        if self.empty:
            return None
        try:
            if self.parquet:
                return self._read_parquet(wanted)
            table = edge_tables.read_text(self.path, wanted, dialect, alone=self.alone)
            return edge_tables.only_edges(table, str(self.path))
        except NoRowsError:
            return None

    def _read_parquet(self, wanted: Wanted) -> Edges:
        """Read the edges; refuse an adjacency matrix, of which these may be some of the rows."""
        table, where = arrow_tables.parquet(self.path, groups=self.groups), str(self.path)
        rows = table.num_rows if self.groups is None else sum(arrow_tables.row_groups(self.path))
        if not wanted.any and table.num_columns in (rows, rows + 1):
            whole = table if self.groups is None else arrow_tables.parquet(self.path)
            if (matrix := adjacency.of_arrow(whole)) is not None:
                edge_tables.only_edges(matrix, where)
        return edge_tables.arrow_edges(table, where, wanted)


def own_file_parts(comm: Any, paths: Sequence[Path]) -> tuple[list[FilePart], tuple[str, ...]]:
    """Return what this rank reads, and what the user should know of it.

    Every rank gets as many files; where there are fewer than ranks, Parquet files are shared by
    their row groups.
    """
    parts = [FilePart(path, alone=len(paths) == 1) for path in paths]
    if len(parts) < comm.size:
        with collective_errors(comm):
            parts = list(_split(parts) if comm.rank == 0 else ())
        parts = comm.bcast(parts)
    notes: tuple[str, ...] = ()
    if (count := len(parts)) < comm.size:
        note = "the edges are in one part, and rank 0 read it for all"
        if count > 1:
            note = f"the edges are in {count} parts, and {count} of the ranks read them for all"
        notes = (f"{note} {comm.size}; write more part files",)
    return parts[comm.rank :: comm.size], notes


def _split(parts: Iterable[FilePart]) -> Iterable[FilePart]:
    """Split Parquet files into their row groups."""
    for part in parts:
        if part.path.suffix.lower() not in arrow_tables.PARQUET:  # text, or packed once more
            yield part
            continue
        count = len(arrow_tables.row_groups(part.path))
        yield from (part._replace(groups=(k,)) for k in range(count)) if count > 1 else (part,)


def _joined(
    comm: Any, parts: list[Edges | None], where: str
) -> tuple[EdgeEnds, Any, tuple[str, ...]]:
    """Put the edges of a rank's parts together: edges, names of one kind on all ranks, notes."""
    read = [edges for edges in parts if edges is not None]
    with_weights = next((str(edges.where) for edges in read if edges.weights is not None), "")
    without = next((str(edges.where) for edges in read if edges.weights is None), "")
    names = [_numbers(edges.names) for edges in read]
    text = any(not isinstance(some, np.ndarray) for some in names)
    notes = {note for edges in read for note in edges.notes}
    every = comm.allgather((with_weights, without, text, notes, len(parts) - len(read)))
    weighted, plain = (next((rank[k] for rank in every if rank[k]), "") for k in (0, 1))
    if not (weighted or plain):
        raise InputError(f"{where} has no edges: all files are without rows. Write it again.")
    if weighted and plain:
        raise InputError(
            f"{plain} has no weights, but {weighted} has them. Give all files a column of weights, "
            "or none of them."
        )
    all_notes = sorted(set().union(*(rank[3] for rank in every)))
    if empty := sum(rank[4] for rank in every):
        all_notes.append(f"{empty} file{'s' * (empty > 1)} without rows")
    as_text = any(rank[2] for rank in every)
    with collective_errors(comm):
        known, places = _names(names, as_text)
        kind = index_type(len(known))
        edges = _ends(read, [place.astype(kind) for place in places], bool(weighted))
        return edges, known, tuple(all_notes)


def _numbers(names: Any) -> Any:
    """Return whole numbers in 64 bits; text where they do not fit, and of other names."""
    if not isinstance(names, np.ndarray):
        return names.cast(pa.large_string())
    if names.dtype == np.uint64 and names.size and int(names.max()) >= 2**63:
        return pa.array(names).cast(pa.large_string())
    return names.astype(np.int64, copy=False)


def _names(names: list[Any], as_text: bool) -> tuple[Any, list[NDArray[Any]]]:
    """Return the names of several tables, every one once, and the places of each table's names."""
    if not as_text:
        known = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *names]))
        return known, [np.searchsorted(known, some) for some in names]
    texts = [
        pa.array(some).cast(pa.large_string()) if isinstance(some, np.ndarray) else some
        for some in names
    ]
    coded = pa.chunked_array(texts, type=pa.large_string()).dictionary_encode()
    if not coded.num_chunks:
        return pa.array([], type=pa.large_string()), []
    coded = coded.unify_dictionaries()
    return coded.chunk(0).dictionary, [np.asarray(chunk.indices) for chunk in coded.chunks]


def _ends(read: list[Edges], places: list[NDArray[Any]], weighted: bool) -> EdgeEnds:
    """Return the edges of several tables together, by the places of their nodes."""
    sources, targets = (
        [place[edges.ends[side]] for edges, place in zip(read, places, strict=True)]
        for side in (0, 1)
    )
    weights = [edges.weights for edges in read if edges.weights is not None]
    none = np.empty(0, dtype=np.int32)
    return EdgeEnds(
        np.concatenate([none, *sources]),
        np.concatenate([none, *targets]),
        np.concatenate([np.empty(0), *weights]) if weighted else None,
    )

"""Graphs and labels from files, of which every rank reads its share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.io import tables
from robustgc.io.dialect import Dialect
from robustgc.io.label_files import LabelTable, settled
from robustgc.io.label_headers import check_header
from robustgc.io.named import positions
from robustgc.io.opening import InputError, check_file, kind
from robustgc.io.rows import way_number
from robustgc.mpi import edge_parts, files, memory
from robustgc.mpi.checking import check_share, without_ones
from robustgc.mpi.folders import read_folder
from robustgc.mpi.naming import number_names
from robustgc.mpi.share import Share
from robustgc.mpi.spreading import share_of
from robustgc.mpi.world import collective_errors


@dataclass(frozen=True, eq=False)
class DistributedInput:
    """A rank's share of a graph, and what its nodes are called.

    Attributes
    ----------
    share : Share
        Checked.
    names : ndarray or None
        Of the own rows; None: they are called by their numbers.
    notes : tuple of str
        What the user should know of how the graph was read; the same on every rank.
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

    Parameters
    ----------
    path : Path
        A graph folder, a folder of .parquet or text files with a row per edge (also in folders
        inside it), or one such file.
    comm : communicator
    source, target, weight : str or None
        Names of the columns of edge files.
    symmetrise : {None, "mean", "max", "sum"}
        What to do where the two directions of an edge differ; None: refuse.
    dialect : Dialect or None
        How text files are written, as far as the user says it.
    """
    way = way_number(symmetrise)
    seen = files.listing(path)
    files.check_same(comm, path, seen)
    if seen.graph:
        share, names = read_folder(path, comm, seen)
        check_share(share)
        return DistributedInput(without_ones(share), names, ())
    columns = {"source": source, "target": target, "weight": weight}
    return _edges(path, comm, seen, columns, dialect, way)


def _edges(
    path: Path,
    comm: Any,
    seen: files.Listing,
    columns: dict[str, str | None],
    dialect: Dialect | None,
    way: int,
) -> DistributedInput:
    with collective_errors(comm):
        found, notes = _edge_files(path, seen)
    pieces, few = edge_parts.own_file_parts(comm, found)
    with collective_errors(comm), files.unchanged(path, seen):
        rows = sum(piece.rows() for piece in pieces)
    entries = 2 * int(comm.allreduce(rows))
    holding = rows * memory.PER_EDGE
    need = memory.need_per_rank(0, entries, False, comm.size) + holding
    memory.check(comm, f"{path} (about {entries // 2} edges)", need)
    with collective_errors(comm), files.unchanged(path, seen):
        read = [piece.read(columns, dialect) for piece in pieces]
    part = edge_parts.joined(comm, read, str(path))
    del read  # memory: it is all in `part`
    with collective_errors(comm):
        counts = part.edges.counts(len(part.names))
    nodes = number_names(comm, part.names, counts)
    del counts
    n, entries = int(nodes.first[-1]), int(comm.allreduce(int(nodes.counts.sum())))
    weighted = part.edges.weights is not None
    need = memory.need_per_rank(n, entries, weighted, comm.size)
    memory.check(comm, f"{path} ({n} nodes, {entries} entries)", need)
    share, edge_counts = share_of(comm, part.edges, nodes, way, str(path))
    check_share(share)
    return DistributedInput(share, nodes.names, (*edge_counts.notes(), *part.notes, *notes, *few))


def _edge_files(path: Path, seen: files.Listing) -> tuple[list[Path], tuple[str, ...]]:
    """Return the files of edges at a path, and what was left out; an error if there are none."""
    known = (*tables.PARQUET, *tables.TEXT)
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
    found: DistributedInput,
    *,
    ignore_unknown: bool = False,
    unlabelled: Any = None,
) -> tuple[NDArray[np.int64], list[Any], tuple[str, ...]]:
    """Find the labelled nodes, whichever ranks have them.

    Parameters
    ----------
    table : LabelTable
        The same on every rank.
    found : DistributedInput
    ignore_unknown : bool
        Leave labels out whose node is not in the graph.
    unlabelled : iterable of str, str or None
        What means "no label", as in `robustgc.transduction.missing.find_missing`.

    Returns
    -------
    numbers : ndarray of int64
        Of the labelled nodes, over all ranks.
    classes : list
    notes : tuple of str
        All three are the same on every rank.
    """
    comm, first = found.share.comm, found.share.first
    short = f"{len(table.labels)} rows"
    nodes = table.nodes.to_pylist() if hasattr(table.nodes, "to_pylist") else list(table.nodes)
    text = repr((nodes, list(table.labels)))
    files.check_equal(comm, text, short, f"{table.where}: the labels are", files.SHARED)
    names = found.names
    with collective_errors(comm):
        own = np.arange(first, first + found.share.rows) if names is None else names
        place = positions(table.nodes, own)
    check_header(table, lambda name: comm.allreduce(int(positions([name], own)[0] >= 0)) > 0)
    # One rank at most has a node: numbers from 1 and zeros, added up.
    numbers = comm.allreduce(np.where(place < 0, 0, place + first + 1)) - 1
    rows, notes = settled(table, numbers, ignore_unknown=ignore_unknown, unlabelled=unlabelled)
    return np.array(list(rows), dtype=np.int64), [table.labels[k] for k in rows.values()], notes

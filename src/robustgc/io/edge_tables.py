"""Tables of edges (CSV, TSV, Parquet, Arrow) -> a graph with named nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustgc.io import tables
from robustgc.io.assembling import DirectedError, assemble, directed
from robustgc.io.errors import TooLargeError
from robustgc.io.name_tables import NameTable
from robustgc.io.named import NamedGraph
from robustgc.io.opening import InputError, NoRowsError
from robustgc.io.reasons import line_of
from robustgc.quoting import quoted, short

SOURCE = ("source", "src", "from", "node1", "node_1", "u", "head", "i", "a")
TARGET = ("target", "dst", "to", "node2", "node_2", "v", "tail", "j", "b")
WEIGHT = ("weight", "w", "value", "similarity", "strength")
_DENSE = 8  # numbers up to that many times the edges are counted, others sorted


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a table, as they are given.

    Attributes
    ----------
    ends : list of two ndarrays of int
        The nodes of every edge, by their place in `names`.
    names : ndarray of int or Arrow array of text
        Every node once: numbers ascending, text as it comes.
    weights : ndarray or None
        None: the table has none.
    where : Path or str
    notes : tuple of str
    """

    ends: list[NDArray[Any]]
    names: Any
    weights: NDArray[np.float64] | None
    where: Path | str
    notes: tuple[str, ...] = ()


def read_text(path: Path, *, symmetrise: str | None = None, **columns: str | None) -> NamedGraph:
    """Read a text table with a row per edge: two nodes, perhaps a weight."""
    return _graph(text_edges(path, **columns), symmetrise)


def from_arrow(
    table: Any, where: str, *, symmetrise: str | None = None, **columns: str | None
) -> NamedGraph:
    """Read an Arrow table with a row per edge."""
    return _graph(arrow_edges(table, where, **columns), symmetrise)


def text_edges(
    path: Path, *, source: str | None = None, target: str | None = None, weight: str | None = None
) -> Edges:
    """Read the edges of a text table."""
    import pyarrow as pa

    named = any(name is not None for name in (source, target, weight))
    look = tables.layout(path, (*SOURCE[:5], *TARGET[:5], *WEIGHT[:1]), True if named else None)
    names = look.names or tuple(f"column {k + 1}" for k in range(look.width))
    if look.width < 2:
        raise InputError(
            f"{path}, line {look.skipped + 1}: one field where two nodes are expected. Put source, "
            "target and perhaps a weight on every line, between commas or tabs."
        )
    try:
        i, j, k = _columns(names, source, target, weight)
    except InputError as error:
        raise InputError(f"{path}: {error}.") from None
    integers = look.integers(i) and look.integers(j) and tables.canonical(path)
    weights = {} if k is None else {k: pa.float64()}
    try:
        node = pa.int64() if integers else pa.string()
        keep = _shrunk if integers else NameTable()
        chunks = tables.read(path, look, {i: node, j: node, **weights}, keep)
    except InputError as error:
        if not integers or isinstance(error, TooLargeError):
            raise  # else numbers at first, text later on
        keep = NameTable()
        chunks = tables.read(path, look, {i: pa.string(), j: pa.string(), **weights}, keep)
    if not chunks[0]:
        raise NoRowsError(f"{path} has a header and no edges.")
    table = keep if isinstance(keep, NameTable) else NameTable()
    found = _edges(chunks, _Place(path, look.skipped), table)
    if k is None and look.width > 2 and look.names is None:
        unused = f"columns 3 to {look.width} were not read; name the weights with --weight"
        return replace(found, notes=(unused,))
    return found


def arrow_edges(
    table: Any,
    where: str,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
) -> Edges:
    """Read the edges of an Arrow table."""
    import pyarrow as pa

    if table.num_columns < 2:
        raise InputError(f"{where}: {table.num_columns} column where two nodes are expected.")
    try:
        places = _columns(table.column_names, source, target, weight)
    except InputError as error:
        raise InputError(f"{where}: {error}.") from None
    columns = [table.column(k) for k in places if k is not None]
    for k, column in enumerate(columns):
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy())[0])
            raise InputError(
                f"{where}, row {row + 1}: {'no node' if k < 2 else 'no weight'} in column "
                f"{quoted(table.column_names[places[k]])}. Fill it in, or leave the row out."
            )
    try:
        if any(not pa.types.is_integer(column.type) for column in columns[:2]):
            columns[:2] = [column.cast(pa.string()) for column in columns[:2]]
        columns[2:] = [column.cast(pa.float64()) for column in columns[2:]]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"{where}: nodes must be text or whole numbers, weights numbers ({short(error)}). Name "
            "the columns that are meant, or convert them."
        ) from error
    if not table.num_rows:
        raise NoRowsError(f"{where} has no rows.")
    table = NameTable()
    chunks = [[table(chunk) for chunk in column.chunks] for column in columns]
    return _edges(chunks, _Place(where), table)


def _columns(
    names: Sequence[str], source: str | None, target: str | None, weight: str | None
) -> tuple[int, int, int | None]:
    i = tables.column(names, source, SOURCE, 0)
    j = tables.column(names, target, TARGET, 1 if i == 0 else 0)
    if i == j:
        raise InputError(f"source and target are both column {quoted(names[i])}; name two columns")
    third = 2 if (i, j) == (0, 1) and len(names) == 3 else -1
    k = tables.column(names, weight, WEIGHT, third)
    return i, j, k if k >= 0 else None


class _Place(NamedTuple):
    """Where a table is from, and the lines of a file before its first row."""

    where: Path | str
    before: int = 0

    def row(self, k: int) -> str:
        """Name a row by its line."""
        if isinstance(self.where, Path):
            return f"{self.where}, line {line_of(self.where, self.before, k)}"
        return f"{self.where}, row {k + 1}"


def _graph(edges: Edges, symmetrise: str | None) -> NamedGraph:
    sources, targets = edges.ends
    edges.ends.clear()  # memory: names become objects when the edges are gone
    try:
        found = assemble(sources, targets, edges.weights, len(edges.names), symmetrise=symmetrise)
    except DirectedError as error:
        raise directed(error, as_array(edges.names), str(edges.where)) from None
    del sources, targets
    return NamedGraph(found.W, as_array(edges.names), (*found.notes, *edges.notes))


def as_array(names: Any) -> NDArray[Any]:
    """Return names as an array: of whole numbers, or of text as objects."""
    return names if isinstance(names, np.ndarray) else np.array(names.to_pylist(), dtype=object)


def _edges(chunks: list[list[Any]], place: _Place, table: NameTable) -> Edges:
    weights = None
    if len(chunks) == 3:
        weights = np.concatenate([np.asarray(chunk) for chunk in chunks.pop()])
        _check_weights(weights, place)
    ends, names = _numbered(chunks, table)
    if not isinstance(names, np.ndarray) and (empty := names.index("").as_py()) >= 0:
        row = min(int(np.argmax(end == empty)) for end in ends if (end == empty).any())
        raise InputError(f"{place.row(row)}: a node without a name. Name it, or drop the line.")
    return Edges(ends, names, weights, place.where)


def _check_weights(weights: NDArray[np.float64], place: _Place) -> None:
    bad = ~((weights >= 0) & (weights < np.inf))
    if bad.any():
        k = int(np.flatnonzero(bad)[0])
        what = "negative" if weights[k] < 0 else "not finite"
        raise InputError(
            f"{place.row(k)}: weight {weights[k]:g} is {what} ({int(bad.sum())} such in all). "
            "Weights say how alike two nodes are: give finite numbers of 0 or more."
        )


def _numbered(chunks: list[list[Any]], table: NameTable) -> tuple[list[NDArray[Any]], Any]:
    """Return both columns with the nodes numbered: numbers ascending, text as it comes."""
    if isinstance(chunks[0][0], int):
        return table.finished(chunks)
    ends = [_joined(column) for column in chunks]
    least, most = min(int(e.min()) for e in ends), max(int(e.max()) for e in ends)
    if least >= 0 and most < _DENSE * len(ends[0]) + 2**20:
        there = np.zeros(most + 1, dtype=bool)
        for end in ends:
            there[end] = True
        names = np.flatnonzero(there)
        if len(names) <= most:
            place = np.cumsum(there, dtype=np.int32 if most < 2**31 else np.int64) - 1
            ends = [place[end] for end in ends]
        return ends, names
    names = np.unique(np.concatenate([np.unique(end) for end in ends]))
    return [np.searchsorted(names, end) for end in ends], names


def _joined(chunks: list[Any]) -> NDArray[Any]:
    """Put chunks of integers together, in 32 bits where they fit."""
    arrays = [_shrunk(chunk) if not isinstance(chunk, np.ndarray) else chunk for chunk in chunks]
    chunks.clear()  # memory: they are not needed any more
    return np.concatenate(arrays)


def _shrunk(chunk: Any) -> Any:
    """Return a chunk of whole numbers in 32 bits where they fit; others as they are."""
    if str(chunk.type) != "int64":
        return chunk
    array = np.asarray(chunk)
    fits = array.size == 0 or (array.min() >= 0 and array.max() < 2**31)
    return array.astype(np.int32 if fits else np.int64)

"""Tables of edges (CSV, TSV, Parquet, Arrow) -> a graph with named nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.quoting import listed, quoted, short
from robustgc.io import adjacency, tables
from robustgc.io.adjacency import Matrix
from robustgc.io.dialect import Dialect, is_number, refuse_cut_numbers
from robustgc.io.edge_columns import (
    HEADER,
    Columns,
    Wanted,
    choose_edge_columns,
    numbered_column,
)
from robustgc.io.errors import TooLargeError
from robustgc.io.heads import First, counts_rows, odd_one_out
from robustgc.io.layouts import Layout, find_layout
from robustgc.io.named import NamedGraph, NameTable, as_array, in_32_bits, numbered
from robustgc.io.opening import InputError, NoRowsError, kind
from robustgc.io.rows import assemble, check_edge_weights

_SOME = 1000  # rows that tell what kind a column is


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a table, as they stand there."""

    ends: list[NDArray[Any]]  # both nodes of every edge, by their place in `names`
    names: Any  # every node once: an array of numbers, ascending, or an Arrow array of text
    weights: NDArray[np.float64] | None  # None: the table has none
    where: Path | str
    notes: tuple[str, ...] = ()


def read_text(
    path: Path, wanted: Wanted, dialect: Dialect | None = None, *, alone: bool = True
) -> Edges | Matrix:
    """Read a text table with a row per edge (two nodes, perhaps a weight), or a matrix of weights.

    Unless it is `alone`, other files have edges of the graph too: its first line cannot be compared
    with the names there.
    """
    look = _layout(path, wanted, dialect, alone=alone)
    header = None if dialect is None else dialect.header
    if not wanted.any and (matrix := adjacency.of_text(path, look, header)) is not None:
        return matrix
    return _text_edges(path, look, wanted, dialect, alone=alone)


def read_arrow(table: Any, where: str, wanted: Wanted) -> Edges | Matrix:
    """Read an Arrow table with a row per edge, or a matrix of weights."""
    if not wanted.any and (matrix := adjacency.of_arrow(table)) is not None:
        return matrix
    return arrow_edges(table, where, wanted)


def graph_of(table: Edges | Matrix, symmetrise: str | None, where: str) -> NamedGraph:
    """Return the graph of a table."""
    if isinstance(table, Matrix):
        return adjacency.graph(table, symmetrise, where)
    sources, targets = table.ends
    table.ends.clear()  # memory: names become objects when the edges are gone
    W, notes = assemble(
        sources, targets, table.weights, table.names, symmetrise=symmetrise, where=where
    )
    del sources, targets
    return NamedGraph(W, as_array(table.names), (*notes, *table.notes))


def only_edges(table: Edges | Matrix, where: str) -> Edges:
    """Return the edges of a table; refuse a matrix, of which ranks cannot read a part each."""
    if isinstance(table, Edges):
        return table
    raise InputError(
        f"{where} looks like an adjacency matrix of {len(table.weights)} nodes, because "
        f"{table.reason}, and ranks read lists of edges. Make a graph folder of it with `robustgc "
        "convert`; if it is a list of edges, name its columns with --source and --target."
    )


def _text_edges(
    path: Path, look: Layout, wanted: Wanted, dialect: Dialect | None, *, alone: bool
) -> Edges:
    """Read the edges, once more where all of them say otherwise of the first line."""
    names = look.columns
    if look.width < 2:
        raise InputError(
            f"{path}, line {look.skipped + 1}: one field where two nodes are expected. Put source, "
            "target and perhaps a weight on every line, between commas or tabs; --delimiter names "
            "what else stands between them."
        )
    if look.names is None and (look.delimiter, look.width) == (",", 4) and not wanted.any:
        refuse_cut_numbers(path, look.skipped + 1, look.fields(2), look.fields(3))
    index = 0 if look.names and counts_rows(names[0], look.fields(0)) and len(names) > 2 else None
    try:
        ordered = kind(path) not in tables.TEXT  # as .edgelist
        chosen = choose_edge_columns(names, wanted, index, look.fields, ordered=ordered)
    except InputError as error:
        raise InputError(f"{path}: {error}.") from None
    chunks, nodes = _chunks(look, chosen)
    if not chunks[0]:
        raise NoRowsError(f"{path} has a header and no edges.")
    place = _Place(path, look)
    edges = _edges(chunks, place, nodes)
    pair = (names[chosen.source], names[chosen.target])
    if look.names is not None:
        _refuse_second_header(edges, pair, place)
    first = _first_line(look, edges, pair if alone else None)
    if first.header != look.first.header:
        rows = replace(dialect or Dialect(), header=first.header)
        look = replace(_layout(path, wanted, rows, alone=True), first=first)
        del chunks, nodes, edges  # memory
        return _text_edges(path, look, wanted, rows, alone=False)
    look = replace(look, first=first)
    by_user = wanted.any or (dialect is not None and dialect.header is not None)
    notes = _first_notes(look, edges, pair, by_user)
    return replace(edges, notes=(*look.notes, *notes, *chosen.notes))


def _layout(path: Path, wanted: Wanted, dialect: Dialect | None, *, alone: bool) -> Layout:
    """Look at a text table; columns that are named, other than by number, are in its header."""
    named = any(name is not None and not numbered_column(name) for name in wanted)
    return find_layout(path, HEADER, True if named else None, dialect, alone=alone)


def _chunks(look: Layout, chosen: Columns) -> tuple[list[list[Any]], NameTable]:
    """Read the columns: nodes as whole numbers where all of them are, else as text."""
    import pyarrow as pa

    i, j, k, _ = chosen
    weights = {} if k is None else {k: pa.float64()}
    if look.integers(i) and look.integers(j) and tables.canonical(look):
        try:
            types = {i: pa.int64(), j: pa.int64(), **weights}
            return tables.read(look, types, in_32_bits), NameTable()
        except TooLargeError:
            raise
        except InputError:
            pass  # numbers at first, text later on
    nodes = NameTable()
    return tables.read(look, {i: pa.string(), j: pa.string(), **weights}, nodes), nodes


def _refuse_second_header(edges: Edges, header: tuple[str, str], place: "_Place") -> None:
    """Refuse a header between edges, as in files that were put together."""
    if isinstance(edges.names, np.ndarray):
        return
    codes = [edges.names.index(name).as_py() for name in header]
    again = (edges.ends[0] == codes[0]) & (edges.ends[1] == codes[1])
    if min(codes) >= 0 and again.any():
        raise InputError(
            f"{place.row(int(np.argmax(again)))}: the header {listed(header)} once more, as in "
            "files that were put together. Remove the line; --no-header reads both as edges."
        )


def _first_line(look: Layout, edges: Edges, header: Sequence[str] | None) -> First:
    """Tell what the first line is from all edges, where the sample did not say it for sure.

    `header` has the names of the columns of nodes; None: other files have edges too, unseen here.
    """
    text = not isinstance(edges.names, np.ndarray)
    if look.first is First.LIKELY and header is not None and text:
        nodes = any(edges.names.index(name).as_py() >= 0 for name in header)
        return First.ROW if nodes else First.LIKELY
    if look.first is not First.OPEN:
        return look.first
    single = np.bincount(np.concatenate(edges.ends), minlength=len(edges.names)) == 1
    apart = single[edges.ends[0]] & single[edges.ends[1]]
    if not apart[0]:
        return First.ROW
    likely = odd_one_out(int(apart.sum()) - 1, len(apart) - 1)
    if header is None:
        return First.OPEN if likely else First.ROW
    return First.LIKELY if likely else First.OPEN


def _first_notes(
    look: Layout, edges: Edges, pair: tuple[str, str], by_user: bool
) -> tuple[str, ...]:
    """Say how the first line was read, where that was not plain.

    Its words may be nodes too, or its numbers the only ones. `by_user` says that the user has named
    columns, or has said whether there is a header.
    """
    header = f"line {look.skipped} is read as a header"
    cure = "(--no-header reads it as an edge)"
    if look.first in (First.LIKELY, First.HEADER):
        names = short(", ".join(name for name in look.names or () if name))
        return (f"{header}: {names} {cure}",)
    if look.first is First.OPEN:
        return (_read_as_edge(look),)
    if isinstance(edges.names, np.ndarray) or by_user:
        return ()
    if look.first is First.KNOWN:
        nodes = [name for name in pair if edges.names.index(name).as_py() >= 0]
        both = "are nodes" if len(nodes) > 1 else "is a node"
        return (f"{header}, though {listed(nodes)} {both} too {cure}",) if nodes else ()
    numbers = [[is_number(field) for field in row[:2]] for row in look.sample[:_SOME]]
    alone = len(numbers) > 2 and all(numbers[0]) and not any(any(row) for row in numbers[1:])
    return (_read_as_edge(look),) if look.first is First.ROW and alone else ()


def _read_as_edge(look: Layout) -> str:
    words = short(", ".join(look.sample[0]))
    return (
        f"line {look.skipped + 1} is read as an edge: {words}; use --header if it names the columns"
    )


def arrow_edges(table: Any, where: str, wanted: Wanted) -> Edges:
    """Read the edges of an Arrow table."""
    import pyarrow as pa

    if table.num_columns < 2:
        raise InputError(f"{where}: {table.num_columns} column where two nodes are expected.")
    names = table.column_names
    try:
        index = _index(table) if table.num_columns > 2 else None
        chosen = choose_edge_columns(names, wanted, index, partial(_sample, table))
    except InputError as error:
        raise InputError(f"{where}: {error}.") from None
    places = chosen.places()
    read = [table.column(k) for k in places]
    for k, column in enumerate(read):
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy())[0])
            raise InputError(
                f"{where}, row {row + 1}: {'no node' if k < 2 else 'no weight'} in column "
                f"{quoted(names[places[k]])}. Fill it in, or leave the row out."
            )
    try:
        if any(not pa.types.is_integer(column.type) for column in read[:2]):
            read[:2] = [column.cast(pa.string()) for column in read[:2]]
        read[2:] = [column.cast(pa.float64()) for column in read[2:]]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"{where}: nodes must be text or whole numbers, weights numbers ({short(error)}). Name "
            "the columns that are meant, or convert them."
        ) from error
    if not table.num_rows:
        raise NoRowsError(f"{where} has no rows.")
    nodes = NameTable()
    chunks = [[nodes(chunk) for chunk in column.chunks] for column in read]
    return replace(_edges(chunks, _Place(where), nodes), notes=chosen.notes)


def _index(table: Any) -> int | None:
    """Return a column that only counts the rows, as pandas adds it."""
    import pyarrow as pa

    for k, name in enumerate(table.column_names):
        if pa.types.is_integer(table.column(k).type) and counts_rows(name, _sample(table, k) or []):
            return k
    return None


def _sample(table: Any, k: int) -> list[str] | None:
    """Return some fields of a column of numbers or text; None: it has others."""
    import pyarrow as pa

    column = table.column(k)
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    text = text or pa.types.is_temporal(column.type)  # dates are told by their text
    if not (text or pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return None
    return [str(value) for value in column.slice(0, _SOME).to_pylist()]


class _Place(NamedTuple):
    """Where a table is from, and how its text is written."""

    where: Path | str
    look: Layout | None = None

    def row(self, k: int) -> str:
        """Name a row by its line."""
        return f"{self.where}, {tables.place_of(self.look, k)}"


def _edges(chunks: list[list[Any]], place: _Place, table: NameTable) -> Edges:
    weights = None
    if len(chunks) == 3:
        weights = np.concatenate([np.asarray(chunk) for chunk in chunks.pop()])
        check_edge_weights(weights, place.row)
    ends, names = numbered(chunks, table)
    if not isinstance(names, np.ndarray) and (empty := names.index("").as_py()) >= 0:
        row = min(int(np.argmax(end == empty)) for end in ends if (end == empty).any())
        raise InputError(f"{place.row(row)}: a node without a name. Name it, or drop the line.")
    return Edges(ends, names, weights, place.where)

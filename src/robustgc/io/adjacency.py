"""Square tables of weights, a row and a column per node: recognised and read as a graph."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.quoting import quoted
from robustgc.io import tables
from robustgc.io.arrow import pa
from robustgc.io.dialect import is_number
from robustgc.io.edge_columns import HEADER
from robustgc.io.heads import counts_rows
from robustgc.io.layouts import Layout
from robustgc.io.named import NamedGraph, as_names, numbers_or_text
from robustgc.io.opening import InputError
from robustgc.io.rows import assemble, check_edge_weights, edge_name, refuse_directed

_MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "None", "-")
_SAME, _SQUARE = "the names of rows and columns are the same", "it is a square of numbers"


@dataclass(frozen=True)
class Matrix:
    """Weights between nodes, and why a table was taken for them."""

    weights: NDArray[np.float64]  # a row and a column per node; NaN where there are none
    names: Any  # texts, or None: the nodes are numbered
    reason: str
    notes: tuple[str, ...] = ()


def graph(matrix: Matrix, symmetrise: str | None, where: str) -> NamedGraph:
    """Return the graph of a matrix; both directions of an edge must have one weight."""
    W, count = matrix.weights, len(matrix.weights)
    names = np.arange(count)
    if matrix.names is not None:
        names = as_names(numbers_or_text(matrix.names))
    empty = int(np.isnan(W).sum())
    W = np.nan_to_num(W, nan=0.0, posinf=np.inf, neginf=-np.inf)
    check_edge_weights(W.ravel(), lambda k: edge_name(where, names, *divmod(k, count)))
    sources, targets = np.nonzero(W)
    if symmetrise is None:
        if (differ := np.triu(~np.isclose(W, W.T, rtol=1e-9, atol=0))).any():
            if not (np.tril(W, -1).any() and np.triu(W, 1).any()):
                raise InputError(
                    f"{where}: one triangle of the matrix is empty, as where every edge is written "
                    "once. Use --symmetrise max (symmetrise='max' in Python), which gives both "
                    "directions the weight."
                )
            i, j = (int(k) for k in np.argwhere(differ)[0])
            refuse_directed(int(differ.sum()), (i, j, W[i, j], W[j, i]), names, where)
        sources, targets = np.nonzero(np.triu(W))
    rows, of_edges = assemble(
        sources, targets, W[sources, targets], names, symmetrise=symmetrise, where=where
    )
    notes = [
        f"read as an adjacency matrix of {count} nodes, because {matrix.reason} "
        "(--source and --target read a list of edges)"
    ]
    if empty:
        notes.append(f"{empty} empty cell{'s' * (empty > 1)} of the matrix: no edge there")
    return NamedGraph(rows, names, (*matrix.notes, *notes, *of_edges))


@dataclass(frozen=True)
class _Shape:
    """Which rows and columns of a text table are a matrix."""

    names: list[str] | None  # of its columns
    start: int  # columns before it: names, or numbers, of the rows
    labelled: bool  # whether there are names of the rows
    look: Layout  # with the row of names, if there is one, as the header


def of_text(path: Path, look: Layout, header: bool | None = None) -> Matrix | None:
    """Return the matrix that a text table is; None: it is none, as far as can be seen.

    `header` is what the user says of the first row.
    """
    shape = (None if header is False else _named(look)) or _square(look)
    if shape is None:
        _refuse_three(path, look)
        return None
    types: dict[int, Any] = {0: pa.string()} if shape.start else {}
    types |= {k: pa.float64() for k in range(shape.start, shape.look.width)}
    chunks = tables.read(replace(shape.look, nulls=_MISSING), types)
    parts = [[_array(part) for part in column] for column in chunks[shape.start :]]
    W = np.column_stack([np.concatenate(column) for column in parts])
    if shape.labelled and shape.names is not None:
        W = _ordered(W, pa.chunked_array(chunks[0]).to_pylist(), shape.names, str(path))
    elif len(W) != W.shape[1] or not _likely(W):
        return None
    return Matrix(W, shape.names, _SAME if shape.labelled else _SQUARE, look.notes)


def _array(part: Any) -> NDArray[np.float64]:
    return np.asarray(part.to_numpy(zero_copy_only=False), dtype=np.float64)


def _named(look: Layout) -> _Shape | None:
    """Return a table whose rows have the names of its columns, as far as the sample goes."""
    table = [list(look.names), *look.sample] if look.names is not None else look.sample
    top, rows = [field.strip() for field in table[0]], table[1:]
    if not rows or len(rows[0]) < 3:
        return None
    short_by_one = len(top) == len(rows[0]) - 1 - look.blank  # as R writes it
    names, corner = (top, "") if short_by_one else (top[1:], top[0])
    labels, width = [row[0].strip() for row in rows], len(names) + 1
    if is_number(corner) and all(is_number(name) for name in names):
        return None
    if len(set(names)) < len(names) or len(set(labels)) < len(labels) or "" in names:
        return None
    enough = len(rows) > 1 and len(names) > 2  # a row that is missing is refused later
    if not set(labels) <= set(names) or not (enough or len(rows) == len(names)):
        return None
    if not _cells(rows, 1, width, look):
        return None
    skipped = look.skipped + (look.names is None)
    full = replace(look, names=(corner, *names), width=width, skipped=skipped, sample=rows)
    return _Shape(names, 1, True, full)


def _cells(rows: list[list[str]], start: int, end: int, look: Layout) -> bool:
    """Whether rows are of one length, with numbers, or nothing, in some columns."""
    if any(len(row) != end + look.blank for row in rows):
        return False
    fields = (field.strip() for row in rows for field in row[start:end])
    return all(is_number(field, look.decimal) or field in _MISSING for field in fields)


def _square(look: Layout) -> _Shape | None:
    """Return a table with as many rows as columns, all numbers, that looks like weights."""
    names, rows = look.names, look.sample
    if names is not None and any(name.lower() in HEADER for name in names):
        return None
    if names is None and len(rows) > 1 and _counting([field.strip() for field in rows[0]]):
        names, rows = tuple(field.strip() for field in rows[0][: look.width]), rows[1:]
        look = replace(look, names=names, skipped=look.skipped + 1, sample=rows)
    labels = look.fields(0)
    named = names is None and len(set(labels)) == len(rows) and not any(map(is_number, labels))
    start = int(named or (names is not None and counts_rows(names[0], labels)))
    count = look.width - start
    if count < 3 or len(rows) > count or (look.complete and len(rows) != count):
        return None
    if not _cells(rows, start, look.width, look):
        return None
    if look.complete:
        W = [[_value(x, look.decimal) for x in row[start : look.width]] for row in rows]
        if not _likely(np.array(W)):
            return None
    if named:
        return _Shape(labels, 1, False, look) if look.complete else None
    return _Shape(None if names is None else list(names[start:]), start, False, look)


def _counting(names: list[str]) -> bool:
    """Whether names are 0, 1, 2, ... or 1, 2, 3, ..., as programs number columns."""
    return any(names == [str(k + start) for k in range(len(names))] for start in (0, 1))


def _refuse_three(path: Path, look: Layout) -> None:
    """Refuse three rows of three 0 or 1, which are three edges or a matrix with directions."""
    fields = {field.strip() for row in look.sample for field in row}
    square = look.complete and [len(row) for row in look.sample] == [3, 3, 3]
    if look.names is None and square and fields <= {"0", "1"}:
        raise InputError(
            f"{path}: three rows of three 0 or 1 may be an adjacency matrix or three edges with "
            "weights. If they are edges, use --source 'column 1' --target 'column 2' (source= and "
            "target= in Python); for a matrix put the names of the nodes above and before it."
        )


def _value(field: str, decimal: str) -> float:
    return np.nan if field.strip() in _MISSING else float(field.replace(decimal, "."))


def _likely(W: NDArray[np.float64]) -> bool:
    """Whether a square of numbers is a matrix of weights: symmetric, or without self-loops.

    Three edges with weights are a square of three: both are asked of these.
    """
    W = np.nan_to_num(W, nan=0.0)
    symmetric = np.allclose(W, W.T, rtol=1e-9, atol=0)
    hollow = not np.diagonal(W).any()
    either = (symmetric or hollow) and len(W) > 3
    return bool((W >= 0).all() and ((symmetric and hollow) or either))


def _ordered(
    W: NDArray[np.float64], rows: list[str], names: list[str], where: str
) -> NDArray[np.float64]:
    """Return the rows in the order of the columns; refuse rows or columns without the other."""
    place = {name: k for k, name in enumerate(rows)}
    lost = next((name for name in names if name not in place), None)
    extra = next((name for name in rows if name not in set(names)), None)
    if lost is None and extra is None and len(rows) == len(names):
        return W[[place[name] for name in names]]
    what = (
        f"no row is called {quoted(lost, 60)} as a column is" if lost is not None
        else f"no column is called {quoted(extra, 60)} as a row is" if extra is not None
        else "two rows have one name"
    )  # fmt: skip
    raise InputError(
        f"{where} looks like an adjacency matrix with {len(names)} columns and {len(rows)} rows, "
        f"but {what}. Give every node a row and a column; for a list of edges name its columns "
        "with --source and --target."
    )


def of_arrow(table: Any) -> Matrix | None:
    """Return the matrix that an Arrow table is; None: it is none."""
    count, columns = table.num_rows, table.column_names
    if count < 2 or table.num_columns not in (count, count + 1):
        return None
    numeric = [
        pa.types.is_integer(c.type) or pa.types.is_floating(c.type) or pa.types.is_boolean(c.type)
        for c in table.columns
    ]
    for k in range(table.num_columns) if table.num_columns == count + 1 else ():
        others = [place for place in range(len(columns)) if place != k]
        names = [columns[place] for place in others]
        if all(numeric[place] for place in others):
            rows = [str(value) for value in table.column(k).to_pylist()]
            if set(rows) == set(names) and len(set(rows)) == count:
                W = _dense(table, others)
                return Matrix(_ordered(W, rows, names, ""), names, _SAME)
    if count < 3 or table.num_columns != count or not all(numeric):
        return None
    W = _dense(table, list(range(count)))
    return Matrix(W, columns, _SQUARE) if _likely(W) else None


def _dense(table: Any, places: list[int]) -> NDArray[np.float64]:
    return np.column_stack(
        [np.asarray(table.column(k).to_numpy(), dtype=np.float64) for k in places]
    )

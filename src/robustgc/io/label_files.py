"""Labels from tables, mappings and node attributes -> one per node of a graph."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.io import tables
from robustgc.io.dialect import Dialect
from robustgc.io.named import NamedGraph, positions
from robustgc.io.opening import InputError, check_file, kind
from robustgc.io.reasons import line_of
from robustgc.quoting import listed, quoted, short

NODE = ("node", "id", "name", "node_id", "nodeid", "vertex", "row")
LABEL = ("label", "class", "y", "target", "category", "given")
FEW = 5  # examples in a message


class LabelTable:
    """Nodes with their labels, row by row, and where they are from."""

    def __init__(
        self,
        nodes: Any,
        labels: Sequence[Any],
        where: str | Path,
        skipped: int = 0,
        headless: bool = False,
    ) -> None:
        self.nodes, self.labels, self.where, self._skipped = nodes, labels, where, skipped
        self.headless = headless  # no header was found: the first row may be one
        self.dialect = Dialect()
        self.notes: tuple[str, ...] = ()  # how the file was read

    def row(self, k: int) -> str:
        """Name a row, that of a text file by its line."""
        if isinstance(self.where, Path):
            return f"line {line_of(self.where, self._skipped, k, self.dialect)}"
        return f"row {k + 1}"


def read_labels(
    path: Path,
    *,
    node: str | None = None,
    label: str | None = None,
    dialect: Dialect | None = None,
) -> LabelTable:
    """Read a table with a row per label: the node and its class."""
    import pyarrow as pa

    check_file(path)
    ending = kind(path)
    if ending in tables.PARQUET:
        return _of_arrow(tables.parquet(path), str(path), node, label)
    if ending not in tables.TEXT:
        raise InputError(
            f"{path}: labels come as {', '.join((*tables.TEXT, *tables.PARQUET))}, also with .gz "
            f"or .zst, not as {ending or 'a file without an ending'}. Rename or convert it."
        )
    named = node is not None or label is not None
    dialect = dialect or Dialect()  # its header is that of edges or points; labels are no numbers
    dialect = replace(dialect, header=None, decimal=dialect.decimal or ".")
    look = tables.layout(path, (*NODE[:4], *LABEL[:2]), True if named else None, dialect)
    i, j = _columns(look.names, look.width, str(path), node, label)
    chunks = tables.read(path, look, {i: pa.string(), j: pa.string()})
    nodes = pa.chunked_array(chunks[0], type=pa.string())
    labels: list[Any] = []
    for chunk in chunks[1]:  # every class is one object, however often it is given
        coded = chunk.dictionary_encode()
        classes = coded.dictionary.to_pylist()
        labels += [classes[k] for k in coded.indices.to_pylist()]
    table = LabelTable(nodes, labels, path, look.skipped, look.names is None)
    table.dialect, table.notes = dialect, look.notes
    return table


def _of_arrow(table: Any, where: str, node: str | None, label: str | None) -> LabelTable:
    import pyarrow as pa

    i, j = _columns(table.column_names, table.num_columns, where, node, label)
    nodes = table.column(i)
    try:
        nodes.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"{where}: the nodes in column {quoted(table.column_names[i])} are {nodes.type}, which "
            f"is not text ({short(error)}). Names are text or numbers; convert them."
        ) from error
    return LabelTable(nodes, table.column(j).to_pylist(), where)


def _columns(
    names: Sequence[str] | None, width: int, where: str, node: str | None, label: str | None
) -> tuple[int, int]:
    if width < 2:
        raise InputError(
            f"{where}: {width} column where two are expected. Put the node and its label in every "
            "row, between commas or tabs."
        )
    known = names or [f"column {k + 1}" for k in range(width)]
    try:
        j = tables.column(known, label, LABEL, 1)
        i = tables.column(known, node, NODE, 1 if j == 0 else 0)
    except InputError as error:
        raise InputError(f"{where}: {error}.") from None
    if i == j:
        raise InputError(
            f"{where}: node and label are both column {quoted(known[i])}; name two columns."
        )
    return i, j


def label_table(labels: Any) -> LabelTable:
    """Read labels from a mapping, a table, or a Series whose index has the nodes."""
    home = type(labels).__module__.split(".")[0]
    if isinstance(labels, Mapping):
        return LabelTable(list(labels), list(labels.values()), "The labels")
    if home == "pandas" and labels.ndim == 1:
        return LabelTable(labels.index.tolist(), labels.tolist(), "The labels")
    if home in ("pandas", "polars", "pyarrow"):
        from robustgc.io.objects import arrow_table

        return _of_arrow(arrow_table(labels, home), "The labels", None, None)
    raise InputError(
        f"Labels of type {type(labels).__name__} are unknown; pass a mapping from node to label, a "
        "Series, a table with columns node and label, a list with an entry per node (None: no "
        "label), or the name of a node attribute."
    )


def attached(
    table: LabelTable, graph: NamedGraph, *, ignore_unknown: bool = False
) -> tuple[NDArray[np.object_], tuple[str, ...]]:
    """Return the label of every node, None where there is none; and what was noticed."""
    place = positions(table.nodes, graph.names)
    rows, notes = settled(table, place, ignore_unknown=ignore_unknown)
    y = np.full(len(graph.names), None, dtype=object)
    for node, k in rows.items():
        y[node] = table.labels[k]
    return y, notes


def settled(
    table: LabelTable, place: NDArray[np.int64], *, ignore_unknown: bool = False
) -> tuple[dict[int, int], tuple[str, ...]]:
    """Return the row of every labelled node, and what was noticed.

    Parameters
    ----------
    table : LabelTable
    place : ndarray of int
        The number of the node of every row, -1 where the graph has none.
    ignore_unknown : bool
    """
    notes = list(table.notes)
    given = ~np.array([_missing(label) for label in table.labels], dtype=bool)
    lost = np.flatnonzero((place < 0) & given)
    if table.headless and lost.tolist() == [0] and given.sum() > 1:
        notes.append(f"the first line of {table.where} was taken for a header")
        lost = lost[1:]
    if lost.size:
        some = short(", ".join(short(_at(table.nodes, int(k))) for k in lost[:FEW]))
        text = f"{lost.size} of {int(given.sum())} labelled nodes are not in the graph"
        if not ignore_unknown or lost.size == given.sum():
            raise InputError(
                f"{table.where}: {text}, first {some}. Check the names (compared as text), or "
                "leave such labels out with --ignore-unknown (ignore_unknown=True in Python)."
            )
        notes.append(f"{text} and were left out, first {some}")
    _check_kinds(table, given)
    rows: dict[int, int] = {}
    for k in np.flatnonzero((place >= 0) & given).tolist():
        first = rows.setdefault(int(place[k]), k)
        if table.labels[first] != table.labels[k]:
            raise InputError(
                f"{table.where}: node {short(_at(table.nodes, k), 60)} has two labels, "
                f"{quoted(table.labels[first], 60)} ({table.row(first)}) and "
                f"{quoted(table.labels[k], 60)} ({table.row(k)}). Keep one of them."
            )
    if not rows:
        raise InputError(f"{table.where}: there are no labels. Give a class to some nodes.")
    if len(classes := {str(table.labels[k]) for k in rows.values()}) == 1:
        raise InputError(
            f"{table.where}: all {len(rows)} labels are of one class, {quoted(classes.pop())}. "
            "Give labels of two classes or more."
        )
    return rows, tuple(notes)


def _check_kinds(table: LabelTable, given: NDArray[np.bool_]) -> None:
    """Refuse labels that are no classes, or of several kinds."""
    first: dict[str, int] = {}
    for k in np.flatnonzero(given).tolist():
        label = table.labels[k]
        plain = label.item() if isinstance(label, np.generic) else label
        what = "number" if type(plain) in (int, float) else type(plain).__name__
        if what not in ("number", "str", "bool") or (what == "number" and plain % 1 != 0):
            raise InputError(
                f"{table.where}, {table.row(k)}: the label {quoted(label)} is no class. Classes "
                "are text, whole numbers or true and false; convert the labels."
            )
        first.setdefault(what, k)
    if len(first) > 1:
        some = " and ".join(
            f"{quoted(table.labels[k], 60)} ({table.row(k)})" for k in first.values()
        )
        raise InputError(
            f"{table.where}: the labels are of several kinds, as {some}. Make all of them text, or "
            "all numbers."
        )


def of_attribute(name: str, graph: NamedGraph, where: str) -> LabelTable:
    """Return the labels that a node attribute has."""
    if name not in graph.attributes:
        known = listed(graph.attributes) or "there are none"
        raise InputError(
            f"{quoted(name)} is neither a file with labels nor a node attribute of {where} "
            f"(attributes: {known})."
        )
    return LabelTable(graph.names, graph.attributes[name], f"attribute {quoted(name)} of {where}")


def _missing(label: Any) -> bool:
    if isinstance(label, float):
        return math.isnan(label)
    return label is None or (isinstance(label, str) and label == "")


def _at(nodes: Any, k: int) -> Any:
    value = nodes[k]
    return value.as_py() if hasattr(value, "as_py") else value

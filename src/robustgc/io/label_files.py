"""Labels from tables, mappings and node attributes -> one per node of a graph."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.quoting import listed, quoted, short
from robustgc.io import tables
from robustgc.io.arrow_objects import arrow_table, is_table
from robustgc.io.arrow_tables import TYPED, read_typed
from robustgc.io.dialect import Dialect
from robustgc.io.label_classes import (
    check_classes,
    check_variety,
    marker_notes,
    notes_on_alike,
    notes_on_markers,
    notes_on_signs,
)
from robustgc.io.label_columns import LABEL, NODE, LabelColumns, choose_columns, has_names
from robustgc.io.label_headers import check_header
from robustgc.io.label_matching import cause, examples
from robustgc.io.label_rows import (
    LabelTable,
    cell,
    check_kinds,
    check_known,
    header_above,
    note_on_header,
    notes_on_nodes,
)
from robustgc.io.named import NamedGraph, as_text, positions
from robustgc.io.opening import InputError, check_file, kind, notes_of, written
from robustgc.io.sources import source
from robustgc.transduction.missing import find_missing

__all__ = [
    "LabelTable", "attached", "entries", "label_table", "of_attribute", "read_labels",
    "reviewed_labels", "settled",
]  # fmt: skip
# In `reviewed`, in the languages into which spreadsheets translate true and false.
YES = (
    "true", "1", "1.0", "yes", "x", "wahr", "ja", "vrai", "oui", "verdadero", "si", "s\u00ed",
)  # fmt: skip
NO = ("false", "0", "0.0", "no", "", "falsch", "nein", "faux", "non", "falso")


def read_labels(
    path: Path,
    *,
    node: str | None = None,
    label: str | None = None,
    sheet: str | None = None,
    dialect: Dialect | None = None,
    header: bool | None = None,
) -> LabelTable:
    """Read a table with a row per label: the node and its class.

    Parameters
    ----------
    path : Path
    node, label : str or None
        The columns; None: those with a usual name, or the only two there are. In a table without a
        header columns are called ``column 1``, ``column 2`` and so on.
    sheet : str or None
        Which sheet of a spreadsheet; None: the first that is not empty.
    dialect : Dialect or None
        How a text table is written, as far as the user says it; its header is that of edges.
    header : bool or None
        Whether the first row of a text table names its columns; None: told from the rows, and from
        the names of the nodes later.
    """
    import pyarrow as pa

    path = source(path, sheet)
    check_file(path)
    ending = kind(path)
    if ending in TYPED:
        return _of_arrow(read_typed(path), str(path), node, label)
    if ending not in tables.TEXT:
        raise InputError(
            f"{path}: labels come as {', '.join((*tables.TEXT, *TYPED))}, .xlsx, also with .gz, "
            f".zst or .zip, not as {ending or 'a file without an ending'}. Rename or convert it."
        )
    dialect = written(path, dialect) or Dialect()  # labels are no numbers
    dialect = replace(dialect, header=None, decimal=dialect.decimal or ".")
    by_user = header is not None
    if has_names(node, label) and not by_user:
        header = True
    look = tables.layout(path, (*NODE[:4], *LABEL[:2]), header, dialect)

    def read(wanted: Sequence[int]) -> list[Any]:
        chunks = tables.read(path, look, dict.fromkeys(wanted, pa.string()))
        return [pa.chunked_array(part, type=pa.string()) for part in chunks]

    columns = choose_columns(look.names, look.width, read, str(path), node, label)
    table = _chosen(columns, path, look)
    table.dialect, table.header_by_user = dialect, header is True
    table.headless = table.headless and not by_user
    return table


def reviewed_marks(table: LabelTable, cells: list[Any]) -> list[bool]:
    """Read the cells of the column `reviewed`; refuse what is neither yes nor no."""
    texts = ["" if cell is None else str(cell).strip().lower() for cell in cells]
    for k, text in enumerate(texts):
        if text not in YES + NO:
            raise InputError(
                f"{table.where}, {table.row(k)}: {quoted(cells[k], 60)} in the column reviewed is "
                f"neither yes ({', '.join(YES[:5])}) nor no ({', '.join(NO[:4])}, or empty). "
                "Correct it, or rename the column."
            )
    return [text in YES for text in texts]


def _of_arrow(table: Any, where: str, node: str | None, label: str | None) -> LabelTable:
    import pyarrow as pa

    def read(wanted: Sequence[int]) -> list[Any]:
        return [table.column(k) for k in wanted]

    names = table.column_names
    columns = choose_columns(names, table.num_columns, read, where, node, label)
    nodes = table.column(columns.node)
    try:
        nodes.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"{where}: the nodes in column {quoted(names[columns.node])} are {nodes.type}, which "
            f"is not text ({short(error)}). Names are text or numbers; convert them."
        ) from error
    return _chosen(columns, where)


def _chosen(
    columns: LabelColumns, where: str | Path, look: tables.Layout | None = None
) -> LabelTable:
    """Read the columns that were chosen."""
    wanted = [columns.node, columns.label]
    wanted += [] if columns.reviewed is None else [columns.reviewed]
    nodes, given, *marks = columns.read(wanted)
    skipped, headless = (0, False) if look is None else (look.skipped, look.names is None)
    table = LabelTable(
        nodes, _shared(given), where, skipped, headless, columns=columns, layout=look
    )
    if marks:
        table.reviewed = reviewed_marks(table, marks[0].to_pylist())
    return table


def _shared(column: Any) -> list[Any]:
    """Return a column as a list in which every text is one object, however often it is there."""
    import pyarrow as pa

    if not pa.types.is_string(column.type):
        values: list[Any] = column.to_pylist()
        return values
    labels: list[Any] = []
    for chunk in column.chunks:
        coded = chunk.dictionary_encode()
        classes = coded.dictionary.to_pylist()
        labels += [None if k is None else classes[k] for k in coded.indices.to_pylist()]
    return labels


def label_table(labels: Any, *, node: str | None = None, label: str | None = None) -> LabelTable:
    """Read labels from a mapping, a table, or a Series whose index has the nodes."""
    home = type(labels).__module__.split(".")[0]
    if isinstance(labels, Mapping):
        return LabelTable(list(labels), list(labels.values()), "The labels")
    if home == "pandas" and labels.ndim == 1:
        return LabelTable(labels.index.tolist(), labels.tolist(), "The labels")
    if home == "pandas" and labels.shape[1] == 1 and node is None:
        return _of_index(labels)
    if is_table(labels):
        return _of_arrow(arrow_table(labels, "The labels"), "The labels", node, label)
    raise InputError(
        f"Labels of type {type(labels).__name__} are unknown; pass a mapping from node to label, a "
        "Series, a table with columns node and label, a list with an entry per node (None: no "
        "label), or the name of a node attribute."
    )


def _of_index(frame: Any) -> LabelTable:
    """Read a frame of one column whose index has the nodes."""
    name = quoted(frame.columns[0], 60)
    if type(frame.index).__name__ == "RangeIndex" and frame.index.name is None:
        raise InputError(
            f"The labels: a frame with the one column {name}, whose index only counts the rows. "
            "Add a column with the nodes; or, if the index has the nodes, pass that column, a "
            "Series."
        )
    table = LabelTable(frame.index.tolist(), frame.iloc[:, 0].tolist(), "The labels")
    table.notes = (f"the nodes of the labels are the index of the frame, whose column is {name}",)
    return table


def attached(
    table: LabelTable,
    graph: NamedGraph,
    *,
    ignore_unknown: bool = False,
    unlabelled: Any = None,
) -> tuple[NDArray[np.object_], tuple[str, ...]]:
    """Return the label of every node, None where there is none; and what was noticed."""
    place = positions(table.nodes, graph.names)
    check_header(table, lambda name: bool(positions([name], graph.names)[0] >= 0))
    rows, notes = settled(
        table,
        place,
        ignore_unknown=ignore_unknown,
        unlabelled=unlabelled,
        explain=lambda given: _why_unknown(table, place, given, graph),
        names=graph.names,
    )
    notes += tuple(notes_on_nodes(table, graph.names))
    y = np.full(len(graph.names), None, dtype=object)
    for node, k in rows.items():
        y[node] = table.labels[k]
    return y, notes


def reviewed_labels(
    table: LabelTable, names: NDArray[Any], unlabelled: Any = None
) -> dict[Any, Any] | None:
    """Return the labels that a person has confirmed by the names that nodes have in a graph.

    None where the table does not say.
    """
    if table.reviewed is None:
        return None
    missing = find_missing(table.labels, unlabelled).mask
    rows = np.flatnonzero(np.array(table.reviewed, dtype=bool) & ~missing).tolist()
    place = positions([cell(table.nodes, k) for k in rows], names).tolist()
    known = names.tolist()
    return {known[p]: table.labels[k] for p, k in zip(place, rows, strict=True) if p >= 0}


def settled(
    table: LabelTable,
    place: NDArray[np.int64],
    *,
    ignore_unknown: bool = False,
    unlabelled: Any = None,
    explain: Callable[[NDArray[np.bool_]], str] | None = None,
    names: NDArray[Any] | None = None,
) -> tuple[dict[int, int], tuple[str, ...]]:
    """Return the row of every labelled node, and what was noticed.

    Parameters
    ----------
    table : LabelTable
    place : ndarray of int
        The number of the node of every row, -1 where the graph has none.
    ignore_unknown : bool
    unlabelled : iterable of str, str or None
        As in `robustgc.transduction.missing.find_missing`.
    explain : callable or None
        From the rows with a label to why some are not in the graph, and the cure; "" if unknown.
    names : ndarray or None
        Of the nodes of the graph, to find one that may be meant.
    """
    # A header is no label: a word above numbers would make a class of -1.
    above = int(header_above(table, place))
    missing = find_missing(table.labels[above:], unlabelled)
    given = np.concatenate([np.zeros(above, dtype=bool), ~missing.mask])
    # Of labels that are a column of the points, the reader of these has said how they are read.
    notes = [] if table.layout is None else [*notes_of(table.where), *table.layout.notes]
    notes += [*table.notes, *(() if table.columns is None else table.columns.notes)]
    notes += marker_notes(missing)
    notes += check_known(table, place, given, ignore_unknown, explain, names)
    notes += [note_on_header(table)] if above else []
    check_kinds(table, given)
    rows: dict[int, int] = {}
    for k in np.flatnonzero((place >= 0) & given).tolist():
        first = rows.setdefault(int(place[k]), k)
        if table.labels[first] != table.labels[k]:
            raise InputError(
                f"{table.where}: node {short(cell(table.nodes, k), 60)} has two labels, "
                f"{quoted(table.labels[first], 60)} ({table.row(first)}) and "
                f"{quoted(table.labels[k], 60)} ({table.row(k)}). Keep one of them."
            )
    counts = Counter(table.labels[k] for k in rows.values())
    check_classes(table.where, counts, missing)
    notes += check_variety(table.where, table.columns, counts)
    notes += [*notes_on_alike(counts), *notes_on_signs(counts, missing)]
    notes += notes_on_markers(counts, missing, unlabelled)
    return rows, tuple(notes)


def _why_unknown(
    table: LabelTable, place: NDArray[np.int64], given: NDArray[np.bool_], graph: NamedGraph
) -> str:
    """Look for the cause in the names, the attributes of the graph and the other columns."""
    import pyarrow as pa

    rows, columns = pa.array(given), table.columns
    if columns is None:
        others = {"": as_text(list(table.labels)).filter(rows)}
        reason = cause(as_text(table.nodes).filter(rows), others, None, "", graph)
    else:
        others = {name: values.filter(rows) for name, values in columns.others().items()}
        node, label = columns.names[columns.node], columns.names[columns.label]
        reason = cause(as_text(table.nodes).filter(rows), others, node, label, graph)
    if reason or (place[given] >= 0).any():
        return reason
    flag = "" if columns is None else ", or name another column with --node-column"
    return f"None is: {examples(graph)}. Check the names (compared as text){flag}."


def of_attribute(name: str, graph: NamedGraph, where: str) -> LabelTable:
    """Return the labels that a node attribute has."""
    if name not in graph.attributes:
        known = listed(graph.attributes) or "there are none"
        raise InputError(
            f"{quoted(name)} is neither a file with labels nor a node attribute of {where} "
            f"(attributes: {known})."
        )
    return LabelTable(graph.names, graph.attributes[name], f"attribute {quoted(name)} of {where}")


def entries(labels: Any, unlabelled: Any = None) -> tuple[Any, tuple[str, ...]]:
    """Return labels that are given as an entry per node, None where one means unlabelled; notes.

    Numbers stay as they are, unless the user has a list of markers: -1 among them is a marker of
    the estimators too, whose own checks they get.
    """
    numeric = getattr(getattr(labels, "dtype", None), "kind", "O") in "biuf"
    cells = [] if numeric and unlabelled is None else list(labels)
    if unlabelled is None and not any(isinstance(cell, str) for cell in cells):
        return labels, ()
    missing = find_missing(cells, unlabelled)
    y = np.empty(len(cells), dtype=object)
    y[:] = [None if gap else cell for cell, gap in zip(cells, missing.mask, strict=True)]
    texts = Counter(cell for cell in y if isinstance(cell, str))
    if missing.counts:  # else the estimator's own words for too few classes say it all
        check_classes("The labels", Counter(str(cell) for cell in y if cell is not None), missing)
    more = (*notes_on_alike(texts), *notes_on_markers(texts, missing, unlabelled))
    return y, (*marker_notes(missing), *more)

"""A table of labels and the names of nodes -> a label per node, and what is refused on the way."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.quoting import listed, quoted, short
from robustgc.io.arrow import pa
from robustgc.io.dialect import is_number
from robustgc.io.errors import InputError
from robustgc.io.label_classes import (
    FEW,
    check_classes,
    check_kinds,
    check_variety,
    marker_notes,
    notes_on_alike,
    notes_on_markers,
    notes_on_signs,
)
from robustgc.io.label_columns import LABEL, NODE
from robustgc.io.label_files import LabelTable, table_of
from robustgc.io.label_matching import cause, examples
from robustgc.io.named import NamedGraph, as_text, near, positions
from robustgc.transduction.missing import find_missing

_SOME = 1000  # rows that show what a column holds


def labels_of(
    labels: Any, graph: NamedGraph, ignore: bool, *, unlabelled: Any = None
) -> tuple[Any, tuple[str, ...]]:
    """Return a label per node, and notes."""
    table = table_of(labels, graph)
    if not isinstance(table, LabelTable):
        return checked_entries(table, unlabelled)
    return node_labels(table, graph, ignore_unknown=ignore, unlabelled=unlabelled)


def node_labels(
    table: LabelTable,
    graph: NamedGraph,
    *,
    ignore_unknown: bool = False,
    unlabelled: Any = None,
) -> tuple[NDArray[np.object_], tuple[str, ...]]:
    """Return the label of every node, None where there is none; and what was noticed."""
    place = positions(table.nodes, graph.names)
    check_header(table, lambda name: bool(positions([name], graph.names)[0] >= 0))
    rows, notes = labelled_rows(
        table, place, ignore_unknown=ignore_unknown, unlabelled=unlabelled, graph=graph
    )
    notes += tuple(_other_nodes_notes(table, graph.names))
    y = np.full(len(graph.names), None, dtype=object)
    for node, k in rows.items():
        y[node] = table.labels[k]
    return y, notes


def checked_entries(labels: Any, unlabelled: Any = None) -> tuple[Any, tuple[str, ...]]:
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


def labelled_rows(
    table: LabelTable,
    place: NDArray[np.int64],
    *,
    ignore_unknown: bool = False,
    unlabelled: Any = None,
    graph: NamedGraph | None = None,
) -> tuple[dict[int, int], tuple[str, ...]]:
    """Return the row of every labelled node, and what the user should know.

    `place` has the number of the node of every row, -1 where the graph has none. `graph` tells why
    labelled nodes are not in it; None: it is spread over ranks.
    """
    # A header is no label: a word above numbers would make a class of -1.
    above = int(_header_above(table, place))
    missing = find_missing(table.labels[above:], unlabelled)
    labelled = np.concatenate([np.zeros(above, dtype=bool), ~missing.mask])
    notes = [*table.notes, *(() if table.columns is None else table.columns.notes)]
    notes += marker_notes(missing)
    notes += _check_known(table, place, labelled, ignore_unknown, graph)
    notes += [_header_note(table)] if above else []
    check_kinds(table, labelled)
    rows: dict[int, int] = {}
    for k in np.flatnonzero((place >= 0) & labelled).tolist():
        first = rows.setdefault(int(place[k]), k)
        if table.labels[first] != table.labels[k]:
            raise InputError(
                f"{table.where}: node {short(_cell(table.nodes, k), 60)} has two labels, "
                f"{quoted(table.labels[first], 60)} ({table.place(first)}) and "
                f"{quoted(table.labels[k], 60)} ({table.place(k)}). Keep one of them."
            )
    counts = Counter(table.labels[k] for k in rows.values())
    check_classes(table.where, counts, missing)
    notes += check_variety(table.where, table.columns, counts)
    notes += [*notes_on_alike(counts), *notes_on_signs(counts, missing)]
    notes += notes_on_markers(counts, missing, unlabelled)
    return rows, tuple(notes)


def _why_unknown(
    table: LabelTable, place: NDArray[np.int64], labelled: NDArray[np.bool_], graph: NamedGraph
) -> str:
    """Look for the cause in the names, the attributes of the graph and the other columns."""
    rows, columns = pa.array(labelled), table.columns
    if columns is None:
        node, label, others = None, "", {"": as_text(list(table.labels))}
    else:
        node, label = columns.names[columns.node], columns.names[columns.label]
        others = columns.others()
    others = {name: values.filter(rows) for name, values in others.items()}
    reason = cause(as_text(table.nodes).filter(rows), others, node, label, graph)
    if reason or (place[labelled] >= 0).any():
        return reason
    flag = "" if columns is None else ", or name another column with --node-column"
    return f"No name matches: {examples(graph)}. Check the names (compared as text){flag}."


def check_header(table: LabelTable, is_node: Callable[[str], bool]) -> None:
    """Refuse a header that may be the label of a node: a graph of words may have a node `name`.

    It is refused where the user has not said that there is a header, its words are not plain for
    both columns, and the graph has a node of that name: `is_node` is asked once, or on no rank.
    """
    columns, layout = table.columns, table.layout
    if columns is None or layout is None or layout.names is None or table.header:
        return
    node, label = columns.names[columns.node], columns.names[columns.label]
    if (node.lower() in NODE and label.lower() in LABEL) or not is_node(node):
        return
    raise InputError(
        f"{table.where}, line {layout.skipped}: {listed([node, label], 90)} may be a header, or "
        f"the label of the node {quoted(node, 60)}, which the graph has. If it is a label, add a "
        "header line node,label above it, or use --no-labels-header; if it is a header, use "
        "--labels-header (labels_header= in Python)."
    )


def _header_above(table: LabelTable, place: NDArray[np.int64]) -> bool:
    """Whether the first row is a header that was not recognised: no node, and unlike all others.

    A row with a class of other rows, or with a number above numbers, is a label.
    """
    layout = table.layout if table.columns is not None else None
    open_question = layout is not None and layout.names is None and table.header is None
    if not open_question or len(place) < 2 or place[0] >= 0:
        return False
    nodes = table.nodes.to_pylist() if hasattr(table.nodes, "to_pylist") else list(table.nodes)
    return all(_stands_out(cells) for cells in (nodes, table.labels))


def _stands_out(cells: Sequence[Any]) -> bool:
    first, *rest = (str(cell).strip() for cell in cells)
    return first not in rest and not (is_number(first) and all(map(is_number, rest)))


def _header_note(table: LabelTable) -> str:
    """Say that the first row was taken for a header."""
    line = listed([_cell(table.nodes, 0), table.labels[0]], 90)
    return (
        f"the first line of {table.where} was taken for a header, as the graph has no such node: "
        f"{line}; --no-labels-header reads it as a label (labels_header=False in Python)"
    )


def _check_known(
    table: LabelTable,
    place: NDArray[np.int64],
    labelled: NDArray[np.bool_],
    ignore_unknown: bool,
    graph: NamedGraph | None,
) -> list[str]:
    """Refuse labels of nodes that the graph does not have, with the cause; return notes."""
    lost, many = np.flatnonzero((place < 0) & labelled), int(labelled.sum())
    if not lost.size:
        return []
    some = short(", ".join(short(_cell(table.nodes, int(k))) for k in lost[:FEW]))
    if graph is not None and graph.names.dtype.kind not in "iu" and lost.size == 1:
        some += near(_cell(table.nodes, int(lost[0])), graph.names)
    text = f"{lost.size} of {many} labelled nodes are not in the graph"
    # Where most nodes are known, the others may well be of a larger table: nothing is explained.
    reason = ""
    if graph is not None and not (ignore_unknown and 2 * lost.size < many):
        reason = _why_unknown(table, place, labelled, graph)
    if not ignore_unknown or lost.size == many:
        cure = "Check the names (compared as text)"
        if lost.size < many:
            cure += (
                ", or leave such labels out with --ignore-unknown (ignore_unknown=True in Python)"
            )
        raise InputError(f"{table.where}: {text}, first {some}. {reason or f'{cure}.'}")
    reason = f". {reason}" if reason else ""
    return [f"{text} and were left out, first {some}{reason}"]


def _other_nodes_notes(table: LabelTable, names: NDArray[Any]) -> list[str]:
    """Name another column that names nodes too, as its first rows show."""
    columns, layout = table.columns, table.layout
    if columns is None or columns.node_by_user:
        return []
    used_ones = (columns.node, columns.label, columns.reviewed)
    for k in (k for k in range(len(columns.names)) if k not in used_ones):
        cells = (
            columns.read([k])[0][:_SOME].to_pylist() if layout is None else layout.fields(k)[:_SOME]
        )
        different = len(set(map(str, cells))) == len(cells) >= FEW
        if different and (positions(cells, names) >= 0).all():
            used, other = (quoted(columns.names[i], 40) for i in (columns.node, k))
            return [
                f"columns {used} and {other} of {table.where} both name nodes: {used} is used; "
                f"--node-column {other} takes the other one (node_column= in Python)"
            ]
    return []


def _cell(nodes: Any, k: int) -> Any:
    """Return an entry of a list, or of an Arrow array, as Python has it."""
    value = nodes[k]
    return value.as_py() if hasattr(value, "as_py") else value


def reviewed_of(table: Any, names: NDArray[Any], unlabelled: Any) -> dict[Any, Any] | None:
    """Return the labels that a person has confirmed, by the names that nodes have in a graph.

    None where `table` does not say, as a list of labels.
    """
    if not isinstance(table, LabelTable) or table.reviewed is None:
        return None
    missing = find_missing(table.labels, unlabelled).mask
    rows = np.flatnonzero(np.array(table.reviewed, dtype=bool) & ~missing).tolist()
    place = positions([_cell(table.nodes, k) for k in rows], names).tolist()
    known = names.tolist()
    return {known[p]: table.labels[k] for p, k in zip(place, rows, strict=True) if p >= 0}


def marker_of(labels: Any, unlabelled: Any) -> dict[str, str]:
    """Return what tells an estimator that None alone means unlabelled, as in all of `labels_of`.

    Lists and arrays keep the estimator's own rule, unless the user has given another one.
    """
    per_node = isinstance(labels, Sequence | np.ndarray) and not isinstance(labels, str)
    return {} if per_node and unlabelled is None else {"unlabeled": ""}

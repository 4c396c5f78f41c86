"""The rows of a table of labels, and what is refused of them."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.quoting import listed, quoted, short
from robustgc.io import tables
from robustgc.io.decimals import is_number
from robustgc.io.dialect import Dialect
from robustgc.io.errors import InputError
from robustgc.io.label_classes import FEW
from robustgc.io.label_columns import LabelColumns
from robustgc.io.named import near, positions
from robustgc.io.reasons import line_of

_SOME = 1000  # rows from which it is told what a column holds
_DECIMAL = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?", re.ASCII | re.I)
_FRACTION = re.compile(r"[.,]\d*[1-9]|e-", re.I)


class LabelTable:
    """Nodes with their labels, row by row, and where they are from.

    Attributes
    ----------
    nodes, labels : sequence
        A row each.
    where : str or Path
        The source, for messages.
    headless : bool
        No header was found, and the user has not said that there is none: the first row may be one.
    columns : LabelColumns or None
        The columns of a table, and which of them were chosen.
    reviewed : list of bool or None
        Which labels a person has looked at and kept, by a column `reviewed`; None: there is none.
    layout : Layout or None
        How a text file is written.
    notes : tuple of str
        What was decided for the user, besides the choice of columns.
    """

    def __init__(
        self,
        nodes: Any,
        labels: Sequence[Any],
        where: str | Path,
        skipped: int = 0,
        headless: bool = False,
        *,
        columns: LabelColumns | None = None,
        layout: tables.Layout | None = None,
    ) -> None:
        self.nodes, self.labels, self.where, self._skipped = nodes, labels, where, skipped
        self.headless, self.columns, self.layout = headless, columns, layout
        self.reviewed: list[bool] | None = None
        self.notes: tuple[str, ...] = ()
        self.dialect, self.header_by_user = Dialect(), False

    def row(self, k: int) -> str:
        """Name a row, that of a text file by its line."""
        if isinstance(self.where, Path):
            return f"line {line_of(self.where, self._skipped, k, self.dialect)}"
        return f"row {k + 1}"


def header_above(table: LabelTable, place: NDArray[np.int64]) -> bool:
    """Whether the first row is a header that was not recognised: no node, and unlike all others.

    A row with a class of other rows, or with a number above numbers, is a label.
    """
    if not table.headless or len(place) < 2 or place[0] >= 0:
        return False
    nodes = table.nodes.to_pylist() if hasattr(table.nodes, "to_pylist") else list(table.nodes)
    return all(_stands_out(cells) for cells in (nodes, table.labels))


def _stands_out(cells: Sequence[Any]) -> bool:
    first, *rest = (str(cell).strip() for cell in cells)
    return first not in rest and not (is_number(first) and all(map(is_number, rest)))


def note_on_header(table: LabelTable) -> str:
    """Say that the first row was taken for a header."""
    line = listed([cell(table.nodes, 0), table.labels[0]], 90)
    return (
        f"the first line of {table.where} was taken for a header, as the graph has no such node: "
        f"{line}; --no-labels-header reads it as a label (labels_header=False in Python)"
    )


def check_known(
    table: LabelTable,
    place: NDArray[np.int64],
    given: NDArray[np.bool_],
    ignore_unknown: bool,
    explain: Callable[[NDArray[np.bool_]], str] | None,
    names: NDArray[Any] | None = None,
) -> list[str]:
    """Refuse labels of nodes that the graph does not have, with the cause; return notes."""
    lost, many = np.flatnonzero((place < 0) & given), int(given.sum())
    if not lost.size:
        return []
    some = short(", ".join(short(cell(table.nodes, int(k))) for k in lost[:FEW]))
    if names is not None and names.dtype.kind not in "iu" and lost.size == 1:
        some += near(cell(table.nodes, int(lost[0])), names)
    text = f"{lost.size} of {many} labelled nodes are not in the graph"
    # Where most nodes are known, the others may well be of a larger table: nothing is explained.
    reason = explain(given) if explain and not (ignore_unknown and 2 * lost.size < many) else ""
    if not ignore_unknown or lost.size == many:
        cure = "Check the names (compared as text)"
        if lost.size < many:
            cure += (
                ", or leave such labels out with --ignore-unknown (ignore_unknown=True in Python)"
            )
        raise InputError(f"{table.where}: {text}, first {some}. {reason or f'{cure}.'}")
    reason = f". {reason}" if reason else ""
    return [f"{text} and were left out, first {some}{reason}"]


def check_kinds(table: LabelTable, given: NDArray[np.bool_]) -> None:
    """Refuse labels that are no classes, or of several kinds."""
    _check_fractions(table, given)
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


def _check_fractions(table: LabelTable, given: NDArray[np.bool_]) -> None:
    """Refuse texts that are all numbers, some with a fraction, in a column nobody has named."""
    if table.columns is None or table.columns.by_user:
        return
    rows = np.flatnonzero(given).tolist()
    texts = [table.labels[k] for k in rows]
    if not all(isinstance(text, str) for text in texts):  # other kinds are checked elsewhere
        return
    if not all(_DECIMAL.fullmatch(text.strip()) for text in set(texts)):
        return
    k = next((k for k, text in zip(rows, texts, strict=True) if _FRACTION.search(text)), None)
    if k is not None:
        name = quoted(table.columns.names[table.columns.label], 60)
        raise InputError(
            f"{table.where}, {table.row(k)}: the labels are numbers with fractions, as "
            f"{quoted(table.labels[k], 60)}, which are no classes. Name the column of the classes "
            f"with --label-column (label_column= in Python); --label-column {name} keeps this one."
        )


def notes_on_nodes(table: LabelTable, names: NDArray[Any]) -> list[str]:
    """Name another column that names nodes too, told from its first rows."""
    columns, look = table.columns, table.layout
    if columns is None or columns.node_by_user:
        return []
    rest = [
        k
        for k in range(len(columns.names))
        if k not in (columns.node, columns.label, columns.reviewed)
    ]
    for k in rest:
        cells = columns.read([k])[0][:_SOME].to_pylist() if look is None else look.fields(k)[:_SOME]
        different = len(set(map(str, cells))) == len(cells) >= FEW
        if different and (positions(cells, names) >= 0).all():
            used, other = (quoted(columns.names[i], 40) for i in (columns.node, k))
            return [
                f"columns {used} and {other} of {table.where} both name nodes: {used} is used; "
                f"--node-column {other} takes the other one (node_column= in Python)"
            ]
    return []


def cell(nodes: Any, k: int) -> Any:
    """Return an entry of a list, or of an Arrow array, as Python has it."""
    value = nodes[k]
    return value.as_py() if hasattr(value, "as_py") else value

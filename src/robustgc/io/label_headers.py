"""Whether the header of a table of labels is one, told from the nodes of the graph."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from robustgc.graph.quoting import listed, quoted
from robustgc.io.errors import InputError
from robustgc.io.label_columns import LABEL, NODE, LabelColumns
from robustgc.io.tables import Layout


class _Table(Protocol):
    """What is asked of a `LabelTable`."""

    where: str | Path
    columns: LabelColumns | None
    layout: Layout | None
    header_by_user: bool


def check_header(table: _Table, is_node: Callable[[str], bool]) -> None:
    """Refuse a header that may be the label of a node: a graph of words may have a node `name`.

    Parameters
    ----------
    table : LabelTable
    is_node : callable
        Whether the graph has a node of a name; it is asked once, or on no rank.

    Raises
    ------
    InputError
        The user has not said that there is a header, its words are not plain for both columns, and
        the graph has a node of the name that the column of nodes has.
    """
    columns, look = table.columns, table.layout
    if columns is None or look is None or look.names is None or table.header_by_user:
        return
    node, label = columns.names[columns.node], columns.names[columns.label]
    if (node.lower() in NODE and label.lower() in LABEL) or not is_node(node):
        return
    raise InputError(
        f"{table.where}, line {look.skipped}: {listed([node, label], 90)} may be a header, or the "
        f"label of the node {quoted(node, 60)}, which the graph has. If it is a label, add a "
        "header line node,label above it, or use --no-labels-header; if it is a header, use "
        "--labels-header (labels_header= in Python)."
    )

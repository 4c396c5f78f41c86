"""Labels as users have them -> a table of nodes and their classes."""

import os
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from robustgc.graph.quoting import listed, quoted, short
from robustgc.io.arrow_tables import TYPED, arrow_table, is_table, read_typed
from robustgc.io.dialect import Dialect
from robustgc.io.errors import InputError
from robustgc.io.label_columns import LABEL, NODE, LabelColumns, choose_columns, has_names
from robustgc.io.layouts import Layout, find_layout
from robustgc.io.named import NamedGraph
from robustgc.io.opening import kind, notes_of
from robustgc.io.sources import table_source
from robustgc.io.spreadsheets import ENDINGS
from robustgc.io.tables import TEXT, place_of, read_text

_ENDINGS = (*TEXT, *TYPED, *ENDINGS, ".zip")
# In `reviewed`, in the languages into which spreadsheets translate true and false.
YES = (
    "true", "1", "1.0", "yes", "x", "wahr", "ja", "vrai", "oui", "verdadero", "si", "s\u00ed",
)  # fmt: skip
NO = ("false", "0", "0.0", "no", "", "falsch", "nein", "faux", "non", "falso")


@dataclass(eq=False)
class LabelTable:
    """Nodes with their labels, row by row, and where they are from."""

    nodes: Any
    labels: Sequence[Any]
    where: str | Path  # the source, for messages
    layout: Layout | None = None  # how a text file is written
    columns: LabelColumns | None = None  # None: points have them, or a mapping
    reviewed: list[bool] | None = None  # which labels a person has looked at, if that is known
    header: bool | None = None  # whether there is one, as the user says; None: found from rows
    notes: tuple[str, ...] = ()  # what was decided for the user, besides the choice of columns

    def place(self, k: int) -> str:
        """Name a row, that of a text file by its line."""
        return place_of(self.layout, k)


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
        Whether the first row of a text table names its columns; None: found from the rows, and from
        the names of the nodes later.
    """
    path = table_source(path, "labels", sheet)
    if kind(path) in TYPED:
        return _of_arrow(read_typed(path), str(path), node, label)
    if header is None and has_names(node, label):
        header = True
    # Labels are no numbers, so nothing is said of their decimal mark.
    dialect = replace(
        dialect or Dialect(), header=None, decimal=(dialect and dialect.decimal) or "."
    )
    layout = find_layout(path, (*NODE[:4], *LABEL[:2]), header, dialect)
    read = partial(read_text, layout)
    columns = choose_columns(layout.names, layout.width, read, str(path), node, label)
    table = _of_columns(columns, path, layout)
    table.header, table.notes = header, (*notes_of(path), *layout.notes)
    return table


def reviewed_marks(table: LabelTable, cells: list[Any]) -> list[bool]:
    """Read the cells of the column `reviewed`; refuse what is neither yes nor no."""
    texts = ["" if cell is None else str(cell).strip().lower() for cell in cells]
    for k, text in enumerate(texts):
        if text not in YES + NO:
            raise InputError(
                f"{table.where}, {table.place(k)}: {quoted(cells[k], 60)} in the column reviewed "
                f"is neither yes ({', '.join(YES[:5])}) nor no ({', '.join(NO[:4])}, or empty). "
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
    return _of_columns(columns, where)


def _of_columns(
    columns: LabelColumns, where: str | Path, layout: Layout | None = None
) -> LabelTable:
    """Read the columns that were chosen."""
    wanted = [columns.node, columns.label]
    wanted += [] if columns.reviewed is None else [columns.reviewed]
    nodes, labels, *marks = columns.read(wanted)
    table = LabelTable(nodes, _as_list(labels), where, layout, columns)
    if marks:
        table.reviewed = reviewed_marks(table, marks[0].to_pylist())
    return table


def _as_list(column: Any) -> list[Any]:
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


def of_attribute(name: str, graph: NamedGraph, where: str) -> LabelTable:
    """Return the labels that a node attribute has."""
    if name not in graph.attributes:
        known = listed(graph.attributes) or "there are none"
        raise InputError(
            f"{quoted(name)} is neither a file with labels nor a node attribute of {where} "
            f"(attributes: {known}). Check the name."
        )
    return LabelTable(graph.names, graph.attributes[name], f"attribute {quoted(name)} of {where}")


def names_file(labels: str, known: Container[str] = ()) -> bool:
    """Whether text names a file of labels, perhaps one that is not there.

    Columns of points and attributes of graphs (`known`) go first, and folders have no labels.
    """
    there = os.path.exists(labels) and not os.path.isdir(labels)
    return labels not in known and (there or kind(Path(labels)) in _ENDINGS)


def table_of(
    labels: Any,
    graph: NamedGraph,
    files: Mapping[str, Any] | None = None,
    columns: Mapping[str, Any] | None = None,
) -> Any:
    """Return labels as a table; those that have an entry per node as they are.

    `files` says how files are read: `sheet`, `dialect` and `header` of `read_labels`. `columns`
    names columns of a table: `node` and `label`.
    """
    files, columns = files or {}, columns or {}
    if isinstance(labels, LabelTable):
        return labels
    if isinstance(labels, str) and not names_file(labels, graph.attributes):
        return of_attribute(labels, graph, "the graph")
    if isinstance(labels, str | Path):
        return read_labels(Path(labels), **files, **columns)
    if not isinstance(labels, Sequence | np.ndarray):
        return label_table(labels, **columns)
    if len(labels) != len(graph.names):
        raise InputError(
            f"{len(labels)} labels for {len(graph.names)} nodes; give one each, None where there "
            "is none, or a mapping from node to label."
        )
    return labels

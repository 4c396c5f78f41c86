"""Labels in any form that users have them -> one per node."""

import os
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.io import label_files, spreadsheets, tables
from robustgc.io.arrow_tables import TYPED
from robustgc.io.errors import InputError
from robustgc.io.named import NamedGraph
from robustgc.io.opening import kind

_ENDINGS = (*tables.TEXT, *TYPED, *spreadsheets.ENDINGS, ".zip")


def names_file(labels: str, known: Container[str] = ()) -> bool:
    """Whether text names a file of labels, perhaps one that is not there.

    Columns of points and attributes of graphs (`known`) go first, and folders have no labels.
    """
    there = os.path.exists(labels) and not os.path.isdir(labels)
    return labels not in known and (there or kind(Path(labels)) in _ENDINGS)


def labels_of(
    labels: Any, graph: NamedGraph, ignore: bool, *, unlabelled: Any = None
) -> tuple[Any, tuple[str, ...]]:
    """Return a label per node, and notes."""
    table = table_of(labels, graph)
    if not isinstance(table, label_files.LabelTable):
        return label_files.entries(table, unlabelled)
    return label_files.attached(table, graph, ignore_unknown=ignore, unlabelled=unlabelled)


def table_of(
    labels: Any,
    graph: NamedGraph,
    files: Mapping[str, Any] | None = None,
    columns: Mapping[str, Any] | None = None,
) -> Any:
    """Return labels as a table; those that have an entry per node as they are.

    Parameters
    ----------
    labels, graph
    files : mapping or None
        How files are read: `sheet`, `dialect` and `header` of `label_files.read_labels`.
    columns : mapping or None
        Columns of a table: its `node` and `label`.
    """
    files, columns = files or {}, columns or {}
    if isinstance(labels, Path) or (
        isinstance(labels, str) and names_file(labels, graph.attributes)
    ):
        table = label_files.read_labels(Path(labels), **files, **columns)
    elif isinstance(labels, str):
        table = label_files.of_attribute(labels, graph, "the graph")
    elif isinstance(labels, label_files.LabelTable):
        table = labels
    elif isinstance(labels, Sequence | np.ndarray):
        if len(labels) != len(graph.names):
            raise InputError(
                f"{len(labels)} labels for {len(graph.names)} nodes; give one each, None where "
                "there is none, or a mapping from node to label."
            )
        return labels
    else:
        table = label_files.label_table(labels, **columns)
    return table


def reviewed_of(table: Any, names: NDArray[Any], unlabelled: Any) -> dict[Any, Any] | None:
    """Return the labels that a person has confirmed, by name; None where that is not known."""
    known = isinstance(table, label_files.LabelTable)
    return label_files.reviewed_labels(table, names, unlabelled) if known else None


def marker_of(labels: Any, unlabelled: Any) -> dict[str, str]:
    """Return what tells an estimator that None alone means unlabelled, as in all of `labels_of`.

    Lists and arrays keep the estimator's own rule, unless the user has given another one.
    """
    per_node = isinstance(labels, Sequence | np.ndarray) and not isinstance(labels, str)
    return {} if per_node and unlabelled is None else {"unlabeled": ""}

"""One call from a graph, or points, and some labels to all answers."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.answer_columns import (
    answer_columns,
    class_names,
    probabilities,
    size_of,
    value_columns,
)
from robustgc.audit import LabelIssues
from robustgc.estimators import RobustGC
from robustgc.io import frames, label_files, writing
from robustgc.io.dialect import Dialect
from robustgc.io.graph_files import read_graph
from robustgc.io.limits import allowing
from robustgc.io.named import NamedGraph
from robustgc.io.objects import as_names, named_graph
from robustgc.io.opening import InputError, replacing
from robustgc.io.point_files import NamedPoints, named_points, read_points
from robustgc.saving.model import load as load_model
from robustgc.saving.model import save


@dataclass(frozen=True, eq=False)
class Result:
    """Answers for all nodes, under the names that the user has for them.

    Attributes
    ----------
    estimator : RobustGC
        Fitted, with all attributes of an estimator.
    names : ndarray, shape (N,)
        Of the nodes or points.
    notes : tuple of str
        What was noticed while reading: edges added up, self-loops, labels left out.
    """

    estimator: RobustGC
    names: NDArray[Any]
    notes: tuple[str, ...] = ()
    home: str = ""  # the frame library of the user

    @property
    def labels(self) -> dict[Any, Any]:
        """The class of every node that has an answer, by name."""
        codes = self._codes
        classes = self.estimator.classes_.tolist()
        found = zip(self.names.tolist(), codes.tolist(), strict=True)
        return {name: classes[code] for name, code in found if code >= 0}

    @cached_property
    def issues(self) -> LabelIssues:
        """Every given label with the suspicion that it is wrong, the worst first, by name."""
        return self._issues.renumbered(self.names)

    @cached_property
    def _issues(self) -> LabelIssues:
        return self.estimator.label_issues()

    def columns(self, *, suspicion: bool = True) -> dict[str, Any]:
        """Return the answers as columns, a row per node in the order of the graph."""
        clf, doubts = self.estimator, None
        if suspicion:
            doubts = np.full(len(self.names), np.nan)
            doubts[self._issues.node] = self._issues.suspicion
        f = clf._answer.f
        return answer_columns(self.names, clf._labels, clf._answer, size_of(f), doubts)

    def predicted(self, points: NamedPoints) -> dict[str, Any]:
        """Return the answers for new points as columns; `valid`: whether the model reaches them."""
        clf = self.estimator
        if clf.affinity == "precomputed":
            raise InputError(
                "The model was fitted on a graph, so it has no answer for new points. Fit with "
                "points, or add the new nodes to the graph and classify again."
            )
        f, codes = clf._decisions(points.X)
        return {
            "node": points.names,
            "label": class_names(codes, clf.classes_),
            "probability": probabilities(f, size_of(clf._answer.f)).max(axis=1),
            **value_columns(f, clf.classes_),
            "valid": codes >= 0,
        }

    def to_frame(self) -> Any:
        """Return `columns` in the frame library of the graph or labels; pandas if there is none."""
        return frames.frame(self.columns(), self.home)

    @property
    def run(self) -> str:
        """What names this run in all that it writes: twelve digits of a hash of its answers.

        The same input gives the same name, and the same bytes.
        """
        clf = self.estimator
        found = hashlib.sha256(
            "\0".join(map(str, self.names.tolist())).encode(errors="backslashreplace")
        )
        found.update(repr((clf.classes_.tolist(), clf.eta_, clf.n_modes_)).encode())
        for part in (clf._labels.codes, clf._answer.codes, clf._answer.f):
            found.update(np.ascontiguousarray(part).tobytes())
        return found.hexdigest()[:12]

    def write(self, path: str | Path, *, suspicion: bool = True, excel: bool = False) -> None:
        """Write `columns` to a .csv, .tsv or .parquet file, whole or not at all.

        Parameters
        ----------
        path : path
        suspicion : bool
            Whether there is a column with the suspicion of the given labels.
        excel : bool
            For spreadsheets, .csv and .tsv only: an apostrophe before text that would be a formula
            (it begins with = + - @, a tab or a carriage return), and the mark by which Excel knows
            UTF-8. Numbers stay numbers.
        """
        columns = self.columns(suspicion=suspicion)
        writing.write_table(Path(path), columns, excel=excel, run=self.run)

    def report(
        self, path: str | Path, *, title: str = "Labels and doubts", command: str | None = None
    ) -> None:
        """Write one HTML page with all that was found; it needs no network.

        Parameters
        ----------
        path : path
        title : str
        command : str or None
            How the page was made, for those who want to make it again.
        """
        from robustgc.report.audit_page import render
        from robustgc.reporting import findings

        found = findings(self.estimator, self.names, self._issues, title, command)
        page = render(replace(found, run=self.run))
        with replacing(Path(path)) as file:
            file.write(page.encode("utf-8"))

    def save(self, path: str | Path) -> None:
        """Write the fitted model with the names, to a folder or .zip that `load` reads."""
        save(self.estimator, path, names=self.names.tolist(), run=self.run)

    @property
    def _codes(self) -> NDArray[np.int64]:
        return self.estimator._answer.codes


def classify(
    graph: Any = None,
    labels: Any = None,
    *,
    points: Any = None,
    weight: str | None = None,
    symmetrise: str | None = None,
    ignore_unknown: bool = False,
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    max_size: str | float | None = None,
    **options: Any,
) -> Result:
    """Give a class to every node from the labels of a few, some of them wrong.

    Parameters
    ----------
    graph : object or path
        A NetworkX or igraph graph, a scipy matrix or array of weights, a pandas, polars or pyarrow
        table of edges, a PyTorch Geometric ``Data``, an ``edge_index`` of shape (2, edges), a
        `CSR`, or the path of a graph file.
    labels : mapping, Series, table, list, str or path
        From node to label, or an entry per node (None: no label), or the name of a node attribute
        of the graph, or the path of a table with columns node and label.
    points : array, table or path, default=None
        Points instead of a graph, a row each.
    weight : str or None
        Name of the edge attribute, or column, with the weights; None: ``weight``.
    symmetrise : {None, "mean", "max", "sum"}
        What to do where the two directions of an edge differ; None: refuse.
    ignore_unknown : bool
        Leave out labels of nodes that are not in the graph.
    header : bool or None
        Whether the first row of a text table of edges, or points, names the columns.
    delimiter, decimal, encoding : str or None
        How text tables are written: what stands between fields, and before decimals (``"."`` or
        ``","``); the encoding as Python names it. What is None is told from every file.
    max_size : str, float or None
        Bytes (8e9 or "8GB") that files may unpack to and a graph may need while it is read; None:
        as the memory allows, and at most 100 times the size of a packed file.
    **options
        Parameters of `RobustGC`.

    Examples
    --------
    >>> import networkx as nx
    >>> from robustgc import classify
    >>> classify(nx.path_graph(["a", "b", "c", "d"]), {"a": "red", "d": "blue"}).labels
    {'a': 'red', 'b': 'red', 'c': 'blue', 'd': 'blue'}
    """
    if (graph is None) == (points is None):
        raise InputError("Pass either a graph or points=, one of the two.")
    if labels is None:
        raise InputError("Pass labels: a mapping from node to label, or the path of a table.")
    if not isinstance(labels, Sequence | np.ndarray) or isinstance(labels, str):
        options = {"unlabeled": "", **options}  # None has none; -1 is a class as any
    dialect = Dialect(delimiter, decimal, encoding, header)
    if points is not None:
        with allowing(max_size):
            found = points if isinstance(points, NamedPoints) else points_of(points, dialect)
            named = NamedGraph(np.zeros((0, 0)), found.names)
            y, notes = labels_of(labels, named, ignore_unknown, dialect)
        fitted = RobustGC(**options).fit(found.X, y)
        return Result(fitted, found.names, (*found.notes, *notes), _home(points, labels))
    with allowing(max_size):
        known = (
            read_graph(Path(graph), weight=weight, symmetrise=symmetrise, dialect=dialect)
            if isinstance(graph, str | Path)
            else named_graph(graph, weight=weight, symmetrise=symmetrise)
        )
        y, notes = labels_of(labels, known, ignore_unknown, dialect)
    fitted = RobustGC(**{"affinity": "precomputed", **options}).fit(known.W, y)
    return Result(fitted, known.names, (*known.notes, *notes), _home(graph, labels))


def load(path: str | Path) -> Result:
    """Read what `Result.save` wrote. No code is run from it: arrays and a manifest are all it has.

    Parameters
    ----------
    path : path
        Of the folder or .zip.
    """
    found = load_model(path)
    nodes = found.estimator._X.shape[0]
    names = np.arange(nodes) if found.names is None else as_names(found.names)
    return Result(found.estimator, names)


def points_of(points: Any, dialect: Dialect | None = None) -> NamedPoints:
    """Read points from a file or an object."""
    if isinstance(points, str | Path):
        return read_points(Path(points), dialect=dialect)
    return named_points(points)


def labels_of(
    labels: Any, graph: NamedGraph, ignore: bool, dialect: Dialect | None = None
) -> tuple[Any, tuple[str, ...]]:
    """Return a label per node, and notes."""
    if isinstance(labels, str) and labels in graph.attributes:
        table = label_files.of_attribute(labels, graph, "the graph")
    elif isinstance(labels, str | Path) and Path(labels).exists():
        table = label_files.read_labels(Path(labels), dialect=dialect)
    elif isinstance(labels, str):
        table = label_files.of_attribute(labels, graph, "the graph")
    elif isinstance(labels, Path):
        table = label_files.read_labels(labels, dialect=dialect)
    elif isinstance(labels, label_files.LabelTable):
        table = labels
    elif isinstance(labels, Sequence | np.ndarray):
        if len(labels) != len(graph.names):
            raise InputError(
                f"{len(labels)} labels for {len(graph.names)} nodes; give one each, None where "
                "there is none, or a mapping from node to label."
            )
        return labels, ()
    else:
        table = label_files.label_table(labels)
    return label_files.attached(table, graph, ignore_unknown=ignore)


def _home(*objects: Any) -> str:
    homes = [type(value).__module__.split(".")[0] for value in objects]
    return next((home for home in homes if home in ("pandas", "polars", "pyarrow")), "")

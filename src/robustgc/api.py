"""One call from a graph, or points, and some labels to all answers."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.audit.issues import LabelIssues
from robustgc.estimators.point_fits import fit_points, in_order, points_of, scaling_notes
from robustgc.estimators.robust import RobustGC
from robustgc.estimators.saving.model import load as load_model
from robustgc.estimators.saving.model import save
from robustgc.io import frames, writing
from robustgc.io.dialect import Dialect
from robustgc.io.graph_files import read_graph
from robustgc.io.label_files import table_of
from robustgc.io.label_nodes import labels_of, marker_of, reviewed_of
from robustgc.io.limits import allowing
from robustgc.io.named import NamedGraph, as_names, by_number
from robustgc.io.objects import named_graph
from robustgc.io.opening import InputError, replacing
from robustgc.io.point_columns import NamedPoints
from robustgc.transduction.columns import answer_columns, class_names, value_columns
from robustgc.transduction.labels import pairs_of
from robustgc.transduction.missing import find_missing


@dataclass(frozen=True, eq=False)
class Result:
    """Answers for all nodes, under the names that the user has for them.

    All that it shows or writes is of one answer, the present one of its estimator: `update` gives
    another result and leaves this one, and after ``estimator.update`` everything is made anew.

    Attributes
    ----------
    estimator : RobustGC
        Fitted, with all attributes of an estimator.
    names : ndarray, shape (N,)
        Of the nodes or points.
    notes : tuple of str
        What was noticed while reading: edges added up, self-loops, labels left out.
    reviewed : dict or None
        The labels that a person has confirmed, by name; `issues` has them last. A label that is
        changed later is no longer among them. None: not known of any.
    """

    estimator: RobustGC
    names: NDArray[Any]
    notes: tuple[str, ...] = ()
    home: str = ""  # the frame library of the user
    reviewed: Mapping[Any, Any] | None = field(default=None, repr=False)
    unlabelled: Any = field(default=None, repr=False)  # as in `classify`
    _derived: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def labels(self) -> dict[Any, Any]:
        """The class of every node that has an answer, by name."""
        classes, codes = self.estimator.classes_.tolist(), self.estimator._answer.codes
        pairs = zip(self.names.tolist(), codes.tolist(), strict=True)
        return {name: classes[code] for name, code in pairs if code >= 0}

    @property
    def issues(self) -> LabelIssues:
        """Every given label with the suspicion that it is wrong, the worst first, by name.

        Labels that a person has reviewed come after all others.
        """
        return self._present("by name", lambda: self._issues.renumbered(self.names))

    @property
    def _issues(self) -> LabelIssues:
        return self._present("by number", self._judge)

    def _judge(self) -> LabelIssues:
        issues = self.estimator.label_issues()
        if self.reviewed is None:
            return issues
        return issues.with_reviewed(self._confirmed(issues.node, issues.given))

    def _confirmed(self, nodes: NDArray[Any], given: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether a person has confirmed the labels that some nodes have now."""
        known = self.reviewed or {}
        pairs = zip(self.names[nodes].tolist(), given.tolist(), strict=True)
        return np.array([name in known and known[name] == label for name, label in pairs], bool)

    def _present(self, key: str, make: Callable[[], LabelIssues]) -> LabelIssues:
        """Return what was made of the present answer of the estimator, or make it."""
        answer, derived = self.estimator._answer, self._derived
        if derived.get("answer") is not answer:
            derived.clear()
            derived["answer"] = answer
        if key not in derived:
            derived[key] = make()
        issues: LabelIssues = derived[key]
        return issues

    def update(self, labels: Mapping[Any, Any]) -> "Result":
        """Return the result with some labels changed, without fitting the graph part anew.

        This result, and its estimator, stay as they are; see `RobustGC.update`.

        Parameters
        ----------
        labels : mapping or Series
            From the name of a node, compared as text, to its new label; None takes it away, and
            so does what means "no label" in a table.

        Examples
        --------
        >>> import networkx as nx
        >>> from robustgc import classify
        >>> graph = nx.path_graph(["a", "b", "c", "d"])
        >>> before = classify(graph, {"a": "red", "c": "red", "d": "blue"})
        >>> after = before.update({"c": None, "a": "blue", "d": "red"})
        >>> after.labels
        {'a': 'blue', 'b': 'blue', 'c': 'red', 'd': 'red'}
        >>> before.labels["a"], len(before.issues), len(after.issues)
        ('red', 3, 2)
        """
        changes = by_number(pairs_of(labels), self.names)
        classes = self.estimator.classes_.tolist()
        for node, label in changes.items():  # what means none in a table does so here
            if not isinstance(label, str) or label in classes:
                continue
            if find_missing([*classes, label], self.unlabelled).mask[-1]:
                changes[node] = None
        return replace(self, estimator=copy(self.estimator).update(changes))

    def columns(self, *, suspicion: bool = True) -> dict[str, Any]:
        """Return the answers as columns, a row per node in the order of the graph."""
        clf, doubts = self.estimator, None
        if suspicion:
            doubts = np.full(len(self.names), np.nan)
            doubts[self._issues.node] = self._issues.suspicion
        f = clf._answer.f
        return answer_columns(self.names, clf._labels, clf._answer, clf._probabilities(f), doubts)

    def predicted(self, points: NamedPoints) -> dict[str, Any]:
        """Return the answers for new points as columns; `valid`: whether the model reaches them.

        Columns are matched to those of the fit by name; where either has none, by their order.
        """
        clf = self.estimator
        if clf.affinity == "precomputed":
            raise InputError(
                "The model was fitted on a graph, so it has no answer for new points. Fit with "
                "points, or add the new nodes to the graph and classify again."
            )
        f, codes = clf._decided(clf._measured(in_order(points, self.features, clf.n_features_in_)))
        return {
            "node": points.names,
            "label": class_names(codes, clf.classes_),
            "probability": clf._probabilities(f).max(axis=1),
            **value_columns(f, clf.classes_),
            "valid": codes >= 0,
        }

    @property
    def features(self) -> tuple[str, ...] | None:
        """The names of the columns that the model was fitted on; None: they had none."""
        names = getattr(self.estimator, "feature_names_in_", None)
        return None if names is None else tuple(names.tolist())

    def to_frame(self) -> Any:
        """Return `columns` in the frame library of the graph or labels; pandas if there is none."""
        return frames.frame(self.columns(), self.home)

    @property
    def run(self) -> str:
        """What names this run in all that it writes: twelve digits of a hash of its answers.

        The same input gives the same name, and the same bytes.
        """
        clf = self.estimator
        names = "\0".join(map(str, self.names.tolist()))
        digest = hashlib.sha256(names.encode(errors="backslashreplace"))
        digest.update(repr((clf.classes_.tolist(), clf.eta_, clf.n_modes_)).encode())
        for part in (clf._labels.codes, clf._answer.codes, clf._answer.f):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()[:12]

    def write(self, path: str | Path, *, suspicion: bool = True, excel: bool = False) -> None:
        """Write `columns` to a .csv, .tsv, .parquet or .xlsx file, whole or not at all.

        Parameters
        ----------
        path : path
        suspicion : bool
            Whether there is a column with the suspicion of the given labels.
        excel : bool
            For spreadsheets that open a .csv or .tsv file: an apostrophe before text that would be
            a formula (it begins with = + - @, a tab or a carriage return), and the mark by which
            Excel knows UTF-8. Numbers stay numbers. An .xlsx file needs neither; not for Parquet.
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
        from robustgc.report.gather import findings
        from robustgc.report.page import render

        facts = findings(self.estimator, self.names, self._issues, title, command)
        page = render(replace(facts, run=self.run, notes=self.notes))
        with replacing(Path(path)) as file:
            file.write(page.encode("utf-8"))

    def save(self, path: str | Path) -> None:
        """Write the fitted model with the names, to a folder or .zip that `load` reads."""
        marks = None
        if self.reviewed is not None:
            given = self.estimator._labels
            nodes, marks = np.flatnonzero(given.codes >= 0), np.zeros(len(self.names), dtype=bool)
            marks[nodes] = self._confirmed(nodes, given.classes[given.codes[nodes]])
        save(self.estimator, path, names=self.names.tolist(), run=self.run, reviewed=marks)


def classify(
    graph: Any = None,
    labels: Any = None,
    *,
    points: Any = None,
    id: str | None = None,
    scaling: str | None = None,
    weight: str | None = None,
    symmetrise: str | None = None,
    ignore_unknown: bool = False,
    unlabelled: str | Sequence[Any] | None = None,
    node_column: str | None = None,
    label_column: str | None = None,
    sheet: str | None = None,
    label_sheet: str | None = None,
    labels_header: bool | None = None,
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
        A NetworkX or igraph graph, a scipy matrix or array of weights, a table of edges (of pandas,
        polars, pyarrow, DuckDB: whatever speaks the Arrow C stream), a PyTorch Geometric ``Data``,
        an ``edge_index`` of shape (2, edges), a `CSR`, or the path of a graph file.
    labels : mapping, Series, table, list, str or path
        From node to label, or an entry per node (None: no label), or the name of a node attribute
        of the graph, or of a column of the points, or the path of a table with columns node and
        label.
    points : array, table or path, default=None
        Points instead of a graph, a row each. Columns of text are left out.
    id : str or None
        The column of the points with their names. None: one with a usual name (id, node, name), or
        the index of a frame, or else row numbers from 0.
    scaling : {None, "standard", "none"}
        "standard": every column of the points is standardised to mean 0 and deviation 1, here and
        in all that the fitted model answers later. None: so for the Euclidean metric with "knn" and
        "rbf", and not for cosines and kernels of your own.
    weight : str or None
        Name of the edge attribute, or column, with the weights; None: ``weight``, or another usual
        name, which `Result.notes` says.
    symmetrise : {None, "mean", "max", "sum"}
        What to do where the two directions of an edge differ; None: refuse.
    ignore_unknown : bool
        Leave out labels of nodes that are not in the graph.
    unlabelled : str, sequence of str or None
        What means "no label" besides None, NaN and the empty text; None: texts such as "NA" and "?"
        (`robustgc.transduction.missing`), and -1 among whole numbers. "": nothing else.
    node_column, label_column : str or None
        Columns of a table of labels; None: those with a usual name, or the only two there are.
    sheet, label_sheet : str or None
        Which sheet of the graph or points, and of the labels, where they are .xlsx files; None: the
        first that is not empty.
    labels_header : bool or None
        Whether the first row of a text table of labels names the columns; None: detected.
    header : bool or None
        Whether the first row of a text table of edges, or points, names the columns.
    delimiter, decimal, encoding : str or None
        How text tables are written: what stands between fields, and before decimals (``"."`` or
        ``","``); the encoding as Python names it. What is None is detected.
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
    if unlabelled is None and options.get("unlabeled") is not None:
        unlabelled = [options["unlabeled"]]
    options = {**marker_of(labels, unlabelled), **options}
    dialect = Dialect(delimiter, decimal, encoding, header)
    files = {"sheet": label_sheet, "dialect": dialect, "header": labels_header}
    columns = {"node": node_column, "label": label_column}
    if points is None and (id is not None or scaling is not None):
        raise InputError("id= and scaling= are for points=; a graph has neither.")
    edges: dict[str, Any] = {"weight": weight, "symmetrise": symmetrise}
    with allowing(max_size):
        known_points = table = None
        if points is not None:
            known_points = points_of(points, labels, id, sheet=sheet, dialect=dialect)
            known = NamedGraph(np.zeros((0, 0)), known_points.names, notes=known_points.notes)
            table = known_points.labels
        elif isinstance(graph, str | Path):
            known = read_graph(Path(graph), **edges, sheet=sheet, dialect=dialect)
        else:
            known = named_graph(graph, **edges)
        table = table_of(labels, known, files, columns) if table is None else table
        y, notes = labels_of(table, known, ignore_unknown, unlabelled=unlabelled)
    if known_points is not None:
        fitted, scaled = fit_points(known_points, y, scaling, options)
        notes = (*scaled, *notes)
    else:
        fitted = RobustGC(**{"affinity": "precomputed", **options}).fit(known.W, y)
    home, reviewed = _home(graph, points, labels), reviewed_of(table, known.names, unlabelled)
    return Result(fitted, known.names, (*known.notes, *notes), home, reviewed, unlabelled)


def load(path: str | Path) -> Result:
    """Read what `Result.save` wrote. No code is run from it: arrays and a manifest are all it has.

    Parameters
    ----------
    path : path
        Of the folder or .zip.
    """
    saved = load_model(path)
    fitted = saved.estimator
    names = np.arange(fitted._X.shape[0]) if saved.names is None else as_names(saved.names)
    reviewed = None
    if saved.reviewed is not None:
        nodes, codes = np.flatnonzero(saved.reviewed), fitted._labels.codes
        labels = fitted.classes_[codes[nodes]].tolist()
        reviewed = dict(zip(names[nodes].tolist(), labels, strict=True))
    return Result(fitted, names, scaling_notes(fitted), reviewed=reviewed)


def _home(*objects: Any) -> str:
    homes = [type(value).__module__.split(".")[0] for value in objects]
    return next((home for home in homes if home in ("pandas", "polars", "pyarrow")), "")

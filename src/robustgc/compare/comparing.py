"""The paper's comparison on one's own graph: models, label sizes, wrong labels, ranks."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from robustgc.affinity import kinds as affinities
from robustgc.affinity.features import check_metric, unit_rows
from robustgc.compare.own import (
    MODELS,
    SPREADING,
    Cell,
    Problem,
    Trial,
    cells,
    counts,
    drawn,
    trial,
)
from robustgc.compare.page import FILES, Sheet, render, summary
from robustgc.estimators.point_fits import points_of, standardisation
from robustgc.graph.atomic import together
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import check_weights
from robustgc.io.graph_files import read_graph
from robustgc.io.label_nodes import labels_of, marker_of
from robustgc.io.named import NamedGraph
from robustgc.io.objects import named_graph
from robustgc.io.opening import InputError, replacing
from robustgc.io.point_columns import NamedPoints
from robustgc.io.writing import write_table
from robustgc.report.gather import installed
from robustgc.transduction.labels import encode

SIZES, NOISE = (1, 2, 5, 10, 20), (0, 20, 40)  # percent
REPEATS, SEED = 10, 7


@dataclass(frozen=True)
class Comparison:
    """What `compare` found.

    Attributes
    ----------
    trials : tuple of Trial
    cells : tuple of Cell
    n_nodes, n_counted : int
        All nodes, and those with a true label.
    classes : tuple of str
    repeats, seed : int
    notes : tuple of str
        What was noticed while reading, and label sizes that were left out.
    """

    trials: tuple[Trial, ...]
    cells: tuple[Cell, ...]
    n_nodes: int
    n_counted: int
    classes: tuple[str, ...]
    repeats: int
    seed: int
    notes: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[tuple[str, str, int], ...]:
        """Model, reason and number of the trials that failed."""
        found = Counter((t.model, t.reason) for t in self.trials if t.reason)
        return tuple((model, reason, many) for (model, reason), many in found.items())

    def sentence(self) -> str:
        """Say who is best."""
        return summary(self.cells)

    def summary(self) -> dict[str, Any]:
        """Return what was found, for machines."""
        rest = {"trials", "cells", "failures"}
        found = {name: value for name, value in vars(self).items() if name not in rest}
        return {
            **found,
            "summary": self.sentence(),
            "failures": [
                dict(zip(("model", "reason", "trials"), f, strict=True)) for f in self.failures
            ],
            "cells": [asdict(cell) for cell in self.cells],
        }

    def sheet(self, title: str, command: str | None = None) -> Sheet:
        """Return what the page says."""
        return Sheet(
            title, self.n_nodes, self.n_counted, self.classes, self.repeats, self.seed,
            self.cells, self.failures, self.notes, command, installed(), date.today().isoformat(),
        )  # fmt: skip

    def write(
        self,
        folder: str | Path,
        *,
        title: str = "Models compared",
        command: str | None = None,
        excel: bool = False,
    ) -> None:
        """Write trials.csv, summary.csv and index.html, all or none; other files there stay."""
        trials, means, page = paths = [Path(folder) / name for name in FILES]
        Path(folder).mkdir(exist_ok=True)
        with together(paths):
            write_table(trials, _columns(self.trials), excel=excel)
            write_table(means, _columns(self.cells), excel=excel)
            with replacing(page) as file:
                file.write(render(self.sheet(title, command)).encode("utf-8"))


def _columns(rows: Sequence[Any]) -> dict[str, list[Any]]:
    found = [asdict(row) for row in rows]
    return {name: [row[name] for row in found] for name in found[0]}


def compare(
    graph: Any = None,
    truth: Any = None,
    *,
    points: Any = None,
    affinity: str = "knn",
    n_neighbors: int | None = None,
    metric: str = "euclidean",
    scaling: str | None = None,
    ignore_unknown: bool = False,
    unlabelled: str | Sequence[Any] | None = None,
    models: Sequence[str] | None = None,
    sizes: Sequence[float] = SIZES,
    noise: Sequence[float] = NOISE,
    repeats: int = REPEATS,
    seed: int = SEED,
    watch: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Hide most of the labels, make some of the rest wrong, and see which model copes.

    Parameters
    ----------
    graph : object or path
        As for `robustgc.classify`.
    truth : mapping, Series, table, list, str or path
        The true labels, as the labels of `robustgc.classify`. Nodes without one are not counted.
    points : array, table or path, default=None
        Points instead of a graph, a row each.
    affinity, n_neighbors, metric
        The graph of the points.
    scaling : {None, "standard", "none"}
        Whether the columns of the points are standardised, as in `robustgc.classify`.
    ignore_unknown : bool
        Leave out labels of nodes that are not in the graph.
    unlabelled : str, sequence of str or None
        What means "no label", as in `robustgc.classify`.
    models : sequence of str, default=None
        Of `MODELS`; None: all (LabelSpreading only where there are points).
    sizes : sequence of float
        How many nodes have a label, in percent of all; at least two of every class do.
    noise : sequence of float
        How many of the labels are wrong, in percent: another class, drawn evenly.
    repeats, seed : int
        All models see the same labels; the same seed draws the same again.
    watch : callable, default=None
        Told how many trials are done, and how many there are.

    Examples
    --------
    >>> import numpy as np
    >>> from robustgc.compare.comparing import compare
    >>> W = np.kron(np.eye(2), np.ones((8, 8))) + 0.1
    >>> found = compare(W, ["a"] * 8 + ["b"] * 8, models=["ZhouGC"], noise=[0], repeats=2)
    >>> [(cell.labels, cell.accuracy_mean) for cell in found.cells]
    [(4, 1.0)]
    """
    chosen = check_options(models, sizes, noise, repeats, seed, with_points=points is not None)
    known, notes, y = _read(graph, points, truth, ignore_unknown, unlabelled)
    labels = encode(y, n_nodes=len(y), **marker_of(truth, unlabelled))
    if isinstance(known, NamedPoints):
        known, more = _measured(known, affinity, metric, scaling)
        notes = (*notes, *more)
    problem = _problem(known, labels.codes, affinity, n_neighbors)
    counted, left_out = counts(labels.codes, sizes)
    noise = list(dict.fromkeys(noise))
    trials: list[Trial] = []
    whole = len(counted) * len(noise) * repeats
    for k in range(whole):
        place, repeat = divmod(k, repeats)
        n_labels, wrong = counted[place // len(noise)], noise[place % len(noise)]
        y = drawn(labels.codes, n_labels, wrong, repeat, seed)
        trials += [trial(problem, model, y, (n_labels, wrong, repeat)) for model in chosen]
        if watch is not None:
            watch(k + 1, whole)
    return Comparison(
        tuple(trials), tuple(cells(trials, len(y))), len(y), int((labels.codes >= 0).sum()),
        tuple(map(str, labels.classes.tolist())), repeats, seed, (*notes, *left_out),
    )  # fmt: skip


def check_options(
    models: Sequence[str] | None,
    sizes: Sequence[float],
    noise: Sequence[float],
    repeats: int,
    seed: int,
    *,
    with_points: bool,
) -> tuple[str, ...]:
    """Return the models to compare, or say which option is wrong."""
    usual = tuple(name for name in MODELS if with_points or name != SPREADING)
    chosen = usual if models is None else tuple(dict.fromkeys(models))
    for name in chosen:
        if name not in MODELS:
            raise ValueError(f"Model {quoted(name)} is unknown; choose from {', '.join(usual)}.")
        if name not in usual:
            raise ValueError(f"{name} needs points, and there is a graph; leave it out.")
    for size in sizes:
        if not 0 < size < 100:
            raise ValueError(f"A label size of {size:g} % is not allowed; 0 < size < 100.")
    for wrong in noise:
        if not 0 <= wrong < 100:
            raise ValueError(f"A noise of {wrong:g} % is not allowed; 0 <= noise < 100.")
    for what, values in (("model", chosen), ("label size", sizes), ("noise", noise)):
        if not len(values):
            raise ValueError(f"There is no {what}; name at least one.")
    if repeats < 1 or seed < 0:
        raise ValueError(f"{repeats} repeats, seed {seed}: at least 1 repeat, a seed from 0 on.")
    return chosen


def _read(
    graph: Any, points: Any, truth: Any, ignore: bool, unlabelled: Any
) -> tuple[Any, tuple[str, ...], Any]:
    """Return the graph or points, notes, and the true label of every node."""
    if (graph is None) == (points is None):
        raise InputError("Pass either a graph or points=, one of the two.")
    if truth is None:
        raise InputError("Pass truth: a mapping from node to label, or the path of a table.")
    if points is not None:
        found = points_of(points, truth)
        nodes = NamedGraph(np.zeros((0, 0)), found.names)
        given = truth if found.labels is None else found.labels
        y, notes = labels_of(given, nodes, ignore, unlabelled=unlabelled)
        return found, (*found.notes, *notes), y
    path = isinstance(graph, str | Path)
    known = read_graph(Path(graph)) if path else named_graph(graph)
    y, notes = labels_of(truth, known, ignore, unlabelled=unlabelled)
    return known, (*known.notes, *notes), y


def _measured(
    points: NamedPoints, affinity: str, metric: str, scaling: str | None
) -> tuple[NamedPoints, tuple[str, ...]]:
    """Return points as distances see them, once for all models; and what to say of it."""
    check_metric(metric, affinity)
    standard, notes = standardisation(points, scaling, affinity, metric)
    X = points.X if standard is None else standard.applied(points.X)
    return replace(points, X=unit_rows(X) if metric == "cosine" else X), notes


def _problem(known: Any, codes: Any, affinity: str, n_neighbors: int | None) -> Problem:
    if isinstance(known, NamedGraph):
        check_weights(known.W)  # once, in place of a failure in every trial
        return Problem(known.W, {"affinity": "precomputed"}, codes)
    made: Any = affinities.make(
        known.X, affinity, sigma=None, scale=2.0, self_loops=True, n_neighbors=n_neighbors
    )
    if affinity == "knn":  # found once, for all models and trials
        # There a point is one of its own neighbours.
        theirs = {"kernel": "knn", "n_neighbors": min(made.n_neighbors + 1, len(codes))}
        return Problem(made.weights(), {"affinity": "precomputed"}, codes, known.X, theirs)
    theirs = {"kernel": "rbf", "gamma": 1 / (made.scale * made.sigma**2)}
    return Problem(known.X, {"affinity": affinity}, codes, known.X, theirs)

"""The paper's comparison on one's own graph: models, label sizes, wrong labels, ranks."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from robustgc.affinity import kinds as affinities
from robustgc.affinity.features import check_metric, unit_rows
from robustgc.compare.page import Comparison
from robustgc.compare.trials import (
    MODELS,
    SPREADING,
    Problem,
    Trial,
    draw_labels,
    label_counts,
    run_trial,
    summarise,
)
from robustgc.estimators.point_fits import points_of, standardisation
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import check_weights
from robustgc.io.graph_files import read_graph
from robustgc.io.label_nodes import labels_of, marker_of
from robustgc.io.named import NamedGraph
from robustgc.io.objects import named_graph
from robustgc.io.opening import InputError
from robustgc.io.point_columns import NamedPoints
from robustgc.transduction.labels import encode

SIZES, NOISE = (1, 2, 5, 10, 20), (0, 20, 40)  # percent
REPEATS, SEED = 10, 7


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

    The graph or points, their true labels and how they are read are as for `robustgc.classify`;
    nodes without a true label are not counted. All models see the same labels.

    Parameters
    ----------
    models : sequence of str, default=None
        Of `MODELS`; None: all (LabelSpreading only where there are points).
    sizes : sequence of float
        How many nodes have a label, in percent of all; at least two of every class do.
    noise : sequence of float
        How many of the labels are wrong, in percent: another class, drawn evenly.
    watch : callable, default=None
        Called with how many draws of labels are done, and how many there are.

    Examples
    --------
    >>> import numpy as np
    >>> from robustgc.compare.comparing import compare
    >>> W = np.kron(np.eye(2), np.ones((8, 8))) + 0.1
    >>> outcome = compare(W, ["a"] * 8 + ["b"] * 8, models=["ZhouGC"], noise=[0], repeats=2)
    >>> [(cell.labels, cell.accuracy_mean) for cell in outcome.cells]
    [(4, 1.0)]
    """
    chosen = check_options(models, sizes, noise, repeats, seed, with_points=points is not None)
    known, notes, y = _read(graph, points, truth, ignore_unknown, unlabelled)
    labels = encode(y, n_nodes=len(y), **marker_of(truth, unlabelled))
    if points is not None:
        known, more = _measured(known, affinity, metric, scaling)
        notes = (*notes, *more)
    problem = _problem(known, labels.codes, affinity, n_neighbors)
    n_labels, left_out = label_counts(labels.codes, sizes)
    noise = list(dict.fromkeys(noise))
    trials: list[Trial] = []
    keys = list(product(n_labels, noise, range(repeats)))
    for done, key in enumerate(keys, 1):
        y = draw_labels(labels.codes, *key, seed)
        trials += [run_trial(problem, model, y, key) for model in chosen]
        if watch is not None:
            watch(done, len(keys))
    return Comparison(
        tuple(trials), tuple(summarise(trials, len(y))), len(y), int((labels.codes >= 0).sum()),
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
            raise ValueError(f"{name} needs points, but this is a graph; leave it out.")
    for size in sizes:
        if not 0 < size < 100:
            raise ValueError(f"A label size of {size:g} % is not allowed; 0 < size < 100.")
    for wrong in noise:
        if not 0 <= wrong < 100:
            raise ValueError(f"A noise of {wrong:g} % is not allowed; 0 <= noise < 100.")
    for what, values in (("model", chosen), ("label size", sizes), ("noise", noise)):
        if not len(values):
            raise ValueError(f"No {what} is named; name at least one.")
    if repeats < 1 or seed < 0:
        raise ValueError(
            f"repeats={repeats} with seed={seed} is not allowed; repeats >= 1, seed >= 0."
        )
    return chosen


def _read(
    graph: Any, points: Any, truth: Any, ignore: bool, unlabelled: Any
) -> tuple[Any, tuple[str, ...], Any]:
    """Return the graph or points, notes, and the true label of every node."""
    if (graph is None) == (points is None):
        raise InputError("Pass either a graph or points=, one of the two.")
    if truth is None:
        raise InputError("Pass truth: a mapping from node to label, or the path of a table.")
    known: Any
    if points is not None:
        known = points_of(points, truth)
        truth = truth if known.labels is None else known.labels
        nodes = NamedGraph(np.zeros((0, 0)), known.names)
    else:
        path = isinstance(graph, str | Path)
        known = nodes = read_graph(Path(graph)) if path else named_graph(graph)
    y, notes = labels_of(truth, nodes, ignore, unlabelled=unlabelled)
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
    kind: Any = affinities.make(
        known.X, affinity, sigma=None, scale=2.0, self_loops=True, n_neighbors=n_neighbors
    )
    if affinity == "knn":  # found once, for all models and trials
        # There a point is one of its own neighbours.
        theirs = {"kernel": "knn", "n_neighbors": min(kind.n_neighbors + 1, len(codes))}
        return Problem(kind.weights(), {"affinity": "precomputed"}, codes, known.X, theirs)
    theirs = {"kernel": "rbf", "gamma": 1 / (kind.scale * kind.sigma**2)}
    return Problem(known.X, {"affinity": affinity}, codes, known.X, theirs)

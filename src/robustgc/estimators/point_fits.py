"""Points as users have them -> a fitted RobustGC that knows their columns and scales."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.affinity.features import SCALINGS, Standardisation, matched
from robustgc.estimators.robust import RobustGC
from robustgc.graph.alerts import warn
from robustgc.graph.quoting import listed, quoted
from robustgc.io.label_files import LabelTable, names_file
from robustgc.io.opening import InputError
from robustgc.io.point_columns import Choice, NamedPoints
from robustgc.io.point_files import named_points, read_points


def points_of(
    points: Any, labels: Any = None, name: str | None = None, **files: Any
) -> NamedPoints:
    """Read points from a file or an object, with `labels` that are a column of theirs.

    These are named by text, or a Series of pandas that has the index of the frame. `files` says
    how files are read: `sheet` and `dialect` of `read_points`.
    """
    if isinstance(points, NamedPoints):
        return points
    label = labels if isinstance(labels, str) else None
    choice = Choice(name, label, or_file=label is not None and names_file(label))
    if isinstance(points, str | Path):
        return read_points(Path(points), choice, **files)
    return _with_series(named_points(points, choice), points, labels)


def _with_series(known: NamedPoints, frame: Any, labels: Any) -> NamedPoints:
    """Add a Series of labels by row where its index is that of the frame; else names decide."""
    if {type(table).__module__.split(".")[0] for table in (frame, labels)} != {"pandas"}:
        return known
    if labels.ndim != 1 or not hasattr(labels, "index"):  # a table, or an index
        return known
    other = known.names.tolist() != frame.index.tolist()
    if labels.index.equals(frame.index):
        note = "the labels go by row, as their index is that of the points; names are of a column"
        table = LabelTable(known.names, labels.tolist(), "The labels")
        return replace(known, labels=table, notes=(*known.notes, *[note] * other))
    labelled = set(labels.index)
    if other and labelled <= set(frame.index) and labelled <= set(known.names.tolist()):
        note = (
            "the labels go by the names of the points, though their index may mean rows: pass "
            "labels.reindex(points.index) if it does"
        )
        return replace(known, notes=(*known.notes, note))
    return known


def fit_points(
    points: NamedPoints, y: Any, scaling: str | None, options: dict[str, Any]
) -> tuple[RobustGC, tuple[str, ...]]:
    """Fit on points with their columns scaled, and return the model with notes on that.

    It matches the columns of frames by name, and scales new points as those of the fit.
    """
    clf = RobustGC(**options)
    standard, notes = standardisation(points, scaling, clf.affinity, clf.metric)
    clf.fit(points.X if standard is None else standard.applied(points.X), y)
    clf._scaling = standard
    if points.header:
        clf.feature_names_in_ = np.array(points.columns, dtype=object)
    return clf, notes


def standardisation(
    points: NamedPoints, scaling: str | None, affinity: Any, metric: object
) -> tuple[Standardisation | None, tuple[str, ...]]:
    """Return how the columns of points are scaled, None for as they are; and what to say of it."""
    if scaling not in (None, *SCALINGS):
        raise InputError(f"scaling={quoted(scaling)} is unknown; choose 'standard' or 'none'.")
    if scaling == "none" or (isinstance(affinity, str) and affinity == "precomputed"):
        return None, ()
    if scaling is None and (metric != "euclidean" or callable(affinity)):
        why = "a kernel of your own" if callable(affinity) else "cosines"
        return None, (
            f"columns are left as they are, for {why}; --scale standard (scaling='standard' in "
            "Python) standardises them",
        )
    standard = Standardisation.of(points.X)
    return standard, standard.notes(points.columns)


def scaling_notes(fitted: RobustGC) -> tuple[str, ...]:
    """Say how a fitted model scales the columns of its points."""
    if fitted._scaling is None:
        return ()
    names = getattr(fitted, "feature_names_in_", None)
    if names is None:
        names = [f"column {k + 1}" for k in range(fitted.n_features_in_)]
    return fitted._scaling.notes(list(names))


def in_order(points: NamedPoints, wanted: Sequence[str] | None, count: int) -> NDArray[np.float64]:
    """Return the columns of new points in the order of a fit, which had `count` of them.

    The `wanted` ones are those of the fit; where they had no names, None, the order is trusted.
    """
    if wanted is not None and points.header:
        try:
            order, extra = matched(points.columns, wanted)
        except ValueError as error:
            raise InputError(f"The points: {error}.") from None
        if extra:
            warn(f"The model was not fitted on columns {listed(extra)}; they are left out.")
        return points.X[:, order]
    if (columns := points.X.shape[1]) != count:
        known = "" if wanted is None else f" ({listed(wanted)})"
        cure = "--columns names them" if wanted is None else "with a header, in any order"
        raise InputError(
            f"The points have {columns} column{'s' * (columns != 1)}, the model was fitted on "
            f"{count}{known}. Give the same columns in the same order; {cure}."
        )
    return points.X

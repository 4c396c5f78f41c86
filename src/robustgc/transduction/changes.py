"""Labels that change after a fit."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from robustgc.graph.quoting import listed, quoted
from robustgc.transduction.labels import Labels
from robustgc.transduction.missing import find_missing


def changed_labels(
    labels: Labels, changes: Mapping[int, Any], *, unlabeled: object = None
) -> Labels:
    """Return labels with some of them changed.

    Parameters
    ----------
    labels : Labels
    changes : mapping or pandas Series
        From node to label.
    unlabeled : object, default=None
        As in `robustgc.transduction.labels.encode`: None takes labels away by all the usual
        markers.

    Raises
    ------
    TypeError
        No mapping.
    ValueError
        A node that is not there, a class that was not fitted, or no label left.
    """
    codes = labels.codes.copy()
    known = {value: code for code, value in enumerate(labels.classes.tolist())}
    for node, name in pairs_of(changes):
        whole = isinstance(node, Integral) and not isinstance(node, bool)  # True is no node 1
        if not whole or not 0 <= node < len(codes):
            raise ValueError(
                f"{quoted(node)} is not a node of the fitted graph; nodes are 0 to "
                f"{len(codes) - 1}."
            )
        codes[node] = _code(name, known, labels.marker, usual=unlabeled is None)
    if len(np.unique(codes[codes >= 0])) < 2:
        raise ValueError(
            "After the update fewer than two classes are labelled; at least two are needed."
        )
    return replace(labels, codes=codes)


def pairs_of(changes: Any) -> Iterable[tuple[Any, Any]]:
    """Return (node, label) pairs of a mapping, or of a Series, whose index are the nodes."""
    series = type(changes).__name__ == "Series" and hasattr(changes, "items")
    if isinstance(changes, Mapping) or series:
        pairs: Iterable[tuple[Any, Any]] = changes.items()
        return pairs
    raise TypeError(
        f"update takes a mapping from node to label, such as {{3: 'spam', 7: None}}; this is "
        f"{quoted(changes)} of type {type(changes).__name__}. Pairs become one by dict(pairs)."
    )


def _code(name: Any, known: dict[Any, int], marker: object, *, usual: bool) -> int:
    """Return the code of a label, -1 for none; refuse what is no class."""
    scalar = isinstance(name, np.generic) or (isinstance(name, np.ndarray) and name.ndim == 0)
    value = name.item() if scalar else name
    if _is_none(value):
        return -1
    # True equals 1 in Python, but it is no class, or marker, among numbers; nor 1 among booleans.
    truth = isinstance(value, bool)
    if isinstance(value, Hashable) and truth == isinstance(next(iter(known)), bool):
        try:
            if value in known:
                return known[value]
        except TypeError:  # a tuple with a list in it
            pass
    if not _is_none(marker) and truth == isinstance(marker, bool) and _same(value, marker):
        return -1
    if find_missing([*known, value], None if usual else "").mask[-1]:
        return -1
    raise ValueError(
        f"{quoted(value)} is not a class of the fit; those are {listed(known)}. "
        "None takes a label away; fit again for a new class."
    )


def _same(value: object, marker: object) -> bool:
    return isinstance(value, str | int | float) and value == marker


def _is_none(value: object) -> bool:
    """Whether a value is None, NaN, or the NA of data frames."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and bool(np.isnan(value))

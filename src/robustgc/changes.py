"""Labels that change after a fit."""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from robustgc.labels import Labels


def changed_labels(labels: Labels, changes: Mapping[int, Any]) -> Labels:
    """Return labels with some of them changed.

    Raises
    ------
    ValueError
        A node that is not there, a class that was not fitted, or no label left.
    """
    codes = labels.codes.copy()
    known = {value: code for code, value in enumerate(labels.classes.tolist())}
    for node, name in changes.items():
        if not isinstance(node, Integral) or not 0 <= node < len(codes):
            raise ValueError(
                f"{node!r} is not a node of the fitted graph; nodes are 0 to {len(codes) - 1}."
            )
        value = name.item() if isinstance(name, np.generic) else name
        nan = isinstance(value, float) and np.isnan(value)
        missing = nan or (value not in known and value in (None, "", labels.marker))
        if not missing and value not in known:
            raise ValueError(
                f"{value!r} is not a class of the fit; those are {', '.join(map(str, known))}. "
                "None takes a label away; fit again for a new class."
            )
        codes[node] = -1 if missing else known[value]
    if len(np.unique(codes[codes >= 0])) < 2:
        raise ValueError(
            "After the update fewer than two classes are labelled; at least two are needed."
        )
    return replace(labels, codes=codes)

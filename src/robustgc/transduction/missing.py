"""Which cells of a column of labels mean "unlabelled": one rule for files, tables and arrays.

Unlabelled are always None, NaN, the NA and NaT of data frames, and the empty text. By default so
are the texts of `MARKERS`, compared letter by letter without the spaces around them (``NA`` is a
marker, ``na`` is a class), and -1 where all other labels are whole numbers, as numbers or as text.
A list of the user's own replaces these two defaults. What was read so is counted, and said.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.quoting import quoted, short
from robustgc.transduction.label_types import is_missing

MARKERS = ("NaN", "nan", "None", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "<NA>", "?", "-")
_MINUS_ONE = ("-1", "-1.0")
_WHOLE = re.compile(r"[+-]?\d+(\.0*)?", re.ASCII)  # data frames with gaps write 1 as 1.0
_MOST_DIGITS = 30  # of a number that may be a marker; Python does not print one of thousands


@dataclass(frozen=True)
class Missing:
    """The cells of a column that mean "unlabelled".

    Attributes
    ----------
    mask : ndarray of bool
        True where a cell means unlabelled.
    counts : dict
        How many cells say so by a marker, the most frequent first; empty cells are not counted.
    """

    mask: NDArray[np.bool_]
    counts: dict[str, int] = field(default_factory=dict)

    def sentence(self) -> str:
        """Return the counts in words, as "12 cells say '?', 3 'NA'"; empty if there are none."""
        (first, many), *others = self.counts.items() or (("", 0),)
        if not many:
            return ""
        says = "cell says" if many == 1 else "cells say"
        rest = "".join(f", {count} {quoted(text, 40)}" for text, count in others)
        return short(f"{many} {says} {quoted(first, 40)}{rest}")


def find_missing(values: Iterable[Any], unlabelled: Any = None) -> Missing:
    """Find the cells of a column of labels that mean "unlabelled".

    Parameters
    ----------
    values : iterable
        The labels, a cell each.
    unlabelled : iterable of str, str or None
        What means unlabelled besides None, NaN and the empty text; None: `MARKERS`, and -1 among
        whole numbers. Numbers are compared as they are written: ``"-1"`` is also the number -1.

    Examples
    --------
    >>> from robustgc.transduction.missing import find_missing
    >>> find_missing(["spam", "?", "ham", None, "?"]).sentence()
    "2 cells say '?'"
    >>> find_missing([0, -1, 1]).mask.tolist(), find_missing([0, -1, 1], "").mask.tolist()
    ([False, True, False], [False, False, False])
    """
    # Looked at once a class, not once a cell: columns of labels are long and say little.
    places: dict[Any, int] = {}
    codes = np.array([places.setdefault(_key(cell), len(places)) for cell in values], dtype=int)
    distinct = np.empty(len(places), dtype=object)
    distinct[:] = [cell for _, cell in places]
    mask, by_marker, texts = _missing_cells(distinct, unlabelled)
    cells = np.bincount(codes, minlength=len(places))
    counts: Counter[str] = Counter()
    for k in np.flatnonzero(by_marker).tolist():
        counts[str(texts[k])] += int(cells[k])
    return Missing((mask | by_marker)[codes], dict(counts.most_common()))


def _key(cell: Any) -> tuple[type, Any]:
    """Return what tells distinct cells apart: 1, 1.0 and True are equal in Python."""
    try:
        hash(cell)
    except TypeError:  # a list, which is no class and no marker
        return type(cell), ...
    return type(cell), cell


def _missing_cells(
    cells: NDArray[np.object_], unlabelled: Any
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], list[str | None]]:
    """Return which cells are empty, which say so by a marker, and what each says."""
    empty = is_missing(cells)
    texts = [None if gap else _text(cell) for cell, gap in zip(cells, empty, strict=True)]
    empty |= np.array([text == "" for text in texts], dtype=bool)
    markers = MARKERS if unlabelled is None else own_markers(unlabelled)
    by_marker = np.array([text in markers for text in texts], dtype=bool) & ~empty
    if unlabelled is None:
        rest = np.flatnonzero(~(empty | by_marker)).tolist()
        if all(_is_number(cells[k], texts[k]) for k in rest):
            by_marker[[k for k in rest if texts[k] in _MINUS_ONE]] = True
    return empty, by_marker, texts


def own_markers(unlabelled: Any) -> set[str | None]:
    """Return the texts of the user's own markers; one text alone is one marker."""
    alone = isinstance(unlabelled, str) or not isinstance(unlabelled, Iterable)
    return {_text(mark) for mark in ([unlabelled] if alone else unlabelled)} - {None}


def _text(cell: Any) -> str | None:
    """Return what a cell says, without spaces around it; None where it is no marker's kind."""
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, bytes):
        return cell.decode(errors="replace").strip()
    if isinstance(cell, bool | np.bool_):
        return str(cell)
    if isinstance(cell, float | np.floating):
        return str(int(cell)) if float(cell).is_integer() and abs(float(cell)) < 2**53 else None
    if isinstance(cell, int | np.integer):
        return str(cell) if abs(int(cell)) < 10**_MOST_DIGITS else None
    return None


def _is_number(cell: Any, text: str | None) -> bool:
    """Whether a cell is a number (fractions are refused elsewhere), or the text of a whole one."""
    if isinstance(cell, str | bytes):
        return _WHOLE.fullmatch(text or "") is not None
    return isinstance(cell, int | float | np.number) and not isinstance(cell, bool)

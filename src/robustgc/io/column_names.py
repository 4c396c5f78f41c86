"""Columns chosen by name: the one that the user names, or one that has a usual name."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from robustgc.graph.quoting import listed, quoted
from robustgc.io.errors import InputError

UNNAMED = re.compile(r"(unnamed: \d+(\.\d+)*|__index_level_\d+__)?", re.I)  # as data frames write
_NUMBERED = re.compile(r"column \d+")


def numbered_columns(width: int) -> tuple[str, ...]:
    """Return what columns without a header are called."""
    return tuple(f"column {k + 1}" for k in range(width))


def in_header(names: Iterable[str | None]) -> bool:
    """Whether the user speaks of columns by names, which only a header can give."""
    return any(name is not None and not _NUMBERED.fullmatch(name) for name in names)


def named_column(names: Sequence[str], wanted: str, where: str | Path | None = None) -> int:
    """Return the place of the column that the user names; `where` is the table, for the message."""
    if wanted not in names:
        text = f"there is no column {quoted(wanted, 90)}; the columns are {listed(names)}"
        raise InputError(text if where is None else f"{where}: {text}.")
    return list(names).index(wanted)


def usual_column(
    names: Sequence[str], words: Sequence[str], among: Iterable[int] | None = None
) -> int | None:
    """Return the place of the column whose name comes first among the usual ones; None: none is.

    Capitals and spaces around a name do not count; `among` are the columns that may be meant.
    """
    some = range(len(names)) if among is None else list(among)
    places = {names[k].strip().lower(): k for k in reversed(some)}
    return next((places[word] for word in words if word in places), None)


def column(names: Sequence[str], wanted: str | None, usual: Sequence[str], place: int) -> int:
    """Return the column that the user names, or one with a usual name, or the one at a place."""
    if wanted is not None:
        return named_column(names, wanted)
    k = usual_column(names, usual)
    return place if k is None else k

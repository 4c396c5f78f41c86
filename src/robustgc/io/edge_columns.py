"""Which columns of a table of edges hold the nodes and the weight, and which are not used."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from robustgc.graph.quoting import listed, quoted
from robustgc.io.column_names import column
from robustgc.io.decimals import SECONDS, is_number
from robustgc.io.node_columns import check_nodes
from robustgc.io.opening import InputError

SOURCE = ("source", "src", "from", "node1", "node_1", "u", "head", "i", "a")
TARGET = ("target", "dst", "to", "node2", "node_2", "v", "tail", "j", "b")
WEIGHT = (
    "weight", "weights", "w", "edge_weight", "value", "similarity", "strength", "count", "n",
    "freq", "frequency", "score",
)  # fmt: skip
HEADER = (*SOURCE[:5], *TARGET[:5], *WEIGHT[:1])  # words that make a first row a header
# Columns of numbers that say something else than how alike two nodes are.
_NO_WEIGHT = {
    "time", "timestamp", "date", "datetime", "year", "month", "day", "since", "type", "kind",
    "label", "class", "category", "group", "id", "index", "key", "sign", "distance", "dist",
    "length", "cost",
}  # fmt: skip
_YEAR = re.compile(r"(19\d\d|20\d\d|2100)((0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01]))?", re.A)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Columns(NamedTuple):
    """Places of the two nodes and of the weight (None: there is none), and what is said of them."""

    source: int
    target: int
    weight: int | None
    notes: tuple[str, ...]

    def places(self) -> tuple[int, ...]:
        """Return the places of the columns that are read."""
        return tuple(k for k in self[:3] if k is not None)


class Wanted(NamedTuple):
    """The columns that the user has named."""

    source: str | None = None
    target: str | None = None
    weight: str | None = None

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return any(name is not None for name in self)


def columns(
    names: Sequence[str],
    wanted: Wanted,
    index: int | None,
    sample: Callable[[int], list[str] | None],
    *,
    ordered: bool = False,
) -> Columns:
    """Choose the columns of a table of edges.

    Parameters
    ----------
    names : sequence of str
    wanted : Wanted
    index : int or None
        A column that only counts the rows.
    sample : callable
        Gives some fields of a column; None: they are neither numbers nor text.
    ordered : bool
        Whether the nodes come first by definition of the file.

    Raises
    ------
    InputError
        A column is not there, or wanted twice; or those of the nodes are not plain.
    """
    free = [k for k in range(len(names)) if k != index]
    if sum(names[k].lower() != "weight" for k in free) < 2:
        free = list(range(len(names)))
    i = column(names, wanted.source, SOURCE, free[0])
    j = column(names, wanted.target, TARGET, free[1] if i == free[0] else free[0])
    if i == j:
        raise InputError(f"source and target are both column {quoted(names[i])}; name two columns")
    lower = {names[i].lower(), names[j].lower()}
    usual = ordered or (lower & {*SOURCE} and lower & {*TARGET})
    if wanted.source is wanted.target is None and not usual:
        check_nodes(names, (i, j), free, sample)
    k = column(names, wanted.weight, (), -1)
    if wanted.weight is None:
        others = [place for place in free if place not in (i, j)]
        third = others if (i, j) == (free[0], free[1]) and len(free) == 3 else []
        k = _weight(names, others, third, sample)
    notes = [] if index is None or index in (i, j, k) else [
        f"column {index + 1} ({quoted(names[index])}) only counts the rows, and is not used"
    ]  # fmt: skip
    plain = k >= 0 and (names[k].lower() in ("weight", "weights") or ordered)
    if wanted.weight is None and k >= 0 and not plain:
        name = names[k] if _numbered(names[k]) else f"column {quoted(names[k], 60)}"
        notes.append(f"{name} is read as the weight (--weight NAME uses another)")
    unused = [place for place in free if place not in (i, j, k)]
    usable = [place for place in unused if k < 0 and _numeric(sample(place))]
    if unused:
        some = f"columns {listed(names[place] for place in unused)} are not used"
        if len(unused) == 1:
            some = f"column {quoted(names[unused[0]], 60)} is not used"
        cure = f" (--weight {quoted(names[usable[0]], 60)} would be the weights)" if usable else ""
        notes.append(some + cure)
    return Columns(i, j, k if k >= 0 else None, tuple(notes))


def _numbered(name: str) -> bool:
    """Whether a column has no name, only a number."""
    return re.fullmatch(r"column \d+", name) is not None


def _weight(
    names: Sequence[str],
    others: list[int],
    third: list[int],
    sample: Callable[[int], list[str] | None],
) -> int:
    """Return the column that is the weight by its name, or as the third of three; else -1."""
    lower = {names[k].lower(): k for k in reversed(others)}
    for word in WEIGHT:
        if word in lower and (word == "weight" or _numeric(sample(lower[word]))):
            return lower[word]
    for k in third:
        words = {word.lower() for word in _WORDS.findall(names[k])}
        if not words & _NO_WEIGHT and _numeric(fields := sample(k)):
            return -1 if _times(fields) or (_numbered(names[k]) and _years(fields)) else k
    return -1


def _numeric(fields: list[str] | None) -> bool:
    """Whether most fields are numbers: one that is not is an error to be told, not another kind."""
    numbers = sum(is_number(field) or is_number(field, ",") for field in fields or ())
    return 2 * numbers >= len(fields or ()) > 0


def _times(fields: list[str] | None) -> bool:
    return all(field.isdecimal() and float(field) >= SECONDS for field in fields or ())


def _years(fields: list[str] | None) -> bool:
    """Whether all fields look like years, or days written as 20240131."""
    return all(map(_YEAR.fullmatch, fields or ()))

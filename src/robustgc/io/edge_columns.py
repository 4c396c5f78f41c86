"""Which columns of a table of edges hold the nodes and the weight, and which cannot be nodes."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from robustgc.graph.quoting import listed, quoted, short
from robustgc.io.column_names import column
from robustgc.io.dialect import SECONDS, is_number
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
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?([T ].*)?|\d\d?([./])\d\d?\2\d{2,4}( .*)?", re.A)
_MOST = 12  # columns that are looked at
_FEW = 4  # rows from which columns may tell what they are
_RATINGS = 10  # so few numbers may be weights rather than nodes
_TEXT, _NUMBERS = 0.3, 0.7  # shares of values from which two columns hold the same things


# Gives some fields of a column by its number; None: they are neither numbers nor text.
Sample = Callable[[int], list[str] | None]


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


def choose_edge_columns(
    names: Sequence[str],
    wanted: Wanted,
    index: int | None,
    sample: Sample,
    *,
    ordered: bool = False,
) -> Columns:
    """Choose the columns of a table of edges, or refuse where it is not plain which have the nodes.

    `index` is a column that only counts the rows; `ordered` says that the nodes come first by
    definition of the file.
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
        _check_nodes(names, (i, j), free, sample)
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
        name = names[k] if numbered_column(names[k]) else f"column {quoted(names[k], 60)}"
        notes.append(f"{name} is read as the weight (--weight NAME uses another)")
    unused = [place for place in free if place not in (i, j, k)]
    usable = [place for place in unused if k < 0 and _numeric(sample(place))]
    if unused:
        note = f"columns {listed(names[place] for place in unused)} are not used"
        if len(unused) == 1:
            note = f"column {quoted(names[unused[0]], 60)} is not used"
        cure = f" (--weight {quoted(names[usable[0]], 60)} would be the weights)" if usable else ""
        notes.append(note + cure)
    return Columns(i, j, k if k >= 0 else None, tuple(notes))


def numbered_column(name: str) -> bool:
    """Whether a column has no name, only a number."""
    return re.fullmatch(r"column \d+", name) is not None


def _weight(names: Sequence[str], others: list[int], third: list[int], sample: Sample) -> int:
    """Return the column that is the weight by its name, or as the third of three; else -1."""
    lower = {names[k].lower(): k for k in reversed(others)}
    for word in WEIGHT:
        if word in lower and (word == "weight" or _numeric(sample(lower[word]))):
            return lower[word]
    for k in third:
        words = {word.lower() for word in _WORDS.findall(names[k])}
        if not words & _NO_WEIGHT and _numeric(fields := sample(k)):
            return -1 if _times(fields) or (numbered_column(names[k]) and _years(fields)) else k
    return -1


def _numeric(fields: list[str] | None) -> bool:
    """Whether most fields are numbers: one that is not is an error to be told, not another kind."""
    numbers = sum(is_number(field) or is_number(field, ",") for field in fields or ())
    return 2 * numbers >= len(fields or ()) > 0


def _times(fields: list[str] | None) -> bool:
    """Whether all fields look like seconds since 1970."""
    return all(field.isdecimal() and float(field) >= SECONDS for field in fields or ())


def _years(fields: list[str] | None) -> bool:
    """Whether all fields look like years, or days written as 20240131."""
    return all(map(_YEAR.fullmatch, fields or ()))


@dataclass(frozen=True)
class _Column:
    """Some fields of a column, and what they are."""

    fields: list[str]
    values: frozenset[str]
    number: bool

    def most(self, test: Callable[[str], object]) -> bool:
        """Whether all fields pass, but for one that may be a header."""
        return _nearly_all(sum(map(bool, map(test, self.fields))), self.fields)

    @property
    def strange(self) -> str:
        """What its fields are, where nodes are not called so; nothing: they may be nodes."""
        if self.most(_DATE.fullmatch):
            return "dates"
        if self.most(lambda field: field and not any(map(str.isalnum, field))):
            return "signs without a letter or digit"
        if self.number and 2 * sum(map(_broken, self.fields)) > len(self.fields):
            return "numbers with decimals"
        return ""

    @property
    def counts(self) -> bool:
        """Whether it counts the rows, from 0 or 1."""
        fields = self.fields if self.fields[0].isdecimal() else self.fields[1:]
        return len(fields) >= _FEW and any(
            fields == [str(k) for k in range(start, start + len(fields))] for start in (0, 1)
        )


def _check_nodes(
    names: Sequence[str], pair: tuple[int, int], free: Sequence[int], sample: Sample
) -> None:
    """Refuse a pair of the free columns where they are plainly not the nodes.

    One of them holds something else, or other columns share values, and they do not.
    """
    columns = {k: _column(fields) for k in free[:_MOST] if (fields := sample(k))}
    if len(free) < 3 or not set(pair) <= set(columns):
        return
    likely = {k: columns[k] for k in columns if k or not columns[k].counts}
    other = _sharing(likely, {k: columns[k] for k in pair})
    reason = _doubt(names, columns, pair, other)
    if not reason:
        return
    cure = ""
    if other is not None:
        cure = ", as --source {} --target {}".format(*(quoted(names[k], 60) for k in other))
    elif sum(column.number for column in columns.values()) > 1:
        cure = "; if every row is a point with its measures, use --points"
    listing = ", ".join(_name(names, columns, k) for k in columns)
    raise InputError(
        f"the first two columns would be the nodes, but {reason}. The columns are "
        f"{short(listing)}{', ...' * (len(free) > _MOST)}. Name those of the nodes with --source "
        f"and --target (source= and target= in Python){cure}"
    )


def _column(fields: list[str]) -> _Column:
    numbers = sum(is_number(field) or is_number(field, ",") for field in fields)
    return _Column(fields, frozenset(fields), _nearly_all(numbers, fields))


def _nearly_all(number: int, fields: list[str]) -> bool:
    return number >= len(fields) - (len(fields) > _FEW)


def _broken(field: str) -> bool:
    """Whether a field is a number that is not whole."""
    text = field.replace(",", ".", 1)
    return is_number(text) and not float(text).is_integer()


def _name(names: Sequence[str], columns: dict[int, _Column], k: int) -> str:
    """Name a column; one without a name by its first field too."""
    if names[k] != f"column {k + 1}":
        return quoted(names[k], 60)
    return f"{names[k]} ({quoted(columns[k].fields[0], 30)})"


def _doubt(
    names: Sequence[str],
    columns: dict[int, _Column],
    pair: tuple[int, int],
    other: tuple[int, int] | None,
) -> str:
    """Say why two columns are not the nodes; nothing: they may be."""
    for k in pair:
        if strange := columns[k].strange:
            return f"{_name(names, columns, k)} holds {strange}"
    i, j = pair
    if i == 0 and columns[0].counts and other is not None and 0 not in other:
        return f"{_name(names, columns, 0)} counts the rows"
    first, second = columns[i], columns[j]
    if first.values & second.values or len(first.fields) < 2:
        return ""
    nothing = f"{_name(names, columns, i)} and {_name(names, columns, j)} share no value"
    if other is not None:
        return f"{nothing}, while {' and '.join(_name(names, columns, k) for k in other)} do"
    rest = [columns[k] for k in columns if k not in pair]
    measures = sum(column.number for column in (second, *rest))
    apart = len(first.fields) >= _FEW and len(first.values) == len(first.fields)
    if apart and not first.number and measures > 1 and (len(rest) > 1 or not rest[0].number):
        return f"{nothing}, and every row has another {_name(names, columns, i)}"
    return ""


def _sharing(columns: dict[int, _Column], pair: dict[int, _Column]) -> tuple[int, int] | None:
    """Return two columns, other than a pair, that hold the same values; None: there are none."""
    least = 0.1 * min(len(column.values) for column in pair.values())  # else they are categories
    mixed = len({column.number for column in pair.values()}) > 1
    counted = not set(pair) <= set(columns)  # the first column is no node, whatever is shared
    best, shares = None, 0.0
    for i, j in combinations(columns, 2):
        one, two = columns[i], columns[j]
        most = max(len(one.values), len(two.values))
        share = len(one.values & two.values) / most
        ratings = not counted and min(len(one.values), len(two.values)) <= _RATINGS
        if {i, j} == set(pair) or one.number != two.number or most < max(2, least):
            continue
        if one.number and (one.strange or two.strange or ratings):
            continue
        if one.number and not (mixed or {i, j} & set(pair)):
            continue
        if share > shares and share >= (_NUMBERS if one.number and not counted else _TEXT):
            best, shares = (i, j), share
    return best

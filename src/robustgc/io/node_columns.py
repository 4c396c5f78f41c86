"""Whether the first two columns of a table can be the nodes of its edges, where no name says so."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from robustgc.graph.quoting import quoted, short
from robustgc.io.decimals import is_number
from robustgc.io.opening import InputError

_DATE = re.compile(r"\d{4}-\d\d?-\d\d?([T ].*)?|\d\d?([./])\d\d?\2\d{2,4}( .*)?", re.A)
_MOST = 12  # columns that are looked at
_FEW = 4  # rows from which columns may tell what they are
_RATINGS = 10  # so few numbers may be weights rather than nodes
_TEXT, _NUMBERS = 0.3, 0.7  # shares of values from which two columns hold the same things


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


def check_nodes(
    names: Sequence[str],
    pair: tuple[int, int],
    free: Sequence[int],
    sample: Callable[[int], list[str] | None],
) -> None:
    """Refuse the first two of three or more columns where they are plainly not the nodes.

    Parameters
    ----------
    names : sequence of str
    pair : tuple of int
        The columns that would be read.
    free : sequence of int
        All columns that may be.
    sample : callable
        Gives some fields of a column; None: they are neither numbers nor text.

    Raises
    ------
    InputError
        A column of the pair holds something else, or other columns share values, and they do not.
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

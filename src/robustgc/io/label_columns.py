"""Which columns of a table hold the nodes and their labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from robustgc.graph.quoting import listed, quoted, short
from robustgc.io.arrow import pa
from robustgc.io.column_names import UNNAMED, named_column, numbered_columns, usual_column
from robustgc.io.errors import InputError
from robustgc.transduction.missing import find_missing

NODE = ("node", "id", "name", "node_id", "nodeid", "vertex", "row")
LABEL = ("label", "class", "y", "target", "category", "given")
REVIEWED = "reviewed"  # labels that a person has looked at and kept
_RIVALS = ("label", "class", "target", "category")  # two of these in one table: which is it?
_Read: TypeAlias = Callable[[Sequence[int]], list[Any]]  # gives columns by their places
_MOST = 20  # columns whose values are counted for a message


@dataclass(frozen=True)
class LabelColumns:
    """The columns of a table of labels, and what each of them is used for.

    `read` gives columns as Arrow arrays, by their numbers; it may read the file again.
    """

    names: tuple[str, ...]
    read: _Read
    node: int
    label: int
    reviewed: int | None  # says which labels a person has looked at
    by_user: bool  # whether the user has named the label column
    notes: tuple[str, ...]  # what was decided for the user
    node_by_user: bool = False  # whether the user has named the column of the nodes

    def others(self) -> dict[str, Any]:
        """Return all columns but that of the nodes, by name, as Arrow arrays."""
        rest = [k for k in range(len(self.names)) if k != self.node][:_MOST]
        return dict(zip([self.names[k] for k in rest], self.read(rest), strict=True))

    def candidates(self, many: int) -> list[str]:
        """Return other columns that look like classes of `many` labels, which all differ.

        These have between two values and half as many as labels; a column that is called as
        labels are may have any number that is less than all.
        """
        used = {self.names[k] for k in (self.label, self.reviewed) if k is not None}
        some = []
        for name, values in self.others().items():
            most = many - 1 if name.strip().lower() in _RIVALS else many // 2
            if name not in used and 2 <= (_distinct(values) or 0) <= most:
                some.append(name)
        return some


def choose_columns(
    names: Sequence[str] | None,
    width: int,
    read: _Read,
    where: str,
    node: str | None,
    label: str | None,
) -> LabelColumns:
    """Choose the columns of the nodes and labels, or refuse where it would be a guess.

    `names` are those of the header, if there is one; `node` and `label` the columns that the user
    has named.
    """
    if width < 2:
        raise InputError(
            f"{where}: it has {width} column{'s' * (width != 1)} where two are expected. Put the "
            "node and its label in every row, between commas or tabs."
        )
    known = tuple(names or numbered_columns(width))
    i = None if node is None else named_column(known, node, where)
    j = None if label is None else named_column(known, label, where)
    if i is not None and i == j:
        raise InputError(
            f"{where}: node and label are both column {quoted(known[i])}; name two columns."
        )
    reviewed = usual_column(known, (REVIEWED,), [k for k in range(width) if k not in (i, j)])
    usable = [k for k in range(width) if k != reviewed]
    counters = [k for k in _row_counters(known, usable, read) if k not in (i, j)]
    usable = [k for k in usable if k not in counters]
    i, j = _pair(known, usable, i, j)
    if i is None or j is None:
        raise _open_choice(known, read, where, headless=names is None)
    notes = (*_left_out(known, counters, where), *_rivals(known, i, j, label, where))
    return LabelColumns(known, read, i, j, reviewed, label is not None, notes, node is not None)


def _pair(
    names: Sequence[str], usable: list[int], i: int | None, j: int | None
) -> tuple[int | None, int | None]:
    """Return the columns of nodes and labels: by their names, or because no others are left."""
    words = {name.strip().lower() for name in names}
    usual = [word for word in LABEL if word != "y" or "x" not in words]  # x and y: coordinates
    j = usual_column(names, usual, [k for k in usable if k != i]) if j is None else j
    i = usual_column(names, NODE, [k for k in usable if k != j]) if i is None else i
    rest = [k for k in usable if k not in (i, j)]
    rest.sort(key=lambda k: UNNAMED.fullmatch(names[k]) is None)  # an index names the nodes
    if i is None and rest and (j is not None or len(rest) == 2):
        i = rest.pop(0)
    if j is None and i is not None and len(rest) == 1:
        j = rest[0]
    return i, j


def _row_counters(names: Sequence[str], usable: list[int], read: _Read) -> list[int]:
    """Return the columns without a name that only count the rows, where two others have names."""
    unnamed = [k for k in usable if UNNAMED.fullmatch(names[k])]
    if len(usable) - len(unnamed) < 2:
        return []
    return [k for k, values in zip(unnamed, read(unnamed), strict=True) if _counts_rows(values)]


def _counts_rows(values: Any) -> bool:
    """Whether a column holds 0, 1, 2 and so on."""
    try:
        numbers = values.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return numbers.null_count == 0 and np.array_equal(numbers.to_numpy(), np.arange(len(numbers)))


def _open_choice(names: Sequence[str], read: _Read, where: str, *, headless: bool) -> InputError:
    columns = read(range(len(names))[:_MOST])
    cure = "Name the column with --label-column (label_column= in Python)"
    if headless:
        first = listed([values[0].as_py() for values in columns if len(values)], 90)
        cure += f". If the first line is a header, its names are {first}"
    return InputError(
        f"{where}: which of {len(names)} columns holds the label is not clear, as none is called "
        f"{', '.join(LABEL[:-1])} or {LABEL[-1]}. {variety(names, columns)}. {cure}; "
        "--node-column names that of the nodes."
    )


def variety(names: Sequence[str], columns: Sequence[Any]) -> str:
    """Return the columns with the number of their distinct values, for a message."""
    counts = [(name, _distinct(values)) for name, values in zip(names, columns, strict=False)]
    text = ", ".join(
        f"{quoted(name, 40)}" + ("" if many is None else f" ({many})") for name, many in counts
    )
    return f"Columns with the number of their different values: {short(text)}"


def _distinct(values: Any) -> int | None:
    """Return how many labels a column would give; None for lists and the like."""
    try:
        cells = values.unique().to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    return int((~find_missing(cells).mask).sum())


def _left_out(names: Sequence[str], counters: list[int], where: str) -> tuple[str, ...]:
    return tuple(
        f"column {k + 1} of {where} ({'no name' if not names[k] else quoted(names[k], 40)}, values "
        "0, 1, 2, ...) only counts the rows and is left out"
        for k in counters
    )


def _rivals(names: Sequence[str], i: int, j: int, label: str | None, where: str) -> tuple[str, ...]:
    """Say which other columns might hold labels, where the user has named none."""
    words = [name.strip().lower() for name in names]
    rivals = [names[k] for k, word in enumerate(words) if word in _RIVALS and k not in (i, j)]
    if label is not None or not rivals:
        return ()
    return (
        f"the labels of {where} are those in column {quoted(names[j], 60)}, not in "
        f"{listed(rivals, 90)}; --label-column decides otherwise",
    )

"""The columns of a table of points: which are features, names, labels, or none of these."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.affinity.features import matched
from robustgc.graph.quoting import listed, quoted, short
from robustgc.io.arrow import pa
from robustgc.io.column_names import UNNAMED, named_column, usual_column
from robustgc.io.dialect import MISSING, NUMBER
from robustgc.io.label_columns import REVIEWED
from robustgc.io.label_files import LabelTable, reviewed_marks
from robustgc.io.layouts import Layout
from robustgc.io.opening import InputError
from robustgc.io.tables import place_of

NAME = ("id", "node", "name", "node_id", "point", "index")
# Numbers as people write them, so that a column of them is refused with its line, not left out.
_LIKE_NUMBER = re.compile(r"[+-]?\s*+(?:[$€£]\s*+)?[\d.,][\d.,'  ]*+\s*+[%€$£]?")
_BOOLEAN = {"true": 1.0, "false": 0.0}
_LOOKED_AT = 10_000  # fields that show what a column holds


@dataclass(frozen=True)
class NamedPoints:
    """Points, what the user calls them, and the columns they have."""

    X: NDArray[np.float64]  # of shape (points, columns)
    names: NDArray[Any]
    columns: tuple[str, ...]
    header: bool = True  # whether the user has named the columns; else `columns` counts them
    labels: LabelTable | None = None  # from a column of the same table
    notes: tuple[str, ...] = ()  # what the user should know of how the columns were read


@dataclass(frozen=True)
class Choice:
    """Which columns are wanted for what; None: to be found out."""

    name: str | None = None  # with the names of the points; else a usual one, or row numbers from 0
    label: str | None = None  # with their labels
    columns: Sequence[str] | None = None  # the features that the user has named; else all numbers
    model: Sequence[str] | None = None  # the features of a fitted model: found by name, others out
    or_file: bool = False  # whether `label` is a file, not read here, where no column is called so

    @property
    def by_user(self) -> bool:
        """Whether the user has named a column, so that there is a header."""
        named = self.name is not None or (self.label is not None and not self.or_file)
        return named or bool(self.columns)


@dataclass(frozen=True)
class Roles:
    """What the columns of a table are, by number; `exact`: the features were named one by one."""

    name: int | None
    label: int | None
    features: list[int]
    exact: bool
    notes: tuple[str, ...]
    reviewed: int | None = None  # which labels a person has looked at


def roles(where: str, names: Sequence[str], choice: Choice, header: bool = True) -> Roles:
    """Say what every column is, by what the user has named and by usual names."""
    no_label = choice.label is None or (choice.or_file and choice.label not in names)
    name = None if choice.name is None else named_column(names, choice.name, where)
    label = None if no_label else named_column(names, str(choice.label), where)
    chosen = [named_column(names, wanted, where) for wanted in choice.columns or ()]
    if label is not None and (label in chosen or label == name):
        raise InputError(
            f"{where}: column {quoted(names[label])} holds the labels, so it is neither a feature "
            "nor a name. Name another column."
        )
    notes = []
    if name is None and header:
        known = {*(choice.model or ()), *(choice.columns or ())}
        name = usual_column(names, [word for word in NAME if word not in known])
        name = None if name == label else name
        if name is not None:
            notes.append(
                f"column {quoted(names[name])} is taken for names of points, not a feature"
            )
    reviewed = None if label is None else usual_column(names, (REVIEWED,))
    reviewed = None if reviewed in (name, label, *chosen) else reviewed
    rest = chosen or [k for k in range(len(names)) if k not in (name, label, reviewed)]
    if not rest:
        raise InputError(f"{where} has names and no columns with numbers. Add some.")
    if reviewed is not None:
        notes.append(
            f"column {quoted(names[reviewed])} says which labels were reviewed; it is no feature"
        )
    if choice.model is None or not header:
        return Roles(name, label, rest, bool(chosen), tuple(notes), reviewed)
    try:
        order, extra = matched([names[k] for k in rest], choice.model)
    except ValueError as error:
        raise InputError(f"{where}: {error}.") from None
    if extra:
        notes.append(f"columns that the model does not know are left out: {listed(extra)}")
    return Roles(name, label, [rest[k] for k in order], True, tuple(notes), reviewed)


def kind_of(fields: Iterable[str]) -> str:
    """Say whether a column of text holds numbers, booleans, or neither, by some of its fields."""
    some = [field.strip() for field in islice(fields, _LOOKED_AT)]
    some = [field for field in some if field.lower() not in MISSING]
    if some and all(field.lower() in _BOOLEAN for field in some):
        return "boolean"
    numbers = sum(bool(NUMBER.fullmatch(f) or _LIKE_NUMBER.fullmatch(f)) for f in some)
    return "number" if 2 * numbers >= len(some) else "text"


def _value_type(column: Any) -> Any:
    """Return the Arrow type of the values, also where each is stored once."""
    return column.type.value_type if pa.types.is_dictionary(column.type) else column.type


def kind_in_arrow(column: Any) -> str:
    """Say the same of a column of an Arrow table."""
    kind = _value_type(column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return kind_of(field for field in column[:_LOOKED_AT].to_pylist() if field is not None)
    plain = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return "number" if pa.types.is_null(kind) or any(test(kind) for test in plain) else "text"


@dataclass(frozen=True)
class PointTable:
    """The columns of a table of points as Arrow arrays, by number, and what each of them holds."""

    where: str | Path
    names: Sequence[str]
    values: Mapping[int, Any]
    kinds: Mapping[int, str]
    header: bool = True
    layout: Layout | None = None  # how it is written, if it is text
    index: NDArray[Any] | None = None  # names of the rows that are no column of the table

    def row(self, k: int) -> str:
        """Name a row for messages, with the table."""
        return f"{self.where}, {place_of(self.layout, k)}"

    def points(self, roles: Roles) -> NamedPoints:
        """Return the points: text and row numbers are no features, unless they were named."""
        features, notes = roles.features, list(roles.notes)
        if not roles.exact:
            features, more = self._features(features)
            notes += more
        columns = tuple(self.names[k] for k in features)
        if self.header and len(set(columns)) < len(columns):
            twice = next(name for name in columns if columns.count(name) > 1)
            raise InputError(
                f"{self.where}: two columns are called {quoted(twice)}. Rename or remove one: "
                "models know columns by their names."
            )
        X = np.empty((len(self.values[features[0]]), len(features)))
        for j, k in enumerate(features):
            X[:, j] = self._numbers(k)
        check_values(X, columns, self.where, self.layout)
        names = self._names(roles.name, len(X))
        labels = None
        if roles.label is not None:
            cells = self.values[roles.label].to_pylist()
            labels = LabelTable(names, cells, self.where, self.layout)
            if roles.reviewed is not None:
                marks = self.values[roles.reviewed].to_pylist()
                labels.reviewed = reviewed_marks(labels, marks)
        return NamedPoints(X, names, columns, self.header, labels, tuple(notes))

    def _features(self, columns: list[int]) -> tuple[list[int], list[str]]:
        """Return the columns that are neither text nor an index, and what is said of these."""
        text = [k for k in columns if self.kinds[k] == "text"]
        index = [k for k in columns if self.kinds[k] != "text" and self._is_index(k)]
        out = {*text, *index}
        if len(out) == len(columns):
            reasons = [f"{quoted(self.names[k])} holds {_value_type(self.values[k])}" for k in text]
            reasons += [f"{quoted(self.names[k])} numbers the rows" for k in index]
            raise InputError(
                f"{self.where}: there is no column with numbers to compare points by; column "
                f"{short(', '.join(reasons))}. Add some."
            )
        notes = self._text_note(text) + [self._index_note(k) for k in index]
        return [k for k in columns if k not in out], notes

    def _numbers(self, k: int) -> NDArray[np.float64]:
        column, kind = self.values[k], self.kinds[k]
        column = column.cast(_value_type(column))
        try:
            if kind == "boolean" and not pa.types.is_boolean(column.type):
                return self._truths(k, column.to_pylist())
            numbers = column.cast(pa.float64(), safe=False).to_numpy()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(
                f"{self.where}: column {quoted(self.names[k])} holds {column.type}, not numbers. "
                "Choose columns with --columns, or name the one with the points' names with --id."
            ) from None
        return np.asarray(numbers, dtype=np.float64)

    def _truths(self, k: int, fields: list[str | None]) -> NDArray[np.float64]:
        """Return 1 for true and 0 for false."""
        numbers = np.empty(len(fields))
        for i, field in enumerate(fields):
            word = (field or "").strip().lower()
            if word not in _BOOLEAN and word not in MISSING:
                raise InputError(
                    f"{self.row(i)}, column {quoted(self.names[k])}: {quoted(field)} is neither "
                    "true nor false, as the values before it are. Correct it, or leave the column "
                    "out (--columns)."
                )
            numbers[i] = _BOOLEAN.get(word, np.nan)
        return numbers

    def _is_index(self, k: int) -> bool:
        """Whether an unnamed column numbers the rows, perhaps those of a larger table."""
        if not self.header or not UNNAMED.fullmatch(self.names[k]):
            return False
        values = self._numbers(k)
        whole = np.isfinite(values).all() and (values >= 0).all() and (values % 1 == 0).all()
        return bool(whole) and len(np.unique(values)) == len(values) > 0

    def _index_note(self, k: int) -> str:
        values = self._numbers(k)
        called = f" ({quoted(self.names[k])})" if self.names[k] else ""
        return (
            f"column {k + 1}, which has no name{called} and numbers the rows ({values[0]:.0f} to "
            f"{values[-1]:.0f}), is no feature and is left out"
        )

    def _text_note(self, text: list[int]) -> list[str]:
        if not text:
            return []
        texts = []
        for k in text:
            column = self.values[k]
            try:
                many = len(column.unique())
            except NotImplementedError:  # lists and the like
                texts.append(f"{quoted(self.names[k], 60)} (of {column.type})")
                continue
            about = f"{many} distinct value{'s' * (many != 1)}"
            if many == len(column) > 1:
                about += "; as names of the points: --id"
            texts.append(f"{quoted(self.names[k], 60)} ({about})")
        one = len(text) == 1
        return [
            f"{len(text)} column{'s' * (not one)} of text {'is' if one else 'are'} left out: "
            f"{short(', '.join(texts), 600)}"
        ]

    def _names(self, k: int | None, rows: int) -> NDArray[Any]:
        """Return the names: of a column, else of the index, else row numbers."""
        if k is not None:
            names = np.array(self.values[k].to_pylist(), dtype=object)
        elif self.index is not None:
            names = self.index
        else:
            return np.arange(rows)
        check_names(names, self.row)
        return names


def check_values(
    X: NDArray[np.float64],
    names: Sequence[str],
    where: str | Path,
    layout: Layout | None = None,
) -> None:
    """Refuse values that are missing or not finite, with their place; and no values at all."""
    if not X.size:
        raise InputError(
            f"{where}: the points have shape {X.shape}. Give a row or more, with a column or more."
        )
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        i, j = bad[0]
        what = "missing" if np.isnan(X[i, j]) else "infinite"
        raise InputError(
            f"{where}, {place_of(layout, int(i))}, column {quoted(names[j])}: the value is {what} "
            f"({len(bad)} such in all). Fill in the values, or leave out such rows or columns "
            "(--columns)."
        )


def check_names(names: NDArray[Any], row: Callable[[int], str]) -> None:
    """Refuse points without a name, and two of the same."""
    seen: dict[str, int] = {}
    for k, name in enumerate(names.tolist()):
        if name is None or name == "":
            raise InputError(f"{row(k)}: a point without a name. Name it.")
        if (first := seen.setdefault(str(name), k)) != k:
            raise InputError(
                f"{row(k)}: the name {quoted(name)} is that of {row(first)} too. Names must "
                "differ; without a column of names rows are numbered from 0."
            )

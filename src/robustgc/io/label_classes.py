"""What the classes of a table of labels look like: of several kinds, too few or many, or alike."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from shlex import quote
from typing import Any
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.quoting import quoted, short
from robustgc.io.errors import InputError
from robustgc.io.label_columns import LabelColumns, variety
from robustgc.io.label_files import LabelTable
from robustgc.transduction.missing import Missing, own_markers

FEW = 5  # examples in a message
FEWEST = 4  # labels from which it says something that all of them differ
MANY_CLASSES = 20  # more, with fewer than two labels each, are names and no classes
_WHOLE = re.compile(r"([+-]?)(?:0+(?=\d))?+(\d++)(\.0*)?", re.ASCII)
# Words that are no markers, as they may well be classes, but often mean none.
_NO_CLASS = {"na", "n/a", "n.a.", "none", "nan", "nat", "null", "missing", "#nv", "unknown", "tbd"}
_DECIMAL = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?", re.ASCII | re.I)
_FRACTION = re.compile(r"[.,]\d*[1-9]|e-", re.I)


def marker_notes(missing: Missing) -> list[str]:
    """Say how many cells are read as unlabelled by which marker."""
    if not (sentence := missing.sentence()):
        return []
    return [
        f"{sentence}: read as unlabelled; --unlabelled decides otherwise (unlabelled= in Python, "
        '"" alone: only empty cells)'
    ]


def check_classes(where: str | Path, counts: Counter[Any], missing: Missing) -> None:
    """Refuse labels of fewer than two classes."""
    blame = ""
    if sentence := missing.sentence():
        blame = (
            f' {sentence}, read as unlabelled: if that is a class, give --unlabelled "" '
            "(unlabelled='' in Python)."
        )
    if not counts:
        raise InputError(f"{where}: there are no labels. Give a class to some nodes.{blame}")
    if len({str(label) for label in counts}) == 1:
        raise InputError(
            f"{where}: all {counts.total()} labels are of one class, "
            f"{quoted(str(next(iter(counts))))}. Give labels of two classes or more.{blame}"
        )


def check_kinds(table: LabelTable, labelled: NDArray[np.bool_]) -> None:
    """Refuse labels that are no classes, or of several kinds."""
    _check_fractions(table, labelled)
    first: dict[str, int] = {}
    for k in np.flatnonzero(labelled).tolist():
        label = table.labels[k]
        plain = label.item() if isinstance(label, np.generic) else label
        what = "number" if type(plain) in (int, float) else type(plain).__name__
        if what not in ("number", "str", "bool") or (what == "number" and plain % 1 != 0):
            raise InputError(
                f"{table.where}, {table.place(k)}: the label {quoted(label)} is no class. Classes "
                "are text, whole numbers or true and false; convert the labels."
            )
        first.setdefault(what, k)
    if len(first) > 1:
        some = " and ".join(
            f"{quoted(table.labels[k], 60)} ({table.place(k)})" for k in first.values()
        )
        raise InputError(
            f"{table.where}: the labels are of several kinds, as {some}. Make all of them text, or "
            "all numbers."
        )


def _check_fractions(table: LabelTable, labelled: NDArray[np.bool_]) -> None:
    """Refuse texts that are all numbers, some with a fraction, in a column nobody has named."""
    if table.columns is None or table.columns.by_user:
        return
    rows = np.flatnonzero(labelled).tolist()
    texts = [table.labels[k] for k in rows]
    if not all(isinstance(text, str) for text in texts):  # other kinds are checked elsewhere
        return
    if not all(_DECIMAL.fullmatch(text.strip()) for text in set(texts)):
        return
    k = next((k for k, text in zip(rows, texts, strict=True) if _FRACTION.search(text)), None)
    if k is not None:
        name = quoted(table.columns.names[table.columns.label], 60)
        raise InputError(
            f"{table.where}, {table.place(k)}: the labels are numbers with fractions, as "
            f"{quoted(table.labels[k], 60)}, which are no classes. Name the column of the classes "
            f"with --label-column (label_column= in Python); --label-column {name} keeps this one."
        )


def check_variety(
    where: str | Path, columns: LabelColumns | None, counts: Counter[Any]
) -> list[str]:
    """Refuse a column of names that was taken for that of the labels; return a note on few."""
    many, classes = counts.total(), len(counts)
    text = f"{many} labels are of {classes} classes, fewer than two each"
    every = many == classes and many >= FEWEST
    if every and many < 2 * FEW:
        text = f"every label is a class of its own ({many} labels)"
    elif many < 2 * FEW or 2 * classes <= many:
        return []
    if columns is not None and not columns.by_user:
        if classes > MANY_CLASSES or (every and columns.candidates(many)):
            raise _names(where, text, columns)
    place = "" if columns is None else f" in column {quoted(columns.names[columns.label], 60)}"
    return [f"{text}{place}; check that these are classes and no names"]


def _names(where: str | Path, text: str, columns: LabelColumns) -> InputError:
    others = columns.others()
    return InputError(
        f"{where}: {text}, so column {quoted(columns.names[columns.label], 60)} holds names "
        f"rather than classes. {variety(list(others), list(others.values()))}. Name the right one "
        "with --label-column (label_column= in Python); naming this one keeps it."
    )


def notes_on_alike(counts: Counter[Any]) -> list[str]:
    """Name classes that differ only in how they are written."""
    alike: dict[str, list[str]] = {}
    for label in counts:
        if isinstance(label, str):
            alike.setdefault(_as_number(_visible(_folded(label))), []).append(label)
    groups = [sorted(names, key=lambda name: -counts[name]) for names in alike.values()]
    return [_on_alike(group, counts) for group in groups if len(group) > 1][:FEW]


def _on_alike(names: list[str], counts: Counter[Any]) -> str:
    """Say in what classes differ, so that one sees it."""
    write: Callable[[Any, int], str] = quoted
    words = "how a number is written"
    if len(set(map(_folded, names))) == 1:
        words = "case or spaces"
    elif len({_visible(_folded(name)) for name in names}) == 1:
        words = "invisible characters, or how accents are stored"
        write = _escaped
    some = " and ".join(f"{write(name, 60)} ({counts[name]})" for name in names[:FEW])
    number = "two" if len(names) == 2 else len(names)
    return (
        f"{some} differ only in {words} and are {number} classes; correct the table if they are one"
    )


def _folded(label: str) -> str:
    return "".join(label.casefold().split())


def _visible(label: str) -> str:
    """Return a text in one form of Unicode, without characters of no width."""
    return "".join(letter for letter in normalize("NFKC", label) if category(letter) != "Cf")


def _as_number(label: str) -> str:
    """Return a whole number in its shortest form, as 2 for 02 and 2.0; other text as it is."""
    number = _WHOLE.fullmatch(label)
    return f"{number[1]}{number[2]}" if number else label


def _escaped(label: Any, most: int) -> str:
    return short(ascii(label), most)


def notes_on_markers(counts: Counter[Any], missing: Missing, unlabelled: Any) -> list[str]:
    """Name markers of the user's that no cell has, and classes that look like markers."""
    classes = {str(label): count for label, count in counts.items()}
    own = set() if unlabelled is None else {text for text in own_markers(unlabelled) if text}
    notes = []
    for marker in sorted(own - set(missing.counts)):
        close = {text: n for text, n in classes.items() if _folded(text) == _folded(marker)}
        hint = f", but {_with_counts(close)} is a class: case counts" if close else ""
        notes.append(f"--unlabelled {quoted(marker, 40)} matches no cell{hint}")
    words = {text: n for text, n in classes.items() if _folded(text) in _NO_CLASS}
    if words and (unlabelled is None or own):
        flags = " ".join(
            f"--unlabelled {quote(short(text, 40))}" for text in [*words, *missing.counts]
        )
        verb = "is read as a class" if len(words) == 1 else "are read as classes"
        notes.append(
            f"{_with_counts(words)} {verb}; if that means none, say so for all such words: {flags} "
            "(unlabelled= in Python)"
        )
    return notes


def _with_counts(counts: dict[str, int]) -> str:
    return short(", ".join(f"{quoted(text, 40)} ({count})" for text, count in counts.items()))


def notes_on_signs(counts: Counter[Any], missing: Missing) -> list[str]:
    """Name labels -1, 0 and 1 that are mostly 0: many papers write unlabelled so."""
    many = {str(label): count for label, count in counts.items()}
    minus = missing.counts.get("-1", 0)
    if set(many) != {"0", "1"} or not minus or many["0"] <= many["1"] + minus:
        return []
    return [
        f"the labels are -1, 0 and 1, and {many['0']} of {counts.total() + minus} are 0, which is "
        "read as a class; if 0 means unlabelled and -1 is a class, give --unlabelled 0"
    ]

"""What the classes of a table of labels look like: too few, too many, or two that may be one."""

from collections import Counter
from pathlib import Path
from typing import Any

from robustgc.io.errors import InputError
from robustgc.io.label_columns import LabelColumns, variety
from robustgc.missing import Missing
from robustgc.quoting import quoted

FEW = 5  # examples in a message
FEWEST = 4  # labels from which it says something that all of them differ
MANY_CLASSES = 20  # more, with fewer than two labels each, are names and no classes


def marker_notes(missing: Missing) -> list[str]:
    """Say how many cells are read as unlabelled by which marker."""
    if not (said := missing.sentence()):
        return []
    return [
        f"{said}: read as unlabelled; --unlabelled decides otherwise (unlabelled= in Python, "
        '"" alone: only empty cells)'
    ]


def check_classes(where: str | Path, counts: Counter[Any], missing: Missing) -> None:
    """Refuse labels of fewer than two classes."""
    blame = ""
    if said := missing.sentence():
        blame = (
            f' {said}, read as unlabelled: if that is a class, give --unlabelled "" '
            "(unlabelled='' in Python)."
        )
    if not counts:
        raise InputError(f"{where}: there are no labels. Give a class to some nodes.{blame}")
    if len({str(label) for label in counts}) == 1:
        raise InputError(
            f"{where}: all {counts.total()} labels are of one class, "
            f"{quoted(str(next(iter(counts))))}. Give labels of two classes or more.{blame}"
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
    """Name classes that differ only in case or spaces."""
    alike: dict[str, list[str]] = {}
    for label in counts:
        if isinstance(label, str):
            alike.setdefault("".join(label.casefold().split()), []).append(label)
    groups = [sorted(names, key=lambda name: -counts[name]) for names in alike.values()]
    notes = []
    for names in [group for group in groups if len(group) > 1][:FEW]:
        some = " and ".join(f"{quoted(name, 60)} ({counts[name]})" for name in names[:FEW])
        number = "two" if len(names) == 2 else len(names)
        notes.append(
            f"{some} differ only in case or spaces and are {number} classes; correct the table if "
            "they are one"
        )
    return notes


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

"""Which attribute of the edges has their weights, and what is said of the others."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any

from robustgc.graph.quoting import listed, quoted
from robustgc.io.edge_columns import WEIGHT
from robustgc.io.errors import InputError

USUAL = tuple(dict.fromkeys(("weight", *WEIGHT, "count")))  # in small letters, best first
_NUMBERING = ("id", "key", "index")  # numbers that count edges rather than measure them


def attribute_columns(records: Iterable[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    """Return the attributes of edges by name, an entry per edge, None where it has none."""
    rows = list(records)
    names = list(dict.fromkeys(key for row in rows for key in row))
    return {str(name): [row.get(name) for row in rows] for name in names}


def edge_weights(
    columns: Mapping[str, Sequence[Any]], weight: str | None, where: str
) -> tuple[Sequence[Any] | None, tuple[str, ...]]:
    """Return the weight of every edge, and what the user should know of the choice.

    Parameters
    ----------
    columns : mapping
        From the name of an edge attribute to its values, None where an edge has none.
    weight : str or None
        The attribute that the user has named. None: `weight`, or else the first of `USUAL` that
        is a number of 0 or more on every edge.
    where : str

    Returns
    -------
    values : sequence or None
        None: no attribute has weights.
    notes : tuple of str
    """
    if weight is not None and weight not in columns:
        known = f"edges have {listed(columns)}" if columns else "edges have no attributes at all"
        raise InputError(
            f"{where}: no edge has the attribute {quoted(weight, 90)}; {known}. Name one of these "
            "with --weight (weight= in Python), or leave it out."
        )
    name = weight if weight is not None else _usual(columns)
    notes = []
    if name is not None:
        if weight is None and name != "weight":
            notes.append(f"weights are the edge attribute {quoted(name, 90)}")
        if lost := sum(value is None for value in columns[name]):
            notes.append(
                f"{lost} of {len(columns[name])} edges have no attribute {quoted(name, 90)} and "
                "count with weight 1"
            )
    others = [other for other in columns if other != name and _measures(other, columns[other])]
    if weight is None and others:
        notes.append(
            f"edge attributes not used: {listed(others)}; --weight NAME uses one (weight= in "
            "Python)"
        )
    return (None if name is None else columns[name]), tuple(notes)


def _usual(columns: Mapping[str, Sequence[Any]]) -> str | None:
    """Return the attribute that has the weights by its name; None if there is none."""
    if "weight" in columns:
        return "weight"
    for word in USUAL:
        for name, values in columns.items():
            if name.lower() == word and all(_number(value) >= 0 for value in values):
                return name
    return None


def _measures(name: str, values: Sequence[Any]) -> bool:
    """Whether an attribute has numbers only, on the edges that have it."""
    some = [value for value in values if value is not None]
    return name.lower() not in _NUMBERING and not any(map(isnan, map(_number, some)))


def _number(value: Any) -> float:
    """Return a finite number, also one written as text; NaN for all else."""
    if value is None or isinstance(value, bool):
        return float("nan")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
    return number if abs(number) < float("inf") else float("nan")

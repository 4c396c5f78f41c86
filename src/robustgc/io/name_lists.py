"""Several names in one cell of a table: joined with semicolons, and split again."""

import csv
from collections.abc import Iterable

from robustgc.graph.quoting import quoted
from robustgc.io.errors import InputError

_SPECIAL = frozenset(';"\r\n')


def join_names(names: Iterable[object]) -> str:
    """Join names with semicolons; those that hold one, or a quote, stand in double quotes.

    Examples
    --------
    >>> join_names(["New York", "a;b", 7])
    'New York;"a;b";7'
    """
    return ";".join(map(_cell, names))


def split_names(text: str) -> list[str]:
    """Return the names that `join_names` has joined, as text.

    Examples
    --------
    >>> split_names('New York;"a;b";7')
    ['New York', 'a;b', '7']
    """
    if not text:
        return []
    try:
        return next(csv.reader([text], delimiter=";", strict=True))
    except csv.Error as error:
        raise InputError(
            f"{quoted(text)} is no list of names between semicolons ({error}). A name that holds a "
            "semicolon or a double quote stands in double quotes, and the quote is written twice."
        ) from None


def _cell(name: object) -> str:
    text = str(name)
    if text and text == text.strip() and not _SPECIAL.intersection(text):
        return text
    return '"' + text.replace('"', '""') + '"'

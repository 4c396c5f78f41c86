"""What messages quote of the user's input: little of it, on one line, whatever it is."""

import reprlib
from collections.abc import Collection
from typing import Any

MOST = 200  # characters of input in a message

_brief = reprlib.Repr()  # neither long nor deep values are written out before they are cut
_brief.maxlevel, _brief.maxstring, _brief.maxother, _brief.maxlong = 4, MOST, MOST, MOST


def short(value: Any, most: int = MOST) -> str:
    """Return a text of the user's, or an error about it, on one line and cut where it is long.

    Examples
    --------
    >>> short("a,b" * 100, 10)
    'a,ba,ba... (300 characters)'
    """
    text = str(value) if isinstance(value, str | BaseException) else _repr(value)
    cut = text if len(text) <= most else text[: max(most - 3, 1)]
    cut = "".join(letter if letter.isprintable() else _plain(letter) for letter in cut)[:most]
    return cut if len(text) <= most else f"{cut}... ({len(text)} characters)"


def quoted(value: Any, most: int = MOST) -> str:
    """Return a value as Python writes it, cut where it is long.

    Examples
    --------
    >>> quoted("x" * 100, 10)
    "'xxxxxxx...' (100 characters)"
    """
    if not isinstance(value, str):
        return short(_repr(value), most)
    if len(value) <= most:
        return repr(value)
    return f"{value[: max(most - 3, 1)] + '...'!r} ({len(value)} characters)"


def listed(values: Any, most: int = MOST) -> str:
    """Return names between commas, as many as there is room for."""
    names = [quoted(value, most) for _, value in zip(range(most), values, strict=False)]
    return short(", ".join(names), most)


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Refuse a value that is none of some names."""
    if value not in choices:
        raise ValueError(
            f"{name}={quoted(value)} is unknown; it must be one of {', '.join(choices)}."
        )


def _repr(value: Any) -> str:
    try:
        return _brief.repr(value)
    except ValueError:  # a whole number of thousands of digits, which Python does not write
        return f"a huge number, or {type(value).__name__} of them"


def _plain(letter: str) -> str:
    return " " if letter in "\r\n\t" else letter.encode("unicode_escape").decode("ascii")

"""Why a table could not be read: the file again, slowly, up to the first line that is wrong."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustgc.graph.quoting import quoted, short
from robustgc.io.decimals import is_number
from robustgc.io.dialect import Dialect, undecodable
from robustgc.io.heads import LONG, LONGEST, RETURN, head
from robustgc.io.opening import InputError, opened

if TYPE_CHECKING:
    from robustgc.io.tables import Layout

_MARKS = {".": "point", ",": "comma"}
_NOTHING = ("", "na", "n/a", "null", "none", "?", "-")


def explain(path: Path, look: "Layout", types: dict[int, Any], error: Exception) -> InputError:
    """Return an error that names the line.

    Parameters
    ----------
    path : Path
    look : Layout
        How the table is written.
    types : dict
        Arrow type of the columns, by number.
    error : Exception
        What the fast reader said, for what is not found here.
    """
    first = look.names is None
    with opened(path, spaced=look.delimiter == " ", encoding=look.encoding) as stream:
        for number, raw in enumerate(_lines(stream), 1):
            if len(raw) > LONGEST:
                return InputError(f"{path}, line {number}: {LONG}")
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as bad:
                return undecodable(path, number, raw[bad.start], "utf-8")
            if number <= look.skipped or not line:
                continue
            reason = _wrong(line, look, types, first)
            if reason:
                return InputError(f"{path}, line {number}: {reason}")
            first = False
    return InputError(f"{path} cannot be read: {short(error)}. Check how it was written.")


def line_of(path: Path, skipped: int, row: int, dialect: Dialect | None = None) -> int:
    """Return the line of a row, counted from 0: empty lines are no rows."""
    start = head(path, dialect or Dialect())
    with opened(path, spaced=start.delimiter == " ", encoding=start.encoding) as stream:
        for number, raw in enumerate(_lines(stream), 1):
            if number > skipped and raw:
                row -= 1
                if row < 0:
                    return number
    return 0


def _lines(stream: Any) -> Iterator[bytes]:
    """Yield lines without their ends; what is too long to be one comes cut, and is the last."""
    with io.BufferedReader(stream, 2**20) as file:
        while line := file.readline(LONGEST + 1):
            yield line.rstrip(b"\r\n")
            if len(line) > LONGEST and not line.endswith(b"\n"):
                return


def unfit(line: str, mark: str) -> str:
    """Say why a line is no row of a table before it is cut into fields; nothing: it may be one."""
    if (place := line.find("\0")) >= 0:
        return (
            f"a NUL byte, letter {place + 1} of the line: this is no text, or UTF-16, or "
            "damaged. Save the file as UTF-8."
        )
    if len(line) <= csv.field_size_limit():
        return ""
    sizes = [len(field) for field in line.split(mark)]
    if max(sizes) <= csv.field_size_limit():
        return ""
    return (
        f"field {sizes.index(max(sizes)) + 1} has {max(sizes)} letters; at most "
        f"{csv.field_size_limit()} are read. Shorten it, or leave the column out; if a double "
        "quote was left open before it, close it."
    )


def _wrong(line: str, look: "Layout", types: dict[int, Any], first: bool) -> str:
    """Say what is wrong with a line; `first`: it is the first one, and may be a header."""
    if "\r" in line:
        return RETURN
    if reason := unfit(line, look.delimiter):
        return reason
    try:
        fields = next(csv.reader([line], delimiter=look.delimiter, strict=True))
    except csv.Error:
        return (
            f"a double quote opens and does not close, or text stands beside it: {quoted(line)}. "
            "Close it; a quote that belongs to the text is written twice, in a field in quotes. "
            "Fields over several lines are not read: replace the line break."
        )
    if reason := _extra(fields, look):
        return reason
    for place, kind_ in types.items():
        text = fields[place].strip()
        if str(kind_) == "double" and text not in look.nulls and not is_number(text, look.decimal):
            return _no_number(text, place, look, first)
    return ""


def _extra(fields: list[str], look: "Layout") -> str:
    """Say why the number of fields is wrong; nothing: it is right."""
    if len(fields) != look.width + look.blank:
        few = "few" if len(fields) < look.width + look.blank else "many"
        return (
            f"{len(fields)} field{'s' * (len(fields) != 1)} where {look.width + look.blank} are "
            f"expected, too {few}: {quoted(' | '.join(fields))}. Correct the line; text that holds "
            f"the delimiter ({quoted(look.delimiter)}; --delimiter names another) must stand in "
            "double quotes."
        )
    extra = next((field for field in fields[look.width :] if field.strip()), "")
    if extra:
        return (
            f"{quoted(extra)} after the last column: that field is empty in the first lines. "
            "Remove it, or give the column a name in the header."
        )
    return ""


def _no_number(text: str, place: int, look: "Layout", first: bool) -> str:
    column = f"column {place + 1}" + (f" ({quoted(look.names[place])})" if look.names else "")
    if text.lower() in _NOTHING:
        return (
            f"the value in {column} is missing ({quoted(text)}). Fill it in, or leave the line out."
        )
    cure = "Correct it"
    if first:
        cure = "If this line is a header, use --header (header=True in Python); else correct it"
    for mark, other in ((",", "."), (".", ",")):
        if look.decimal == other and is_number(text, mark):
            cure = (
                f"Numbers are read with a decimal {_MARKS[other]}: write all of them so, or use "
                f"--decimal {mark} (decimal={mark!r} in Python) if they have a {_MARKS[mark]}"
            )
    return f"{quoted(text)} in {column} is no number. {cure}, or name the columns that are meant."

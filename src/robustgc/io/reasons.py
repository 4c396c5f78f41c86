"""Why a table could not be read: the file again, slowly, up to the first line that is wrong."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustgc.io.opening import InputError, kind, opened

if TYPE_CHECKING:
    from robustgc.io.tables import Layout

NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)\s*", re.I | re.A)
RETURN = "a carriage return within the line. Save the file with LF or CR LF at the end of lines."
_NOTHING = ("", "na", "n/a", "null", "none", "?", "-")


def delimiter(path: Path, line: str) -> str:
    """Tell from a line what stands between its fields; a space means any number of them."""
    if kind(path) in (".tsv", ".tab"):
        return "\t"
    return next((mark for mark in ("\t", ",", ";", " ") if mark in line.strip()), ",")


def explain(
    path: Path, look: "Layout | None", types: dict[int, Any], error: Exception
) -> InputError:
    """Return an error that names the line.

    Parameters
    ----------
    path : Path
    look : Layout or None
        How the table is written; None: not known, as it is not UTF-8.
    types : dict
        Arrow type of the columns, by number.
    error : Exception
        What the fast reader said, for what is not found here.
    """
    with opened(path, spaced=look is not None and look.delimiter == " ") as stream:
        for number, raw in enumerate(_lines(stream), 1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as bad:
                return InputError(
                    f"{path}, line {number}: not UTF-8 (byte {bad.start + 1} of the line is "
                    f"0x{raw[bad.start]:02x}). Save the file as UTF-8."
                )
            if look is None or number <= look.skipped or not line:
                continue
            reason = _wrong(line, look, types)
            if reason:
                return InputError(f"{path}, line {number}: {reason}")
    return InputError(f"{path} cannot be read: {error}. Check how it was written.")


def line_of(path: Path, skipped: int, row: int) -> int:
    """Return the line of a row, counted from 0: empty lines are no rows."""
    with opened(path) as stream:
        first = next((raw for raw in _after(stream, skipped)), b"")
    spaced = delimiter(path, first.decode("utf-8", "replace")) == " "
    with opened(path, spaced=spaced) as stream:
        for number, raw in enumerate(_lines(stream), 1):
            if number > skipped and raw:
                row -= 1
                if row < 0:
                    return number
    return 0


def _after(stream: Any, skipped: int) -> Iterator[bytes]:
    lines = enumerate(_lines(stream))
    return (raw for k, raw in lines if k >= skipped and raw.strip() and raw.lstrip()[:1] != b"#")


def _lines(stream: Any) -> Iterator[bytes]:
    with io.BufferedReader(stream, 2**20) as file:
        for line in file:
            yield line.rstrip(b"\r\n")


def _wrong(line: str, look: "Layout", types: dict[int, Any]) -> str:
    if "\r" in line:
        return RETURN
    try:
        fields = next(csv.reader([line], delimiter=look.delimiter, strict=True))
    except csv.Error:
        return (
            f"a double quote opens and does not close, or text stands beside it: {_short(line)!r}. "
            "Close it; a quote that belongs to the text is written twice, in a field in quotes."
        )
    if len(fields) != look.width:
        few = "few" if len(fields) < look.width else "many"
        return (
            f"{len(fields)} field{'s' * (len(fields) != 1)} where {look.width} are expected, too "
            f"{few}: {_short(' | '.join(fields))!r}. Correct the line; text that holds the "
            "delimiter must stand in double quotes."
        )
    for place, kind_ in types.items():
        if str(kind_) == "double" and not NUMBER.fullmatch(fields[place]):
            return _no_number(fields[place].strip(), place, look)
    return ""


def _no_number(text: str, place: int, look: "Layout") -> str:
    column = f"column {place + 1}" + (f" ({look.names[place]!r})" if look.names else "")
    if text.lower() in _NOTHING:
        return f"the value in {column} is missing ({text!r}). Fill it in, or leave the line out."
    cure = "Write 0.5, not 0,5" if re.fullmatch(r"-?\d+,\d+", text) else "Correct it"
    return f"{_short(text)!r} in {column} is no number. {cure}, or name the columns that are meant."


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."

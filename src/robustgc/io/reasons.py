"""Why a table could not be read: the file again, slowly, up to the first line that is wrong."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustgc.io.opening import InputError, kind, opened
from robustgc.quoting import quoted, short

if TYPE_CHECKING:
    from robustgc.io.tables import Layout

NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)\s*", re.I | re.A)
LONG = (
    "more than 1,048,576 bytes without an end of the line, which no row of a table has. Check that "
    "it is a table, with a row on each line."
)
RETURN = "a carriage return within the line. Save the file with LF or CR LF at the end of lines."
LONGEST = 2**20  # bytes of a line; the reader of tables takes blocks of that many
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
            if len(raw) > LONGEST:
                return InputError(f"{path}, line {number}: {LONG}")
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
    return InputError(f"{path} cannot be read: {short(error)}. Check how it was written.")


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
            f"a NUL byte, the {place + 1}. letter of the line: this is no text, or UTF-16, or "
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


def _wrong(line: str, look: "Layout", types: dict[int, Any]) -> str:
    if "\r" in line:
        return RETURN
    if reason := unfit(line, look.delimiter):
        return reason
    try:
        fields = next(csv.reader([line], delimiter=look.delimiter, strict=True))
    except csv.Error:
        return (
            f"a double quote opens and does not close, or text stands beside it: {quoted(line)}. "
            "Close it; a quote that belongs to the text is written twice, in a field in quotes."
        )
    if len(fields) != look.width:
        few = "few" if len(fields) < look.width else "many"
        return (
            f"{len(fields)} field{'s' * (len(fields) != 1)} where {look.width} are expected, too "
            f"{few}: {quoted(' | '.join(fields))}. Correct the line; text that holds the "
            "delimiter must stand in double quotes."
        )
    for place, kind_ in types.items():
        if str(kind_) == "double" and not NUMBER.fullmatch(fields[place]):
            return _no_number(fields[place].strip(), place, look)
    return ""


def _no_number(text: str, place: int, look: "Layout") -> str:
    column = f"column {place + 1}" + (f" ({quoted(look.names[place])})" if look.names else "")
    if text.lower() in _NOTHING:
        return (
            f"the value in {column} is missing ({quoted(text)}). Fill it in, or leave the line out."
        )
    cure = "Write 0.5, not 0,5" if re.fullmatch(r"-?\d+,\d+", text) else "Correct it"
    return f"{quoted(text)} in {column} is no number. {cure}, or name the columns that are meant."

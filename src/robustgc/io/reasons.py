"""Why a table could not be read: the file again, slowly, up to the first line that is wrong."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from robustgc.io.opening import InputError, opened


def explain(
    path: Path,
    delimiter: str,
    skipped: int,
    types: dict[int, Any],
    width: int = 0,
    error: Exception | None = None,
) -> InputError:
    """Return an error that names the line.

    Parameters
    ----------
    path : Path
    delimiter : str
    skipped : int
        Lines before the first row.
    types : dict
        Arrow type of the columns, by number.
    width : int
        Fields that every row must have; 0: not known yet.
    error : Exception or None
        What the fast reader said, for what is not found here.
    """
    with opened(path) as stream:
        lines = enumerate(_lines(stream), 1)
        for number, raw in lines:
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as bad:
                return InputError(
                    f"{path}, line {number}: not UTF-8 (byte {bad.start + 1} of the line is "
                    f"0x{raw[bad.start]:02x}). Save the file as UTF-8."
                )
            if number <= skipped or not width or not line.strip():
                continue
            reason = _wrong(next(csv.reader([line], delimiter=delimiter), []), types, width)
            if reason:
                return InputError(f"{path}, line {number}: {reason}")
    return InputError(f"{path} cannot be read: {error}")


def line_of(path: Path, skipped: int, row: int) -> int:
    """Return the line of a row, counted from 0: empty lines are no rows."""
    with opened(path) as stream:
        for number, raw in enumerate(_lines(stream), 1):
            if number > skipped and raw.strip():
                row -= 1
                if row < 0:
                    return number
    return 0


def _lines(stream: Any) -> Iterator[bytes]:
    with io.BufferedReader(stream) as file:
        for line in file:
            yield line.rstrip(b"\r\n")


def _wrong(fields: list[str], types: dict[int, Any], width: int) -> str:
    if len(fields) != width:
        few = "few" if len(fields) < width else "many"
        return (
            f"{len(fields)} field{'s' * (len(fields) != 1)} where {width} are expected, too {few}: "
            f"{_short(' | '.join(fields))!r}. Correct the line; text that holds the delimiter must "
            "stand in double quotes."
        )
    for place, kind in types.items():
        if str(kind) == "double" and not _is_number(fields[place]):
            return (
                f"{_short(fields[place])!r} in column {place + 1} is no number. Correct it, or "
                "name the columns that are meant."
            )
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."

"""Numbers that are written as text: what is one, and whether a table has a decimal comma."""

import re
from pathlib import Path

from robustgc.graph.quoting import quoted
from robustgc.io.errors import InputError

NUMBER = re.compile(r"\s*[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)\s*", re.I | re.A)
_GROUPS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+|[+-]?\d{1,3}(,\d{3})+\.\d+", re.A)
_THREE = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.A)  # 1,234: a fraction, or above a thousand
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}", re.A)
# What stands for a number that is not there, in small letters.
MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-")
SECONDS = 8e8  # since 1970, in 1995: whole numbers from there on are times
NOTE = "numbers are read with a decimal comma (--decimal . reads them with a point)"


def is_number(text: str, decimal: str = ".") -> bool:
    """Whether a text is a number, with a decimal point or comma."""
    if decimal == ",":
        if "." in text:
            return False
        text = text.replace(",", ".", 1)
    return NUMBER.fullmatch(text) is not None


def decimal_of(
    path: Path, lines: list[int], rows: list[list[str]], delimiter: str, decimal: str | None = None
) -> tuple[str, tuple[str, ...]]:
    """Return the decimal mark of a table, and a note where it is a comma.

    Refused are points with commas, marks that may stand between thousands, and commas that the user
    calls `decimal`, but that stand between fields.
    """
    inside = any("," in field for row in rows for field in row)  # in quotes, if it is a delimiter
    if decimal == "," == delimiter and not inside:
        raise InputError(
            f"{path}, line {lines[0]}: commas stand between its fields, so numbers have none. "
            "Leave out --decimal, or put numbers in double quotes, or another mark between fields."
        )
    thousands = delimiter == ";" and any("." in field for row in rows for field in row)
    if decimal is not None or not (inside or thousands):
        return decimal or ".", ()
    places = range(max(map(len, rows)))
    columns = [[(n, row[k].strip()) for n, row in zip(lines, rows, strict=True) if len(row) > k]
               for k in places]  # fmt: skip
    fields = [field for column in columns for field in _numbers(column)]
    commas = [(n, text) for n, text in fields if "," in text]
    if not commas:
        if thousands:
            _refuse_thousands(path, columns)
        return ".", ()
    _refuse_open(path, fields, commas)
    return ",", (NOTE,)


def refuse_cut_numbers(path: Path, line: int, whole: list[str], decimals: list[str]) -> None:
    """Refuse two columns of digits at the end of rows that may be one number, cut at its comma.

    Some weights are below 1 then; without a 0 these are as likely two columns, and noted as such.
    """
    if "0" not in whole:
        return
    digits = [text.isascii() and text.isdecimal() for text in (*whole, *decimals)]
    if not all(digits) or not decimals or all(float(text) >= SECONDS for text in decimals):
        return
    number = quoted(f"{whole[0]},{decimals[0]}", 60)
    raise InputError(
        f"{path}, line {line}: {number} may be a weight with a decimal comma, but commas stand "
        "between the fields too. If it is one, put such numbers in double quotes, or another mark "
        "between the fields; if these are two columns, add a header line, or name the columns with "
        "--source 'column 1' --target 'column 2', and perhaps --weight 'column 3'."
    )


def _refuse_thousands(path: Path, columns: list[list[tuple[int, str]]]) -> None:
    """Refuse points that may stand between thousands, as where commas are decimal."""
    for column in map(_numbers, columns):
        points = [(n, text) for n, text in column if "." in text]
        if points and all(_THOUSANDS.fullmatch(text) for _, text in points):
            line, text = points[0]
            raise InputError(
                f"{path}, line {line}: {quoted(text)} may be {text} or {text.replace('.', '')}, as "
                "semicolons between fields often go with decimal commas. Use --decimal . (decimal= "
                "in Python) if it is the former; else write numbers without marks between "
                "thousands."
            )


def _numbers(column: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the fields of a column of numbers, of whatever kind; nothing if there are others."""
    column = [(n, text) for n, text in column if text.lower() not in MISSING]
    if column and not _number(column[0][1]):
        column = column[1:]  # perhaps a header
    return column if all(_number(text) for _, text in column) else []


def _number(text: str) -> bool:
    return is_number(text) or is_number(text, ",") or _GROUPS.fullmatch(text) is not None


def _refuse_open(path: Path, fields: list[tuple[int, str]], commas: list[tuple[int, str]]) -> None:
    """Refuse numbers that can be read in two ways."""
    cure = "write numbers without marks between thousands, and use --decimal (decimal= in Python)."
    for n, text in fields:
        if _GROUPS.fullmatch(text):
            raise InputError(
                f"{path}, line {n}: {quoted(text)} has a mark between thousands: {cure}"
            )
    line, comma = commas[0]
    if all(_THREE.fullmatch(text) for _, text in commas):
        raise InputError(
            f"{path}, line {line}: {quoted(comma)} may be {comma.replace(',', '.')} or "
            f"{comma.replace(',', '')}. Use --decimal , if it is the former; else {cure}"
        )
    for n, text in fields:
        if "." in text:
            raise InputError(
                f"{path}, line {n}: {quoted(text)} has a decimal point, {quoted(comma)} on line "
                f"{line} a comma. Write all numbers in one way, or use --decimal , or --decimal . "
                "(decimal= in Python) if only one of the two is a number."
            )

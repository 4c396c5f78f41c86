"""What the user says of text tables, and what their bytes show: delimiter, encoding, numbers."""

import codecs
import csv
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from robustgc.graph.quoting import quoted
from robustgc.io.errors import InputError

MARKS = ("\t", ";", "|", ",", " ")  # the rarer within names stand first
_SPELLINGS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
_ROWS = 200  # lines that show the delimiter
_NEARLY = 0.9  # of the best share: a few rows may be wrong: the reader says which
_PLAIN_COMMA = re.compile(r"(?<!\d),(?! )|,(?![\d ])")  # neither decimal nor before a space
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")
NUMBER = re.compile(r"\s*[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)\s*", re.I | re.A)
_GROUPS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+|[+-]?\d{1,3}(,\d{3})+\.\d+", re.A)
_THREE = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.A)  # 1,234: a fraction, or above a thousand
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}", re.A)
# What stands for a number that is not there, in small letters.
MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-")
SECONDS = 8e8  # since 1970, in 1995: whole numbers from there on are times
NOTE = "numbers are read with a decimal comma (--decimal . reads them with a point)"


@dataclass(frozen=True)
class Dialect:
    """How the text tables of a run are written; what is None is found out for every file."""

    delimiter: str | None = None  # between fields: one character, or a word of `_SPELLINGS`
    decimal: str | None = None  # . or , before the decimals of a number
    encoding: str | None = None  # as Python names it: utf-8, utf-16, cp1252, ...
    header: bool | None = None  # whether the first row of edges, or points, names the columns

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            mark = _SPELLINGS.get(self.delimiter.lower(), self.delimiter)
            object.__setattr__(self, "delimiter", _checked_delimiter(mark))
        if self.decimal not in (None, ".", ","):
            raise InputError(f"--decimal {quoted(self.decimal)} is unknown; choose . or , instead.")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _checked_encoding(self.encoding))


def not_used(dialect: Dialect | None, path: Path, what: str) -> tuple[str, ...]:
    """Say which options do not matter for a file that is no text table.

    A header is one of the edges or points only, and refused; the rest may be meant for the labels.
    """
    if dialect is None:
        return ()
    if dialect.header is not None:
        flag = "--header" if dialect.header else "--no-header"
        raise InputError(
            f"{path}: {flag} is about the first row of a text table, and {what} is none. Leave it "
            "out (header= in Python)."
        )
    flags = [f"--{name}" for name in ("delimiter", "decimal", "encoding") if getattr(dialect, name)]
    verb = "is" if len(flags) == 1 else "are"
    text = f"{', '.join(flags)} {verb} for text tables and not used for {path.name}, {what}"
    return (text,) if flags else ()


def _checked_delimiter(mark: str) -> str:
    if len(mark) != 1 or not mark.isascii() or mark.isalnum() or mark in '"\r\n\0.-+_#%':
        raise InputError(
            f"--delimiter {quoted(mark)} cannot stand between fields; choose one character such as "
            "',' ';' '|' ':' or a word: tab, space, comma, semicolon, pipe."
        )
    return mark


def _checked_encoding(name: str) -> str:
    try:
        codec = codecs.lookup(name)
        "ä".encode(codec.name, "replace").decode(codec.name)  # some codecs are not of text
    except (LookupError, UnicodeError, ValueError):
        raise InputError(
            f"--encoding {quoted(name)} is unknown; choose utf-8, utf-16, cp1252 (Windows), "
            "latin-1, mac-roman, or another one that Python knows."
        ) from None
    return "utf-8" if codec.name in ("utf-8", "utf-8-sig", "ascii") else codec.name


def encoding_of(head: bytes) -> str:
    """Return the encoding that the first bytes of a file show; UTF-8 where they show no other."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    half = len(head) // 2
    zeros = [head[start::2].count(0) for start in (0, 1)]
    for name, many, few in (("utf-16-le", 1, 0), ("utf-16-be", 0, 1)):
        if half > 1 and zeros[many] > 0.4 * half and zeros[few] < 0.05 * half:
            return name
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252" if _is_windows(head) else "utf-8"
    return "utf-8"


def _is_windows(head: bytes) -> bool:
    """Whether bytes are text of Windows: no letter is UTF-8, else some of UTF-8 is damaged."""
    if _CONTROL.search(head) or not head.decode("utf-8", "ignore").isascii():
        return False
    try:
        head.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return True


def encoding_note(encoding: str, path: Path) -> tuple[str, ...]:
    """Say which encoding was recognised."""
    if encoding == "utf-8":
        return ()
    reason = ", as it is not UTF-8" if encoding == "cp1252" else ""
    return (
        f"{path.name} is read as {encoding}{reason} (--encoding NAME reads it as another encoding)",
    )


def delimiters(lines: list[str], ending: str, decimal: str | None = None) -> list[str]:
    """Return what may stand between fields, the likeliest first; a space means any number of them.

    It is what gives most rows the same number of fields, two or more, and cuts no field in double
    quotes, which may hold any of them. Where several do, tabs come first and spaces last; of the
    others those that cut the first row, perhaps a header, as the rest, then commas that are all
    decimal, or before a space, give way, and then the most fields decide.
    """
    if ending in (".tsv", ".tab"):
        return ["\t"]
    rows = [line.strip(" \r") for line in lines if line.strip()][:_ROWS]
    kinds = {mark: _regular(rows, mark) for mark in MARKS if mark != decimal}
    least = min((kind.cuts for kind in kinds.values() if kind.width > 1), default=0)
    kinds = {mark: kind for mark, kind in kinds.items() if kind.cuts <= least}
    best = max((kind.share for kind in kinds.values()), default=0)
    if best == 0:
        return [","]
    likely = [mark for mark, kind in kinds.items() if kind.share >= _NEARLY * best]
    if "\t" in likely or len(likely) == 1:
        return likely[:1]
    likely = [mark for mark in likely if mark != " "]
    likely = [mark for mark in likely if kinds[mark].first] or likely
    if len(likely) > 1 and 2 * sum(map(bool, map(_PLAIN_COMMA.search, rows))) < len(rows):
        likely = [mark for mark in likely if mark != ","]
    return sorted(likely, key=lambda mark: -kinds[mark].width)  # the first of several


def delimiter_note(mark: str, others: list[str]) -> tuple[str, ...]:
    """Say which delimiter was taken, where another cuts the rows as well."""
    if not others:
        return ()
    return (
        f"fields are cut at {quoted(mark)}, though {quoted(others[0])} would do as well "
        f"(--delimiter {quoted(others[0])} cuts them there)",
    )


class _Regular(NamedTuple):
    """How a delimiter cuts rows."""

    share: float  # of the rows with the usual number of fields
    width: int  # that number
    first: bool = False  # whether the first row has it too
    cuts: int = 0  # rows with a double quote that is left open in a field, as its text is cut


def _regular(rows: list[str], mark: str) -> _Regular:
    """Cut rows at a delimiter."""
    if not any(mark in row for row in rows):
        return _Regular(0.0, 1)
    if mark == " ":
        rows = [re.sub(r"[ \t]+", " ", row) for row in rows]
    try:
        cut = list(csv.reader(rows, delimiter=mark))
    except csv.Error:  # a field that is too long, or a NUL: refused later, with its line
        cut = [row.split(mark) for row in rows]
    counts = Counter(map(len, cut))
    width, number = max(counts.items(), key=lambda item: (item[1], item[0]))
    share = number / counts.total()
    open_ = sum(any(field.count('"') % 2 for field in fields) for fields in cut)
    share = share if width > 1 else 0.01 * (1 - share)  # better than a mark that is nowhere
    return _Regular(share, width, len(cut[0]) == width, open_)


def undecodable(path: Path, line: int, byte: int, encoding: str) -> InputError:
    """Return an error for a byte that is no text."""
    known = "UTF-8" if encoding == "utf-8" else encoding
    cure = "--encoding cp1252" if encoding == "utf-8" else "another --encoding"
    return InputError(
        f"{path}, line {line}: not {known} (there is the byte 0x{byte:02x}). Save the file as "
        f"UTF-8, or name its encoding, as {cure} (encoding= in Python)."
    )


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

"""How a text table is written: what the user says of it, and what its bytes say."""

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

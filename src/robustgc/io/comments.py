"""Lines before a text table that begin with # or %: comments, its header, or rows of it."""

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from robustgc.graph.quoting import quoted, short
from robustgc.io.errors import InputError
from robustgc.io.headers import first_row
from robustgc.io.heads import Head, is_comment

_PROSE = re.compile(r"[#%](\s|[#%]|$)")  # as people write comments, and no names
_ROWS = 200  # lines that tell whether names begin with #


def settle_comments(
    path: Path, start: Head, words: Sequence[str], header: bool | None
) -> tuple[Head, bool]:
    """Tell what the lines are that were skipped as comments, and say it.

    Parameters
    ----------
    path : Path
    start : Head
    words : sequence of str
        Names that a header of this kind of table may have.
    header : bool or None
        Whether the first row is one, as far as the user says it.

    Returns
    -------
    start : Head
        With the last of these lines as the first row, where it belongs to the table.
    header : bool
        Whether it is a header for sure.

    Raises
    ------
    InputError
        The last of them may be a row.
    """
    lines, mark = start.lines, start.delimiter
    above = [k for k, line in enumerate(lines[: start.first]) if is_comment(line)]
    if not above or start.first >= len(lines) or lines[above[0]].startswith("%%MatrixMarket"):
        return start, False
    rows = [_fields(line, mark) for line in lines[start.first :][:_ROWS] if line.strip()]
    last = above[-1]
    fields = _fields(lines[last].rstrip(mark), mark)  # a comment in a sheet has empty cells beside
    if len(fields) == len(rows[0]):
        if fields[0] in ("#", "%") and mark != " ":
            said = _skipped(path, start, above[:-1], len(fields))
            return replace(start, first=last, notes=(*start.notes, *said)), False
        if mark != " " and _is_header(lines[last], fields, rows, words, header):
            return _with_header(path, start, above, fields), True
        if _may_be_row(lines[last], fields, rows, words, mark):
            raise _open_question(path, last + 1, lines[last])
    said = _skipped(path, start, above, len(rows[0]))
    return replace(start, notes=(*start.notes, *said)), False


def _fields(line: str, mark: str) -> list[str]:
    if mark == " ":
        return line.split()
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=mark), [])]
    except csv.Error:  # told later, with its line
        return line.split(mark)


def _bare(fields: list[str]) -> list[str]:
    """Return the fields of a line without the sign at its beginning."""
    return [fields[0][1:].strip(), *fields[1:]]


def _hashed(fields: list[str]) -> bool:
    return any(field[:1] in ("#", "%") for field in fields)


def _is_header(
    line: str,
    fields: list[str],
    rows: list[list[str]],
    words: Sequence[str],
    header: bool | None,
) -> bool:
    """Whether a line such as #source,target names the columns of the rows below it."""
    if header is False or _hashed(fields[1:]) or first_row(rows[0], rows[1:], words, ".").header:
        return False
    known = any(field.lower() in words for field in _bare(fields))
    prose = _PROSE.match(line.lstrip()) is not None
    return known or (not prose and first_row(_bare(fields), rows, words, ".").header)


def _may_be_row(
    line: str, fields: list[str], rows: list[list[str]], words: Sequence[str], mark: str
) -> bool:
    """Whether a line is a row as likely as a comment: a name may begin with #."""
    if _PROSE.match(line.lstrip()):
        return False
    if _hashed(fields[1:]) or any(map(_hashed, rows)):
        return True
    named = first_row(rows[0], rows[1:], words, ".").header  # rows do not stand above a header
    return mark != " " and not named and not first_row(_bare(fields), rows, words, ".").header


def _open_question(path: Path, number: int, line: str) -> InputError:
    return InputError(
        f"{path}, line {number}: {quoted(line, 90)} has as many fields as the rows below it, so it "
        f"may be a row, or a comment. If names begin with {line.lstrip()[0]}, put this one in "
        "double quotes, or add a header line above; if it names the columns, remove the sign; if "
        "it is a comment, put a space after the sign."
    )


def _with_header(path: Path, start: Head, above: list[int], fields: list[str]) -> Head:
    last = above[-1]
    sign, names = fields[0][0], _bare(fields)
    lines = start.lines.copy()
    lines[last] = lines[last].lstrip()[1:].lstrip(" ")
    said = _skipped(path, start, above[:-1], len(fields))
    text = short(", ".join(names))
    note = f"line {last + 1} of {path.name} begins with {sign} and is read as a header: {text}"
    return replace(start, lines=lines, first=last, notes=(*start.notes, *said, note))


def _skipped(path: Path, start: Head, above: list[int], width: int) -> tuple[str, ...]:
    """Say which lines were skipped that are not plainly comments."""
    some = [
        k
        for k in above
        if len(_fields(start.lines[k], start.delimiter)) == width
        or not (start.lines[k].lstrip()[0] == "%" or _PROSE.match(start.lines[k].lstrip()))
    ]
    if not some:
        return ()
    first = f"line {some[0] + 1}: {quoted(start.lines[some[0]], 60)}"
    many = f"{len(above)} line{'s' * (len(above) > 1)}"
    return (f"{many} before the rows of {path.name} skipped as comments, such as {first}",)

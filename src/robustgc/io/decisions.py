"""An issues table in which a person has decided about labels -> what becomes of each label."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustgc.graph.quoting import listed, quoted
from robustgc.io.arrow import pa
from robustgc.io.arrow_tables import TYPED, read_typed
from robustgc.io.column_names import named_column
from robustgc.io.dialect import Dialect
from robustgc.io.layouts import Layout, find_layout
from robustgc.io.named import near
from robustgc.io.opening import InputError, kind, notes_of
from robustgc.io.sources import table_source
from robustgc.io.tables import place_of, read_text

KEEP, CHANGE, DROP = WORDS = ("keep", "change", "drop")
CLASS = "class:"  # before the name of a class that is one of the words
ALLOWED = f"{KEEP}, {CHANGE} (to the suggestion), {DROP} (remove the label) or the name of a class"
_COLUMNS = ("node", "given", "suggested", "suspicion", "decision")
_ESCAPED = re.compile(r"'[=+\-@\t\r]")  # as `--excel` writes text that would be a formula


@dataclass(frozen=True)
class Issue:
    """A row of an issues table, its cells as text."""

    node: str
    given: str
    suggested: str
    suspicion: str
    decision: str
    path: Path
    row: int
    layout: Layout | None  # of a text file

    @property
    def line(self) -> str:
        """Where it stands in its file."""
        return place_of(self.layout, self.row)

    @property
    def where(self) -> str:
        """File and line, for messages."""
        return f"{self.path}, {self.line}"


@dataclass(frozen=True)
class Decision:
    """What was decided about the label of a node: a row of the log."""

    node: str
    before: str
    after: str  # empty where the label is removed
    decision: str  # as the person wrote it
    suspicion: float | None

    @property
    def outcome(self) -> str:
        """What became of the label: changed, dropped or kept."""
        return "dropped" if not self.after else "kept" if self.after == self.before else "changed"


def text_of(value: Any) -> str:
    """Return a cell as the text that a table has for it; empty where there is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def read_issues(path: Path, sheet: str | None = None) -> tuple[list[Issue], tuple[str, ...]]:
    """Read an issues table, as `robustgc audit -o` writes it, with a column `decision` added.

    Returns its rows, and what the user should know. `sheet` is that of a spreadsheet.
    """
    path, layout = table_source(path, "issues tables", sheet), None
    notes = notes_of(path)
    if kind(path) in TYPED:
        table = read_typed(path)
    else:
        # No column is read as numbers: whether 0,98 has a decimal comma shows in its own cell.
        layout = find_layout(path, _COLUMNS, True, Dialect(decimal="."))
        if layout.encoding != "utf-8":
            notes += (
                f"{path} is read as {layout.encoding}, as it is not UTF-8; save it as UTF-8 if it "
                "is written in another way",
            )
        table = text_table(layout, layout.columns)
    places = _places(path, [str(name).strip().lower() for name in table.column_names])
    columns = [
        [""] * table.num_rows if k is None else list(map(text_of, table.column(k).to_pylist()))
        for k in places
    ]
    issues = []
    for k, cells in enumerate(zip(*columns, strict=True)):
        if any(cells):  # spreadsheets leave empty rows
            node, label, suggested, suspicion, decision = cells
            issue = Issue(node, label, suggested, suspicion, decision.strip(), path, k, layout)
            issues.append(issue)
    return issues, notes


def text_table(layout: Layout, names: Sequence[str]) -> Any:
    """Read all columns of a text table as an Arrow table of text."""
    return pa.Table.from_arrays(read_text(layout, range(layout.width)), names=list(names))


def _places(path: Path, names: list[str]) -> list[int | None]:
    """Return where the columns of an issues table stand; None for one that may be missing."""
    try:
        for name in ("node", "given"):
            named_column(names, name)
    except InputError as error:
        raise InputError(
            f"{path}: {error}. It must be an issues table: write one with robustgc audit ... -o "
            "issues.csv."
        ) from None
    if "decision" not in names:
        raise InputError(
            f"{path} has no column 'decision'{near('decision', names)}. Add it, in a spreadsheet "
            f"for instance, and write into its rows {ALLOWED}; an empty cell is no decision."
        )
    twice = next((name for name in _COLUMNS if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{path} has two columns {quoted(twice)}. Keep one of them.")
    return [names.index(name) if name in names else None for name in _COLUMNS]


def same_as(text: str, known: Iterable[str]) -> str:
    """Return the known text that a spreadsheet may have made this one of; else the text itself.

    Spreadsheets write TRUE for true, and `--excel` puts an apostrophe before formulas.
    """
    if text in known:
        return text
    if _ESCAPED.match(text) and text[1:] in known:
        return text[1:]
    if text in ("TRUE", "FALSE"):
        return next((name for name in (text.lower(), text.title()) if name in known), text)
    return text


def decide(issue: Issue, classes: Sequence[str], new_class: bool) -> Decision | None:
    """Return what a row decides, None where it decides nothing.

    `classes` are those of the labels; `new_class` allows others.
    """
    if not issue.decision:
        return None
    word, before = issue.decision.casefold(), same_as(issue.given, classes)
    if word in (KEEP, DROP):
        after = before if word == KEEP else ""
    else:
        after = _named(issue, word, before, classes, new_class)
    try:
        suspicion = float(issue.suspicion.replace(",", "."))
    except ValueError:
        suspicion = None
    return Decision(issue.node, before, after, issue.decision, suspicion)


def _named(issue: Issue, word: str, before: str, classes: Sequence[str], new_class: bool) -> str:
    """Return the class that a decision names, or that `change` takes from the suggestion."""
    plain = word != CHANGE and not word.startswith(CLASS)
    if word == CHANGE:
        name = same_as(issue.suggested, classes)
        if name in ("", before):
            raise InputError(
                f"{issue.where}: the decision is to change the label of {quoted(issue.node, 60)}, "
                f"but nothing else than {quoted(before, 60)} is suggested. Write the class that it "
                f"is to have, or {KEEP}."
            )
    else:
        name = issue.decision if plain else issue.decision[len(CLASS) :].strip()
        name = same_as(name, classes)
    if name in classes:
        return name
    if plain and (typo := near(word, WORDS)):
        raise InputError(
            f"{issue.where}: the decision {quoted(issue.decision, 60)} is unknown{typo}. Correct "
            f"it; a class of that name is written {CLASS}NAME."
        )
    if new_class and name:
        return name
    raise InputError(
        f"{issue.where}: the decision {quoted(issue.decision, 60)} is unknown"
        f"{near(name, classes)}. It may be {ALLOWED}; the classes are {listed(classes, 120)}. "
        "A class that no label has yet needs --new-class (new_class=True in Python)."
    )

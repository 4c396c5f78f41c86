"""Labels corrected by the decisions of a person, and the log of what changed."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from robustgc.graph.atomic import together
from robustgc.graph.quoting import listed, quoted, short
from robustgc.io.arrow import pa
from robustgc.io.arrow_tables import read_typed
from robustgc.io.decisions import (
    CLASS,
    WORDS,
    Decision,
    Issue,
    decide,
    read_issues,
    same_as,
    text_of,
    text_table,
)
from robustgc.io.dialect import Dialect
from robustgc.io.heads import SAMPLE
from robustgc.io.label_classes import marker_notes
from robustgc.io.label_columns import REVIEWED
from robustgc.io.label_files import LabelTable, read_labels
from robustgc.io.layouts import INTEGER, Layout
from robustgc.io.named import near
from robustgc.io.opening import InnerFile, InputError, opened, replacing
from robustgc.io.sources import source
from robustgc.io.writing import MARK, TYPED, write_typed
from robustgc.transduction.missing import find_missing


@dataclass(frozen=True)
class Style:
    """How a text file is written: what stands between fields, at the end of lines, at the start."""

    delimiter: str = ","
    end: str = "\n"
    marked: bool = False


@dataclass(frozen=True)
class Corrections:
    """What the decisions make of a table of labels."""

    table: Any  # of Arrow: the labels corrected, otherwise as they were, and a column `reviewed`
    log: list[Decision]  # in the order of the issues table
    undecided: int  # labels of the issues table without a decision
    notes: tuple[str, ...]  # what the user should know
    style: Style  # of the text file that the labels are from
    cells: list[list[Any]] | None = None  # rows of `table` as the sheet had their values

    @property
    def counts(self) -> dict[str, int]:
        """How many labels were changed, dropped, kept, or are undecided."""
        outcomes = Counter(decision.outcome for decision in self.log)
        counts = {name: outcomes[name] for name in ("changed", "dropped", "kept")}
        return {**counts, "undecided": self.undecided}

    def write(self, labels: Path, log: Path) -> None:
        """Write the labels and the log, both or none; .csv, .tsv, .parquet or .xlsx."""
        names = [field.name for field in fields(Decision)]
        kinds = [pa.string()] * 4 + [pa.float64()]
        columns = [
            pa.array([getattr(decision, name) for decision in self.log], type=kind)
            for name, kind in zip(names, kinds, strict=True)
        ]
        with together([labels, log]):
            _write(labels, self.table, self.style, self.cells)
            _write(log, pa.Table.from_arrays(columns, names=names), self.style)


def corrections(
    issues: Path,
    labels: Path,
    *,
    node: str | None = None,
    label: str | None = None,
    new_class: bool = False,
    unlabelled: Any = None,
    sheet: str | None = None,
    label_sheet: str | None = None,
    dialect: Dialect | None = None,
) -> Corrections:
    """Apply the decisions in an issues table to the labels that were audited.

    `issues` is what `robustgc audit -o` wrote, with a column `decision`, and `sheet` a sheet of it.
    `node`, `label`, `label_sheet` and `dialect` say how `labels` are read, as in `read_labels`, and
    `unlabelled` which of them mean none, as in the audit. `new_class` allows decisions to name a
    class that no label has.
    """
    rows, issue_notes = read_issues(issues, sheet)
    labels = source(labels, label_sheet)
    table = read_labels(labels, node=node, label=label, dialect=dialect)
    layout = table.layout
    if layout is None:
        whole = read_typed(labels)
    else:
        whole = text_table(layout, layout.names or _names_for(table, labels, layout))
    audited = _AuditedLabels(table, whole, unlabelled)
    audited.check(rows, issues)
    log, undecided = _decisions(rows, audited, new_class)
    notes = [*issue_notes, *_reading_notes(table, labels), *marker_notes(audited.missing)]
    notes += _class_notes(audited, log, unlabelled)
    if not log:
        notes.append(f"{issues} has no decision yet: its column decision is empty")
    style = _style(labels, layout, dialect or Dialect())
    corrected, cells = audited.corrected(log), None
    if layout is not None and isinstance(labels, InnerFile) and labels.cells is not None:
        filled = [row for row in labels.cells()[layout.skipped :] if any(map(_is_filled, row))]
        cells = audited.cells(corrected, [row[: layout.width] for row in filled])
    return Corrections(corrected, log, undecided, tuple(notes), style, cells)


def _is_filled(value: Any) -> bool:
    return value is not None and str(value).strip() != ""


def _reading_notes(table: LabelTable, path: Path) -> list[str]:
    """Say how the labels were read, and what of it the corrected ones do not keep."""
    layout, notes = table.layout, [*table.notes]
    if layout is not None:
        if layout.encoding != "utf-8":
            notes.append(
                f"the corrected labels are written as UTF-8, not as {layout.encoding}: read them "
                "without --encoding"
            )
        if layout.names is None:
            notes.append(f"{path} has no header; the corrected labels begin with one")
        if before := layout.skipped - (layout.names is not None):
            notes.append(f"lines before the table, {before} of {path}, are not written again")
    return notes + list(() if table.columns is None else table.columns.notes)


def _class_notes(audited: "_AuditedLabels", log: list[Decision], unlabelled: Any) -> list[str]:
    """Say which classes are new, and which are called in a way that may be mistaken."""
    notes = []
    new = sorted({decision.after for decision in log} - set(audited.classes) - {""})
    if new:
        notes.append(f"new classes: {listed(new)}")
        lost = find_missing([*audited.classes, *new], unlabelled).mask[-len(new) :]
        if lost.any():
            hidden = [name for name, gone in zip(new, lost, strict=True) if gone]
            notes.append(
                f"the next audit reads {listed(hidden)} as unlabelled; --unlabelled decides "
                "otherwise"
            )
    words = [name for name in audited.classes if name.casefold() in WORDS]
    if words:
        notes.append(
            f"classes are called as decisions are: {listed(words)}; the word alone is the "
            f"decision, and the class is written {CLASS}{words[0]}"
        )
    return notes


class _AuditedLabels:
    """The labels before the corrections: by node, and as the table that they are from."""

    def __init__(self, table: LabelTable, whole: Any, unlabelled: Any) -> None:
        self._where, self._whole, self._reviewed = table.where, whole, table.reviewed
        assert table.columns is not None
        self._node, self._label = table.columns.node, table.columns.label
        self._mark = table.columns.reviewed
        cells = whole.column(self._label).to_pylist()
        self.missing = find_missing(table.labels, unlabelled)
        gaps = self.missing.mask
        texts = ["" if none else text_of(c) for c, none in zip(cells, gaps, strict=True)]
        self.classes = dict(zip(texts, cells, strict=True))
        self.classes.pop("", None)
        self.rows: dict[str, list[int]] = {}  # those with a label
        self._nodes = [text_of(cell) for cell in whole.column(self._node).to_pylist()]
        for k, text in enumerate(texts):
            if text:
                self.rows.setdefault(self._nodes[k], []).append(k)
        self._texts = texts

    def check(self, issues: list[Issue], path: Path) -> None:
        """Refuse issues of other labels than these."""
        self._check_markers(issues)
        unknown = [issue for issue in issues if same_as(issue.node, self.rows) not in self.rows]
        if unknown:
            first = unknown[0]
            raise InputError(
                f"{first.where}: {quoted(first.node, 60)} has no label in {self._where}"
                f"{near(first.node, self.rows)}; {len(unknown)} of {len(issues)} nodes have none. "
                "Give the labels that were audited. A spreadsheet may have changed names such as "
                "007 or 3-4: open the table again with that column as text."
            )
        for issue in issues:
            node = same_as(issue.node, self.rows)
            for k in self.rows[node]:
                if same_as(issue.given, self.classes) != self._texts[k]:
                    raise InputError(
                        f"{issue.where}: the label of {quoted(node, 60)} was "
                        f"{quoted(issue.given, 60)} when {path} was made, and is "
                        f"{quoted(self._texts[k], 60)} in {self._where} now. Audit these labels "
                        "again, give those that were audited, or take the row out."
                    )

    def _check_markers(self, issues: list[Issue]) -> None:
        """Refuse issues about a class that is read as unlabelled here."""
        markers = self.missing.counts
        for issue in issues:
            for name in (same_as(text, markers) for text in (issue.given, issue.suggested)):
                if name in markers:
                    raise InputError(
                        f"{issue.where}: {quoted(name, 60)} is a class, but in {self._where} "
                        "it is read as unlabelled. Give --unlabelled as for the audit (unlabelled= "
                        'in Python); --unlabelled "" if only empty cells mean that there is none.'
                    )

    def corrected(self, log: Sequence[Decision]) -> Any:
        """Return the table with what was decided."""
        column = self._whole.column(self._label)
        cells, reviewed = column.to_pylist(), list(self._reviewed or [False] * len(column))
        for decision in log:
            value = self._value(decision.after, column.type)
            for k in self.rows[decision.node]:
                changed = decision.outcome != "kept"
                cells[k], reviewed[k] = value if changed else cells[k], bool(decision.after)
        names = self._whole.column_names
        table = self._whole.set_column(
            self._label, names[self._label], pa.chunked_array([pa.array(cells, column.type)])
        )
        text = isinstance(self._where, Path)
        marks = pa.array([str(mark).lower() for mark in reviewed] if text else reviewed)
        if self._mark is None:
            return table.append_column(REVIEWED, marks)
        return table.set_column(self._mark, names[self._mark], marks)

    def cells(self, table: Any, rows: list[list[Any]]) -> list[list[Any]]:
        """Return the rows of the corrected table with the values that cells have in a sheet.

        `rows` has the values before, a row of the table each.
        """
        place = len(self._whole.column_names) if self._mark is None else self._mark
        before, after, marks = (
            column.to_pylist()
            for column in (self._whole[self._label], table[self._label], table[place])
        )
        values = {t: row[self._label] for t, row in zip(self._texts, rows, strict=True) if t}
        numbers = all(type(value) in (int, float) for value in values.values())
        for k, row in enumerate(rows):
            if after[k] != before[k]:
                number = numbers and INTEGER.fullmatch(after[k] or "") is not None
                row[self._label] = values.get(after[k], int(after[k]) if number else after[k])
            row[place : place + 1] = [marks[k] == "true"]
        return rows

    def _value(self, name: str, kind: Any) -> Any:
        """Return a class as the column of the labels has it."""
        if not name or name in self.classes:
            return self.classes.get(name)
        try:
            plain = kind.value_type if pa.types.is_dictionary(kind) else kind
            return pa.scalar(name).cast(plain).as_py()
        except pa.ArrowException as error:
            raise InputError(
                f"{self._where}: the labels are {kind}, which {quoted(name, 60)} is not "
                f"({short(error, 60)}). Name a class of that kind."
            ) from error


def _decisions(
    issues: list[Issue], audited: _AuditedLabels, new_class: bool
) -> tuple[list[Decision], int]:
    """Return the decision about every node, and how many nodes have none."""
    log: dict[str, tuple[Decision, Issue]] = {}
    classes = list(audited.classes)
    for issue in issues:
        decision = decide(issue, classes, new_class)
        if decision is None:
            continue
        node = same_as(issue.node, audited.rows)
        other, first = log.setdefault(node, (replace(decision, node=node), issue))
        if other.after != decision.after:
            raise InputError(
                f"{issue.where}: the decision about {quoted(node, 60)} is "
                f"{quoted(issue.decision, 60)}, and {quoted(other.decision, 60)} in "
                f"{first.line}. Keep one of them."
            )
    nodes = {same_as(issue.node, audited.rows) for issue in issues}
    return [decision for decision, _ in log.values()], len(nodes) - len(log)


def _names_for(table: LabelTable, path: Path, layout: Layout) -> list[str]:
    """Return names for the columns of a table without a header; refuse what may be one."""
    if table.labels.count(table.labels[0]) == 1:
        raise InputError(
            f"{path}, {table.place(0)}: this may be a header or a label. "
            "Begin the file with the line node,label; or name the columns, if this is a header, "
            "with --node-column and --label-column."
        )
    names = list(layout.columns)
    assert table.columns is not None
    names[table.columns.node], names[table.columns.label] = "node", "label"
    return names


def _style(path: Path, layout: Layout | None, dialect: Dialect) -> Style:
    """Return how a text file is written, so that another is written alike."""
    if layout is None:
        return Style()
    with opened(path) as stream:
        head = bytes(stream.read(SAMPLE))
    usual = {",", ";", dialect.delimiter} - {" "}  # so that the same options read what is written
    delimiter = layout.delimiter if layout.delimiter in usual else ","
    return Style(delimiter, "\r\n" if b"\r\n" in head else "\n", head.startswith(MARK))


def _write(path: Path, table: Any, style: Style, cells: list[list[Any]] | None = None) -> None:
    """Write an Arrow table as what the ending says; quotes stand only where they must."""
    with replacing(path) as file:
        if path.suffix.lower() in TYPED:
            write_typed(path, table, file, rows=cells)
            return
        delimiter = "\t" if path.suffix.lower() == ".tsv" else style.delimiter
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=delimiter, lineterminator=style.end)
        writer.writerow(table.column_names)
        columns = [map(text_of, column.to_pylist()) for column in table.columns]
        writer.writerows(zip(*columns, strict=True))
        file.write(MARK * style.marked + text.getvalue().encode("utf-8"))

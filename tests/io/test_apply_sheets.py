"""Corrected labels of a spreadsheet keep its values: numbers, days, true and false, and text."""

import datetime

import pytest

from robustgc.io.corrections import corrections

openpyxl = pytest.importorskip("openpyxl")
DAY = datetime.datetime(2026, 3, 5)
ROWS = [
    ["# of May", None, None, None, None, None, None],
    ["node", "label", None, "score", "code", "seen", "when"],
    ["a", 1, None, 1.5, "007", True, DAY],
    ["b", 2, None, 2, "2", False, None],
    [None, None, None, None, None, None, None],
    ["c", 2, None, None, "two\nlines", None, datetime.datetime(2026, 3, 5, 13, 30)],
    ["d", 1, None, "none", " 7 ", True, DAY],
]


def write(path, rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)


def cleaned(place, rows, issues, **options):
    """Return the rows of the sheet that the decisions make of another."""
    write(place / "labels.xlsx", rows)
    (place / "issues.csv").write_text("node,given,suggested,decision\n" + issues)
    made = corrections(place / "issues.csv", place / "labels.xlsx", **options)
    made.write(place / "cleaned.xlsx", place / "log.csv")
    sheet = openpyxl.load_workbook(place / "cleaned.xlsx").active
    return [list(row) for row in sheet.iter_rows(values_only=True)]


def same(row, wanted):
    """Compare values and their types: True is no 1, and '2' no 2."""
    assert [(type(value), value) for value in row] == [(type(value), value) for value in wanted]


def test_all_cells_but_those_decided_stay_as_they_are(tmp_path):
    issues = "a,1,2,change\nb,2,1,drop\nc,2,1,keep\nd,1,2,9\n"
    header, *rows = cleaned(tmp_path, ROWS, issues, new_class=True, node="node", label="label")
    assert header == ["node", "label", "score", "code", "seen", "when", "reviewed"]
    same(rows[0], ["a", 2, 1.5, "007", True, DAY, True])
    same(rows[1], ["b", None, 2, "2", False, None, False])
    same(rows[2], ["c", 2, None, "two\nlines", None, datetime.datetime(2026, 3, 5, 13, 30), True])
    same(rows[3], ["d", 9, "none", " 7 ", True, DAY, True])
    assert len(rows) == 4


def test_a_column_reviewed_of_its_own_stays_in_its_place(tmp_path):
    rows = [["reviewed", "node", "label"], ["x", 1, True], [None, 2, False], [None, 3, True]]
    header, *found = cleaned(tmp_path, rows, "2,FALSE,TRUE,change\n1,TRUE,FALSE,drop\n")
    assert header == rows[0]
    same(found[0], [False, 1, None])
    same(found[1], [True, 2, True])
    same(found[2], [False, 3, True])


def test_text_files_have_what_a_spreadsheet_shows(tmp_path):
    write(tmp_path / "labels.xlsx", [["node", "label", "x"], ["a", "r", 1.5], ["b", "s", 2]])
    (tmp_path / "issues.csv").write_text("node,given,suggested,decision\na,r,s,change\n")
    made = corrections(tmp_path / "issues.csv", tmp_path / "labels.xlsx")
    made.write(tmp_path / "cleaned.csv", tmp_path / "log.csv")
    text = (tmp_path / "cleaned.csv").read_text()
    assert text == "node,label,x,reviewed\na,s,1.5,true\nb,s,2,false\n"

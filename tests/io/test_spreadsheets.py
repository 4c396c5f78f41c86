"""Spreadsheets: sheets are read as they show, and written so that nothing in them runs."""

import datetime
import io
import os
import re
import sys
import zipfile

import networkx as nx
import numpy as np
import openpyxl
import pandas as pd
import pytest
from typer.testing import CliRunner

from joined_names import split_names
from robustgc.api import classify
from robustgc.cli.app import app
from robustgc.io.dialect import Dialect
from robustgc.io.errors import InputError
from robustgc.io.graph_files import read_graph
from robustgc.io.label_files import read_labels
from robustgc.io.label_nodes import node_labels
from robustgc.io.point_files import read_points
from robustgc.io.writing import write_table

RUN = CliRunner()
EDGES = [["source", "target", "weight"], *([f"n{k}", f"n{(k + 1) % 8}", 1 + k] for k in range(8))]
LABELS = [["node", "label"], ["n0", "red"], ["n1", "red"], ["n4", "blue"], ["n5", "blue"]]
POINTS = [["id", "x", "y"], *([f"n{k}", k // 4, k % 4 + 0.5] for k in range(8))]


def book(path, **sheets):
    """Write sheets, each a list of rows."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def test_sheets_are_edges_labels_and_points(tmp_path):
    path = book(tmp_path / "e.xlsx", edges=EDGES)
    found = read_graph(path)
    assert (found.n_edges, found.notes) == (8, ())
    assert found.names.tolist() == [f"n{k}" for k in range(8)]
    labels = read_labels(book(tmp_path / "l.xlsx", labels=LABELS))
    assert labels.labels == ["red", "red", "blue", "blue"]
    points = read_points(book(tmp_path / "p.xlsx", points=POINTS))
    assert points.X.tolist() == [[k // 4, k % 4 + 0.5] for k in range(8)]
    assert points.names.tolist() == [f"n{k}" for k in range(8)]


def test_what_pandas_writes_is_read(tmp_path):
    frame = pd.DataFrame({"source": [7, 8], "target": [8, 9], "weight": [1.0, 2.5]})
    frame.to_excel(tmp_path / "e.xlsx", index=False)
    found = read_graph(tmp_path / "e.xlsx")
    assert found.names.tolist() == [7, 8, 9]
    assert found.W.to_scipy().sum() == 7.0


def test_cells_are_read_as_they_show(tmp_path):
    day = datetime.datetime(2026, 11, 17)
    values = ["007", 7, 7.0, 0.1, True, day, "two\nlines", 'say "hi"', "a\tb", "x;y", " spaced "]
    rows = [["node", "label"], *([f"n{k}", value] for k, value in enumerate(values))]
    table = read_labels(book(tmp_path / "l.xlsx", labels=rows))
    assert table.labels == [
        "007", "7", "7", "0.1", "TRUE", "2026-11-17", "two lines", 'say "hi"', "a b", "x;y",
        "spaced",
    ]  # fmt: skip
    graph = read_graph(book(tmp_path / "e.xlsx", edges=[[f"n{k}", f"n{k + 1}"] for k in range(11)]))
    _, notes = node_labels(table, graph)
    assert any("2 cells with line breaks or tabs" in note for note in notes)


def test_a_table_need_not_begin_in_the_first_cell(tmp_path):
    rows = [[], [], *([None, None, *row] for row in EDGES), [None, None, "n0", "n3", "heavy"]]
    path = book(tmp_path / "e.xlsx", edges=rows[:-1])
    assert read_graph(path).n_edges == 8
    with pytest.raises(InputError, match=r"e\.xlsx, line 12: 'heavy'"):  # the row in the sheet
        read_graph(book(tmp_path / "e.xlsx", edges=rows))


def test_of_several_sheets_the_first_is_read_and_told(tmp_path):
    path = book(tmp_path / "b.xlsx", empty=[], edges=EDGES, labels=LABELS)
    found = read_graph(path)
    assert found.n_edges == 8
    [note] = found.notes
    assert "the sheet 'edges' is read, not 'labels'" in note
    assert "empty" not in note
    assert "--sheet NAME" in note


def test_one_workbook_for_all(tmp_path):
    path = book(tmp_path / "b.xlsx", labels=LABELS, edges=EDGES, points=POINTS)
    plain = classify(book(tmp_path / "e.xlsx", edges=EDGES), dict(LABELS[1:]))
    found = classify(path, path, sheet="edges", label_sheet="labels")
    assert found.labels == plain.labels
    assert found.notes == ()
    by_points = classify(points=path, labels=path, sheet="points", label_sheet="labels",
                         n_neighbors=3)  # fmt: skip
    assert len(by_points.labels) == 8
    options = ["--sheet", "edges", "--label-sheet", "labels"]
    done = RUN.invoke(app, ["classify", str(path), "--labels", str(path), *options])
    assert done.exit_code == 0, done.stderr
    assert done.stdout.count("\n") == 9
    assert "note" not in done.stderr


def test_notes_of_sheets_reach_the_user(tmp_path):
    path = book(tmp_path / "b.xlsx", points=POINTS, other=LABELS)
    labels = book(tmp_path / "l.xlsx", labels=LABELS, more=LABELS)
    command = ["classify", "--points", str(path), "--labels", str(labels), "-k", "3"]
    done = RUN.invoke(app, command)
    assert "the sheet 'points' is read, not 'other'" in done.stderr
    assert "the sheet 'labels' is read, not 'more'" in done.stderr


def test_formulas_have_the_values_last_computed(tmp_path):
    path = book(tmp_path / "e.xlsx", edges=[*EDGES, ["n0", "n3", "=1+2"]])
    with pytest.raises(InputError, match="sheet 'edges', cell C10: a formula that was never comp"):
        read_graph(path)
    # As a spreadsheet saves it: the value beside the formula; and text that is empty.
    _edit(path, b"<f>1+2</f><v></v>", b"<f>1+2</f><v>3</v>")
    assert read_graph(path).W.to_scipy()[0, 3] == 3.0
    path = book(tmp_path / "l.xlsx", labels=[*LABELS, ["n6", '=IF(1,"","x")']])
    _edit(path, b"<c r=\"B6\"><f>IF(1,\"\",\"x\")</f><v></v></c>",
          b"<c r=\"B6\" t=\"str\"><f>IF(1,\"\",\"x\")</f><v></v></c>")  # fmt: skip
    assert read_labels(path).labels[-1] == ""


def _edit(path, old, new):
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"].replace(b"<v />", b"<v></v>")
    assert old in sheet, sheet
    parts["xl/worksheets/sheet1.xml"] = sheet.replace(old, new)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def bomb(path):
    book(path, edges=EDGES)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image1.bin", b"\0" * 2**27)


def claims_the_largest_sheet(path):
    book(path, edges=EDGES)
    _edit(path, b'<dimension ref="A1:C9"', b'<dimension ref="A1:XFD1048576"')


BAD = {
    "text": (lambda path: path.write_text("a,b\n"), "not the spreadsheet that its ending says"),
    "cut": (lambda path: path.write_bytes(book(path, edges=EDGES).read_bytes()[:-500]), "damaged"),
    "another archive": (lambda path: zipfile.ZipFile(path, "w").writestr("a.txt", "x"), "damaged"),
    "no cells": (lambda path: book(path, edges=[], more=[]), "has no cells with values"),
    "a password": (lambda path: path.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600)), "a password"),
    "empty file": (lambda path: path.write_bytes(b""), "is empty"),
    "bomb": (bomb, "over 100 times as much"),
    "bad XML": (lambda path: _edit(book(path, e=EDGES), b"</sheetData>", b"<"), "ParseError"),
    "one column": (lambda path: book(path, e=[["a"], ["b"]]), "line 1: one field"),
    "a header": (lambda path: book(path, e=EDGES[:1]), "a header and no edges"),
    "a missing node": (lambda path: book(path, e=[*EDGES, [None, "n1", 2]]), "line 10: a node"),
    "a text weight": (lambda path: book(path, e=[*EDGES, ["n0", "n3", "x"]]), "line 10: 'x' in"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_spreadsheet_is_refused(tmp_path, name):
    make, text = BAD[name]
    path = tmp_path / "bad.xlsx"
    make(path)
    with pytest.raises(InputError, match=re.escape(text)) as caught:
        read_graph(path)
    assert str(caught.value).startswith(str(path))


def test_what_a_sheet_claims_is_not_believed(tmp_path):
    path = tmp_path / "e.xlsx"
    claims_the_largest_sheet(path)
    assert read_graph(path).n_edges == 8


def test_a_hidden_sheet_is_not_the_first(tmp_path):
    made = openpyxl.load_workbook(book(tmp_path / "b.xlsx", lookup=LABELS, edges=EDGES))
    made["lookup"].sheet_state = "hidden"
    made.active = 1
    made.save(tmp_path / "b.xlsx")
    found = read_graph(tmp_path / "b.xlsx")
    assert found.n_edges == 8
    assert "the sheet 'edges' is read, not 'lookup'" in found.notes[0]


def test_a_sheet_that_is_not_there(tmp_path):
    path = book(tmp_path / "b.xlsx", edges=EDGES, labels=LABELS)
    with pytest.raises(InputError, match="no sheet 'Edges'; its sheets are 'edges', 'labels'"):
        read_graph(path, sheet="Edges")
    (tmp_path / "e.csv").write_text("a,b\n")
    with pytest.raises(InputError, match="has no sheets"):
        read_graph(tmp_path / "e.csv", sheet="edges")


def test_without_openpyxl_the_cure_is_named(tmp_path, monkeypatch):
    path = book(tmp_path / "e.xlsx", edges=EDGES)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    for call in (
        lambda: read_graph(path),
        lambda: write_table(tmp_path / "out.xlsx", {"node": ["a"]}),
    ):
        with pytest.raises(InputError, match=r"pip install 'robustgc\[excel\]'"):
            call()
    assert os.listdir(tmp_path) == ["e.xlsx"]


TEXTS = ["=1+1", "+5", "-5", "@x", "#N/A", "TRUE", "007", "Zürich", "a\x0bb", "", "line\nbreak"]


def cells(path):
    return [[cell.value for cell in row] for row in openpyxl.load_workbook(path).active.rows]


def test_text_is_written_as_text(tmp_path):
    path = tmp_path / "t.xlsx"
    write_table(path, {"=head": np.array(TEXTS, dtype=object), "x": np.arange(len(TEXTS)) / 4})
    sheet = openpyxl.load_workbook(path).active
    assert all(row[0].data_type in "sn" for row in sheet.rows)
    head, *rows = cells(path)
    assert head == ["=head", "x"]
    assert [row[0] for row in rows] == [
        *TEXTS[:8], r"a\x0bb", None, "line\nbreak",
    ]  # fmt: skip
    assert [row[1] for row in rows] == [k / 4 for k in range(len(TEXTS))]


def test_numbers_that_a_sheet_cannot_hold_are_text(tmp_path):
    values = {"big": [10**15 + 1, 7], "far": [-np.inf, np.nan], "yes": [True, False]}
    write_table(tmp_path / "t.xlsx", values)
    rows = cells(tmp_path / "t.xlsx")[1:]
    assert rows == [["1000000000000001", "-inf", True], [7, None, False]]


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"x": np.zeros(2**20)}, "a sheet has 1048576 rows at most"),
        ({"x": ["y" * 32768]}, "a cell has 32767 characters at most"),
    ],
)
def test_what_a_sheet_cannot_hold_is_refused_and_nothing_is_left(tmp_path, columns, text):
    (tmp_path / "t.xlsx").write_bytes(b"before")
    with pytest.raises(InputError, match=text):
        write_table(tmp_path / "t.xlsx", columns)
    assert [file.name for file in tmp_path.iterdir()] == ["t.xlsx"]
    assert (tmp_path / "t.xlsx").read_bytes() == b"before"


def test_answers_and_issues_as_spreadsheets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book(tmp_path / "e.xlsx", edges=EDGES)
    book(tmp_path / "l.xlsx", labels=LABELS)
    for command in ("classify e.xlsx -l l.xlsx -o a.xlsx", "classify e.xlsx -l l.xlsx -o a.csv",
                    "audit e.xlsx -l l.xlsx -o i.xlsx --above 0 --excel",
                    "convert e.xlsx g.xlsx"):  # fmt: skip
        done = RUN.invoke(app, command.split())
        assert done.exit_code == 0, done.stderr
    pd.testing.assert_frame_equal(pd.read_excel("a.xlsx"), pd.read_csv("a.csv"), check_dtype=False)
    issues = pd.read_excel("i.xlsx")
    assert set(issues["node"]) == {"n0", "n1", "n4", "n5"}
    assert set(split_names(issues["evidence"].astype(object).fillna("")[0])) <= {
        "n0",
        "n1",
        "n4",
        "n5",
    }
    assert read_graph(tmp_path / "g.xlsx").n_edges == 8


def test_the_same_answers_are_the_same_bytes(tmp_path):
    graph = nx.path_graph(["a", "b", "c", "d"])
    contents = []
    for name in ("one.xlsx", "two.xlsx"):
        result = classify(graph, {"a": "x", "d": "y"})
        result.write(tmp_path / name)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
    assert openpyxl.load_workbook(io.BytesIO(contents[0])).properties.identifier == result.run


def test_csv_for_excel_keeps_umlauts(tmp_path):
    result = classify(nx.path_graph(["Zürich", "b", "=x"]), {"Zürich": "ä", "=x": "ö"})
    result.write(tmp_path / "t.csv", excel=True)
    data = (tmp_path / "t.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    assert "Zürich" in data.decode("utf-8-sig")
    assert '"\'=x"' in data.decode("utf-8-sig")


def test_cells_of_text_have_the_decimal_mark_that_the_user_names(tmp_path):
    path = tmp_path / "t.xlsx"
    texts = [f"{k},{k}25" for k in range(1, 7)]
    pd.DataFrame({"text": texts, "number": [k / 8 for k in range(6)]}).to_excel(path, index=False)
    found = read_points(path, dialect=Dialect(decimal=","))
    expected = [[k + k / 10 + 0.025, (k - 1) / 8] for k in range(1, 7)]
    np.testing.assert_allclose(found.X, expected)
    with pytest.raises(InputError, match="--decimal ,"):
        read_points(path)
    edges = [["a", "b", "0,5"], ["b", "c", 2.5], ["c", "a", 3]]
    pd.DataFrame(edges, columns=["source", "target", "weight"]).to_excel(path, index=False)
    graph = read_graph(path, dialect=Dialect(decimal=","))
    assert np.unique(graph.W.data).tolist() == [0.5, 2.5, 3]

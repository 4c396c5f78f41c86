"""Labels that an audit could read are corrected with the same options; how they were read is said.

The notes are those of the audit, and the cause is named where the options are missing.
"""

import csv

import pytest
from typer.testing import CliRunner

from robustgc.cli.app import app

EDGES = "source,target\n" + "".join(
    f"{side}{i},{side}{j}\n" for side in "ab" for i in range(5) for j in range(i)
)
CLASSES = {"a1": "NA", "a2": "NA", "a3": "red", "b1": "red", "b2": "red", "b3": "NA", "b4": ""}


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edges.csv").write_text(EDGES)

    def call(*words, code=0):
        done = CliRunner().invoke(app, list(words))
        assert done.exit_code == code, done.output
        return " ".join(done.stderr.split())

    return call


def decide(path, decisions):
    """Add decisions about some nodes to their issues."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["decision"] = decisions.get(row["node"], "")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_a_class_called_as_a_marker(run, tmp_path):
    lines = "".join(f"{node},{label}\n" for node, label in CLASSES.items())
    (tmp_path / "labels.csv").write_text("node,label\n" + lines)
    flags = ["--unlabelled", ""]
    run("audit", "edges.csv", "-l", "labels.csv", "-o", "issues.csv", "--above", "0", *flags)
    decide(tmp_path / "issues.csv", {"a3": "NA", "b3": "red"})
    words = ["apply", "issues.csv", "-l", "labels.csv", "-o", "cleaned.csv"]
    said = run(*words, code=1)
    assert "'NA' is a class, but in labels.csv it is read as unlabelled" in said
    assert "--unlabelled" in said
    assert "2 changed" in run(*words, *flags)
    text = (tmp_path / "cleaned.csv").read_text()
    assert "a3,NA,true" in text
    assert "b3,red,true" in text
    assert "b4,,false" in text


def test_a_suggestion_that_is_read_as_a_marker(run, tmp_path):
    (tmp_path / "labels.csv").write_text("node,label\na1,?\na2,red\nb1,blue\n")
    (tmp_path / "issues.csv").write_text("node,given,suggested,decision\na2,red,?,change\n")
    words = ["apply", "issues.csv", "-l", "labels.csv", "-o", "cleaned.csv", "--new-class"]
    assert "line 2: '?' is a class, but in labels.csv it is read" in run(*words, code=1)
    run(*words, "--unlabelled", "")
    assert "a2,?,true" in (tmp_path / "cleaned.csv").read_text()


def test_markers_and_new_classes_that_are_markers_are_said(run, tmp_path):
    (tmp_path / "labels.csv").write_text("node,label\na1,?\na2,red\nb1,blue\n")
    (tmp_path / "issues.csv").write_text("node,given,suggested,decision\na2,red,blue,NA\n")
    said = run("apply", "issues.csv", "-l", "labels.csv", "-o", "out.csv", "--new-class")
    assert "note: 1 cell says '?': read as unlabelled" in said
    assert "note: the next audit reads 'NA' as unlabelled" in said


def test_text_of_windows_with_a_delimiter_of_its_own(run, tmp_path):
    text = "node:label\na1:grün\na2:grün\na3:süß\nb1:süß\nb2:süß\nb3:süß\n"
    (tmp_path / "labels.csv").write_bytes(text.encode("mac-roman"))
    flags = ["--delimiter", ":", "--encoding", "mac-roman"]
    (tmp_path / "edges.csv").write_bytes(EDGES.replace(",", ":").encode())
    run("audit", "edges.csv", "-l", "labels.csv", "-o", "issues.csv", "--above", "0", *flags)
    decide(tmp_path / "issues.csv", {"a3": "grün"})
    said = run("apply", "issues.csv", "-l", "labels.csv", "-o", "cleaned.csv", *flags)
    assert "the corrected labels are written as UTF-8, not as mac-roman" in said
    assert "a3:grün:true\n" in (tmp_path / "cleaned.csv").read_text(encoding="utf-8")
    wrong = ["apply", "issues.csv", "-l", "labels.csv", "-o", "x.csv", "--encoding", "klingon"]
    assert "--encoding 'klingon' is unknown" in run(*wrong, code=2)


def test_an_encoding_that_was_recognised_is_said(run, tmp_path):
    (tmp_path / "labels.csv").write_bytes("node,label\nJürg,red\nb1,blue\n".encode("cp1252"))
    issues = "node,given,suggested,decision\nJürg,red,blue,change\n".encode("cp1252")
    (tmp_path / "issues.csv").write_bytes(issues)
    said = run("apply", "issues.csv", "-l", "labels.csv", "-o", "cleaned.csv")
    assert "note: issues.csv is read as cp1252" in said
    assert "note: labels.csv is read as cp1252" in said
    assert "note: the corrected labels are written as UTF-8, not as cp1252" in said
    assert "Jürg,blue,true" in (tmp_path / "cleaned.csv").read_text(encoding="utf-8")


def test_columns_that_were_chosen_are_said(run, tmp_path):
    (tmp_path / "labels.csv").write_text("node,label,class\na1,red,x\nb1,blue,y\n")
    (tmp_path / "issues.csv").write_text("node,given,suggested,decision\na1,red,blue,keep\n")
    said = run("apply", "issues.csv", "-l", "labels.csv", "-o", "cleaned.csv")
    assert "are those in column 'label', not in 'class'" in said


def test_suspicions_that_could_be_thousands(run, tmp_path):
    (tmp_path / "labels.csv").write_text("node,label\na1,red\nb1,blue\n")
    rows = "node;given;suggested;suspicion;margin;decision\na1;red;blue;0.98;1,234;keep\n"
    (tmp_path / "issues.csv").write_text(rows)
    run("apply", "issues.csv", "-l", "labels.csv", "-o", "cleaned.csv")
    assert "a1,red,red,keep,0.98" in (tmp_path / "cleaned.log.csv").read_text()


def test_sheets_by_their_names(run, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    for name, rows in {
        "labels.xlsx": [["node", "label"], ["a1", "red"], ["b1", "blue"]],
        "issues.xlsx": [["node", "given", "suggested", "decision"], ["a1", "red", "blue", "drop"]],
    }.items():
        book = openpyxl.Workbook()
        book.active.append(["nothing", "here"])
        sheet = book.create_sheet("mine")
        for row in rows:
            sheet.append(row)
        book.save(tmp_path / name)
    words = ["apply", "issues.xlsx", "-l", "labels.xlsx", "-o", "cleaned.csv", "--sheet", "mine"]
    assert "1 dropped" in run(*words, "--label-sheet", "mine")
    assert (tmp_path / "cleaned.csv").read_text() == (
        "node,label,reviewed\na1,,false\nb1,blue,false\n"
    )


def test_the_choice_of_a_sheet_is_said(run, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["node", "label"], ["a1", "red"], ["b1", "blue"]]:
        book.active.append(row)
    book.create_sheet("other").append(["x"])
    book.save(tmp_path / "labels.xlsx")
    (tmp_path / "issues.csv").write_text("node,given,suggested,decision\na1,red,blue,keep\n")
    said = run("apply", "issues.csv", "-l", "labels.xlsx", "-o", "cleaned.csv")
    assert "the sheet 'Sheet' is read, not 'other'" in said

"""The worked example of docs/review.md: audit, decide in a spreadsheet, apply, audit again."""

import csv
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from robustgc.cli.app import app

PAGE = (Path(__file__).parents[2] / "docs" / "review.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.S)
RUN = CliRunner()


def rows_of(header):
    """Return the rows of a table of the page, by the names of its columns."""
    head = "| " + " | ".join(header) + " |\n"
    lines = PAGE.split(head)[1].split("\n\n")[0].splitlines()[1:]
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return [dict(zip(header, row, strict=True)) for row in cells]


def run(command, said):
    """Run a command of the page, and compare what it says."""
    program, *words = shlex.split(command)
    assert program == "robustgc"
    done = RUN.invoke(app, words)
    assert done.exit_code == 0, done.output
    assert done.stderr == said


def table(path, **style):
    with path.open(newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file, **style))


def check(path, shown):
    """Compare a table that was written with the one on the page."""
    rows = table(path)
    assert len(rows) == len(shown)
    for row, wanted in zip(rows, shown, strict=True):
        rounded = {**row, "suspicion": f"{float(row['suspicion']):.2f}"}
        for name in wanted.keys() - {"decision"}:
            assert rounded[name] == wanted[name]


def edit(path, decisions, excel):
    """Add decisions as a spreadsheet would save them; Excel with the settings of Germany."""
    rows = table(path)
    for row in rows:
        row["decision"] = decisions[row["node"]]
        if excel:
            row["suspicion"] = row["suspicion"].replace(".", ",")
            row["margin"] = row["margin"].replace(".", ",")
            row["judged"] = row["judged"].upper()
    style = {"delimiter": ";", "lineterminator": "\r\n"} if excel else {}
    with path.open("w", newline="", encoding="utf-8-sig" if excel else "utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), **style)
        writer.writeheader()
        writer.writerows(rows)


def shortened(text):
    """Six digits of every number: the others depend on the machine."""
    return re.sub(r"0\.\d{7,}", lambda number: f"{float(number[0]):.6f}", text)


@pytest.mark.parametrize("excel", [False, True])
def test_the_page_does_what_it_says(excel, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    codes = [text for kind, text in BLOCKS if kind == "python"]
    commands = [text for kind, text in BLOCKS if kind == "sh"]
    texts = [text for kind, text in BLOCKS if kind == "text"]
    first, applied, log, second, printed = texts
    exec(compile(codes[0], "prepare.py", "exec"), {})

    run(commands[0], first)
    shown = rows_of(["node", "given", "suggested", "suspicion", "decision"])
    check(tmp_path / "issues.csv", shown)
    assert "Doubtful labels of edges.csv" in (tmp_path / "doubts.html").read_text(encoding="utf-8")

    edit(tmp_path / "issues.csv", {row["node"]: row["decision"] for row in shown}, excel)
    run(commands[1], applied)
    assert shortened((tmp_path / "cleaned.log.csv").read_text(encoding="utf-8")) == shortened(log)

    run(commands[2], second)
    check(tmp_path / "issues.csv", rows_of(["node", "given", "suggested", "suspicion", "reviewed"]))

    exec(compile(codes[1], "update.py", "exec"), {})
    assert capsys.readouterr().out == printed


def test_a_page_of_doubts_marks_what_was_reviewed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(next(text for kind, text in BLOCKS if kind == "python"), "p", "exec"), {})
    rows = table(Path("labels.csv"))
    lines = [[*row.values(), "x" if row["node"] == "Breakdown" else ""] for row in rows]
    with Path("labels.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["node", "label", "reviewed"], *lines])
    words = ["audit", "edges.csv", "--labels", "labels.csv", "--report", "page.html", "-q"]
    assert RUN.invoke(app, words).exit_code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    suspects = page.split('<table id="suspects">')[1].split("</table>")[0]
    names = re.findall(r'<td class="name"><bdi>(.*?)</bdi>', suspects)
    assert len(names) == 30
    assert names[-1] == "Breakdown"
    assert suspects.count("<td>yes</td>") == 1
    assert suspects.endswith("<td>yes</td></tr></tbody>")
    assert "Labels that a person has reviewed stand last." in page
    assert 'aria-sort="descending"' not in suspects


@pytest.mark.parametrize("target", ["-o", "--report"])
def test_an_audit_does_not_replace_what_it_reads(tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    exec(compile(next(text for kind, text in BLOCKS if kind == "python"), "p", "exec"), {})
    before = Path("labels.csv").read_bytes()
    done = RUN.invoke(app, ["audit", "edges.csv", "--labels", "labels.csv", target, "labels.csv"])
    assert done.exit_code == 1
    assert "is an input, so it is not overwritten" in done.stderr
    assert Path("labels.csv").read_bytes() == before


def test_the_loop_in_a_spreadsheet_of_its_own_kind(tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    monkeypatch.chdir(tmp_path)
    exec(compile(next(text for kind, text in BLOCKS if kind == "python"), "prepare.py", "exec"), {})
    audit = "audit edges.csv --labels {} -o {}"
    assert RUN.invoke(app, audit.format("labels.csv", "issues.xlsx").split()).exit_code == 0
    book = openpyxl.load_workbook("issues.xlsx")
    sheet = book.active
    sheet.cell(1, sheet.max_column + 1, "decision")
    place = sheet.max_column
    names = [cell.value for cell in sheet[1]]
    first = {name: sheet.cell(2, k + 1).value for k, name in enumerate(names)}
    sheet.cell(2, place, "change")
    sheet.cell(3, place, "keep")
    book.save("issues.xlsx")

    apply = "apply issues.xlsx --labels labels.csv -o cleaned.xlsx"
    done = RUN.invoke(app, apply.split())
    assert done.exit_code == 0, done.output
    assert "1 changed, 0 dropped, 1 kept" in done.stderr
    cleaned = openpyxl.load_workbook("cleaned.xlsx").active
    rows = list(cleaned.iter_rows(values_only=True))
    known = {row[0]: row for row in rows[1:]}
    assert known[first["node"]][rows[0].index("label")] == first["suggested"]
    again = RUN.invoke(app, audit.format("cleaned.xlsx", "again.csv").split())
    assert again.exit_code == 0, again.output
    assert first["node"] not in {row["node"] for row in table(tmp_path / "again.csv")}

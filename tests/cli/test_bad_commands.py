"""Bad input on the command line: exit code, message, nothing half written, no traceback."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from robustgc.cli.app import app

RUN = CliRunner()
EDGES = "source,target,weight\n" + "".join(f"n{k},n{(k + 1) % 8},1\n" for k in range(8))
LABELS = "node,label\nn0,red\nn4,blue\n"
FILES = {
    "edges.csv": EDGES,
    "labels.csv": LABELS,
    "few.csv": EDGES + "n1\n",
    "heavy.csv": EDGES + "n1,n3,heavy\n",
    "negative.csv": EDGES + "n1,n3,-1\n",
    "directed.csv": EDGES + "n1,n0,2\n",
    "copies.csv": EDGES + "n0,n1,1\nn3,n3,1\n",
    "unknown.csv": LABELS + "zz,red\n",
    "two.csv": LABELS + "n0,blue\n",
    "one.csv": "node,label\nn0,red\nn4,red\n",
    "none.csv": "node,label\n",
    "empty.csv": "",
    "points.csv": "id,x,y\na,0,1\nb,1,\n",
    "fine.csv": "id,x,y\n" + "".join(f"n{k},{k},{k % 2}\n" for k in range(8)),
}
COMMANDS = {
    # name: (arguments, exit code, parts of what is said)
    "missing": ("classify edge.csv -l labels.csv", 1, ["edge.csv does not exist", "is it edges."]),
    "labels missing": ("classify edges.csv -l label.csv", 1, ["label.csv", "is it labels.csv?"]),
    "neither": ("classify edges.csv -l club", 1, ["club does not exist; check the name"]),
    "empty": ("classify empty.csv -l labels.csv", 1, ["empty.csv is empty"]),
    "too few": ("classify few.csv -l labels.csv", 1, ["few.csv, line 10: 1 field where 3"]),
    "no number": ("audit heavy.csv -l labels.csv", 1, ["heavy.csv, line 10: 'heavy'"]),
    "negative": ("classify negative.csv -l labels.csv", 1, ["line 10: weight -1 is negative"]),
    "directed": (
        "classify directed.csv -l labels.csv",
        1,
        ["first n0 - n1", "--symmetrise mean|max"],
    ),
    "unknown": ("classify edges.csv -l unknown.csv", 1, ["1 of 3", "zz", "--ignore-unknown"]),
    "two labels": ("audit edges.csv -l two.csv", 1, ["node n0 has two labels", "(line 4)"]),
    "one class": ("classify edges.csv -l one.csv", 1, ["one.csv: all 2 labels", "'red'"]),
    "no labels": ("classify edges.csv -l none.csv", 1, ["none.csv: there are no labels"]),
    "column": ("classify edges.csv -l labels.csv --source who", 1, ["no column 'who'"]),
    "points": (
        "classify --points points.csv -l labels.csv",
        1,
        ["line 3", "column 3 ('y')", "mis"],
    ),
    "usage": ("classify -l labels.csv", 2, ["either EDGES or --points"]),
    "both": ("classify edges.csv --points fine.csv -l labels.csv", 2, ["one of the two"]),
    "eta": ("classify edges.csv -l labels.csv --eta 2", 2, ["--eta 2"]),
    "way": (
        "classify edges.csv -l labels.csv --symmetrise min",
        2,
        ["min is unknown; choose mean, max or sum"],
    ),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "out.csv").write_text("old\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ended(done, code, parts):
    """Check how a command ended, and that its error is meant for people."""
    assert done.exit_code == code, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert done.stdout == ""
    for part in parts:
        assert part in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_wrong_is_said_and_the_old_output_stays(folder, name):
    arguments, code, parts = COMMANDS[name]
    ended(RUN.invoke(app, [*arguments.split(), "-o", "out.csv"]), code, parts)
    assert (folder / "out.csv").read_text() == "old\n"
    assert {path.name for path in folder.iterdir()} == {*FILES, "out.csv"}


@pytest.mark.parametrize(
    ("out", "parts"),
    [
        ("no/out.csv", ["there is no folder no", "Make it first"]),
        ("out.ods", ["tables are written as .csv, .tsv, .parquet"]),
        ("out.csv.gz", ["tables are written as .csv, .tsv, .parquet"]),
        (".", ["rename it"]),
    ],
)
@pytest.mark.usefixtures("folder")
def test_outputs_that_cannot_be_are_refused_before_the_work(monkeypatch, out, parts):
    monkeypatch.setattr("robustgc.cli.shared.fit", lambda *_: pytest.fail("worked"))
    ended(RUN.invoke(app, ["classify", "edges.csv", "-l", "labels.csv", "-o", out]), 1, parts)


@pytest.mark.usefixtures("folder")
def test_a_full_disk_is_said_and_nothing_is_left(folder, monkeypatch):
    def no_room(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("robustgc.io.opening.os.fsync", no_room)
    done = RUN.invoke(app, ["classify", "edges.csv", "-l", "labels.csv", "-o", "out.csv"])
    ended(done, 1, ["out.csv was not written: No space left on device", "make room"])
    assert {path.name for path in folder.iterdir()} == {*FILES, "out.csv"}


def test_what_is_odd_but_fine_is_said(folder):
    arguments = ["classify", "copies.csv", "-l", "unknown.csv", "--ignore-unknown", "-o", "out.csv"]
    done = RUN.invoke(app, [*arguments, "--symmetrise", "max"])
    ended(done, 0, ["1 edge came more than once", "1 self-loop kept", "1 of 3 labelled", "zz"])
    assert len((folder / "out.csv").read_text().splitlines()) == 9
    assert RUN.invoke(app, [*arguments, "--quiet"]).stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_standard_output_that_is_full_or_closed(folder):
    command = [sys.executable, "-c", "from robustgc.cli import main; main()"]
    command += ["classify", "edges.csv", "-l", "labels.csv", "--quiet"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr.decode().count("\n") == 1
    assert b"standard output cannot be written: No space left" in done.stderr
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")

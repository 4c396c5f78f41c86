"""What is written: exact labels, spreadsheets, outputs of one run, leftovers of killed ones."""

import csv
import json
import os
import re
import signal
import subprocess
import sys

import networkx as nx
import numpy as np
import polars
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from robustgc import classify, load
from robustgc.cli.app import app
from robustgc.estimators.saving.model import save
from robustgc.graph import atomic

BIG = 2**53  # the next whole number is no float


def cliques():
    """Two cliques of four with a weak link, a clique without a label, and a node by itself."""
    graph = nx.Graph()
    for c in "abc":
        graph.add_edges_from((f"{c}{i}", f"{c}{j}") for i in range(4) for j in range(i))
    graph.add_edge("a3", "b0", weight=0.1)
    graph.add_node("lonely")
    return graph


@pytest.mark.parametrize("first", [BIG, 2**63])
def test_large_integer_labels_keep_every_digit_on_every_way_out(tmp_path, first):
    given = {"a0": first, "a1": first, "b0": first + 1, "b2": first + 1}
    result = classify(cliques(), given, unlabeled=np.nan)
    expected = {name: first + (name[0] == "b") for name in result.names if name[0] in "ab"}
    frame = result.to_frame()
    assert result.labels == expected
    assert frame.dropna(subset="label").set_index("node")["label"].to_dict() == expected
    assert frame["label"].isna().sum() == 5
    result.write(tmp_path / "answers.parquet")
    result.write(tmp_path / "answers.csv")
    table = pq.read_table(tmp_path / "answers.parquet").to_pydict()
    written = dict(zip(table["node"], table["label"], strict=True))
    assert {name: label for name, label in written.items() if label is not None} == expected
    for line in (tmp_path / "answers.csv").read_text().splitlines()[1:]:
        node, label = line.split(",")[:2]
        assert label == str(expected.get(node.strip('"'), ""))
    assert {row.given for row in result.issues} == {first, first + 1}
    result.save(tmp_path / "model.zip")
    again = load(tmp_path / "model.zip")
    assert again.labels == expected
    assert again.estimator.transduction_.tolist()[:4] == [first] * 4
    node = int(np.flatnonzero(result.names == "b3")[0])
    assert result.estimator.update({node: first + 1}).transduction_[node] == first + 1
    with pytest.raises(ValueError, match="is not a class"):
        result.estimator.update({node: first + 2})


def test_large_integer_labels_in_frames_of_polars():
    edges = polars.DataFrame({"source": ["a", "b", "x"], "target": ["b", "c", "y"]})
    frame = classify(edges, {"a": BIG, "c": BIG + 1}).to_frame()
    labels = dict(frame.select("node", "label").iter_rows())
    assert (labels["a"], labels["c"], labels["x"]) == (BIG, BIG + 1, None)


# Spreadsheets.

FORMULAS = ["=1+1", "+1", "-x", "@SUM(A1)", "\t=1", "\r=1", "=x,y", '="q"']


def rows_of(path, mark=","):
    """Return the cells of a table as a spreadsheet sees them, after the mark of UTF-8."""
    text = path.read_bytes()
    assert text.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(text.decode("utf-8-sig").splitlines(keepends=True), delimiter=mark))


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_no_cell_for_a_spreadsheet_is_a_formula(tmp_path, ending):
    graph = nx.path_graph([*FORMULAS, "é", "plain", "a=b", "7"])
    result = classify(graph, {"=1+1": "=cmd", "7": "@other", "plain": "-third"})
    result.write(tmp_path / f"answers.{ending}", excel=True)
    header, *rows = rows_of(tmp_path / f"answers.{ending}", "\t" if ending == "tsv" else ",")
    named = [row[0] for row in rows]
    assert named[:3] == ["'=1+1", "'+1", "'-x"]
    assert named[-4:] == ["é", "plain", "a=b", "7"]
    assert rows[0][header.index("label")] == "'=cmd"
    numbers = [header.index(name) for name in header if name.startswith("score_")]
    assert len(numbers) == 3
    assert any(float(row[k]) < 0 for row in rows for k in numbers)
    for row in [header, *rows]:
        texts = [cell for k, cell in enumerate(row) if k not in numbers]
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in texts)


def test_negative_decisions_and_names_that_are_numbers_stay_numbers(tmp_path):
    result = classify(nx.path_graph([-3, -2, 5, 7]), {-3: "a", 7: "b"})
    result.write(tmp_path / "answers.csv", excel=True)
    header, *rows = rows_of(tmp_path / "answers.csv")
    assert [row[0] for row in rows] == ["-3", "-2", "5", "7"]
    assert float(rows[0][header.index("decision")]) < 0


def test_without_the_flag_nothing_is_changed(tmp_path):
    result = classify(nx.path_graph(["=a", "b", "c"]), {"=a": "x", "c": "y"})
    result.write(tmp_path / "answers.csv")
    assert (tmp_path / "answers.csv").read_bytes().startswith(b'"node"')
    assert b'"=a"' in (tmp_path / "answers.csv").read_bytes()
    with pytest.raises(
        ValueError, match=r"spreadsheets are \.csv, \.tsv or \.xlsx; a Parquet file"
    ):
        result.write(tmp_path / "answers.parquet", excel=True)
    assert os.listdir(tmp_path) == ["answers.csv"]


RUN = CliRunner()
EDGES = "source,target,weight\n" + "".join(f"=n{k},=n{(k + 1) % 8},1\n" for k in range(8))
LABELS = "node,label\n=n0,red\n=n1,red\n=n4,@blue\n=n5,@blue\n"
POINTS = "id,x,y\n" + "".join(f"=n{k},{k // 4},{k % 4}\n" for k in range(8))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    files = {"edges.csv": EDGES, "labels.csv": LABELS, "points.csv": POINTS}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, code=0):
    done = RUN.invoke(app, list(arguments))
    assert done.exit_code == code, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done


@pytest.mark.parametrize(
    "command",
    [
        "classify edges.csv -l labels.csv -o out.csv",
        "audit edges.csv -l labels.csv --above 0 -o out.csv",
        "predict points.csv -m model --id id -o out.csv",
        "convert edges.csv out.csv",
    ],
)
def test_every_command_that_writes_tables_has_the_flag(folder, command):
    known = ["-k", "3", "--id", "id", "--save", "model", "--quiet", "-o", "known.csv"]
    run("classify", "--points", "points.csv", "-l", "labels.csv", *known)
    run(*command.split(), "--excel")
    _, *rows = rows_of(folder / "out.csv")
    assert {row[0][:3] for row in rows} == {"'=n"}
    if "convert" not in command:
        done = run(*command.replace(" -o out.csv", "").split(), "--excel")
        assert done.stdout_bytes == (folder / "out.csv").read_bytes()
        done = run(*command.replace("out.csv", "out.parquet").split(), "--excel", code=2)
        assert "--excel is for .csv, .tsv, .xlsx and standard output" in done.stderr
    else:
        done = run(*command.replace("out.csv", "out.npz").split(), "--excel", code=1)
        assert "for spreadsheets are .csv, .tsv or .xlsx" in done.stderr
    assert not (folder / "out.parquet").exists()


@pytest.mark.usefixtures("folder")
def test_the_flag_does_not_go_with_ranks():
    command = "classify edges.csv -l labels.csv -o out --engine mpi --excel"
    assert "--excel does not go with --engine mpi" in run(*command.split(), code=2).stderr


# Outputs of one run.

ALL = ["-o", "out.parquet", "--report", "page.html", "--save", "model.zip"]
CLASSIFY = ["classify", "edges.csv", "-l", "labels.csv", "--quiet"]


def test_all_outputs_name_the_run(folder):
    done = run(*CLASSIFY, *ALL, "--json")
    name = json.loads(done.stdout)["run"]
    assert re.fullmatch("[0-9a-f]{12}", name)
    assert pq.read_schema("out.parquet").metadata[b"robustgc_run"].decode() == name
    assert f"<dt>Run</dt><dd><bdi>{name}</bdi></dd>" in (folder / "page.html").read_text()
    assert load("model.zip").run == name
    run(*CLASSIFY, "--save", "model", "-o", "out.csv")
    assert json.loads((folder / "model/manifest.json").read_text())["model"]["run"] == name
    assert (folder / "out.csv").stat().st_mtime_ns == (folder / "model").stat().st_mtime_ns
    assert json.loads(run(*CLASSIFY, "--json", "--eta", "0.3").stdout)["run"] != name


def test_a_model_without_the_name_of_its_run_loads(folder):
    result = classify("edges.csv", "labels.csv")
    save(result.estimator, "model", names=result.names.tolist())
    assert "run" not in json.loads((folder / "model/manifest.json").read_text())["model"]
    assert load("model").run == result.run


@pytest.mark.parametrize("broken", ["robustgc.report.page.render", "numpy.save"])
@pytest.mark.parametrize("before", [False, True])
def test_if_one_output_cannot_be_written_none_is_moved(folder, monkeypatch, broken, before):
    if before:
        run(*CLASSIFY, *ALL)
    names = sorted(os.listdir())
    old = {name: (folder / name).read_bytes() for name in ("out.parquet", "page.html") if before}

    def no_room(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(broken, no_room)
    done = run(*CLASSIFY, *ALL, "--eta", "0.3", code=1)
    if broken == "numpy.save":
        assert "model.zip was not written: No space left on device. Nothing" in done.stderr
        assert "out.parquet and page.html stay as before; make room" in done.stderr
    assert sorted(os.listdir()) == names
    for name, content in old.items():
        assert (folder / name).read_bytes() == content


@pytest.mark.parametrize("save_as", ["model", "model.zip"])
def test_if_one_output_cannot_be_moved_the_others_come_back(folder, monkeypatch, save_as):
    outputs = ["--save", save_as, "--report", "page.html", "-o", "out.csv"]
    run(*CLASSIFY, *outputs)
    names = sorted(os.listdir())
    old = (folder / "page.html").read_bytes(), (folder / "out.csv").read_bytes(), load(save_as).run
    plain = atomic._Staged.move

    def refused(self, keep):
        if self.final.name.startswith("model"):  # the last of the three
            raise PermissionError(13, "Permission denied", str(self.final))
        plain(self, keep)

    monkeypatch.setattr(atomic._Staged, "move", refused)
    done = run(*CLASSIFY, *outputs, "--eta", "0.3", code=1)
    assert f"{save_as} was not written: Permission denied" in done.stderr
    assert "page.html and out.csv stay as before" in done.stderr or "stay as before" in done.stderr
    assert sorted(os.listdir()) == names
    now = (folder / "page.html").read_bytes(), (folder / "out.csv").read_bytes(), load(save_as).run
    assert now == old


@pytest.mark.parametrize(
    "outputs",
    [
        ["-o", "out.csv", "--report", "out.csv"],
        ["-o", "out.csv", "--report", "./out.csv"],
        ["--report", "page", "--save", "page"],
        ["-o", "model/out.csv", "--save", "model"],
    ],
)
@pytest.mark.usefixtures("folder")
def test_two_outputs_in_one_place_are_refused(outputs):
    before = sorted(os.listdir())
    assert "place of its own" in run(*CLASSIFY, *outputs, code=1).stderr
    assert sorted(os.listdir()) == before


def test_a_classify_that_is_killed_is_cleared_by_the_next(folder):
    code = """
import sys
from robustgc.graph import atomic
plain, count = atomic._Staged.move, 0
def move(self, keep):
    global count
    count += 1
    if count == 2:
        print("one is moved", flush=True)
        import time; time.sleep(60)
    plain(self, keep)
atomic._Staged.move = move
from robustgc.cli import main
main()
"""
    command = [sys.executable, "-c", code, *CLASSIFY, *ALL]
    run(*CLASSIFY, *ALL)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "one is moved\n"
        process.send_signal(signal.SIGKILL)
    before = {"edges.csv", "labels.csv", "points.csv", "out.parquet", "page.html", "model.zip"}
    assert set(os.listdir()) > before
    run(*CLASSIFY, *ALL)
    assert set(os.listdir()) == before
    assert load("model.zip").run == pq.read_schema("out.parquet").metadata[b"robustgc_run"].decode()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("command", ["audit edges.csv -l labels.csv --json", "info edges.csv"])
@pytest.mark.usefixtures("folder")
def test_a_full_standard_output_is_said_in_one_line(command):
    code = "from robustgc.cli import main; main()"
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, *command.split()], stdout=full, stderr=-1, check=False
        )
    said = done.stderr.decode().splitlines()
    assert done.returncode == 1
    assert said[-1].startswith("robustgc: standard output cannot be written: No space left on")
    assert not any("Traceback" in line for line in said)


def test_a_matrix_and_its_names_are_written_both_or_none(folder, monkeypatch):
    before = sorted(os.listdir())

    def no_room(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pyarrow.csv.write_csv", no_room)
        done = run("convert", "edges.csv", "graph.npz", code=1)
    assert "graph.npz.names.csv was not written: No space left" in done.stderr
    assert "graph.npz stays as before" in done.stderr
    assert sorted(os.listdir()) == before
    run("convert", "edges.csv", "graph.npz")
    assert sorted(os.listdir()) == sorted([*before, "graph.npz", "graph.npz.names.csv"])

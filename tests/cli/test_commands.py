"""The commands on the user's own files."""

import csv
import json
import os
import subprocess
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from robustgc.cli.app import app

RUN = CliRunner()
WRONG = "m5"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("karate")
    edges = [(f"m{u}", f"m{v}") for u, v in nx.karate_club_graph().edges]
    table(folder / "edges.csv", ["source", "target"], edges)
    given = [("m0", "Hi"), ("m33", "Officer"), ("m1", "Hi"), ("m32", "Officer"), (WRONG, "Officer")]
    table(folder / "labels.csv", ["node", "label"], given)
    rng = np.random.default_rng(3079)
    X = np.concatenate([rng.normal(0, 1, (20, 2)), rng.normal(9, 1, (20, 2))]).round(3)
    table(folder / "points.csv", ["id", "x", "y"], [(f"p{k}", *row) for k, row in enumerate(X)])
    classes = [("p0", "a"), ("p1", "a"), ("p38", "b"), ("p39", "b")]
    table(folder / "classes.csv", ["node", "label"], classes)
    return folder


def table(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def run(place, *arguments, code=0):
    """Run a command in which {} stands for the folder."""
    words = [str(word).replace("{}", str(place)) for word in arguments]
    result = RUN.invoke(app, words)
    assert result.exit_code == code, result.output
    return result


GRAPH = ("{}/edges.csv", "--labels", "{}/labels.csv")
POINTS = ("--points", "{}/points.csv", "--labels", "{}/classes.csv")


def test_predictions_go_to_standard_output_and_words_to_standard_error(place):
    result = run(place, "classify", *GRAPH)
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert len(rows) == 34
    assert {row["label"] for row in rows} == {"Hi", "Officer"}
    assert "34 nodes, 5 labels of 2 classes" in result.stderr
    assert "note:" not in result.stdout


def test_the_same_columns_in_every_kind_of_file(place, tmp_path):
    for name in ("out.csv", "out.tsv", "out.parquet"):
        run(place, "classify", *GRAPH, "-o", tmp_path / name, "-q")
    frames = [
        pd.read_csv(tmp_path / "out.csv"),
        pd.read_csv(tmp_path / "out.tsv", sep="\t"),
        pd.read_parquet(tmp_path / "out.parquet"),
    ]
    for frame in frames[1:]:
        pd.testing.assert_frame_equal(frame, frames[0], check_dtype=False)


def test_summary_for_machines(place):
    found = json.loads(run(place, "classify", *GRAPH, "--json").stdout)
    assert found["nodes"] == 34
    assert found["suspicious"] == 1
    assert found["residual"] < 1e-8
    assert 0 < found["eta"] < 1


def test_audit_shows_the_wrong_label(place):
    rows = list(csv.DictReader(run(place, "audit", *GRAPH).stdout.splitlines()))
    assert [row["node"] for row in rows] == [WRONG]
    assert rows[0]["suggested"] == "Hi"
    every = json.loads(run(place, "audit", *GRAPH, "--above", "0", "--json").stdout)
    assert len(every["issues"]) == every["labels"] == 5
    doubts = [issue["suspicion"] for issue in every["issues"]]
    assert doubts == sorted(doubts, reverse=True)


def test_saved_models_answer_new_points(place, tmp_path):
    run(place, "classify", *POINTS, "--save", tmp_path / "model.zip", "-o", tmp_path / "p.csv")
    table(tmp_path / "new.csv", ["id", "x", "y"], [("n1", 0.1, 0.2), ("n2", 9.1, 9.2)])
    result = run(place, "predict", tmp_path / "new.csv", "--model", tmp_path / "model.zip")
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert [(row["node"], row["label"], row["valid"]) for row in rows] == [
        ("n1", "a", "true"),
        ("n2", "b", "true"),
    ]


def test_a_model_of_a_graph_has_no_answer_for_points(place, tmp_path):
    run(place, "classify", *GRAPH, "--save", tmp_path / "model", "-q", "-o", tmp_path / "o.csv")
    result = run(place, "predict", "{}/points.csv", "--model", tmp_path / "model", code=1)
    assert "fitted on a graph" in result.stderr


def test_out_of_reach_is_not_valid(place, tmp_path):
    options = ("--affinity", "rbf", "--save", tmp_path / "model", "-o", tmp_path / "p.csv")
    run(place, "classify", *POINTS, *options)
    table(tmp_path / "new.csv", ["id", "x", "y"], [("far", 1e6, 1e6)])
    result = run(place, "predict", tmp_path / "new.csv", "--model", tmp_path / "model")
    assert result.stdout.splitlines()[1] == '"far",,,,false'


def test_info_and_convert(place, tmp_path):
    found = json.loads(run(place, "info", "{}/edges.csv", "--json").stdout)
    assert (found["nodes"], found["edges"], found["components"]) == (34, 78, 1)
    assert found["lambda_1"] == pytest.approx(0.1322723)
    assert "lambda 1" in run(place, "info", "{}/edges.csv").stdout
    for name in ("folder", "graph.parquet", "graph.csv"):
        run(place, "convert", "{}/edges.csv", tmp_path / name)
        again = run(place, "classify", tmp_path / name, "--labels", "{}/labels.csv").stdout
        rows = {row["node"]: row["label"] for row in csv.DictReader(again.splitlines())}
        assert len(rows) == 34
        assert rows["m0"] == "Hi"
    for name in ("graph.npz", "graph.mtx"):
        run(place, "convert", "{}/edges.csv", tmp_path / name)
        assert (tmp_path / f"{name}.names.csv").exists()
        same = json.loads(run(place, "info", tmp_path / name, "--json").stdout)
        assert same["lambda_1"] == pytest.approx(found["lambda_1"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--labels", "{}/labels.csv"), "either EDGES or --points"),
        ((*GRAPH, "--points", "{}/points.csv"), "either EDGES or --points"),
        ((*POINTS, "--weight", "w"), "are for EDGES"),
        ((*GRAPH, "--columns", "x"), "are for --points"),
        ((*POINTS, "--affinity", "cosine"), "choose knn or rbf"),
        ((*GRAPH, "--eta", "1.5"), "not strictly between 0 and 1"),
        ((*GRAPH, "--symmetrise", "min"), "mean, max or sum"),
        ((*GRAPH, "--unknown"), "No such option"),
    ],
)
def test_wrong_usage(place, arguments, message):
    assert message in run(place, "classify", *arguments, code=2).stderr


def test_nothing_is_written_when_something_is_wrong(place, tmp_path):
    old = tmp_path / "out.csv"
    old.write_text("old")
    (tmp_path / "bad.csv").write_text("node,label\nm0,Hi\nnobody,Officer\n")
    arguments = ("classify", "{}/edges.csv", "-l", tmp_path / "bad.csv", "-o", old)
    assert "1 of 2 labelled nodes" in run(place, *arguments, code=1).stderr
    assert old.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "out.csv"]
    missing = tmp_path / "no" / "out.csv"
    assert "no folder" in run(place, "classify", *GRAPH, "-o", missing, code=1).stderr


def test_colours_and_progress_stay_out_of_pipes(place):
    code = "from robustgc.cli import main; main()"
    words = [
        sys.executable,
        "-c",
        code,
        "classify",
        f"{place}/edges.csv",
        "-l",
        f"{place}/labels.csv",
    ]
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    assert "\x1b" not in done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 35


def test_a_header_of_labels_with_words_of_its_own(place, tmp_path):
    text = (place / "labels.csv").read_text().replace("node,label", "member,faction")
    (tmp_path / "l.csv").write_text(text)
    result = run(place, "classify", "{}/edges.csv", "-l", tmp_path / "l.csv")
    assert "the first line of" in result.stderr
    assert "5 labels of 2 classes" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("classify", *GRAPH, "-o", "{}/edges.csv"),
        ("audit", *GRAPH, "--report", "{}/labels.csv"),
        ("convert", "{}/edges.csv", "{}/edges.csv"),
        ("predict", "{}/edges.csv", "--model", "{}/none", "-o", "{}/edges.csv"),
    ],
)
def test_input_is_never_overwritten(place, words):
    before = (place / "edges.csv").read_bytes(), (place / "labels.csv").read_bytes()
    result = run(place, *words, code=1)
    assert "is an input, so it is not overwritten" in result.stderr
    assert ((place / "edges.csv").read_bytes(), (place / "labels.csv").read_bytes()) == before


def test_minus_one_is_a_class_in_tables_on_demand(place, tmp_path):
    frame = pd.DataFrame({"node": ["m0", "m1", "m33"], "label": [-1, -1, 1]})
    frame.to_parquet(tmp_path / "l.parquet")
    words = ("classify", "{}/edges.csv", "-l", tmp_path / "l.parquet")
    refused = run(place, *words, code=1)
    assert "2 cells say '-1', read as unlabelled" in refused.stderr
    assert "3 labels of 2 classes" in run(place, *words, "--unlabelled", "").stderr


def test_info_speaks_of_the_largest_piece(place, tmp_path):
    table(tmp_path / "two.csv", ["source", "target"], [(*"ab",), (*"cd",), (*"de",), (*"ce",)])
    found = json.loads(run(place, "info", tmp_path / "two.csv", "--json").stdout)
    assert (found["components"], found["largest_component"]) == (2, 3)
    assert found["lambda_1"] == pytest.approx(1.5)  # of a triangle

"""Text as labels: a column of the points or an attribute of the graph, else a file."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from robustgc import classify
from robustgc.cli.app import app
from robustgc.compare.comparing import compare
from robustgc.io.opening import InputError

KINDS = ["rose", "tulip"]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with points and a graph that have labels called species, and a file that has too."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8317)
    X = 6.0 * (np.arange(24) % 2)[:, None] + rng.normal(scale=0.3, size=(24, 2))
    frame = pd.DataFrame({"length": X[:, 0], "width": X[:, 1], "species": KINDS * 12})
    frame.to_csv("points.csv", index=False)
    frame.drop(columns="species").to_csv("plain.csv", index=False)
    np.save("plain.npy", X)
    graph = nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(4))
    graph.add_edge(0, 4)
    nx.set_node_attributes(graph, {k: KINDS[k // 4] for k in range(8)}, "species")
    nx.write_graphml(graph, "graph.graphml")
    pd.DataFrame({"node": range(8), "label": list("abababab")}).to_csv("labels.csv", index=False)
    return tmp_path


def run(*words, code=0):
    result = CliRunner().invoke(app, ["classify", *words, "-o", "out.csv"])
    assert result.exit_code == code, result.output + result.stderr
    return sorted(set(pd.read_csv("out.csv").label)) if code == 0 else result.stderr


@pytest.mark.parametrize("other", ["nothing", "folder", "file"])
def test_a_column_or_attribute_goes_before_a_file(place, other):
    if other == "folder":
        (place / "species").mkdir()
    elif other == "file":
        (place / "species").write_text((place / "labels.csv").read_text())
    frame = pd.read_csv("points.csv")
    for points in ("points.csv", frame):
        result = classify(points=points, labels="species")
        assert result.estimator.classes_.tolist() == KINDS
        assert result.features == ("length", "width")
    assert classify("graph.graphml", "species").estimator.classes_.tolist() == KINDS
    found = compare(points=frame, truth="species", models=["RobustGC"], sizes=[6], noise=[0],
                    repeats=1)  # fmt: skip
    assert found.cells[0].accuracy_mean > 0.9
    assert run("--points", "points.csv", "--labels", "species") == KINDS
    assert run("graph.graphml", "--labels", "species") == KINDS


def test_a_file_is_read_where_nothing_else_is_called_so(place):
    for points in ("points.csv", "plain.csv", "plain.npy", pd.read_csv("plain.csv")):
        assert classify(points=points, labels="labels.csv").estimator.classes_.tolist() == [
            "a",
            "b",
        ]
    assert classify("graph.graphml", "labels.csv").estimator.classes_.tolist() == ["a", "b"]
    for points in ("points.csv", "plain.npy"):
        assert run("--points", points, "--labels", "labels.csv") == ["a", "b"]
    assert run("graph.graphml", "--labels", "labels.csv") == ["a", "b"]


@pytest.mark.parametrize("name", ["nolabels.xlsx", "nolabels.csv.gz", "nolabels.feather"])
def test_a_file_that_is_not_there_is_called_so(place, name):
    for inputs in (
        {"points": "points.csv"}, {"points": "plain.npy"}, {"points": np.load("plain.npy")},
        {"points": pd.read_csv("points.csv")}, {"graph": "graph.graphml"},
    ):  # fmt: skip
        with pytest.raises(InputError, match=f"{name} does not exist"):
            classify(**inputs, labels=name)
    assert f"{name} does not exist" in run("--points", "points.csv", "--labels", name, code=1)
    assert f"{name} does not exist" in run("graph.graphml", "--labels", name, code=1)


def test_what_is_neither_and_options_of_a_file(place):
    (place / "kind").mkdir()
    told = run("--points", "points.csv", "--labels", "kind", code=1)
    assert "kind is neither a file nor a column of points.csv (there are 'length', 'wi" in told
    told = run("graph.graphml", "--labels", "kind", code=1)
    assert "kind is neither a file nor a node attribute of graph.graphml (there are 's" in told
    for inputs in (("--points", "points.csv"), ("graph.graphml",)):
        told = run(*inputs, "--labels", "species", "--node-column", "n", code=1)
        assert "--label-sheet are for a file. Leave them out, or name the file as ./species" in told

"""Labels and points from files of every kind; tables that are written."""

import gzip

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from robustgc.api import classify
from robustgc.io.label_files import label_table, of_attribute, read_labels
from robustgc.io.label_nodes import node_labels
from robustgc.io.named import NamedGraph, positions
from robustgc.io.objects import named_graph
from robustgc.io.point_files import Choice, named_points, read_points
from robustgc.io.writing import write_table


def test_labels_from_files_tables_and_attributes(tmp_path):
    graph = NamedGraph(np.eye(3), np.array(["007", "b", "東京"], dtype=object))
    wanted = ["red", None, "blue"]
    (tmp_path / "l.csv").write_text("label,node\nred,007\n,b\n blue ,東京\n", encoding="utf-8")
    (tmp_path / "l.tsv").write_text("007\tred\n東京\tblue\n", encoding="utf-8")
    table = pa.table({"node": ["007", "東京", "b"], "y": ["red", "blue", None]})
    pq.write_table(table, tmp_path / "l.parquet")
    for name in ("l.csv", "l.tsv", "l.parquet"):
        assert node_labels(read_labels(tmp_path / name), graph)[0].tolist() == wanted
    for frame in (table, table.to_pandas(), dict(zip(*table.to_pydict().values(), strict=True))):
        assert node_labels(label_table(frame), graph)[0].tolist() == wanted
    named = NamedGraph(graph.W, graph.names, attributes={"team": wanted})
    assert node_labels(of_attribute("team", named, "g"), named)[0].tolist() == wanted


def test_names_are_compared_as_text_whatever_they_are():
    tuples = list(nx.grid_2d_graph(2, 2))
    cases = [
        ([7, 8], np.array(["8", "7"], dtype=object), [1, 0]),
        (pa.array([7.0, 8.0]), np.array([8, 7]), [1, 0]),
        (pa.array([2**63, 1], "uint64"), np.array([1, 2]), [-1, 0]),
        ([2**70, 1], np.array([1, 2]), [-1, 0]),
        ([1, "a", 2.5], np.array(["a", 1, 2.5], dtype=object), [1, 0, 2]),
        (tuples[::-1], named_graph(nx.grid_2d_graph(2, 2)).names, [3, 2, 1, 0]),
        (pd.Series(["a", "b"], dtype="category").tolist(), np.array(["b"], dtype=object), [-1, 0]),
    ]
    for wanted, names, found in cases:
        assert positions(wanted, names).tolist() == found


def test_points_of_every_kind_are_the_same(tmp_path):
    X = np.array([[0.5, 2**53 + 2], [-3, 4e-5], [7, 8]])
    names = ["007", "Zürich", "b c"]
    rows = [
        f"{n},{float(x)!r},{int(y) if y > 1 else float(y)!r}"
        for n, (x, y) in zip(names, X, strict=True)
    ]
    (tmp_path / "p.csv").write_text("\n".join(["name,x,y", "", *rows, ""]), encoding="utf-8")
    (tmp_path / "p.tsv.gz").write_bytes(gzip.compress("\n".join(rows).replace(",", "\t").encode()))
    table = pa.table({"x": X[:, 0], "name": names, "y": X[:, 1]})
    pq.write_table(table, tmp_path / "p.parquet")
    np.savez(tmp_path / "p.npz", X=X, names=names)
    for file in ("p.csv", "p.parquet", "p.npz"):
        found = read_points(tmp_path / file)
        np.testing.assert_array_equal(found.X, X)
        assert found.names.tolist() == names
    np.save(tmp_path / "p.npy", X)
    for found in (read_points(tmp_path / "p.npy"), named_points(X)):
        np.testing.assert_array_equal(found.X, X)
        assert found.names.tolist() == [0, 1, 2]
    chosen = read_points(tmp_path / "p.csv", Choice("y", columns=["x"]))
    assert chosen.X.ravel().tolist() == X[:, 0].tolist()
    assert chosen.columns == ("x",)
    whole = pa.table({"x": pa.array([2**60 + 1, 3])})
    pq.write_table(whole, tmp_path / "whole.parquet")
    assert read_points(tmp_path / "whole.parquet").X.tolist() == [[2.0**60], [3.0]]


def test_predictions_have_the_same_columns_in_every_kind_of_file(tmp_path):
    names = ["Zürich", "007", 'say "hi"', "Smith, J", "東京", "-5"]
    result = classify(nx.path_graph(names), {names[0]: "red", names[5]: "blue"})
    for name in ("p.csv", "p.tsv", "p.parquet"):
        result.write(tmp_path / name)
    frames = [
        pd.read_csv(tmp_path / "p.csv", dtype={"node": str}),
        pd.read_csv(tmp_path / "p.tsv", sep="\t", dtype={"node": str}),
        pd.read_parquet(tmp_path / "p.parquet"),
    ]
    for frame in frames:
        assert list(frame.columns) == list(result.columns())
        assert frame["node"].tolist() == result.names.tolist()
        assert frame["label"].tolist() == frames[0]["label"].tolist()
        np.testing.assert_array_equal(frame["decision"], result.columns()["decision"])


def test_names_too_large_for_integers_are_written_as_text(tmp_path):
    write_table(tmp_path / "t.csv", {"node": np.array([2**70, 3], dtype=object)})
    assert (tmp_path / "t.csv").read_text().split() == ['"node"', f'"{2**70}"', '"3"']
    graph = nx.Graph([(2**70, 3)])
    assert named_graph(graph).names.tolist() == [2**70, 3]

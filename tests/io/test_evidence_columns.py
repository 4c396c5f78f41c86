"""Evidence in tables: lists where there are lists, names that can be told apart where not."""

import csv
import io
import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from joined_names import split_names
from robustgc.api import classify
from robustgc.io import frames
from robustgc.io.frames import join_names
from robustgc.io.writing import print_table, write_table

NAMES = ["New York", "a;b", 'say "hi"', "", " spaced ", "two\nlines", "x,y", "=1+1", "東京", ";"]


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_names_survive_joining(count):
    for names in itertools.permutations(NAMES, count):
        assert split_names(join_names(names)) == list(names)


def columns():
    evidence = np.empty(3, dtype=object)
    evidence[:] = [("New York", "a;b"), (), ("x,y",)]
    return {"node": np.array(["p", "q", "r"], dtype=object), "evidence": evidence}


def test_parquet_and_frames_have_lists(tmp_path):
    write_table(tmp_path / "t.parquet", columns())
    wanted = [["New York", "a;b"], [], ["x,y"]]
    assert pq.read_table(tmp_path / "t.parquet")["evidence"].to_pylist() == wanted
    assert [list(row) for row in frames.frame(columns(), "pandas")["evidence"]] == wanted
    assert frames.frame(columns(), "polars")["evidence"].to_list() == wanted


@pytest.mark.parametrize("excel", [False, True])
def test_text_has_them_joined(tmp_path, excel, capsysbinary):
    write_table(tmp_path / "t.csv", columns(), excel=excel)
    print_table(columns(), excel=excel)
    for content in ((tmp_path / "t.csv").read_bytes(), capsysbinary.readouterr().out):
        rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
        found = [split_names(row["evidence"]) for row in rows]
        assert found == [["New York", "a;b"], [], ["x,y"]]


def test_names_that_are_tuples_or_numbers():
    evidence = np.empty(2, dtype=object)
    evidence[:] = [((0, 1), (2, 3)), ((4, 5),)]
    found = frames.arrow({"evidence": evidence})["evidence"].to_pylist()
    assert found == [["0 1", "2 3"], ["4 5"]]
    evidence[:] = [(7, 8), (9,)]
    assert frames.arrow({"evidence": evidence})["evidence"].to_pylist() == [[7, 8], [9]]


def test_issues_of_a_graph_name_their_witnesses(tmp_path):
    graph = nx.relabel_nodes(nx.barbell_graph(6, 0), lambda k: f"node; {k}")
    labels = {f"node; {k}": "left" if k < 6 else "right" for k in range(12)}
    labels["node; 2"] = "right"
    result = classify(graph, labels)
    write_table(tmp_path / "i.csv", result.issues.columns())
    table = pd.read_csv(tmp_path / "i.csv")
    witnesses = split_names(table["evidence"][0])
    assert table["node"][0] == "node; 2"
    assert witnesses
    assert set(witnesses) <= set(labels)

"""Square tables of weights are read as a matrix, and lists of edges are not."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

from named_edges import edges_of
from robustgc.cli.app import app
from robustgc.io.dialect import Dialect
from robustgc.io.graph_files import read_graph
from robustgc.io.objects import named_graph
from robustgc.io.opening import InputError

KARATE = nx.relabel_nodes(nx.karate_club_graph(), {k: f"m{k}" for k in range(34)})
FRAME = nx.to_pandas_adjacency(KARATE)
WANTED = {frozenset(edge): w for *edge, w in KARATE.edges(data="weight")}
SAME = "because the names of rows and columns are the same (--source and --target read a list"
SQUARE = "because it is a square of numbers (--source"


def written(path, **options):
    FRAME.to_csv(path, **options)
    return path


def shuffled(seed):
    order = np.random.default_rng(seed).permutation(34)
    return FRAME.iloc[order]


NAMED = {
    "pandas": FRAME.to_csv,
    "corner": lambda path: FRAME.to_csv(path, index_label="club member"),
    "rows in another order": lambda path: shuffled(1307).to_csv(path),
    "semicolons, commas": lambda path: FRAME.to_csv(path, sep=";", decimal=","),
    "UTF-16": lambda path: FRAME.to_csv(path, encoding="utf-16"),
    "R": lambda path: path.write_text(FRAME.to_csv(sep=" ").removeprefix('"" ')),
    "comments": lambda path: path.write_text(f"# weights\n\n{FRAME.to_csv()}"),
    "field at the end": lambda path: path.write_text(FRAME.to_csv().replace("\n", ",\n")),
}


@pytest.mark.parametrize("name", NAMED)
def test_rows_and_columns_of_the_same_names(tmp_path, name):
    NAMED[name](tmp_path / "m.csv")
    graph = read_graph(tmp_path / "m.csv")
    assert edges_of(graph) == WANTED
    assert any(f"read as an adjacency matrix of 34 nodes, {SAME}" in note for note in graph.notes)


def test_parquet_and_frames(tmp_path):
    FRAME.to_parquet(tmp_path / "m.parquet")
    numbers = nx.to_pandas_adjacency(nx.karate_club_graph())
    for graph in (
        read_graph(tmp_path / "m.parquet"),
        named_graph(FRAME),
        named_graph(FRAME.iloc[::-1]),
        named_graph(pl.from_pandas(FRAME.reset_index())),
    ):
        assert edges_of(graph) == WANTED
        assert SAME in graph.notes[0]
    graph = named_graph(numbers)
    assert graph.names.tolist() == list(range(34))
    assert graph.n_edges == 78


def test_a_block_of_numbers(tmp_path):
    np.savetxt(tmp_path / "m.txt", FRAME.to_numpy(), fmt="%g")
    plain = read_graph(tmp_path / "m.txt")
    assert plain.names.tolist() == list(range(34))
    assert plain.n_edges == 78
    assert SQUARE in plain.notes[0]
    FRAME.to_csv(tmp_path / "m.csv", index=False)
    assert edges_of(read_graph(tmp_path / "m.csv")) == WANTED
    counted = FRAME.reset_index(drop=True)
    counted.columns = [f"V{k + 1}" for k in range(34)]
    counted.to_csv(tmp_path / "m.csv")  # rows are numbered, columns have names
    graph = read_graph(tmp_path / "m.csv")
    assert (graph.n_edges, graph.names[0]) == (78, "V1")


def test_a_matrix_that_is_larger_than_the_first_look(tmp_path):
    large = nx.gnm_random_graph(300, 2000, seed=5)
    frame = nx.to_pandas_adjacency(large, dtype=int)
    for options in ({}, {"index": False, "header": False}):
        frame.to_csv(tmp_path / "m.csv", **options)
        graph = read_graph(tmp_path / "m.csv")
        assert (graph.n_edges, len(graph.names)) == (2000, 300)
        assert "adjacency matrix of 300 nodes" in graph.notes[0]


def read(tmp_path, content, **options):
    (tmp_path / "m.csv").write_text(content)
    return read_graph(tmp_path / "m.csv", **options)


def test_empty_cells_are_no_edges_and_said(tmp_path):
    graph = read(tmp_path, ",a,b,c\na,,1,\nb,1,NaN,2\nc,NA,2,\n")
    assert edges_of(graph) == {frozenset("ab"): 1, frozenset("bc"): 2}
    assert graph.notes[1] == "5 empty cells of the matrix: no edge there"


def test_names_that_are_numbers(tmp_path):
    assert read(tmp_path, ",1,2,3\n1,0,1,0\n2,1,0,2\n3,0,2,0\n").names.tolist() == [1, 2, 3]
    assert read(tmp_path, ",01,02\n01,0,1\n02,1,0\n").names.tolist() == ["01", "02"]


def test_two_directions_that_differ_are_refused_by_name(tmp_path):
    content = ",a,b,c\na,0,1,0\nb,1,0,2\nc,0,0,0\n"
    with pytest.raises(InputError, match=r"m.csv: 1 edge .* first b - c: 2 there, 0 back.*--symm"):
        read(tmp_path, content)
    with pytest.raises(InputError, match="first 0 - 1: 1 there, 2 back"):
        read(tmp_path, "0,1,5,6\n2,0,5,7\n3,4,0,6\n4,1,5,0\n")
    assert edges_of(read(tmp_path, content, symmetrise="max"))[frozenset("bc")] == 2
    assert edges_of(read(tmp_path, content, symmetrise="mean"))[frozenset("bc")] == 1


REFUSED = {
    ",a,b,c\na,0,1,0\nb,1,0,-2\nc,0,-2,0\n": "edge b - c: weight -2 is negative (2 such in all)",
    ",a,b,c\na,0,1,0\nb,1,0,2\n": "with 3 columns and 2 rows, but no row is called 'c' as a column",
    ",a,b,c\na,0,inf,0\nb,inf,0,2\nc,0,2,0\n": "edge a - b: weight inf is not finite",
}


@pytest.mark.parametrize("content", REFUSED)
def test_a_matrix_that_cannot_be_one_is_refused(tmp_path, content):
    with pytest.raises(InputError) as caught:
        read(tmp_path, content)
    assert f"{tmp_path}/m.csv" in str(caught.value)
    assert REFUSED[content] in str(caught.value)


def test_a_row_without_a_column_far_below(tmp_path):
    frame = nx.to_pandas_adjacency(nx.gnm_random_graph(300, 2000, seed=5), dtype=int)
    content = frame.rename(index={299: 300}).to_csv()
    with pytest.raises(InputError, match="no row is called '299' as a column is"):
        read(tmp_path, content)
    bad = frame.astype(object)
    bad.iloc[290, 7] = "x"
    with pytest.raises(InputError, match=r"m.csv, line 292: 'x' in column 9 \('7'\) is no number"):
        read(tmp_path, bad.to_csv())


LISTS = {
    "three weighted edges": "0,1,1\n1,2,1\n2,0,1\n",
    "with a header": "source,target,weight\n0,1,1\n1,0,1\n2,1,0\n",
    "without known words": "x,y,z\n0,1,2\n1,0,2\n2,2,1\n",
    "four columns": "1,2,5,6\n2,3,5,7\n3,4,5,6\n4,1,5,8\n",
    "a loop first": "a,a,2\nb,c,1\nc,a,1\n",
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_edges_are_no_matrix(tmp_path, name):
    graph = read(tmp_path, LISTS[name])
    assert not any("matrix" in note for note in graph.notes)


def test_columns_that_are_named_make_it_a_list(tmp_path):
    content = "x,y,z\n0,1,2\n1,0,3\n2,3,0\n"
    assert "matrix of 3 nodes" in read(tmp_path, content).notes[0]
    graph = read(tmp_path, content, source="x", target="y", symmetrise="sum")
    assert len(graph.names) == 4
    letters = ",a,b,c\na,0,1,0\nb,1,0,2\nc,0,2,0\n"
    with pytest.raises(InputError, match="line 1: a node without a name"):
        read(tmp_path, letters, dialect=Dialect(header=False))


def test_a_frame_of_three_edges_is_no_matrix():
    frame = pd.DataFrame([[0, 1, 1.0], [1, 2, 1.0], [2, 0, 1.0]], columns=["x", "y", "z"])
    graph = named_graph(frame)
    assert graph.n_edges == 3
    assert graph.notes == ("column 'z' is read as the weight (--weight NAME uses another)",)


def test_the_command_line_says_it(tmp_path):
    written(tmp_path / "m.csv")
    (tmp_path / "l.csv").write_text("node,label\nm0,Hi\nm33,Officer\n")
    words = ["classify", str(tmp_path / "m.csv"), "--labels", str(tmp_path / "l.csv")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert f"note: read as an adjacency matrix of 34 nodes, {SAME}" in result.stderr
    assert len(result.stdout.splitlines()) == 35

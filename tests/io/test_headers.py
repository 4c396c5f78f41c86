"""Which row is the header, and which columns are read: told from the data, and said."""

import gzip

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from named_edges import edges_of
from robustgc import classify
from robustgc.cli.app import app
from robustgc.io.dialect import Dialect
from robustgc.io.edge_columns import Wanted
from robustgc.io.edge_tables import read_text
from robustgc.io.graph_files import read_graph
from robustgc.io.heads import First, first_edge
from robustgc.io.objects import named_graph
from robustgc.io.opening import InputError

KARATE = [(f"m{u}", f"m{v}") for u, v in nx.karate_club_graph().edges]
UNKNOWN = ["Von;Nach", "u;v", "id1;id2", "FromNodeId;ToNodeId", "Person A;Person B"]


def lines(edges, mark=";"):
    return "".join(f"{u}{mark}{v}\n" for u, v in edges)


def read(tmp_path, content, name="g.csv", **options):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_graph(path, **options)


@pytest.mark.parametrize("header", UNKNOWN)
def test_a_header_of_unknown_words_is_no_edge(tmp_path, header):
    graph = read(tmp_path, f"{header}\n{lines(KARATE)}")
    assert set(edges_of(graph)) == set(map(frozenset, KARATE))
    words = header.replace(";", ", ")
    note = f"line 1 is read as a header: {words} (--no-header reads it as an edge)"
    assert graph.notes == (note,)
    assert read(tmp_path, lines(KARATE)).notes == ()  # the first edge shares names with others


@pytest.mark.parametrize("header", UNKNOWN)
def test_a_header_above_numbers(tmp_path, header):
    graph = read(tmp_path, f"# c\n\n{header}\n{lines([(1, 2), (2, 3)])}")
    assert graph.names.tolist() == [1, 2, 3]
    assert [note.split(":")[0] for note in graph.notes] == ["line 3 is read as a header"]


def test_the_user_decides_for_good(tmp_path):
    text = f"Von;Nach\n{lines(KARATE)}"
    as_edge = read(tmp_path, text, dialect=Dialect(header=False))
    assert frozenset(("Von", "Nach")) in edges_of(as_edge)
    assert as_edge.notes == ()
    dropped = read(tmp_path, "a;b\nb;c\nc;d\n", dialect=Dialect(header=True))
    assert (dropped.names.tolist(), dropped.notes) == (["b", "c", "d"], ())
    known = read(tmp_path, "source,target\na,b\n", dialect=Dialect(header=False))
    assert set(known.names) == {"source", "a", "target", "b"}


TREES = {
    "path": [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f")],
    "tree": [("a", "b"), ("a", "c"), ("b", "d"), ("b", "e"), ("c", "f")],
    "star, hub second": [("a", "hub"), ("b", "hub"), ("c", "hub"), ("d", "hub"), ("e", "hub")],
}


@pytest.mark.parametrize("name", TREES)
def test_a_first_edge_that_touches_others_is_kept_without_a_word(tmp_path, name):
    graph = read(tmp_path, lines(TREES[name]))
    assert set(edges_of(graph)) == set(map(frozenset, TREES[name]))
    assert graph.notes == ()


@pytest.mark.parametrize(
    "edges",
    [
        [("adam", "eve"), ("bob", "ann"), ("carl", "sue"), ("b", "c"), ("c", "d"), ("d", "b")],
        [("x", "y"), ("a", "b"), ("b", "c")],  # too few to tell
        [("x", "y")],
    ],
)
def test_what_is_open_is_read_as_an_edge_and_said(tmp_path, edges):
    graph = read(tmp_path, lines(edges))
    assert set(edges_of(graph)) == set(map(frozenset, edges))
    u, v = edges[0]
    (note,) = graph.notes
    assert note == f"line 1 is read as an edge: {u}, {v}; use --header if it names the columns"


def test_all_edges_are_asked_where_the_sample_is_not_enough(tmp_path):
    rng = np.random.default_rng(2903)
    ring = [(f"n{k}", f"n{(k + 1) % 30_000}") for k in rng.permutation(30_000)]
    graph = read(tmp_path, f"Von;Nach\n{lines(ring)}")  # few names are twice in the first lines
    assert len(graph.names) == 30_000
    assert "line 1 is read as a header: Von, Nach" in graph.notes[0]
    dense = [(f"a{k % 50}", f"b{k % 37}") for k in range(20_000)]
    late = read(tmp_path, f"x;y\n{lines(dense)}x;a1\n")  # x is a node after all
    assert frozenset(("x", "y")) in edges_of(late)
    assert not any("header" in note for note in late.notes)


def test_a_part_of_several_files_does_not_lose_an_edge(tmp_path):
    path = tmp_path / "part.csv"
    path.write_text(f"x;y\n{lines(KARATE)}")
    edges = read_text(path, Wanted(), alone=False)
    assert len(edges.ends[0]) == len(KARATE) + 1
    assert edges.notes[0].startswith("line 1 is read as an edge: x, y")


def test_evidence_is_weighed():
    others = [[f"a{k}", f"a{k + 1}"] for k in range(100)]
    pairs = [[f"p{k}", f"q{k}"] for k in range(4)]
    assert first_edge(["x", "y"], others + pairs, (), ".", alone=True) is First.LIKELY
    assert first_edge(["x", "y"], others[:40] + pairs, (), ".", alone=True) is First.OPEN
    assert first_edge(["x", "a7"], others, (), ".", alone=True) is First.ROW
    assert first_edge(["x", "x"], others, (), ".", alone=True) is First.ROW


def test_one_known_word_may_be_a_node(tmp_path):
    words = read(tmp_path, "to,be\nor,not\nnot,to\nbe,or\n")
    assert set(words.names) == {"to", "be", "or", "not"}
    assert set(read(tmp_path, "from,to\nor,not\nnot,to\n").names) == {"or", "not", "to"}


def test_a_first_line_of_two_meanings_is_said(tmp_path):
    words = read(tmp_path, "from,to\nor,not\nnot,to\n")
    assert words.notes == (
        "line 1 is read as a header, though 'to' is a node too (--no-header reads it as an edge)",
    )
    numbers = read(tmp_path, f"2019;2020\n{lines(KARATE)}")
    assert numbers.notes == (
        "line 1 is read as an edge: 2019, 2020; use --header if it names the columns",
    )


def test_a_second_header_is_refused_with_its_line(tmp_path):
    with pytest.raises(InputError, match=r"g.csv, line 4: the header 'source', 'target' once more"):
        read(tmp_path, "source,target\na,b\nb,c\nsource,target\nc,d\n")
    with pytest.raises(InputError, match="line 3: the header 'source', 'target' once more"):
        read(tmp_path, "source,target\n1,2\nsource,target\n")


TRAILING = {
    "with the header": "source,target,\na,b,\nb,c,\n",
    "header without": "source,target\na,b,\nb,c,\n",
    "no header": "a,b,\nb,c,\n",
    "several": "source;target;;\na;b;;\nb;c;;\n",
    "spaces": "source,target, \na,b, \nb,c,\n",
}


@pytest.mark.parametrize("name", TRAILING)
def test_empty_fields_at_the_end_are_no_column(tmp_path, name):
    graph = read(tmp_path, TRAILING[name])
    assert edges_of(graph) == {frozenset("ab"): 1, frozenset("bc"): 1}
    assert not any("column" in note for note in graph.notes)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("source,target,\na,b,\nb,c,x\n", "line 3: a field after the last column, which other"),
        ("source,target,\n" + "a,b,\n" * 30_000 + "b,c,x\n", "line 30002: 'x' after the last col"),
        ("a,b\nb,c,\n", "line 2: 3 fields where 2 are expected"),
    ],
)
def test_a_filled_field_at_the_end_is_refused_with_its_line(tmp_path, content, said):
    with pytest.raises(InputError) as caught:
        read(tmp_path, content)
    assert f"{tmp_path}/g.csv, {said}" in str(caught.value)


INDEXED = {
    "pandas": ",source,target\n0,a,b\n1,b,c\n",
    "pandas, unknown words": ",Von,Nach\n0,a,b\n1,b,c\n",
    "pandas, twice": "Unnamed: 0,Von,Nach\n0,a,b\n1,b,c\n",
    "R, CSV": '"","Von","Nach"\n"1","a","b"\n"2","b","c"\n',
    "R, table": '"Von" "Nach"\n"1" "a" "b"\n"2" "b" "c"\n',
    "rows left out": ",Von,Nach,weight\n5,a,b,1\n9,b,c,1\n",
    "database": "id,von,nach\n1,a,b\n2,b,c\n",
}


@pytest.mark.parametrize("name", INDEXED)
def test_a_column_that_counts_the_rows_is_no_node(tmp_path, name):
    graph = read(tmp_path, INDEXED[name])
    assert edges_of(graph) == {frozenset("ab"): 1, frozenset("bc"): 1}
    assert sum("only counts the rows, and is not used" in note for note in graph.notes) == 1


def test_a_column_without_a_name_may_be_a_node_where_none_else_is(tmp_path):
    graph = read(tmp_path, ",target,weight\n5,6,2\n9,5,3\n")
    assert edges_of(graph) == {frozenset("56"): 2, frozenset("59"): 3}


def test_an_index_of_a_frame_is_no_node(tmp_path):
    kept = pd.DataFrame({"Von": ["a", "b", "c"], "Nach": ["b", "c", "d"]}).iloc[[2, 0, 1]]
    kept.to_parquet(tmp_path / "g.parquet")
    graph = read_graph(tmp_path / "g.parquet")
    assert set(graph.names) == {"a", "b", "c", "d"}
    assert "('__index_level_0__') only counts the rows" in graph.notes[0]
    frame = pd.DataFrame({"Von": ["a", "b"], "Nach": ["b", "c"]})
    graph = named_graph(frame.reset_index())
    assert set(graph.names) == {"a", "b", "c"}
    assert graph.notes == ("column 1 ('index') only counts the rows, and is not used",)


WEIGHTS = {
    # table: (weight of a - b, what is said)
    "source,target,weight\na,b,2\nb,c,3\n": (2, ()),
    "source,target,Weight\na,b,2\nb,c,3\n": (2, ()),
    "a,b,2\nb,c,3\n": (2, ("column 3 is read as the weight (--weight NAME uses another)",)),
    "source,target,count\na,b,2\nb,c,3\n": (2, ("column 'count' is read as the weight",)),
    "source,target,type,Freq\na,b,x,2\nb,c,x,3\n": (
        2, ("column 'Freq' is read as the weight", "column 'type' is not used")),
    "source,target,Stärke\na,b,2\nb,c,3\n": (2, ("column 'Stärke' is read as the weight",)),
    "source,target,type\na,b,friend\nb,c,foe\n": (1, ("column 'type' is not used",)),
    "a,b,friend\nb,c,foe\nc,a,foe\n": (1, ("column 'column 3' is not used",)),
    "source,target,year\na,b,2001\nb,c,2002\n": (
        1, ("column 'year' is not used (--weight 'year' would be the weights)",)),
    "source,target,edgeId\na,b,7\nb,c,9\n": (1, ("column 'edgeId' is not used",)),
    "source,target,distance\na,b,7\nb,c,9\n": (1, ("column 'distance' is not used",)),
    "a b 1082040961\nb c 1082155839\n": (
        1, ("column 'column 3' is not used (--weight 'column 3' would be the weights)",)),
    "source,target,type,since\na,b,x,2001\nb,c,y,2002\n": (
        1, ("columns 'type', 'since' are not used (--weight 'since' would be the weights)",)),
    "a,b,2001\nb,c,2002\n": (
        1, ("column 'column 3' is not used (--weight 'column 3' would be the weights)",)),
    "a,b,20240131\nb,c,20231201\n": (
        1, ("column 'column 3' is not used (--weight 'column 3' would be the weights)",)),
    "a,b,2001\nb,c,1802\n": (2001, ("column 3 is read as the weight (--weight NAME",)),
    "source,target,value\na,b,high\nb,c,low\n": (1, ("column 'value' is not used",)),
}  # fmt: skip


@pytest.mark.parametrize("content", WEIGHTS)
def test_what_is_the_weight_is_said_unless_it_is_called_so(tmp_path, content):
    weight, said = WEIGHTS[content]
    graph = read(tmp_path, content)
    assert edges_of(graph)[frozenset("ab")] == weight
    assert len(graph.notes) == len(said)
    assert all(part in note for part, note in zip(said, graph.notes, strict=True))


def test_a_column_without_a_name_can_be_chosen(tmp_path):
    graph = read(tmp_path, "a b 5 7\nb c 6 8\n", "g.txt", weight="column 4")
    assert edges_of(graph) == {frozenset("ab"): 7, frozenset("bc"): 8}
    assert graph.notes == ("column 'column 3' is not used",)


def test_frames_follow_the_same_rule():
    times = pd.to_datetime(["2020-01-01", "2020-01-02"])
    for column, said in [
        (["x", "y"], "column 'more' is not used"),
        (times, "column 'more' is not used"),
        ([2, 3], "column 'more' is read as the weight (--weight NAME uses another)"),
    ]:
        frame = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "more": column})
        assert named_graph(frame).notes == (said,)


def test_the_command_line_says_and_takes_it(tmp_path):
    path = tmp_path / "g.csv.gz"
    path.write_bytes(gzip.compress(f"Von;Nach\n{lines(KARATE)}".encode()))
    (tmp_path / "l.csv").write_text("node,label\nm0,Hi\nm33,Officer\n")
    words = ["classify", str(path), "--labels", str(tmp_path / "l.csv")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "note: line 1 is read as a header: Von, Nach (--no-header" in result.stderr
    assert len(result.stdout.splitlines()) == 35
    other = CliRunner().invoke(app, [*words, "--no-header"])
    assert len(other.stdout.splitlines()) == 37
    assert "header" not in other.stderr
    found = classify(path, {"m0": "Hi", "m33": "Officer"}, header=False)
    assert {"Von", "Nach"} <= set(found.names)

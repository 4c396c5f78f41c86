"""Graph files of other tools, and tables with types: read as they are meant, or refused."""

import gzip
import itertools
import json

import igraph
import networkx as nx
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest
import scipy.sparse as sp

from robustgc.api import classify
from robustgc.io.errors import InputError
from robustgc.io.graph_files import read_graph
from robustgc.io.label_files import read_labels
from robustgc.io.point_files import Choice, read_points


def weights(graph):
    """Return the weight of every edge by the names of its nodes as text, each edge once."""
    W = graph.W.to_scipy() if hasattr(graph.W, "to_scipy") else graph.W
    A = sp.coo_array(sp.triu(W))
    names = list(map(str, graph.names.tolist()))
    found = zip(A.row.tolist(), A.col.tolist(), A.data.tolist(), strict=True)
    return {frozenset((names[i], names[j])): w for i, j, w in found}


def club(name="node {}".format):
    """Return the karate club with the text that a function gives for names."""
    return nx.relabel_nodes(nx.karate_club_graph(), name)


def wanted(graph, *, weighted=True):
    return {
        frozenset((str(u), str(v))): float(data["weight"]) if weighted else 1.0
        for u, v, data in graph.edges(data=True)
    }


def write(path, graph):
    """Write a NetworkX graph as the ending of the path says; by igraph where its name begins so."""
    if path.name == "igraph.ncol":
        igraph.Graph.from_networkx(graph, vertex_attr_hashable="name").write_ncol(
            str(path), names="name", weights="weight"
        )
    elif path.name == "igraph.net":
        there = igraph.Graph.from_networkx(graph, vertex_attr_hashable="name")
        there.write_pajek(str(path))
    elif path.suffix == ".gexf":
        nx.write_gexf(graph, path)
    elif path.suffix == ".net":
        nx.write_pajek(graph, path)
    elif path.suffix == ".ncol" or path.name == "weighted.edgelist":
        nx.write_weighted_edgelist(graph, path)
    elif path.suffix == ".edgelist":
        nx.write_edgelist(graph, path, data="bare" not in path.name)
    else:
        nx.write_adjlist(graph, path)


NAMED = ["a.gexf", "a.net", "igraph.net"]
SPACELESS = ["a.ncol", "igraph.ncol", "dicts.edgelist", "weighted.edgelist"]


@pytest.mark.parametrize("name", [*NAMED, *SPACELESS])
def test_formats_of_other_tools_give_the_same_graph(tmp_path, name):
    graph = club("node {}".format if name in NAMED else "n{}".format)
    write(tmp_path / name, graph)
    assert weights(read_graph(tmp_path / name)) == wanted(graph)


@pytest.mark.parametrize("name", ["bare.edgelist", "a.adjlist"])
def test_formats_without_weights(tmp_path, name):
    write(tmp_path / name, club(int))
    found = read_graph(tmp_path / name)
    assert weights(found) == wanted(club(int), weighted=False)
    assert sorted(found.names.tolist()) == list(range(34))
    assert found.notes == ()


def test_packed_once_more(tmp_path):
    write(tmp_path / "a.gexf", club())
    packed = tmp_path / "a.gexf.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.gexf").read_bytes()))
    assert weights(read_graph(packed)) == wanted(club())


def test_isolated_nodes_of_lists_stay(tmp_path):
    (tmp_path / "a.adjlist").write_text("# made by hand\nx y\nalone\ny z\nz\n")
    found = read_graph(tmp_path / "a.adjlist")
    assert found.names.tolist() == ["x", "y", "alone", "z"]
    assert found.n_edges == 2


GEXF = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://{space}" version="{version}"><graph defaultedgetype="undirected" mode="static">
<nodes>{nodes}</nodes><edges>
<edge id="0" source="n0" target="n1" weight="2.5"/><edge id="1" source="n1" target="n2"/>
</edges></graph></gexf>"""


def gexf(*labels, space="gexf.net/1.3", version="1.3"):
    rows = [f'<node id="n{k}" label="{label}"/>' for k, label in enumerate(labels)]
    return GEXF.format(space=space, version=version, nodes="".join(rows)).replace(' label="-"', "")


@pytest.mark.parametrize(
    ("space", "version"), [("gexf.net/1.3", "1.3"), ("www.gexf.net/1.2draft", "1.2")]
)
def test_gephi_nodes_are_called_by_their_labels(tmp_path, space, version):
    path = tmp_path / "g.gexf"
    path.write_text(gexf("Ada", "Bea", "Cy D", space=space, version=version))
    found = read_graph(path)
    assert found.names.tolist() == ["Ada", "Bea", "Cy D"]
    assert list(found.attributes["id"]) == ["n0", "n1", "n2"]
    assert weights(found) == {frozenset(("Ada", "Bea")): 2.5, frozenset(("Bea", "Cy D")): 1.0}
    assert any("called by their labels" in note and "'id'" in note for note in found.notes)


@pytest.mark.parametrize(
    ("labels", "why"), [(("A", "B", "A"), "'A' is there twice"), (("A", "-", "B"), "have none")]
)
def test_labels_that_tell_no_nodes_apart_are_no_names(tmp_path, labels, why):
    path = tmp_path / "g.gexf"
    path.write_text(gexf(*labels))
    found = read_graph(path)
    assert found.names.tolist() == ["n0", "n1", "n2"]
    assert found.attributes["label"][0] == "A"
    assert any(why in note and "called by their ids" in note for note in found.notes)


def test_gml_with_two_labels_alike_says_so(tmp_path):
    path = tmp_path / "g.gml"
    rows = "".join(f'node [ id {k} label "{x}" ]\n' for k, x in enumerate("aba"))
    path.write_text(f"graph [\n{rows}edge [ source 0 target 1 ]\nedge [ source 1 target 2 ]\n]")
    found = read_graph(path)
    assert found.names.tolist() == [0, 1, 2]
    assert any("'a' is there twice" in note for note in found.notes)


PROJECT = """*Network friends
*Vertices 4
1 "Ann Lee" 0.1 0.2 0.5 ic Red
2 "Bob"
3 Cy
4 "Dee"
% a comment
*Arcs :1 "likes"
1 2 3
*Edges
3 4 [1-3]
*Arcslist
2 3 4
*Partition team.clu
*Vertices 4
1
1
2
2
*Vector age.vec
*Vertices 4
30.5
20
10
40
"""


def test_a_pajek_project_has_one_network_and_its_partitions(tmp_path):
    (tmp_path / "p.paj").write_text(PROJECT)
    found = read_graph(tmp_path / "p.paj")
    assert found.names.tolist() == ["Ann Lee", "Bob", "Cy", "Dee"]
    assert list(found.attributes["team.clu"]) == ["1", "1", "2", "2"]
    pairs = {("Ann Lee", "Bob"): 3, ("Cy", "Dee"): 1, ("Bob", "Cy"): 1, ("Bob", "Dee"): 1}
    assert weights(found) == {frozenset(pair): w for pair, w in pairs.items()}
    assert any("3 of 4 edges have no" in note for note in found.notes)
    assert any("*Vector" in note for note in found.notes)


def test_a_pajek_matrix(tmp_path):
    (tmp_path / "m.net").write_text("*Vertices 3\n*Matrix\n0 2 0\n2 0 0.5\n0 0.5 0\n")
    found = read_graph(tmp_path / "m.net")
    assert found.names.tolist() == [1, 2, 3]
    assert weights(found) == {frozenset("12"): 2.0, frozenset("23"): 0.5}


def test_pajek_nodes_of_one_label_stay_two(tmp_path):
    text = '*Vertices 3\n1 "x"\n2 "y"\n3 "x"\n*Edges\n1 2\n2 3\n'
    (tmp_path / "m.net").write_text(text)
    found = read_graph(tmp_path / "m.net")
    assert found.names.tolist() == [1, 2, 3]
    assert list(found.attributes["label"]) == ["x", "y", "x"]
    assert any("'x' is there twice" in note for note in found.notes)


def laughs():
    """Return XML whose entities are ten times each other, nine times over."""
    names = "abcdefghij"
    inner = "".join(
        f"<!ENTITY {one} '{f'&{other};' * 10}'>"
        for other, one in itertools.pairwise(names)
    )  # fmt: skip
    return f"<!DOCTYPE a [<!ENTITY a 'ha'>{inner}]><gexf>&j;</gexf>"


VERTICES = "*Vertices 2\n1 a\n2 b\n"
BAD = {
    "gexf, no XML": ("g.gexf", "source,target\na,b\n", "not the GEXF file, Write it again"),
    "gexf, cut": ("g.gexf", gexf("A", "B", "C")[:200], "not the GEXF file, cut short"),
    "gexf, GraphML": ("g.gexf", "<graphml></graphml>", "not the GEXF file"),
    "gexf, no weight": ("g.gexf", gexf("A", "B", "C").replace("2.5", "heavy"), "GEXF, heavy"),
    "gexf, entities": ("g.gexf", laughs(), "not the GEXF file"),
    "pajek, a table": ("g.net", "a b\nb c\n", "line 1: text before the first line with a star"),
    "pajek, no vertices": ("g.net", "*Edges\n1 2\n", "line 1: *Edges before *Vertices"),
    "pajek, only a title": ("g.net", "*Network x\n", "no Pajek file, no line `*Vertices`"),
    "pajek, no count": ("g.net", "*Vertices\n1 a\n", "line 1: *Vertices needs their number"),
    "pajek, huge count": ("g.net", "*Vertices 9000000000\n", "9000000000 nodes, --max-size"),
    "pajek, unknown vertex": ("g.net", VERTICES + "*Edges\n1 3\n", "line 5: '3', there are 1 to 2"),
    "pajek, vertex 0": ("g.net", VERTICES + "*Arcs\n0 1\n", "line 5: '0' is no vertex"),
    "pajek, one end": ("g.net", VERTICES + "*Arcs\n1\n", "line 5: '' is no vertex"),
    "pajek, vertex twice": ("g.net", "*Vertices 2\n1 a\n1 b\n", "line 3: vertex 1 is there twice"),
    "pajek, weight": ("g.net", VERTICES + "*Edges\n1 2 x\n", "line 5: the value 'x' is no number"),
    "pajek, negative": ("g.net", VERTICES + "*Edges\n1 2 -3\n", "a - b: weight -3 is negative"),
    "pajek, matrix": ("g.net", VERTICES + "*Matrix\n0 1\n1\n", "line 6: a row of 1 values, 2 rows"),
    "pajek, two": ("g.paj", "*Network x\n" + VERTICES + "*Network y\n" + VERTICES,
                   "line 6: a second network ('x', 'y'), .net file of its own"),
    "pajek, partition": ("g.paj", VERTICES + "*Partition p\n*Vertices 2\n1\n",
                         "line 5: the partition 'p' has 1 lines for 2 vertices"),
    "pajek, cp1252": ("g.net", '*Vertices 1\n1 "Zürich"\n'.encode("cp1252"), "line 2: not UTF-8"),
    "edgelist, spaces": ("g.edgelist", "New York Boston {}\n", "line 1, Names hold no spaces"),
    "edgelist, code": ("g.edgelist", "a b {'weight': print(1)}\n", "line 1, no dictionary"),
    "edgelist, set": ("g.edgelist", "a b {1, 2}\n", "line 1: '{1, 2}' is no dictionary"),
    "edgelist, deep": ("g.edgelist", "a b {'w': " + "(" * 5000 + ")" * 5000 + "}\n", "line 1"),
    "edgelist, mixed": ("g.edgelist", "a b {}\nb c 2.0\n", "line 2: 'b c 2.0' is no edge"),
    "edgelist, weight": ("g.edgelist", "a b {'weight': 'x'}\n", "weight 'x', a' - 'b"),
    "edgelist, one node": ("g.edgelist", "a\nb\n", "line 1: one field"),
    "ncol, weight": ("g.ncol", "a b 1\nb c x\n", "line 2: 'x' in column 3 is no number"),
    "ncol, empty": ("g.ncol", "", "is empty"),
    "adjlist, dicts": ("g.adjlist", "a b {}\n", "line 1, name it .edgelist or .csv"),
    "adjlist, table": ("g.adjlist", "a,b\n", "line 1, name it .edgelist or .csv"),
    "adjlist, comments": ("g.adjlist", "# x\n# y\n", "has no nodes"),
    "adjlist, bytes": ("g.adjlist", b"a b\n\xff c\n", "line 2: not UTF-8"),
    "feather, text": ("g.feather", "a,b\nx,y\n", "not the Feather or Arrow file, Write it again"),
    "arrow, magic alone": ("g.arrow", b"ARROW1\0\0", "not the Feather or Arrow file"),
    "jsonl, array": ("g.jsonl", '[{"source": 1}]', "an object in braces"),
    "jsonl, table": ("g.jsonl", "source,target\n", "an object in braces"),
    "jsonl, cut": ("g.jsonl", '{"source": "a", "target": "b"}\n{"source": "c", "tar', "cut short"),
    "jsonl, two kinds": ("g.jsonl", '{"source": "a", "target": 1}\n{"source": 2, "target": 1}\n',
                         "not the JSON lines file, same keys"),
    "jsonl, no target": ("g.jsonl", '{"source": "a"}\n', "1 column where two nodes are expected"),
    "jsonl, null": ("g.jsonl", '{"source": "a", "target": "b"}\n{"source": "a"}\n', "row 2: no no"),
    "jsonl, nested": ("g.jsonl", '{"source": {"x": 1}, "target": "b"}\n', "nodes must be text or"),
    "xls": ("g.xls", b"\xd0\xcf\x11\xe0", "Save it as .xlsx or .csv"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_with_its_place(tmp_path, name):
    file, content, parts = BAD[name]
    path = tmp_path / file
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        read_graph(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert all(part in text for part in parts.split(", ")), text
    assert len(text) < 800


@pytest.mark.parametrize("name", ["g.net", "g.paj", "g.adjlist"])
def test_formats_without_attributes_refuse_a_weight(tmp_path, name):
    (tmp_path / name).write_text(VERTICES)
    with pytest.raises(InputError, match="leave out --weight"):
        read_graph(tmp_path / name, weight="cost")


TABLE = pd.DataFrame(
    {"source": ["007", "b", "c"], "target": ["b", "c", "2020-01-01"], "weight": [1.0, 2.5, 3.0]}
)
EDGES = {frozenset(("007", "b")): 1.0, frozenset("bc"): 2.5, frozenset(("c", "2020-01-01")): 3.0}


def write_typed(path, frame):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if path.suffix in (".jsonl", ".ndjson"):
        frame.to_json(path, orient="records", lines=True, force_ascii=False)
    elif path.name.startswith("stream"):
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as out:
            out.write_table(table)
    else:
        packing = "zstd" if "zstd" in path.name else "uncompressed"
        pyarrow.feather.write_feather(table, path, compression=packing)


TYPED = ["e.feather", "zstd.feather", "e.arrow", "stream.arrow", "e.ipc", "e.jsonl", "e.ndjson"]


@pytest.mark.parametrize("name", TYPED)
def test_tables_with_types_are_edges_labels_and_points(tmp_path, name):
    path = tmp_path / name
    write_typed(path, TABLE)
    assert weights(read_graph(path)) == EDGES
    labels = read_labels(path, node="source", label="target")
    assert labels.labels == ["b", "c", "2020-01-01"]
    points = read_points(path, Choice("source", columns=["weight"]))
    assert points.X.tolist() == [[1.0], [2.5], [3.0]]
    assert points.names.tolist() == ["007", "b", "c"]


def test_packed_json_lines(tmp_path):
    write_typed(tmp_path / "e.jsonl", TABLE)
    path = tmp_path / "e.jsonl.gz"
    path.write_bytes(gzip.compress((tmp_path / "e.jsonl").read_bytes()))
    assert weights(read_graph(path)) == EDGES


def test_numbers_of_json_lines_are_classes(tmp_path):
    path = tmp_path / "l.jsonl"
    path.write_text("".join(json.dumps({"node": k, "label": k % 2}) + "\n" for k in range(4)))
    assert read_labels(path).labels == [0, 1, 0, 1]


def test_an_arrow_file_that_unpacks_to_too_much(tmp_path):
    path = tmp_path / "bomb.feather"
    table = pa.table({"source": ["a"] * 80, "target": ["b"] * 80, "note": ["x" * 2**20] * 80})
    pyarrow.feather.write_feather(table, path, compression="zstd")
    with pytest.raises(InputError, match=r"over 100 times as much.*--max-size"):
        read_graph(path)


def test_classify_answers_from_a_gephi_file(tmp_path):
    graph = club()
    for name, data in graph.nodes(data=True):
        data["label"] = f"{name} (label)"
    nx.write_gexf(graph, tmp_path / "k.gexf")
    labels = {"node 0 (label)": "Mr. Hi", "node 33 (label)": "Officer"}
    found = classify(tmp_path / "k.gexf", labels)
    assert len(found.labels) == 34
    assert any("called by their labels" in note for note in found.notes)

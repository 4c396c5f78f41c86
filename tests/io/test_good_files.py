"""Good files: every format gives the same graph, the same names, the same answers."""

import gzip
import json

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

from robustgc.api import classify
from robustgc.io import tables
from robustgc.io.graph_files import read_graph, write_graph
from robustgc.io.heads import SAMPLE
from robustgc.io.named import NamedGraph
from robustgc.io.objects import named_graph
from robustgc.io.point_files import read_points
from robustgc.io.writing import write_table

NAMES = ["Zürich", "New York", 'say "hi"', "Smith, J", "007", "-5", str(2**53 + 1), "東京", "x;y"]
EDGES = [
    (NAMES[k], NAMES[j], 0.5 + k)
    for k in range(9) for j in ((k + 1) % 9, (k + 2) % 9)
]  # fmt: skip
GIVEN = {NAMES[0]: "red", NAMES[1]: "red", NAMES[5]: "blue"}


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def text(mark, head="", end="\n"):
    rows = [mark.join((quoted(u), quoted(v), str(w))) for u, v, w in EDGES]
    return end.join([*([head] if head else []), *rows, ""]).encode()


def graph_of_networkx():
    graph = nx.Graph()
    graph.add_weighted_edges_from(EDGES)
    nx.set_node_attributes(graph, {name: str(GIVEN.get(name, "")) for name in graph}, "team")
    return graph


def numbers():
    place = {name: k for k, name in enumerate(dict.fromkeys(n for e in EDGES for n in e[:2]))}
    return list(place), [(place[u], place[v], w) for u, v, w in EDGES]


def matrix():
    names, edges = numbers()
    rows, columns, weights = map(list, zip(*edges, strict=True))
    A = sp.coo_array((weights, (rows, columns)), shape=(len(names),) * 2)
    return sp.csr_array(A + A.T)


def make(path):
    """Write the edges in the format that the name of the file says."""
    name = path.name
    contents = {
        "plain.csv": lambda: text(","),
        "header.csv": lambda: text(",", "source,target,weight"),
        "semicolon.csv": lambda: text(";", "source;target;weight"),
        "crlf.csv": lambda: text(",", "source,target,weight", "\r\n"),
        "bom.csv": lambda: b"\xef\xbb\xbf" + text(",", "source,target,weight"),
        "bom_comment.csv": lambda: b"\xef\xbb\xbf# a comment\n" + text(","),
        "blank.csv": lambda: b"\n\n# x\n\n" + text(",", "source,target,weight", "\n\n"),
        "tabs.tsv": lambda: text("\t", "source\ttarget\tweight"),
        "spaces.txt": lambda: b"# x\n  " + text("   ").replace(b"\n", b" \n# between\n", 3),
        "packed.csv.gz": lambda: gzip.compress(text(",")),
        "packed.tsv.zst": lambda: pa.compress(text("\t"), "zstd", asbytes=True),
        "spaces.edges.gz": lambda: gzip.compress(b"# x\n" + text("  ")),
    }  # fmt: skip
    if name in contents:
        path.write_bytes(contents[name]())
    elif name == "edges.parquet":
        u, v, w = (pa.array(column) for column in zip(*EDGES, strict=True))
        pq.write_table(pa.table({"weight": w, "target": v, "source": u}), path)
    elif name == "edges.graphml":
        nx.write_graphml(graph_of_networkx(), path)
    elif name == "edges.gml":
        nx.write_gml(graph_of_networkx(), path)
    elif name == "edges.json":
        path.write_text(json.dumps(nx.node_link_data(graph_of_networkx(), edges="links")))
    elif name == "edges.json.gz":
        data = json.dumps(nx.node_link_data(graph_of_networkx(), edges="edges"))
        path.write_bytes(gzip.compress(data.encode()))
    else:  # "folder"
        write_graph(named_graph(graph_of_networkx()), path)


FORMATS = [
    "plain.csv", "header.csv", "semicolon.csv", "crlf.csv", "bom.csv", "bom_comment.csv",
    "blank.csv", "tabs.tsv", "spaces.txt", "packed.csv.gz", "packed.tsv.zst",
    "spaces.edges.gz", "edges.parquet", "edges.graphml", "edges.gml", "edges.json",
    "edges.json.gz", "folder",
]  # fmt: skip


def weights_by_name(graph):
    W = graph.W.to_scipy() if hasattr(graph.W, "to_scipy") else sp.csr_array(graph.W)
    A = sp.coo_array(W)
    found = zip(A.row.tolist(), A.col.tolist(), A.data.tolist(), strict=True)
    return {(graph.names[i], graph.names[j]): w for i, j, w in found}


WEIGHT = "column 3 is read as the weight (--weight NAME uses another)"
WANTED = {pair: w for u, v, w in EDGES for pair in ((u, v), (v, u))}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_graph(tmp_path, name):
    make(tmp_path / name)
    graph = read_graph(tmp_path / name)
    assert weights_by_name(graph) == WANTED
    assert set(graph.notes) <= {WEIGHT}  # where there is no header
    assert graph.n_edges == len(EDGES)


@pytest.mark.parametrize(
    "name", ["edges.csv", "edges.tsv", "edges.parquet", "edges", "e.npz", "e.mtx"]
)
def test_what_was_written_reads_as_it_was(tmp_path, name):
    graph = named_graph(graph_of_networkx())
    write_graph(graph, tmp_path / name)
    again = read_graph(tmp_path / name)
    if name[1:] in (".npz", ".mtx"):
        beside = pd.read_csv(tmp_path / f"{name}.names.csv", dtype=str, keep_default_na=False)
        again = NamedGraph(again.W, beside["node"].to_numpy(dtype=object))
    assert weights_by_name(again) == WANTED
    assert not list(tmp_path.glob(".*partial"))


@pytest.mark.parametrize("kind", ["sparse.npz", "sparse.mtx", "dense.mtx", "packed.mtx.gz"])
def test_matrices_have_numbers(tmp_path, kind):
    path, W = tmp_path / kind, matrix()
    if kind.endswith(".npz"):
        sp.save_npz(path, W)
    else:
        plain = tmp_path / "plain.mtx"
        scipy.io.mmwrite(plain, W.toarray() if "dense" in kind else W)
        data = plain.read_bytes()
        path.write_bytes(gzip.compress(data) if kind.endswith(".gz") else data)
    graph = read_graph(path)
    assert graph.names.tolist() == list(range(9))
    assert graph.n_edges == len(EDGES)
    names = np.array(numbers()[0], dtype=object)
    assert weights_by_name(NamedGraph(graph.W, names)) == WANTED


def test_the_same_answers_from_files_of_every_kind(tmp_path):
    found = []
    labels = tmp_path / "labels.csv"
    write_table(labels, {"node": list(GIVEN), "label": list(GIVEN.values())})
    for name in ("header.csv", "spaces.txt", "edges.parquet", "edges.gml", "folder"):
        make(tmp_path / name)
        result = classify(tmp_path / name, labels)
        found.append(result.labels)
        assert set(result.labels) == set(NAMES)
    assert all(other == found[0] for other in found)
    assert classify(tmp_path / "edges.gml", "team").labels == found[0]
    assert classify(graph_of_networkx(), GIVEN).labels == found[0]


def read(tmp_path, content, name="g.csv", **options):
    path = tmp_path / name
    path.write_bytes(content.encode())
    return read_graph(path, **options)


HEADERS = {
    # content: the names of the nodes
    "a,b\nb,c\n": ["a", "b", "c"],
    "source,target\na,b\n": ["a", "b"],
    "x,y\n1,2\n": [1, 2],
    "x,y,z\na,b,0.5\n": ["a", "b"],
    "1,2\n3,4\n": [1, 2, 3, 4],
    "10,30\n30,20\n": [10, 20, 30],
    "text,1\n2,3\n": ["text", "2", "1", "3"],
    "1, 2\n2, 3\n": [1, 2, 3],
    "a, b\nb, c\n": ["a", "b", "c"],
    "007,7\n": ["007", "7"],
    "-0,0\n": ["-0", "0"],
    "\ufeff007,7\n": ["007", "7"],
    "1,2,1e-05\n": [1, 2],
    "-3,-1\n": [-3, -1],
    "9007199254740993,9007199254740992\n": [2**53, 2**53 + 1],
    f"{2**64},{2**64 + 1}\n": [str(2**64), str(2**64 + 1)],
    "1.0,1\n": ["1.0", "1"],
    "# c\n# d\na,b\n": ["a", "b"],
    "source,target\n#cats,#dogs\n": ["#cats", "#dogs"],
    "a\u2028x,b\x0cy\nc,d\n": ["a\u2028x", "c", "b\x0cy", "d"],
}


@pytest.mark.parametrize("content", HEADERS)
def test_headers_and_names(tmp_path, content):
    assert read(tmp_path, content).names.tolist() == HEADERS[content]


@pytest.mark.parametrize(
    ("late", "name"), [("x1", "x1"), ("007", "007"), ("0x1f", "0x1f"), (str(2**70), str(2**70))]
)
def test_text_that_turns_up_late_keeps_its_name(tmp_path, late, name):
    rows = "".join(f"{k % 999},{1000 + k % 997}\n" for k in range(1_200_000))
    assert len(rows) > 9 * 10**6 > tables.BLOCK
    graph = read(tmp_path, f"{rows}{late},1\n")
    assert graph.names[graph.names == name].tolist() == [name]
    assert len(graph.names) == 999 + 997 + 1


def test_columns_are_found_by_name_and_long_lines_are_whole(tmp_path):
    content = "weight,when,to,from\n2,x,b,a\n3,y,c,b\n"
    wanted = {("a", "b"): 2, ("b", "a"): 2, ("b", "c"): 3, ("c", "b"): 3}
    assert weights_by_name(read(tmp_path, content)) == wanted
    chosen = read(tmp_path, "p,q,r\n5,a,b\n", source="q", target="r", weight="p")
    assert weights_by_name(chosen) == {("a", "b"): 5, ("b", "a"): 5}
    wide = ",".join(f"column_{k}" for k in range(20_000))  # more than the first look
    (tmp_path / "p.csv").write_text(f"{wide}\n{','.join(['1.5'] * 20_000)}\n")
    assert read_points(tmp_path / "p.csv").X.shape == (1, 20_000)
    assert len(wide) > SAMPLE


def test_copies_directions_and_loops(tmp_path):
    both = read(tmp_path, "a,b,2\nb,a,2\n")
    assert (weights_by_name(both), both.notes) == ({("a", "b"): 2, ("b", "a"): 2}, (WEIGHT,))
    once = read(tmp_path, "a,b,2\n")
    assert weights_by_name(once) == weights_by_name(both)
    copies = read(tmp_path, "a,b,2\na,b,3\nc,c,4\n")
    assert weights_by_name(copies) == {("a", "b"): 5, ("b", "a"): 5, ("c", "c"): 4}
    assert copies.n_edges == 2
    assert [note.split(";")[0] for note in copies.notes] == [
        "1 edge came more than once", "1 self-loop kept", WEIGHT,
    ]  # fmt: skip
    for way, value in {"mean": 2, "max": 3, "sum": 4}.items():
        found = read(tmp_path, "a,b,1\nb,a,3\n", symmetrise=way)
        assert weights_by_name(found) == {("a", "b"): value, ("b", "a"): value}

"""Graph and label files that are wrong: the message names the file, the line and the cure."""

import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from robustgc.io.graph_files import read_graph
from robustgc.io.label_files import of_attribute, read_labels
from robustgc.io.label_nodes import node_labels
from robustgc.io.named import NamedGraph
from robustgc.io.opening import InputError

LATE = b"a,b\n" * 50_000  # more than what is looked at first
GOOD = b"source,target,weight\na,b,1\nb,c,2\n"


def parquet(**columns):
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def npz(matrix):
    out = io.BytesIO()
    sp.save_npz(out, sp.csr_array(matrix))
    return out.getvalue()


def link(nodes, links, **more):
    return json.dumps({"nodes": nodes, "links": links, **more}).encode()


def mtx(kind, *lines):
    return "\n".join([f"%%MatrixMarket matrix coordinate {kind}", *lines, ""]).encode()


NODES = [{"id": "a"}, {"id": "b"}]
AB = {"source": "a", "target": "b"}
GRAPHS = {
    # name: (file, content, parts of the message, between commas)
    "empty": ("g.csv", b"", "is empty; check that it was written"),
    "only comments": ("g.txt", b"# one\n\n% two\n", "no rows, only comments or empty lines"),
    "only a header, no end": ("g.csv", b"source,target", "a header and no edges"),
    "only a header": ("g.csv", b"source,target\n", "a header and no edges"),
    "unknown ending": ("g.xyz", b"a,b\n", "'.xyz' are unknown; known are .csv, Rename"),
    "no ending": ("graph", b"a,b\n", "'nothing' are unknown"),
    "half UTF-8": ("g.csv", b"\xc3\xbc,b\na,\xfc\n", "line 2: not UTF-8, 0xfc, Save the"),
    "no encoding": ("g.csv", b"a,b\nb,\x81\n", "line 2: not UTF-8, 0x81, --encoding cp1252"),
    "Latin-1, late": ("g.csv", LATE + b"a,\xe9\n", "line 50001: not UTF-8, 0xe9, "
                      "--encoding cp1252"),
    "cut UTF-16": ("g.csv", "a,b\nb,c".encode("utf-16")[:-1], "line 2: not utf-16, another --enc"),
    "gzip as CSV": ("g.csv", gzip.compress(GOOD), "not what its ending says, gzip; name it .gz"),
    "Parquet as CSV": ("g.csv", parquet(a=["x"], b=["y"]), "a Parquet file; name it .parquet"),
    "spreadsheet as CSV": ("g.csv", b"PK\x03\x04rest", "a spreadsheet; unpack it, or save it as"),
    "web page": ("g.csv", b"<!DOCTYPE html>\n<html>Not found</html>\n", "a web page; download the"),
    "CSV as gzip": ("g.csv.gz", GOOD, "cannot be unpacked as gzip, or rename it"),
    "CSV as zstd": ("g.csv.zst", GOOD, "cannot be unpacked as zstd"),
    "cut gzip": ("g.csv.gz", gzip.compress(GOOD * 99)[:-20], "cut short, Write it again"),
    "CSV as Parquet": ("g.parquet", GOOD, "not the Parquet file that its ending says, Write it"),
    "cut Parquet": ("g.parquet", parquet(a=["x"], b=["y"])[:-9], "or is cut short"),
    "CR alone": ("g.csv", b"a,b\rb,c\r", "line 1: a carriage return, Save the file with LF"),
    "CR, late": ("g.csv", LATE + b"a\rb,c\n", "line 50001: a carriage return within the line"),
    "one field": ("g.csv", b"a\nb\n", "line 1: one field where two nodes, Put source"),
    "too few": ("g.csv", b"a,b\nb,c\nc\n", "line 3: 1 field where 2 are expected, few: 'c'"),
    "too few, after gaps": ("g.csv", b"# x\n\na,b\n\nc\n", "line 5: 1 field where 2"),
    "too few, packed": ("g.csv.gz", gzip.compress(b"a,b\nc\n"), "line 2: 1 field where 2"),
    "too few, spaces": ("g.txt", b"# x\n 1  2\n\n# y\n3\n", "line 5: 1 field where 2"),
    "too few, late": ("g.csv", LATE + b"c\n", "line 50001: 1 field where 2 are expected"),
    "too many": ("g.csv", b"a,b\nSmith, J,b\n", "line 2: 3 fields where 2, stand in double quotes"),
    "spaces only": ("g.csv", b"a,b\n   \nb,c\n", "line 2: 1 field where 2"),
    "open quote": ("g.csv", b'a,b\nc,"d\ne,f\n', "line 2: a double quote opens, Close it"),
    "space before quote": ("g.csv", b'a,b\na, "b c"\n', "line 2: a space before a double quote"),
    "open quote, unread": ("g.csv", b'source,target,weight,note\na,b,1,"x\nb,c,1,y\n', "line 2: a"),
    "text weight": ("g.csv", GOOD + b"c,d,heavy\n", "line 4: 'heavy' in column 3 ('weight') is no"),
    "decimal comma, late": ("g.csv", b"source;target;weight\n" + b"a;b;1\n" * 20_000 + b"a;b;0,5\n",
                            "line 20002: '0,5' in column 3, is no number, use --decimal ,"),
    "no weight": ("g.csv", GOOD + b"c,d,\n", "line 4: the value in column 3, missing, Fill it in"),
    "weight NA": ("g.csv", GOOD + b"c,d,NA\n", "line 4: the value in column 3, missing ('NA')"),
    "underscored weight": ("g.csv", GOOD + b"c,d,1_000\n", "line 4: '1_000' in column 3"),
    "weight in the first row": ("g.csv", b"1,2,x\n3,4,1\n", "line 1: 'x' in column 3"),
    "negative": ("g.csv", GOOD + b"\nc,d,-2\n", "line 5: weight -2 is negative (1 such, 0 or more"),
    "infinite": ("g.csv", GOOD + b"c,d,inf\n", "line 4: weight inf is not finite"),
    "overflow": ("g.csv", GOOD + b"c,d,1e999\n", "line 4: weight inf is not finite"),
    "NaN": ("g.tsv", b"a\tb\t1\nb\tc\tnan\n", "line 2: weight nan is not finite"),
    "negative, spaces": ("g.txt", b"# x\n1 2 1\n# y\n2   3 -1\n", "line 4: weight -1 is negative"),
    "nameless node": ("g.csv", b"a,b\n\n ,c\n", "line 3: a node without a name. Name it"),
    "two ways": ("g.csv", GOOD + b"c,b,3\n", "both directions, weights, "
                 "first b - c: 2 there, 3 back, --symmetrise mean|max|sum"),
    "null node": ("g.pq", parquet(source=["a", None], target=["b", "c"]), "row 2: no node in column"
                  " 'source'. Fill it in"),
    "bytes that are no text": ("g.pq", parquet(a=pa.array([b"\xff"]).view("string"), b=["y"]),
                               "not the Parquet file, UTF8"),
    "text weights": ("g.pq", parquet(a=["x"], b=["y"], weight=["q"]),
                     "weights numbers (Failed to parse string: 'q'"),
    "negative, Parquet": ("g.pq", parquet(a=["x"], b=["y"], weight=[-1.5]), "row 1: weight -1.5"),
    "no rows": ("g.pq", parquet(a=pa.array([], "string"), b=pa.array([], "string")), "has no rows"),
    "GraphML": ("g.graphml", b"<graphml><node", "not the GRAPHML file, Write it again"),
    "GraphML, no nodes": ("g.graphml", b"<graphml xmlns='http://graphml.graphdrawing.org/xmlns'>"
                          b"<graph edgedefault='undirected'/></graphml>", "has no nodes"),
    "GML": ("g.gml", b"graph [ node [", "not the GML file that its ending says, Write it again"),
    "GML, Latin-1": ("g.gml", b"graph [\n\xe9 ]", "line 2: not UTF-8. Save the file"),
    "JSON": ("g.json", b'{"nodes": [', "is no JSON, or is cut short"),
    "JSON, deep": ("g.json", b"[" * 200_000, "is no JSON"),
    "JSON, not node-link": ("g.json", b"[1, 2]", "no node-link JSON, lists `nodes` and `links`"),
    "JSON, no id": ("g.json", link([{"title": "a"}], []), "every node needs an `id`"),
    "JSON, no target": ("g.json", link(NODES, [{"source": "a"}]), "every link a `source`, Add"),
    "JSON, list as name": ("g.json", link([{"id": [1]}], []), "a node is called [1]. Names are"),
    "JSON, list as end": ("g.json", link(NODES, [AB | {"target": {}}]), "a node is called {}"),
    "JSON, unknown node": ("g.json", link(NODES, [AB | {"target": "z"}]), "unknown node 'z'. Add"),
    "JSON, twice": ("g.json", link([{"id": 7}, {"id": "7"}], []), "1 nodes have the name of"),
    "JSON, weight": ("g.json", link(NODES, [AB | {"weight": "x"}]), "'x' of the edge 'a' - 'b'"),
    "JSON, huge": ("g.json", link(NODES, [AB | {"weight": 10**400}]), "no number that can be used"),
    "JSON, NaN": ("g.json", link(NODES, [AB | {"weight": np.nan}]), "weight nan is not finite"),
    "JSON, half a letter": ("g.json", link([{"id": "\ud800"}], []), "'\\ud800' is no text, Rename"),
    "JSON, no nodes": ("g.json", link([], []), "has no nodes. A graph needs two"),
    "Matrix Market": ("g.mtx", b"1 2 3\n", "no Matrix Market file, or is cut short, Write"),
    "Matrix Market, cut": ("g.mtx", mtx("real general", "2 2 2", "1 2 1"), "is cut short"),
    "cut number": ("g.mtx", mtx("real general", "2 2 2", "1 2 5E-")[:-1], "line 3 has"),
    "text matrix": ("g.mtx", mtx("real general", "%", "2 2 1", "1 2 0x"), "line 4 has other"),
    "NUL": ("g.mtx", mtx("real general", "2 2 1", "1 2 1\0"), "line 3 has other"),
    "not square": ("g.mtx", mtx("real general", "2 3 1", "1 2 1"), "shape (2, 3), square matrix"),
    "complex": ("g.mtx", mtx("complex general", "2 2 1", "1 2 1 1"), "complex128; real numbers"),
    "negative matrix": ("g.mtx", mtx("real symmetric", "2 2 1", "2 1 -1"), "W[0, 1] = -1.0 is neg"),
    "directed matrix": ("g.mtx", mtx("real general", "2 2 1", "2 1 1"), "not symmetric, "
                        "--symmetrise mean|max|sum"),
    "npz": ("g.npz", b"PK\x03\x04rest", "no sparse matrix that scipy.sparse.save_npz wrote"),
    "cut npz": ("g.npz", npz(np.eye(9))[:-30], "or is cut short"),
    "infinite npz": ("g.npz", npz([[0, np.inf], [np.inf, 0]]), "W[0, 1] = inf is not finite"),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_a_bad_graph_is_refused_with_its_place(tmp_path, name):
    file, content, parts = GRAPHS[name]
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_graph(path)
    said(caught, path, parts)


def said(caught, path, parts):
    text = str(caught.value)
    assert str(path) in text
    for part in parts.split(", "):
        assert part in text, text
    assert text.endswith("."), text


def test_a_file_that_is_not_there_names_one_that_may_be_meant(tmp_path):
    (tmp_path / "edges.csv").write_bytes(GOOD)
    for name, part in [("edge.csv", "is it edges.csv?"), ("no/edges.csv", "there is no folder")]:
        with pytest.raises(InputError, match="does not exist") as caught:
            read_graph(tmp_path / name)
        said(caught, tmp_path / name, part)


@pytest.mark.parametrize(
    ("column", "parts"),
    [
        (
            {"source": "who"},
            "there is no column 'who'; the columns are 'source', 'target', 'weight'",
        ),
        ({"source": "a", "weight": "w"}, "there is no column 'a'"),
        ({"source": "target", "target": "target"}, "both column 'target'; name two columns"),
    ],
)
def test_columns_that_are_not_there(tmp_path, column, parts):
    path = tmp_path / "g.csv"
    path.write_bytes(GOOD)
    with pytest.raises(InputError) as caught:
        read_graph(path, **column)
    said(caught, path, parts)


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (b"[1", "names.json is damaged"),
        (b"7", "names.json is damaged"),
        (b'["a", "b"]', "2 names for 3 nodes"),
        (b'["a", "b", "a"]', "2 names for 3 nodes"),
        (b"", "names.json is empty"),
        (b'["\xe9"]', "names.json is damaged"),
        (None, "has no manifest.json"),
    ],
)
def test_folders_that_are_damaged(tmp_path, names, parts):
    from robustgc.io.graph_files import write_graph

    path = tmp_path / "folder"
    source = tmp_path / "g.csv"
    source.write_bytes(GOOD)
    write_graph(read_graph(source), path)
    if names is None:
        (path / "manifest.json").unlink()
    else:
        (path / "names.json").write_bytes(names)
    with pytest.raises(InputError) as caught:
        read_graph(path)
    said(caught, path, parts)


GRAPH = NamedGraph(np.ones((4, 4)), np.array(["a", "b", "c", "007"], dtype=object))
LABELS = {
    "empty": ("l.csv", b"", "is empty"),
    "ending": ("l.json", b"{}", "labels come as .csv, not as .json"),
    "one column": ("l.csv", b"node\na\n", "1 column where two are expected, Put the node"),
    "header only": ("l.csv", b"node,label\n", "there are no labels. Give a class"),
    "nothing given": ("l.csv", b"node,label\na,\nb,\n", "there are no labels"),
    "one class": ("l.csv", b"node,label\na,x\nb,x\n", "all 2 labels are of one class, 'x', two"),
    "two labels": ("l.csv", b"node,label\na,x\n\nc,\nb,y\na,y\n", "node a has two labels"
                   ", 'x' (line 2) and 'y' (line 6). Keep one"),
    "two labels, no header": ("l.csv", b"a,x\nb,y\na,y\n", "(line 1) and 'y' (line 3)"),
    "two labels, Parquet": ("l.pq", parquet(node=["a", "a"], label=[1, 2]), "(row 1) and 2 (row 2"),
    "unknown": ("l.csv", b"node,label\na,x\n" + b"".join(b"z%d,x\n" % k for k in range(7)),
                "7 of 8 labelled nodes are not in the graph, first z0, z1, z2, z3, z4., "
                "--ignore-unknown"),
    "unknown zeros": ("l.csv", b"node,label\n7,x\na,y\n", "1 of 2, first 7. 1 of 2 match; 2 of 2"
                      " do once leading zeros are dropped ('7' is '007', as in the graph"),
    "null node": ("l.pq", parquet(node=["a", None], label=["x", "y"]), "1 of 2, first None"),
    "no encoding": ("l.csv", b"node,label\na,\x81\n", "line 2: not UTF-8"),
    "too few": ("l.csv", b"node,label\na,x\nb\n", "line 3: 1 field where 2"),
    "open quote": ("l.csv", b'node,label\na,"x\nb,y\n', "line 2: a double quote"),
    "not Parquet": ("l.parquet", b"node,label\n", "not the Parquet file"),
    "list as node": ("l.pq", parquet(node=[[1]], label=["x"]), "'node' are list, convert them"),
    "bytes as node": ("l.pq", parquet(node=[b"\xff"], label=["x"]), "are binary, UTF8, convert"),
    "lists": ("l.pq", parquet(node=["a", "b"], label=[[1], [2]]), "row 1: the label [1] is no"),
    "dicts": ("l.pq", parquet(node=["a"], label=[{"x": 1}]), "row 1: the label {'x': 1} is no cl"),
    "fractions": ("l.pq", parquet(node=["a", "b"], label=[1.0, 2.5]), "row 2: the label 2.5 is no"),
    "infinite": ("l.pq", parquet(node=["a", "b"], label=[1.0, np.inf]), "row 2: the label inf"),
    "Parquet of one column": ("l.pq", parquet(node=["a"]), "1 column where two"),
}  # fmt: skip


@pytest.mark.parametrize("name", LABELS)
def test_bad_labels_are_refused_with_their_place(tmp_path, name):
    file, content, parts = LABELS[name]
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        node_labels(read_labels(path), GRAPH)
    said(caught, path, parts)


def test_unknown_nodes_are_left_out_on_demand_but_not_all_of_them(tmp_path):
    path = tmp_path / "l.csv"
    path.write_text("node,label\na,x\nz,x\nb,y\n")
    y, notes = node_labels(read_labels(path), GRAPH, ignore_unknown=True)
    assert y.tolist() == ["x", "y", None, None]
    assert notes == ("1 of 3 labelled nodes are not in the graph and were left out, first z",)
    path.write_text("node,label\ny,x\nz,x\n")
    with pytest.raises(InputError, match="2 of 2 labelled nodes are not in the graph"):
        node_labels(read_labels(path), GRAPH, ignore_unknown=True)


def test_wrong_columns_and_attributes(tmp_path):
    path = tmp_path / "l.csv"
    path.write_text("node,label\na,x\nb,y\n")
    with pytest.raises(InputError, match=r"l\.csv: there is no column 'who'; the columns are 'no"):
        read_labels(path, node="who")
    with pytest.raises(InputError, match="node and label are both column 'node'; name two"):
        read_labels(path, node="node", label="node")
    mixed = NamedGraph(GRAPH.W, GRAPH.names, attributes={"c": ["x", None, 2, True]})
    with pytest.raises(InputError, match=r"several kinds, as 'x' \(row 1\) and 2 \(row 3\) and T"):
        node_labels(of_attribute("c", mixed, "g.json"), mixed)
    with pytest.raises(InputError, match=r"'club' is neither a file .* g.gml \(attributes: there"):
        of_attribute("club", GRAPH, "g.gml")

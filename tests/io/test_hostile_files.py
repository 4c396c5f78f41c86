"""Files made to do harm: each ends in a sentence with its place, soon and in little memory."""

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from robustgc import CSR, build_csr, classify
from robustgc.cli.app import app
from robustgc.graph.quoting import listed, quoted, short
from robustgc.io import limits
from robustgc.io.graph_files import read_graph, write_graph
from robustgc.io.label_files import read_labels
from robustgc.io.named import NamedGraph, NameTable
from robustgc.io.opening import InputError, whole
from robustgc.io.point_files import read_points
from robustgc.io.rows import assemble

MB = 10**6
LONG = 200_000  # letters of a field, more than the csv module reads
DEEP = b"[" * 100_000
HEAD = b"%%MatrixMarket matrix coordinate real symmetric\n"


def refused(reader, path, *parts, most=900):
    """Check that a file is refused in one sentence or two, with its name, and return the text."""
    with pytest.raises(InputError) as caught:
        reader(path)
    text = str(caught.value)
    assert str(path) in text
    for part in parts:
        assert part in text, text
    assert len(text) < most + len(str(path)), len(text)
    assert text.endswith(".")
    assert "\n" not in text
    return text


def npy(header, body=b""):
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body


def about(shape, kind="<f8"):
    return f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"


# Tables of text

TABLES = {
    "long field": (b"a," + b"x" * LONG + b"\nb,c\n", "line 1: field 2 has 200000 characters"),
    "long field below": (b"a,b\n" + b"x" * LONG + b",b\n", "line 2: field 1 has 200000"),
    "long quoted field": (b'a,"' + b"x" * LONG + b'"\nb,c\n', "line 1: field 2 has"),
    "long and wrong": (b"a,b\n" * 50_000 + b"x" * LONG + b"\n", "line 50001: field 1 has"),
    "zeros": (bytes(MB), "line 1: a NUL byte, character 1"),
    "many zeros": (bytes(3 * MB), "line 1: NUL bytes, and more than 1,048,576 bytes"),
    "zeros in a line": (b"a,b\nc,\0\n", "line 2: a NUL byte, character 3"),
    "one line": (b"ab," * MB, "line 1: more than 1,048,576 bytes without an end of the line"),
    "one line, later": (b"a,b\n" * 50_000 + b"ab," * MB, "line 50001: more than 1,048,576 bytes"),
    "many fields": (b"a,b\n" + b"x," * 9999 + b"\n", "line 2: 10000 fields where 2"),
    "long word": (b"a,b,weight\nc,d," + b"x" * 9999 + b"\n", "line 2: 'xxx"),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_text_are_refused_with_their_line(tmp_path, name):
    content, said = TABLES[name]
    path = tmp_path / "g.csv"
    path.write_bytes(content)
    refused(read_graph, path, said)
    if name not in ("long word",):
        refused(read_labels, path, said)


def test_points_of_long_fields_are_refused(tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes(b"1,2\n" + b"1" * LONG + b",2\n")
    refused(read_points, path, "line 2: field 1 has 200000 characters")


def test_names_in_messages_are_cut(tmp_path):
    path = tmp_path / "g.csv"
    long = b"n" * 9999
    path.write_bytes(b"source,target,weight\n" + long + b",b,1\nb," + long + b",2\n")
    refused(read_graph, path, "in both directions", "nnn... (9999 characters)")
    path.write_bytes(long + b",b\nc,d\n")
    refused(lambda p: read_graph(p, source="who"), path, "there is no column 'who'")
    labels = tmp_path / "l.csv"
    labels.write_bytes(b"node,label\n" + long + b",x\n" + long + b",y\n")
    with pytest.raises(InputError) as caught:
        classify(np.ones((3, 3)) - np.eye(3), labels)
    assert len(str(caught.value)) < 900


# JSON, folders, arrays

FOLDERS = {
    "deep names": ("names.json", DEEP, "names.json is damaged (maximum recursion"),
    "nested names": ("names.json", b"[" * 900 + b"]" * 900, "names.json: name 1 is"),
    "names as objects": ("names.json", b'[{"a": 1}, 2, 3, 4]', "name 1 is {'a': 1}. Names are"),
    "names as a word": ("names.json", b'"abcd"', "it is no list of names"),
    "nothing as a name": ("names.json", b"[1, 2, null, 4]", "name 3 is None"),
    "deep manifest": ("manifest.json", DEEP, "manifest.json is damaged ("),
    "long manifest": ("manifest.json", b"[" + b"1," * MB, "more than 65536 bytes"),
    "manifest in Latin-1": ("manifest.json", b'"\xe9"', "manifest.json is damaged"),
    "manifest of a list": ("manifest.json", b"[]", "does not describe a robustgc-csr folder"),
    "no header": ("indptr.npy", b"\x93NUMPY", "indptr.npy cannot be read (its header is damaged"),
    "deep header": ("indptr.npy", npy("[" * 5000), "its header is damaged"),
    "header of words": ("indptr.npy", npy("no dictionary"), "its header is damaged"),
    "header below 0": ("indptr.npy", npy(about("(-5,)")), "its header claims shape (-5,)"),
    "huge header": ("indptr.npy", npy(about("(10**9, 10**9)")), "its header is damaged"),
    "claims": ("indptr.npy", npy(about("(1000000000000,)")), "which is 8000000000000 bytes, and"),
    "many claims": ("indptr.npy", npy(about(f"({'9' * 300},)")), "its header"),
    "objects": ("indptr.npy", npy(about("(5,)", "|O"), bytes(40)), "it holds Python objects"),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDERS)
def test_damaged_folders_are_refused_with_the_file(tmp_path, name):
    file, content, said = FOLDERS[name]
    folder = tmp_path / "graph"
    names = np.array(list("abcd"), dtype=object)
    write_graph(NamedGraph(np.ones((4, 4)) - np.eye(4), names), folder)
    (folder / file).write_bytes(content)
    refused(read_graph, folder, said)
    if file != "names.json":
        with pytest.raises(ValueError, match=r"manifest|indptr"):
            CSR.open(folder)


def test_names_that_are_pairs_come_back_from_a_folder(tmp_path):
    import networkx as nx

    from robustgc.io.objects import named_graph

    write_graph(named_graph(nx.grid_2d_graph(3, 3)), tmp_path / "grid")
    assert read_graph(tmp_path / "grid").names[5] == (1, 2)


def test_deep_graph_files_are_refused(tmp_path):
    files = {
        "g.json": DEEP,
        "h.json": b'{"nodes": [{"id": ' + b"[" * 900 + b"]" * 900 + b'}], "links": []}',
        "g.gml": b"graph [\n" * 20_000,
        "g.graphml": b"<graphml>" + b"<a>" * 50_000,
        "long.gml": b"graph [\n node [ id 1 ? " + b"?" * MB + b" ]\n]",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        refused(read_graph, tmp_path / name)


@pytest.mark.parametrize(
    "header", ["no dictionary", about("(10**9,)"), about("(1000000000000, 9)")]
)
def test_damaged_arrays_of_points_and_edges_are_refused(tmp_path, header):
    path = tmp_path / "p.npy"
    path.write_bytes(npy(header, bytes(64)))
    refused(read_points, path, "is no array that numpy.save")
    with pytest.raises(ValueError, match=r"p\.npy cannot be read \(its header"):
        build_csr(path, tmp_path / "graph")
    with zipfile.ZipFile(tmp_path / "p.npz", "w") as bundle:
        bundle.writestr("X.npy", npy(header, bytes(64)))
    refused(read_points, tmp_path / "p.npz", "is no array that numpy.save")


# Bombs: the limits are lowered, so that small ones will do


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(limits, "SMALL", 2**20)


def packed(path, content):
    path.write_bytes(gzip.compress(content))
    return path


def test_packed_files_are_limited_by_ratio(tmp_path, small):
    rows = b"ab,bc\nbc,cd\n" * (MB // 4)
    for name, content in [("g.csv.gz", rows), ("g.gml.gz", b"?" * 3 * MB), ("g.mtx.gz", rows)]:
        path = packed(tmp_path / name, content)
        said = refused(read_graph, path, "unpack to more than", "over 100 times", "--max-size")
        assert "kB" in said
        assert "MB" in said
    path = tmp_path / "g.csv.zst"
    path.write_bytes(pa.compress(rows, codec="zstd", asbytes=True))
    refused(read_graph, path, "over 100 times")
    refused(read_labels, path, "over 100 times")


def test_packed_files_are_limited_by_memory(tmp_path, small, monkeypatch):
    monkeypatch.setenv("ROBUSTGC_MEMORY", str(3 * MB))
    rng = np.random.default_rng(907)
    rows = b"".join(b"%d,%d\n" % (a, b) for a, b in rng.integers(0, 10**6, (300_000, 2)))
    refused(read_graph, packed(tmp_path / "g.csv.gz", rows), "3 MB of memory are available")


@pytest.mark.slow
def test_max_size_lifts_the_limits_and_is_one(tmp_path, small):
    rows = b"ab,bc\nbc,cd\n" * (MB // 4)
    path = packed(tmp_path / "g.csv.gz", rows)
    with limits.allowing("10MB"):
        graph = read_graph(path)
    assert graph.names.tolist() == ["ab", "bc", "cd"]
    assert graph.W.data.tolist() == [MB // 4] * 4
    assert graph.notes == ("499998 edges came more than once; the weights were added up",)
    with limits.allowing(2e6):
        refused(read_graph, path, "and --max-size allows 2 MB. Raise it.")
    answer = classify(path, {"ab": "x", "cd": "y"}, max_size="10MB")
    assert answer.labels["ab"] == "x"
    with pytest.raises(InputError, match="over 100 times"):
        classify(path, {"ab": "x", "cd": "y"})


@pytest.mark.parametrize(
    ("size", "bytes_"),
    [("8e9", 8e9), ("8GB", 8e9), (7, 7.0), ("1.5 kb", 1500.0), ("2MiB", 2**21), ("3g", 3e9)],
)
def test_sizes_are_read(size, bytes_):
    assert limits.as_bytes(size) == bytes_


@pytest.mark.parametrize("size", ["", "-1", "much", "0", "nan", "1e999", "8XB", True])
def test_what_is_no_size_is_refused(size):
    with pytest.raises(InputError, match="is no size; give bytes above 0, such as 8e9 or 8GB"):
        limits.as_bytes(size)


def test_every_command_that_reads_knows_the_option(tmp_path):
    run = CliRunner()
    path = packed(tmp_path / "g.csv.gz", b"a,b\nb,c\n")
    for command in ("classify", "audit", "compare", "predict", "info", "convert"):
        assert "--max-size" in run.invoke(app, [command, "--help"], terminal_width=200).output
    found = run.invoke(app, ["info", str(path), "--max-size", "3"])
    assert found.exit_code == 1
    assert "--max-size allows 3 bytes" in found.output
    found = run.invoke(app, ["info", str(path), "--max-size", "much"])
    assert found.exit_code == 2
    assert "is no size" in found.output
    assert run.invoke(app, ["info", str(path), "--max-size", "1GB"]).exit_code == 0


def test_archives_are_limited_by_what_they_claim(tmp_path, small):
    path = tmp_path / "g.npz"
    zeros = {"format": b"csr", "shape": np.array([MB, MB]), "data": np.zeros(0)}
    zeros |= {"indices": np.zeros(0, np.int32), "indptr": np.zeros(MB + 1, np.int32)}
    np.savez_compressed(path, **zeros)
    refused(read_graph, path, "unpack to 4 MB, over 100 times")
    with limits.allowing("100MB"):
        assert read_graph(path).W.shape == (MB, MB)
    points = tmp_path / "p.npz"
    np.savez_compressed(points, X=np.zeros((MB, 2)))
    refused(read_points, points, "unpack to 16 MB, over 100 times")


def test_archives_that_lie_about_their_sizes_are_refused(tmp_path):
    out = io.BytesIO()
    np.savez_compressed(out, X=np.zeros((1000, 2)))
    content = out.getvalue()
    for size in (10**9, 100):  # more, and less, than there are
        path = tmp_path / "p.npz"
        true = (16128).to_bytes(4, "little")
        assert content.count(true) >= 1
        path.write_bytes(content.replace(true, size.to_bytes(4, "little")))
        refused(read_points, path)


def test_parquet_files_are_limited_by_their_rows(tmp_path, small):
    path = tmp_path / "g.parquet"
    same = pa.array(["ab"] * MB).dictionary_encode()
    pq.write_table(pa.table({"source": same, "target": same}), path)
    refused(read_graph, path, "over 100 times")


def test_names_of_columns_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "l.parquet"
    pq.write_table(pa.table({"nodes": ["a", "b"], "label": ["x", "y"]}), path)
    path.write_bytes(path.read_bytes().replace(b"nodes", b"n\xffdes"))
    refused(read_labels, path, "is not the Parquet file")
    refused(read_graph, path, "is not the Parquet file")


def test_matrices_are_not_believed_what_they_claim(tmp_path):
    path = tmp_path / "g.mtx"
    path.write_bytes(HEAD + b"1000000000 1000000000 2\n2 1 1\n3 2 1\n")
    refused(read_graph, path, "1000000000 nodes and 4 entries need 8 GB", "--max-size")
    path.write_bytes(HEAD + b"3 3 1000000000\n2 1 1\n3 2 1\n")
    refused(read_graph, path, "claims 1000000000 entries, which is more than its 76 bytes")
    path.write_bytes(b"%%MatrixMarket matrix array real general\n100000 100000\n1\n")
    refused(read_graph, path, "claims 10000000000 entries")
    path.write_bytes(HEAD + b"1000000 1000000 2\n2 1 1\n3 2 1\n")
    assert read_graph(path).W.shape == (MB, MB)  # many nodes without an edge are no crime


def test_text_that_becomes_objects_needs_room(tmp_path, monkeypatch):
    path = tmp_path / "g.json"
    path.write_text(json.dumps({"nodes": [], "links": [{"source": 1, "target": 2}] * 10**5}))
    monkeypatch.setenv("ROBUSTGC_MEMORY", "20e6")
    monkeypatch.setattr(limits, "SMALL", 2**20)
    refused(read_graph, path, "of JSON takes about", "20 MB of memory are available", "--max-size")
    with pytest.raises(InputError, match="content takes about"):
        whole(path, factor=100)


@pytest.mark.slow
def test_reading_names_takes_little_more_than_the_graph(tmp_path):
    path = tmp_path / "g.csv"
    n, k = 60_000, np.arange(1, 8)
    ends = [(i, (i + 7919 * j) % n) for j in k for i in range(n)]
    path.write_text("".join(f"node{i},node{j}\n" for i, j in ends))
    code = """
import sys
from pathlib import Path
import robustgc.io._rows  # what is compiled: small files do without
from robustgc.io.graph_files import read_graph
peak = lambda: int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024
small = Path(sys.argv[1]).with_name("small.csv")
small.write_text("a,b\\nb,c\\n")
read_graph(small)
before = peak()
W = read_graph(Path(sys.argv[1])).W
print(W.shape[0], W.nnz, peak() - before)
"""
    words = [sys.executable, "-c", code, str(path)]
    peaks = []
    for _ in range(3):  # the first may have to compile, which takes memory of its own
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=os.environ)
        nodes, entries, peak = map(int, done.stdout.split())
        assert (nodes, entries) == (n, 2 * n * len(k))
        peaks.append(peak)
    peak = min(peaks)  # what malloc gives back, and when, differs by a percent
    names = 100 * nodes  # as Python has text
    assert peak < 3 * (8 * nodes + 4 * entries + names) + 50 * MB


def test_names_are_numbered_in_order_however_they_are_cut():
    rng = np.random.default_rng(911)
    sources, targets = (rng.integers(0, 300, 2000).astype(str).tolist() for _ in range(2))
    expected = list(dict.fromkeys(sources + targets))
    for cut in (7, 100, 2000):
        table, places = NameTable(), [[], []]
        for start in range(0, 2000, cut):
            for place, column in zip(places, (sources, targets), strict=True):
                place.append(table(pa.array(column[start : start + cut])))
                table._number() if cut == 7 else None
        ends, names = table.finished(places)
        assert names.to_pylist() == expected
        assert [expected[k] for k in ends[0]] == sources
        assert [expected[k] for k in ends[1]] == targets


@pytest.mark.parametrize("weighted", [False, True])
def test_many_copies_give_the_same_graph(monkeypatch, weighted):
    rng = np.random.default_rng(919)
    pairs = np.sort(rng.integers(0, 40, (2, 20_000)), axis=0)
    weights = rng.integers(1, 5, 20_000).astype(float) if weighted else None
    expected, notes = assemble(*pairs, weights, range(40))
    monkeypatch.setattr("robustgc.io.rows._MANY", 3000)
    W, notes_in_parts = assemble(*pairs, weights, range(40))
    assert W.same(expected)
    assert notes_in_parts == notes


def test_quotes_are_short_and_on_one_line():
    assert short("a\nb\x1b[1m") == "a b\\x1b[1m"
    assert short("x" * 201) == "x" * 197 + "... (201 characters)"
    assert quoted("x" * 201) == repr("x" * 197 + "...") + " (201 characters)"
    deep = []
    for _ in range(5000):
        deep = [deep]
    assert len(quoted(deep)) < 250
    assert len(short(10**9999)) < 250
    assert len(listed("x" * 99 for _ in range(9999))) < 250
    assert short(ValueError("no")) == "no"

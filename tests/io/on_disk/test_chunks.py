"""Edges from files and arrays: every notation that is read, every refusal."""

import gzip
import os

import numpy as np
import pytest

from edge_arrays import ONE, TWO, check, expected, sample
from robustgc import build_csr


def lines(pairs, weights=None, gap=" "):
    columns = [pairs[:, 0].tolist(), pairs[:, 1].tolist()]
    columns += [] if weights is None else [weights]
    return "".join(gap.join(map(str, row)) + "\n" for row in zip(*columns, strict=True))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16, np.uint64])
def test_npy_files(tmp_path, dtype):
    pairs, _ = sample(13)
    np.save(tmp_path / "a.npy", pairs[:900].astype(dtype))
    np.save(tmp_path / "b.npy", np.asfortranarray(pairs[900:].astype(dtype)))
    graph = build_csr([tmp_path / "a.npy", str(tmp_path / "b.npy")], tmp_path / "graph")
    check(graph, expected(pairs))
    assert graph.data is None


@pytest.mark.parametrize("gap", [",", "\t", " ", " , ", "  "])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["edges.csv", "edges.txt.gz"])
def test_text_files(tmp_path, gap, weighted, name):
    pairs, weights = sample(14)
    text = lines(pairs, weights.tolist() if weighted else None, gap)
    first, rest = text.split("\n", 1)
    header = "" if gap == " , " else f"source{gap}target\n"
    text = f"\ufeff% by hand\n\n{header}{first}\n# more\r\n\n" + rest.rstrip("\n")
    text = text.replace("\n", "\r\n") if gap == "\t" else text
    opened = gzip.open if name.endswith("gz") else open
    with opened(tmp_path / name, "wb") as file:
        file.write(text.encode())
    graph = build_csr(tmp_path / name, tmp_path / "graph")
    check(graph, expected(pairs, weights if weighted else None))
    assert (graph.data is not None) == weighted


def test_text_in_many_blocks(tmp_path, monkeypatch):
    pairs, weights = sample(15)
    monkeypatch.setattr("robustgc.io.on_disk.chunks.BLOCK", 100)
    (tmp_path / "a.tsv").write_text(lines(pairs, weights.tolist()))
    check(build_csr(tmp_path / "a.tsv", tmp_path / "graph"), expected(pairs, weights))


NUMBERS = """1 0.1 12. .5 1e-3 2.5E+10 0.1234567890123456789 123456789012.345 1234567890123456
0.000000000000001 +3 98765432109876543210 1e300""".split()


def test_weights_are_read_to_the_last_bit(tmp_path):
    rng = np.random.default_rng(16)
    words = NUMBERS + [f"{x:.{d}f}" for d in range(2, 15) for x in 10 * rng.random(50) + 0.01]
    pairs = np.column_stack([np.arange(len(words)), np.arange(len(words)) + 1])
    (tmp_path / "a.csv").write_text(lines(pairs, words, ","))
    graph = build_csr(tmp_path / "a.csv", tmp_path / "graph")
    check(graph, expected(pairs, np.array([float(word) for word in words])))


def test_weighted_false_reads_two_columns(tmp_path):
    (tmp_path / "a.csv").write_text("0,1,-5,1999\n1,2,x\n2,3\n")
    chunk = (np.array([0]), np.array([3]), np.array([np.nan]))
    for name, edges in (("text", tmp_path / "a.csv"), ("arrays", [chunk])):
        graph = build_csr(edges, tmp_path / name, weighted=False)
        assert graph.data is None
        assert graph.shape == (4, 4)


BAD_TEXT = [
    ("0 1\n1 x\n", r"line 2: node 'x' is not a whole number; number the nodes 0, 1"),
    ("0 1\n\n# c\n1.0 2\n", r"line 4: node '1\.0' is not a whole"),
    ("# c\na b\n0 1\n0 -1\n", r"line 4: node -1 is negative; number the nodes from 0"),
    ("-1 2\n", "line 1: node -1 is negative"),
    ("0 1\r1 2\r", "line 1: 3 columns where 2"),
    ("0 1\n5\n", "line 2: 1 column where 2 are expected"),
    ("0 1 2.0\n5 6\n", "line 2: 2 columns where 3 are expected"),
    ("0,1\n1,,2\n", "line 2: 3 columns where 2 are expected"),
    ("0,1,1\n1,,2\n", "line 2: node '' is not"),
    ("0,1,1\n1,2,\n", "line 2: weight '' is not a number; correct it"),
    ("0 1 1\n1 2 nan\n", "line 2: weight nan is not a number; weights must be positive"),
    ("0 1 1\n1 2 inf\n", "line 2: weight inf is infinite"),
    ("0 1 1\n1 2 -0.5\n", r"line 2: weight -0\.5 is negative"),
    ("0 1 1\n1 2 0.0\n", "line 2: weight 0; leave out"),
    ("0 1 1\n1 2 heavy\n", "line 2: weight 'heavy' is not a number"),
    ("0 1 2 3\n", "line 1: 4 columns; give source, target and perhaps a weight"),
    ("0\n", "line 1: 1 column; give source"),
    ("0 1\n0 99999999999\n", "node 99999999999 is not below 4294967295; number the nodes without"),
    ("# nothing\n", "no edges"),
    ("0" * 300_000 + "0" * 300_000, "a line of .* bytes; is it a text file"),
]


@pytest.mark.parametrize(("text", "message"), BAD_TEXT)
def test_bad_text(tmp_path, text, message):
    (tmp_path / "bad.csv").write_bytes(text.encode())
    with pytest.raises(ValueError, match=message) as error:
        build_csr(tmp_path / "bad.csv", tmp_path / "graph")
    assert "no edges" in message or "bad.csv" in str(error.value)
    assert os.listdir(tmp_path) == ["bad.csv"]


def test_old_line_ends_are_refused_without_weights_too(tmp_path):
    (tmp_path / "bad.csv").write_bytes(b"0 1\r1 2\r")
    with pytest.raises(ValueError, match=r"line 1: node '1\\r1' is not a whole number"):
        build_csr(tmp_path / "bad.csv", tmp_path / "graph", weighted=False)


def test_bad_line_far_down(tmp_path, monkeypatch):
    monkeypatch.setattr("robustgc.io.on_disk.chunks.BLOCK", 64)
    (tmp_path / "bad.txt").write_text("a b\n" + "".join(f"{i} {i + 1}\n" for i in range(99)) + "?")
    with pytest.raises(ValueError, match=r"bad.txt, line 101: 1 column "):
        build_csr(tmp_path / "bad.txt", tmp_path / "graph")


BAD_ARRAYS = [
    ([(ONE, TWO), (ONE, -TWO)], {}, "chunk 1, edge 0: node -1 is negative"),
    ([(ONE, TWO)], {"n_nodes": 2}, "edge 1: node 2 is not below n_nodes = 2; raise n_nodes"),
    ([(ONE, TWO * 1.0)], {}, "chunk 0: nodes of type float64; number the nodes"),
    ([(ONE, TWO[:1])], {}, "equal length"),
    ((ONE, TWO), {}, r"chunk 0: not a tuple .*\[\(sources, targets\)\]"),
    ([(ONE, TWO, ONE)], {}, "chunk 0, edge 0: weight 0; leave out"),
    ([(ONE, TWO, [1, np.nan])], {}, "chunk 0, edge 1: weight nan"),
    ([(ONE, TWO, [1, np.inf])], {}, "infinite"),
    ([(ONE, TWO, [1, -1])], {}, "negative"),
    ([(ONE, TWO)], {"weighted": True}, "chunk 0: no weights, but weighted=True"),
    ([(ONE, TWO, TWO), (ONE, TWO)], {}, "chunk 1: no weights, but chunk 0 asks"),
    ([(ONE, TWO), (ONE, TWO, TWO)], {}, "chunk 1: weights, but chunk 0 has none"),
    ([], {}, "no edges"),
    ([(ONE, TWO)], {"duplicates": "keep"}, "'keep'; allowed"),
    ([(ONE, TWO)], {"buffer": 10}, "at least 4096"),
    ([(ONE, TWO)], {"n_nodes": 0}, "n_nodes=0"),
    ("edges.parquet", {}, r"unknown kind of file; allowed are \.npy"),
]


@pytest.mark.parametrize(("edges", "options", "message"), BAD_ARRAYS)
def test_bad_arrays(tmp_path, edges, options, message):
    with pytest.raises(ValueError, match=message):
        build_csr(edges, tmp_path / "graph", **options)
    assert os.listdir(tmp_path) == []


def test_bad_files(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6).reshape(2, 3))
    (tmp_path / "b.npy").write_bytes(b"junk")
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(b"0,1\n" * 1000)[:-9])
    (tmp_path / "d.csv").write_text("0 1\n1 7\n")
    for name, message in (
        ("a.npy", r"\(2, 3\); give one of shape \(edges, 2\)"),
        ("b.npy", "b.npy cannot be read"),
        ("c.csv.gz", "c.csv.gz cannot be read"),
        ("d.csv", "d.csv, line 2: node 7 is not below n_nodes = 7"),
    ):
        with pytest.raises(ValueError, match=message):
            build_csr(tmp_path / name, tmp_path / "graph", n_nodes=7)
    with pytest.raises(FileNotFoundError, match=r"none\.csv is not a file; check"):
        build_csr([tmp_path / "d.csv", tmp_path / "none.csv"], tmp_path / "graph")
    (tmp_path / "graph").mkdir()
    with pytest.raises(FileExistsError, match="exists already; remove it or choose another"):
        build_csr(tmp_path / "d.csv", tmp_path / "graph")

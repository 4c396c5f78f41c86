"""Sparse matrices whose arrays do not fit together: a sentence, before compiled code reads them."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from robustgc import CSR, Graph, RobustGC, classify
from robustgc.graph.weights import check_weights
from robustgc.io.graph_files import read_graph, write_graph
from robustgc.io.named import NamedGraph
from robustgc.io.opening import InputError

FAR = 2**30  # beyond all memory of a small array: what is read there is a crash


def archive(path, **arrays):
    np.savez_compressed(path, **arrays)
    return path


def rows(n=4, **changed):
    """Return the parts of a ring as scipy.sparse.save_npz writes them."""
    ring = sp.csr_array(np.roll(np.eye(n), 1, 0) + np.roll(np.eye(n), -1, 0))
    parts = {"format": b"csr", "shape": np.array([n, n]), "data": ring.data}
    return parts | {"indices": ring.indices, "indptr": ring.indptr} | changed


def pairs(**changed):
    parts = {"format": b"coo", "shape": np.array([3, 3]), "data": np.ones(2)}
    return parts | {"row": np.array([0, 1]), "col": np.array([1, 0])} | changed


INT = np.array
ARCHIVES = {
    "far column": (rows(indices=INT([1, FAR, 0, 2, 1, 3, 0, 2], "i4")), "out of range"),
    "column below 0": (rows(indices=INT([1, -FAR, 0, 2, 1, 3, 0, 2], "i4")), "out of range"),
    "falling": (rows(indptr=INT([0, 8, 2, 8, 8], "i4")), "must rise from 0"),
    "below 0": (rows(indptr=INT([0, -FAR, 4, 6, 8], "i4")), "must rise from 0"),
    "not from 0": (rows(indptr=INT([2, 2, 4, 6, 8], "i4")), "must rise from 0"),
    "beyond the entries": (rows(indptr=INT([0, 2, 4, 6, FAR], "i4")), "must rise from 0"),
    "short pointers": (rows(indptr=INT([0, 4, 8], "i4")), "3 values for 4 rows"),
    "no pointers": (rows(indptr=INT([], "i4")), "indptr of the matrix is empty"),
    "lost values": (rows(data=np.ones(3)), "3 values for 8 columns"),
    "values in a table": (rows(data=np.ones((8, 2))), "an array of 1 dimension"),
    "columns as floats": (rows(indices=np.ones(8)), "int32 or int64"),
    "pointers as floats": (rows(indptr=INT([0, 2, 4, 6, 8.0])), "int32 or int64"),
    "unsigned": (rows(indices=np.full(8, 2**64 - 1, "u8")), "int32 or int64"),
    "swapped": (rows(indices=INT([1, 3, 0, 2, 1, 3, 0, 2], ">i4")), "int32 or int64"),
    "table of columns": (rows(indices=np.ones((4, 2), "i4")), "array of one dimension"),
    "lying shape": (rows(shape=INT([9, 9])), "5 values for 9 rows"),
    "narrow shape": (rows(shape=INT([4, 2])), "out of range for a size of 2"),
    "shape below 0": (rows(shape=INT([-4, -4])), "shape"),
    "shape of one": (rows(shape=INT([4])), "shape"),
    "shape of floats": (rows(shape=np.array([4.5, np.nan])), "shape"),
    "no shape": ({k: v for k, v in rows().items() if k != "shape"}, "shape"),
    "no format": ({k: v for k, v in rows().items() if k != "format"}, "format"),
    "unknown format": (rows(format=b"xyz"), "xyz"),
    "format in numbers": (rows(format=np.arange(9)), "format"),
    "columns by columns": (rows(format=b"csc", indices=np.full(8, FAR, "i4")), "out of range"),
    "far pair": (pairs(row=INT([0, FAR])), "rows of the matrix run from 0"),
    "pair below 0": (pairs(col=INT([-FAR, 0])), "columns of the matrix run from"),
    "pairs apart": (pairs(row=INT([0, 1, 2])), "2 values for 3 columns"),
    "pairs as floats": (pairs(row=np.array([0.0, 1.0])), "int32 or int64"),
    "pairs without a half": ({k: v for k, v in pairs().items() if k != "col"}, "col"),
    "blocks": (rows(format=b"bsr", data=np.ones((8, 3, 3))), "no multiple"),
    "flat blocks": (rows(format=b"bsr"), "an array of 3 dimensions"),
    "empty blocks": (rows(format=b"bsr", data=np.ones((8, 0, 0))), "no multiple"),
    "far block": (
        rows(format=b"bsr", data=np.ones((8, 1, 1)), indices=np.full(8, FAR, "i4")), "out of range"
    ),
    "lost diagonal": (
        pairs(format=b"dia", data=np.ones((2, 3)), offsets=INT([1, -1, 0])), "2 diagonals and 3"
    ),
    "diagonals as floats": (
        pairs(format=b"dia", data=np.ones((2, 3)), offsets=INT([1.0, -1.0])), "int32 or int64"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_that_does_not_fit_together_is_refused(tmp_path, name):
    parts, said = ARCHIVES[name]
    path = archive(tmp_path / "g.npz", **parts)
    with pytest.raises(InputError) as caught:
        read_graph(path)
    text = str(caught.value)
    assert str(path) in text
    assert said in text
    assert text.endswith(".")


def test_the_command_ends_in_a_sentence_where_it_crashed(tmp_path):
    # 100,000 columns far outside of memory: `info` of today dies by a signal.
    n = 50_000
    wild = np.random.default_rng(811).integers(-(2**31), 2**31 - 1, 2 * n).astype(np.int32)
    ring = rows(n=4) | {"shape": np.array([n, n]), "data": np.ones(2 * n), "indices": wild}
    path = archive(tmp_path / "g.npz", **ring | {"indptr": np.arange(n + 1, dtype=np.int32) * 2})
    code = "from robustgc.cli import main; main()"
    words = [sys.executable, "-c", code, "info", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "out of range" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_archives_of_every_format_give_the_same_graph(tmp_path, kind):
    W = sp.csr_array(np.diag(np.arange(1.0, 6.0), 1) + np.diag(np.arange(1.0, 6.0), -1))
    sp.save_npz(tmp_path / "g.npz", W.asformat(kind))
    np.testing.assert_array_equal(read_graph(tmp_path / "g.npz").W.toarray(), W.toarray())


BAD = {
    "lists": (([0, 1, 2], [1, 0]), "of type list"),
    "tables": ((INT([[0, 1, 2]]), INT([1, 0])), "shape (1, 3)"),
    "floats": ((INT([0.0, 1, 2]), INT([1, 0])), "int32 or int64"),
    "unsigned": ((INT([0, 1, 2], "u8"), INT([1, 0])), "int32 or int64"),
    "swapped": ((INT([0, 1, 2], ">i8"), INT([1, 0])), "int32 or int64"),
    "objects": ((INT([0, 1, 2], object), INT([1, 0])), "int32 or int64"),
    "no pointers": ((INT([], int), INT([], int)), "is empty"),
    "more weights": ((INT([0, 1, 2]), INT([1, 0]), np.ones(3)), "3 values for 2 columns"),
    "list of weights": ((INT([0, 1, 2]), INT([1, 0]), [1.0, 1.0]), "of type list"),
    "table of weights": ((INT([0, 1, 2]), INT([1, 0]), np.ones((2, 2))), "shape (2, 2)"),
    "swapped weights": ((INT([0, 1, 2]), INT([1, 0]), INT([1, 1.0], ">f8")), "float64 or float32"),
    "text": ((INT([0, 1, 2]), INT([1, 0]), INT(["a", "b"])), "float64 or float32"),
}


@pytest.mark.parametrize("name", BAD)
def test_rows_of_the_wrong_kind_are_refused_when_they_are_made(name):
    arrays, said = BAD[name]
    with pytest.raises((ValueError, TypeError)) as caught:
        CSR(*arrays)
    assert said in str(caught.value)


WILD = {
    "far": (INT([0, 1, 2]), INT([1, FAR])),
    "below 0": (INT([0, 1, 2]), INT([1, -FAR])),
    "falling": (INT([0, 2, 1, 2]), INT([1, 0])),
    "beyond": (INT([0, 1, FAR]), INT([1, 0])),
    "huge": (INT([0, 2**62, -(2**62), 2]), INT([1, 0])),
}
USES = {
    "product": lambda rows: rows @ np.ones(rows.shape[0]),
    "sum": lambda rows: CSR(rows.indptr, rows.indices, np.ones(rows.nnz)).sum(),
    "diagonal": lambda rows: rows.diagonal(),
    "symmetry": lambda rows: rows.is_symmetric(),
    "components": lambda rows: rows.components(np.ones(rows.shape[0]), 0.0),
    "scipy": lambda rows: rows.to_scipy(),
    "check": check_weights,
    "graph": Graph,
    "fit": lambda rows: RobustGC(affinity="precomputed").fit(rows, np.arange(rows.shape[0])),
    "classify": lambda rows: classify(rows, list(range(rows.shape[0]))),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", WILD)
def test_rows_that_point_elsewhere_are_refused_before_they_are_used(name, use):
    wild = CSR(*WILD[name])
    if name in ("far", "below 0") and use in ("sum", "diagonal", "symmetry"):
        return  # follows row pointers only
    if name == "far" and use == "components":
        return  # columns of other processes join nothing
    with pytest.raises(ValueError, match=r"out of range|must rise"):
        USES[use](wild)


def test_a_product_with_a_short_vector_is_refused():
    with pytest.raises(ValueError, match="out of range"):
        CSR(INT([0, 1, 2]), INT([1, 0])) @ np.ones(1)


def tampered(kind):
    W = sp.csr_array(np.roll(np.eye(6), 1, 0) + np.roll(np.eye(6), -1, 0)).asformat(kind)
    if kind == "lil":
        W.rows[2][0] = FAR
    elif kind == "coo":
        W.coords[0][3] = FAR
    else:
        W.indices[3] = FAR
    return W


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "lil"])
def test_matrices_that_were_changed_are_refused(kind):
    y = [0, 1, -1, -1, -1, -1]
    uses = (
        check_weights,
        lambda W: classify(W, [None if k < 0 else k for k in y]),
        lambda W: classify(W, [None if k < 0 else k for k in y], symmetrise="mean"),
        lambda W: RobustGC(affinity="precomputed").fit(W, y),
        lambda W: RobustGC(n_neighbors=2).fit(W, y),
    )
    for use in uses:
        with pytest.raises(ValueError, match="out of range"):
            use(tampered(kind))


def test_the_weights_to_new_points_are_looked_at(tmp_path):
    y = [0, 1, -1, -1, -1, -1]
    W = sp.csr_array(np.roll(np.eye(6), 1, 0) + np.roll(np.eye(6), -1, 0))
    fitted = RobustGC(affinity="precomputed").fit(W, y)
    with pytest.raises(ValueError, match="out of range"):
        fitted.predict(tampered("csr"))


def test_a_large_matrix_is_looked_at_too():
    n = 600_000
    W = sp.csr_array((np.ones(2 * n), np.zeros(2 * n, "i4"), np.arange(n + 1) * 2), shape=(n, n))
    W.indices[5] = FAR
    with pytest.raises(ValueError, match="out of range"):
        check_weights(W)
    W.indices[5], W.indptr[7] = 0, FAR
    with pytest.raises(ValueError, match="must rise"):
        check_weights(W)


def test_room_to_spare_in_a_matrix_is_no_fault():
    W = sp.csr_array(np.roll(np.eye(6), 1, 0) + np.roll(np.eye(6), -1, 0))
    roomy = W.copy()
    roomy.indices = np.append(roomy.indices, np.full(4, FAR, roomy.indices.dtype))
    roomy.data = np.append(roomy.data, np.zeros(4))
    assert CSR.from_scipy(roomy).same(CSR.from_scipy(W))


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (INT([[0, 1, FAR * FAR], [1, 2, 0]]), "memory"),
        (INT([[0, 1, -5], [1, 2, 0]]), "from -5 to 2"),
        (np.array([[0, 1, 2**64 - 1], [1, 2, 0]], dtype="u8"), "memory"),
    ],
)
def test_wild_edges_are_refused(pairs, said):
    with pytest.raises(InputError, match=said):
        classify(pairs, {0: "a", 1: "b"})


def test_edges_in_other_types_are_the_same_graph():
    edges = INT([[0, 1, 2, 3], [1, 2, 3, 0]])
    answers = [
        classify(edges.astype(kind), {0: "a", 2: "b"}).labels for kind in ("i8", ">i4", "u2")
    ]
    assert answers[0] == answers[1] == answers[2]


FOLDERS = {
    "falling": (dict(indptr=INT([0, 8, 2, 8, 8])), "must rise from 0"),
    "far": (dict(indices=np.full(8, FAR, "i4")), "out of range"),
    "floats": (dict(indices=np.ones(8)), "int32 or int64"),
    "table": (dict(indices=np.ones((8, 1), "i4")), "arrays have shapes"),
    "number": (dict(indptr=np.int64(3)), "arrays have shapes"),
    "other weights": (dict(data=np.ones(8, "f4")), "float32"),
    "swapped": (dict(indptr=INT([0, 2, 4, 6, 8], ">i8")), "int32 or int64"),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_does_not_fit_together_is_refused(tmp_path, name):
    parts, said = FOLDERS[name]
    ring = rows()
    W = sp.csr_array((ring["data"] * 2, ring["indices"], ring["indptr"]), shape=(4, 4))
    write_graph(NamedGraph(W, np.arange(4)), tmp_path / "graph")
    for key, array in parts.items():
        np.save(tmp_path / "graph" / f"{key}.npy", array)
    with pytest.raises((InputError, ValueError), match=said):
        check_weights(read_graph(tmp_path / "graph").W)


MANIFESTS = {
    "no nodes": ({"nodes": None}, "lacks the key 'nodes'"),
    "no entries": ({"entries": None}, "lacks the key 'entries'"),
    "no weights": ({"weights": None}, "lacks the key 'weights'; 'unit' or a type is needed"),
    "nodes as text": ({"nodes": "4"}, "a wrong 'nodes': '4'; a whole number"),
    "nodes below 0": ({"nodes": -4}, "a wrong 'nodes': -4"),
    "true nodes": ({"nodes": True}, "a wrong 'nodes': True"),
    "many nodes": ({"nodes": 10**400}, "a wrong 'nodes'"),
    "weights as a list": ({"weights": [1]}, "a wrong 'weights': [1]"),
    "deep": ({"version": [[[[[[[[1]]]]]]]]}, "has format version [["),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_without_its_keys_is_refused(tmp_path, name):
    changes, said = MANIFESTS[name]
    write_graph(NamedGraph(np.ones((4, 4)) - np.eye(4), np.arange(4)), tmp_path / "graph")
    path = tmp_path / "graph" / "manifest.json"
    about = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in about.items() if value is not None}))
    with pytest.raises(InputError) as caught:
        read_graph(tmp_path / "graph")
    text = str(caught.value)
    assert str(tmp_path / "graph") in text
    assert said in text
    assert len(text) < 500 + len(str(path))


def test_an_array_can_be_read_from_memory_and_the_header_is_not_believed():
    from robustgc.graph.folder import read_header

    out = io.BytesIO()
    np.save(out, np.arange(6).reshape(2, 3))
    out.seek(0)
    assert read_header(out, len(out.getvalue())) == ((2, 3), False, np.dtype(np.int64))
    for old, new in [
        (b"(2, 3)", b"(9,10)"),
        (b"<i8", b"|O8"),
        (b"{", b"["),
        (b"(2, 3)", b"(((((("),
    ]:
        damaged = io.BytesIO(out.getvalue().replace(old, new))
        with pytest.raises(ValueError, match=r"its header|objects"):
            read_header(damaged, len(out.getvalue()))

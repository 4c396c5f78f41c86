"""Point files that are wrong, and what could not be written."""

import errno
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robustgc.io import opening
from robustgc.io.graph_files import read_graph, write_graph
from robustgc.io.opening import InputError
from robustgc.io.point_files import Choice, named_points, read_points
from robustgc.io.writing import print_table, write_table


def parquet(**columns):
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def npy(array):
    out = io.BytesIO()
    np.save(out, np.asarray(array))
    return out.getvalue()


def npz(**arrays):
    out = io.BytesIO()
    np.savez(out, **{name: np.asarray(array) for name, array in arrays.items()})
    return out.getvalue()


POINTS = {
    # name: (file, content, parts of the message, between commas)
    "empty": ("p.csv", b"", "is empty"),
    "ending": ("p.doc", b"x", "points come as .csv, .npz, not as .doc. Rename"),
    "header only": ("p.csv", b"id,x\n", "shape (0, 1). Give a row"),
    "empty field": ("p.csv", b"id,x,y\na,1,2\n\nb,3,\n", "line 4: the value in column 3 ('y') is "
                    "missing, Fill it in"),
    "NA": ("p.csv", b"x,y\n1,2\nNA,4\n", "line 3: the value in column 1 ('x') is missing ('NA')"),
    "NA in the first row": ("p.csv", b"NA,1\n3,4\n", "line 1: the value in column 1 is missing"),
    "NaN": ("p.csv", b"# two\nx,y\n1,2\n\nnan,4\n", "line 5, column 'x': the value is missing (1"),
    "infinite": ("p.csv", b"1,2\n3,inf\n", "line 2, column 'column 2': the value is infinite"),
    "text": ("p.csv", b"x,y\n1,2\nred,4\n", "line 3: 'red' in column 1 ('x') is no number"),
    "names alone, in no usual column": ("p.csv", b"flower\nf1\nf2\n", "no column with numbers"),
    "too few": ("p.csv", b"x,y,z\n1,2,3\n4,5\n", "line 3: 2 fields where 3 are expected"),
    "no encoding": ("p.csv", b"id,x\n\x81,1\n", "line 2: not UTF-8"),
    "nameless": ("p.csv", b"id,x\na,1\n,2\n", "line 3: a point without a name"),
    "same name": ("p.csv", b"id,x\na,1\n\na,2\n", "line 4: the name 'a' is that of, line 2 too"),
    "names alone": ("p.csv", b"id\na\nb\n", "names and no columns with numbers"),
    "null": ("p.pq", parquet(x=[1.0, None]), "row 2, column 'x': the value is missing (1 such"),
    "text columns": ("p.pq", parquet(y=["r"], z=["q"]), "'y' holds string, 'z' holds string"),
    "list column": ("p.pq", parquet(x=[[1.0]]), "column 'x' holds list"),
    "no rows": ("p.pq", parquet(x=pa.array([], "double")), "shape (0, 1). Give a row"),
    "null name": ("p.pq", parquet(id=["a", None], x=[1, 2]), "row 2: a point without a name"),
    "not Parquet": ("p.parquet", b"x\n1\n", "not the Parquet file"),
    "npy missing": ("p.npy", npy([[1, 2], [3, np.nan]]), "row 2, column 'column 2', missing"),
    "npy of one dimension": ("p.npy", npy([1, 2]), "shape (2,) and type int64, (points, columns)"),
    "npy of text": ("p.npy", npy([["a"]]), "type <U1; points are numbers"),
    "npy of objects": ("p.npy", npy(np.array([[None]])), "no array that numpy.save, Write it"),
    "npy of nothing": ("p.npy", npy(np.ones((0, 3))), "shape (0, 3)"),
    "npy cut": ("p.npy", npy(np.ones((9, 9)))[:-9], "or is cut short"),
    "npy of another kind": ("p.npy", b"x,y\n1,2\n", "no array that numpy.save"),
    "npz cut": ("p.npz", npz(X=np.ones((9, 9)))[:-30], "or is cut short"),
    "npz damaged": ("p.npz", npz(X=np.ones((9, 9))).replace(b"\0\0\xf0?", b"\0\0\0?"), "cut short"),
    "npz of several": ("p.npz", npz(a=[[1]], b=[[1]]), "has a, b, and none called X"),
    "npz of none": ("p.npz", npz(), "has no arrays"),
    "npz with few names": ("p.npz", npz(X=[[1], [2]], names=["a"]), "shape (1,) for 2 points"),
    "npz same names": ("p.npz", npz(X=[[1], [2]], names=["a", "a"]), "row 2: the name 'a'"),
}  # fmt: skip


@pytest.mark.parametrize("name", POINTS)
def test_bad_points_are_refused_with_their_place(tmp_path, name):
    file, content, parts = POINTS[name]
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_points(path)
    text = str(caught.value)
    assert str(path) in text
    for part in parts.split(", "):
        assert part in text, text
    assert text.endswith("."), text


def test_columns_that_are_not_there(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("id,x\na,1\nb,2\n")
    for options in ({"name": "who"}, {"columns": ["who"]}):
        with pytest.raises(InputError, match=r"no column 'who'; the columns are 'id', 'x'\."):
            read_points(path, Choice(**options))
    np.save(tmp_path / "p.npy", np.eye(2))
    with pytest.raises(InputError, match="an array has no named columns; leave out --id"):
        read_points(tmp_path / "p.npy", Choice("id"))
    with pytest.raises(InputError, match=r"shape \(3,\); give one row for each point"):
        named_points([1, 2, 3])
    with pytest.raises(InputError, match="The points, row 2, column 'column 1': the value is mis"):
        named_points([[1.0], [np.nan]])


TABLE = {"node": ["a", "b"], "label": ["x", None]}
PLACES = {
    "ending": ("out.ods", "written as .csv, .tsv, .parquet"),
    "packed": ("out.csv.gz", "written as .csv"),
    "folder": ("folder.csv", "is a folder; name a file"),
    "no folder": ("no/out.csv", "there is no folder, Make it first"),
    "file as folder": ("old.csv/out.csv", "there is no folder, Make it first"),
    "long name": (f"{'x' * 300}.csv", "was not written: File name too long, choose another place"),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_place_where_nothing_can_be_written(tmp_path, name):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "old.csv").write_text("old")
    file, parts = PLACES[name]
    with pytest.raises(InputError) as caught:
        write_table(tmp_path / file, TABLE)
    for part in parts.split(", "):
        assert part in str(caught.value)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["folder.csv", "old.csv"]


def test_a_folder_without_permission(tmp_path, monkeypatch):
    monkeypatch.setattr(opening.os, "access", lambda *_: False)
    with pytest.raises(InputError, match=r"no permission in .* Choose another folder\."):
        write_table(tmp_path / "out.csv", TABLE)


@pytest.fixture
def full(monkeypatch):
    def no_room(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(opening.os, "fsync", no_room)


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_a_full_disk_leaves_the_old_table(tmp_path, ending):
    path = tmp_path / f"out{ending}"
    path.write_text("old")
    with pytest.raises(InputError, match=r"No space left on device\. Nothing was left there; make"):
        write_table(path, TABLE)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("name", ["out.npz", "out.mtx"])
def test_a_full_disk_leaves_no_matrix_and_no_names(tmp_path, name):
    (tmp_path / "g.csv").write_text("a,b\nb,c\n")
    with pytest.raises(InputError, match="make room, or choose another disk"):
        write_graph(read_graph(tmp_path / "g.csv"), tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["g.csv"]


def test_a_full_disk_leaves_no_folder(tmp_path, monkeypatch):
    def no_room(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "g.csv").write_text("a,b\nb,c\n")
    graph = read_graph(tmp_path / "g.csv")
    with monkeypatch.context() as patch:
        patch.setattr(np, "save", no_room)
        with pytest.raises(InputError, match=r"No space left on device\. Nothing was left there"):
            write_graph(graph, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["g.csv"]
    write_graph(graph, tmp_path / "out")
    with pytest.raises(InputError, match="exists already; remove it or choose another name"):
        write_graph(graph, tmp_path / "out")
    with pytest.raises(InputError, match=r"written as .*, \.npz, \.mtx, or as a folder"):
        write_graph(graph, tmp_path / "out.csv.zst")


def test_standard_output_that_is_full(monkeypatch):
    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(Full()))
    monkeypatch.setattr("os.dup2", lambda *_: None)
    with pytest.raises(InputError, match="standard output cannot be written: No space left"):
        print_table(TABLE)

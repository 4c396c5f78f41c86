"""One file of a .zip, and standard input: read where they are, within limits."""

import gzip
import io
import struct
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from robustgc.api import classify, load
from robustgc.cli.app import app
from robustgc.cli.mpi import check_files
from robustgc.cli.options import DataOptions, GraphOptions
from robustgc.io.errors import InputError
from robustgc.io.graph_files import read_graph
from robustgc.io.label_files import read_labels
from robustgc.io.limits import allowing
from robustgc.io.opening import kind
from robustgc.io.point_files import read_points
from robustgc.io.sources import source

EDGES = "source,target,weight\n" + "".join(f"n{k},n{(k + 1) % 8},{k + 1}\n" for k in range(8))
LABELS = "node,label\nn0,red\nn1,red\nn4,blue\nn5,blue\n"
POINTS = "id,x,y\n" + "".join(f"n{k},{k // 4},{k % 4}\n" for k in range(8))
RUN = CliRunner()


def zipped(path, way=zipfile.ZIP_DEFLATED, **files):
    """Write files into an archive; dots and slashes of names are written as __ and ___."""
    with zipfile.ZipFile(path, "w", way) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("___", "/").replace("__", "."), content)
    return path


def parquet(text):
    buffer = io.BytesIO()
    frame = pd.read_csv(io.StringIO(text))
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["edges.csv.zip", "edges.zip", "EDGES.ZIP"])
@pytest.mark.parametrize("way", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_one_file_of_an_archive_is_read(tmp_path, name, way):
    path = zipped(tmp_path / name, way, edges__csv=EDGES)
    found = read_graph(path)
    assert found.n_edges == 8
    assert found.names.tolist() == [f"n{k}" for k in range(8)]
    assert found.notes == ()
    assert kind(source(path)) == ".csv"


def test_folders_and_what_a_mac_adds_do_not_count(tmp_path):
    path = tmp_path / "e.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/", "")
        archive.writestr("data/edges.tsv", EDGES.replace(",", "\t"))
        archive.writestr("__MACOSX/data/._edges.tsv", "x")
        archive.writestr("data/.DS_Store", "x")
    assert read_graph(path).n_edges == 8
    assert sorted(tmp_path.iterdir()) == [path]  # nothing was unpacked


def test_a_name_that_leads_elsewhere_is_only_a_name(tmp_path):
    path = tmp_path / "folder" / "e.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../evil.csv", EDGES)
    assert read_graph(path).n_edges == 8
    assert [file.name for file in tmp_path.rglob("*")] == ["folder", "e.zip"]


def test_without_an_ending_inside_that_of_the_archive_counts(tmp_path):
    assert read_graph(zipped(tmp_path / "edges.csv.zip", data=EDGES)).n_edges == 8


def test_labels_points_parquet_and_arrays_in_archives(tmp_path):
    labels = read_labels(zipped(tmp_path / "l.zip", labels__csv=LABELS))
    assert labels.labels == ["red", "red", "blue", "blue"]
    points = read_points(zipped(tmp_path / "p.zip", points__parquet=parquet(POINTS)))
    assert points.X.shape == (8, 2)
    array = io.BytesIO()
    np.save(array, points.X)
    again = read_points(zipped(tmp_path / "n.zip", points__npy=array.getvalue()))
    assert np.array_equal(again.X, points.X)


def test_errors_in_archives_have_their_line(tmp_path):
    path = zipped(tmp_path / "e.zip", edges__csv=EDGES + "n1,n2,heavy\n")
    with pytest.raises(InputError, match=r"e\.zip, line 10: 'heavy'"):
        read_graph(path)


def damaged(path):
    """Change a byte of the packed content."""
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(bytes(data))


def encrypted(path):
    data = path.read_bytes()
    for magic, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = data.index(magic) + place
        data = data[:start] + struct.pack("<H", 1) + data[start + 2 :]
    path.write_bytes(data)


def cut(path):
    path.write_bytes(path.read_bytes()[:-30])


BAD = {
    "two files": (dict(a__csv=EDGES, b__csv=LABELS), None, "holds 2: 'a.csv', 'b.csv', Unpack it"),
    "no files": (dict(), None, "holds none, Unpack it"),
    "packed twice": (dict(a__csv__gz=gzip.compress(b"a,b\n")), None, "packed once more, Unpack"),
    "zip in zip": (dict(a__zip=b"PK"), None, "packed once more"),
    "empty": (dict(a__csv=""), None, "'a.csv' in it is empty"),
    "unknown": (dict(a__doc=EDGES), None, "end in '.doc' are unknown"),
    "damaged": (dict(a__csv=EDGES), damaged, "cannot be unpacked as zip, Write it again"),
    "cut": (dict(a__csv=EDGES), cut, "not the zip archive, cut short"),
    "encrypted": (dict(a__csv=EDGES), encrypted, "is encrypted, password"),
    "bomb": (dict(a__csv="a,b\n" * 20_000_000), None, "unpack to 80 MB, over 100 times"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_archive_is_refused(tmp_path, name):
    files, harm, parts = BAD[name]
    path = zipped(tmp_path / "a.zip", **files)
    if harm:
        harm(path)
    with pytest.raises(InputError) as caught:
        read_graph(path)
    assert str(caught.value).startswith(str(path))
    assert all(part in str(caught.value) for part in parts.split(", ")), str(caught.value)


def test_a_member_packed_in_another_way_is_refused(tmp_path):
    path = zipped(tmp_path / "a.zip", zipfile.ZIP_LZMA, a__csv=EDGES)
    with pytest.raises(InputError, match="packed in a way that is not read here"):
        read_graph(path)


def test_a_claim_that_is_too_small_does_not_pass_the_limits(tmp_path):
    """The size in the header is a lie: what comes out is counted."""
    path = zipped(tmp_path / "a.zip", a__csv=EDGES * 100)
    data = bytearray(path.read_bytes())
    for magic, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = data.rindex(magic) + place
        data[start : start + 4] = struct.pack("<I", 40)
    path.write_bytes(bytes(data))
    with pytest.raises(InputError):
        read_graph(path)


def test_max_size_holds_for_archives(tmp_path):
    path = zipped(tmp_path / "a.zip", a__csv=EDGES)
    with allowing(50), pytest.raises(InputError, match="--max-size allows 50 bytes"):
        read_graph(path)


def test_a_missing_archive_is_missing(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read_graph(tmp_path / "a.zip")


def test_models_in_archives_are_still_models(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(POINTS)
    result = classify(points=path, labels={"n0": "red", "n7": "blue"}, n_neighbors=3)
    result.save(tmp_path / "model.zip")
    assert load(tmp_path / "model.zip").labels == result.labels
    with pytest.raises(InputError, match="should hold one file"):
        read_graph(tmp_path / "model.zip")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in (("edges.csv", EDGES), ("labels.csv", LABELS), ("points.csv", POINTS)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def workbook(text):
    buffer = io.BytesIO()
    pd.read_csv(io.StringIO(text)).to_excel(buffer, index=False)
    return buffer.getvalue()


def archive(text):
    buffer = io.BytesIO()
    zipped(buffer, table__csv=text)
    return buffer.getvalue()


def feather(text):
    buffer = io.BytesIO()
    pd.read_csv(io.StringIO(text)).to_feather(buffer)
    return buffer.getvalue()


PIPED = {
    "csv": str.encode,
    "tabs": lambda text: text.replace(",", "\t").encode(),
    "gzip": lambda text: gzip.compress(text.encode()),
    "zstd": lambda text: pa.compress(text.encode(), "zstd", asbytes=True),
    "parquet": parquet,
    "packed parquet": lambda text: gzip.compress(parquet(text)),
    "feather": feather,
    "zip": archive,
    "xlsx": workbook,
}


@pytest.mark.parametrize("how", PIPED)
@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("classify - --labels labels.csv", EDGES),
        ("classify edges.csv --labels -", LABELS),
        ("classify --points - --labels labels.csv -k 3", POINTS),
    ],
)
def test_standard_input_is_one_of_the_tables(folder, how, command, text):
    with_files = command.replace("classify -", "classify edges.csv", 1) if text == EDGES else (
        command.replace(" - ", " points.csv ") if text == POINTS
        else command.replace("--labels -", "--labels labels.csv")
    )  # fmt: skip
    wanted = RUN.invoke(app, with_files.split())
    done = RUN.invoke(app, command.split(), input=PIPED[how](text))
    assert (done.exit_code, done.stdout) == (0, wanted.stdout), done.stderr


def test_other_commands_read_standard_input(folder):
    done = RUN.invoke(app, ["info", "-", "--json"], input=EDGES)
    assert '"edges": 8' in done.stdout
    done = RUN.invoke(app, ["convert", "-", "out.parquet"], input=EDGES)
    assert done.exit_code == 0
    assert read_graph(folder / "out.parquet").n_edges == 8


@pytest.mark.parametrize(
    ("command", "given", "code", "text"),
    [
        ("classify - --labels -", EDGES, 2, "standard input (-) has one table"),
        ("classify --points - --labels -", POINTS, 2, "standard input (-) has one table"),
        ("classify - --labels labels.csv", "", 1, "standard input is empty"),
        ("classify - --labels labels.csv", EDGES + "x,y,z\n", 1, "standard input, line 10: 'z'"),
        ("classify - --labels labels.csv", b"\x1f\x8bnothing", 1, "standard input is not what"),
        ("classify - --labels labels.csv", b"PAR1nothing", 1, "standard input is not the Parquet"),
        ("classify - --labels labels.csv", b"PK\x03\x04nothing", 1, "standard input is not the"),
        ("classify edges.csv --labels -", "node,label\nn0,x\n", 1, "standard input: all 1 labels"),
    ],
)  # fmt: skip
def test_bad_standard_input_is_refused(folder, command, given, code, text):
    done = RUN.invoke(app, command.split(), input=given)
    assert done.exit_code == code
    assert text in done.stderr


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (DataOptions(edges=Path("-"), labels="labels.csv"), "standard input"),
        (DataOptions(edges=Path("edges.csv"), labels="-"), "standard input"),
        (GraphOptions(edges=Path("-")), "standard input"),
        (DataOptions(edges=Path("edges.csv"), labels="labels.csv", sheet="x"), "--sheet"),
    ],
)
def test_what_only_one_rank_could_read_is_refused(asked, text, capsys):
    with pytest.raises(typer.Exit):
        check_files(asked)
    assert f"{text}" in capsys.readouterr().err
    check_files(DataOptions(edges=Path("edges.csv"), labels="labels.xlsx", label_sheet="x"))


def test_the_page_calls_it_standard_input(folder):
    command = "classify - --labels labels.csv -o out.csv --report page.html"
    assert RUN.invoke(app, command.split(), input=EDGES).exit_code == 0
    assert "Labels of standard input" in (folder / "page.html").read_text()

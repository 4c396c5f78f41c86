"""Answers of several ranks: part files with a manifest, or one table."""

import hashlib
import json
import re

import pyarrow.parquet as pq
import pytest
from commands import COMMAND, LABELS, alike, asked, rows, write_files
from ranks import run

from robustgc.api import classify
from robustgc.io.opening import InputError
from robustgc.mpi.write_parts import check_folder

THREE = [
    ("m0", "a,b"),
    ("m33", 'c "d"'),
    ("m1", "a,b"),
    ("m32", 'c "d"'),
    ("m16", "e"),
    ("m5", "e"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("karate")
    write_files(folder)
    return folder


@pytest.fixture(scope="module")
def one_machine(place):
    classify(place / "edges.csv", place / "labels.csv").write(place / "one.csv")
    return rows(place / "one.csv")


def test_every_rank_writes_a_part_and_the_manifest_names_them(place, one_machine):
    folder = place / "parts"
    folder.mkdir()
    left = ["part-00000.csv", "part-00007.csv", ".part-00001.csv.0123abcd.partial"]
    for name in left:  # of a run that was stopped
        (folder / name).write_text("cut sho")
    done = run(3, COMMAND, *asked(place, folder, "--json"))
    manifest = json.loads((folder / "manifest.json").read_text())
    files = sorted(file for file in folder.iterdir() if file.name != "manifest.json")
    assert [part["file"] for part in manifest["parts"]] == [file.name for file in files]
    assert len(files) == 3
    for part, file in zip(manifest["parts"], files, strict=True):
        assert part["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
        assert (part["bytes"], part["rows"]) == (file.stat().st_size, len(rows(file)))
    assert (manifest["format"], manifest["ranks"]) == ("robustgc-parts", 3)
    assert (manifest["nodes"], manifest["classes"]) == (36, ["Hi", "Officer"])
    alike(rows(*files), one_machine)
    said = json.loads(done.stdout)
    assert (said["nodes"], said["labels"], said["unlabelled"], said["ranks"]) == (36, 5, 2, 3)
    assert said["taken_over"] == []
    assert done.stderr.count("engine mpi: 3 ranks on 1 machine") == 1
    assert not (place / "parts.checkpoint").exists()


def test_merged_parts_are_the_table_of_one_machine(place, one_machine):
    run(2, COMMAND, *asked(place, place / "merged.csv", "--merge", "--quiet"))
    alike(rows(place / "merged.csv"), one_machine)
    with (place / "one.csv").open() as one, (place / "merged.csv").open() as merged:
        assert one.readline() == merged.readline()
    assert not list(place.glob("merged.csv.*"))


def test_parts_and_tables_of_parquet(place, one_machine):
    run(2, COMMAND, *asked(place, place / "merged.parquet", "--merge"))
    table = pq.read_table(place / "merged.parquet")
    assert table.num_rows == 36
    decisions = dict(zip(table["node"].to_pylist(), table["decision"].to_pylist(), strict=True))
    expected = {n: float(row["decision"]) for n, row in one_machine.items() if row["decision"]}
    assert {n: f for n, f in decisions.items() if f is not None} == pytest.approx(expected)
    classify(place / "edges.csv", place / "labels.csv").write(place / "one.parquet")
    assert table.schema.equals(pq.read_schema(place / "one.parquet"))


def test_classes_of_any_name_and_numbers_as_nodes(tmp_path):
    write_files(tmp_path, THREE)
    for name in ("edges.csv", "labels.csv"):
        file = tmp_path / name
        file.write_text(re.sub("[mx](?=[0-9])", "", file.read_text()))
    classify(tmp_path / "edges.csv", tmp_path / "labels.csv").write(tmp_path / "one.csv")
    run(2, COMMAND, *asked(tmp_path, tmp_path / "merged.csv", "--merge"))
    alike(rows(tmp_path / "merged.csv"), rows(tmp_path / "one.csv"))


def test_a_rank_without_rows_has_no_part(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "labels.csv").write_text("node,label\na,x\nc,y\n")
    run(5, COMMAND, *asked(tmp_path, tmp_path / "parts"))
    parts = json.loads((tmp_path / "parts" / "manifest.json").read_text())["parts"]
    assert sum(part["rows"] for part in parts) == 3
    assert all(part["rows"] for part in parts)
    assert len(list((tmp_path / "parts").glob("part-*"))) == len(parts) <= 3


def test_a_folder_that_holds_something_else_is_refused(tmp_path):
    (tmp_path / "part-00000.csv").touch()
    check_folder(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": "robustgc-parts"}')
    check_folder(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": "another"}')
    with pytest.raises(InputError, match=r"holds manifest\.json, which is no part"):
        check_folder(tmp_path)
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(InputError, match=r"holds thesis\.txt.*Name another folder"):
        check_folder(tmp_path)
    with pytest.raises(InputError, match=r"is a file.*--merge"):
        check_folder(tmp_path / "thesis.txt")


def test_labels_are_those_that_were_given(one_machine):
    assert {node: row["given"] for node, row in one_machine.items() if row["given"]} == dict(LABELS)

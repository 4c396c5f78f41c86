"""Input that ranks refuse: every rank says why, and none waits for the others."""

import json
import shutil

import numpy as np
import pytest
from edge_cases import cut, drawn, parts, write
from ranks import HERE, run

from robustgc.graph.csr import CSR, write_manifest


def ring(n=30):
    i = np.arange(n)
    columns = np.sort(np.stack([(i - 1) % n, (i + 1) % n], axis=1), axis=1)
    return CSR(np.arange(n + 1) * 2, columns.ravel().astype(np.int32))


def graph(path, indptr=None, indices=None, data=None):
    """Write a ring as a graph folder, with other arrays in place of its own."""
    good = ring()
    arrays = (good.indptr if indptr is None else indptr,
              good.indices if indices is None else indices, data)  # fmt: skip
    path.mkdir(parents=True)
    np.save(path / "indptr.npy", arrays[0])
    np.save(path / "indices.npy", arrays[1])
    if data is not None:
        np.save(path / "data.npy", data)
    write_manifest(path, 30, 60, None if data is None else np.float64)
    return path


def conflict(folder):
    edges = [(f"n{i}", f"n{j}", 2.0) for i, j in drawn(3221, 20, 60)]
    return parts(folder, [edges, [(edges[7][1], edges[7][0], 5.0)]])


def damaged(folder):
    path = parts(folder, cut(drawn(3229, 20, 60), 10, 20), "parquet")
    file = path / "part-00001.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    return path


def bad_line(folder):
    path = parts(folder, cut(drawn(3251, 20, 60), 10, 20))
    with (path / "part-00001.csv").open("a") as file:
        file.write("3\n")
    return path


def no_parts(folder, *names):
    folder.mkdir()
    for name in names:
        (folder / name).touch()
    return folder


def half_weighted(folder):
    return parts(folder, [[(1, 2)], [(2, 3, 0.5)], [(3, 4)]])


def other_kind(folder):
    folder.mkdir()
    (folder / "a.graphml").write_text("<graphml/>")
    return folder / "a.graphml"


def without_manifest(folder):
    (graph(folder / "g") / "manifest.json").unlink()
    return folder / "g"


def bad_names(folder):
    path = graph(folder / "g")
    (path / "names.json").write_text(json.dumps(["a"] * 30))
    return path


def short_rows(folder):
    indptr = ring().indptr.copy()
    indptr[20] = 3
    return graph(folder / "g", indptr=indptr)


def one_way(folder):
    indices = ring().indices.copy()
    indices[40] += 1  # row 20 has 20 and 21, and row 19 still has 20
    return graph(folder / "g", indices=indices)


def folder_with(data):
    return lambda folder: graph(folder / "g", data=data)


ONES = np.ones(60)
BAD = {
    "conflict": (conflict, "1 edge came in both directions with different weights"),
    "damaged": (damaged, "part-00001.parquet is not the Parquet file that its ending says"),
    "bad line": (bad_line, "part-00001.csv, line 12: 1 field where 2 are expected, too few"),
    "empty folder": (no_parts, "is neither a graph folder (it has no manifest.json) nor a folder"),
    "other files": (lambda f: no_parts(f, "_SUCCESS", "a.doc"), "there are none that end in .pa"),
    "empty files": (lambda f: no_parts(f, "a.csv", "b.csv"), "has no edges: all files are without"),
    "some weights": (half_weighted, "part-00000.csv has no weights, but"),
    "negative": (
        lambda f: parts(f, [[(1, 2, 1.0)], [(3, 4, -2.0)], [(1, 5, 1.0)]]),
        "part-00001.csv, line 2: weight -2 is negative (1 such in all)",
    ),
    "no name": (lambda f: parts(f, [[("a", "b")], [("", "b")]]), "line 2: a node without a name"),
    "overflow": (
        lambda f: parts(f, [[(1, 2, 1e308)], [(2, 3, 1e308)]]),
        "A node's degree overflows; divide all weights by the largest.",
    ),
    "other kind": (other_kind, "'.graphml' cannot be shared between ranks; what can are graph fo"),
    "missing": (lambda f: f / "nothing", "does not exist; check the name"),
    "without manifest": (without_manifest, "has no manifest.json: it is not a graph folder"),
    "names": (bad_names, "names.json has 1 names for 30 nodes. Write the folder again."),
    "rows": (short_rows, "it must rise from 0 to the number of entries"),
    "one way": (one_way, "The weights of the CSR are not symmetric"),
    "out of range": (
        lambda f: graph(f / "g", indices=ring().indices + 1),
        "entries of the CSR are out of range, repeated, or not in ascending order",
    ),
    "zeros": (folder_with(np.zeros(60)), "60 entries of the CSR are zero; leave them out."),
    "not finite": (folder_with(ONES * np.nan), "60 entries of the CSR are negative or not finite"),
    "last bit": (
        folder_with(np.where(np.arange(60) == 7, np.nextafter(1, 2), 1.0)),
        "The weights of the CSR are not symmetric",
    ),
    "way": (lambda f: parts(f, [[(1, 2)]]), "symmetrise='least' is unknown; choose from mean"),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    place = tmp_path_factory.mktemp("bad")
    jobs = []
    for number, (case, (make, _)) in enumerate(BAD.items()):
        options = {"symmetrise": "least"} if case == "way" else {}
        jobs.append((case, str(make(place / str(number))), options))
    listed = place / "jobs.json"
    listed.write_text(json.dumps(jobs), encoding="utf-8")
    done = {n: run(n, HERE / "read_cases.py", listed, timeout=200) for n in (1, 3)}
    return {n: dict(map(json.loads, out.stdout.splitlines())) for n, out in done.items()}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("n", [1, 3])
def test_every_rank_says_what_is_wrong(results, n, case):
    for rank in results[n][case]:
        assert BAD[case][1] in rank.get("error", "no error")


def test_a_conflict_names_the_nodes(results):
    i, j = drawn(3221, 20, 60)[7]
    for rank in results[3]["conflict"]:
        assert f"n{i} - n{j}: 2 there, 5 back" in rank["error"] or (
            f"n{j} - n{i}: 5 there, 2 back" in rank["error"]
        )


ELSEWHERE = """
import sys
from pathlib import Path
from robustgc.mpi.reading import read_share
from robustgc.mpi.world import world
comm = world()
try:
    read_share(Path(sys.argv[1 + (comm.rank == 2)]), comm)
except ValueError as error:
    sys.stdout.write(f"{error}\\n")
"""


@pytest.mark.parametrize("what", ["parts", "manifest", "nothing"])
def test_ranks_that_see_different_files(tmp_path, what):
    one, two = tmp_path / "one", tmp_path / "two"
    if what == "manifest":
        graph(one)
        shutil.copytree(one, two)
        text = (two / "manifest.json").read_text()
        (two / "manifest.json").write_text(text.replace("30", "31"))
    else:
        parts(one, [[(1, 2)], [(2, 3)]])
        if what == "parts":
            shutil.copytree(one, two)
            write(two / "parts" / "part-00001.csv", [(2, 34)])
    lines = run(3, ELSEWHERE, one, two).stdout.splitlines()
    assert len(lines) == 3
    assert all("is not the same on rank 2 as on rank 0: rank 0 has" in line for line in lines)
    assert all("on a file system that all machines share" in line for line in lines)
    assert ("rank 2 nothing that can be read" in lines[0]) == (what == "nothing")


CHANGED = """
import os, sys
from pathlib import Path
from robustgc.mpi import files, reading
from robustgc.mpi.reading import read_share
from robustgc.mpi.world import world
comm, path = world(), Path(sys.argv[1])
file = path / sys.argv[2]

def changing(read):
    def then(*args):
        if comm.rank == 0:
            os.truncate(file, file.stat().st_size - int(sys.argv[3]))
            os.utime(file, ns=(7, 7))
        return read(*args)
    return then

files.own_rows = changing(files.own_rows)
reading.FilePart.read = changing(reading.FilePart.read)
try:
    read_share(path, comm)
except ValueError as error:
    sys.stdout.write(f"{error}\\n")
"""


@pytest.mark.parametrize(
    ("file", "by"), [("part-00000.csv", 0), ("part-00000.csv", 150), ("indices.npy", 150)]
)
def test_a_folder_that_changes_while_it_is_read(tmp_path, file, by):
    if file == "indices.npy":
        path = graph(tmp_path / "g")
    else:
        path = parts(tmp_path, [[(k, k + 1) for k in range(90)], [(1, 5)]])
    lines = run(2, CHANGED, path, file, by).stdout.splitlines()
    assert len(lines) == 2
    assert all(f"changed while it was read (first {file}). Wait until" in line for line in lines)


MEMORY = """
import sys
from pathlib import Path
from robustgc.mpi.reading import read_share
from robustgc.mpi.world import world
try:
    read_share(Path(sys.argv[1]), world())
except MemoryError as error:
    sys.stdout.write(f"{error}\\n")
"""


def test_too_little_memory_is_said_before_reading(tmp_path):
    path = graph(tmp_path / "g")
    text = parts(tmp_path, [[(k, k + 1, 0.5) for k in range(3000)]])
    for where, least in ((path, "100"), (text, "10000")):
        lines = run(2, MEMORY, where, env={"ROBUSTGC_MEMORY": least}).stdout.splitlines()
        assert len(lines) == 2
        assert all("B of memory per rank, and a rank can take" in line for line in lines)
        assert all("Start more ranks on more machines" in line for line in lines)
    assert "(30 nodes, 60 entries)" not in lines[0]

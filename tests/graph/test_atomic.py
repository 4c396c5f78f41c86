"""Files and folders written whole or not at all, also by runs that are killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from robustgc import CSR
from robustgc.graph import atomic
from robustgc.graph.atomic import new_file, new_folder, together


def test_new_outputs_are_taken_back_too(tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/file").touch()
    paths = [tmp_path / name for name in ("a.csv", "folder", "taken")]
    with pytest.raises(OSError, match="stay as before"), together(paths):  # noqa: PT012
        with new_file(paths[0]) as file:
            file.write(b"a")
        with new_folder(paths[1]) as folder:
            (folder / "b").touch()
        with new_file(paths[2]) as file:
            file.write(b"c")
    assert os.listdir(tmp_path) == ["taken"]


# The modules by themselves: all of the package would take seconds to import.
WRITER = """
import sys, time, types
sys.modules["robustgc"] = types.ModuleType("robustgc")
sys.modules["robustgc"].__path__ = [sys.argv[1]]
from pathlib import Path
from robustgc.graph.atomic import new_file, new_folder, together
waits, folder = sys.argv[2] == "waits", Path(sys.argv[3])
if not waits:
    print("ready", flush=True)
while True:
    with together([]):
        for k in range(3):
            with new_file(folder / f"out{k}.csv") as file:
                file.write(b"new" * 10**5)
        with new_folder(folder / "model", check=lambda: None) as partial:
            (partial / "data").write_bytes(b"new" * 10**5)
            if waits:
                print("ready", flush=True)
                time.sleep(60)
"""


def started(kind, folder):
    """Start a process that writes these outputs again and again, or stays in the middle of it."""
    command = [
        sys.executable,
        "-c",
        WRITER,
        str(Path(atomic.__file__).parents[1]),
        kind,
        str(folder),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def write_all(folder):
    """Write the same outputs in this process."""
    with together([]):
        for k in range(3):
            with new_file(folder / f"out{k}.csv") as file:
                file.write(b"mine")
        with new_folder(folder / "model", check=lambda: None) as partial:
            (partial / "data").write_bytes(b"mine")


def test_the_next_run_removes_what_a_killed_one_has_left_and_nothing_else(tmp_path):
    for other in ("out0.csv.bak", ".out9.csv.0123abcd.partial", "model.partial-notes", "model2"):
        (tmp_path / other).touch()
    others = sorted(os.listdir(tmp_path))
    with started("waits", tmp_path) as process:
        left = set(os.listdir(tmp_path)) - set(others)
        assert len(left) == 4
        write_all(tmp_path)  # while the other one is at work
        assert left <= set(os.listdir(tmp_path))
        process.send_signal(signal.SIGKILL)
    assert left <= set(os.listdir(tmp_path))
    write_all(tmp_path)
    outputs = ["model", "out0.csv", "out1.csv", "out2.csv"]
    assert sorted(os.listdir(tmp_path)) == sorted([*others, *outputs])
    assert (tmp_path / "out0.csv").read_bytes() == (tmp_path / "model/data").read_bytes() == b"mine"


def test_runs_that_are_killed_at_any_moment_leave_complete_outputs(tmp_path):
    rng = np.random.default_rng(6011)
    names = ["model", "out0.csv", "out1.csv", "out2.csv"]
    unfinished = 0
    for delay in rng.uniform(0.0, 0.1, 12):
        write_all(tmp_path)
        assert sorted(os.listdir(tmp_path)) == names
        assert (tmp_path / "model/data").read_bytes() == b"mine"
        with started("repeats", tmp_path) as process:
            time.sleep(float(delay))
            process.send_signal(signal.SIGKILL)
        unfinished += sorted(os.listdir(tmp_path)) != names
        for k in range(3):
            assert len((tmp_path / f"out{k}.csv").read_bytes()) in (4, 3 * 10**5)
        atomic.remove_leftovers(tmp_path / "model")  # brings it back if it was put away
        assert len((tmp_path / "model/data").read_bytes()) in (4, 3 * 10**5)
    assert unfinished  # else nothing was tried


def test_an_old_folder_that_a_killed_run_had_put_away_comes_back(tmp_path):
    path = CSR(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], dtype=np.int32))
    path.save(tmp_path / "graph")
    old = atomic.sibling_name(tmp_path / "graph", "old")
    (tmp_path / "graph").rename(old)  # killed between two renames
    atomic.remove_leftovers(tmp_path / "graph")
    assert os.listdir(tmp_path) == ["graph"]
    assert CSR.open(tmp_path / "graph").same(path)


def test_what_other_machines_or_versions_began_stays_for_a_day(tmp_path):
    names = [
        ".out.csv.0123abcd.partial",
        ".out.csv.00000000-0123abcd.partial",
        "out.csv.partial-0123abcd",
        "out.csv.partial-0123abcd.zip",
        "out.csv.old-00000000-0123abcd",
    ]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / "out.csv").touch()
    atomic.remove_leftovers(tmp_path / "out.csv")
    assert sorted(os.listdir(tmp_path)) == sorted([*names, "out.csv"])
    yesterday = time.time() - 90_000
    for name in names:
        os.utime(tmp_path / name, (yesterday, yesterday))
    atomic.remove_leftovers(tmp_path / "out.csv")
    assert os.listdir(tmp_path) == ["out.csv"]


def test_without_locks_only_age_tells(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "fcntl", None)
    with new_file(tmp_path / "out.csv") as file:
        file.write(b"1")
    left = atomic.partial_file_name(tmp_path / "out.csv")
    left.touch()
    with new_file(tmp_path / "out.csv") as file:
        file.write(b"2")
    assert left.exists()
    os.utime(left, (1, 1))
    with new_file(tmp_path / "out.csv") as file:
        file.write(b"3")
    assert os.listdir(tmp_path) == ["out.csv"]
    assert (tmp_path / "out.csv").read_bytes() == b"3"


def test_names_as_long_as_they_may_be(tmp_path):
    name = f"{'é' * 120}.csv"  # 244 bytes
    for content in (b"1", b"2"):
        with new_file(tmp_path / name) as file:
            file.write(content)
    left = atomic.partial_file_name(tmp_path / name)
    left.touch()
    atomic.remove_leftovers(tmp_path / name)
    assert os.listdir(tmp_path) == [name]
    with new_folder(tmp_path / f"{name[:-4]}.new") as folder:
        assert folder.is_dir()
    assert sorted(os.listdir(tmp_path)) == sorted([name, f"{name[:-4]}.new"])


def test_a_link_that_looks_like_a_leftover_is_not_followed(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/file").touch()
    atomic.sibling_name(tmp_path / "out", "partial").symlink_to(tmp_path / "precious")
    atomic.remove_leftovers(tmp_path / "out")
    assert (tmp_path / "precious/file").exists()

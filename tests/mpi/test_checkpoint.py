"""Checkpoints: used where they are whole and of the same question, made anew where not."""

import numpy as np
from ranks import run

from robustgc.mpi.checkpoint import fingerprint

# Every step on both ranks: what is made depends on the rank, so that no rank takes another's.
SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from robustgc.mpi.checkpoint import Checkpoint
from robustgc.mpi.world import world

comm, folder = world(), Path(sys.argv[1])

def made(name, keep):
    calls = []
    def make():
        calls.append(name)
        return {"x": np.arange(5.0) + comm.rank, "empty": np.empty((0, 3), np.float32)}
    found = keep(name, make)
    assert (found["x"] == np.arange(5.0) + comm.rank).all()
    assert found["empty"].shape == (0, 3) and found["empty"].dtype == np.float32
    return bool(calls)

def own(name):
    return folder / f"{name}-{comm.rank:05}.rank.npz"

first = Checkpoint(folder, comm, "one")
assert made("a", first) and made("b", first)
assert first.reused == [] and first.notes == []

second = Checkpoint(folder, comm, "one")
assert not made("a", second) and not made("b", second) and made("c", second)
assert second.reused == ["a", "b"] and second.notes == []

if comm.rank == 1:  # one bit of a value
    content = bytearray(own("a").read_bytes())
    place = content.index((np.arange(5.0) + 1).tobytes())
    content[place + 9] ^= 4
    own("a").write_bytes(content)
    own("b").write_bytes(own("b").read_bytes()[:200])
    own("c").unlink()
comm.Barrier()
third = Checkpoint(folder, comm, "one")
assert made("a", third) and made("b", third) and made("c", third)
assert third.reused == [] and len(third.notes) == 2, third.notes
assert all("damaged" in note and "done again" in note for note in third.notes), third.notes
assert comm.allgather(third.notes) == [third.notes] * comm.size

other = Checkpoint(folder, comm, "two")
assert made("a", other) and other.reused == []
assert len(other.notes) == 1 and "other input, options or ranks" in other.notes[0]

alone = comm.Split(comm.rank)
fewer = Checkpoint(folder, alone, "one")
if comm.rank == 0:
    assert made("b", fewer) and fewer.reused == []
comm.Barrier()

if comm.rank == 0:
    (folder / "note.txt").touch()
    (folder / ".b-00001.rank.npz.0123abcd.partial").touch()
comm.Barrier()
other.clear()
assert [file.name for file in folder.iterdir()] == ["note.txt"]
comm.Barrier()
if comm.rank == 0:
    (folder / "note.txt").unlink()
third.clear()
assert not folder.exists()
comm.Barrier()

blocked = folder.with_name("blocked")
if comm.rank == 0:
    blocked.touch()
comm.Barrier()
beside = Checkpoint(blocked, comm, "one")
assert made("a", beside)
assert len(beside.notes) == 1 and "goes on without" in beside.notes[0], beside.notes
"""


def test_kept_results(tmp_path):
    run(2, SCRIPT, tmp_path / "kept")


def test_the_fingerprint_covers_files_labels_and_options(tmp_path):
    (tmp_path / "graph").mkdir()
    file = tmp_path / "graph" / "part.csv"
    file.write_text("a,b\n")
    nodes = np.array([3, 5])
    asked = [nodes, ["x", "y"], {"eta": 0.9}]
    known = fingerprint(tmp_path / "graph", *asked)
    assert fingerprint(tmp_path / "graph", nodes.copy(), ["x", "y"], {"eta": 0.9}) == known
    others = [
        fingerprint(tmp_path / "graph", nodes + 1, *asked[1:]),
        fingerprint(tmp_path / "graph", nodes, ["x", "z"], {"eta": 0.9}),
        fingerprint(tmp_path / "graph", nodes, ["x", "y"], {"eta": 0.8}),
        fingerprint(file, *asked),
    ]
    file.write_text("a,c\nb,d\n")
    others.append(fingerprint(tmp_path / "graph", *asked))
    assert len({known, *others}) == 6

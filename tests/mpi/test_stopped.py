"""A rank dies in the middle: the others end, what is done stays, and the same command goes on."""

import time

import pytest
from commands import COMMAND, alike, asked, rows, write_blocks
from ranks import run

# Rank 1 dies of its first checkpoint, as if the system had killed it.
DYING = """
import os, signal, time
from pathlib import Path
from robustgc.mpi import checkpoint
from robustgc.cli import main

plain = checkpoint.Checkpoint.__call__

def dying(self, name, make):
    found = plain(self, name, make)
    if self._comm.rank == 1:
        Path(self.folder, "died").write_text(str(time.time()))
        os.kill(os.getpid(), signal.SIGKILL)
    return found

checkpoint.Checkpoint.__call__ = dying
main()
"""
# One rank has an error that the others know nothing of; they wait for it.
ALONE = """
from robustgc.mpi import checkpoint, world
from robustgc.cli import main

def failing(*_):
    raise {error}

if world.world().rank == 1:
    checkpoint.Checkpoint.__init__ = failing
main()
"""


@pytest.fixture
def place(tmp_path):
    write_blocks(tmp_path)
    return tmp_path


def test_a_killed_rank_ends_the_job_and_a_rerun_goes_on(place):
    done = run(2, DYING, *asked(place, place / "parts"), check=False)
    death = place / "parts.checkpoint" / "died"
    assert time.time() - float(death.read_text()) < 30
    death.unlink()
    assert done.returncode != 0
    said = done.stderr + done.stdout  # MPICH tells it there
    assert "signal 9" in said or "KILLED BY SIGNAL: 9" in said
    if "Open MPI" in run(1, "from mpi4py import MPI; print(MPI.Get_library_version())").stdout:
        said = [line for line in done.stderr.splitlines() if line.startswith("robustgc: rank 0")]
        assert len(said) == 1
        assert "told to stop while fitting" in said[0]
        assert "the same command goes on from there" in said[0]
    kept = sorted(file.name for file in (place / "parts.checkpoint").iterdir())
    assert len(kept) == 2
    assert all(name.endswith(".rank.npz") for name in kept)
    again = run(2, COMMAND, *asked(place, place / "parts"))
    name = kept[0].rsplit("-", 1)[0]
    assert f"taken over from {place / 'parts.checkpoint'}: {name}" in again.stderr
    assert not (place / "parts.checkpoint").exists()
    undisturbed = run(2, COMMAND, *asked(place, place / "others"))
    assert "taken over" not in undisturbed.stderr
    files = [sorted((place / name).glob("part-*")) for name in ("parts", "others")]
    alike(rows(*files[0]), rows(*files[1]))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("KeyError('lost')", "robustgc: rank 1: KeyError: 'lost'"),
        ("ValueError('no good')", "robustgc: rank 1: no good"),
    ],
)
def test_an_error_of_one_rank_alone_stops_all(place, error, said):
    done = run(2, ALONE.format(error=error), *asked(place, place / "parts"), check=False)
    assert done.returncode != 0
    assert done.stderr.count(said) == 1
    assert ("Traceback" in done.stderr) == ("KeyError" in said)


def test_a_checkpoint_of_other_labels_is_not_used(place):
    run(2, DYING, *asked(place, place / "parts"), check=False)
    (place / "parts.checkpoint" / "died").unlink()
    with (place / "labels.csv").open("a") as file:
        file.write("8,b\n")
    done = run(2, COMMAND, *asked(place, place / "parts"))
    assert "is of other input, options or ranks: it is not used" in done.stderr
    assert "taken over" not in done.stderr
    assert not (place / "parts.checkpoint").exists()

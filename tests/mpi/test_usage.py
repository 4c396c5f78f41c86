"""The commands on ranks: what does not go together, and what is said."""

import json
import subprocess
import sys

import pytest
from commands import COMMAND, asked, write_files
from ranks import environment, run


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("karate")
    write_files(folder)
    return folder


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--report", "page.html"], "--report does not go with --engine mpi"),
        (["--save", "model"], "--save does not go with --engine mpi: a model holds the whole"),
        (["--eta", "2"], "--eta 2 is not strictly between 0 and 1"),
    ],
)
def test_options_that_do_not_go_together(place, more, said):
    done = alone(*asked(place, place / "out", *more))
    assert done.returncode == 2
    assert done.stderr.count(said) == 1


def test_several_ranks_say_it_once(place):
    words = asked(place, place / "out", "--symmetrise", "min")
    done = run(2, COMMAND, *words, check=False)
    assert done.returncode == 2
    assert done.stderr.count("--symmetrise min is unknown") == 1


def test_points_and_a_missing_output(place):
    words = ["classify", "--labels", place / "labels.csv", "--engine", "mpi"]
    done = alone(*words, "--points", place / "edges.csv", "-o", place / "out")
    assert (done.returncode, "--points does not go with --engine mpi" in done.stderr) == (2, True)
    done = alone(*words, place / "edges.csv")
    assert (done.returncode, "--engine mpi needs -o: a folder" in done.stderr) == (2, True)


def test_bad_input_is_told_once_with_the_exit_code(place):
    words = asked(place, place / "out")
    words[3] = place / "label.csv"
    done = run(3, COMMAND, *words, check=False)
    assert done.returncode == 1
    assert done.stderr.count("does not exist; check the name (is it labels.csv?)") == 1
    (place / "taken").mkdir(exist_ok=True)
    (place / "taken" / "thesis.txt").touch()
    done = run(2, COMMAND, *asked(place, place / "taken"), check=False)
    assert done.returncode == 1
    assert done.stderr.count("thesis.txt, which is no part of earlier answers") == 1
    assert "Traceback" not in done.stderr


def test_what_is_read_is_not_written(place):
    done = alone(*asked(place, place / "edges.csv", "--merge"))
    assert done.returncode == 1
    assert "is an input, so it is not overwritten" in done.stderr


def test_without_mpiexec_there_is_one_rank_and_it_says_so(place):
    done = alone(*asked(place, place / "single"))
    assert done.returncode == 0
    assert "engine mpi: one rank, since this was not started by mpiexec" in done.stderr
    assert json.loads((place / "single" / "manifest.json").read_text())["ranks"] == 1


def test_ranks_that_do_not_know_of_each_other_are_refused(place):
    variables = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"}
    done = alone(*asked(place, place / "out"), env=variables)
    assert done.returncode == 1
    assert "mpiexec has started 4 ranks, but mpi4py knows of 1" in done.stderr
    done = alone(*asked(place, place / "out"), env={**variables, "OMPI_COMM_WORLD_RANK": "2"})
    assert (done.returncode, done.stderr) == (1, "")


def test_info_shows_every_rank(place):
    done = run(3, COMMAND, "info", place / "edges.csv", "--engine", "mpi", "--json")
    found = json.loads(done.stdout)
    assert (found["ranks"], found["machines"], found["nodes"]) == (3, 1, 36)
    each = found["per_rank"]
    assert [row["rank"] for row in each] == [0, 1, 2]
    assert sum(row["rows"] for row in each) == 36
    assert sum(row["entries"] for row in each) == found["entries"] == 2 * 79
    assert all(row["available"] > found["estimated_peak"] > row["share"] > 0 for row in each)
    table = alone("info", place / "edges.csv", "--engine", "mpi").stdout.splitlines()
    assert table[0].split() == ["ranks", "1"]
    assert table[-2].split()[:4] == ["rank", "machine", "rows", "entries"]
    assert table[-1].split()[0] == "0"


def alone(*words, env=None):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", COMMAND, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env=environment(env),
    )

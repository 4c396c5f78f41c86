"""The times that a command prints add up to the time that it took."""

import json
import re
import subprocess
import sys
import time

import networkx as nx
import pytest

from robustgc.cli.shared import Times, in_words

PHASES = ["starting", "reading", "fit", "judging", "writing"]
MAIN = [sys.executable, "-c", "from robustgc.cli import main; main()"]


@pytest.fixture(scope="module")
def karate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("karate")
    club = nx.karate_club_graph()
    edges = "".join(f"m{u},m{v}\n" for u, v in club.edges)
    (folder / "edges.csv").write_text(f"source,target\n{edges}")
    clubs = "".join(f"m{node},{club.nodes[node]['club']}\n" for node in (0, 1, 2, 31, 32, 33))
    (folder / "labels.csv").write_text(f"node,label\n{clubs}")
    return folder


def test_the_phases_add_up_to_the_time_of_the_process(karate):
    command = ["classify", "edges.csv", "--labels", "labels.csv", "-o", "out.csv", "--json",
               "--report", "page.html", "--save", "model"]  # fmt: skip
    start = time.perf_counter()
    done = subprocess.run([*MAIN, *command], cwd=karate, capture_output=True, text=True, check=True)
    wall = time.perf_counter() - start
    seconds = json.loads(done.stdout)["seconds"]
    assert list(seconds) == PHASES
    assert sum(seconds.values()) <= wall
    assert sum(seconds.values()) >= 0.85 * wall - 0.5  # 5 % and 0.1 s where nothing else runs
    told = re.search(r"Starting .* s\.$", done.stderr, flags=re.MULTILINE)[0]
    assert told == in_words(seconds)
    for phase in ("reading", "fit", "judging labels", "writing"):
        assert f", {phase} " in told


def test_phases_leave_no_gap():
    first, second = Times(), Times()
    Times().lap("before")
    start = time.perf_counter()
    first.lap("one")
    time.sleep(0.02)
    first.lap("two")
    time.sleep(0.01)
    second.lap("one")  # of the next command in the same process
    spent = time.perf_counter() - start
    assert first["two"] >= 0.02
    assert second["one"] >= 0.01
    total = sum(first.values()) + sum(second.values())
    assert total == pytest.approx(spent, abs=0.003)
    assert in_words({"reading": 0.25, "fit": 1.0}) == "Reading 0.2 s, fit 1.0 s."

"""Graphs in files, and the commands on them."""

import csv

import networkx as nx
import numpy as np

COMMAND = "from robustgc.cli import main; main()"
LABELS = [("m0", "Hi"), ("m33", "Officer"), ("m1", "Hi"), ("m32", "Officer"), ("m5", "Officer")]


def write_files(folder, labels=LABELS):
    """Write the karate club with a pair that has no label, and labels of which one is wrong."""
    edges = [(f"m{u}", f"m{v}") for u, v in nx.karate_club_graph().edges]
    _write(folder / "edges.csv", [("source", "target"), *edges, ("x91", "x92")])
    _write(folder / "labels.csv", [("node", "label"), *labels])
    return folder / "edges.csv", folder / "labels.csv"


def write_blocks(folder):
    """Write two blocks of 1000 nodes: so many that all ranks answer together, and keep modes."""
    rng = np.random.default_rng(3121)
    ends = rng.integers(0, 2000, (30000, 2))
    alike = (ends[:, 0] < 1000) == (ends[:, 1] < 1000)
    ends = np.unique(np.sort(ends[(alike | (rng.random(30000) < 0.2))]), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    _write(folder / "edges.csv", [("source", "target"), *ends.tolist()])
    labels = [(k, "ab"[k >= 1000]) for k in range(0, 2000, 50)]
    _write(folder / "labels.csv", [("node", "label"), *labels, (7, "b")])


def asked(folder, output, *more):
    """Return the words of a command on these files."""
    words = ["classify", folder / "edges.csv", "--labels", folder / "labels.csv"]
    return [*words, "-o", output, "--engine", "mpi", *more]


def rows(*files):
    """Return the rows of tables by node."""
    found = {}
    for file in files:
        with file.open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                assert found.setdefault(row["node"], row) is row
    return found


def alike(one, other):
    """Assert that two tables say the same, numbers up to rounding."""
    assert one.keys() == other.keys()
    for node, row in one.items():
        assert row.keys() == other[node].keys()
        for name, value in row.items():
            said = other[node][name]
            assert said == value or abs(float(said) - float(value)) < 1e-6, (node, name)


def _write(path, lines):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)

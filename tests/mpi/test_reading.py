"""Graphs in parts: the same on 1, 2 and 3 ranks as on one machine."""

import json

import numpy as np
import pytest
from edge_cases import GOOD, write
from ranks import HERE, run

from robustgc.graph.csr import CSR
from robustgc.io.graph_files import read_graph, write_graph
from robustgc.io.named import NamedGraph

RANKS = (1, 2, 3)


def graph_folder(name):
    """A function that writes a graph folder; its nodes have names or numbers."""

    def make(folder):
        folder.mkdir()
        write(folder / "whole.csv", [(k, (7 * k + 1) % 61, 0.25 * (k % 3)) for k in range(61)])
        graph = read_graph(folder / "whole.csv", symmetrise="sum")
        names = graph.names if name is None else np.array([name(k) for k in graph.names], object)
        weights = None if name is str else graph.W.data  # one of them without weights
        W = CSR(graph.W.indptr, graph.W.indices, weights)
        write_graph(NamedGraph(W, names), folder / "graph")
        return folder / "graph"

    return make


FOLDERS = {"graph folder": graph_folder(None), "graph folder with names": graph_folder(str)}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What every number of ranks found, and what one machine finds, by case."""
    place = tmp_path_factory.mktemp("graphs")
    jobs, expected = [], {}
    for number, (case, (make, options)) in enumerate(GOOD.items()):
        jobs.append((case, str(make(place / str(number))), options))
        way = options.get("symmetrise")
        expected[case] = read_graph(place / str(number) / "whole.csv", symmetrise=way)
    for case, make in FOLDERS.items():
        path = make(place / case)
        jobs.append((case, str(path), {}))
        expected[case] = read_graph(path)
    listed = place / "jobs.json"
    listed.write_text(json.dumps(jobs), encoding="utf-8")
    found = {n: dict(map(json.loads, _lines(n, listed))) for n in RANKS}
    return found, expected


def _lines(n, listed):
    return run(n, HERE / "read_cases.py", listed, timeout=300).stdout.splitlines()


def by_name(graph):
    W = graph.W.to_scipy().tocoo()
    names = [str(name) for name in graph.names]
    return {(names[i], names[j]): w for i, j, w in zip(W.row, W.col, W.data, strict=True)}


@pytest.mark.parametrize("case", [*GOOD, *FOLDERS])
@pytest.mark.parametrize("n", RANKS)
def test_as_on_one_machine(results, n, case):
    ranks, graph = results[0][n][case], results[1][case]
    assert not any("error" in rank for rank in ranks), ranks[0]
    entries = [entry for rank in ranks for entry in rank["entries"]]
    found = {(str(i), str(j)): w for i, j, w in entries}
    want = by_name(graph)
    assert len(found) == len(entries) == len(want)
    assert found.keys() == want.keys()
    assert all(w == pytest.approx(want[pair], rel=1e-12) for pair, w in found.items())
    assert all(found[j, i] == w for (i, j), w in found.items())  # to the last bit
    names = [name for rank in ranks for name in rank["names"]]
    assert len(names) == len(graph.names)
    assert set(map(str, names)) == set(map(str, graph.names))
    assert len({type(name) for name in names}) == 1
    first = np.cumsum([0] + [rank["rows"] for rank in ranks])
    assert [rank["first"] for rank in ranks] == first[:-1].tolist()
    assert {rank["n"] for rank in ranks} == {int(first[-1])}
    assert {rank["unit"] for rank in ranks} == {graph.W.data is None}
    assert all(rank["notes"] == ranks[0]["notes"] for rank in ranks)
    assert set(graph.notes) <= set(ranks[0]["notes"])


@pytest.mark.parametrize("case", [*GOOD, *FOLDERS])
def test_own_names_are_sorted(results, case):
    for rank in results[0][3][case]:
        names = rank["names"]
        assert case in FOLDERS or names == sorted(names)


@pytest.mark.parametrize("case", ["uneven", "weighted parquet", "graph folder"])
def test_no_rank_has_more_than_its_share(results, case):
    found = results[0]
    whole = found[1][case][0]["nbytes"]
    for n in (2, 3):
        sizes = [rank["nbytes"] for rank in found[n][case]]
        assert max(sizes) < 1.3 * whole / n
        assert sum(sizes) < 1.1 * whole


def test_every_edge_is_read_by_one_rank(results):
    found, expected = results
    edges = expected["one parquet file of many groups"].n_edges
    counts = [sum(rank["read"]) for rank in found[3]["one parquet file of many groups"]]
    assert sum(counts) == edges
    assert max(counts) <= edges / 3 + 7  # 7 rows in a group
    for n in (2, 3):
        files = [rank["read"] for rank in found[n]["uneven"]]
        assert sum(map(sum, files)) == expected["uneven"].n_edges
        assert [len(some) for some in files] == [6 // n] * n
    assert [len(rank["read"]) for rank in found[3]["one text file"]] == [1, 0, 0]
    assert not any(rank["read"] for rank in found[3]["graph folder"])


def test_a_rank_without_rows(results):
    rows = [rank["rows"] for rank in results[0][3]["two nodes"]]
    assert sum(rows) == 2
    assert 0 in rows


def test_notes_say_which_files_were_not_read_side_by_side(results):
    found = results[0][3]
    assert "1 file without rows" in found["uneven"][0]["notes"]
    alone = "the edges are in one part, and rank 0 read it for all 3; write more part files"
    assert alone in found["one text file"][0]["notes"]
    assert alone in found["one parquet file of one group"][0]["notes"]
    assert not found["one parquet file of many groups"][0]["notes"]
    assert not found["nested, text, several kinds"][0]["notes"]

"""Matrices with names on one side only, and squares that may be edges."""

import networkx as nx
import pytest

from robustgc.io.graph_files import read_graph
from robustgc.io.opening import InputError

KARATE = nx.to_numpy_array(nx.karate_club_graph(), weight=None).astype(int).tolist()


def read(tmp_path, rows, **options):
    path = tmp_path / "g.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return read_graph(path, **options)


@pytest.mark.parametrize("start", [0, 1])
def test_a_header_of_numbers(tmp_path, start):
    numbers = list(range(start, start + 34))
    graph = read(tmp_path, [numbers, *KARATE])
    assert (graph.names.tolist(), graph.n_edges) == (numbers, 78)
    assert "read as an adjacency matrix of 34 nodes" in graph.notes[0]


def test_names_of_rows_only(tmp_path):
    graph = read(tmp_path, [(f"m{k}", *row) for k, row in enumerate(KARATE)])
    assert (graph.names.tolist(), graph.n_edges) == ([f"m{k}" for k in range(34)], 78)
    assert "read as an adjacency matrix of 34 nodes" in graph.notes[0]


def test_three_rows_of_three_are_asked_about(tmp_path):
    rows = [(0, 1, 0), (0, 0, 1), (1, 0, 0)]
    with pytest.raises(InputError, match=r"may be an adjacency matrix or three edges .* --source"):
        read(tmp_path, rows)
    assert len(read(tmp_path, rows, source="column 1", target="column 2").names) == 2
    assert read(tmp_path, [(0, 1, 0), (1, 0, 1), (0, 1, 0)]).n_edges == 2  # symmetric


def test_an_empty_triangle_is_named_with_its_cure(tmp_path):
    names = [f"m{k}" for k in range(34)]
    lower = [[names[k], *row[:k], *[""] * (34 - k)] for k, row in enumerate(KARATE)]
    with pytest.raises(InputError, match=r"one triangle of the matrix is empty.* --symmetrise max"):
        read(tmp_path, [["", *names], *lower])
    assert read(tmp_path, [["", *names], *lower], symmetrise="max").n_edges == 78

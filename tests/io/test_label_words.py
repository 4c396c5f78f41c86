"""Classes that may be one, or none: they are named with their counts."""

import networkx as nx
import pytest

from robustgc import classify

CELLS = ["red", "blue"] * 3


def notes(cells, **options):
    labels = dict(enumerate([*CELLS, *cells]))
    return "\n".join(classify(nx.cycle_graph(len(labels)), labels, **options).notes)


ALIKE = {
    "a point": (["1", "1.0", "1"], "'1' (2) and '1.0' (1) differ only in how a number is written"),
    "a zero": (["2", "02"], "'2' (1) and '02' (1) differ only in how a number"),
    "no width": (["re\u200bd"], "'red' (3) and 're\\u200bd' (1) differ only in invisible"),
    "a mark": (["\ufeffred"], "'red' (3) and '\\ufeffred' (1) differ only in invisible"),
    "accents": (["caf\u00e9", "cafe\u0301"], "'caf\\xe9' (1) and 'cafe\\u0301' (1) differ only in"),
}


@pytest.mark.parametrize("case", ALIKE)
def test_classes_that_look_the_same(case):
    cells, said = ALIKE[case]
    assert said in notes(cells)


def test_numbers_that_differ_are_not_alike():
    assert "differ only" not in notes(["1", "10", "100", "0", "1.5", "-1.0", "20"])


def test_a_marker_that_no_cell_has():
    said = notes(["TODO", "TODO"], unlabelled="todo")
    assert "--unlabelled 'todo' matches no cell, but 'TODO' (2) is a class: case counts" in said
    assert "--unlabelled 'zzz' matches no cell" in notes([], unlabelled=["zzz"])
    assert "matches no cell" not in notes(["TODO"], unlabelled="TODO")


def test_words_that_often_mean_none():
    said = notes(["unknown", "Unknown", "unknown", "#NV", "?"])
    assert "'unknown' (2), 'Unknown' (1), '#NV' (1) are read as classes" in said
    assert "--unlabelled unknown --unlabelled Unknown --unlabelled '#NV' --unlabelled '?'" in said
    assert "'na' (1) is read as a class" in notes(["na"])
    assert "read as" not in notes(["unknown"], unlabelled="")


def test_lists_are_read_like_tables():
    result = classify(nx.cycle_graph(8), [*CELLS, "none", None])
    assert any("'none' (1) is read as a class" in note for note in result.notes)

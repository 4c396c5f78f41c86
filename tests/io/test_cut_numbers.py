"""Weights with a decimal comma in a file with commas between its fields."""

import pytest

from robustgc.io.errors import InputError
from robustgc.io.graph_files import read_graph

ROWS = "a,b,0,5\nb,c,0,75\nc,a,1,0\n"


def edges(folder, text):
    path = folder / "edges.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_weight_cut_at_its_comma_is_not_dropped(tmp_path):
    with pytest.raises(
        InputError, match=r"edges\.csv, line 1: '0,5' may be a weight with a decimal"
    ):
        read_graph(edges(tmp_path, ROWS))


def test_the_cures(tmp_path):
    in_quotes = edges(tmp_path, 'a,b,"0,5"\nb,c,"0,75"\nc,a,"1,0"\n')
    assert sorted(read_graph(in_quotes).W.data) == [0.5, 0.5, 0.75, 0.75, 1, 1]
    path = edges(tmp_path, ROWS)
    assert read_graph(path, source="column 1", target="column 2").n_edges == 3
    assert read_graph(path, weight="column 4").W.data.max() == 75
    assert read_graph(edges(tmp_path, f"source,target,day,hour\n{ROWS}")).n_edges == 3


def test_times_and_words_are_columns_of_their_own(tmp_path):
    times = "a,b,1,1082040961\nb,c,2,1082155839\n"
    assert read_graph(edges(tmp_path, times)).n_edges == 2
    assert read_graph(edges(tmp_path, "a,b,1,x\nb,c,2,y\n")).n_edges == 2

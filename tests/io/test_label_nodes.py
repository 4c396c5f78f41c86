"""Nodes of a table that miss those of the graph by how Unicode is stored, or by one."""

import unicodedata

import networkx as nx
import pytest

from robustgc import classify
from robustgc.io.errors import InputError

NAMES = ["Jörg", "Zoë", "René", "Åse", "Bob", "Udo"]
SIDES = ["x", "y"] * 3


def test_accents_that_are_stored_in_two_ways():
    table = {unicodedata.normalize("NFD", n): s for n, s in zip(NAMES, SIDES, strict=True)}
    message = r"2 of 6 match; 6 of 6 do once accents are stored the same way .*'Jo\\u0308rg' is 'J"
    with pytest.raises(InputError, match=message):
        classify(nx.cycle_graph(NAMES), table)


def test_invisible_characters():
    table = dict(zip(["\ufeffJörg", "Zo\u200bë", *NAMES[2:]], SIDES, strict=True))
    with pytest.raises(InputError, match=r"4 of 6 match; 6 of 6 do once invisible characters"):
        classify(nx.cycle_graph(NAMES), table)


def test_a_table_that_counts_from_1():
    with pytest.raises(InputError, match=r"5 of 6 match; 6 of 6 do if the table counts from 1 and"):
        classify(nx.cycle_graph(6), {k + 1: side for k, side in enumerate(SIDES)})


def test_a_graph_that_counts_from_1():
    graph = nx.cycle_graph(range(1, 7))
    with pytest.raises(InputError, match="counts from 0 and the graph from 1: add 1 to the nodes"):
        classify(graph, dict(enumerate(SIDES)))


def test_another_number_is_just_unknown():
    with pytest.raises(InputError, match=r"2 labelled nodes are not in the graph, first 9\. Check"):
        classify(nx.cycle_graph(6), {0: "x", 9: "y"})


def test_numbers_have_no_near_names():
    with pytest.raises(InputError, match=r"first 24\. "):
        classify(nx.to_scipy_sparse_array(nx.cycle_graph(24)), {0: "x", 24: "y"})

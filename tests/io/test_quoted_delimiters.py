"""Tables whose fields hold other delimiters: double quotes and the first row tell them apart."""

import csv
import io

import networkx as nx
import pytest

from named_edges import edges_of
from robustgc.io.dialect import Dialect
from robustgc.io.graph_files import read_graph

KARATE = list(nx.karate_club_graph().edges)


def named(pattern):
    return [(pattern.format(u), pattern.format(v)) for u, v in KARATE]


def read(tmp_path, text, **options):
    path = tmp_path / "g.csv"
    path.write_text(text, encoding="utf-8")
    return read_graph(path, **options)


@pytest.mark.parametrize("header", [[], [("source", "target")], [("Von", "Nach")]])
@pytest.mark.parametrize(("inside", "mark"), [(";", ","), (",", ";"), ("|", ","), (" ", ",")])
@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
def test_delimiters_in_double_quotes_are_text(tmp_path, header, inside, mark, quoting):
    if quoting == csv.QUOTE_MINIMAL and inside in ";|":
        inside += mark  # such that there are quotes
    edges = named(f"n{{}}{inside} x")
    text = io.StringIO()
    csv.writer(text, delimiter=mark, quoting=quoting).writerows(header + edges)
    assert set(edges_of(read(tmp_path, text.getvalue()))) == set(map(frozenset, edges))


def test_the_first_row_is_cut_as_the_others(tmp_path):
    edges = named("n{};x")
    text = "source,target\n" + "".join(f"{u},{v}\n" for u, v in edges)
    graph = read(tmp_path, text)
    assert set(edges_of(graph)) == set(map(frozenset, edges))
    assert graph.notes == ()


def test_two_delimiters_that_do_as_well_are_said(tmp_path):
    text = "".join(f"{u},{v}\n" for u, v in named("n{};x"))
    note = "fields are cut at ';', though ',' would do as well (--delimiter ',' cuts them there)"
    assert note in read(tmp_path, text, source="column 1", target="column 3").notes
    graph = read(tmp_path, text, dialect=Dialect(delimiter=","))
    assert (len(graph.names), graph.notes) == (34, ())

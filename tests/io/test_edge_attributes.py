"""Edge attributes: the usual ones are weights, others are named, none is taken in silence."""

import json

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from robustgc.api import classify
from robustgc.io.errors import InputError
from robustgc.io.graph_files import read_graph
from robustgc.io.objects import named_graph

PAIRS = [("a", "b"), ("b", "c"), ("c", "d")]


def graph_with(**attributes):
    graph = nx.Graph()
    for k, pair in enumerate(PAIRS):
        graph.add_edge(*pair, **{name: values[k] for name, values in attributes.items()})
    return graph


def total(found):
    return float(sp.triu(found.W.to_scipy()).sum())


def dense(found):
    return found.W.to_scipy().toarray()


@pytest.mark.parametrize("name", ["value", "Value", "Weight", "w", "W", "count", "strength"])
def test_a_usual_name_is_used_and_told(name):
    found = named_graph(graph_with(**{name: [2, 3.5, 4]}))
    assert total(found) == 9.5
    assert found.notes == (f"weights are the edge attribute '{name}'",)


def test_weight_is_used_without_a_word():
    found = named_graph(graph_with(weight=[2, 3, 4], kind=["x", "y", "z"]))
    assert (total(found), found.notes) == (9.0, ())


@pytest.mark.parametrize(
    "values", [[1, -2, 3], [1, None, 3], [1, "x", 3], [1, float("nan"), 3], [True, True, False]]
)
def test_a_usual_name_without_weights_is_not_used(values):
    found = named_graph(graph_with(value=values))
    assert total(found) == 3.0
    assert not any("weights are" in note for note in found.notes)


def test_other_numbers_are_named():
    found = named_graph(graph_with(since=[1, 2, 3], distance=[0.1, 1, 2], kind=["x", "y", "z"]))
    assert total(found) == 3.0
    note = "edge attributes not used: 'since', 'distance'; --weight NAME uses one"
    assert found.notes == (f"{note} (weight= in Python)",)


def test_of_several_usual_names_the_rest_is_named():
    found = named_graph(graph_with(count=[7, 7, 7], value=[1, 2, 3]))
    assert total(found) == 6.0
    assert found.notes[0] == "weights are the edge attribute 'value'"
    assert "not used: 'count'" in found.notes[1]


def test_a_weight_that_was_named_is_used_in_silence():
    found = named_graph(graph_with(weight=[1, 1, 1], since=[1, 2, 3]), weight="since")
    assert (total(found), found.notes) == (6.0, ())


def test_a_weight_that_no_edge_has_is_refused():
    with pytest.raises(InputError, match=r"no edge has the attribute 'cost'; edges have 'since'"):
        named_graph(graph_with(since=[1, 2, 3]), weight="cost")
    with pytest.raises(InputError, match="no attributes at all"):
        classify(nx.path_graph(4), {0: "x", 3: "y"}, weight="cost")


def test_a_matrix_has_no_attributes_to_name(tmp_path):
    W = nx.to_scipy_sparse_array(nx.path_graph(4))
    sp.save_npz(tmp_path / "g.npz", W)
    with pytest.raises(InputError, match="a matrix has its weights"):
        named_graph(W, weight="w")
    with pytest.raises(InputError, match=r"g\.npz: a matrix has its weights"):
        read_graph(tmp_path / "g.npz", weight="w")


def test_columns_of_what_is_no_table_are_refused(tmp_path):
    nx.write_gexf(nx.path_graph(4), tmp_path / "g.gexf")
    with pytest.raises(InputError, match=r"g\.gexf: --source and --target name columns"):
        read_graph(tmp_path / "g.gexf", source="a")


def test_edges_without_the_weight_are_counted():
    graph = graph_with(weight=[5, 5, 5])
    del graph.edges["b", "c"]["weight"]
    found = named_graph(graph)
    assert total(found) == 11.0
    assert found.notes == ("1 of 3 edges have no attribute 'weight' and count with weight 1",)


def test_igraph_has_the_same_rule():
    graph = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (2, 3)], edge_attrs={"value": [2, 3, 4]})
    assert total(named_graph(graph)) == 9.0
    assert "'value'" in named_graph(graph).notes[0]
    with pytest.raises(InputError, match="edges have 'value'"):
        named_graph(graph, weight="cost")


@pytest.mark.parametrize("ending", [".graphml", ".gml", ".gexf", ".json", ".edgelist"])
def test_files_have_the_same_rule(tmp_path, ending):
    graph, path = graph_with(value=[2, 3, 4], since=[1999, 2000, 2001]), tmp_path / f"g{ending}"
    if ending == ".json":
        path.write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    else:
        getattr(nx, f"write_{ending[1:]}")(graph, path)
    found = read_graph(path)
    assert total(found) == 9.0
    assert "weights are the edge attribute 'value'" in found.notes
    assert any("not used: 'since'" in note for note in found.notes)
    assert total(read_graph(path, weight="since")) == 6000.0
    with pytest.raises(InputError, match=r"g.* no edge has the attribute 'cost'"):
        read_graph(path, weight="cost")


def d3(nodes, links):
    return json.dumps({"nodes": nodes, "links": links})


def links(*pairs):
    return [{"source": u, "target": v, "value": 2 + k} for k, (u, v) in enumerate(pairs)]


def test_d3_links_by_place(tmp_path):
    """As in the pages of early D3: names without ids, links by place."""
    path = tmp_path / "miserables.json"
    nodes = [{"name": name, "group": k} for k, name in enumerate(["Myriel", "Napoleon", "Cosette"])]
    path.write_text(d3(nodes, links((1, 0), (2, 0))))
    found = read_graph(path)
    assert found.names.tolist() == ["Myriel", "Napoleon", "Cosette"]
    assert dense(found)[0].tolist() == [0.0, 2.0, 3.0]
    assert any("called by their `name`" in note for note in found.notes)
    assert any("by their place in the list: 0 is 'Myriel'" in note for note in found.notes)
    assert list(found.attributes["group"]) == [0, 1, 2]


def test_d3_links_by_place_with_ids_of_text(tmp_path):
    path = tmp_path / "g.json"
    path.write_text(d3([{"id": "x"}, {"id": "y"}, {"id": "z"}], links((0, 1), (1, 2))))
    found = read_graph(path)
    assert dense(found)[1].tolist() == [2.0, 0.0, 3.0]
    assert any("0 is 'x'" in note for note in found.notes)


@pytest.mark.parametrize("text", [False, True])
def test_json_names_are_compared_as_text(tmp_path, text):
    path = tmp_path / "g.json"
    ids = ["2", "0", "1"] if text else [2, 0, 1]
    ends = [(0, 1), (1, 2)] if text else [("0", "1"), ("1", "2")]
    path.write_text(d3([{"id": name} for name in ids], links(*ends)))
    found = read_graph(path)
    assert found.names.tolist() == ids
    assert np.allclose(dense(found)[2], [3.0, 2.0, 0.0])
    assert not any("place" in note for note in found.notes)


@pytest.mark.parametrize(
    ("nodes", "ends", "text"),
    [
        ([{"id": "x"}, {"id": "y"}], (0, 2), "unknown node"),
        ([{"id": "x"}, {"id": "y"}], (-1, 0), "unknown node"),
        ([{"id": 5}, {"id": 6}], (0, 1), "unknown node"),
        ([{"name": "x"}, {"name": "x"}], (0, 1), "the name of another"),
        ([{"name": "x"}, {"title": "y"}], (0, 1), "every node needs an `id`"),
    ],
)
def test_json_links_that_fit_no_way_are_refused(tmp_path, nodes, ends, text):
    path = tmp_path / "g.json"
    path.write_text(d3(nodes, links(ends)))
    with pytest.raises(InputError, match=text):
        read_graph(path)

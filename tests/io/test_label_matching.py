"""Labels whose nodes are not in the graph: the cause is looked for, and said with numbers."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from robustgc import classify
from robustgc.cli.app import app
from robustgc.io.errors import InputError

HALVES = ["x", "y"]


def ring(names):
    return nx.cycle_graph(list(names))


def text(nodes, header="node,label"):
    rows = (f"{node},{HALVES[k % 2]}\n" for k, node in enumerate(nodes))
    return f"{header}\n" + "".join(rows)


def cycle(pattern, many=12):
    return [pattern.format(k) for k in range(many)]


# The graph's names, the nodes in the table, and what is said.
WRITINGS = {
    "leading zeros lost": (cycle("{:03}"), cycle("{}"),
                           "0 of 12 match; 12 of 12 do once leading zeros are dropped ('0' is '000'"
                           " in the graph): write the nodes in the table as in the graph."),
    "leading zeros added": (range(12), cycle("{:03}"), "12 of 12 do once leading zeros are dropped "
                            "('000' is '0' in the graph)"),
    "as floats": (range(12), cycle("{}.0"), "12 of 12 do once '.0' at the end is dropped ('0.0' is "
                  "'0' in the graph)"),
    "as floats in the graph": (cycle("{}.0"), cycle("{}"), "do once '.0' at the end is dropped"),
    "capitals": (cycle("Node{}"), cycle("node{}"), "do once upper and lower case count as the same "
                 "('node0' is 'Node0' in the graph)"),
    "umlauts in capitals": (cycle("MÜLLER{}"), cycle("Müller{}"), "upper and lower case count"),
    "spaces around": (cycle(" n{} "), cycle("n{}"), "do once spaces are left out ('n0' is ' n0 '"),
    "spaces within": (cycle("Mr Hi {}"), cycle("Mr  Hi {}"), "do once spaces are left out"),
    "spaces that do not break": (cycle("Mr Hi {}"), cycle("Mr\u00a0Hi {}"), "once spaces are left"),
    "quotation marks": (cycle("n{}"), cycle("'n{}'"), "do once quotation marks are left out"),
    "curly ones": (cycle("n{}"), cycle("\u201cn{}\u201d"), "do once quotation marks are left out"),
    "several": (cycle("N {:03}"), cycle("n{:03}"), "12 of 12 do once spaces, quotation marks, "
                "leading zeros, a '.0' at the end, upper case and Unicode are left aside"),
    "some": (cycle("n{}"), [*cycle("n{}", 8), "N8", "N9", "N10", "z"],
             "8 of 12 match; 11 of 12 do once upper and lower case"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRITINGS)
def test_other_writings_are_recognised(case, tmp_path):
    names, nodes, said = WRITINGS[case]
    path = tmp_path / "l.csv"
    path.write_text(text(nodes), encoding="utf-8")
    labels = dict(zip(nodes, HALVES * 6, strict=True))
    for given in (path, labels):
        with pytest.raises(InputError) as caught:
            classify(ring(names), given)
        assert said in str(caught.value)
        assert "--ignore-unknown" not in str(caught.value)
    with pytest.raises(InputError, match="labelled nodes are not in the graph"):
        classify(ring(names), {f"{node}?": label for node, label in labels.items()})


def test_numbers_with_a_fraction_in_a_mapping():
    labels = {float(k): HALVES[k % 2] for k in range(4)}
    with pytest.raises(InputError, match=r"4 of 4 do once '\.0' at the end is dropped"):
        classify(nx.path_graph(4), labels)


@pytest.mark.parametrize(("attribute", "ending"), [("label", "graphml"), ("id", "gml")])
def test_ids_against_labels_of_a_graph_file(attribute, ending, tmp_path):
    path, labels = tmp_path / f"g.{ending}", tmp_path / "l.csv"
    if ending == "graphml":
        graph = ring(cycle("n{}"))
        nx.set_node_attributes(graph, {f"n{k}": f"Person {k}" for k in range(12)}, "label")
        nx.write_graphml(graph, path)
        labels.write_text(text(cycle("Person {}")))
        said = "12 of 12 are values of the node attribute 'label', not names of nodes ('Person 0' "
    else:
        nodes = "".join(f'node [ id {k} label "Person {k}" code "c{k}" ]\n' for k in range(12))
        edges = "".join(f"edge [ source {k} target {(k + 1) % 12} ]\n" for k in range(12))
        path.write_text(f"graph [\n{nodes}{edges}]\n")
        labels.write_text(text(cycle("c{}")))
        said = "values of the node attribute 'code', not names of nodes ('c0' is node 'Person 0')"
    result = CliRunner().invoke(app, ["classify", str(path), "-l", str(labels)])
    assert result.exit_code == 1
    assert said in result.stderr
    assert "networkx.relabel_nodes" in result.stderr


FRAME = pd.DataFrame({
    "person": [f"Person {k}" for k in range(12)], "id": [100 + k for k in range(12)],
    "key": [f"n{k}" for k in range(12)], "label": HALVES * 6,
})  # fmt: skip


@pytest.fixture
def place(tmp_path):
    nx.write_edgelist(ring(cycle("n{}")), tmp_path / "edges.txt", data=False)

    def run(content, *words, code=1):
        (tmp_path / "l.csv").write_text(content)
        arguments = ["classify", tmp_path / "edges.txt", "-l", tmp_path / "l.csv", *words]
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert result.exit_code == code, result.output
        return result.stderr

    return run


def test_another_column_has_the_nodes(place):
    said = place(FRAME.to_csv(index=False))
    assert "12 of 12 labelled nodes are not in the graph, first 100, 101" in said
    assert "0 of 12 match; 12 of 12 do by column 'key': name it with --node-column 'key'" in said
    place(FRAME.to_csv(index=False), "--node-column", "key", code=0)


def test_an_unnamed_index_has_the_nodes(place):
    frame = FRAME.set_index("key").rename_axis(None)[["person", "id", "label"]]
    assert "do by column '': name it with --node-column ''" in place(frame.to_csv())
    place(frame.to_csv(), "--node-column", "", code=0)


def test_columns_are_swapped(place):
    swapped = FRAME[["label", "key"]].set_axis(["node", "label"], axis=1)
    said = place(swapped.to_csv(index=False), "--label-column", "label")
    assert "12 of 12 do by column 'label', taken for the label: swap the two with" in said
    assert "--node-column 'label' --label-column 'node'" in said
    place(swapped.to_csv(index=False), "--node-column", "label", "--label-column", "node", code=0)
    with pytest.raises(InputError, match=r"12 of 12 do by their labels: .* swap the two"):
        classify(ring(cycle("n{}")), {k: f"n{k}" for k in range(12)})


def test_a_column_found_by_its_place(place):
    content = FRAME[["person", "key", "label"]].to_csv(index=False, header=False)
    said = place(content, "--label-column", "column 3")
    assert "do by column 'column 2': name it with --node-column 'column 2'" in said
    words = ("--label-column", "column 3", "--node-column", "column 2")
    assert "12 labels of 2 classes" in place(content, *words, code=0)


def test_without_a_cause_the_names_of_the_graph_are_shown(place):
    said = place(text(cycle("thing {}")))
    assert "12 of 12 labelled nodes are not in the graph, first thing 0, thing 1" in said
    assert (
        "No name matches: the graph has 12 nodes, called 'n0', 'n1', 'n2', 'n3', 'n4', ..." in said
    )
    assert "--node-column" in said
    assert "--ignore-unknown" not in said


def test_where_most_match_the_rest_may_be_left_out(place):
    nodes = [*cycle("n{}", 10), "z1", "z2"]
    said = place(text(nodes))
    assert "2 of 12 labelled nodes are not in the graph, first z1, z2. Check the names" in said
    assert "--ignore-unknown (ignore_unknown=True in Python)" in said
    said = place(text(nodes), "--ignore-unknown", code=0)
    assert "note: 2 of 12 labelled nodes are not in the graph and were left out, first z1" in said


def test_what_is_left_out_on_demand_is_explained_where_it_is_most(place):
    nodes = [*cycle("n{}", 3), *(f"N{k}" for k in range(3, 12))]
    said = place(text(nodes), "--ignore-unknown", code=0)
    assert "were left out, first N3, N4, N5, N6, N7. 3 of 12 match; 12 of 12 do once upper" in said


def test_chance_matches_of_other_columns_are_not_offered(place, tmp_path):
    nx.write_edgelist(ring(range(12)), tmp_path / "edges.txt", data=False)
    frame = pd.DataFrame({"node": [*range(10), 77, 78], "label": HALVES * 6, "n": range(12)})
    said = place(frame.to_csv(index=False))
    assert "2 of 12 labelled nodes are not in the graph, first 77, 78. Check the names" in said


def test_a_first_line_that_names_columns_is_quoted(place):
    said = place(text(cycle("n{}"), "member,side"), code=0)
    assert "was taken for a header, as the graph has no such node: 'member', 'side'" in said
    said = place(text(cycle("N{}"), "member,side"))
    assert "0 of 12 match; 12 of 12 do once upper and lower case" in said


def test_points_as_well():
    points = pd.DataFrame(np.random.default_rng(5).normal(size=(12, 2)), index=cycle("p{:02}"))
    with pytest.raises(InputError, match=r"12 of 12 do once upper and lower case .*'P00' is 'p00'"):
        classify(points=points, labels=dict(zip(cycle("P{:02}"), HALVES * 6, strict=True)))


def test_attributes_of_any_kind_do_no_harm():
    graph = ring(cycle("n{}"))
    nx.set_node_attributes(graph, {"n0": [1], "n1": {"a": 2}, "n2": None, "n3": 2.5}, "odd")
    with pytest.raises(InputError, match="No name matches: the graph has 12 nodes"):
        classify(graph, {"q": "x", "r": "y"})

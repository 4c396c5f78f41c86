"""One call from any graph object, or points, to answers under the user's names."""

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from robustgc import CSR, RobustGC, classify, load
from robustgc.io.opening import InputError

LABELS = {"m0": "Hi", "m33": "Officer", "m1": "Hi", "m32": "Officer", "m5": "Officer"}  # m5: wrong


@pytest.fixture(scope="module")
def karate():
    graph = nx.karate_club_graph()
    for _, _, data in graph.edges(data=True):
        data.clear()
    return nx.relabel_nodes(graph, {k: f"m{k}" for k in graph})


@pytest.fixture(scope="module")
def answer(karate):
    return classify(karate, LABELS)


def numbered(karate):
    return nx.to_scipy_sparse_array(karate, format="csr", dtype=float)


def by_number(karate):
    place = {name: k for k, name in enumerate(karate)}
    return {place[name]: label for name, label in LABELS.items()}


def test_karate_is_answered_and_the_wrong_label_found(karate, answer):
    club = nx.get_node_attributes(karate, "club")
    truth = {name: "Hi" if club[name] == "Mr. Hi" else "Officer" for name in karate}
    assert sum(answer.labels[name] == truth[name] for name in karate) >= 32
    worst = next(iter(answer.issues))
    assert (worst.node, worst.given, worst.suggested) == ("m5", "Officer", "Hi")
    assert worst.evidence
    assert set(worst.evidence) <= set(LABELS)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_of_edges(karate, answer, kind):
    frame = nx.to_pandas_edgelist(karate)
    make = {"pandas": lambda f: f, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
    found = classify(make[kind](frame), LABELS)
    assert found.labels == answer.labels
    assert type(found.to_frame()).__module__.split(".")[0] == kind


@pytest.mark.parametrize("kind", ["csr", "dense", "CSR", "edge_index", "igraph"])
def test_other_objects(karate, answer, kind):
    W = numbered(karate)
    edges = np.array(sp.triu(W).nonzero())
    graphs = {
        "csr": W,
        "dense": W.toarray(),
        "CSR": CSR.from_scipy(W),
        "edge_index": np.concatenate([edges, edges[::-1]], axis=1),
        "igraph": igraph.Graph(34, edges.T.tolist()),
    }
    found = classify(graphs[kind], by_number(karate))
    assert list(found.labels.values()) == list(answer.labels.values())


def test_a_data_object_with_edge_index(karate, answer):
    class Tensor:
        def __init__(self, values):
            self.values = values

        def detach(self):
            return self

        cpu = detach

        def numpy(self):
            return self.values

    class Data:
        edge_index = Tensor(np.array(sp.triu(numbered(karate)).nonzero()))
        edge_weight = Tensor(np.ones(78))
        num_nodes = 34

    found = classify(Data(), by_number(karate))
    assert list(found.labels.values()) == list(answer.labels.values())


@pytest.mark.parametrize("kind", ["series", "frame", "list", "attribute", "path"])
def test_kinds_of_labels(karate, answer, kind, tmp_path):
    table = pd.DataFrame({"node": list(LABELS), "label": list(LABELS.values())})
    table.to_csv(tmp_path / "labels.csv", index=False)
    graph = karate.copy()
    nx.set_node_attributes(graph, LABELS, "side")
    labels = {
        "series": pd.Series(LABELS),
        "frame": table,
        "list": [LABELS.get(name) for name in karate],
        "attribute": "side",
        "path": tmp_path / "labels.csv",
    }
    assert classify(graph, labels[kind]).labels == answer.labels


def test_the_estimator_is_the_one_that_the_matrix_gives(karate, answer):
    y = np.array([LABELS.get(name, "") for name in karate])
    clf = RobustGC(affinity="precomputed").fit(numbered(karate), y)
    np.testing.assert_array_equal(answer.estimator.f_, clf.f_)
    options = {"eta": 0.9, "n_modes": 1}
    paper = RobustGC(affinity="precomputed", **options).fit(numbered(karate), y)
    np.testing.assert_array_equal(classify(karate, LABELS, **options).estimator.f_, paper.f_)


def test_columns(answer):
    columns = answer.columns()
    assert list(columns) == [
        "node", "label", "given", "status", "probability", "decision", "reason", "suspicion",
    ]  # fmt: skip
    frame = answer.to_frame().set_index("node")
    assert (frame.status == "given").sum() == 5
    assert frame.loc["m5", "given"] == "Officer"
    assert frame.loc["m5", "suspicion"] > 0.9
    assert frame.suspicion.notna().sum() == 5
    assert frame.probability.between(0.5, 1).all()


def test_several_classes_pieces_and_nodes_without_an_answer():
    graph = nx.disjoint_union_all([nx.complete_graph(4)] * 3 + [nx.path_graph(2)])
    graph.add_edges_from([(0, 4), (4, 8)])
    found = classify(graph, {0: "a", 4: "b", 8: "c"}).to_frame()
    assert found.columns[5:8].tolist() == ["score_a", "score_b", "score_c"]
    assert found.status.tolist()[-2:] == ["unlabelled"] * 2
    assert found.label.isna().sum() == 2
    assert "no label in its component" in found.reason.iloc[-1]


def test_saved_and_loaded(answer, tmp_path):
    answer.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.labels == answer.labels
    assert again.issues.node.tolist() == answer.issues.node.tolist()
    answer.write(tmp_path / "one.csv")
    again.write(tmp_path / "two.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_report(answer, tmp_path):
    answer.report(tmp_path / "page.html", title="Karate <club>", command="robustgc & co")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Karate &lt;club&gt;" in page
    assert "robustgc &amp; co" in page
    assert "34 nodes" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_points_under_their_index():
    rng = np.random.default_rng(3049)
    X = np.concatenate([rng.normal(0, 1, (20, 2)), rng.normal(8, 1, (20, 2))])
    frame = pd.DataFrame(X, columns=["x", "y"], index=[f"p{k}" for k in range(40)])
    found = classify(points=frame, labels={"p0": "a", "p1": "a", "p39": "b"})
    assert [found.labels[f"p{k}"] for k in (5, 35)] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": {0: "a"}}, "either a graph or points"),
        ({"graph": nx.path_graph(3)}, "Pass labels"),
        ({"graph": "nowhere.csv", "labels": {0: 1}}, r"nowhere\.csv does not exist"),
        ({"graph": nx.path_graph(3), "labels": {7: "a"}}, "1 of 1 labelled nodes are not in"),
        ({"graph": nx.path_graph(3), "labels": "side"}, "neither a file with labels nor"),
        ({"graph": nx.path_graph(3), "labels": ["a"]}, "1 labels for 3 nodes"),
        ({"graph": nx.path_graph(3), "labels": 3.5}, "Labels of type float are unknown"),
        ({"graph": 3, "labels": {0: "a"}}, "A graph of type int is unknown"),
        ({"graph": nx.path_graph(3), "labels": {}}, "no labels"),
        ({"graph": np.ones((2, 3)), "labels": {0: "a"}}, r"shape \(2, 3\)"),
        ({"graph": np.array([[0, -1, 3], [1, 2, 0]]), "labels": {0: "a"}}, "nodes from -1 to 3"),
        ({"points": np.ones(3), "labels": {0: "a"}}, "give one row for each point"),
        ({"points": np.array([[1, np.nan]]), "labels": {0: "a"}}, "row 1, column 'column 2'"),
    ],
)
def test_what_cannot_be_read(arguments, message):
    with pytest.raises(InputError, match=message):
        classify(**arguments)


def test_two_directions_of_a_directed_graph():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 1), ("b", "a", 3), ("b", "c", 2), ("c", "d", 1)])
    labels = {"a": "x", "d": "y"}
    with pytest.raises(InputError, match=r"1 edge came in both directions .* first a - b"):
        classify(graph, labels)
    for way, weight in (("mean", 2.0), ("max", 3.0), ("sum", 4.0)):
        found = classify(graph, labels, symmetrise=way)
        assert found.estimator._fit.problem.weights.to_scipy()[0, 1] == weight

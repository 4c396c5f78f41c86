"""What is written: exact labels, spreadsheets, outputs of one run, leftovers of killed ones."""

import networkx as nx
import numpy as np
import polars
import pyarrow.parquet as pq
import pytest

from robustgc import classify, load

BIG = 2**53  # the next whole number is no float


def cliques():
    """Two cliques of four with a weak link, a clique without a label, and a node by itself."""
    graph = nx.Graph()
    for c in "abc":
        graph.add_edges_from((f"{c}{i}", f"{c}{j}") for i in range(4) for j in range(i))
    graph.add_edge("a3", "b0", weight=0.1)
    graph.add_node("lonely")
    return graph


@pytest.mark.parametrize("first", [BIG, 2**63])
def test_large_integer_labels_keep_every_digit_on_every_way_out(tmp_path, first):
    given = {"a0": first, "a1": first, "b0": first + 1, "b2": first + 1}
    result = classify(cliques(), given, unlabeled=np.nan)
    expected = {name: first + (name[0] == "b") for name in result.names if name[0] in "ab"}
    frame = result.to_frame()
    assert result.labels == expected
    assert frame.dropna(subset="label").set_index("node")["label"].to_dict() == expected
    assert frame["label"].isna().sum() == 5
    result.write(tmp_path / "answers.parquet")
    result.write(tmp_path / "answers.csv")
    table = pq.read_table(tmp_path / "answers.parquet").to_pydict()
    written = dict(zip(table["node"], table["label"], strict=True))
    assert {name: label for name, label in written.items() if label is not None} == expected
    for line in (tmp_path / "answers.csv").read_text().splitlines()[1:]:
        node, label = line.split(",")[:2]
        assert label == str(expected.get(node.strip('"'), ""))
    assert {row.given for row in result.issues} == {first, first + 1}
    result.save(tmp_path / "model.zip")
    again = load(tmp_path / "model.zip")
    assert again.labels == expected
    assert again.estimator.transduction_.tolist()[:4] == [first] * 4
    node = int(np.flatnonzero(result.names == "b3")[0])
    assert result.estimator.update({node: first + 1}).transduction_[node] == first + 1
    with pytest.raises(ValueError, match="is not a class"):
        result.estimator.update({node: first + 2})


def test_large_integer_labels_in_frames_of_polars():
    edges = polars.DataFrame({"source": ["a", "b", "x"], "target": ["b", "c", "y"]})
    frame = classify(edges, {"a": BIG, "c": BIG + 1}).to_frame()
    labels = dict(frame.select("node", "label").iter_rows())
    assert (labels["a"], labels["c"], labels["x"]) == (BIG, BIG + 1, None)

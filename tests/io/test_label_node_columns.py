"""Tables of labels with two columns that name nodes: which one is used is said."""

import networkx as nx
import pandas as pd

from robustgc import classify

GRAPH = nx.cycle_graph(8)
FRAME = pd.DataFrame({"id": range(8), "person": [3, 4, 5, 6, 7, 0, 1, 2], "label": ["x", "y"] * 4})
SAID = "'id' and 'person' of"


def test_two_columns_that_name_nodes(tmp_path):
    FRAME.to_csv(tmp_path / "l.csv", index=False)
    for labels in (tmp_path / "l.csv", FRAME):
        notes = "\n".join(classify(GRAPH, labels).notes)
        assert SAID in notes
        assert "'id' is used; --node-column 'person'" in notes
        assert SAID not in "\n".join(classify(GRAPH, labels, node_column="person").notes)


def test_a_column_of_other_things_is_not_named(tmp_path):
    other = FRAME.assign(person=[20, 21, 22, 23, 24, 25, 26, 27])
    assert SAID not in "\n".join(classify(GRAPH, other).notes)

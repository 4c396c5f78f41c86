"""Labels in a frame whose index has the nodes; and markers in an update as in a table."""

import networkx as nx
import pandas as pd
import pytest

from robustgc import classify
from robustgc.io.errors import InputError

NAMES = ["Jörg", "Zoë", "Bob", "Udo", "Ann", "Eva"]
GRAPH = nx.cycle_graph(NAMES)
SIDES = ["x", "y"] * 3


def test_a_frame_of_one_column_has_the_nodes_in_its_index():
    result = classify(GRAPH, pd.DataFrame({"label": SIDES}, index=NAMES))
    assert result.labels == dict(zip(NAMES, SIDES, strict=True))
    assert any("are the index of the frame, whose column is 'label'" in n for n in result.notes)


def test_an_index_that_only_counts_rows_is_refused():
    with pytest.raises(InputError, match="the one column 'label', whose index only counts the row"):
        classify(GRAPH, pd.DataFrame({"label": SIDES}))


def given(result):
    return int((result.estimator._labels.codes >= 0).sum())


def test_a_marker_takes_a_label_away_in_an_update_too():
    result = classify(GRAPH, dict(zip(NAMES, SIDES, strict=True)))
    assert given(result.update({"Zoë": "NA"})) == 5
    own = classify(GRAPH, dict(zip(NAMES, SIDES, strict=True)), unlabelled="todo")
    assert given(own.update({"Zoë": "todo"})) == 5
    with pytest.raises(ValueError, match="'NA' is not a class of the fit"):
        own.update({"Zoë": "NA"})

"""The first line of a file of labels, where the graph has a node called as a column may be."""

import networkx as nx
import pytest

from robustgc import classify
from robustgc.io.errors import InputError

WORDS = nx.Graph([("name", "house"), ("house", "word"), ("word", "run"), ("run", "go")])
ROWS = "house,noun\nrun,verb\ngo,verb\n"


def labels(folder, first):
    path = folder / "labels.csv"
    path.write_text(f"{first}\n{ROWS}", encoding="utf-8")
    return path


@pytest.mark.parametrize("first", ["name,noun", "word,label"])
def test_a_node_called_as_a_column_is_asked_about(tmp_path, first):
    path, node = labels(tmp_path, first), first.split(",")[0]
    message = rf"labels\.csv, line 1: .* or the label of the node '{node}'.*line node,label above"
    with pytest.raises(InputError, match=message):
        classify(WORDS, path)


def test_a_header_above_it_keeps_the_label(tmp_path):
    result = classify(WORDS, labels(tmp_path, "node,label\nname,proper noun"))
    assert result.labels["name"] == "proper noun"


def test_columns_that_the_user_names_are_in_a_header(tmp_path):
    path = labels(tmp_path, "name,kind")
    result = classify(WORDS, path, node_column="name", label_column="kind")
    assert set(result.labels.values()) == {"noun", "verb"}


@pytest.mark.parametrize("first", ["name,class", "Node,Label", "id,kind"])
def test_plain_headers_are_not_asked_about(tmp_path, first):
    assert set(classify(WORDS, labels(tmp_path, first)).labels.values()) == {"noun", "verb"}

"""Tables of labels where every label is a class of its own: names are no classes."""

import networkx as nx
import pandas as pd
import pytest

from robustgc import classify
from robustgc.io.errors import InputError

NAMES = ["Jörg", "Bob", "Emil", "Hanna", "Lena", "Otto", "Rosa", "Udo"]
GRAPH = nx.relabel_nodes(nx.cycle_graph(8), dict(enumerate(NAMES)))
TEAM = ["red", "blue"] * 4


def table(path, **columns):
    pd.DataFrame(columns).to_csv(path / "labels.csv", index=False)
    return path / "labels.csv"


def test_names_in_a_short_table_are_no_classes(tmp_path):
    path = table(tmp_path, Id=NAMES, Label=[f"Dr. {name}" for name in NAMES], team=TEAM)
    message = r"every label is a class of its own \(8 labels\), so column 'Label' .*'team' \(2\)"
    with pytest.raises(InputError, match=message):
        classify(GRAPH, path)
    assert set(classify(GRAPH, path, label_column="team").labels.values()) == {"red", "blue"}
    assert len(classify(GRAPH, path, label_column="Label").estimator.classes_) == 8


def test_a_column_called_class_with_fewer_values_is_in_question(tmp_path):
    path = table(
        tmp_path, node=NAMES, label=[f"{n}!" for n in NAMES], **{"class": list("aabbccde")}
    )
    with pytest.raises(InputError, match=r"'label' \(8\), 'class' \(5\)"):
        classify(GRAPH, path)


def test_which_labels_are_reviewed_is_no_other_class(tmp_path):
    path = table(tmp_path, node=NAMES, label=list("abcdefgh"), reviewed=["yes", "no"] * 4)
    result = classify(GRAPH, path)
    assert len(result.estimator.classes_) == 8
    assert any("every label is a class of its own (8 labels)" in note for note in result.notes)


def test_scores_are_no_classes(tmp_path):
    path = table(tmp_path, node=NAMES, score=[f"0.{k}00" for k in range(1, 9)])
    with pytest.raises(InputError, match=r"line 2: the labels are numbers with fractions, as '0.1"):
        classify(GRAPH, path)


def test_versions_are_classes_once_the_column_is_named(tmp_path):
    path = table(tmp_path, node=NAMES, version=["1.5", "2.0"] * 4)
    with pytest.raises(InputError, match="--label-column 'version' keeps this one"):
        classify(GRAPH, path)
    assert classify(GRAPH, path, label_column="version").labels["Bob"] == "2.0"


def test_whole_numbers_with_a_point_are_classes(tmp_path):
    assert classify(GRAPH, table(tmp_path, node=NAMES, label=["1.0", "2.0"] * 4)).labels["Bob"]

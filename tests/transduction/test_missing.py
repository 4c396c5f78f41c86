"""What means "unlabelled": one rule for files, tables, mappings, attributes, lists and arrays."""

import itertools
import json
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from robustgc import RobustGC, classify, load
from robustgc.cli.app import app
from robustgc.compare.comparing import compare
from robustgc.io.errors import InputError
from robustgc.transduction.labels import encode, recode
from robustgc.transduction.missing import MARKERS, find_missing

NODES = list("abcdefgh")
GRAPH = nx.cycle_graph(NODES)
EDGES = "source,target\n" + "".join(f"{u},{v}\n" for u, v in GRAPH.edges)


def table(cells):
    return "node,label\n" + "".join(
        f"{node},{cell}\n" for node, cell in zip(NODES, cells, strict=False)
    )


@pytest.fixture
def place(tmp_path):
    (tmp_path / "edges.csv").write_text(EDGES)

    def run(command, cells, *words, code=0):
        (tmp_path / "l.csv").write_text(cells if isinstance(cells, str) else table(cells))
        arguments = [command, tmp_path / "edges.csv", "-l", tmp_path / "l.csv", *words]
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.mark.parametrize("marker", [*MARKERS, " NA ", "-1"])
def test_a_marker_in_a_file_is_no_class_and_is_counted(place, marker):
    classes = ["1", "2"] if marker == "-1" else ["x", "y"]
    result = place("classify", [*classes, marker, marker, ""], "--json")
    assert json.loads(result.stdout)["classes"] == classes
    assert json.loads(result.stdout)["labels"] == 2
    assert f"note: 2 cells say '{marker.strip()}': read as unlabelled; --unlab" in result.stderr


def test_every_marker_is_counted_the_most_frequent_first(place):
    result = place("classify", ["x", "?", "NA", "?", "y"])
    assert "note: 2 cells say '?', 1 'NA': read as unlabelled" in result.stderr


@pytest.mark.parametrize("text", ["na", "none", "Na", "NONE", "--", "0", "-2", "unknown", "??"])
def test_other_texts_stay_classes(place, text):
    result = place("classify", ["x", "y", text], "--json")
    assert sorted(json.loads(result.stdout)["classes"]) == sorted(["x", "y", text])
    assert "unlabelled;" not in result.stderr


def test_minus_one_is_a_class_beside_words_and_none_beside_whole_numbers(place):
    words = place("classify", ["-1", "x", "y", "x"], "--json")
    assert json.loads(words.stdout)["classes"] == ["-1", "x", "y"]
    numbers = place("classify", ["-1.0", "1.0", "2.0", "NaN", "-1"], "--json")
    assert json.loads(numbers.stdout)["classes"] == ["1.0", "2.0"]
    assert "1 cell says '-1.0', 1 'NaN', 1 '-1'" in numbers.stderr


def test_signs_with_zeros_between_them_are_doubted(place):
    cells = ["-1", "0", "0", "1", "0", "0", "0", "0"]
    said = place("classify", cells).stderr
    assert "note: 1 cell says '-1': read as unlabelled" in said
    assert "note: the labels are -1, 0 and 1, and 6 of 8 are 0, which is read as a class" in said
    meant = place("classify", cells, "--unlabelled", "0")
    assert "8 nodes, 2 labels of 2 classes" in meant.stderr
    assert "read as a class" not in meant.stderr
    assert "read as a class" not in place("classify", ["-1", "0", "1", "1", "0"]).stderr


def test_own_markers_replace_the_list(place):
    cells = ["x", "y", "?", "todo", "NA", "todo", ""]
    both = place("classify", cells, "--unlabelled", "todo", "--unlabelled", "?", "--json")
    assert json.loads(both.stdout)["classes"] == ["NA", "x", "y"]
    assert "2 cells say 'todo', 1 '?'" in both.stderr
    alone = place("classify", cells, "--unlabelled", "", "--json")
    assert json.loads(alone.stdout)["classes"] == ["?", "NA", "todo", "x", "y"]
    assert json.loads(alone.stdout)["labels"] == 6
    assert "unlabelled;" not in alone.stderr


def test_own_markers_hold_for_every_command(place, tmp_path):
    cells = ["x", "y", "x", "y", "todo", "x", "y", "todo"]
    result = place("audit", cells, "--unlabelled", "todo", "--json")
    assert json.loads(result.stdout)["labels"] == 6
    more = [f"q{k}" for k in range(6)]
    ring = [*more, "a", more[0]]
    (tmp_path / "edges.csv").write_text(
        EDGES + "".join(f"{u},{v}\n" for u, v in itertools.pairwise(ring))
    )
    text = table(cells) + "".join(f"{node},{'xy'[k % 2]}\n" for k, node in enumerate(more))
    out = ("--out", tmp_path / "c", "--repeats", 1, "--sizes", 50, "--noise", 0, "--models")
    result = place("compare", text, "--unlabelled", "todo", *out, "ZhouGC", "--json")
    assert json.loads(result.stdout)["classes"] == ["x", "y"]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            ["+", "-", "+", "-"],
            r"all 2 labels are of one class, '\+'.* 2 cells say '-', read as un",
        ),
        (["1", "-1", "-1"], "all 1 labels are of one class, '1'.* 2 cells say '-1'"),
        (["NA", "?", ""], "there are no labels.* 1 cell says 'NA', 1 '\\?'"),
    ],
)
def test_a_class_that_looks_like_a_marker_is_named_with_the_cure(place, tmp_path, cells, said):
    result = place("classify", cells, code=1)
    place("classify", cells, "--unlabelled", "", code=0)
    with pytest.raises(InputError, match=said) as caught:
        classify(GRAPH, tmp_path / "l.csv")
    assert str(caught.value) in result.stderr
    assert '--unlabelled ""' in result.stderr
    assert "unlabelled='' in Python" in result.stderr


@pytest.mark.parametrize("labels", [["+", "-"] * 4, np.array(["+", "-"] * 4)])
def test_a_list_that_loses_a_class_is_told_the_cure(labels):
    with pytest.raises(InputError, match=r"one class, '\+'.* 4 cells say '-'.*unlabelled=''"):
        classify(GRAPH, labels)
    assert classify(GRAPH, labels, unlabelled="").estimator.classes_.tolist() == ["+", "-"]


def test_a_header_of_unknown_words_makes_no_class_of_minus_one(place):
    result = place("classify", "who,vote\na,1\nb,2\nc,-1\nd,NA\ne,1\n", "--json")
    assert json.loads(result.stdout)["classes"] == ["1", "2"]
    assert "note: 1 cell says '-1', 1 'NA'" in result.stderr
    assert "was taken for a header, as the graph has no such node: 'who', 'vote'" in result.stderr


CELLS = ["x", "y", "NA", "?", None, "", " ? ", "x"]
NUMBERS = [1, 2, -1, 1, None, float("nan"), -1, 2]


def as_every_kind(cells, tmp_path):
    frame = pd.DataFrame({"node": NODES, "label": pd.Series(cells, dtype=object)})
    path = tmp_path / "l.csv"
    plain = [None if pd.isna(cell) else cell for cell in cells]
    path.write_text(table(["" if cell is None else cell for cell in plain]))
    return {
        "file": path,
        "mapping": dict(zip(NODES, cells, strict=True)),
        "series": pd.Series(cells, index=NODES, dtype=object),
        "pandas": frame,
        "polars": pl.DataFrame({"node": NODES, "label": plain}),
        "arrow": pa.table({"node": NODES, "label": plain}),
        "attribute": "side",
        "list": list(cells),
        "array": np.array(cells, dtype=object),
    }


KINDS = ["file", "mapping", "series", "pandas", "polars", "arrow", "attribute", "list", "array"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cells", [CELLS, NUMBERS], ids=["text", "numbers"])
def test_all_kinds_of_labels_follow_the_rule(kind, cells, tmp_path):
    graph = GRAPH.copy()
    nx.set_node_attributes(graph, dict(zip(NODES, cells, strict=True)), "side")
    labels = as_every_kind(cells, tmp_path)[kind]
    result = classify(graph, labels)
    assert [str(name) for name in result.estimator.classes_] == (
        ["x", "y"] if cells is CELLS else ["1", "2"]
    )
    assert (result.estimator._labels.codes >= 0).sum() == (3 if cells is CELLS else 4)
    if cells is CELLS:
        assert "2 cells say '?', 1 'NA': read as unlabelled" in " ".join(result.notes)
        again = classify(graph, labels, unlabelled="")
        assert {"?", "NA", "x", "y"} <= set(again.estimator.classes_.tolist())
    else:
        again = classify(graph, labels, unlabelled=[2])
        assert [str(name) for name in again.estimator.classes_] == ["-1", "1"]


def test_the_marker_of_the_estimator_replaces_the_list_too():
    labels = dict(zip(NODES, ["x", "NA", "y", "todo"], strict=False))
    result = classify(GRAPH, labels, unlabeled="todo")
    assert result.estimator.classes_.tolist() == ["NA", "x", "y"]
    per_node = classify(GRAPH, ["x", "NA", "y", *["todo"] * 5], unlabeled="todo")
    assert per_node.estimator.classes_.tolist() == ["NA", "x", "y"]


def test_a_comparison_keeps_classes_that_look_like_markers():
    graph = nx.cycle_graph(12)
    truth = {node: ("-", "+")[node % 2] for node in graph}
    options = {"models": ["ZhouGC"], "sizes": [50], "noise": [0], "repeats": 1}
    assert compare(graph, truth, unlabelled="", **options).classes == ("+", "-")
    with pytest.raises(InputError, match="6 cells say '-', read as unlabelled"):
        compare(graph, truth, **options)


# Arrays: the estimators


def test_arrays_of_text_follow_the_rule_with_a_warning_that_counts():
    y = ["x", "NA", "y", "?", "NA", "", None]
    with pytest.warns(UserWarning, match=r"Of y, 2 cells say 'NA', 1 '\?': read as unlabelled"):
        labels = encode(y, n_nodes=7)
    assert labels.codes.tolist() == [0, -1, 1, -1, -1, -1, -1]
    assert labels.classes.tolist() == ["x", "y"]
    with pytest.warns(UserWarning, match="1 cell says '-1': read as unlabelled"):
        assert encode(np.array(["0", "1", "-1"]), n_nodes=3).codes.tolist() == [0, 1, -1]


@pytest.mark.parametrize(
    ("y", "unlabeled"),
    [
        ([0, 1, -1], None),
        (np.array([0, 1, -1]), None),
        ([2.0, 1.0, -1.0, float("nan")], None),
        (["x", "y", "", None], None),
        (["x", "y", "-1"], None),
        (["x", "NA", "?"], ""),
        (["x", "?", "y"], "?"),
    ],
)
def test_what_scikit_learn_has_too_is_no_reason_to_warn(y, unlabeled):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode(y, n_nodes=len(y), unlabeled=unlabeled)


def test_a_class_lost_to_a_marker_is_named():
    with pytest.raises(ValueError, match=r"1 class only, '\+'.* 2 cells say '-', .*unlabeled=''"):
        encode(["+", "-", "-"], n_nodes=3)
    with pytest.raises(ValueError, match=r"All 2 nodes are unlabelled.* 2 cells say 'NA'"):
        encode(["NA", "NA"], n_nodes=2)
    assert encode(["+", "-", "-"], n_nodes=3, unlabeled="").classes.tolist() == ["+", "-"]


def test_scores_and_updates_follow_the_rule():
    W = nx.to_scipy_sparse_array(GRAPH)
    with pytest.warns(UserWarning, match="6 cells say 'NA'"):
        clf = RobustGC(affinity="precomputed").fit(W, ["x", "y", *["NA"] * 6])
    assert clf.score(W, ["x", "?", "NA", "", *[None] * 4]) == 1.0
    clf.update({2: "x"})
    assert (clf._labels.codes >= 0).sum() == 3
    for nothing in ("NA", "?", None, ""):
        clf.update({2: nothing})
        assert (clf._labels.codes >= 0).sum() == 2
    with pytest.raises(ValueError, match="'-1' is not a class of the fit"):
        clf.update({2: "-1"})
    other = RobustGC(affinity="precomputed", unlabeled="todo").fit(W, ["x", "y", *["todo"] * 6])
    with pytest.raises(ValueError, match="'NA' is not a class of the fit"):
        other.update({2: "NA"})


def test_recoding_keeps_a_class_that_stands_alone():
    assert recode(["-1", "-1", "NA"], np.array(["-1", "x"])).tolist() == [0, 0, -1]
    assert recode(["-1", "2"], np.array(["1", "2"])).tolist() == [-1, 1]


def test_a_saved_model_keeps_its_marker(tmp_path):
    graph = nx.disjoint_union(GRAPH, nx.path_graph(2))
    with pytest.warns(UserWarning, match="8 cells say 'NA'"):
        clf = RobustGC(affinity="precomputed").fit(
            nx.to_scipy_sparse_array(graph), ["x", "y", *["NA"] * 8]
        )
    assert clf.transduction_[-1] == "NA"
    result = classify(graph, ["x", "y", *["NA"] * 8])
    result.save(tmp_path / "model")
    assert load(tmp_path / "model").labels == result.labels


@pytest.mark.parametrize("y", [[True, 2], [True, 2.0, None], np.array([False, 3], dtype=object)])
def test_booleans_among_numbers_are_refused(y):
    with pytest.raises(TypeError, match=r"mix .*bool, (int|float)\. Use all text, all integers"):
        encode(y, n_nodes=len(y))
    with pytest.raises(InputError, match=r"several kinds, as (True|False) "):
        classify(GRAPH, dict(zip(NODES, y, strict=False)))


def test_the_rule_reads_a_class_once_however_many_cells_say_it():
    cells = ["x", "NA", None, -1, float("nan"), pd.NA, pd.NaT, b"NA", np.str_("?"), [1], True]
    gaps = find_missing(cells * 3)
    assert gaps.mask.tolist() == [False, True, True, False, True, True, True, True, True, False,
                                  False] * 3  # fmt: skip
    assert gaps.counts == {"NA": 6, "?": 3}
    assert find_missing([10**5000, -1, 2**63]).mask.tolist() == [False, True, False]
    assert find_missing([]).sentence() == ""
    assert len(find_missing([f"m{k}" * 50 for k in range(50)], [f"m{k}" * 50 for k in range(50)])
               .sentence()) < 230  # fmt: skip

"""Changed labels of a result: all that it shows and writes is of one answer."""

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from robustgc import classify, load
from robustgc.io.opening import InputError

LABELS = {"m0": "Hi", "m33": "Officer", "m1": "Hi", "m32": "Officer", "m5": "Officer"}  # m5: wrong
CHANGES = {"m5": "Hi", "m32": None, "m23": "Officer"}
CHANGED = {"m0": "Hi", "m33": "Officer", "m1": "Hi", "m5": "Hi", "m23": "Officer"}


@pytest.fixture(scope="module")
def karate():
    graph = nx.karate_club_graph()
    for _, _, data in graph.edges(data=True):
        data.clear()
    return nx.relabel_nodes(graph, {k: f"m{k}" for k in graph})


@pytest.fixture
def result(karate):
    return classify(karate, LABELS)


def written(result, folder):
    """All that a result shows and writes, as far as it is of its labels."""
    folder.mkdir()
    result.write(folder / "t.parquet")
    result.report(folder / "page.html")
    result.save(folder / "model")
    page = (folder / "page.html").read_text(encoding="utf-8")
    return {
        "labels": result.labels,
        "issues": [(row.node, row.given) for row in result.issues],
        "suspicion": result.issues.suspicion.tolist(),
        "frame": result.to_frame().astype(object).fillna("").to_dict("list"),
        "run": result.run,
        "file": pq.read_table(folder / "t.parquet").column("given").to_pylist(),
        "run of the file": pq.read_schema(folder / "t.parquet").metadata[b"robustgc_run"].decode(),
        "rows of the page": page.count('<td class="name">'),
        "run of the page": f"<bdi>{result.run}</bdi>" in page,
        "loaded": [(row.node, row.given) for row in load(folder / "model").issues],
    }


def check(result, given, folder):
    """Refuse any trace of other labels than `given`."""
    seen = written(result, folder)
    assert dict(seen["issues"]) == given
    assert dict(seen["loaded"]) == given
    names = result.names.tolist()
    shown = zip(names, seen["frame"]["given"], strict=True)
    assert {name: label for name, label in shown if label} == given
    assert seen["file"] == [given.get(name) for name in names]
    doubts = dict(zip(names, seen["frame"]["suspicion"], strict=True))
    assert {name for name, doubt in doubts.items() if doubt != ""} == set(given)
    assert [doubts[name] for name, _ in seen["issues"]] == seen["suspicion"]
    assert seen["run"] == seen["run of the file"]
    assert seen["run of the page"]
    assert seen["rows of the page"] == len(given)
    return seen


def test_a_new_result_has_all_that_is_new_and_the_old_one_all_that_was(result, tmp_path):
    before = check(result, LABELS, tmp_path / "a")
    after = result.update(CHANGES)
    assert after is not result
    new = check(after, CHANGED, tmp_path / "b")
    assert check(result, LABELS, tmp_path / "c") == before
    assert new["run"] != before["run"]
    assert max(new["suspicion"]) < 0.5 < max(before["suspicion"])


@pytest.mark.parametrize("looked", [True, False])
def test_the_estimator_may_be_updated_directly(karate, looked, tmp_path):
    result = classify(karate, LABELS)
    if looked:  # what was seen before must not be seen again
        check(result, LABELS, tmp_path / "a")
    place = {name: k for k, name in enumerate(karate)}
    result.estimator.update({place[name]: label for name, label in CHANGES.items()})
    direct = check(result, CHANGED, tmp_path / "b")
    by_name = check(classify(karate, LABELS).update(CHANGES), CHANGED, tmp_path / "c")
    assert direct == by_name


def test_a_fit_that_is_repeated_is_seen_too(karate, result):
    assert len(result.issues) == 5
    y = [LABELS.get(name) if name != "m5" else None for name in karate]
    W = nx.to_scipy_sparse_array(karate, format="csr", dtype=float)
    result.estimator.fit(W, y)
    assert sorted(result.issues.node) == ["m0", "m1", "m32", "m33"]


def test_one_after_the_other_and_back(result):
    there = result.update({"m5": "Hi"}).update({"m32": None})
    assert there.labels == result.update({"m5": "Hi", "m32": None}).labels
    back = there.update({"m5": "Officer", "m32": "Officer"})
    np.testing.assert_allclose(back.estimator.f_, result.estimator.f_, rtol=1e-9)
    assert back.issues.node.tolist() == result.issues.node.tolist()
    assert result.issues is result.issues  # judged once
    assert result.update({}).labels == result.labels


def test_names_are_compared_as_text_and_series_are_taken():
    graph = nx.path_graph(6)
    result = classify(graph, {0: "x", 5: "y", 4: "y"})
    expected = result.update({1: "y"}).run
    assert expected != result.run
    for name in ("1", np.int64(1)):
        assert result.update({name: "y"}).run == expected
    assert result.update(pd.Series({"1": "y"})).run == expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"M5": "Hi"}, r"1 of 1 names are not in the graph, first 'M5' \(is it 'm5'"),
        ({"m5": "Hi", "m 12": "Hi"}, r"first 'm 12' \(is it 'm12'"),
        ({"somebody else": "Hi"}, r"first 'somebody else'\. Names are compared as text"),
        ({5: "Hi"}, r"first 5 \(is it 'm5'"),
        ({"z" * 999: "Hi"}, r"\(999 characters\)"),
        ({"m5": "Ho"}, r"'Ho' is not a class of the fit; those are 'Hi', 'Officer'"),
        ({"m0": None, "m1": None}, "fewer than two classes"),
    ],
)
def test_what_is_refused_leaves_the_result_as_it_was(result, changes, message):
    before = result.run
    with pytest.raises(ValueError, match=message):
        result.update(changes)
    assert result.run == before


def test_one_node_by_two_names_is_refused():
    result = classify(nx.path_graph(4), {0: "x", 3: "y"})
    with pytest.raises(InputError, match="'1' is named twice"):
        result.update({1: "x", "1": "y"})
    with pytest.raises(InputError, match="1 is named twice"):
        result.update(pd.Series(["x", "y"], index=[1, 1]))


def test_pairs_are_no_mapping(result):
    with pytest.raises(TypeError, match="mapping from node to label"):
        result.update([("m5", "Hi")])


def test_a_loaded_model_says_that_it_needs_a_fit(result, tmp_path):
    result.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"was loaded.*Fit again"):
        load(tmp_path / "model").update({"m5": "Hi"})


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
def test_reviewed_labels_stand_last_until_they_change(karate, kind, tmp_path):
    table = pd.DataFrame({"node": list(LABELS), "label": list(LABELS.values())})
    table["reviewed"] = table.node.isin(["m5", "m0"])
    path = tmp_path / f"labels.{kind}"
    if kind == "csv":
        table.to_csv(path, index=False)
    elif kind == "parquet":
        table.to_parquet(path)
    result = classify(karate, table if kind == "frame" else path)
    assert set(result.issues.node[-2:]) == {"m5", "m0"}
    assert result.issues.reviewed.tolist() == [False] * 3 + [True] * 2
    assert result.issues.suspicion[3] == result.issues.suspicion.max()  # m5, and yet behind
    assert "2 were reviewed and stand last" in str(result.issues)
    doubts = result.to_frame().set_index("node").suspicion
    assert doubts["m5"] == result.issues.suspicion[3]
    changed = result.update({"m5": "Hi"})
    assert changed.issues.node[-1] == "m0"
    assert changed.issues.reviewed.tolist() == [False] * 4 + [True]
    assert "reviewed" in changed.issues.columns()
    assert "reviewed" not in classify(karate, LABELS).issues.columns()


def test_what_is_neither_reviewed_nor_not_is_refused(karate, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("node,label,reviewed\nm0,Hi,yes\nm33,Officer,perhaps\n")
    with pytest.raises(InputError, match=r"line 3: 'perhaps' in the column reviewed is neither"):
        classify(karate, path)

"""Tables of labels as people have them: which columns are meant is plain, said, or asked."""

import networkx as nx
import pandas as pd
import pytest
from typer.testing import CliRunner

from robustgc import classify
from robustgc.cli.app import app
from robustgc.io.errors import InputError
from robustgc.io.label_files import read_labels

KARATE = nx.karate_club_graph()
NODES = [f"m{k}" for k in KARATE]
GRAPH = nx.relabel_nodes(KARATE, dict(zip(KARATE, NODES, strict=True)))
CLUB = [KARATE.nodes[k]["club"] for k in KARATE]
FRAME = pd.DataFrame(
    {"node": NODES, "name": [f"Person {k}" for k in KARATE], "age": [20 + k % 9 for k in KARATE],
     "club": CLUB}
)  # fmt: skip


def csv(frame, **options):
    return frame.to_csv(**{"index": False, **options}).encode()


def few(frame):
    return frame.iloc[[0, 1, 32, 33]]


def renamed(*names):
    frame = FRAME.copy()
    frame.columns = list(names)
    return frame


SUSPICIOUS = pytest.mark.filterwarnings(  # scikit-learn's own doubt, beside ours
    "ignore:The number of unique classes is greater than 50%:UserWarning"
)

# What works at once: content, labels, and what is said (empty: nothing).
READ = {
    "label among others": (csv(renamed("node", "name", "age", "label")), 34, ""),
    "class, in capitals": (csv(renamed("Node", "Name", "Age", "CLASS")), 34, ""),
    "category": (csv(renamed("id", "x", "age", "Category")), 34, ""),
    "target first": (csv(renamed("node", "name", "age", "target")[["target", "age", "node"]]), 34,
                     ""),
    "y without an x": (csv(renamed("id", "name", "age", "y")), 34, ""),
    "two columns, label unknown": (csv(FRAME[["node", "club"]]), 34, ""),
    "two columns, neither known": (csv(renamed("member", "x", "y", "team")[["member", "team"]]), 34,
                                   "was taken for a header, as the graph has no such node: "
                                   "'member', 'team'"),
    "no header": (csv(FRAME[["node", "club"]], header=False), 34, ""),
    "index of pandas": (csv(FRAME[["node", "club"]], index=True), 34,
                        "column 1 of $ (no name, values 0, 1, 2, ...) only counts the rows"),
    "index of pandas, read again": (csv(FRAME[["node", "club"]].rename_axis("Unnamed: 0"),
                                        index=True), 34, "column 1 of $ ('Unnamed: 0', values 0"),
    "nodes as an index": (csv(FRAME.set_index("node")[["club"]].rename_axis(None), index=True), 34,
                          "was taken for a header, as the graph has no such node: '', 'club'"),
    "index and reviewed": (csv(FRAME[["node", "club"]].assign(reviewed="x"), index=True), 34,
                           "only counts the rows and is left out"),
    "reviewed": (csv(FRAME[["node", "club"]].assign(Reviewed=True)), 34, ""),
    "two that may be labels": (csv(few(renamed("node", "class", "age", "label"))), 4,
                               "the labels of $ are those in column 'label', not in 'class'; --l"),
    "few labels, all different": (csv(pd.DataFrame({"node": NODES[:12], "label": range(12)})), 12,
                                  "12 labels are of 12 classes, fewer than two each in column "
                                  "'label'; check that"),
    "four labels, all different": (csv(pd.DataFrame({"node": NODES[:4], "label": range(4)})), 4,
                                   "every label is a class of its own (4 labels) in column "
                                   "'label'; check"),
    "ten classes, two labels each": (
        csv(pd.DataFrame({"node": NODES[:20], "label": [k % 10 for k in range(20)]})), 20, ""),
    "many classes, two labels each": (
        csv(pd.DataFrame({"node": NODES, "label": [k % 17 for k in range(34)]})), 34, ""),
}  # fmt: skip

# What is refused: content, and what is said.
REFUSED = {
    "label not plainly called so": (csv(FRAME), [
        "which of 4 columns holds the label is not clear",
        "'node' (34), 'name' (34), 'age' (9), 'club' (2)", "--label-column (label_column="]),
    "nor the nodes": (csv(FRAME[["name", "age", "club"]]), ["which of 3 columns", "--node-column"]),
    "no header, three columns": (csv(FRAME[["node", "name", "club"]], header=False), [
        "'column 1' (34), 'column 2' (34), 'column 3' (2)",
        "If the first line is a header, its names are 'm0', 'Person 0', 'Mr. Hi'"]),
    "words for a header": (csv(renamed("Who", "What", "x", "Side")[["Who", "What", "Side"]]), [
        "If the first line is a header, its names are 'Who', 'What', 'Side'"]),
    "gaps do not count": (csv(FRAME.assign(club=["NA", "?", *CLUB[2:]])), ["'club' (2)"]),
    "names called label": (csv(renamed("Id", "Label", "age", "club")), [
        "34 labels are of 34 classes, fewer than two each, so column 'Label' holds names",
        "'Label' (34), 'age' (9), 'club' (2)", "naming this one keeps it"]),
    "names in two columns": (csv(FRAME[["node", "name"]]), ["so column 'name' holds names"]),
    "coordinates": (csv(renamed("id", "x", "y", "side")), ["which of 4 columns", "'y' (9)"]),
    "index beside three": (csv(FRAME[["node", "age", "club"]], index=True), [
        "which of 4 columns"]),
}  # fmt: skip


@pytest.fixture
def place(tmp_path):
    nx.write_edgelist(GRAPH, tmp_path / "edges.txt", data=False)

    def run(content, *words, code=0):
        (tmp_path / "l.csv").write_bytes(content)
        arguments = ["classify", tmp_path / "edges.txt", "-l", tmp_path / "l.csv", *words]
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert result.exit_code == code, result.output
        return result.stderr

    return run


@pytest.mark.parametrize("case", READ)
def test_columns_that_are_plain(case, tmp_path):
    content, labels, note = READ[case]
    path = tmp_path / "l.csv"
    path.write_bytes(content)
    result = classify(GRAPH, path)
    assert (result.estimator._labels.codes >= 0).sum() == labels
    notes = "; ".join(result.notes)
    assert note.replace("$", str(path)) in notes
    assert bool(notes) == bool(note), notes


@pytest.mark.parametrize("case", REFUSED)
def test_columns_that_would_be_a_guess_are_listed(case, place, tmp_path):
    content, parts = REFUSED[case]
    said = place(content, code=1)
    for part in (str(tmp_path / "l.csv"), *parts):
        assert part in said


@SUSPICIOUS
def test_a_named_column_always_wins(place):
    assert "34 labels of 2 classes" in place(csv(FRAME), "--label-column", "club")
    assert "34 labels of 9 classes" in place(csv(FRAME), "--label-column", "age")
    said = place(csv(FRAME), "--label-column", "name")
    assert "34 labels of 34 classes" in said
    assert "note: 34 labels are of 34 classes, fewer than two each in column 'name'" in said
    gephi = csv(renamed("x", "Label", "age", "club").assign(Id=NODES))
    assert "labels of 2 classes" in place(gephi, "--label-column", "club")


def test_columns_without_a_header_are_named_by_their_place(place):
    content = csv(FRAME[["name", "node", "club"]], header=False)
    said = place(content, "--label-column", "column 3", "--node-column", "column 2")
    assert "34 labels of 2 classes" in said


@pytest.mark.parametrize("kind", ["pandas", "parquet"])
def test_tables_and_parquet_files_as_well(kind, tmp_path):
    FRAME.to_parquet(tmp_path / "l.parquet")
    labels = FRAME if kind == "pandas" else tmp_path / "l.parquet"
    with pytest.raises(InputError, match=r"which of 4 columns .*'age' \(9\), 'club' \(2\)"):
        classify(GRAPH, labels)
    result = classify(GRAPH, labels, label_column="club", node_column="node")
    assert set(result.estimator.classes_) == {"Mr. Hi", "Officer"}


def test_an_index_that_parquet_keeps_names_the_nodes(tmp_path):
    frame = FRAME.set_index("node")[["club"]].rename_axis(None)
    frame.to_parquet(tmp_path / "l.parquet")
    assert set(classify(GRAPH, tmp_path / "l.parquet").estimator.classes_) == set(CLUB)


@SUSPICIOUS
def test_names_given_in_a_mapping_are_only_noted():
    result = classify(GRAPH, dict(zip(NODES, FRAME["name"], strict=True)))
    assert result.notes == (
        "34 labels are of 34 classes, fewer than two each; check that these are classes and no "
        "names",
    )


def test_which_labels_are_reviewed_is_kept(tmp_path):
    path = tmp_path / "l.csv"
    path.write_text("node,reviewed,label\na,x,1\nb,,2\nc,TRUE,1\nd,no,2\ne,1,2\nf,yes,1\ng,0,1\n")
    table = read_labels(path)
    assert table.labels == ["1", "2", "1", "2", "2", "1", "1"]
    assert table.reviewed == [True, False, True, False, True, True, False]
    frame = pd.DataFrame({"node": ["a", "b"], "label": [1, 2], "reviewed": [True, None]})
    frame.to_parquet(tmp_path / "l.parquet")
    assert read_labels(tmp_path / "l.parquet").reviewed == [True, False]
    path.write_text("node,label\na,1\n")
    assert read_labels(path).reviewed is None
    path.write_text("node,reviewed\na,x\nb,y\n")
    assert read_labels(path, label="reviewed").labels == ["x", "y"]


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["Officer", "officer", "Hi", "Officer"], "'Officer' (2) and 'officer' (1) differ only in "
         "case or spaces and are two classes; correct the table if they are one"),
        (["Mr Hi", "MrHi", "mr  hi", "b"], "'Mr Hi' (1) and 'MrHi' (1) and 'mr  hi' (1) differ only"
         " in case or spaces and are 3 classes"),
        (["Straße", "STRASSE", "b", "b"], "'Straße' (1) and 'STRASSE' (1) differ only in case"),
    ],
)  # fmt: skip
def test_classes_that_may_be_one_are_named_with_their_counts(place, cells, note):
    text = "node,label\n" + "".join(f"{n},{c}\n" for n, c in zip(NODES, cells, strict=False))
    assert f"note: {note}" in place(text.encode())
    result = classify(GRAPH, dict(zip(NODES, cells, strict=False)))
    assert any(note in said for said in result.notes)
    per_node = classify(GRAPH, [*cells, *[None] * 30])
    assert note in per_node.notes[0]


def test_spaces_around_classes_count_where_they_are_kept():
    result = classify(GRAPH, {"m0": "a ", "m1": "a", "m33": "b", "m32": "b"})
    assert "'a ' (1) and 'a' (1) differ only in case or spaces" in result.notes[0]
    assert classify(GRAPH, {"m0": "a", "m1": "ab", "m33": "b"}).notes == ()

"""Decisions about labels: applied as they are written, or refused with file and line."""

import csv
import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from robustgc.cli.app import app
from robustgc.io.corrections import corrections
from robustgc.io.opening import InputError

RUN = CliRunner()
LABELS = """node,label,source
ann,red,survey
bob,blue,survey
cid,red,"phone, twice"
dan,blue,
eve,red,survey
fay,,survey
"""
ROWS = [
    ["ann", "red", "blue", "0.97"],
    ["bob", "blue", "red", "0.81"],
    ["cid", "red", "blue", "0.66"],
    ["dan", "blue", "blue", "0.12"],
    ["eve", "red", "red", "0.05"],
]
HEADER = ["node", "given", "suggested", "suspicion", "decision"]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "labels.csv").write_text(LABELS, encoding="utf-8")
    return tmp_path


def issues(place, decisions, *, header=HEADER, rows=ROWS, name="issues.csv", **style):
    """Write an issues table with decisions; what is not decided is empty."""
    cells = [*decisions, *[""] * (len(rows) - len(decisions))]
    with (place / name).open("w", newline="", encoding=style.pop("encoding", "utf-8")) as file:
        writer = csv.writer(file, **style)
        writer.writerows([header, *([*row, cell] for row, cell in zip(rows, cells, strict=True))])
    return place / name


def apply(place, *options, code=0, labels="labels.csv", output="cleaned.csv", table="issues.csv"):
    words = ["apply", place / table, "--labels", place / labels, "-o", place / output, *options]
    done = RUN.invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done


def cleaned(place, name="cleaned.csv"):
    """Return the corrected labels, and which are marked, by node."""
    with (place / name).open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    return {r["node"]: r["label"] for r in rows}, {
        r["node"] for r in rows if r["reviewed"] == "true"
    }


def test_every_decision_and_all_else_as_it_was(place):
    issues(place, ["change", "keep", "drop", "red", ""])
    said = apply(place).stderr
    assert "2 changed, 1 dropped, 1 kept, 1 undecided" in said
    assert "cleaned.csv" in said
    assert "cleaned.log.csv" in said
    assert (place / "cleaned.csv").read_text() == (
        "node,label,source,reviewed\n"
        "ann,blue,survey,true\n"
        "bob,blue,survey,true\n"
        'cid,,"phone, twice",false\n'
        "dan,red,,true\n"
        "eve,red,survey,false\n"
        "fay,,survey,false\n"
    )
    assert (place / "cleaned.log.csv").read_text() == (
        "node,before,after,decision,suspicion\n"
        "ann,red,blue,change,0.97\n"
        "bob,blue,blue,keep,0.81\n"
        "cid,red,,drop,0.66\n"
        "dan,blue,red,red,0.12\n"
    )
    assert (place / "labels.csv").read_text() == LABELS


@pytest.mark.parametrize(
    ("decisions", "labels", "marked"),
    [
        ([" KEEP ", "Change", "dROP"], {"ann": "red", "bob": "red", "cid": ""}, {"ann", "bob"}),
        (["red"], {"ann": "red"}, {"ann"}),  # the class that it has: kept
        (["class:blue", "Class: red"], {"ann": "blue", "bob": "red"}, {"ann", "bob"}),
        ([], {"ann": "red"}, set()),
    ],
)
def test_ways_to_write_decisions(place, decisions, labels, marked):
    issues(place, decisions)
    apply(place, "-q")
    after, reviewed = cleaned(place)
    assert {node: after[node] for node in labels} == labels
    assert reviewed == marked


def test_without_any_decision_a_note_says_so(place):
    issues(place, [])
    said = apply(place).stderr
    assert "note:" in said
    assert "has no decision yet" in said
    assert "0 changed, 0 dropped, 0 kept, 5 undecided" in said


BAD = {
    "typo of keep": (["kep"], r"line 2: the decision 'kep' is unknown \(is it 'keep'\?\)"),
    "typo of change": (["", "chnage"], r"line 3: .*'chnage' is unknown \(is it 'change'\?\)"),
    "past tense": (["", "", "dropped"], r"line 4: .*\(is it 'drop'\?\)"),
    "a tick": (["x"], r"'x' is unknown\. It may be keep, change .* classes are 'red', 'blue'"),
    "yes": (["yes"], "the decision 'yes' is unknown"),
    "class in another case": (["Blue"], r"'Blue' is unknown \(is it 'blue'\?\)"),
    "class that no label has": (["green"], r"'green' is unknown.*--new-class"),
    "no class": (["class:"], "the decision 'class:' is unknown"),
    "nothing to change to": (
        ["", "", "", "change"],
        r"line 5: .* label of 'dan', but nothing else than 'blue' is suggested\. Write the class",
    ),
    "a long cell": (["z" * 900], r"\(900 characters\)"),
}


@pytest.mark.parametrize("case", BAD)
def test_decisions_that_are_none(place, case):
    decisions, message = BAD[case]
    with pytest.raises(InputError, match=message):
        corrections(issues(place, decisions), place / "labels.csv")
    assert "issues.csv, line" in apply(place, code=1).stderr
    assert not (place / "cleaned.csv").exists()
    assert not (place / "cleaned.log.csv").exists()


TABLES = {
    "no column decision": (
        {"header": HEADER[:4], "rows": [row[:3] for row in ROWS]},
        r"has no column 'decision'.* Add it",
    ),
    "decision misspelt": ({"header": [*HEADER[:4], "decison"]}, r"\(is it 'decison'\?\)"),
    "no issues table": (
        {"header": ["who", *HEADER[1:]]},
        r"no column 'node'; the columns are 'who'.* robustgc audit",
    ),
    "two columns": (
        {"header": [*HEADER[:3], "decision", "decision"]},
        "two columns 'decision'",
    ),
    "a label that changed since": (
        {"rows": [["ann", "blue", "red", "0.9"]]},
        r"line 2: the label of 'ann' was 'blue' when .*issues\.csv was made, and is 'red' in "
        r".*labels\.csv now\. Audit",
    ),
    "changed, and not decided": (
        {"rows": [*ROWS, ["bob", "red", "red", "0.1"]]},
        r"line 7: the label of 'bob' was 'red'",
    ),
    "an unknown node": (
        {"rows": [*ROWS, ["Ann ", "red", "blue", "0.9"]]},
        r"line 7: 'Ann' has no label in .*\(is it 'ann'.*\); 1 of 6",
    ),
    "a node without a label": (
        {"rows": [*ROWS, ["fay", "red", "blue", "0.9"]]},
        "line 7: 'fay' has no label in",
    ),
    "a row without a node": ({"rows": [["", "red", "blue", "0.9"]]}, "line 2: '' has no label"),
    "no row fits": ({"rows": [["1", "2", "3"]]}, r"line 2: 4 fields where 5 are expected"),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables_that_are_not_about_these_labels(place, case):
    style, message = TABLES[case]
    with pytest.raises(InputError, match=message):
        corrections(issues(place, ["keep"], **style), place / "labels.csv")


@pytest.mark.parametrize(
    ("first", "second", "good"),
    [("keep", "drop", False), ("change", "blue", True), ("keep", "", True), ("keep", "Keep", True)],
)
def test_two_rows_for_a_node(place, first, second, good):
    path = issues(place, [first, second], rows=[ROWS[0], ROWS[0]])
    if good:
        made = corrections(path, place / "labels.csv")
        assert (len(made.log), made.undecided) == (1, 0)
        return
    with pytest.raises(InputError, match=r"line 3: .*'ann' is 'drop', and 'keep' in line 2"):
        corrections(path, place / "labels.csv")


def test_new_classes_are_asked_for(place):
    issues(place, ["green", "class:kept", "keep"])
    said = apply(place, "--new-class").stderr
    assert "new classes: 'green', 'kept'" in said
    assert cleaned(place)[0]["ann"] == "green"
    issues(place, ["kept"])  # a slip of the hand is no class
    assert "(is it 'keep'?)" in apply(place, "--new-class", code=1).stderr


def test_classes_that_are_called_as_decisions_are(place):
    (place / "labels.csv").write_text("node,label\nann,keep\nbob,drop\ncid,keep\n")
    rows = [["ann", "keep", "drop", "0.9"], ["bob", "drop", "keep", "0.8"], ["cid", "keep", "", ""]]
    issues(place, ["drop", "class:keep", "class:drop"], rows=rows)
    said = apply(place).stderr
    assert "note: classes are called as decisions are: 'keep', 'drop'" in said
    assert "class:keep" in said
    assert cleaned(place)[0] == {"ann": "", "bob": "keep", "cid": "drop"}


@pytest.mark.parametrize("mark", [";", "\t", ","])
def test_what_spreadsheets_save(place, mark):
    """A byte order mark, semicolons, CR LF, decimal commas, TRUE, empty rows and columns."""
    (place / "labels.csv").write_bytes(
        "\ufeffnode;label\r\n=1+1;true\r\nJürg;false\r\nKai;true\r\n".encode()
    )
    rows = [
        ["'=1+1", "TRUE", "FALSE", "0,93"],
        ["Jürg", "FALSE", "TRUE", "0,71"],
        ["Kai", "TRUE", "TRUE", "0,11"],
        ["", "", "", ""],
    ]
    header = ["Node", "given", "Suggested", "suspicion", " Decision "]
    decisions = ["change", "drop", "FALSE"]
    style = {"delimiter": mark, "lineterminator": "\r\n", "encoding": "utf-8-sig"}
    issues(place, decisions, header=header, rows=rows, **style)
    assert "2 changed, 1 dropped, 0 kept, 0 undecided" in apply(place).stderr
    assert (place / "cleaned.csv").read_bytes() == (  # as the labels were: mark, ; and CR LF
        "\ufeffnode;label;reviewed\r\n=1+1;false;true\r\nJürg;;false\r\nKai;false;true\r\n"
    ).encode()
    log = (place / "cleaned.log.csv").read_text(encoding="utf-8-sig")
    assert log.splitlines()[1] == "=1+1;true;false;change;0.93"


@pytest.mark.parametrize(
    ("kind", "given", "decisions", "after"),
    [
        (pa.int64(), [3, 7, 3], ["change", "drop", "7"], [7, None, 7]),
        (pa.int32(), [3, 7, 3], ["9", "", ""], [9, 7, 3]),
        (pa.bool_(), [True, False, True], ["change", "true", ""], [False, True, True]),
        (pa.float64(), [3.0, 7.0, None], ["change", "keep"], [7.0, 7.0, None]),
        (pa.dictionary(pa.int8(), pa.string()), ["a", "b", "a"], ["b", "c", ""], ["b", "c", "a"]),
    ],
)
def test_parquet_keeps_its_types(place, kind, given, decisions, after):
    nodes = pa.array([7, 8, 9], type=pa.int32())
    labels = pa.array(given, type=pa.string() if pa.types.is_dictionary(kind) else kind)
    table = pa.table({"label": labels.cast(kind), "node": nodes, "x": [[1], [], [2, 3]]})
    pq.write_table(table, place / "labels.parquet")
    other = {3: 7, 7: 3, True: False, False: True, "a": "b", "b": "a"}
    known = [(n, g) for n, g in zip([7, 8, 9], given, strict=True) if g is not None]
    made = pd.DataFrame(
        {
            "node": [n for n, _ in known],
            "given": [g for _, g in known],
            "suggested": [other[g] for _, g in known],
            "decision": decisions,
        }
    )
    made.to_parquet(place / "issues.parquet")
    options = {"labels": "labels.parquet", "output": "cleaned.parquet", "table": "issues.parquet"}
    apply(place, "--new-class", "--log", place / "log.parquet", **options)
    cleaned = pq.read_table(place / "cleaned.parquet")
    assert cleaned.column("label").to_pylist() == after
    assert cleaned.column("label").type == kind
    assert cleaned.drop_columns(["label", "reviewed"]) == table.drop_columns(["label"])
    assert cleaned.column("reviewed").type == pa.bool_()
    assert pq.read_table(place / "log.parquet").num_rows == sum(map(bool, decisions))


def test_a_class_that_the_column_cannot_hold_is_refused(place):
    pq.write_table(pa.table({"node": ["a", "b"], "label": [1, 2]}), place / "labels.parquet")
    issues(place, ["many"], rows=[["a", "1", "2", "0.9"]])
    options = {"labels": "labels.parquet", "output": "cleaned.parquet"}
    said = apply(place, "--new-class", code=1, **options).stderr
    assert "the labels are int64, which 'many' is not" in said


def test_what_was_reviewed_before_is_remembered(place):
    (place / "labels.csv").write_text("Reviewed,node,label\nyes,ann,red\n,bob,blue\nx,cid,red\n")
    issues(place, ["drop", "keep"], rows=ROWS[:2])
    apply(place)
    text = (place / "cleaned.csv").read_text()
    assert text == "Reviewed,node,label\nfalse,ann,\ntrue,bob,blue\ntrue,cid,red\n"


def test_labels_without_a_header_get_one(place):
    (place / "labels.csv").write_text("ann\tred\nbob\tblue\ncid\tred\n")
    issues(place, ["drop"], rows=ROWS[:3])
    assert "has no header; the corrected labels begin with one" in apply(place).stderr
    text = (place / "cleaned.csv").read_text()
    assert text == "node,label,reviewed\nann,,false\nbob,blue,false\ncid,red,false\n"
    (place / "labels.csv").write_text("who\tteam\nann\tred\nbob\tblue\ncid\tred\n")
    said = apply(place, code=1).stderr
    assert "line 1: this may be a header or a label" in said
    apply(place, "--node-column", "who", "--label-column", "team")
    assert (place / "cleaned.csv").read_text().startswith("who,team,reviewed\nann,,false\n")


def test_comments_that_are_lost_are_mentioned(place):
    (place / "labels.csv").write_text("# of May\n# by Ann\n" + LABELS)
    issues(place, ["keep"])
    assert "note: lines before the table, 2 of" in apply(place).stderr
    assert (place / "cleaned.csv").read_text().startswith("node,label,source,reviewed\n")


def test_names_that_differ_by_a_space_are_two_nodes(place):
    table = pa.table({"node": ["a", "a ", "b"], "label": ["x", "x", "y"]})
    pq.write_table(table, place / "labels.parquet")
    made = pa.table({"node": ["a "], "given": ["x"], "suggested": ["y"], "decision": ["change"]})
    pq.write_table(made, place / "issues.parquet")
    apply(place, labels="labels.parquet", table="issues.parquet", output="cleaned.parquet")
    found = pq.read_table(place / "cleaned.parquet")
    assert found.column("label").to_pylist() == ["x", "y", "y"]


def test_a_node_with_two_equal_rows(place):
    (place / "labels.csv").write_text("node,label\nann,red\nann,red\nbob,blue\n")
    issues(place, ["change"], rows=ROWS[:2])
    apply(place)
    assert (place / "cleaned.csv").read_text().count("ann,blue,true") == 2


@pytest.mark.parametrize(
    ("options", "output", "message"),
    [
        ((), "labels.csv", "is what is read"),
        ((), "issues.csv", "is what is read"),
        (("--log", "{}/labels.csv"), "cleaned.csv", "is what is read"),
        (("--log", "{}/cleaned.csv"), "cleaned.csv", "are the same place"),
        ((), "cleaned.doc", "tables are written as"),
        ((), "nowhere/cleaned.csv", "there is no folder"),
    ],
)
def test_places_that_are_refused_before_anything_is_written(place, options, output, message):
    before = issues(place, ["keep"]).read_text()
    words = [word.replace("{}", str(place)) for word in options]
    assert message in apply(place, *words, code=1, output=output).stderr
    assert (place / "labels.csv").read_text() == LABELS
    assert (place / "issues.csv").read_text() == before
    assert sorted(path.name for path in place.iterdir()) == ["issues.csv", "labels.csv"]


def test_the_labels_stay_as_they_were_where_the_log_cannot_be_written(place):
    issues(place, ["keep"])
    (place / "cleaned.csv").write_text("old")
    made = corrections(place / "issues.csv", place / "labels.csv")
    with pytest.raises(InputError, match="there is no folder"):
        made.write(place / "cleaned.csv", place / "nowhere" / "log.csv")
    assert (place / "cleaned.csv").read_text() == "old"


def test_summary_for_machines(place):
    issues(place, ["keep", "drop"])
    found = json.loads(apply(place, "--json", "-q").stdout)
    counts = {name: found[name] for name in ("changed", "dropped", "kept", "undecided")}
    assert counts == {"changed": 0, "dropped": 1, "kept": 1, "undecided": 3}
    assert found["log"].endswith("cleaned.log.csv")


def test_other_endings_are_refused(place):
    issues(place, ["keep"], name="issues.doc")
    assert "issues tables come as" in apply(place, code=1, table="issues.doc").stderr
    assert "does not exist" in apply(place, code=1, table="issue.csv").stderr

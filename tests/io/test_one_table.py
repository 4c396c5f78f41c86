"""One table with features, labels and names, as people have it: read as it is meant, or refused."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from robustgc import classify
from robustgc.cli.app import app
from robustgc.compare.comparing import compare
from robustgc.io.opening import InputError
from robustgc.io.point_files import Choice, named_points, read_points


def flowers(seed=9403, n=60):
    """Two kinds of flowers that two columns tell apart, with a label for one in three."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    truth = np.array(["rose", "tulip"])[kind]
    return pd.DataFrame(
        {
            "flower": [f"f{k}" for k in range(n)],
            "length": 3.0 * kind + rng.normal(scale=0.4, size=n),
            "colour": rng.choice(["red", "white", "pink"], n),
            "wide": rng.random(n) < 0.5,
            "width": 5.0 * kind + rng.normal(scale=0.4, size=n),
            "species": [name if k % 6 < 2 else None for k, name in enumerate(truth)],
        }
    ), truth


def run(*words, code=0):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == code, result.output + result.stderr
    return result


def written(frame, path, **options):
    if path.suffix == ".parquet":
        frame.to_parquet(path, **options)
    else:
        frame.to_csv(path, sep="\t" if path.suffix == ".tsv" else ",", **options)
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_points_label_column_and_id_are_all_it_takes(tmp_path, ending):
    frame, truth = flowers()
    path = written(frame, tmp_path / f"t.{ending}", index=False)
    result = run("classify", "--points", path, "--label-column", "species", "--id", "flower",
                 "-o", tmp_path / "out.csv", "--save", tmp_path / "model")  # fmt: skip
    answers = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert answers.node.tolist() == frame.flower.tolist()
    assert answers.label.tolist() == truth.tolist()
    assert answers.given.tolist() == frame.species.fillna("").tolist()
    assert "note: 1 column of text is left out: 'colour' (3 distinct values)" in result.stderr
    assert "60 nodes, 20 labels of 2 classes" in result.stderr
    known = read_points(path, Choice(name="flower", label="species"))
    assert known.columns == ("length", "wide", "width")
    np.testing.assert_array_equal(known.X[:, 1], frame.wide)  # true is 1, false is 0
    # The same table without labels is answered the same by the model.
    new = written(frame.drop(columns="species"), tmp_path / f"new.{ending}", index=False)
    run("predict", new, "-m", tmp_path / "model", "--id", "flower", "-o", tmp_path / "new_out.csv")
    assert pd.read_csv(tmp_path / "new_out.csv").label.tolist() == truth.tolist()


def test_audit_and_compare_take_one_table_too(tmp_path):
    frame, truth = flowers()
    path = written(frame, tmp_path / "t.csv", index=False)
    result = run("audit", "--points", path, "--label-column", "species", "--id", "flower",
                 "--above", "0", "-o", tmp_path / "issues.csv")  # fmt: skip
    assert "colour" in result.stderr
    issues = pd.read_csv(tmp_path / "issues.csv").set_index("node").given
    assert issues.to_dict() == frame.dropna().set_index("flower").species.to_dict()
    path = written(frame.assign(species=truth), tmp_path / "truth.csv", index=False)
    run("compare", "--points", path, "--label-column", "species", "--id", "flower", "--sizes", "20",
        "--noise", "0", "--repeats", "1", "--models", "RobustGC",
        "--out", tmp_path / "c")  # fmt: skip
    assert pd.read_csv(tmp_path / "c" / "summary.csv").accuracy_mean[0] > 0.9


def test_labels_are_still_asked_for(tmp_path):
    frame, _ = flowers()
    path = written(frame, tmp_path / "t.csv", index=False)
    for command in ("classify", "audit", "compare"):
        assert "--label-column" in run(command, "--points", path, code=2).stderr
        assert "give --labels" in run(command, path, "--label-column", "species", code=2).stderr


def test_labels_of_a_file_of_their_own_work_as_before(tmp_path):
    frame, truth = flowers()
    points = written(frame.drop(columns="species"), tmp_path / "p.csv", index=False)
    table = frame[["flower", "species"]].dropna()
    labels = written(table, tmp_path / "labels.csv", index=False)
    run("classify", "--points", points, "--labels", labels, "--node-column", "flower",
        "--label-column", "species", "--id", "flower", "-o", tmp_path / "out.csv")  # fmt: skip
    assert pd.read_csv(tmp_path / "out.csv").label.tolist() == truth.tolist()


FRAMES = {
    "pandas": lambda frame: frame,
    "pandas, indexed": lambda frame: frame.set_index("flower"),
    "categories": lambda frame: frame.astype({"species": "category", "colour": "category"}),
    "own types of pandas": lambda frame: frame.convert_dtypes(),
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "a batch of pyarrow": lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
    "an Arrow stream": lambda frame: Stream(pa.Table.from_pandas(frame, preserve_index=False)),
}


class Stream:
    """A table of no library that is known by name."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_every_kind(kind):
    frame, truth = flowers()
    name = None if kind == "pandas, indexed" else "flower"
    result = classify(points=FRAMES[kind](frame), labels="species", id=name)
    assert result.labels == dict(zip(frame.flower, truth, strict=True))
    assert result.features == ("length", "wide", "width")
    assert "1 column of text is left out: 'colour' (3 distinct values)" in result.notes
    assert int((result.estimator._labels.codes >= 0).sum()) == 20


def test_paths_in_python(tmp_path):
    frame, truth = flowers()
    path = written(frame, tmp_path / "t.csv", index=False)
    result = classify(points=path, labels="species", id="flower")
    assert result.labels == dict(zip(frame.flower, truth, strict=True))
    found = compare(
        points=written(frame.assign(species=truth), path, index=False),
        truth="species", models=["RobustGC"], sizes=[20], noise=[0], repeats=1,
    )  # fmt: skip
    assert found.cells[0].accuracy_mean > 0.9
    with pytest.raises(InputError, match="no column 'kind'; the columns are 'flower', 'length'"):
        classify(points=path, labels="kind")
    with pytest.raises(InputError, match=r"other\.csv"):  # a file that is not there
        classify(points=path, labels="other.csv")
    with pytest.raises(InputError, match="An array has no named columns"):
        classify(points=frame[["length", "width"]].to_numpy(), labels="species")


def test_a_usual_name_is_taken_for_names_and_said():
    frame, _ = flowers()
    found = named_points(frame.rename(columns={"flower": "ID"}), Choice(label="species"))
    assert found.names.tolist() == frame.flower.tolist()
    assert "column 'ID' is taken for names of points, not a feature" in found.notes
    numbered = frame.assign(flower=range(100, 160)).rename(columns={"flower": "id"})
    assert named_points(numbered, Choice(label="species")).columns == ("length", "wide", "width")
    indexed = numbered.set_index(frame.flower)
    assert named_points(indexed, Choice(label="species")).names.tolist() == list(range(100, 160))
    assert named_points(indexed, Choice(label="species")).columns == ("length", "wide", "width")


BODY = "".join(f"{k},{k / 7 + 4 * (k % 2)},{k % 3},{'ab'[k % 2]}\n" for k in range(12))
# What is in the file, the columns that are features, what is said of the others.
READ = {
    "index of to_csv": (",x,y,s\n" + BODY, ["x", "y"], "column 1, which has no name and numbers"),
    "index read back and saved again": (
        "Unnamed: 0,x,y,s\n" + BODY, ["x", "y"], "no name ('Unnamed: 0') and numbers the rows (0 "),
    "two of them": (
        "Unnamed: 0.1,Unnamed: 0,x,s\n" + "".join(f"{k},{k},{k % 5},{'ab'[k % 2]}\n"
        for k in range(12)), ["x"], "column 2, which has no name ('Unnamed: 0')"),
    "index of a part, shuffled": (
        ",x,s\n" + "".join(f"{(k * 7) % 100},{k},{'ab'[k % 2]}\n" for k in range(9)), ["x"],
        "numbers the rows (0 to 56)"),
    "row names of R": (
        '"","x","s"\n' + "".join(f'"{k}",{k * k},"{"ab"[k % 2]}"\n' for k in range(1, 9)), ["x"],
        "numbers the rows (1 to 8)"),
    "unnamed, yet a feature": (
        ",x,s\n" + "".join(f"{k / 4},{k},{'ab'[k % 2]}\n" for k in range(9)), ["", "x"], ""),
    "a column of numbers from 0 with a name": ("t,x,y,s\n" + BODY, ["t", "x", "y"], ""),
    "dates and remarks": (
        "day,x,remark,s\n" + "".join(f'2024-01-0{k},{k},"cut, {k}",{"ab"[k % 2]}\n'
        for k in range(1, 9)), ["x"],
        "2 columns of text are left out: 'day' (8 distinct values; as names of the points: --id), "
        "'remark' (8 distinct"),
    "true and false": (
        "x,on,s\n" + "".join(f"{k},{['TRUE', 'false'][k % 3 > 0]},{'ab'[k % 2]}\n"
        for k in range(9)), ["x", "on"], ""),
    "spaces around": (
        "x , colour , s\n" + "".join(f" {k} , red , {'ab'[k % 2]} \n" for k in range(9)), ["x"],
        "'colour' (1 distinct value)"),
    "semicolons": ("x;c;s\n" + "".join(f"{k};q{k % 2};{'ab'[k % 2]}\n" for k in range(9)), ["x"],
                   "'c' (2 distinct values)"),
    "a label column of numbers": (
        "x,y,s\n" + "".join(f"{k},{k % 4},{k % 2 + 1}\n" for k in range(9)), ["x", "y"], ""),
    "labels missing here and there": (
        "x,s\n" + "".join(f"{k},{['a', 'b', ''][k % 3]}\n" for k in range(9)), ["x"], ""),
    "a byte order mark": ("\ufeffx,c,s\n" + "".join(f"{k},q,{'ab'[k % 2]}\n" for k in range(9)),
                          ["x"], "'c' (1 distinct value)"),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_messy_tables_are_read_as_they_are_meant(tmp_path, name):
    text, columns, note = READ[name]
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    found = read_points(path, Choice(label="s"))
    assert list(found.columns) == columns
    assert note in "\n".join(found.notes)
    assert bool(found.notes) == bool(note)
    frame = pd.read_csv(io.StringIO(text.lstrip("\ufeff")), sep=None, engine="python")
    frame.columns = [str(column).strip() for column in frame.columns]
    kept = [f"Unnamed: {k}" if c == "" else c for k, c in enumerate(columns)]
    np.testing.assert_allclose(found.X, frame[kept].to_numpy(dtype=float))
    result = classify(points=path, labels="s")
    assert set(result.estimator.classes_.tolist()) in ({"a", "b"}, {"1", "2"})


REFUSED = {
    "a value that is no number": (
        "x,y,s\n1,2,a\n3,4,b\n5,red,b\n", {}, "line 4: 'red' in column 2 ('y') is no number"),
    "decimal commas and points": (
        "x;y;s\n" + "".join(f"{k},5;{k}.5;{'ab'[k % 2]}\n" for k in range(9)), {},
        "'0.5' has a decimal point"),
    "percent": ("x,y,s\n" + "".join(f"{k}%,{k},{'ab'[k % 2]}\n" for k in range(9)), {},
                "line 2: '0%' in column 1 ('x') is no number"),
    "thousands": ('x,y,s\n"1,200",1,a\n"2,300",2,b\n', {}, "'1,200' may be 1.200 or 1200"),
    "a missing value": ("x,y,s\n1,2,a\n3,,b\n", {}, "line 3: the value in column 2 ('y') is missi"),
    "a column of missing values": ("x,y,s\n1,NA,a\n3,NA,b\n", {}, "line 2: the value in column 2"),
    "neither true nor false": (
        "x,y,s\n" + "1,true,a\n2,false,b\n" * 9000 + "3,maybe,a\n", {},
        "line 18002, column 'y': 'maybe' is neither true nor false"),
    "truth missing": ("x,y,s\n1,true,a\n2,,b\n3,false,b\n", {}, "line 3, column 'y': the value is "
                      "missing (1"),
    "text that was asked for": (
        "x,y,s\n1,red,a\n2,blue,b\n", {"columns": ["x", "y"]}, "line 2: 'red' in column 2 ('y')"),
    "labels asked for as a feature": (
        "x,y,s\n1,2,a\n2,3,b\n", {"columns": ["x", "s"]}, "column 's' holds the labels, so it is"),
    "labels asked for as names": ("x,y,s\n1,2,a\n2,3,b\n", {"name": "s"}, "column 's' holds"),
    "text alone": ("x,y,s\nu,v,a\nw,z,b\n", {}, "no column with numbers to compare points by"),
    "an index alone": (",s\n0,a\n1,b\n2,a\n", {}, "'' numbers the rows"),
    "the same name twice": ("x,x,s\n1,2,a\n3,4,b\n", {}, "two columns are called 'x'. Rename"),
    "no such label": ("x,y\n1,2\n3,4\n", {}, "there is no column 's'; the columns are 'x', 'y'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_messy_tables_that_cannot_be_meant_are_refused(tmp_path, name):
    text, options, message = REFUSED[name]
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_points(path, Choice(label="s", **options))
    assert str(path) in str(caught.value)
    assert message in str(caught.value)
    assert str(caught.value).endswith(".")


def test_an_index_that_pandas_wrote_to_parquet_is_left_out(tmp_path):
    frame, _ = flowers()
    shuffled = frame.drop(columns="flower").sample(frac=1, random_state=9407)
    shuffled.to_parquet(tmp_path / "t.parquet")
    assert "__index_level_0__" in pq.read_schema(tmp_path / "t.parquet").names
    found = read_points(tmp_path / "t.parquet", Choice(label="species"))
    assert found.columns == ("length", "wide", "width")
    assert "no name ('__index_level_0__') and numbers the rows" in found.notes[-1]
    frame.drop(columns="flower").to_csv(tmp_path / "t.csv")
    again = named_points(pd.read_csv(tmp_path / "t.csv"), Choice(label="species"))
    assert again.columns == found.columns
    assert "('Unnamed: 0') and numbers the rows (0 to 59)" in again.notes[-1]


def test_text_that_holds_numbers_counts_as_numbers_in_parquet(tmp_path):
    table = pa.table({"x": ["1.5", "2", "-3e2"], "s": ["a", "b", "a"], "d": [None, None, None]})
    pq.write_table(table.drop(["d"]), tmp_path / "t.parquet")
    assert read_points(tmp_path / "t.parquet", Choice(label="s")).X.ravel().tolist() == [
        1.5,
        2,
        -300,
    ]
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match="row 1, column 'd': the value is missing"):
        read_points(tmp_path / "t.parquet", Choice(label="s"))


def test_frames_that_are_no_tables():
    frame, _ = flowers()
    mixed = frame.assign(length=["tall", *frame.length[1:].tolist()])
    with pytest.raises(InputError, match="columns that are all numbers, or all text"):
        classify(points=mixed, labels="species", id="flower")
    for column in (
        frame.length,
        pl.from_pandas(frame).lazy(),
        pl.Series(frame.length),
        pa.array([1.0]),
    ):
        with pytest.raises(InputError, match=r"The points, of type .* cannot be read as a table"):
            classify(points=column, labels=["a"] * 60)
    twice = pd.concat([frame, frame]).drop(columns="flower")
    with pytest.raises(InputError, match=r"row 61: the name 0 is that of .* row 1 too"):
        classify(points=twice, labels="species")

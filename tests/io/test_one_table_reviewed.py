"""One table of points with labels: marks of review, sheets, and options for other tables."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from robustgc import classify
from robustgc.cli.app import app
from robustgc.io.opening import InputError
from robustgc.io.point_files import Choice, named_points, read_points


def flowers(seed=5101, n=30):
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    X = 6.0 * kind[:, None] + rng.normal(scale=0.3, size=(n, 2))
    truth = np.array(["rose", "tulip"])[kind]
    species = [name if k % 6 < 3 else None for k, name in enumerate(truth)]
    names = [f"f{k}" for k in range(n)]
    return pd.DataFrame({"id": names, "length": X[:, 0], "width": X[:, 1], "species": species})


def run(*words, code=0):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == code, result.output + result.stderr
    return result


@pytest.mark.parametrize("option", [("--node-column", "id"), ("--label-sheet", "Sheet1")])
def test_options_of_a_table_of_labels_are_refused_without_one(tmp_path, option):
    path = tmp_path / "t.csv"
    flowers().to_csv(path, index=False)
    for command in ("classify", "audit", "compare"):
        result = run(command, "--points", path, "--label-column", "species", *option, code=2)
        assert "--node-column and --label-sheet are for --labels; the column" in result.stderr


def test_the_note_on_sheets_is_said_once(tmp_path):
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as book:
        flowers().to_excel(book, sheet_name="flowers", index=False)
        pd.DataFrame({"x": [1]}).to_excel(book, sheet_name="other", index=False)
    result = classify(points=path, labels="species")
    assert sum("the sheet 'flowers' is read, not 'other'" in note for note in result.notes) == 1
    pd.DataFrame(flowers().drop(columns="species")).to_csv(tmp_path / "p.csv", index=False)
    with pd.ExcelWriter(path) as book:
        flowers()[["id", "species"]].to_excel(book, sheet_name="flowers", index=False)
        pd.DataFrame({"x": [1]}).to_excel(book, sheet_name="other", index=False)
    result = classify(points=tmp_path / "p.csv", labels=path, label_column="species")
    assert sum("the sheet 'flowers' is read, not 'other'" in note for note in result.notes) == 1


NOTE = "column 'reviewed' says which labels were reviewed; it is no feature"


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_labels_that_were_reviewed_are_known_and_no_feature(tmp_path, ending):
    frame, path = flowers(), tmp_path / f"t.{ending}"
    frame["reviewed"] = [k == 6 for k in range(len(frame))]
    write = {"csv": frame.to_csv, "xlsx": frame.to_excel, "parquet": frame.to_parquet}[ending]
    write(path, index=False)
    for points in (path, frame):
        result = classify(points=points, labels="species")
        assert result.features == ("length", "width")
        assert NOTE in result.notes
        assert result.reviewed == {"f6": "rose"}
    run("audit", "--points", path, "--label-column", "species", "--above", "0",
        "-o", tmp_path / "issues.csv")  # fmt: skip
    assert pd.read_csv(tmp_path / "issues.csv").node.iloc[-1] == "f6"


def test_a_column_called_reviewed_is_a_feature_where_it_cannot_mean_labels(tmp_path):
    frame = flowers().assign(reviewed=range(30))
    assert named_points(frame.drop(columns="species")).columns[-1] == "reviewed"
    frame.to_csv(tmp_path / "t.csv", index=False)
    chosen = read_points(
        tmp_path / "t.csv", Choice(label="species", columns=["length", "reviewed"])
    )
    assert (chosen.columns, chosen.labels.reviewed) == (("length", "reviewed"), None)
    with pytest.raises(InputError, match="line 4: '2' in the column reviewed is neither yes"):
        read_points(tmp_path / "t.csv", Choice(label="species"))


def test_the_loop_of_review_on_one_table(tmp_path):
    path, again = tmp_path / "t.csv", tmp_path / "again.csv"
    flowers().to_csv(path, index=False)
    run("audit", "--points", path, "--label-column", "species", "--above", "0",
        "-o", tmp_path / "issues.csv")  # fmt: skip
    issues = pd.read_csv(tmp_path / "issues.csv", keep_default_na=False)
    issues.assign(decision="keep").to_csv(tmp_path / "issues.csv", index=False)
    run("apply", tmp_path / "issues.csv", "--labels", path, "--label-column", "species",
        "-o", again)  # fmt: skip
    result = classify(points=again, labels="species")
    assert result.features == ("length", "width")
    assert result.reviewed == flowers().dropna().set_index("id").species.to_dict()

"""One table of points with labels: marks of review, sheets, and options for other tables."""

import numpy as np
import openpyxl
import pandas as pd
import pytest
from typer.testing import CliRunner

from robustgc import classify
from robustgc.cli import app
from robustgc.io.opening import InputError
from robustgc.io.point_files import named_points, read_points


def flowers(seed=5101, n=30):
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    X = 6.0 * kind[:, None] + rng.normal(scale=0.3, size=(n, 2))
    truth = np.array(["rose", "tulip"])[kind]
    return pd.DataFrame({"id": [f"f{k}" for k in range(n)], "length": X[:, 0], "width": X[:, 1],
                         "species": [s if k % 6 < 3 else None for k, s in enumerate(truth)]})  # fmt: skip


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
        assert "--node-column and --label-sheet are for --labels; the names of" in result.stderr


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

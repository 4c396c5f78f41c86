"""Headers of points that are numbers: told where they can be, else the flag is named."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from robustgc.cli.app import app
from robustgc.io.dialect import Dialect
from robustgc.io.opening import InputError
from robustgc.io.point_files import Choice, read_points

NOTE = "line 1 is read as a header, as it counts the columns (--no-header reads it as a point)"


def groups(seed=6211, n=40, columns=3):
    rng = np.random.default_rng(seed)
    return 6.0 * (np.arange(n) % 2)[:, None] + rng.normal(scale=0.3, size=(n, columns))


def run(*words):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == 0, result.output + result.stderr
    return result


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx"])
@pytest.mark.parametrize("index", [False, True])
def test_a_header_that_counts_the_columns(tmp_path, ending, index):
    X, path = groups(), tmp_path / f"plain.{ending}"
    if ending == "xlsx":
        pd.DataFrame(X).to_excel(path, index=index)
    else:
        pd.DataFrame(X).to_csv(path, index=index, sep="\t" if ending == "tsv" else ",")
    found = read_points(path)
    np.testing.assert_allclose(found.X, X)
    assert found.columns == ("0", "1", "2")
    assert found.notes[0] == NOTE


def test_the_user_decides_what_the_first_line_is(tmp_path):
    path = tmp_path / "plain.csv"
    pd.DataFrame(groups()).to_csv(path, index=False)
    assert len(read_points(path, dialect=Dialect(header=False)).X) == 41
    found = read_points(path, dialect=Dialect(header=True))
    assert (len(found.X), found.notes) == (40, ())


@pytest.mark.parametrize("first", ["0,1,3", "1,2,3", "0,0,0", "0.0,1.0,2.0"])
def test_other_numbers_are_a_point(tmp_path, first):
    path = tmp_path / "plain.csv"
    path.write_text(f"{first}\n0.5,1,2\n3,4,5\n")
    assert (len(read_points(path).X), read_points(path).notes) == (3, ())
    path.write_text("0,1,2\n")
    assert read_points(path).X.tolist() == [[0, 1, 2]]


def test_labels_by_row_number_meet_their_points(tmp_path):
    pd.DataFrame(groups()).to_csv(tmp_path / "plain.csv", index=False)
    (tmp_path / "labels.csv").write_text(
        "node,label\n" + "".join(f"{k},{'ab'[k % 2]}\n" for k in range(12))
    )
    result = run("classify", "--points", tmp_path / "plain.csv", "--labels",
                 tmp_path / "labels.csv", "-o", tmp_path / "out.csv",
                 "--save", tmp_path / "model")  # fmt: skip
    assert NOTE in result.stderr
    assert pd.read_csv(tmp_path / "out.csv").label.tolist() == ["a", "b"] * 20
    # A first point that is a name of all the model's columns is not lost without a word.
    new = tmp_path / "new.csv"
    new.write_text("0,1,2\n6,6,6\n0,0,0\n")
    assert NOTE in run("predict", new, "-m", tmp_path / "model").stderr
    new.write_text("0,6,6.5\n6,6,6\n0,0,0\n")
    assert "3 of 3 points" in run("predict", new, "-m", tmp_path / "model").stderr


def test_years_above_numbers(tmp_path):
    years, path = pd.DataFrame(groups(), columns=[1990, 1991, 1992]), tmp_path / "years.csv"
    years.to_csv(path, index=False)
    model = ["1990", "1991", "1992"]
    found = read_points(path, Choice(model=model))
    assert len(found.X) == 40
    assert (
        "line 1 is read as a header, as it has the names of the model's columns" in found.notes[0]
    )
    path.write_text("Sepal,1990\n" + "1.5,2\n3,4\n" * 5)
    with pytest.raises(InputError, match=r"line 1: 'Sepal' in column 1 is no number. .* --header"):
        read_points(path)
    assert len(read_points(path, dialect=Dialect(header=True)).X) == 10
    path.write_text("1,1990\n" + "1.5,2\nSepal,4\n3,4\n3,5\n" * 5)
    with pytest.raises(InputError, match=r"line 3: 'Sepal' .* is no number. Correct it, or"):
        read_points(path)

"""Columns of new points are matched to those of the fit by name, never by their place alone."""

import json
import shutil

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from robustgc import RobustGC, ZhouGC, classify
from robustgc.api import load
from robustgc.cli.app import app
from robustgc.io.opening import InputError
from robustgc.io.point_files import named_points, read_points
from robustgc.storage.files import digest

COLUMNS = ["height", "width", "depth"]


def groups(seed=9203, n=30):
    """Two groups that the first column tells apart; in the other columns they are mirrored."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(["a", "b"], n)
    side = np.where(truth == "a", -1.0, 1.0)
    X = np.column_stack([4 * side, -4 * side, 0 * side]) + rng.normal(size=(2 * n, 3))
    frame = pd.DataFrame(X, columns=COLUMNS)
    given = [name if k % n < 5 else None for k, name in enumerate(truth)]
    return frame, given, truth


def run(*words, code=0):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == code, result.output + result.stderr
    return result


@pytest.fixture
def model(tmp_path):
    frame, given, _ = groups()
    frame.assign(id=[f"p{k}" for k in range(60)], group=given).to_csv(
        tmp_path / "pts.csv", index=False
    )
    run("classify", "--points", tmp_path / "pts.csv", "--label-column", "group",
        "--save", tmp_path / "model", "-o", tmp_path / "out.csv")  # fmt: skip
    return tmp_path / "model"


def predicted(tmp_path, new, model, *words):
    result = run("predict", tmp_path / new, "-m", model, "-o", tmp_path / "new_out.csv", *words)
    return pd.read_csv(tmp_path / "new_out.csv").label.tolist(), result.stderr


def without(model, *keys, parameters=()):
    """Return a copy of a model as it was saved before some entries of the manifest were there."""
    other = shutil.copytree(model, model.with_name("earlier"))
    manifest = json.loads((other / "manifest.json").read_text())
    for key in keys:
        manifest["model"][key] = None
    for key in parameters:
        del manifest["model"]["parameters"][key]
    for name in ("column_mean.npy", "column_deviation.npy"):
        manifest["files"].pop(name, None)
        (other / name).unlink(missing_ok=True)
    manifest["sha256"] = digest(manifest["model"], manifest["files"])
    (other / "manifest.json").write_text(json.dumps(manifest))
    return other


@pytest.mark.parametrize("order", [[2, 0, 1], [1, 0, 2], [2, 1, 0]], ids=str)
@pytest.mark.parametrize("ending", ["csv", "parquet", "tsv"])
def test_predict_finds_columns_in_any_order(tmp_path, model, order, ending):
    frame, _, truth = groups(seed=9209, n=5)
    new = frame[[COLUMNS[k] for k in order]]
    if ending == "parquet":
        new.to_parquet(tmp_path / "new.parquet")
    else:
        new.to_csv(tmp_path / f"new.{ending}", index=False, sep="\t" if ending == "tsv" else ",")
    labels, said = predicted(tmp_path, f"new.{ending}", model)
    assert labels == truth.tolist()
    assert "left out" not in said


def test_columns_that_the_model_does_not_know_are_left_out_and_named(tmp_path, model):
    frame, _, truth = groups(seed=9209, n=5)
    frame.insert(1, "salary", 1e6)
    frame.insert(0, "flower", [f"f{k}" for k in range(10)])
    frame.to_csv(tmp_path / "new.csv")  # with an index
    labels, said = predicted(tmp_path, "new.csv", model)
    assert labels == truth.tolist()
    assert "columns that the model does not know are left out: '', 'flower', 'salary'" in said
    labels, said = predicted(tmp_path, "new.csv", model, "--id", "flower")
    assert labels == truth.tolist()
    assert pd.read_csv(tmp_path / "new_out.csv").node.tolist() == frame.flower.tolist()


def test_missing_columns_are_named(tmp_path, model):
    frame, _, _ = groups(seed=9209, n=5)
    frame.rename(columns={"width": "Width", "depth": "z"}).to_csv(tmp_path / "new.csv", index=False)
    said = run("predict", tmp_path / "new.csv", "-m", model, code=1).stderr
    assert "2 of the 3 columns that the model was fitted on are missing: 'width', 'depth'" in said
    assert "the columns are 'height', 'Width', 'z'. Add or rename columns" in said
    frame.to_csv(tmp_path / "new.csv", index=False)
    said = run("predict", tmp_path / "new.csv", "-m", model, "--columns", "width,depth", code=1)
    assert "1 of the 3 columns that the model was fitted on is missing: 'height'" in said.stderr


def test_a_column_that_is_there_twice_is_refused(tmp_path, model):
    (tmp_path / "new.csv").write_text("height,width,depth,width\n1,2,3,4\n2,3,4,5\n")
    said = run("predict", tmp_path / "new.csv", "-m", model, code=1).stderr
    assert "two columns are called 'width'" in said
    with pytest.raises(InputError, match="two columns are called 'width'"):
        read_points(tmp_path / "new.csv")


def test_points_without_names_must_have_the_right_count(tmp_path, model):
    frame, _, truth = groups(seed=9209, n=5)
    np.save(tmp_path / "new.npy", frame.to_numpy())
    labels, said = predicted(tmp_path, "new.npy", model)
    assert labels == truth.tolist()
    assert "no header; their columns are taken as 'height', 'width', 'depth'" in said
    np.save(tmp_path / "new.npy", frame.to_numpy()[:, :2])
    said = run("predict", tmp_path / "new.npy", "-m", model, code=1).stderr
    assert "2 columns, the model was fitted on 3 ('height', 'width', 'depth')" in said
    frame.to_csv(tmp_path / "new.csv", index=False, header=False)
    labels, said = predicted(tmp_path, "new.csv", model)
    assert labels == truth.tolist()


def test_models_without_names_still_load_and_say_that_order_is_trusted(tmp_path, model):
    frame, _, _ = groups(seed=9209, n=5)
    frame.to_csv(tmp_path / "new.csv", index=False)
    earlier = without(model, "feature_names", parameters=["metric"])
    assert load(earlier).features is None
    assert load(earlier).estimator.metric == "euclidean"
    _, said = predicted(tmp_path, "new.csv", earlier)
    assert "the model has no names of columns" in said
    frame[["height"]].to_csv(tmp_path / "new.csv", index=False)
    said = run("predict", tmp_path / "new.csv", "-m", earlier, code=1).stderr
    assert "1 column, the model was fitted on 3. Give the same columns" in said


FRAMES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


@pytest.mark.parametrize("library", FRAMES)
def test_the_estimator_of_a_result_matches_frames_by_name(library):
    frame, given, _ = groups()
    made = FRAMES[library]
    result = classify(points=made(frame), labels=given)
    assert result.features == tuple(COLUMNS)
    new, _, truth = groups(seed=9209, n=5)
    clf = result.estimator
    assert clf.predict(made(new)).tolist() == truth.tolist()
    assert clf.predict(made(new[["depth", "height", "width"]])).tolist() == truth.tolist()
    extra = new[["depth", "height", "width"]].assign(salary=1e6)
    with pytest.warns(UserWarning, match="not fitted on columns 'salary' of X; they are left out"):
        assert clf.predict(made(extra)).tolist() == truth.tolist()
    with pytest.raises(ValueError, match=r"X: 1 of the 3 columns .* is missing: 'width'"):
        clf.predict(made(new[["depth", "height"]]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):  # scikit-learn's
        assert clf.predict(new.to_numpy()).tolist() == truth.tolist()


@pytest.mark.parametrize("estimator", [RobustGC, ZhouGC])
def test_estimators_fitted_on_a_frame_match_by_name(estimator):
    frame, given, _ = groups()
    y = ["" if label is None else label for label in given]
    fitted = estimator().fit(frame, y)
    new, _, truth = groups(seed=9209, n=5)
    turned = new[["depth", "height", "width"]]
    assert fitted.predict(turned).tolist() == truth.tolist()
    np.testing.assert_array_equal(fitted.predict_proba(turned), fitted.predict_proba(new))
    assert fitted.score(turned, truth) == 1


def test_new_points_of_a_result_are_matched_by_name(tmp_path):
    frame, given, _ = groups()
    result = classify(points=frame, labels=given)
    result.save(tmp_path / "model")
    new, _, truth = groups(seed=9209, n=5)
    turned = named_points(new[["depth", "height", "width"]].assign(salary=3.0))
    for one in (result, load(tmp_path / "model")):
        with pytest.warns(UserWarning, match="not fitted on columns 'salary'"):
            found = one.predicted(turned)
        assert found["label"] == truth.tolist()
    with pytest.raises(InputError, match="The points: 3 of the 3 columns"):
        result.predicted(named_points(pd.DataFrame({"x": [1.0]})))


def test_damaged_names_in_a_manifest_are_refused(model):
    for names in (["height"], ["height", "width", 3], "height"):
        manifest = json.loads((model / "manifest.json").read_text())
        manifest["model"]["feature_names"] = names
        manifest["sha256"] = digest(manifest["model"], manifest["files"])
        (model / "manifest.json").write_text(json.dumps(manifest))
        with pytest.raises(ValueError, match="feature_names"):
            load(model)

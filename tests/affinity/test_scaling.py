"""Columns on different scales: standardised unless the user says no, and never in silence."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from forging import forged
from robustgc import BelkinGC, HarmonicGC, RobustGC, ZhouGC, classify
from robustgc.affinity.features import Standardisation
from robustgc.api import load
from robustgc.cli.app import app
from robustgc.compare.comparing import compare
from robustgc.io.opening import InputError

NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


def iris(seed=9311, share=0.2):
    """Iris with a column that tells nothing and is 10,000 times as wide; a fifth has labels."""
    rng = np.random.default_rng(seed)
    X, target = load_iris(return_X_y=True)
    truth = np.array(["setosa", "versicolor", "virginica"])[target]
    frame = pd.DataFrame(X, columns=NAMES)
    frame["salary"] = rng.normal(50_000, 20_000, len(X)).round()
    given = [name if rng.random() < share else None for name in truth]
    return frame, given, truth


def accuracy(result, truth):
    return np.mean([result.labels.get(k) == name for k, name in enumerate(truth)])


def run(*words, code=0):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == code, result.output + result.stderr
    return result


def test_a_salary_column_does_not_decide_over_iris():
    frame, given, truth = iris()
    standard = classify(points=frame, labels=given)
    assert accuracy(standard, truth) > 0.85
    assert any("standardised: mean 0, deviation 1" in note for note in standard.notes)
    with pytest.warns(UserWarning, match="times the standard deviation"):
        plain = classify(points=frame, labels=given, scaling="none")
    assert accuracy(plain, truth) < 0.6
    assert not any("standardised" in note for note in plain.notes)


def test_the_answers_are_those_of_a_standard_scaler():
    frame, given, _ = iris()
    y = ["" if label is None else label for label in given]
    scaler = StandardScaler().fit(frame.to_numpy())
    by_hand = RobustGC().fit(scaler.transform(frame.to_numpy()), y)
    result = classify(points=frame, labels=given)
    np.testing.assert_array_equal(result.estimator.transduction_, by_hand.transduction_)
    new = frame.to_numpy()[::3] + 0.05
    expected = by_hand.decision_function(scaler.transform(new))
    found = result.estimator.decision_function(pd.DataFrame(new, columns=frame.columns))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    # Fitted rows get their fitted values.
    np.testing.assert_array_equal(result.estimator.predict(frame), result.estimator.transduction_)


def test_a_saved_model_scales_new_points_as_the_fit_did(tmp_path):
    frame, given, truth = iris()
    result = classify(points=frame, labels=given)
    result.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.notes == result.notes
    new = frame.iloc[::3] * 1.01
    expected = result.estimator.decision_function(new)
    np.testing.assert_array_equal(again.estimator.decision_function(new), expected)
    new.to_csv(tmp_path / "new.csv", index=False)
    run("predict", tmp_path / "new.csv", "-m", tmp_path / "model", "-o", tmp_path / "out.csv")
    labels = pd.read_csv(tmp_path / "out.csv").label
    assert labels.tolist() == result.estimator.predict(new).tolist()
    assert np.mean(labels == truth[::3]) > 0.85


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"column_mean": np.zeros(4)}, r"column_mean\.npy .* shape \(4,\)"),
        ({"column_mean": np.full(5, np.nan)}, r"column_mean\.npy .* only finite"),
        ({"column_deviation": np.full(5, -1.0)}, r"column_deviation\.npy .* 0 is the least"),
        ({"column_deviation": np.ones(5, dtype=int)}, r"column_deviation\.npy .* float64"),
    ],
)
def test_damaged_scales_are_refused(tmp_path, arrays, message):
    frame, given, _ = iris()
    classify(points=frame, labels=given).save(tmp_path / "model")
    forged(tmp_path / "model", **arrays)
    with pytest.raises(ValueError, match=f"(?s){message}"):
        load(tmp_path / "model")


def test_a_metric_that_is_none_in_a_manifest_is_refused(tmp_path):
    frame, given, _ = iris()
    classify(points=frame, labels=given).save(tmp_path / "model")
    forged(tmp_path / "model", lambda model: model["parameters"].update(metric="taxi"))
    with pytest.raises(ValueError, match=r"manifest\.json .* metric='taxi' is unknown"):
        load(tmp_path / "model")


def test_weights_of_a_graph_have_no_scales(tmp_path):
    result = classify(np.ones((6, 6)), ["a", "b", None, None, None, None])
    result.save(tmp_path / "model")
    forged(tmp_path / "model", column_mean=np.zeros(6), column_deviation=np.ones(6))
    with pytest.raises(ValueError, match="weights of a graph are not standardised"):
        load(tmp_path / "model")


@pytest.mark.filterwarnings("always")
def test_the_command_says_it_and_the_page_does(tmp_path):
    frame, given, truth = iris()
    frame.assign(species=given, always=3.5).to_csv(tmp_path / "t.csv", index=False)
    base = ("classify", "--points", tmp_path / "t.csv", "--label-column", "species")
    said = run(*base, "-o", tmp_path / "out.csv", "--report", tmp_path / "page.html").stderr
    note = "columns are standardised: mean 0, deviation 1; --scale none"
    assert f"note: {note}" in said
    assert "note: columns that hold one value only have no effect: 'always'" in said
    assert note in re.search('<ul[^>]*id="notes">.*?</ul>', (tmp_path / "page.html").read_text())[0]
    assert np.mean(pd.read_csv(tmp_path / "out.csv").label == truth) > 0.85
    said = run(*base, "-o", tmp_path / "out.csv", "--scale", "none").stderr
    assert "standardised" not in said
    assert "warning: Column 4 (from 0) of X has" in said
    assert "--scale standard" in said
    assert np.mean(pd.read_csv(tmp_path / "out.csv").label == truth) < 0.6
    said = run(*base, "-o", tmp_path / "out.csv", "--metric", "cosine").stderr
    assert "note: columns are left as they are, for cosines; --scale standard" in said


def test_other_scales_and_metrics_are_refused(tmp_path):
    frame, given, _ = iris()
    frame.assign(species=given).to_csv(tmp_path / "t.csv", index=False)
    base = ("classify", "--points", tmp_path / "t.csv", "--label-column", "species")
    said = run(*base, "--scale", "minmax", code=2).stderr
    assert "--scale minmax is unknown; choose standard or none" in said
    said = run(*base, "--metric", "taxi", code=2).stderr
    assert "--metric taxi is unknown; choose euclidean or cosine" in said
    for option in (("--scale", "none"), ("--metric", "cosine")):
        said = run("classify", tmp_path / "t.csv", "-l", "x.csv", *option, code=2).stderr
        assert f"{option[0]} " in said
        assert "for --points" in said
    with pytest.raises(InputError, match="scaling='minmax' is unknown"):
        classify(points=frame, labels=given, scaling="minmax")
    with pytest.raises(InputError, match="id= and scaling= are for points="):
        classify(np.ones((3, 3)), ["a", "b", None], scaling="none")


def test_cosines_are_standardised_only_when_asked():
    frame, given, _ = iris()
    plain = classify(points=frame, labels=given, metric="cosine")
    assert plain.estimator._scaling is None
    both = classify(points=frame, labels=given, metric="cosine", scaling="standard")
    scaled = StandardScaler().fit_transform(frame.to_numpy())
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    np.testing.assert_allclose(both.estimator._X, scaled, atol=1e-12)
    np.testing.assert_array_equal(both.estimator.predict(frame), both.estimator.transduction_)


def test_a_kernel_of_ones_own_sees_the_points_as_they_are():
    frame, given, _ = iris()
    seen = []

    def kernel(A, B):
        seen.append(A.copy())
        return np.exp(-0.01 * np.abs(A[:, None, 2] - B[None, :, 2]))

    result = classify(points=frame, labels=given, affinity=kernel)
    np.testing.assert_array_equal(seen[0], frame.to_numpy())
    assert any("left as they are, for a kernel of your own" in note for note in result.notes)


def test_a_new_fit_forgets_the_scales():
    frame, given, _ = iris()
    clf = classify(points=frame, labels=given).estimator
    y = ["" if label is None else label for label in given]
    X = StandardScaler().fit_transform(frame.to_numpy()) + 7
    np.testing.assert_array_equal(clf.fit(X, y)._X, X)


def test_a_comparison_standardises_too(tmp_path):
    frame, _, truth = iris()
    options = {"models": ["RobustGC", "LabelSpreading"], "sizes": [20], "noise": [0], "repeats": 2}
    found = compare(points=frame, truth=list(truth), **options)
    assert all(cell.accuracy_mean > 0.8 for cell in found.cells)
    assert any("standardised" in note for note in found.notes)
    plain = compare(points=frame, truth=list(truth), scaling="none", **options)
    assert all(cell.accuracy_mean < 0.6 for cell in plain.cells)
    frame.assign(species=truth).to_csv(tmp_path / "t.csv", index=False)
    said = run("compare", "--points", tmp_path / "t.csv", "--label-column", "species", "--models",
               "RobustGC", "--sizes", "20", "--noise", "0", "--repeats", "1",
               "--metric", "cosine", "--out", tmp_path / "out").stderr  # fmt: skip
    assert "left as they are, for cosines" in said


@pytest.mark.parametrize("estimator", [RobustGC, ZhouGC, BelkinGC, HarmonicGC])
def test_estimators_warn_of_spreads_and_leave_x_alone(estimator):
    frame, given, _ = iris()
    y = ["" if label is None else label for label in given]
    with pytest.warns(UserWarning, match=r"Column 'salary' of X has .* of column 'sepal width'"):
        fitted = estimator().fit(frame, y)
    np.testing.assert_array_equal(fitted._X, frame.to_numpy())
    rng = np.random.default_rng(9319)
    X = rng.normal(size=(150, 3))
    for factor, warns in ((80, False), (130, True)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator().fit(X * [1, factor, 3], y)
        assert bool(caught) == warns


def test_what_does_not_warn():
    frame, given, _ = iris()
    y = ["" if label is None else label for label in given]
    X = frame.to_numpy()
    RobustGC(metric="cosine").fit(X, y)
    RobustGC().fit(sp.csr_array(X), y)
    RobustGC(affinity=lambda A, B: np.exp(-0.01 * np.abs(A[:, None, 2] - B[None, :, 2]))).fit(X, y)
    constant = np.column_stack([X[:, :4], np.full(150, 1e9)])
    RobustGC().fit(constant, y)
    # Pixels at the border are hardly ever lit, which is no matter of scales.
    digits, target = load_digits(return_X_y=True)
    RobustGC(landmarks=200).fit(digits, np.where(np.arange(len(target)) < 100, target, -1))


def test_constant_and_extreme_columns():
    rng = np.random.default_rng(9323)
    X = np.column_stack(
        [
            rng.normal(size=40),
            np.full(40, 0.1),  # the sum of forty is not four
            np.zeros(40),
            1e300 * rng.normal(size=40),
            1e-300 * rng.normal(size=40),
            np.where(np.arange(40) % 2, 1.7e308, -1.7e308),
        ]
    )
    found = Standardisation.of(X).applied(X)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[:, [1, 2]], 0)
    others = found[:, [0, 3, 4, 5]]
    np.testing.assert_allclose(others.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(others.std(axis=0), 1, rtol=1e-12)
    # A new point that differs in a column that was constant is not thrown far away by it.
    np.testing.assert_array_equal(Standardisation.of(X).applied(X + 5)[:, [1, 2]], 0)


def test_wide_points_are_standardised_column_by_column():
    rng = np.random.default_rng(9337)
    X = rng.normal(size=(50, 101)) * 10.0 ** rng.integers(-5, 6, size=101)
    expected = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(Standardisation.of(X).applied(X), expected, rtol=1e-9, atol=1e-9)

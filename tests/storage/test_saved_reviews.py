"""A saved model remembers which labels a person has confirmed."""

import json

import numpy as np
import pandas as pd
import pytest

from forging import forged
from robustgc import classify
from robustgc.api import load

EDGES = pd.DataFrame(
    [(f"{side}{i}", f"{side}{j}") for side in "ab" for i in range(5) for j in range(i)]
    + [("a0", "b0")],
    columns=["source", "target"],
)
LABELS = pd.DataFrame(
    {
        "node": ["a1", "a2", "a3", "b1", "b2", "b3"],
        "label": ["red", "red", "blue", "blue", "blue", "red"],
        "reviewed": [True, False, True, False, True, False],
    }
)


@pytest.fixture
def result():
    return classify(EDGES, LABELS)


@pytest.mark.parametrize("place", ["model", "model.zip"])
def test_reviewed_labels_stay_last(result, tmp_path, place):
    result.save(tmp_path / place)
    again = load(tmp_path / place)
    assert again.reviewed == result.reviewed == {"a1": "red", "a3": "blue", "b2": "blue"}
    assert again.issues.node.tolist() == result.issues.node.tolist()
    assert again.issues.reviewed.tolist() == [False] * 3 + [True] * 3


def test_a_label_that_was_changed_is_no_longer_confirmed(result, tmp_path):
    result.update({"a3": "red", "b2": None}).save(tmp_path / "model")
    assert load(tmp_path / "model").reviewed == {"a1": "red"}


def test_models_without_reviews_load_as_before(tmp_path):
    classify(EDGES, LABELS.drop(columns="reviewed")).save(tmp_path / "model")
    manifest = json.loads((tmp_path / "model" / "manifest.json").read_text(encoding="utf-8"))
    assert "reviewed.npy" not in manifest["files"]
    again = load(tmp_path / "model")
    assert again.reviewed is None
    assert again.issues.reviewed is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(9, dtype=bool), r"shape \(9,\); it must be \(10,\)"),
        (np.zeros(10, dtype=np.int64), "type int64; it must be bool"),
        (np.ones(10, dtype=bool), r"node \d is reviewed, but has no label"),
    ],
)
def test_damaged_reviews_are_refused(result, tmp_path, values, message):
    result.save(tmp_path / "model")
    forged(tmp_path / "model", reviewed=values)
    with pytest.raises(ValueError, match=rf"reviewed\.npy .*{message}"):
        load(tmp_path / "model")

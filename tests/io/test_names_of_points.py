"""Which names the points of a table have, and by which of them labels find their rows."""

import numpy as np
import pandas as pd
import pytest

from robustgc import classify
from robustgc.compare.comparing import compare
from robustgc.io.point_files import Choice, named_points


def flowers(seed=7411, n=40):
    """Two kinds of flowers in two groups far apart, with names that are numbers of other rows."""
    rng = np.random.default_rng(seed)
    kind = np.repeat([0, 1], n // 2)
    X = 6.0 * kind[:, None] + rng.normal(scale=0.3, size=(n, 2))
    return pd.DataFrame(
        {
            "id": rng.permutation(n),
            "length": X[:, 0],
            "width": X[:, 1],
            "species": np.array(["rose", "tulip"])[kind],
        }
    )


@pytest.mark.parametrize("name", [None, "id"])
def test_a_column_of_names_goes_before_the_index(name):
    frame = flowers().sample(frac=1, random_state=7417)
    found = named_points(frame, Choice(name, "species"))
    assert found.names.tolist() == frame.id.tolist()
    assert found.columns == ("length", "width")
    nameless = named_points(frame.drop(columns="id"), Choice(label="species"))
    assert nameless.names.tolist() == frame.index.tolist()


BY_ROW = "the labels go by row, as their index is that of the points; names are of a column"


def correct(result, frame):
    return np.mean([result.labels[k] == v for k, v in zip(frame.id, frame.species, strict=True)])


@pytest.mark.parametrize("shuffled", [False, True])
def test_labels_with_the_index_of_the_points_go_by_row(shuffled):
    frame = flowers()
    frame = frame.sample(frac=1, random_state=7433) if shuffled else frame
    result = classify(points=frame.drop(columns="species"), labels=frame["species"])
    assert correct(result, frame) == 1
    assert BY_ROW in result.notes
    some = frame["species"].where(np.arange(len(frame)) % 3 == 0)
    assert correct(classify(points=frame.drop(columns="species"), labels=some), frame) == 1
    found = compare(points=frame.drop(columns="species"), truth=frame["species"], sizes=[8],
                    models=["RobustGC"], noise=[0], repeats=1)  # fmt: skip
    assert found.cells[0].accuracy_mean > 0.9


def test_labels_with_the_names_of_the_points_go_by_name():
    frame = flowers()
    points, labels = frame.drop(columns="species"), frame.set_index("id")["species"]
    result = classify(points=points, labels=labels)
    assert correct(result, frame) == 1
    assert BY_ROW not in result.notes
    result = classify(points=points, labels=labels[:30])
    assert correct(result, frame) == 1
    assert any("labels.reindex(points.index)" in note for note in result.notes)
    texts = frame.assign(id=[f"f{k}" for k in frame.id])
    result = classify(points=texts, labels=texts.set_index("id")["species"][:30])
    assert correct(result, texts) == 1
    assert not any("labels" in note for note in result.notes)
    # An index that gives the names is nothing to speak of.
    indexed = frame.set_index("id")
    result = classify(points=indexed[["length", "width"]], labels=indexed["species"])
    assert correct(result, frame) == 1
    assert not any("labels" in note for note in result.notes)

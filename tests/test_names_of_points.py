"""Which names the points of a table have, and by which of them labels find their rows."""

import numpy as np
import pandas as pd
import pytest

from robustgc import classify
from robustgc.comparing import compare
from robustgc.io.point_files import named_points


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
    found = named_points(frame, name=name, label="species")
    assert found.names.tolist() == frame.id.tolist()
    assert found.columns == ("length", "width")
    nameless = named_points(frame.drop(columns="id"), label="species")
    assert nameless.names.tolist() == frame.index.tolist()

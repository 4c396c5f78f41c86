import numpy as np
import pytest

from robustgc.paper.stats import differs, ranks, standard_errors


def around(mean, spread=0.1):
    return mean + spread * np.linspace(-1, 1, 20)


def test_equal_samples_do_not_differ_and_shifted_ones_do():
    assert not differs(around(5), around(5))
    assert differs(around(5), around(5) + 0.01)
    noise = np.random.default_rng(3).standard_normal(20)
    assert not differs(noise, np.zeros(20))


# means; which neighbours are alike; the ranks of the paper's table for such cells
@pytest.mark.parametrize(
    ("accuracies", "expected"),
    [
        ({"a": 76, "b": 76, "c": 79, "d": 79}, {"a": 4, "b": 4, "c": 1, "d": 1}),
        ({"a": 80, "b": 85, "c": 87, "d": 85}, {"a": 4, "b": 2, "c": 1, "d": 2}),
        ({"a": 92, "b": 94, "c": 90, "d": 85}, {"a": 2, "b": 1, "c": 3, "d": 4}),
        ({"a": 90, "b": 95, "c": 99, "d": 99}, {"a": 4, "b": 3, "c": 1, "d": 1}),
        ({"a": 94, "b": 90, "c": 90, "d": 90}, {"a": 1, "b": 4, "c": 4, "d": 4}),
        ({"a": 98, "b": 98, "c": 98, "d": 98}, {"a": 1, "b": 1, "c": 1, "d": 1}),
    ],
)
def test_ranks_follow_the_papers_table(accuracies, expected):
    assert ranks({name: around(mean) for name, mean in accuracies.items()}) == expected


def test_standard_errors_of_the_difference():
    assert standard_errors(90, 3, 89, 4, 25) == pytest.approx(1.0)
    assert standard_errors(90, 0, 90, 0, 20) == 0
    assert standard_errors(90, 0, 91, 0, 20) == -np.inf

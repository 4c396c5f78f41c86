"""Classes compared by the nearest mean."""

import numpy as np
import pytest

import lifting
from robustgc import RobustGC
from robustgc.choice.values import squared_class_means


@pytest.mark.parametrize("away", [0.0, 3.0])
def test_squared_class_means_by_pairs_of_labels(away):
    rng = np.random.default_rng(2837)
    codes, sizes = np.repeat([0, 1, 2], [5, 4, 1]), rng.uniform(0.5, 2.0, 10)
    root = rng.standard_normal((10, 4))
    K = root @ root.T
    np.fill_diagonal(K, 0.0)
    Y = np.eye(3)[codes] * sizes[:, None]
    elsewhere = np.array([away, 0.0, away])

    def common(keep, c):
        mine = [i for i in keep if codes[i] == c]
        shared = sum(sizes[i] * K[i, j] * sizes[j] for i in mine for j in mine)
        here = sum(sizes[i] for i in mine)
        pairs = sum(sizes[i] * sizes[j] for i in mine for j in mine if i != j)
        return shared / pairs * (here / (here + elsewhere[c])) ** 2 if pairs > 0 else 0.0

    with_all, without = (x[0] for x in squared_class_means((K @ Y)[None], Y, elsewhere))
    np.testing.assert_allclose(with_all, [common(range(10), c) for c in range(3)])
    for i in range(10):
        keep = [j for j in range(10) if j != i]
        np.testing.assert_allclose(without[i], [common(keep, c) for c in range(3)], atol=1e-12)


def test_unequal_classes_keep_their_size():
    """A small class is not given what lies between: the mean that is nearest decides."""
    W, truth = lifting.blocks(2843, [260, 60, 24], 0.12, 0.02)
    y, _ = lifting.some_labels(2851, truth, 6)
    plain = RobustGC(eta=0.95, n_modes=2, class_weight="balanced", affinity="precomputed")
    auto = RobustGC(affinity="precomputed").fit(W, y)
    assert np.mean(auto.transduction_ == truth) > 0.9
    assert np.mean(auto.transduction_ == truth) > np.mean(plain.fit(W, y).transduction_ == truth)
    assert sum(c.weight for c in auto.selection_ if c.centred and c.is_filter) > 0.2

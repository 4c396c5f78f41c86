"""What the tests of the estimators share."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

import graphs
from robustgc import BelkinGC, HarmonicGC, PoissonGC, RobustGC, ZhouGC

ESTIMATORS = [RobustGC, ZhouGC, BelkinGC, HarmonicGC, PoissonGC]
EACH = pytest.mark.parametrize("estimator", ESTIMATORS)


def moons(n=120, n_labels=12, seed=17):
    X, truth = make_moons(n, noise=0.08, random_state=seed)
    y = np.full(n, -1)
    labelled = np.random.default_rng(seed).permutation(n)[:n_labels]
    y[labelled] = truth[labelled]
    return X, y, truth


CLIQUES = graphs.two_cliques(4, 0.1)
Y_CLIQUES = np.array([0, -1, -1, -1, 1, -1, -1, -1])

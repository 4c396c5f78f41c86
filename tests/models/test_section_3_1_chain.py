"""Section 3.1: the chain of 20 nodes with a link ten times weaker in the middle."""

import numpy as np
import pytest

import graphs
from robustgc import Graph, belkin, lambda_1, robust, zhou

CHAIN = Graph(graphs.path(20, [1.0] * 9 + [0.1] + [1.0] * 9))
ROBUST = 0.5 * lambda_1(CHAIN)
LEFT, RIGHT = np.arange(10), np.arange(10, 20)


def labels(positive, negative):
    y = np.zeros(20)
    y[positive], y[negative] = 1, -1
    return y


def test_robust_almost_a_step_function_with_two_correct_labels():
    f = robust(CHAIN, labels([4], [15]), gamma=ROBUST).f
    assert (f[LEFT] > 0).all()
    assert (f[RIGHT] < 0).all()
    inner = f / np.sqrt(CHAIN.d)
    assert inner[LEFT].std() < 0.35 * inner[LEFT].mean()


def test_zhou_fits_known_labels_and_pushes_unknown_ones_towards_zero():
    f = zhou(CHAIN, labels([4], [15]), gamma=1.0).f
    assert f[4] > 0.5
    assert f[15] < -0.5
    assert np.abs(f[[0, 9, 10, 19]]).max() < 0.01


@pytest.mark.parametrize("flipped", [12, 13, 17])
def test_a_flipped_label_leaves_the_split_in_place(flipped):
    others = [n for n in (11, 14, 16, 18) if n != flipped][:3]
    y = labels([4, flipped], others)
    f = robust(CHAIN, y, gamma=ROBUST).f
    assert (f[LEFT] > 0).all()
    assert (f[RIGHT] < 0).mean() > 0.8
    fitted = zhou(CHAIN, y, gamma=1.0).f
    assert fitted[flipped] > 0  # ZhouGC fits the wrong label
    clean = belkin(CHAIN, labels([4], [*others, flipped]), n_vectors=2).f
    wrong = belkin(CHAIN, y, n_vectors=2).f
    assert np.abs(wrong[RIGHT]).mean() < np.abs(clean[RIGHT]).mean()  # pushed towards zero

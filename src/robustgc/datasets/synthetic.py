"""Graphs and points drawn from the models of the paper's experiments."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import make_moons

from robustgc.datasets.base import Dataset
from robustgc.graph.weights import Array, Weights, components


def chain(n_nodes: int = 20, weak: float = 0.1) -> Dataset:
    """Return a chain with one weak link in the middle, section 3.1 of the paper.

    Examples
    --------
    >>> from robustgc.datasets import chain
    >>> chain(6, weak=0.1).weights.diagonal(1)
    array([1. , 1. , 0.1, 1. , 1. ])
    """
    links = np.ones(n_nodes - 1)
    links[n_nodes // 2 - 1] = weak
    weights = sp.csr_array(sp.diags_array([links, links], offsets=[1, -1]))
    labels = np.where(np.arange(n_nodes) < n_nodes // 2, "positive", "negative")
    return _dataset("chain", labels, weights=weights)


def two_blocks(
    n_nodes: int = 200, inside: float = 0.7, across: float = 0.3, *, seed: int
) -> Dataset:
    """Draw a block model of two equal clusters, section 4.1 of the paper."""
    labels = np.repeat(["positive", "negative"], [n_nodes // 2, n_nodes - n_nodes // 2])
    blocks = (labels == "negative").astype(int)
    return _dataset("two_blocks", labels, weights=_blocks(blocks, inside, across, seed))


def three_blocks(
    per_block: int = 100, inside: float = 0.3, across: float = 0.05, *, seed: int
) -> Dataset:
    """Draw the paper's `synth`: three clusters, one of them the positive class."""
    blocks = np.repeat([0, 1, 2], per_block)
    labels = np.where(blocks == 0, "positive", "negative")
    return _dataset("three_blocks", labels, weights=_blocks(blocks, inside, across, seed))


def moons(per_class: int = 50, noise: float = 0.1, *, seed: int) -> Dataset:
    """Draw points on two interleaved half circles."""
    X, side = make_moons(2 * per_class, noise=noise, random_state=seed)
    return _dataset("moons", np.where(side == 1, "positive", "negative"), points=X)


def _blocks(blocks: NDArray[np.int64], inside: float, across: float, seed: int) -> Weights:
    """Draw 0/1 weights; again, from the same stream, in the rare case of several components."""
    rng = np.random.default_rng(seed)
    chance = np.where(blocks[:, None] == blocks[None, :], inside, across)
    while True:
        upper = np.triu(rng.random(chance.shape) < chance, k=1)
        weights = sp.csr_array((upper | upper.T).astype(float))
        if components(weights)[0] == 1:
            return weights


def _dataset(
    name: str, labels: NDArray[np.str_], weights: Weights | None = None, points: Array | None = None
) -> Dataset:
    return Dataset(
        name=name,
        weights=weights,
        points=points,
        labels=labels,
        names=np.array([f"node {i}" for i in range(len(labels))]),
        citation="Generated, after the paper's description.",
        licence="Free to use.",
    )

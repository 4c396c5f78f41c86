"""Lifted models as docs/lifted.md states them, dense; block models with several classes."""

import numpy as np
import scipy.sparse as sp

import oracles
from robustgc.models.parameters import Parameters
from robustgc.transduction.problem import Problem

CHOICE = Parameters(None, None, False)


def lifted_laplacian(W, q):
    """L_N + sum_{1<=l<=q} (lambda_q - lambda_l) v_l v_l', and lambda_q."""
    L = oracles.laplacian(W)
    values, vectors = np.linalg.eigh(L)
    first = vectors[:, 1 : q + 1]
    return L + (first * (values[q] - values[1 : q + 1])) @ first.T, values[q]


def kernel(W, q, *, gamma=None, eta=None):
    """(L~ / gamma - I)^-1 P0 for a gamma or eta * lambda_q."""
    L, level = lifted_laplacian(W, q)
    gamma = eta * level if gamma is None else gamma
    return np.linalg.solve(L / gamma - np.eye(len(W)), oracles.projector(W))


def spectral_kernels(W, models):
    """The same for several (q, eta), from one decomposition of a larger graph."""
    values, vectors = np.linalg.eigh(oracles.laplacian(W))
    values, V = values[1:], vectors[:, 1:]
    found = {}
    for q, eta in models:
        gamma = eta * values[q - 1]
        weights = gamma / (np.maximum(values, values[q - 1]) - gamma)
        found[q, eta] = (V * weights) @ V.T
    return found


def blocks(seed, sizes, inside, across):
    """Unit weights with given probabilities; neighbours in number are tied, so it is connected."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(truth[:, None] == truth, inside, across)
    W = np.triu(rng.random(chance.shape) < chance, 1)
    W[np.arange(len(truth) - 1), np.arange(1, len(truth))] = True
    W = W.astype(float)
    return sp.csr_array(W + W.T), truth


def some_labels(seed, truth, per_class, wrong=0):
    """Labels of some nodes of every class, -1 elsewhere, and which of them are wrong."""
    rng = np.random.default_rng(seed)
    y, K = np.full(len(truth), -1), int(truth.max()) + 1
    for k in range(K):
        nodes = rng.permutation(np.flatnonzero(truth == k))[:per_class]
        y[nodes] = k
    flipped = rng.permutation(np.flatnonzero(y >= 0))[:wrong]
    y[flipped] = (y[flipped] + rng.integers(1, K, wrong)) % K
    return y, np.sort(flipped)


def one_hot(y, weights=None):
    """A column per class, with label weights; -1 is unlabelled."""
    Y = np.zeros((len(y), int(y.max()) + 1))
    nodes = np.flatnonzero(y >= 0)
    Y[nodes, y[nodes]] = 1.0 if weights is None else weights[nodes]
    return Y


def problem(graph, y, model=CHOICE):
    """The problem of labels y, -1 for none, on a connected graph, all of one weight."""
    nodes = np.flatnonzero(y >= 0)
    classes, codes = np.unique(y[nodes], return_inverse=True)
    weights, mass = np.ones(len(nodes)), np.bincount(codes).astype(float)
    return Problem(graph, nodes, codes, weights, classes, mass, model, nodes)

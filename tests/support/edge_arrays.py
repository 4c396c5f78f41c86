"""Edges as arrays, and the graphs that scipy builds of them."""

import numpy as np
import scipy.sparse as sp

ONE, TWO = np.array([0, 1]), np.array([1, 2])


def sample(seed, n=300, m=2000):
    """Distinct pairs in both directions, loops among them, and weights."""
    rng = np.random.default_rng(seed)
    pairs = rng.permutation(np.unique(np.sort(rng.integers(0, n, (m, 2)), axis=1), axis=0))
    turned = rng.random(len(pairs)) < 0.5
    pairs[turned] = pairs[turned][:, ::-1]
    assert (pairs[:, 0] == pairs[:, 1]).any()
    return pairs, rng.random(len(pairs)) + 0.1


def expected(pairs, weights=None, n=None):
    weights = np.ones(len(pairs)) if weights is None else weights
    s, t = pairs.T
    off = s != t
    n = int(pairs.max()) + 1 if n is None else n
    triples = (np.r_[weights, weights[off]], (np.r_[s, t[off]], np.r_[t, s[off]]))
    return sp.csr_array(sp.coo_array(triples, shape=(n, n)))


def check(graph, wanted, exact=True):
    wanted.sort_indices()
    np.testing.assert_array_equal(graph.indptr, wanted.indptr)
    np.testing.assert_array_equal(graph.indices, wanted.indices)
    close = 0 if exact else 1e-14
    np.testing.assert_allclose(graph.to_scipy().data, wanted.data, rtol=close)
    assert graph.indptr.dtype == np.int64
    assert graph.indices.dtype == np.int32

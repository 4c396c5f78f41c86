"""Places for a picture: quick, of every graph, with what belongs together side by side."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
from robustgc import CSR
from robustgc.datasets import load_polblogs
from robustgc.report.layout import MOST_EDGES, MOST_NODES, layout


def blocks(rng, n, n_blocks, links=6, across=0.05):
    """Return a large random graph with groups, and the groups."""
    group = rng.integers(0, n_blocks, n)
    ends = rng.integers(0, n, (2, n_blocks * links * n))
    kept = (group[ends[0]] == group[ends[1]]) | (rng.random(ends.shape[1]) < across)
    rows, cols = ends[:, kept]
    W = sp.coo_array((np.ones(len(rows)), (rows, cols)), shape=(n, n)).tocsr()
    return sp.csr_array(W + W.T), group


def check(drawn, W=None, most=MOST_NODES):
    n = len(drawn.nodes)
    assert 0 <= n <= most
    assert drawn.xy.shape == (n, 2)
    assert np.isfinite(drawn.xy).all()
    assert ((drawn.xy >= 0) & (drawn.xy <= 1)).all()
    assert (np.diff(drawn.nodes) > 0).all()
    assert len(drawn.edges) <= MOST_EDGES
    if W is not None and len(drawn.edges):
        i, j = drawn.nodes[drawn.edges].T
        assert (i != j).all()
        assert (np.asarray(W[i, j]).ravel() > 0).all()


def apart(xy, group):
    """Return how much of the variance is between two groups."""
    means = np.array([xy[group == g].mean(axis=0) for g in np.unique(group)])
    within = np.mean([xy[group == g].var(axis=0).sum() for g in np.unique(group)])
    return means.var(axis=0).sum() / (means.var(axis=0).sum() + within)


def test_the_two_sides_of_polblogs_lie_apart():
    data = load_polblogs()
    drawn = layout(data.weights, seed=7)
    check(drawn, data.weights)
    assert len(drawn.nodes) == 1222
    assert len(drawn.edges) == MOST_EDGES
    assert apart(drawn.xy, data.labels) > 0.4
    # Whiskers do not eat the picture: half of the nodes take a good part of it.
    low, high = np.quantile(drawn.xy, [0.25, 0.75], axis=0)
    assert ((high - low) / np.ptp(drawn.xy, axis=0) > 0.2).all()


@pytest.mark.parametrize("kind", ["scipy", "CSR", "points"])
def test_a_large_graph_is_sampled_quickly(kind):
    rng = np.random.default_rng(61)
    W, group = blocks(rng, 100_000, 3)
    labelled = rng.choice(100_000, 1500, replace=False)
    points = (
        rng.standard_normal((100_000, 50)) + 5 * np.eye(50)[group] if kind == "points" else None
    )
    given = W if kind != "CSR" else CSR.from_scipy(W)
    started = time.perf_counter()
    drawn = layout(given, points, group, np.isin(np.arange(100_000), labelled), seed=7)
    assert time.perf_counter() - started < 4  # twice the budget: tests share their machine
    check(drawn, W)
    assert len(drawn.nodes) == MOST_NODES
    assert np.isin(drawn.nodes, labelled).sum() >= 1000
    assert apart(drawn.xy, group[drawn.nodes]) > 0.4


def test_few_labelled_nodes_are_all_drawn():
    rng = np.random.default_rng(62)
    W, _ = blocks(rng, 5000, 2)
    labelled = rng.choice(5000, 40, replace=False)
    mask = np.isin(np.arange(5000), labelled)
    drawn = layout(W, labelled=mask, seed=7)
    assert np.isin(labelled, drawn.nodes).all()
    again = layout(W, labelled=mask, seed=7)
    np.testing.assert_array_equal(drawn.nodes, again.nodes)
    np.testing.assert_array_equal(drawn.xy, again.xy)
    assert not np.array_equal(drawn.nodes, layout(W, labelled=mask, seed=8).nodes)


def test_components_do_not_overlap():
    W = sp.block_diag([np.ones((40, 40)), np.ones((30, 30)), np.ones((3, 3)), [[0.0]]]).tocsr()
    drawn = layout(W, seed=7)
    check(drawn, W)
    parts = np.split(drawn.xy, [40, 70, 73])
    boxes = [(part.min(axis=0), part.max(axis=0)) for part in parts]
    for a, (low, high) in enumerate(boxes):
        for low_b, high_b in boxes[a + 1 :]:
            assert ((high < low_b) | (high_b < low)).any()


def test_heavy_edges_are_drawn_first():
    rng = np.random.default_rng(63)
    W = graphs.random_weights(rng, 300)
    drawn = layout(W, seed=7)
    check(drawn, W)
    upper = np.sort(W[np.triu_indices(300, 1)])[::-1]
    shown = W[tuple(drawn.edges.T)]
    assert len(shown) == min(MOST_EDGES, (upper > 0).sum())
    assert shown.min() == upper[len(shown) - 1]


def test_a_graph_too_large_to_look_at_is_drawn_by_class(monkeypatch):
    monkeypatch.setattr("robustgc.report.layout._WHOLE", 100)
    rng = np.random.default_rng(64)
    W, group = blocks(rng, 4000, 2)
    drawn = layout(CSR.from_scipy(W), None, group, seed=7)
    check(drawn, W)
    assert apart(drawn.xy, group[drawn.nodes]) > 0.5


ODD = {
    "nothing": lambda: (sp.csr_array((0, 0)), None),
    "one node": lambda: (np.zeros((1, 1)), None),
    "a loop": lambda: (np.ones((1, 1)), None),
    "no edges": lambda: (sp.csr_array((5000, 5000)), None),
    "a star": lambda: (_star(50), None),
    "a path": lambda: (sp.diags_array([np.ones(2999)] * 2, offsets=(-1, 1)).tocsr(), None),
    "complete": lambda: (np.ones((600, 600)), None),
    "huge weights": lambda: (1e308 * _star(20), None),
    "tiny weights": lambda: (1e-300 * _star(20), None),
    "points": lambda: (None, np.arange(12.0).reshape(6, 2)),
    "one feature": lambda: (None, np.arange(6.0)[:, None]),
    "equal points": lambda: (None, np.ones((6, 4))),
    "missing points": lambda: (_star(6), np.full((6, 4), np.nan)),
    "sparse points": lambda: (None, sp.csr_array(np.eye(8))),
    "many features": lambda: (None, np.random.default_rng(65).random((20, 900))),
    "products only": lambda: (_Products(), None),
}


def _star(n):
    W = np.zeros((n, n))
    W[0, 1:] = W[1:, 0] = 1
    return W


class _Products:
    shape = (7, 7)


@pytest.mark.parametrize("name", ODD)
def test_never_fails(name):
    W, points = ODD[name]()
    drawn = layout(W, points, seed=7)
    check(drawn)
    n = (W if W is not None else points).shape[0]
    assert len(drawn.nodes) == min(n, MOST_NODES)

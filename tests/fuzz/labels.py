"""Labels of every type, with every marker, in every container; weights of labels, priors."""

import datetime

import numpy as np
import pandas as pd

from tests.fuzz.draw import chance, exponents, pick

# The classes that labels are drawn from; the first ones are the ordinary ones.
POOLS = [
    [0, 1], [0, 1, 2], ["a", "b"], ["spam", "ham", "eggs"], [3, 7, 11, 12, 40],
    [True, False], [1.0, 2.0], [2**53, 2**53 + 1], [2**63 - 1, -(2**63)], [2**64 - 1, 5],
    ["été", "日本", "x" * 20], ["\ud800", "\udfff b"], ["a\0", "a"], ["=1+1", "@x", "-y", "\t"],
    ["long " * 90, "long " * 91], ["a", "A", "a "], ["nan", "None", "-1"],
    ["\n", "\r\n", "<b>&\"'"],
    [np.int8(3), np.int8(-3)], [np.str_("x"), np.str_("y")], [b"x", b"y"], [np.float32(1), 4.0],
    [-1, -2], [-1, 0, 1], [0, -0.0, 2],
]  # fmt: skip
ODD = [
    [("a", 1), ("b", 2)], [1, "1"], [1.5, 2.5], [np.inf, 1.0], [2**70, 3], [1j, 2], [[1], [2]],
    [datetime.date(2020, 1, 2), datetime.date(2021, 1, 2)], [{}, {1: 2}], [0, 1, None, "x"],
    [b"\xff", b"\xfe"], [0], ["one"], [np.datetime64("2020-01-01"), np.datetime64("2021-01-01")],
    [object(), 3], [True, 2], [frozenset({1}), frozenset()],
]  # fmt: skip


def _marker(rng, pool):
    """Return what marks unlabelled nodes, and the parameter `unlabeled` that goes with it."""
    mark = pick(rng, None, None, np.nan, "" if isinstance(pool[0], str) else -1)
    if chance(rng, 0.05):
        mark = pick(rng, 99, "none", -7.0, True, pool[0])
        return mark, mark
    if chance(rng, 0.03):
        return mark, pick(rng, [1], (), {}, np.array([1, 2]), "\ud800", 2**70, 1e400, "x" * 900)
    return mark, None


def _objects(y):
    kept = np.empty(len(y), dtype=object)
    kept[:] = y
    return kept


def _array(y):
    try:
        return np.array(y)
    except (ValueError, OverflowError, UnicodeError):
        return _objects(y)


CONTAINERS = [
    list, list, _objects, _array, _array, tuple, lambda y: pd.Series(y, dtype=object),
    lambda y: _objects(y)[:, None],
]  # fmt: skip


def labels(rng, n):
    """Return labels for n nodes, one value of `unlabeled`, and the classes they were drawn from."""
    pool = pick(rng, *ODD) if chance(rng, 0.06) else pick(rng, *POOLS[:5], *POOLS)
    marker, unlabeled = _marker(rng, pool)
    share = pick(rng, 0.1, 0.3, 0.3, 0.6, 1.0)
    y = [pick(rng, *pool) if chance(rng, share) else marker for _ in range(n)]
    if n >= len(pool) and chance(rng, 0.9):
        for place, value in zip(rng.permutation(n), pool, strict=False):
            y[place] = value
    if chance(rng, 0.02):
        y = pick(rng, y[:-1], [*y, marker], [], [marker] * n)
    if chance(rng, 0.01):
        return pick(rng, None, "abc", 7, {}, np.zeros((n, 2)), object()), unlabeled, pool
    return pick(rng, *CONTAINERS)(y), unlabeled, pool


def sample_weight(rng, n):
    """Return how much every label counts; mostly None."""
    if not chance(rng, 0.25):
        return None
    if chance(rng, 0.1):
        return pick(
            rng, np.full(n, np.nan), -np.ones(n), np.ones(n + 1), "x", ["x"] * n, np.zeros(n), 2.0,
            np.full(n, np.inf), np.ones((n, 1)), [None] * n, {}, np.full(n, 5e-324),
        )  # fmt: skip
    return pick(
        rng, rng.random(n), exponents(rng, n, pick(rng, 1, 8, 150, 300)), np.ones(n, dtype=bool),
        rng.integers(0, 2, n).astype(float), rng.random(n).tolist(), np.full(n, 1e-300),
    )  # fmt: skip


def priors(rng, pool):
    """Return class priors; mostly None."""
    if not chance(rng, 0.15):
        return None
    K = len(pool)
    shares = rng.dirichlet(np.full(K, pick(rng, 1.0, 0.05))) + 1e-12
    shares = shares / shares.sum()
    hashable = all(isinstance(value, int | float | str | bytes | bool) for value in pool)
    named = dict(zip(pool, shares.tolist(), strict=True)) if hashable else None
    return pick(
        rng, "labels", shares, shares.tolist(), named, named, np.ones(K) / K, "equal", [0.5], {},
        np.zeros(K), np.full(K, np.nan), {"x": 1.0}, 0.5, ["a"] * K, [1.0] + [1e-300] * (K - 1),
    )  # fmt: skip

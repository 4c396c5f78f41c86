"""Loops in numpy, for small graphs, give what the compiled ones give."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp

from robustgc.graph import loops, plain_loops
from robustgc.io import _rows

N = 40


def both(name, make, module=loops):
    """Call both functions on arrays of their own; return these arrays and the answers."""
    found = []
    for home in (module, plain_loops):
        arguments = copy.deepcopy(make)
        answer = getattr(home, name)(*arguments)
        found.append((answer, arguments))
    return found


def same(name, *arguments, module=loops):
    (expected, one), (answer, other) = both(name, arguments, module)
    assert answer == expected
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)
    return other


def rows_of(seed, dtype=np.float64, sound=True):
    """Rows of a matrix, some without entries; if it is not sound, with all kinds of faults."""
    rng = np.random.default_rng(seed)
    W = sp.random_array((N, N), density=0.1, rng=rng, format="csr")
    W = sp.csr_array(W + W.T) if sound else W
    W.sum_duplicates()
    data = W.data.astype(dtype)
    if not sound:
        W.indices[:] = rng.integers(-3, N + 3, W.nnz)
        data[rng.integers(0, W.nnz, 9)] = [0, 0, -1, -2, np.inf, -np.inf, np.nan, 1, 1]
    return W.indptr, W.indices, data


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("part", [(0, N), (7, 31), (5, 5)])
def test_faults_degrees_and_self_loops(part, weighted):
    for seed in (31, 37):
        for sound in (False, True):
            indptr, indices, data = rows_of(seed, sound=sound)
            data = data if weighted else None
            start = np.array([0, 0, 0, 0, np.inf, -np.inf])
            found = _both_inspect(indptr, indices, data, start, part)
            if sound:
                assert not found[:3].any()
                same("diagonal", indptr, indices, data, np.zeros(N), *part)
            elif part == (0, N):
                assert (found[: 3 if weighted else 1] > 0).all()


def _both_inspect(indptr, indices, data, start, part):
    (_, one), (_, other) = both("inspect", (indptr, indices, data, N, np.zeros(N), start, *part))
    np.testing.assert_array_equal(one[4], other[4])
    counts = 4 if data is not None and np.isnan(data).any() else 6
    np.testing.assert_array_equal(one[5][:counts], other[5][:counts])
    return other[5]


@pytest.mark.parametrize("dtype", [None, np.float32, np.float64])
def test_products(dtype):
    indptr, indices, data = rows_of(41, dtype or np.float64)
    u = np.random.default_rng(43).standard_normal((N, 7))
    (_, one), (_, other) = both(
        "product", (indptr, indices, None if dtype is None else data, u, np.zeros_like(u), 0, N)
    )
    np.testing.assert_allclose(one[4], other[4], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("dtype", [None, np.float32, np.float64])
def test_hashes_of_symmetry(dtype):
    indptr, indices, data = rows_of(47, dtype or np.float64)
    bits = None if dtype is None else data.view(f"u{data.dtype.itemsize}")
    for first, a, b in [(0, 0, N), (1000, 3, 22)]:
        found = same("asymmetry", indptr, indices, bits, first, np.zeros(1, np.uint64), a, b)
        assert (found[4][0] == 0) == (first == 0)


@pytest.mark.parametrize("density", [0.01, 0.04, 0.2])
def test_components(density):
    rng = np.random.default_rng(53)
    for _ in range(20):
        W = sp.random_array((60, 60), density=density, rng=rng, format="csr")
        W = sp.csr_array(W + W.T)
        root = np.sqrt(np.maximum(W.sum(axis=1), 1e-3))
        for n, least in [(60, 1e-24), (60, 0.3), (40, 1e-24)]:  # 40: others are elsewhere
            rows = sp.csr_array(W[:n])
            number = np.zeros(n, np.int32)
            same("components", rows.indptr, rows.indices, rows.data, root[:n], least, number)


@pytest.mark.parametrize("way", [0, 1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_edges_in_rows(way, weighted, dtype):
    for seed in range(59, 69):
        rng = np.random.default_rng(seed)
        n, edges = int(rng.integers(1, 25)), int(rng.integers(0, 200))
        s, t = rng.integers(0, n, (2, edges)).astype(dtype)
        w = rng.choice([0.0, 0.1, 0.2, 0.3, 1.0, 1e9], edges) if weighted else None
        indptr = np.zeros(n + 1, dtype=np.int64)
        indptr[1:] = np.cumsum(same("count", s, t, np.zeros(n, np.int64), module=_rows)[2])
        entries = np.zeros(indptr[-1], dtype=np.int32)
        values = np.zeros(indptr[-1]) if weighted else None
        place = indptr[:-1]
        (_, one), (_, other) = both("fill", (s, t, w, place, entries, values), _rows)
        np.testing.assert_array_equal(one[4], other[4])
        if weighted:
            np.testing.assert_array_equal(one[5], other[5])
        kept, found = np.zeros(n, np.int64), np.zeros(plain_loops.FOUND)
        if seed % 2:  # as on a rank, where nodes are counted from its first one
            one[4][:] -= 2 * (n // 2)
        (_, one), (_, other) = both(
            "merge", (indptr, one[4], one[5], way, kept, found, 0, n), _rows
        )
        np.testing.assert_array_equal(one[4], other[4])  # how many are kept
        np.testing.assert_array_equal(one[5], other[5])  # what was noticed
        rows = [rows[:4] for rows in (one, other)]
        packed = []
        for home, (indptr_, entries_, values_, _), many in zip(
            (_rows, plain_loops), rows, (one[4], other[4]), strict=True
        ):
            size = home.pack(indptr_, many, entries_, values_)
            packed.append((indptr_, entries_[:size], None if values_ is None else values_[:size]))
        for a, b in zip(*packed, strict=True):
            np.testing.assert_array_equal(a, b)

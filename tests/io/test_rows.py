"""Edges put together, against dense matrices."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from robustgc.io.opening import InputError
from robustgc.io.rows import assemble, index_type

FIRST = r"first (\d) - (\d): (\d+) there, (\d+) back"


def expected(A, there, way):
    """The symmetric matrix; None where the directions contradict each other."""
    if way is None:
        both = there & there.T
        return None if (both & (A != A.T)).any() else np.where(both, A, A + A.T)
    loops = np.diag(np.diag(A))
    return {"mean": (A + A.T) / 2, "max": np.maximum(A, A.T), "sum": A + A.T - loops}[way]


@given(
    edges=st.lists(st.tuples(*[st.integers(0, 5)] * 2, st.integers(0, 3)), min_size=1, max_size=25),
    weighted=st.booleans(),
    way=st.sampled_from([None, "mean", "max", "sum"]),
)
def test_small_graphs(edges, weighted, way):
    i, j, w = np.array(edges, dtype=np.int64).T
    w = w.astype(float) if weighted else None
    shape = (6, 6)
    A = sp.coo_array((np.ones(len(i)) if w is None else w, (i, j)), shape=shape).toarray()
    there = sp.coo_array((np.ones(len(i)), (i, j)), shape=shape).toarray() > 0
    want = expected(A, there, way)
    if want is None:
        with pytest.raises(InputError, match=r"here: .* came in both directions") as caught:
            assemble(i, j, w, range(6), where="here")
        a, b, out, into = re.search(FIRST, str(caught.value)).groups()
        a, b = int(a), int(b)
        assert (A[a, b], A[b, a]) == (float(out), float(into))
        assert A[a, b] != A[b, a]
        return
    W, notes = assemble(i, j, w, range(6), symmetrise=way)
    np.testing.assert_array_equal(W.to_scipy().toarray(), want)
    assert (W.data is None) == bool((want[want > 0] == 1).all())
    copies = len(i) - int(there.sum())
    assert any("more than once" in note for note in notes) == (copies > 0)
    assert any("self-loop" in note for note in notes) == bool(np.diag(there).any())


@pytest.mark.parametrize("n", [40, 3000])
def test_long_rows_and_sums_that_round(n):
    rng = np.random.default_rng(3061)
    i = np.concatenate([np.zeros(4 * n, dtype=np.int32), rng.integers(0, n, n, dtype=np.int32)])
    j = rng.integers(0, n, 5 * n, dtype=np.int32)
    w = rng.random(5 * n)
    found, _ = assemble(i, j, w, range(n), symmetrise="sum")
    A = sp.coo_array((w, (i, j)), shape=(n, n)).toarray()
    want = A + A.T - np.diag(np.diag(A))
    np.testing.assert_allclose(found.to_scipy().toarray(), want, rtol=1e-12)
    assert found.is_symmetric()


def test_one_direction_of_a_weighted_graph_with_copies_is_symmetric_to_the_last_bit():
    rng = np.random.default_rng(3067)
    i, j = np.sort(rng.integers(0, 30, (2, 900)), axis=0)
    assert assemble(i, j, rng.random(900), range(30))[0].is_symmetric()


def test_unknown_way():
    with pytest.raises(InputError, match="'min' is unknown; choose from mean, max, sum"):
        assemble(np.array([0]), np.array([1]), None, range(2), symmetrise="min")


def test_column_type():
    assert index_type(2**31 - 1) is np.int32
    assert index_type(2**31) is np.int64

"""Sparse rows: products on all cores, the one-pass checks, graph folders."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

import graphs
from robustgc import CSR, Graph, RobustGC
from robustgc.graph.laplacian import Laplacian
from robustgc.graph.weights import LARGE, check_weights, components


def random_csr(rng, n, entries, *, weighted=False):
    rows, cols = rng.integers(0, n, (2, entries))
    W = sp.coo_array((np.ones(entries), (rows, cols)), shape=(n, n)).tocsr()
    W = sp.csr_array(W + W.T)
    W.data[:] = 1.0
    if weighted:
        upper = sp.triu(W)
        upper.data = rng.uniform(0.1, 2, upper.nnz)
        W = sp.csr_array(upper + sp.triu(upper, k=1).T)
    W.sort_indices()
    return W


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_products_are_those_of_scipy(dtype, weighted, index):
    rng = np.random.default_rng(51)
    W = random_csr(rng, 20_000, 60_000, weighted=weighted)
    rows = CSR(W.indptr.astype(np.int64), W.indices.astype(index), W.data if weighted else None)
    tol = 1e-13 if dtype == np.float64 else 1e-5
    for columns in (None, 1, 2, 3, 4, 5, 7, 9):
        X = rng.standard_normal((20_000,) if columns is None else (20_000, columns)).astype(dtype)
        found = rows @ X
        assert found.dtype == dtype
        np.testing.assert_allclose(found, W @ X, rtol=tol, atol=20 * tol)


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("dense", [False, True])
def test_the_laplacian_is_that_of_the_graph(columns, dense):
    rng = np.random.default_rng(52)
    W = graphs.random_weights(rng, 300, loops=True)
    graph = Graph(W if dense else sp.csr_array(W))
    L, X = Laplacian(graph), rng.standard_normal((300, columns))
    np.testing.assert_allclose(L(X), graph.L_N(X), atol=1e-13)
    np.testing.assert_allclose(L.v0, graph.v0, atol=1e-15)
    u, out = X * L.scale[:, None], np.empty_like(X)
    dots = L.multiply(u, out)
    np.testing.assert_allclose(dots, np.einsum("ij,ij->j", X, graph.L_N(X)), rtol=1e-12)


def test_sums_do_not_depend_on_threads(monkeypatch):
    rng = np.random.default_rng(53)
    graph = Graph._trusted(random_csr(rng, 50_000, 400_000))
    X = rng.standard_normal((50_000, 2))
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("ROBUSTGC_NUM_THREADS", threads)
        L, out = Laplacian(graph), np.empty_like(X)
        found.append((L.multiply(X, out), L.recur(out, X, X, np.ones(2), np.ones(2))))
    for dots, sums in found[1:]:
        np.testing.assert_array_equal(dots, found[0][0])
        np.testing.assert_array_equal(sums, found[0][1])


def test_a_wrong_number_of_threads_is_refused(monkeypatch):
    monkeypatch.setenv("ROBUSTGC_NUM_THREADS", "many")
    with pytest.raises(ValueError, match="ROBUSTGC_NUM_THREADS='many' is not a whole number"):
        CSR(np.arange(LARGE), np.arange(LARGE - 1)).cuts()


@pytest.mark.parametrize("weighted", [False, True])
def test_symmetry_is_seen_to_the_last_bit(weighted):
    rng = np.random.default_rng(54)
    for _ in range(50):
        W = random_csr(rng, 60, 100, weighted=weighted)
        data = W.data if weighted else None
        assert CSR(W.indptr, W.indices, data).is_symmetric()
        if weighted:
            off = np.flatnonzero(W.tocoo().row != W.indices)
            changed = W.data.copy()
            k = rng.choice(off)
            changed[k] = np.nextafter(changed[k], 9)
            assert not CSR(W.indptr, W.indices, changed).is_symmetric()
        directed = W.copy()
        i = int(np.flatnonzero(np.diff(W.indptr))[0])
        directed.data[W.indptr[i]] = 0
        if W.indices[W.indptr[i]] != i:
            directed.eliminate_zeros()
            data = directed.data if weighted else None
            assert not CSR(directed.indptr, directed.indices, data).is_symmetric()


@pytest.mark.parametrize("entries", [10, 40, 90, 300])
def test_components_are_those_of_scipy(entries):
    rng = np.random.default_rng(55)
    for _ in range(25):
        W = random_csr(rng, 120, entries)
        count, number = components(CSR.from_scipy(W))
        expected = connected_components(W, directed=False)
        assert count == expected[0]
        np.testing.assert_array_equal(number, expected[1])


def large(rng):
    W = random_csr(rng, 30_000, LARGE // 2 + 20_000, weighted=True)
    assert W.nnz >= LARGE
    return W


def test_large_matrices_are_passed_without_a_copy():
    W = large(np.random.default_rng(56))
    checked = check_weights(W)
    assert np.shares_memory(checked.data, W.data)
    assert np.shares_memory(checked.indices, W.indices)
    W.data[:] = 1
    checked = check_weights(W)
    assert isinstance(checked, CSR)
    assert checked.data is None
    assert np.shares_memory(checked.indices, W.indices)


@pytest.mark.parametrize(
    ("fault", "match"),
    [
        (np.nan, "not finite"),
        (np.inf, "not finite"),
        (-0.5, "negative"),
        (7.5, "not symmetric"),
    ],
)
def test_large_matrices_are_refused_for_the_same_reasons(fault, match):
    W = large(np.random.default_rng(57))
    off = int(np.flatnonzero(W.tocoo().row != W.indices)[100])
    W.data[off] = fault
    with pytest.raises(ValueError, match=match):
        check_weights(W)


def test_large_matrices_in_any_order_give_the_same_graph():
    W = large(np.random.default_rng(58))
    shuffled = W.copy()
    for i in range(0, 30_000, 100):
        row = slice(W.indptr[i], W.indptr[i + 1])
        shuffled.indices[row], shuffled.data[row] = W.indices[row][::-1], W.data[row][::-1]
    shuffled.has_sorted_indices = shuffled.has_canonical_format = False
    rounded = W.copy()
    rounded.data[5] *= 1 + 1e-14  # asymmetric by rounding only
    for other in (shuffled, rounded):
        assert abs(check_weights(other) - W).max() < 1e-13


BAD = {
    "falling": (dict(indptr=[0, 2, 1, 2], indices=[1, 0]), "must rise from 0"),
    "short": (dict(indptr=[0, 1, 1], indices=[1, 0]), "must rise from 0"),
    "unsorted": (dict(indptr=[0, 2, 3, 4], indices=[2, 1, 0, 0]), "not in ascending order"),
    "range": (dict(indptr=[0, 1, 2, 2], indices=[5, 0]), "out of range"),
    "directed": (dict(indptr=[0, 1, 1, 1], indices=[1]), "not symmetric"),
    "negative": (dict(indptr=[0, 1, 2], indices=[1, 0], data=[-1.0, -1.0]), "negative"),
    "zero": (dict(indptr=[0, 1, 2], indices=[1, 0], data=[0.0, 0.0]), "zero"),
    "empty": (dict(indptr=[0], indices=[]), "0 nodes"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_csr_is_refused(name):
    arrays, match = BAD[name]
    given = {key: np.array(value, float if key == "data" else int) for key, value in arrays.items()}
    with pytest.raises(ValueError, match=match):
        RobustGC(affinity="precomputed").fit(CSR(**given), np.arange(len(given["indptr"]) - 1))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_folder_comes_back_mapped_and_fits_alike(tmp_path, weighted):
    rng = np.random.default_rng(59)
    W = random_csr(rng, 2500, 20_000, weighted=weighted)
    W = sp.csr_array(W - sp.diags_array(W.diagonal()))
    W.eliminate_zeros()
    CSR.from_scipy(W).save(tmp_path / "graph")
    opened = CSR.open(tmp_path / "graph")
    assert isinstance(opened.indices, np.memmap)
    assert (opened.data is None) == (not weighted)
    y = np.full(2500, -1)
    y[rng.choice(2500, 60, replace=False)] = rng.integers(0, 2, 60)
    a, b = (RobustGC(0.9, n_modes=1, affinity="precomputed").fit(graph, y) for graph in (W, opened))
    np.testing.assert_array_equal(a.transduction_, b.transduction_)
    np.testing.assert_allclose(a.f_, b.f_, atol=1e-9)
    np.testing.assert_array_equal(b.predict(opened), b.transduction_)
    rows = sp.random_array((3, 2500), density=0.01, rng=rng)
    np.testing.assert_allclose(b.decision_function(rows), a.decision_function(rows), atol=1e-9)
    np.testing.assert_array_equal(b.predict(CSR.from_scipy(W)), b.transduction_)
    with pytest.raises(ValueError, match="rows of weights"):
        b.predict(CSR.from_scipy(graphs.path(2500)))


def test_folders_that_are_not_whole_are_refused(tmp_path):
    graph = CSR.from_scipy(random_csr(np.random.default_rng(60), 50, 100))
    place = tmp_path / "graph"
    graph.save(place)
    with pytest.raises(FileExistsError, match="exists"):
        graph.save(place)
    manifest = place / "manifest.json"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace('"version": 1', '"version": 9'), encoding="utf-8")
    with pytest.raises(ValueError, match="format version 9; this version of robustgc reads"):
        CSR.open(place)
    manifest.write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match="damaged"):
        CSR.open(place)
    about = json.loads(text)
    manifest.write_text(json.dumps({**about, "entries": about["entries"] + 2}), encoding="utf-8")
    with pytest.raises(ValueError, match="Build the folder again"):
        CSR.open(place)
    manifest.write_text(text, encoding="utf-8")
    (place / "indices.npy").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"indices\.npy cannot be read"):
        CSR.open(place)
    manifest.unlink()
    with pytest.raises(FileNotFoundError, match=r"no manifest.json"):
        CSR.open(place)

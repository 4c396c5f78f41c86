"""Columns of node data: what they are taken for, what is left out, and who is joined to whom."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from robustgc.affinity.node_features import FeatureGraph, FeatureScale, read_features


def drawn(n, columns, seed=311):
    return np.random.default_rng(seed).standard_normal((n, columns))


def words(n=60, columns=40, share=0.1):
    return (np.random.default_rng(317).random((n, columns)) < share).astype(float)


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (drawn(50, 4) * [1.0, 100.0, 3.0, 0.1], "measurements"),
        (drawn(50, 40), "embedding"),
        (drawn(50, 40) * np.geomspace(1, 1e4, 40), "measurements"),
        (words(), "counts"),
        (words() * 3, "counts"),
        (words() * 0.7, "embedding"),  # weighed already
        (words(columns=6), "measurements"),  # a few flags of a table
    ],
)
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_what_columns_are_is_told_from_their_values(X, kind, store):
    scale = FeatureScale.of(store(X))
    assert scale.kind == kind
    assert "features_as" in scale.notes[-1]


def test_the_kind_can_be_given():
    assert FeatureScale.of(words(), "measurements").kind == "measurements"
    with pytest.raises(ValueError, match=r"'words' is unknown; choose one of auto, measurements"):
        FeatureScale.of(words(), "words")
    with pytest.raises(ValueError, match="counts are 0 or more"):
        FeatureScale.of(-words(), "counts")


def test_words_are_weighed_by_how_rare_they_are_and_compared_by_cosine():
    X = words()
    points, rows = FeatureScale.of(X).applied(X)
    some = np.flatnonzero(X.any(axis=1))
    assert_array_equal(rows, some)
    expected = X * (np.log((1 + len(X)) / (1 + (X > 0).sum(axis=0))) + 1)
    expected = expected[some] / np.linalg.norm(expected[some], axis=1)[:, None]
    assert_allclose(points, expected, atol=1e-14)


@pytest.mark.parametrize("kind", ["measurements", "counts", "embedding"])
def test_dense_and_sparse_features_give_the_same_neighbours(kind):
    X = words(columns=60, share=0.4) * np.random.default_rng(331).integers(1, 50, (60, 60))
    dense, sparse = (
        FeatureGraph.of(store(X), kind).weights() for store in (np.asarray, sp.csr_array)
    )
    assert_allclose(dense.toarray(), sparse.toarray())


def test_neighbours_are_those_of_exact_search():
    X = drawn(40, 3) * [1.0, 50.0, 2.0] + [0.0, 1e3, 0.0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    apart = np.linalg.norm(Z[:, None] - Z, axis=2)
    np.fill_diagonal(apart, np.inf)
    nearest = np.argsort(apart, axis=1)[:, :10]
    A = np.zeros((40, 40))
    np.put_along_axis(A, nearest, 1.0, axis=1)
    assert_allclose(FeatureGraph.of(X).weights().toarray(), (A + A.T) / 2)


def test_missing_values_count_as_the_median_and_rows_of_them_have_no_features():
    X = drawn(30, 4)
    X[3, 1] = X[7, 1] = X[9, 2] = np.nan
    X[[5, 6]] = np.nan
    graph = FeatureGraph.of(X)
    assert_array_equal(graph.nodes, np.setdiff1d(np.arange(30), [5, 6]))
    assert graph.weights()[[5, 6]].sum() == 0
    assert graph.notes[-2:] == (
        "nodes that lack some features: 3; the median of the column stands in",
        "nodes without features: 2",
    )
    assert_allclose(graph.scale.median[1], np.nanmedian(X[:, 1]))
    whole = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)[graph.nodes]
    assert_allclose(
        graph.weights()[graph.nodes][:, graph.nodes].toarray(),
        FeatureGraph.of(whole).weights().toarray(),
    )


def test_missing_values_of_sparse_features():
    X = sp.csr_array(words(share=0.4) * np.random.default_rng(347).integers(1, 50, (60, 40)))
    X.data[:3] = np.nan
    dense, sparse = (FeatureGraph.of(part).weights() for part in (X.toarray(), X))
    assert_allclose(dense.toarray(), sparse.toarray())


def test_columns_with_one_value_are_left_out_and_named():
    X = drawn(20, 3)
    X[:, 1] = 4.0
    scale = FeatureScale.of(X, names=["age", "unit", "size"])
    assert_array_equal(scale.used, [0, 2])
    assert scale.notes[0] == "columns with one value only are left out: 'unit'"


def test_features_that_tell_nothing_are_refused():
    with pytest.raises(ValueError, match="none of their 3 columns has two different values"):
        FeatureGraph.of(np.ones((10, 3)))
    with pytest.raises(ValueError, match="none of their 2 columns has two different values"):
        FeatureGraph.of(np.full((10, 2), np.nan))
    alone = words(columns=30)
    alone[1:] = 0.0
    with pytest.raises(ValueError, match="Only 1 of 60 nodes has features"):
        FeatureGraph.of(alone, "counts")


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_infinite_values_are_refused_with_their_place(store):
    X = words(columns=3)
    X[4, 1], X[9, 2] = np.inf, -np.inf
    with pytest.raises(
        ValueError, match=r"2 values of the features are infinite, the first in row 4"
    ):
        FeatureGraph.of(store(X))
    with pytest.raises(ValueError, match="of height"):
        FeatureGraph.of(store(X), names=["age", "height", "size"])


def test_one_column_and_two_nodes_are_enough():
    W = FeatureGraph.of(np.array([[1.0], [5.0]])).weights()
    assert_allclose(W.toarray(), [[0, 1], [1, 0]])


def test_many_sparse_columns():
    X = sp.random_array((300, 100_000), density=2e-4, rng=np.random.default_rng(337), format="csr")
    X.data[:] = 1.0
    graph = FeatureGraph.of(X)
    assert graph.scale.kind == "counts"
    assert sp.issparse(graph.neighbours.X)
    assert graph.weights().shape == (300, 300)


def test_columns_that_differ_by_rounding_only_tell_nothing():
    z = np.array([0.1 + 0.2, 0.3] * 30)[:, None]
    with pytest.raises(ValueError, match="none of their 1 columns has two different values"):
        FeatureGraph.of(z)
    scale = FeatureScale.of(np.column_stack([drawn(60, 40), z]))
    assert (scale.kind, len(scale.used)) == ("embedding", 40)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_deviations_of_sparse_columns_are_those_of_dense_ones(offset):
    X = words(columns=4, share=0.9) * (offset + drawn(60, 4))
    dense, sparse = (
        FeatureScale.of(store(X), "measurements") for store in (np.asarray, sp.csr_array)
    )
    assert_allclose(sparse.factor, dense.factor, rtol=1e-9)


def test_frames_of_nullable_and_masked_columns():
    columns = {
        "age": pd.array([1, 2, None, 4], dtype="Int64"),
        "member": pd.array([True, None, False, True], dtype="boolean"),
        "zip": ["01234", "1", "2", "3"],
        "price": [Decimal("1.5"), None, Decimal(2), Decimal(3)],
        "since": [date(2026, 1, day) for day in (1, 2, 3, 4)],
    }
    X, names, notes = read_features(pd.DataFrame(columns), 4)
    assert names == ["age", "member", "price"]
    assert_array_equal(X, [[1, 1, 1.5], [2, np.nan, np.nan], [np.nan, 0, 2], [4, 1, 3]])
    assert notes == ["columns that do not hold numbers are left out: 'zip', 'since'"]
    masked = np.ma.array([[1.0, 2.0], [1e9, 4.0]], mask=[[False, False], [True, False]])
    assert_array_equal(read_features(masked, 2)[0], [[1, 2], [np.nan, 4]])


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones((4, 2)) * 1j, "of type complex128"),
        (np.array([["1", "2"]] * 4), "of type <U1"),
        (
            pd.DataFrame(np.ones((4, 2)), columns=["a", "a"]),
            "Two columns of the features are called 'a'",
        ),
        (polars.LazyFrame({"a": [1.0, 2.0, 3.0, 4.0]}), "not computed yet"),
    ],
)
def test_features_that_cannot_be_read_are_refused(features, message):
    with pytest.raises(ValueError, match=message):
        read_features(features, 4)

"""Columns of node data: what they are taken for, what is left out, and who is joined to whom."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from robustgc.affinity.node_features import FeatureGraph, FeatureScale


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
    assert graph.scale.notes[:2] == (
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


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("X", [words(), drawn(60, 3)])
def test_a_fitted_row_that_comes_again_has_its_neighbours_and_itself(X, store):
    graph = FeatureGraph.of(store(X))
    known, again = graph.weights().toarray(), graph.rows(store(X)).toarray()
    some = graph.nodes
    # A row that comes again is nearest to itself, so that its tenth neighbour gives way.
    assert (again[some, some] > 0).all()
    others = ~np.eye(len(X), dtype=bool)
    assert ((again > 0) & others <= (known > 0)).mean() > 0.95
    assert again[np.setdiff1d(np.arange(len(X)), some)].sum() == 0


def test_new_rows_with_other_columns_are_refused():
    graph = FeatureGraph.of(drawn(20, 3))
    with pytest.raises(ValueError, match="have 4 columns, the model was fitted with 3"):
        graph.rows(drawn(2, 4))
    with pytest.raises(ValueError, match="infinite"):
        graph.rows(np.full((1, 3), np.inf))

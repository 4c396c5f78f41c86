"""HarmonicGC and PoissonGC: the formulas, new points, weights of very different sizes."""

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
import oracles
from robustgc import HarmonicGC, PoissonGC, RobustGC
from samples import CLIQUES, moons

BOTH = pytest.mark.parametrize("estimator", [HarmonicGC, PoissonGC])


def test_both_equal_their_formulas():
    rng = np.random.default_rng(51)
    W = graphs.random_weights(rng, 30, loops=True)
    signs = graphs.random_labels(rng, 30)
    y = np.where(signs == 0, "", np.where(signs > 0, "yes", "no"))
    for estimator, oracle in ((HarmonicGC, oracles.harmonic), (PoissonGC, oracles.poisson)):
        clf = estimator(affinity="precomputed").fit(W, y)
        np.testing.assert_allclose(clf.f_, oracle(W, signs), atol=1e-11)
        assert clf.transduction_.tolist() == np.where(clf.f_ > 0, "yes", "no").tolist()
        assert clf.residual_ < 1e-12
        assert clf.n_iter_ == 0


def test_three_classes_have_a_column_each():
    rng = np.random.default_rng(52)
    W = graphs.random_weights(rng, 25)
    codes = np.full(25, -1)
    codes[[1, 4, 9, 13, 20, 22]] = [0, 1, 2, 0, 1, 2]
    for estimator, oracle in ((HarmonicGC, oracles.harmonic), (PoissonGC, oracles.poisson)):
        f = estimator(affinity="precomputed").fit(W, codes).f_
        for k in range(3):
            signs = np.where(codes < 0, 0.0, np.where(codes == k, 1.0, -1.0))
            np.testing.assert_allclose(f[:, k], oracle(W, signs), atol=1e-11)


def test_poisson_answers_as_robust_with_a_small_eta():
    X, y, _ = moons(200)
    small = RobustGC(1e-6, n_modes=1).fit(X, y)
    clf = PoissonGC().fit(X, y)
    np.testing.assert_array_equal(clf.transduction_, small.transduction_)


def test_harmonic_at_new_points_is_the_mean_of_their_neighbours():
    rng = np.random.default_rng(53)
    W = graphs.random_weights(rng, 12)
    signs = graphs.random_labels(rng, 12)
    clf = HarmonicGC(affinity="precomputed").fit(W, np.where(signs == 0, -1, signs > 0))
    rows = rng.uniform(0, 1, (5, 12))
    expected = rows @ oracles.harmonic(W, signs) / rows.sum(axis=1)
    np.testing.assert_allclose(clf.decision_function(rows), expected, rtol=1e-12)
    np.testing.assert_allclose(clf.decision_function(sp.csr_array(rows)), expected, rtol=1e-12)


def test_poisson_at_new_points_is_the_extension_with_gamma_0():
    rng = np.random.default_rng(54)
    W = graphs.random_weights(rng, 12)
    signs = graphs.random_labels(rng, 12)
    clf = PoissonGC(affinity="precomputed").fit(W, np.where(signs == 0, -1, signs > 0))
    row = rng.uniform(0, 1, 12)
    expected = oracles.extend(W, oracles.poisson(W, signs), row, 0.0, 0.0)
    assert clf.decision_function(row[None])[0] == pytest.approx(expected)


def test_a_node_of_next_to_no_degree_makes_no_tie_of_the_others():
    W = np.pad(CLIQUES, (0, 1))
    for estimator, weight in ((HarmonicGC, 1e-40), (PoissonGC, 1e-20)):
        W[0, 8] = W[8, 0] = weight
        y = [-1, 0, -1, -1, -1, 1, -1, -1, -1]
        clf = estimator(affinity="precomputed").fit(W, y)
        assert clf.transduction_.tolist() == [0] * 4 + [1] * 4 + [0]


def test_harmonic_far_from_the_labels_of_a_chain_of_falling_weights():
    W = graphs.path(9, 10.0 ** -np.arange(0, 24, 3.0))
    clf = HarmonicGC(affinity="precomputed").fit(W, [0, *[-1] * 7, 1])
    resistance = 10.0 ** np.arange(0, 24, 3.0)
    expected = 2 * np.append(0, np.cumsum(resistance)) / resistance.sum() - 1
    np.testing.assert_allclose(clf.f_, expected, atol=1e-15)
    assert clf.transduction_.tolist() == [0] * 8 + [1]
    full = HarmonicGC(affinity="precomputed").fit(W, [0, 1, 0, 1, 0, 1, 0, 1, 1])
    assert full.f_.tolist() == [-1, 1, -1, 1, -1, 1, -1, 1, 1]


def test_a_harmonic_tie_is_a_tie():
    clf = HarmonicGC(affinity="precomputed").fit(graphs.path(3), [0, -1, 1])
    assert clf.transduction_.tolist() == [0, -1, 1]
    assert clf.reasons_[1] == "tie between classes"


@BOTH
def test_large_graphs_in_several_pieces(estimator):
    grid = graphs.grid(50, 40)
    W = sp.block_diag([grid, graphs.path(5), graphs.grid(45, 40)], format="csr")
    y = np.full(W.shape[0], -1)
    y[[0, 39, 1960, 1999]] = 0, 1, 0, 1
    y[[2005, 2005 + 39]] = 1, 0
    clf = estimator(affinity="precomputed").fit(W, y)
    alone = estimator(affinity="precomputed").fit(grid, y[:2000])
    np.testing.assert_allclose(clf.f_[:2000], alone.f_, rtol=1e-6, atol=1e-7)
    assert (clf.transduction_[2000:2005] == -1).all()
    columns = clf.transduction_[:2000].reshape(50, 40)
    assert (columns[:, :19] == 0).all()
    assert (columns[:, 21:] == 1).all()
    assert clf.n_iter_ > 0


@BOTH
def test_a_wide_kernel_known_by_products_only(estimator, monkeypatch):
    X = np.random.default_rng(55).standard_normal((1700, 2))
    y = np.where(np.arange(1700) < 20, (X[:, 0] > 0).astype(int), -1)
    dense = estimator(affinity="rbf", sigma=2.0).fit(X, y)
    monkeypatch.setattr("robustgc.affinity.kinds.DENSE", 1000)
    products = estimator(affinity="rbf", sigma=2.0).fit(X, y)
    assert type(products._affinity.weights()).__name__ == "GaussianOperator"
    np.testing.assert_allclose(products.f_, dense.f_, atol=1e-5 * np.abs(dense.f_).max())

"""Extreme but legal input is answered without a warning of numpy; what has no meaning is refused.

Most of these were found by `python -m tests.fuzz`.
"""

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
import oracles
from robustgc import (
    CSR,
    BelkinGC,
    Graph,
    HarmonicGC,
    PoissonGC,
    ResidualWarning,
    RobustGC,
    ZhouGC,
    build_csr,
    classify,
    eigenpairs,
    estimate,
    extend,
    find_label_issues,
    full_spectrum,
    harmonic,
    node_kernel,
    poisson,
    robust,
    robust_path,
    zhou,
    zhou_path,
)
from robustgc.graph.weights import unit_of
from robustgc.transduction.labels import encode
from samples import EACH

W = graphs.random_weights(np.random.default_rng(41), 30)
Y = np.full(30, -1)
Y[:12] = np.arange(12) % 3


def forms(M):
    rows = sp.csr_array(M)
    return [M, rows, CSR(rows.indptr, rows.indices, rows.data)]


@EACH
@pytest.mark.parametrize("scale", [2.0**-1060, 2.0**-1000, 2.0**-500, 2.0**500, 2.0**1015])
def test_the_unit_of_the_weights_does_not_matter(estimator, scale):
    exact = np.round(W * 2**8) / 2**8  # so that no digit is lost among the smallest numbers
    expected = estimator(affinity="precomputed").fit(exact, Y)
    for form in forms(exact * scale):
        clf = estimator(affinity="precomputed").fit(form, Y)
        np.testing.assert_array_equal(clf.transduction_, expected.transduction_)
        np.testing.assert_allclose(clf.f_, expected.f_, rtol=1e-9)
        new = exact[:4] * scale + 2.0**-8 * scale
        np.testing.assert_array_equal(
            clf.predict(new), expected.predict(exact[:4] + 2.0**-8), str(form)
        )
    clf = estimator(affinity=lambda A, B: exact * scale).fit(np.arange(30.0)[:, None], Y)
    np.testing.assert_allclose(clf.f_, expected.f_, rtol=1e-9)


def test_weights_of_an_ordinary_size_keep_their_unit():
    assert unit_of(W) == 1
    assert unit_of(sp.csr_array(W * 1e90)) == 1
    assert unit_of(CSR(np.zeros(4, dtype=np.int64), np.zeros(0, dtype=np.int64))) == 1


def test_after_a_fit_in_another_unit_all_else_works():
    clf = RobustGC(affinity="precomputed", priors="labels").fit(W * 1e-310, Y)
    assert np.isfinite(clf.label_issues().suspicion).all()
    assert len(clf.suggest_queries(3)) == 3
    clf.update({20: 1})
    with pytest.raises(ValueError, match="too large relative to the weights of the graph"):
        clf.predict(np.full((1, 30), 1e5))


@EACH
def test_weights_that_no_unit_holds_are_refused(estimator):
    M = np.full((30, 30), 5e-324)
    np.fill_diagonal(M, 10.0 ** np.linspace(-140, 298, 30))
    for form in forms(M):
        with pytest.raises(ValueError, match=r"from 4.94e-324 to .* 1e\+298: no unit brings both"):
            estimator(affinity="precomputed").fit(form, Y)


def test_the_self_loop_of_a_new_point_is_checked_as_its_weights_are():
    def kernel(A, B):
        if A is B and len(A) == 3:
            return np.full((3, 3), 1.0)
        return np.full((len(A), len(B)), 2.0**-1040)

    clf = ZhouGC(affinity=kernel).fit(np.arange(30.0)[:, None], Y)
    with pytest.raises(
        ValueError, match="reach 1, which is too large relative to the weights of the gr"
    ):
        clf.predict(np.arange(100.0, 103.0)[:, None])


@pytest.mark.parametrize("estimator", [HarmonicGC, PoissonGC])
def test_weights_of_many_orders_of_magnitude_in_one_graph(estimator):
    M = W.copy()
    M[:15, :15] *= 1e-310
    M[:15, 15:] = M[15:, :15] = 0.0
    M[:15, :15][graphs.cycle(15) > 0] = 1e-310
    clf = estimator(affinity="precomputed").fit(sp.csr_array(M), Y)
    assert set(clf.components_) == {0, 1}
    assert np.isfinite(clf.f_[np.isfinite(clf.f_)]).all()


@pytest.mark.parametrize("affinity", ["knn", "rbf"])
@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1e306])
def test_the_unit_of_points_does_not_matter(affinity, scale):
    X = np.random.default_rng(43).standard_normal((40, 3))
    y = np.where(np.arange(40) < 12, np.arange(40) % 2, -1)
    expected = ZhouGC(affinity=affinity).fit(X, y)
    clf = ZhouGC(affinity=affinity).fit(X * scale, y)
    np.testing.assert_array_equal(clf.transduction_, expected.transduction_)
    np.testing.assert_array_equal(clf.predict(X[:9] * 0.99 * scale), expected.predict(X[:9] * 0.99))


def test_points_whose_distances_overflow_are_refused():
    X = np.where(np.random.default_rng(44).random((20, 3)) < 0.5, 1.7e308, -1.7e308)
    with pytest.raises(ValueError, match=r"points reach 1.7e\+308: .* Divide all coordinates"):
        ZhouGC(affinity="knn").fit(X, np.arange(20) % 2)
    assert ZhouGC().fit(np.full((20, 3), 1e308), np.arange(20) % 2).residual_ < 1e-10


def test_a_node_of_tiny_degree_makes_no_ties_of_clear_answers():
    M = graphs.two_cliques(4, 0.1)
    M = np.pad(M, (0, 1))
    M[0, 8] = M[8, 0] = 1e-27  # not cut: it is all that its node has
    M[8, 8] = 0.0
    y = [0, -1, -1, -1, 1, -1, -1, -1, 0]
    for form in (M, sp.csr_array(M)):
        clf = RobustGC(0.9, n_modes=1, affinity="precomputed").fit(form, y)
        assert clf.transduction_[:8].tolist() == [0] * 4 + [1] * 4


def test_choices_between_equals_do_not_depend_on_rounding():
    M, y = graphs.complete(17), np.arange(17) % 2
    chosen = {ZhouGC("auto", affinity="precomputed").fit(X, y).gamma_ for X in forms(M)}
    assert len(chosen) == 1


def test_eigenvalues_that_cannot_be_resolved_are_told():
    M = graphs.path(5, [1e20, 1e-8, 1e-8, 1e20])
    with pytest.warns(ResidualWarning, match="lambda_1 = .* below what double precision resolves"):
        poisson(Graph(M), [1, 0, 0, 0, -1])


def test_a_krylov_space_of_a_small_graph_ends():
    with pytest.raises(RuntimeError, match="was not solved to the tolerance"):
        RobustGC(1e-9, n_modes=1, solver="krylov", tol=1e-300, affinity="precomputed").fit(W, Y)


CALLS = {
    "tol": lambda: poisson(Graph(W), np.sign(Y), tol=-1),
    "tol of harmonic": lambda: harmonic(Graph(W), np.sign(Y), tol=np.nan),
    "tol of zhou": lambda: zhou(Graph(W), np.sign(Y), gamma=1.0, tol="x"),
    "tol of zhou_path": lambda: zhou_path(Graph(W), np.sign(Y), [1.0], tol=None),
    "tol of lifted": lambda: robust(Graph(W), np.sign(Y), gamma=0.1, n_modes=2, tol=0),
    "tol of fit": lambda: RobustGC(tol="x", affinity="precomputed").fit(W, Y),
    "eta": lambda: robust_path(Graph(W), np.sign(Y), etas=[5e-324]),
    "eta of fit": lambda: RobustGC(eta=5e-324, affinity="precomputed").fit(W, Y),
    "labels beyond measure": lambda: robust(Graph(W), 1e300 * np.sign(Y), gamma=0.1),
    "affinity": lambda: RobustGC(affinity=np.zeros(3)).fit(W, Y),
    "no matrix": lambda: RobustGC(affinity="precomputed").fit(object(), Y),
    "no vectors": lambda: eigenpairs(Graph(W), 1.5),
    "nodes": lambda: node_kernel(Graph(W), np.zeros((2, 2), dtype=int), 0),
    "no nodes": lambda: node_kernel(Graph(W), [], 0),
    "n_nodes": lambda: estimate(n_nodes="x", n_edges=1),
    "n_edges": lambda: estimate(n_nodes=1, n_edges=1.5),
    "n_classes": lambda: estimate(n_nodes=5, n_edges=5, n_classes=None),
    "dtype": lambda: estimate(n_nodes=5, n_edges=5, dtype="x"),
    "edges": lambda: build_csr(7, "never"),
    "number of nodes": lambda: build_csr([], "never", n_nodes="x"),
    "priors": lambda: RobustGC(affinity="precomputed", priors=["a", "b", "c"]).fit(W, Y),
    "labels in tuples": lambda: encode([("a", 1), ("b", 2), None], n_nodes=3),
    "labels in bytes": lambda: encode([b"\xfe", b"a"], n_nodes=2),
    "array of bytes": lambda: encode(np.array([b"\xfe", b"a"]), n_nodes=2),
    "weights of long classes": lambda: RobustGC(affinity="precomputed").fit(
        W, np.where(np.arange(30) % 2, "long " * 99, "b"), np.where(np.arange(30) % 2, 1e-9, 1.0)
    ),
    "labels in arrays": lambda: classify(W, {0: np.zeros(2), 1: np.ones(2)}),
    "long classes": lambda: encode(["long " * 99] * 3, n_nodes=3),
    "degrees without digits": lambda: Graph(W * 1e-315),
}


@pytest.mark.parametrize("call", CALLS)
def test_what_has_no_meaning_is_refused_in_a_sentence(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ValueError, TypeError)) as refused:
        CALLS[call]()
    text = str(refused.value)
    assert text[-1] in ".)"
    assert len(text) < 600
    assert not list(tmp_path.iterdir())


def test_new_points_of_the_extension_are_checked_and_do_not_overflow():
    d, f, k = np.array([1.0, 2.0]), np.array([0.5, -0.5]), np.array([[0.3, 0.4]])
    expected = oracles.extend(np.array([[0.5, 0.5], [0.5, 1.5]]), f, k[0], 0.0, 0.1)
    np.testing.assert_allclose(extend(d, f, k, 0.0, gamma=0.1), expected)
    for odd, text in [
        ({"d": [-1.0, 1.0]}, "d ranges from -1 to 1"),
        ({"d": 1.0}, "k_x has shape"),
        ({"f": [np.nan, 1.0]}, "f contains NaN"),
        ({"f": "x"}, "must be arrays of numbers"),
        ({"k_x": [[-1.0, 1.0]]}, "k_x ranges from -1 to 1"),
        ({"k_xx": [1.0, 2.0, 3.0]}, "k_xx has shape"),
        ({"k_x": [[1e300, 1e300]], "d": [1e-300, 1.0]}, "beyond what double precision can hold"),
    ]:
        given = {"d": d, "f": f, "k_x": k, "k_xx": 0.0} | odd
        with pytest.raises((ValueError, TypeError), match=text):
            extend(given["d"], given["f"], given["k_x"], given["k_xx"], gamma=0.1)


def test_graphs_without_an_edge_are_answered_by_their_labels():
    empty = CSR(np.zeros(5, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0, dtype=int))
    clf = RobustGC(affinity="precomputed").fit(empty, ["a", "b", "", "b"])
    assert clf.transduction_.tolist() == ["a", "b", "", "b"]
    assert BelkinGC(affinity="precomputed").fit(empty, ["a", "b", "", "b"]).residual_ == 0


def test_floats_beyond_all_integers_are_refused_without_a_warning_of_numpy():
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        find_label_issues(W, np.where(Y < 0, np.nan, Y + 2.0**64 * (Y == 1)))


def test_a_label_on_a_hub_is_a_witness_however_light_it_is():
    M = graphs.star(6)
    M[0, 1] = M[1, 0] = 1e19
    y = ["a", "b", "", "a", "", "b"]
    assert np.isfinite(find_label_issues(M, y).suspicion).all()


@pytest.mark.filterwarnings("ignore::robustgc.ResidualWarning")
def test_labels_of_a_class_that_have_all_lost_their_weight_are_no_witnesses():
    edges = [(0, 1, 1), (0, 3, 3e36), (0, 6, 1), (0, 8, 1), (1, 2, 1), (1, 7, 1), (2, 5, 3e37),
             (3, 4, 1), (3, 9, 1), (3, 11, 1), (8, 10, 1)]  # fmt: skip
    M = np.zeros((12, 12))
    for i, j, weight in edges:
        M[i, j] = M[j, i] = weight
    y = np.full(12, "", dtype=object)
    y[[0, 6, 7, 9, 10, 11]], y[[4, 5]] = "a", "b"
    assert np.isfinite(find_label_issues(sp.csr_array(M), y).suspicion).all()


def test_queries_of_weights_next_to_nothing():
    M = np.full((20, 20), 1e-310)
    M[np.diag_indices(2)] = 1.0  # so that the unit stays
    y = np.full(20, -1)
    y[4:8] = [0, 1, 0, 1]
    clf = RobustGC(0.9, n_modes=3, affinity="precomputed")
    with pytest.warns(UserWarning, match="Left out"):
        clf.fit(M, y)
    assert len(clf.suggest_queries(3)) == 3


@pytest.mark.parametrize("tol", [None, "x", -1.0, np.nan])
def test_a_tolerance_that_is_none_is_refused_by_a_sentence(tol):
    graph, y = Graph(W), np.where(Y >= 0, 1.0, 0.0)
    with pytest.raises(ValueError, match=r"tol=.* is not allowed; it must be above 0"):
        robust_path(graph, y, [1e-4], tol=tol, solver="dense")


def test_eigenvalues_that_rounding_drowns_are_not_negative():
    rng = np.random.default_rng(302)
    wild = np.triu((rng.random((40, 40)) < 0.2) * 1.0, 1)
    wild[0, 1:] = 10.0 ** rng.uniform(-40, 40, 39)
    with pytest.warns(
        ResidualWarning, match=r"is below what double precision resolves, about 5e\+1"
    ):
        values = full_spectrum(Graph(wild + wild.T), "combinatorial").values
    assert values.min() == 0
    assert (np.diff(values) >= -1e-12 * values.max()).all()


STAR = graphs.star(9)
STAR[0] = STAR[:, 0] = np.append(0.0, 10.0 ** np.arange(0, 40, 5))
PIECES = np.zeros((13, 13))  # of which the larger has next to no weights
PIECES[:10, :10], PIECES[10:, 10:] = 5e-324 * graphs.cycle(10), graphs.complete(3)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("M", [W * 1e60, W * 1e-60, STAR, PIECES])
def test_single_precision_is_given_what_it_can_hold(form, M):
    y = np.append([0, -1, 1, 0, 1], np.full(len(M) - 5, -1))
    given = {"eta": 0.5, "n_modes": 1, "affinity": "precomputed", "solver": "krylov"}
    expected = RobustGC(**given).fit(form(M), y).f_
    single = RobustGC(**given, dtype="float32").fit(form(M), y)
    np.testing.assert_allclose(single.f_, expected, rtol=1e-4, atol=1e-4)

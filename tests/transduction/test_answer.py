"""Graphs in several pieces, ties, and the reasons for every answer."""

import numpy as np
import scipy.sparse as sp

import graphs
import oracles
from robustgc import BelkinGC, RobustGC, ZhouGC
from samples import CLIQUES, EACH, Y_CLIQUES


@EACH
def test_components_are_answered_one_by_one_with_the_reason(estimator):
    # two cliques with both classes | a triangle with one class | a pair without | two lone nodes
    W = sp.block_array([[CLIQUES, None, None, None], [None, graphs.complete(3), None, None],
                        [None, None, graphs.complete(2), None],
                        [None, None, None, np.zeros((2, 2))]], format="csr")  # fmt: skip
    y = np.array([*Y_CLIQUES, -1, 1, -1, -1, -1, 0, -1])
    params = {"n_vectors": 2} if estimator is BelkinGC else {}
    clf = estimator(affinity="precomputed", **params).fit(W, y)
    assert clf.transduction_.tolist() == [0] * 4 + [1] * 4 + [1] * 3 + [-1, -1] + [0, -1]
    assert clf.components_.tolist() == [0] * 8 + [1] * 3 + [2] * 2 + [3] + [4]
    assert np.isnan(clf.f_).tolist() == (clf.transduction_ == -1).tolist()
    assert (clf.f_[clf.transduction_ == 1] > 0).all()
    reasons = clf.reasons_.tolist()
    assert set(reasons[:8]) == {"decided by the model"}
    if estimator is not ZhouGC:
        assert set(reasons[8:11]) == {"only one class is labelled in its component"}
    assert set(reasons[11:13]) == {"no label in its component"}
    assert reasons[13] == "only one class is labelled in its component"
    assert reasons[14] == "isolated node without a label"
    assert clf.certificates_[0].n_nodes == 8
    np.testing.assert_array_equal(clf.predict(W), clf.transduction_)
    p = clf.predict_proba(W)
    assert np.isfinite(p).all(axis=1).tolist() == (clf.transduction_ != -1).tolist()


def test_zhou_on_a_graph_of_several_components_is_the_formula_on_the_whole():
    W = np.kron(np.eye(2), CLIQUES) + 1e-300 * np.eye(16)
    signs = np.zeros(16)
    signs[[0, 5, 9, 10]] = [1, -1, 1, 1]
    clf = ZhouGC(0.5, affinity="precomputed").fit(W, np.where(signs == 0, -1, signs > 0))
    np.testing.assert_allclose(clf.f_, oracles.zhou(W, signs, 0.5), atol=1e-14)


def test_all_components_with_one_class_each():
    W = np.kron(np.eye(2), graphs.complete(3))
    clf = RobustGC(affinity="precomputed").fit(W, ["a", None, None, "b", None, None])
    assert clf.transduction_.tolist() == ["a"] * 3 + ["b"] * 3
    assert np.isnan(clf.lambda_1_)
    assert clf.residual_ == 0


def test_clusters_that_only_underflowing_weights_join_are_components():
    X = np.vstack([np.random.default_rng(2).standard_normal((20, 2)) + c for c in (0, 100, 200)])
    y = np.full(60, -1)
    y[[0, 25]] = [0, 1]
    clf = RobustGC(affinity="rbf", sigma=1.0).fit(X, y)
    assert clf.transduction_.tolist() == [0] * 20 + [1] * 20 + [-1] * 20


def test_a_class_without_a_label_in_a_component_is_never_the_answer_there():
    W = np.kron(np.eye(2), graphs.complete(6))
    W[:6, :6] = graphs.path(6).toarray()
    y = ["a", "b", "", "", "", "", "c", "", "", "", "", "a"]
    clf = RobustGC(0.5, affinity="precomputed").fit(W, y)
    assert set(clf.transduction_[:6]) == {"a", "b"}
    assert set(clf.transduction_[6:]) <= {"a", "c", ""}
    assert (clf.f_[:6, 2] == -np.inf).all()
    rows = np.vstack([W[4] + W[5], W[7] + W[8]])
    new = clf.decision_function(rows)
    assert new[0, 2] == -np.inf
    assert new[1, 1] == -np.inf
    p = clf.predict_proba(W)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p[:6, 2] == 0).all()


def test_a_node_of_tiny_degree_is_decided_by_its_neighbour():
    W = graphs.two_cliques(4, 0.1)
    W = np.pad(W, (0, 1))
    W[0, 8] = W[8, 0] = 1e-20
    clf = RobustGC(affinity="precomputed").fit(W, [0, -1, -1, -1, -1, 1, -1, -1, -1])
    assert clf.transduction_[8] == clf.transduction_[0] == 0


def test_a_tie_is_a_tie():
    clf = RobustGC(affinity="precomputed").fit(graphs.path(3), [0, -1, 1])
    assert clf.transduction_.tolist() == [0, -1, 1]
    assert clf.reasons_[1] == "tie between classes"


def test_a_tie_of_zhou_is_a_tie_and_a_distant_answer_is_not():
    for n in (4, 7):
        y = ["a", "", "b"] + [""] * (n - 3)
        clf = ZhouGC(affinity="precomputed").fit(graphs.complete(n), y)
        assert clf.transduction_.tolist() == ["a", "", "b"] + [""] * (n - 3)
        assert clf.reasons_[1] == "tie between classes"
    y = np.full(2000, -1)
    y[[0, 700]] = [0, 1]
    clf = ZhouGC(affinity="precomputed").fit(graphs.path(2000), y)
    assert (clf.transduction_[:350] == 0).all()
    assert (clf.transduction_[351:1200] == 1).all()

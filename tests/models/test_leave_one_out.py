"""Leave-one-out answers in closed form, against fits without each label."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import graphs
from robustgc import Graph, belkin, eigenpairs, lambda_1, leave_one_out, robust, zhou
from robustgc.graph.graph import SMALL
from robustgc.models import leave_one_out as formulas
from robustgc.models.leave_one_out import (
    FOLDS,
    LabelledGraph,
    belkin_leave_one_out,
    hat_matrix_factors,
    stratified_folds,
    zhou_at_nodes,
    zhou_leave_one_out,
)

K = 3


def refitted(graph, y, gamma):
    """Leave-one-out by brute force."""
    answer = np.full(len(y), np.nan)
    for i in np.flatnonzero(y):
        without = y.copy()
        without[i] = 0
        answer[i] = robust(graph, without, gamma=gamma).f[i]
    return answer


@given(graphs.labelled_graphs(), st.floats(0.05, 0.95))
def test_leave_one_out_equals_refitting(case, eta):
    W, y = case
    graph = Graph(W)
    gamma = eta * lambda_1(graph)
    expected = refitted(graph, y, gamma)
    scale = max(1.0, np.nanmax(np.abs(expected)))
    np.testing.assert_allclose(leave_one_out(graph, y, gamma=gamma), expected, atol=1e-10 * scale)


def test_leave_one_out_of_a_large_graph_equals_refitting():
    rng = np.random.default_rng(21)
    n = SMALL + 10
    graph = Graph(sp.csr_array(graphs.random_weights(rng, n, density=0.01)))
    y = np.zeros(n)
    y[[3, 50, 700, 1200]] = [1, -1, 1, -1]
    gamma = 0.9 * lambda_1(graph)
    found, expected = leave_one_out(graph, y, gamma=gamma), refitted(graph, y, gamma)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_a_block_of_columns():
    rng = np.random.default_rng(22)
    graph = Graph(graphs.random_weights(rng, 15))
    Y = np.column_stack([graphs.random_labels(rng, 15) for _ in range(3)])
    gamma = 0.9 * lambda_1(graph)
    one_by_one = np.column_stack([leave_one_out(graph, y, gamma=gamma) for y in Y.T])
    np.testing.assert_allclose(leave_one_out(graph, Y, gamma=gamma), one_by_one, rtol=1e-9)


def test_a_label_against_its_whole_clique_is_found():
    graph = Graph(graphs.two_cliques(5, 0.1))
    y = np.array([1, 1, -1, 0, 0, -1, -1, 0, -1, 0])
    unseen = leave_one_out(graph, y, gamma=0.9 * lambda_1(graph))
    wrong = np.flatnonzero(unseen * y < 0)
    assert wrong.tolist() == [2]


def test_labels_of_another_length_are_refused():
    with pytest.raises(ValueError, match="4 nodes"):
        leave_one_out(Graph(graphs.complete(4)), [1, -1], gamma=0.5)


@st.composite
def pieces(draw, min_nodes=4):
    """A connected graph with labels of two or three classes on some of its nodes."""
    W = draw(graphs.weighted_graphs(min_nodes, 12))
    codes = np.array(draw(st.lists(st.integers(-1, K - 1), min_size=len(W), max_size=len(W))))
    codes[:2] = 0, 1
    return LabelledGraph.of(Graph(W), codes, K)


def refitted_part(part, fit, fold=None):
    """Fit without each label, or each fold, and look at it; -inf: its class has no label then."""
    nodes = part.nodes
    fold = np.arange(len(nodes)) if fold is None else fold
    expected = np.full((len(nodes), K), -np.inf)
    for i in range(len(nodes)):
        kept = nodes[fold != fold[i]]
        Y = np.zeros((part.graph.n, K))
        Y[kept] = part.Y[fold != fold[i]]
        left = Y.any(axis=0)
        expected[i, left] = fit(kept, Y)[nodes[i], left]
    return expected


@pytest.mark.parametrize("few", [200, 0])
@given(part=pieces(), gamma=st.floats(1e-3, 10))
def test_zhou_left_out_equals_refitting(few, part, gamma):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formulas, "FEW", few)  # 0: from the spectrum
        found = zhou_leave_one_out(part, [gamma])[0]
    expected = refitted_part(part, lambda _, Y: zhou(part.graph, Y, gamma=gamma).f)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(part=pieces(), p=st.integers(1, 12), kind=st.sampled_from(["normalized", "combinatorial"]))
def test_belkin_left_out_equals_refitting(part, p, kind):
    p = min(p, part.graph.n)
    V = eigenpairs(part.graph, p, kind).vectors
    rows = V[part.nodes]

    def fit(kept, Y):
        return V @ np.linalg.lstsq(V[kept], Y[kept], rcond=None)[0]

    found = belkin_leave_one_out(rows, part.Y)
    np.testing.assert_allclose(found, refitted_part(part, fit), atol=1e-7)


def test_belkin_left_out_is_the_model_without_the_label():
    rng = np.random.default_rng(41)
    graph = Graph(graphs.random_weights(rng, 30))
    y = graphs.random_labels(rng, 30, 0.5)
    codes = np.where(y == 0, -1, (y > 0).astype(int))
    nodes = np.flatnonzero(y)
    found = belkin_leave_one_out(eigenpairs(graph, 4).vectors[nodes], np.eye(2)[codes[nodes]])
    for row, i in zip(found, nodes, strict=True):
        f = belkin(graph, np.where(np.arange(30) == i, 0.0, y), n_vectors=4).f[i]
        assert row[1] - row[0] == pytest.approx(f, rel=1e-9, abs=1e-12)


def test_what_a_label_less_leaves_open_is_not_determined():
    rng = np.random.default_rng(47)
    basis = rng.standard_normal((6, 3))
    assert hat_matrix_factors(basis) is not None
    assert hat_matrix_factors(basis[:3]) is None  # as many vectors as labels
    assert hat_matrix_factors(np.column_stack([basis, basis[:, 0]])) is None  # rank
    basis[:, 2] = np.eye(6)[4]
    assert hat_matrix_factors(basis) is None  # h_44 = 1: nothing else sees the third vector


def large_piece(n_labels):
    rng = np.random.default_rng(43)
    n = SMALL + 40
    graph = Graph(sp.csr_array(graphs.random_weights(rng, n, density=0.006)))
    codes = np.full(n, -1)
    codes[rng.choice(n, n_labels, replace=False)] = np.arange(n_labels) % K
    return LabelledGraph.of(graph, codes, K)


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [0.01, 0.1, 2.0])
def test_large_graphs_each_label_by_itself_or_in_folds(gamma, monkeypatch):
    part = large_piece(45)
    monkeypatch.setattr(formulas, "_HELD", 7 * part.graph.n)  # few columns at a time

    def fit(_, Y):
        return zhou(part.graph, Y, gamma=gamma).f

    found = zhou_leave_one_out(part, [0.3, gamma])[1]
    expected = refitted_part(part, fit)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6 * expected.max())
    monkeypatch.setattr(formulas, "FEW", 10)
    fold = stratified_folds(part.codes, FOLDS)
    assert {np.bincount(fold[part.codes == k]).max() for k in range(K)} == {2}
    found, expected = zhou_leave_one_out(part, [gamma, 0.3])[0], refitted_part(part, fit, fold)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6 * expected.max())


@pytest.mark.parametrize("W", [graphs.path(1600), graphs.grid(40, 40), graphs.cycle_sparse(1800)])
def test_many_gammas_from_one_run(W):
    graph, nodes = Graph(W), np.array([3, 4, 700, 1500])
    gammas = [0.001, 0.05, 0.7, 1.0, 10.0]
    B = np.zeros((graph.n, 4))
    B[nodes] = np.eye(4)
    for gamma, found in zip(gammas, zhou_at_nodes(graph, nodes, np.eye(4), gammas), strict=True):
        expected = zhou(graph, B, gamma=gamma).f[nodes]
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-6 * expected.max())


def test_a_run_ends_where_its_space_is_complete():
    n = SMALL + 100
    W = sp.csr_array(graphs.star(n))  # from the hub, two steps span everything
    graph, nodes = Graph(W), np.array([0, 5])
    found = zhou_at_nodes(graph, nodes, np.array([[1.0], [0.0]]), [0.1])[0][:, 0]
    np.testing.assert_allclose(found, zhou(graph, np.eye(1, n)[0], gamma=0.1).f[nodes], atol=1e-9)

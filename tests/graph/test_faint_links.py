"""Links too faint to join their nodes: every representation of a matrix gives the same answers."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import graphs
import oracles
from robustgc import CSR, RobustGC, ZhouGC, robust
from robustgc.graph import csr as csr_module
from robustgc.graph import weights as weights_module
from robustgc.graph.graph import Graph
from robustgc.graph.weights import check_weights, components, separated
from samples import EACH

FAINT = pytest.mark.filterwarnings("ignore:Left out .* fainter")


def clusters(rng, sizes, faint=1e-30, links=6):
    """Connected clusters, joined by links of next to no weight."""
    W = sp.block_diag([graphs.random_weights(rng, n) for n in sizes]).toarray()
    ends = np.cumsum(sizes)
    for a in range(len(sizes)):
        for b in range(a + 1, len(sizes)):
            i = ends[a] - 1 - rng.integers(sizes[a], size=links)
            j = ends[b] - 1 - rng.integers(sizes[b], size=links)
            W[i, j] = W[j, i] = faint
    return W


def beside_a_giant(rng, n, giant=1e60):
    """A graph with one edge beside whose weight all others of its nodes vanish."""
    W = graphs.random_weights(rng, n, density=8 / n)
    W[3, 4] = W[4, 3] = giant
    return W


def some_labels(rng, sizes, K=2):
    y = np.full(sum(sizes), -1)
    for first, n in zip(np.cumsum([0, *sizes]), sizes, strict=False):
        nodes = first + rng.permutation(n)[: 2 * K]
        y[nodes] = np.arange(len(nodes)) % K
    return y


def forms(W):
    rows = sp.csr_array(W)
    yield rows
    yield sp.coo_array(W)
    yield CSR(rows.indptr, rows.indices, rows.data)


CASES = {
    "three clusters": lambda rng: (clusters(rng, [20, 20, 20]), some_labels(rng, [20, 20, 20], 3)),
    "a large one and two small": lambda rng: (
        clusters(rng, [70, 8, 5]),
        some_labels(rng, [70, 8, 5]),
    ),
    "beside a giant": lambda rng: (beside_a_giant(rng, 200), some_labels(rng, [200])),
}


@EACH
@FAINT
@pytest.mark.parametrize("case", CASES)
def test_all_forms_of_a_matrix_give_the_same_answers(estimator, case):
    W, y = CASES[case](np.random.default_rng(15))
    dense = estimator(affinity="precomputed").fit(W, y)
    for form in forms(W):
        other = estimator(affinity="precomputed").fit(form, y)
        np.testing.assert_array_equal(other.transduction_, dense.transduction_)
        np.testing.assert_array_equal(other.components_, dense.components_)
        np.testing.assert_allclose(other.f_, dense.f_, rtol=1e-7, atol=1e-9)
        assert other.residual_ < 1e-8


@FAINT
@pytest.mark.parametrize("case", CASES)
def test_what_follows_a_fit_does_not_depend_on_the_form_either(case):
    W, y = CASES[case](np.random.default_rng(16))
    dense = RobustGC(affinity="precomputed").fit(W, y)
    for form in forms(W):
        other = RobustGC(affinity="precomputed").fit(form, y)
        for a, b in zip(dense.label_issues(), other.label_issues(), strict=True):
            assert (a.node, a.suggested) == (b.node, b.suggested)
            assert a.suspicion == pytest.approx(b.suspicion, abs=1e-7)
        assert other.suggest_queries(3).tolist() == dense.suggest_queries(3).tolist()
        change = {int(np.flatnonzero(y == 0)[0]): 1}
        again = pickle.loads(pickle.dumps(other)).update(change)
        expected = pickle.loads(pickle.dumps(dense)).update(change)
        np.testing.assert_array_equal(again.transduction_, expected.transduction_)


@FAINT
@given(seed=st.integers(7, 2**20), faint=st.sampled_from([1e-300, 1e-60, 1e-25]))
def test_every_component_is_the_formula_on_that_component(seed, faint):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 16, size=rng.integers(2, 4)).tolist()
    W = clusters(rng, sizes, faint, links=2)
    y = some_labels(rng, sizes)
    for form in (W, sp.csr_array(W)):
        clf = RobustGC(0.9, n_modes=1, affinity="precomputed").fit(form, y)
        for c in range(len(sizes)):
            here = np.flatnonzero(clf.components_ == c)
            piece = W[np.ix_(here, here)]
            signs = np.select([y[here] == 0, y[here] == 1], [-1.0, 1.0], 0.0)
            expected = oracles.robust(piece, signs, 0.9 * oracles.lambda_1(piece))
            np.testing.assert_allclose(clf.f_[here], expected, rtol=1e-6, atol=1e-8)


def test_links_left_out_are_told_with_their_number():
    rng = np.random.default_rng(17)
    W = clusters(rng, [9, 9], links=1)
    with pytest.warns(UserWarning, match=r"^Left out 1 link fainter than 1e-24 .* 2 components"):
        RobustGC(affinity="precomputed").fit(W, some_labels(rng, [9, 9]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ZhouGC(affinity="rbf", sigma=1.0).fit([[0.0], [1.0], [99.0]], [0, 1, -1])


def test_weights_with_nothing_to_leave_out_are_not_copied():
    W = check_weights(sp.csr_array(graphs.random_weights(np.random.default_rng(18), 30)))
    assert separated(W) is W
    apart = check_weights(sp.csr_array(np.kron(np.eye(2), graphs.complete(4)) * 1e-30))
    assert separated(apart) is apart


@given(seed=st.integers(7, 2**20))
def test_separated_weights_have_the_same_components_however_they_are_found(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    W = graphs.random_weights(rng, n) * 10.0 ** rng.integers(-40, 40, (n, n))
    W = check_weights(np.triu(W, 1) + np.triu(W, 1).T)
    count, number = components(W)
    for form in (W, *forms(W)):
        apart = separated(check_weights(form))
        again = components(apart)
        assert again[0] == count
        np.testing.assert_array_equal(again[1], number)
        whole = apart.to_scipy() if isinstance(apart, CSR) else apart
        kept = whole.toarray() if sp.issparse(whole) else whole
        np.testing.assert_array_equal(kept, np.where(number[:, None] == number, W, 0.0))


@FAINT
def test_large_matrices_take_the_compiled_way_to_the_same_answer(monkeypatch):
    rng = np.random.default_rng(19)
    W, y = sp.csr_array(clusters(rng, [60, 40])), some_labels(rng, [60, 40])
    expected = ZhouGC(affinity="precomputed").fit(W, y).f_
    monkeypatch.setattr(weights_module, "LARGE", 1)
    monkeypatch.setattr(csr_module, "FEW", 0)
    monkeypatch.setattr(csr_module, "FEW_ROWS", 0)
    np.testing.assert_allclose(ZhouGC(affinity="precomputed").fit(W, y).f_, expected, atol=1e-12)


def test_a_part_of_a_matrix_has_no_entry_from_outside():
    rng = np.random.default_rng(20)
    W = graphs.random_weights(rng, 50)
    rows, nodes = sp.csr_array(W), np.sort(rng.permutation(50)[:20])
    part = CSR(rows.indptr, rows.indices, rows.data).part(nodes).to_scipy().toarray()
    np.testing.assert_array_equal(part, W[np.ix_(nodes, nodes)])


def test_a_connected_graph_with_faint_links_within_it_keeps_them():
    W = graphs.path(4).toarray()
    W[0, 3] = W[3, 0] = 1e-30
    np.testing.assert_array_equal(separated(check_weights(W)), W)
    assert robust(Graph(W), [1, 0, 0, -1], gamma=0.1).residual < 1e-12


def test_labels_are_judged_where_many_parts_hang_together_by_next_to_nothing():
    part = np.arange(1504) % 5
    M = np.where(part[:, None] == part, 1.0, 1e-8)
    y = np.where(np.arange(1504) < 60, part < 2, -1)
    y[7] = 1 - y[7]
    issues = RobustGC(0.5, n_modes=1, affinity="precomputed").fit(M, y).label_issues()
    assert issues.node[0] == 7

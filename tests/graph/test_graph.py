import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given

import graphs
import oracles
from robustgc import Graph, lambda_1
from robustgc.graph.weights import check_weights, components


@given(graphs.weighted_graphs())
def test_operators_equal_the_dense_definitions(W):
    graph, x = Graph(W), np.random.default_rng(7).standard_normal((len(W), 3))
    L = oracles.laplacian(W)
    np.testing.assert_allclose(graph.L_N(x), L @ x, atol=1e-13)
    np.testing.assert_allclose(graph.S(x), x - L @ x, atol=1e-13)
    np.testing.assert_allclose(graph.P0(x), oracles.projector(W) @ x, atol=1e-13)
    np.testing.assert_allclose(graph.laplacian(), L, atol=1e-14)
    np.testing.assert_allclose(
        graph.laplacian("combinatorial"), np.diag(W.sum(axis=1)) - W, atol=1e-14
    )
    np.testing.assert_allclose(graph.d, W.sum(axis=1))
    np.testing.assert_allclose(graph.v0, oracles.null_vector(W))


@given(graphs.weighted_graphs())
def test_one_vector_and_a_block_of_columns_agree(W):
    graph, x = Graph(W), np.random.default_rng(7).standard_normal((len(W), 3))
    for apply in (graph.S, graph.L_N, graph.P0):
        one_by_one = np.column_stack([apply(column) for column in x.T])
        np.testing.assert_allclose(apply(x), one_by_one, atol=1e-14)


@given(graphs.weighted_graphs())
def test_dirichlet_form_is_the_quadratic_form_of_the_combinatorial_laplacian(W):
    U = np.random.default_rng(7).standard_normal((len(W), 3))
    expected = U.T @ (np.diag(W.sum(axis=1)) - W) @ U
    for container in (W, sp.csr_array(W)):
        np.testing.assert_allclose(Graph(container).dirichlet(U), expected, atol=1e-12)


@pytest.mark.parametrize("name", graphs.CONTAINERS)
def test_every_container_gives_the_same_graph(name):
    W = graphs.random_weights(np.random.default_rng(5), 12, loops=True)
    graph = Graph(graphs.CONTAINERS[name](W))
    assert lambda_1(graph) == pytest.approx(oracles.lambda_1(W), rel=1e-12)
    np.testing.assert_allclose(graph.d, W.sum(axis=1))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float16, np.float32])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.coo_matrix])
def test_degrees_do_not_overflow_small_integer_types(dtype, make):
    if dtype is np.float16 and make is not np.asarray:
        make = np.asarray  # scipy has no sparse float16
    W = make((graphs.complete(300) * (100 if dtype is not bool else 1)).astype(dtype))
    np.testing.assert_array_equal(Graph(W).d, 299.0 * (100 if dtype is not bool else 1))


def test_duplicates_of_a_sparse_matrix_are_summed_without_wrapping_around():
    i, j = np.array([0, 0, 1, 1, 1, 2]), np.array([1, 1, 0, 0, 2, 1])
    weights = np.full(6, 100, dtype=np.int8)  # 100 + 100 does not fit in int8
    for container in (
        sp.coo_array((weights, (i, j)), shape=(3, 3)),
        sp.csr_array((weights, j, [0, 2, 5, 6]), shape=(3, 3)),
    ):
        np.testing.assert_array_equal(Graph(container).d, [200, 300, 100])


def test_explicit_zeros_are_no_edges():
    W = sp.csr_array(([1.0, 1.0, 0.0, 0.0], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(3, 3))
    with pytest.raises(ValueError, match="1 of 3 nodes have no edge"):
        Graph(W)


def test_a_data_frame_is_read_as_an_array():
    assert Graph(pd.DataFrame(graphs.complete(4))).n == 4


@pytest.mark.parametrize("make", [np.array, sp.csr_array, sp.coo_array, sp.csc_matrix])
def test_input_is_never_modified(make):
    W = graphs.random_weights(np.random.default_rng(9), 10, loops=True)
    W[2, 3] *= 1 + 1e-13  # to be symmetrised
    given, kept = make(W), make(W).copy()
    Graph(given)
    assert abs(given - kept).max() == 0


def test_unsorted_indices_of_the_caller_stay_as_they_are():
    W = sp.csr_array((np.ones(6), [2, 1, 2, 0, 1, 0], [0, 2, 4, 6]), shape=(3, 3))
    before = W.indices.copy()
    assert lambda_1(Graph(W)) == pytest.approx(1.5)
    np.testing.assert_array_equal(W.indices, before)


def test_rounding_asymmetry_is_averaged_and_float32_has_its_own_precision():
    W = graphs.random_weights(np.random.default_rng(9), 10)
    W[2, 3] = (W[3, 2] or 0.5) * (1 + 1e-12)
    W[3, 2] = W[2, 3] / (1 + 1e-12)
    for container in (W, sp.csr_array(W)):
        graph = Graph(container)
        assert abs(graph.W - graph.W.T).max() == 0
    single = W.astype(np.float32)
    single[2, 3] *= np.float32(1 + 1e-6)
    assert Graph(single).n == 10


def test_pickle_and_repr():
    graph = Graph(graphs.complete(5))
    lambda_1(graph)
    again = pickle.loads(pickle.dumps(graph))
    assert lambda_1(again) == lambda_1(graph)
    assert repr(again) == "Graph(n=5, dense)"


def spoilt(i, j, value):
    W = graphs.complete(4)
    W[i, j] = W[j, i] = value
    return W


DIRECTED = graphs.complete(4)
DIRECTED[1, 2] = 0.25

# what is wrong, with the number · what is allowed · what to do
REFUSED = {
    "empty": (np.zeros((0, 0)), ["0 nodes", "At least 2"]),
    "one node": (np.ones((1, 1)), ["1 node", "At least 2"]),
    "not square": (np.ones((3, 4)), [r"\(3, 4\)", "square", "affinity='rbf'"]),
    "one-dimensional": (np.ones(3), [r"\(3,\)", "square"]),
    "NaN": (spoilt(1, 2, np.nan), [r"W\[1, 2\] = nan", "2 such entries", "finite"]),
    "inf": (spoilt(0, 3, np.inf), [r"W\[0, 3\] = inf", "finite", "remove"]),
    "negative": (spoilt(1, 3, -0.5), [r"W\[1, 3\] = -0.5", ">= 0", "similarities"]),
    "directed": (DIRECTED, ["= 0.25", "1 such pairs", "undirected", r"\(W \+ W.T\) / 2"]),
    "no edges": (np.zeros((3, 3)), ["3 of 3 nodes have no edge", "connected", "precomputed"]),
    "only self-loops": (np.eye(3), ["3 of 3 nodes have no edge"]),
    "two parts": (np.kron(np.eye(2), graphs.complete(3)), ["2 components", "Keep one"]),
    "overflow": (graphs.complete(4) * 1e308, ["overflows", "1e\\+308", "Divide"]),
}


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.coo_array])
@pytest.mark.parametrize("case", REFUSED)
def test_refusals_say_what_is_wrong_what_is_allowed_and_what_to_do(case, make):
    W, texts = REFUSED[case]
    if W.ndim == 1 and make is sp.csr_array:
        make = sp.coo_array
    for text in texts:
        with pytest.raises(ValueError, match=text):
            Graph(make(W))


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match=r"masked array with 2 masked entries.*filled"):
        Graph(np.ma.masked_equal(spoilt(1, 2, -1), -1))


def test_an_edge_in_one_direction_is_directed_however_weak():
    W = graphs.two_cliques(3, 0.0)
    W[2, 3] = 1e-16
    for container in (W, sp.csr_array(W)):
        with pytest.raises(ValueError, match="not symmetric"):
            Graph(container)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_weights_of_any_scale(scale):
    W = graphs.random_weights(np.random.default_rng(5), 30, loops=True)
    graph = Graph(W * scale)
    assert lambda_1(graph) == pytest.approx(oracles.lambda_1(W), rel=1e-10)
    np.testing.assert_allclose(graph.v0, oracles.null_vector(W), rtol=1e-12)


def test_unknown_laplacians_are_refused():
    with pytest.raises(ValueError, match="'signed' is unknown"):
        Graph(graphs.complete(3)).laplacian("signed")


@pytest.mark.parametrize(
    "W", [graphs.complete(3) * 1j, graphs.complete(3).astype(object), [["a", "b"], ["b", "a"]]]
)
def test_other_types_are_refused_with_the_cure(W):
    with pytest.raises(TypeError, match="real numbers are needed"):
        Graph(W)


def test_components_need_weights_that_count_beside_the_degrees():
    W = check_weights(graphs.two_cliques(4, 1e-40))
    count, number = components(W)
    assert count == 2
    assert number.tolist() == [0] * 4 + [1] * 4
    assert components(sp.csr_array(W))[0] == 2
    assert components(check_weights(graphs.two_cliques(4, 1e-20)))[0] == 1
    assert components(check_weights(graphs.complete(3) * 1e-200))[0] == 1

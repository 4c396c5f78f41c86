"""Components, and each of them by itself, as on one machine, however the rows are cut."""

import pytest
from ranks import run

PIECES = """
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from robustgc import Graph
from robustgc.graph.laplacian import operator
from robustgc.mpi.halo import Halo
from robustgc.mpi.components import extract_component, find_components
from robustgc.mpi.share import Share
from robustgc.mpi.world import world
from robustgc.mpi.graph import DistributedGraph

comm = world()


def edges(rng, n, seed):
    if seed % 3 == 0:  # a path through nodes in random order: the worst for labels that spread
        order = rng.permutation(n)
        return order[:-1], order[1:]
    m = int(rng.integers(0, 2 * n))
    return rng.integers(0, n, m), rng.integers(0, n, m)


for seed in range(5, 29):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 300))
    u, v = edges(rng, n, seed)
    W = sp.coo_array((rng.uniform(0.1, 2, len(u)), (u, v)), shape=(n, n)).tocsr()
    W = sp.csr_array(W + W.T)
    if seed % 2:
        W.data[:] = 1
    W.sort_indices()
    cuts = np.sort(rng.integers(0, n + 1, comm.size - 1))  # ranks without rows, too
    first, last = np.concatenate([[0], cuts, [n]])[comm.rank : comm.rank + 2]
    own = W[first:last]
    data = None if (W.data == 1).all() else own.data
    share = Share(comm, int(first), n, own.indptr, own.indices, data)
    halo = Halo(share)
    found = find_components(share, halo, halo.W.sum(axis=1))
    number, size = (np.concatenate(comm.allgather(x)) for x in (found.number, found.size))
    count, known = connected_components(W, directed=False)
    order = np.argsort(np.argsort(np.unique(known, return_index=True)[1]))
    assert found.count == count
    np.testing.assert_array_equal(number, order[known])
    np.testing.assert_array_equal(size, np.bincount(number)[number])
    largest = int(np.bincount(number).argmax())
    nodes = np.flatnonzero(number == largest)
    rows = np.flatnonzero(found.number == largest)
    part, places = extract_component(share, halo, rows)
    assert places[rows].tolist() == list(range(part.first, part.first + len(rows)))
    assert (np.delete(places, rows) == -1).all()
    np.testing.assert_array_equal(np.concatenate(comm.allgather(rows + first)), nodes)
    if len(nodes) < 2:
        continue
    graph, one = DistributedGraph(part), Graph(W[nodes][:, nodes])
    X = rng.standard_normal((len(nodes), 3))
    here = slice(graph.first, graph.first + graph.rows)
    for mine, theirs in ((graph.L_N(X[here]), one.L_N(X)), (graph.P0(X[here]), one.P0(X))):
        np.testing.assert_allclose(np.concatenate(comm.allgather(mine)), theirs, atol=1e-13)
    np.testing.assert_allclose(graph.inner(X[here], X[here]), X.T @ X, atol=1e-10)
    np.testing.assert_allclose(graph.norms(X[here]), one.norms(X))
    assert abs(graph.usual_degree / one.usual_degree - 1) < 1e-12
    assert abs(graph.volume - one.volume) < 1e-9 * one.volume
    some = rng.choice(len(nodes), min(5, len(nodes)), replace=False)
    np.testing.assert_array_equal(graph.at(X[here], some), X[some])
    np.testing.assert_array_equal(graph.placed(some, X[some]), one.placed(some, X[some])[here])
    assert graph.largest(X[here]) == one.largest(X)
    single = operator(graph, "float32")(X[here].astype(np.float32))
    np.testing.assert_allclose(np.concatenate(comm.allgather(single)), one.L_N(X), atol=3e-6)
"""


@pytest.mark.parametrize("n", [1, 3])
def test_components_and_operators_are_those_of_one_machine(n):
    run(n, PIECES)

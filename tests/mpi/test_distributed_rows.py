"""Edges on all ranks put together, against the same on one machine."""

import pytest
from ranks import run

RANDOM = """
import numpy as np
from robustgc.io.rows import WAYS, assemble, way_number
from robustgc.io.opening import InputError
from robustgc.mpi import rows as mpi_rows
from robustgc.mpi.share import check_share
from robustgc.mpi.rows import number_names
from robustgc.mpi.world import world

comm = world()
mpi_rows.EDGES = 7
refused = unweighted = summed = 0
for seed in range(3259, 3259 + 80):
    rng = np.random.default_rng(seed)  # the same on every rank
    nodes, count = rng.integers(2, 40), rng.integers(1, 60)
    ends = rng.integers(0, nodes, (2, count))
    weights = [None, rng.integers(0, 4, count) * 1.0, rng.random(count)][seed % 3]
    way = [None, *WAYS][seed % 4]
    if seed % 5 == 0:  # every edge in both directions
        ends = np.concatenate([ends, ends[::-1]], axis=1)
        weights = None if weights is None else np.tile(weights, 2)
    owner = rng.integers(0, comm.size, ends.shape[1])  # who has read what
    mine = owner == comm.rank
    # Edges come to their rows in the order of ranks and rounds: only sums may round otherwise.
    names, places = np.unique(ends[:, mine], return_inverse=True)
    sources, targets = places.reshape(2, -1)
    edges = mpi_rows.EdgeEnds(sources, targets, None if weights is None else weights[mine])
    nodes = number_names(comm, names, edges.counts(len(names)))
    known, numbered = np.unique(ends, return_inverse=True)
    args = (*numbered.reshape(2, -1), weights, known)
    try:
        want, notes = assemble(*args, symmetrise=way)
    except InputError:
        want = None
    try:
        share, found = mpi_rows.share_of(comm, edges, nodes, way_number(way), "here")
    except InputError as error:
        assert want is None, f"{seed}: {error}"
        assert "here: " in str(error)
        refused += 1
        continue
    assert want is not None, seed
    check_share(share)
    assert (share.data is None) == (want.data is None), seed
    assert found.notes() == notes, (seed, found.notes(), notes)
    every = np.concatenate(comm.allgather(nodes.names))
    order = np.searchsorted(known, every)
    dense = want.to_scipy().toarray()[np.ix_(order, order)]
    own = np.zeros((share.rows, share.n))
    rows = np.repeat(np.arange(share.rows), np.diff(share.indptr))
    own[rows, share.indices] = 1.0 if share.data is None else share.data
    np.testing.assert_allclose(own, dense[share.first : share.first + share.rows], rtol=1e-12)
    assert ((own > 0) == (dense[share.first : share.first + share.rows] > 0)).all()
    unweighted += share.data is None
    summed += any("more than once" in note for note in notes)
assert min(refused, unweighted, summed) > 3, (refused, unweighted, summed)
"""


@pytest.mark.parametrize("n", [1, 3])
def test_random_edges(n):
    run(n, RANDOM)

"""Weights that a program has, and labels: the share of every rank, checked."""

import pytest
from ranks import run

WEIGHTS = """
import numpy as np
import scipy.sparse as sp
from robustgc.graph.csr import CSR
from robustgc.mpi.share import check_share
from robustgc.mpi.share import from_petsc, from_weights
from robustgc.mpi.share import Share
from robustgc.mpi.world import petsc, world
from robustgc.graph.weights import check_weights

comm = world()
rng = np.random.default_rng(3257)
A = sp.csr_array(np.where(rng.random((80, 80)) < 0.05, rng.random((80, 80)), 0))
A = A + A.T + sp.diags_array(np.where(np.arange(80) % 9 == 0, 1.0, 0.0))
W = check_weights(A)


def whole(share):
    parts = comm.allgather((np.diff(share.indptr), share.indices, share.data))
    lengths, indices, data = zip(*parts, strict=True)
    indptr = np.concatenate([[0], *map(np.cumsum, [np.concatenate(lengths)])])
    indices = np.concatenate(indices)
    data = np.ones(len(indices)) if data[0] is None else np.concatenate(data)
    return sp.csr_array((data, indices, indptr), shape=(share.n, share.n)).toarray()


unit = CSR.from_scipy(sp.csr_array((np.ones(W.nnz), W.indices, W.indptr), W.shape))
single = CSR(W.indptr, W.indices, W.data.astype(np.float32))
for given in (W, CSR(W.indptr, W.indices, W.data), W.toarray(), unit, single):
    share = from_weights(given, comm)
    check_share(share)
    want = given.toarray() if sp.issparse(given) else given
    want = given.to_scipy().toarray() if isinstance(given, CSR) else want
    np.testing.assert_array_equal(whole(share), want)
    assert (share.data is None) == (given is unit)
    entries = comm.allgather(len(share.indices) + share.rows)
    assert max(entries) <= (W.nnz + 80) / comm.size + 20

# Few rows: some ranks have none.
share = from_weights(np.array([[0.0, 2.0], [2.0, 0.0]]), comm)
check_share(share)
assert share.n == 2
assert comm.allreduce(share.rows) == 2

PETSc = petsc()


def matrix(A):
    mat = PETSc.Mat().createAIJ(A.shape, comm=comm)
    mat.setUp()
    for i in range(*mat.getOwnershipRange()):
        if i < A.shape[1]:
            mat.setValue(i, i, 0.0)  # an explicit zero, as solvers want it
        for p in range(A.indptr[i], A.indptr[i + 1]):
            mat.setValue(i, A.indices[p], A.data[p])
    mat.assemble()
    return mat


np.testing.assert_array_equal(whole(from_petsc(matrix(W))), W.toarray())
ones = sp.csr_array((np.ones(W.nnz), W.indices, W.indptr), W.shape)
assert from_petsc(matrix(ones)).data is None


def refused(call, kind, text):
    try:
        call()
    except kind as error:
        assert text in str(error), str(error)
    else:
        raise AssertionError(f"not refused: {text}")


refused(lambda: from_petsc(matrix(sp.csr_array(sp.triu(W)))), ValueError, "are not symmetric")
refused(lambda: from_petsc(matrix(W[:, :70].tocsr())), ValueError, "has shape (80, 70)")
refused(lambda: from_petsc(matrix(-1.0 * W)), ValueError, "are negative or not finite")
dense = PETSc.Mat().createDense((4, 4), comm=comm)
dense.setUp()
dense.assemble()
refused(lambda: from_petsc(dense), TypeError, "An assembled AIJ matrix is needed")

# Wrong on one rank only: all ranks say so.
own = from_weights(W, comm)
last = comm.rank == comm.size - 1


def changed(**arrays):
    parts = {"indptr": own.indptr, "indices": own.indices, "data": own.data}
    return Share(comm, own.first, own.n, **(parts | (arrays if last else {})))


def refuse(text, kind=ValueError, **arrays):
    refused(lambda: check_share(changed(**arrays)), kind, text)


check_share(changed())
refuse("are not symmetric", data=own.data * np.linspace(1, 2, len(own.data)))
refuse("are zero; leave them out", data=own.data * 0)
refuse("are negative or not finite", data=own.data * np.nan)
refuse("are out of range, repeated, or not in asc", indices=own.indices[::-1].copy())
refuse("are out of range, repeated, or not in asc", indices=own.indices + 80)
refuse("it must rise from 0 to the number of entries", indptr=own.indptr[::-1].copy())
refuse("one float64 each is needed", TypeError, data=own.data.astype(np.float32))
if comm.size > 1:
    refuse("Some ranks have weights and some have none", data=None)
    shifted = Share(comm, own.first + last, own.n, own.indptr, own.indices, own.data)
    refused(lambda: check_share(shifted), ValueError, "it should begin with row")
    other = W if last else sp.csr_array(2.0 * sp.eye_array(80))
    refused(lambda: from_weights(other, comm), ValueError, "The weights are not the same on rank")
empty = Share(comm, 0, 0, np.zeros(1, np.int64), np.zeros(0, np.int32))
refused(lambda: check_share(empty), ValueError, "The graph is empty: 0 nodes")
"""

LABELS = """
import sys
from pathlib import Path
import numpy as np
from robustgc.graph.csr import CSR
from robustgc.io.graph_files import read_graph
from robustgc.io.label_files import LabelTable, read_labels
from robustgc.io.label_nodes import node_labels
from robustgc.io.named import NamedGraph
from robustgc.mpi.reading import DistributedInput, read_share, route_labels
from robustgc.mpi.share import from_weights
from robustgc.mpi.world import world

comm, folder = world(), Path(sys.argv[1])


def by_name(numbers, classes, found):
    own = found.names
    if own is None:
        own = np.arange(found.share.first, found.share.first + found.share.rows)
    names = [str(name) for part in comm.allgather(own.tolist()) for name in part]
    return dict(zip([names[k] for k in numbers], classes, strict=True))


def compare(table, found, graph, **options):
    try:
        y, notes = node_labels(table, graph, **options)
    except ValueError as error:
        said = str(error)
        try:
            route_labels(table, found, **options)
        except ValueError as other:
            # One process also knows all names of the graph, and explains with them what is lost.
            assert str(other).split(". ")[0] == said.split(". ")[0], str(other)
            return
        raise AssertionError(f"not refused: {said}") from None
    numbers, classes, other = route_labels(table, found, **options)
    assert numbers.dtype == np.int64
    assert other == notes
    have = {str(n): c for n, c in zip(graph.names, y, strict=True) if c is not None}
    assert by_name(numbers, classes, found) == have


ring = CSR(np.arange(13) * 2, np.sort(
    np.stack([(np.arange(12) - 1) % 12, (np.arange(12) + 1) % 12], 1)).ravel())
counted = DistributedInput(from_weights(ring, comm), None, ())
graphs = [
    (counted, NamedGraph(ring, np.arange(12))),
    (read_share(folder / "numbers", comm), read_graph(folder / "numbers.csv")),
    (read_share(folder / "texts", comm), read_graph(folder / "texts.csv")),
]
names = [["0", "11", "3", "3"], ["10", "20", "5", "10"], ["a", "ü", "c", "ü"]]
for (found, graph), known in zip(graphs, names, strict=True):
    for labels in (["x", "y", "x", "x"], [1, 2, 1, 2], ["x", "x", "x", "x"], ["x", "y", None, ""],
                   [None] * 4, ["x", 3, "x", "x"], ["x", 0.5, "x", "x"]):
        table = LabelTable(known, labels, "The labels")
        compare(table, found, graph)
    lost = LabelTable([*known, "nobody"], ["x", "y", "x", "x", "y"], "The labels")
    compare(lost, found, graph)
    compare(lost, found, graph, ignore_unknown=True)
    assert "nobody" in route_labels(
        LabelTable([*known[:2], "nobody"], ["x", "y", "y"], "t"), found, ignore_unknown=True)[2][0]
    compare(LabelTable(["nobody"], ["x"], "The labels"), found, graph, ignore_unknown=True)
compare(read_labels(folder / "labels.csv"), *graphs[1])
compare(LabelTable([10, 20], ["x", "y"], "The labels"), *graphs[1])
compare(LabelTable(np.array([10, 20]), ["x", "y"], "The labels"), *graphs[1])
if comm.size > 1:
    mine = LabelTable(["0", str(1 + comm.rank)], ["x", "y"], "labels.csv")
    try:
        route_labels(mine, counted)
    except ValueError as error:
        assert "labels.csv: the labels are not the same on rank" in str(error)
    else:
        raise AssertionError("not refused")
"""


@pytest.mark.parametrize("n", [1, 3])
def test_weights_of_a_program(n):
    run(n, WEIGHTS)


@pytest.mark.parametrize("n", [1, 3])
def test_labels_go_where_their_nodes_are(n, tmp_path):
    edges = {"numbers": [(10, 20), (20, 5), (5, -3)], "texts": [("a", "ü"), ("ü", "c"), ("c", "a")]}
    for name, some in edges.items():
        (tmp_path / name).mkdir()
        lines = [f"{i},{j}\n" for i, j in some]
        (tmp_path / f"{name}.csv").write_text("source,target\n" + "".join(lines))
        for k, line in enumerate(lines):
            (tmp_path / name / f"part-{k}.csv").write_text("source,target\n" + line)
    (tmp_path / "labels.csv").write_text("10,x\n-3,y\n")
    run(n, LABELS, tmp_path)

"""Matrices that a program has already -> the share of every rank."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from robustgc.graph import threads
from robustgc.graph.csr import CSR
from robustgc.graph.weights import Operator
from robustgc.mpi.checking import check_share, without_ones
from robustgc.mpi.files import check_equal
from robustgc.mpi.world import Share, collective_errors


def from_weights(W: Any, comm: Any) -> Share:
    """Take the rank's own rows of weights that every rank has whole.

    Parameters
    ----------
    W : csr_array, CSR or ndarray
        As `check_weights` returns them, the same on every rank.
    comm : communicator
    """
    if isinstance(W, Operator):
        raise TypeError(
            f"Weights of type {type(W).__name__} are known by their products only and have no rows "
            "to share. Use engine='local', or affinity='knn' for points."
        )
    rows = W if isinstance(W, CSR) else CSR.from_scipy(sp.csr_array(W))
    text = f"{rows.shape[0]} nodes and {rows.nnz} entries"
    check_equal(comm, text, text, "The weights are", "Give the same weights to all ranks.")
    with collective_errors(comm):
        cuts = threads.even_entries(rows.indptr, comm.size)
        first, last = (int(cut) for cut in cuts[comm.rank : comm.rank + 2])
        indptr = np.asarray(rows.indptr[first : last + 1], dtype=np.int64)
        own = slice(int(indptr[0]), int(indptr[-1]))
        data = None if rows.data is None else np.array(rows.data[own], dtype=np.float64)
        indices = np.array(rows.indices[own])
    share = Share(comm, first, rows.shape[0], indptr - indptr[0], indices, data)
    return without_ones(share)


def from_petsc(mat: Any) -> Share:
    """Copy and check the rows that this rank has of a distributed matrix of petsc4py.

    Entries that are stored and 0, as solvers like them on the diagonal, are left out.
    """
    comm = mat.getComm().tompi4py()
    kind, shape = mat.getType(), mat.getSize()
    if not kind.endswith("aij") or not mat.isAssembled():
        raise TypeError(
            f"The matrix is of type {kind}, assembled: {mat.isAssembled()}. An assembled AIJ "
            "matrix is needed: convert it with mat.convert('aij'), and call mat.assemble()."
        )
    if shape[0] != shape[1]:
        raise ValueError(
            f"The weight matrix has shape {shape}; it must be square, one row and one column per "
            "node."
        )
    with collective_errors(comm):
        indptr, indices, data = (np.array(part) for part in mat.getValuesCSR())
        if data.dtype.kind != "f":
            raise TypeError(f"The matrix has dtype {data.dtype}; build PETSc with real scalars.")
        keep = data != 0
        if not keep.all():
            before = np.concatenate([[0], np.cumsum(keep)])
            indptr, indices, data = before[indptr], indices[keep], data[keep]
        data = data.astype(np.float64, copy=False)
    first = mat.getOwnershipRange()[0]
    share = Share(comm, int(first), shape[0], indptr.astype(np.int64), indices, data)
    check_share(share)
    return without_ones(share)

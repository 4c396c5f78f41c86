"""One rank's share of the weights: some rows, whose columns are numbered over all ranks."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.csr import CSR
from robustgc.graph.structure import check_rows
from robustgc.graph.weights import NOT_SYMMETRIC, Operator, refuse_faults
from robustgc.io.opening import InputError
from robustgc.io.rows import index_type
from robustgc.mpi.exchange import check_equal
from robustgc.mpi.world import collective_errors


@dataclass(frozen=True, eq=False)
class Share:
    """The rows ``first`` to ``first + rows - 1`` of a symmetric matrix of weights.

    Ranks hold the rows in order: those of rank 0 come first. A rank may have none. What is fitted
    takes the arrays over: it numbers the columns anew, in place.

    Attributes
    ----------
    comm : communicator
    first, n : int
        Number of the first row here, and of all rows over the ranks.
    indptr, indices : ndarray of int
        As in `CSR`; columns ascending in every row, numbered from 0 to ``n - 1``.
    data : ndarray of float64, or None
        None on every rank: all weights are 1.
    """

    comm: Any
    first: int
    n: int
    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[np.float64] | None = None

    @property
    def rows(self) -> int:
        """How many rows are here."""
        return len(self.indptr) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays here."""
        weights = 0 if self.data is None else self.data.nbytes
        return int(self.indptr.nbytes + self.indices.nbytes + weights)


def check_share(share: Share) -> Share:
    """Refuse, on all ranks, weights that are no graph's; leave them out if all are 1.

    Columns must be in range and ascending, weights finite and above 0, and the matrix symmetric
    to the last bit, which a hash of all entries tells. Every rank calls this.
    """
    comm = share.comm
    with collective_errors(comm):
        rows = _checked_rows(share)
    starts = comm.allgather((share.first, share.rows, share.n, share.data is None))
    _check_layout(starts)
    if share.n == 0:
        raise ValueError("The graph is empty: 0 nodes. At least 2 nodes are needed.")
    findings, degrees = rows.inspected(share.n)
    faults = comm.allreduce(np.append(findings[:3], not np.isfinite(degrees).all()))
    refuse_faults(faults[:3], overflows=faults[3])
    if sum(comm.allgather(rows.asymmetry(share.first))) % 2**64:
        raise ValueError(NOT_SYMMETRIC)
    return without_ones(share)


def without_ones(share: Share) -> Share:
    """Return the share without weights if they are 1 on all ranks; every rank calls this."""
    ones = share.data is None or bool((share.data == 1).all())
    if share.data is None or not all(share.comm.allgather(ones)):
        return share
    return Share(share.comm, share.first, share.n, share.indptr, share.indices)


def _checked_rows(share: Share) -> CSR:
    """Return the rows, whose arrays fit together; columns are looked at with the weights."""
    check_rows(share.indptr, share.indices)
    entries = len(share.indices)
    if share.data is not None and (share.data.dtype != np.float64 or len(share.data) != entries):
        raise TypeError(
            f"The weights are {len(share.data)} of dtype {share.data.dtype} for {entries} entries; "
            "one float64 each is needed. Convert them with astype."
        )
    return CSR(share.indptr, share.indices, share.data)


def _check_layout(starts: list[tuple[int, int, int, bool]]) -> None:
    end = 0
    for rank, (first, rows, n, _) in enumerate(starts):
        if first != end or n != starts[0][2]:
            raise ValueError(
                f"Rank {rank} has {rows} rows from {first} of {n}; it should begin with row {end} "
                f"of {starts[0][2]}. Give the rows to the ranks in order."
            )
        end += rows
    if end != starts[0][2]:
        raise ValueError(f"The ranks have {end} rows together, the matrix {starts[0][2]} columns.")
    if len({unit for *_, unit in starts}) > 1:
        raise ValueError("Some ranks have weights and some have none; give all of them weights.")


def from_weights(W: Any, comm: Any) -> Share:
    """Take the rank's own rows of checked weights that every rank has whole."""
    if isinstance(W, Operator):
        raise TypeError(
            f"Weights of type {type(W).__name__} are known by their products only and have no rows "
            "to share. Use engine='local', or affinity='knn' for points."
        )
    rows = W if isinstance(W, CSR) else CSR.from_scipy(sp.csr_array(W))
    text = f"{rows.shape[0]} nodes and {rows.nnz} entries"
    check_equal(comm, text, text, "The weights are", "Give the same weights to all ranks.")
    with collective_errors(comm):
        share = own_rows(comm, rows)
    return without_ones(share)


def own_rows(comm: Any, graph: CSR) -> Share:
    """Copy the rank's own rows, so many that ranks have about equal numbers of entries."""
    cuts = threads.even_entries(graph.indptr, comm.size)
    first, last = (int(cut) for cut in cuts[comm.rank : comm.rank + 2])
    indptr = _copied(graph.indptr, first, last + 1).astype(np.int64)
    start, stop = int(indptr[0]), int(indptr[-1])
    if not 0 <= start <= stop <= graph.nnz or (np.diff(indptr) < 0).any():
        raise InputError(
            f"indptr runs from {start} to {stop} in rows {first} to {last} of {graph.nnz} entries; "
            "it must rise from 0 to the number of entries. Build the folder again."
        )
    indices = _copied(graph.indices, start, stop)
    if indices.dtype.kind not in "iu":
        raise InputError(f"indices have dtype {indices.dtype}; integers are needed. Build again.")
    n = graph.shape[0]
    # In 32 bits where they fit; what is out of range stays so, for the checks to say.
    inside = indices.size == 0 or (indices.min() >= 0 and indices.max() < n)
    signed = indices.astype(index_type(n) if inside else np.int64, copy=False)
    data = None if graph.data is None else _copied(graph.data, start, stop).astype(np.float64)
    return Share(comm, first, n, indptr - start, signed, data)


def _copied(array: NDArray[Any], start: int, stop: int) -> NDArray[Any]:
    """Copy a part of a mapped file by reading it: a file cut short meanwhile is an error then.

    Through the map it would end the process.
    """
    if not isinstance(array, np.memmap) or not isinstance(array.filename, str | Path):
        return np.array(array[start:stop])
    at = array.offset + start * array.itemsize
    part = np.fromfile(array.filename, dtype=array.dtype, count=stop - start, offset=at)
    if len(part) < stop - start:
        raise InputError(f"{array.filename} is cut short. Build the folder again.")
    return part


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
    return check_share(share)

"""Weights spread over ranks, checked as `robustgc.graph.weights` checks those of one machine."""

from typing import Any

import numpy as np

from robustgc.graph import threads
from robustgc.graph.csr import PARTS
from robustgc.graph.structure import check_rows
from robustgc.graph.weights import CSR_FAULTS, NOT_SYMMETRIC
from robustgc.mpi.world import Share, collective_errors


def check_share(share: Share) -> None:
    """Refuse, on all ranks, weights that are no graph's.

    Columns must be in range and ascending, weights finite and above 0, and the matrix symmetric
    to the last bit, which a hash of all entries tells. Every rank calls this.
    """
    comm = share.comm
    with collective_errors(comm):
        _check_arrays(share)
    starts = comm.allgather((share.first, share.rows, share.n, share.data is None))
    _check_layout(starts)
    if share.n == 0:
        raise ValueError("The graph is empty: 0 nodes. At least 2 nodes are needed.")
    found = comm.allreduce(_found(share))
    for count, what in zip(found[:3], CSR_FAULTS, strict=True):
        if count:
            raise ValueError(f"{int(count)} entries of the CSR are {what}")
    if found[4]:
        raise ValueError("A node's degree overflows; divide all weights by the largest.")
    if sum(comm.allgather(_asymmetry(share))) % 2**64:
        raise ValueError(NOT_SYMMETRIC)


def without_ones(share: Share) -> Share:
    """Return the share without weights if they are 1 on all ranks; every rank calls this."""
    ones = share.data is None or bool((share.data == 1).all())
    if share.data is None or not all(share.comm.allgather(ones)):
        return share
    return Share(share.comm, share.first, share.n, share.indptr, share.indices)


def _check_arrays(share: Share) -> None:
    check_rows(share.indptr, share.indices)  # columns are looked at with the weights
    entries = len(share.indices)
    if share.data is not None and (share.data.dtype != np.float64 or len(share.data) != entries):
        raise TypeError(
            f"The weights are {len(share.data)} of dtype {share.data.dtype} for {entries} entries; "
            "one float64 each is needed. Convert them with astype."
        )


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


def _found(share: Share) -> Any:
    parts = threads.collect(
        threads.loops("mpi._spread").inspect,
        threads.even_entries(share.indptr, PARTS),
        share.indptr,
        share.indices,
        share.data,
        share.n,
        found=np.zeros(5),
    )
    return parts.sum(axis=0)


def _asymmetry(share: Share) -> int:
    parts = threads.collect(
        threads.loops().asymmetry,
        threads.even_entries(share.indptr, PARTS),
        share.indptr,
        share.indices,
        None if share.data is None else share.data.view(np.uint64),
        share.first,
        found=np.zeros(1, dtype=np.uint64),
    )
    return int(parts.sum(dtype=np.uint64))

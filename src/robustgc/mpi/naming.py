"""Names of nodes -> numbers over all ranks: every name belongs to a rank, by its hash."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.mpi.routing import all_to_all
from robustgc.mpi.text import Text, all_to_all_text
from robustgc.mpi.world import collective_errors


@dataclass(frozen=True, eq=False)
class NodeNumbers:
    """The nodes that a rank has asked for, and its own.

    Attributes
    ----------
    number : ndarray of int64
        Of every name that was asked for, over all ranks.
    owner : ndarray of int32
        The ranks that these names belong to.
    names : ndarray of int64 or of objects
        The rank's own, numbers ascending, text sorted.
    counts : ndarray of int64
        What all ranks have counted for its own names.
    first : ndarray of int64, shape (size + 1,)
        Number of the first name of every rank, and of all names.
    """

    number: NDArray[np.int64]
    owner: NDArray[np.int32]
    names: NDArray[Any]
    counts: NDArray[np.int64]
    first: NDArray[np.int64]


def number_names(comm: Any, names: Any, counts: NDArray[np.int64]) -> NodeNumbers:
    """Give a number to every name of all ranks.

    Parameters
    ----------
    comm : communicator
    names : ndarray of int64, or Arrow array of large strings
        Of the same kind on all ranks; a name may come more than once.
    counts : ndarray of int64
        Something that is added up by name.
    """
    numbers = isinstance(names, np.ndarray)
    with collective_errors(comm):
        owner = _owners(names, comm.size) if numbers else Text.of(names).owners(comm.size)
        order = np.argsort(owner, kind="stable")
        going = np.bincount(owner, minlength=comm.size).astype(np.int64)
        sorted_names = names[order] if numbers else names.take(order)
    got, coming = (all_to_all if numbers else all_to_all_text)(comm, sorted_names, going)
    counted, _ = all_to_all(comm, counts[order], going)
    with collective_errors(comm):
        own, place = np.unique(got, return_inverse=True) if numbers else _unique(got)
        # In double precision: exact up to 2^53.
        total = np.bincount(place, weights=counted, minlength=len(own)).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(comm.allgather(len(own)))]).astype(np.int64)
    answers, _ = all_to_all(comm, place.astype(np.int64) + first[comm.rank], coming)
    number = np.empty(len(owner), dtype=np.int64)
    number[order] = answers
    return NodeNumbers(number, owner, own, total, first)


def _owners(names: NDArray[np.int64], size: int) -> NDArray[np.int32]:
    out = np.empty(len(names), dtype=np.int32)
    threads.loops("mpi._spread").owners_of_numbers(names, size, out)
    return out


def _unique(names: Any) -> tuple[NDArray[np.object_], NDArray[np.int64]]:
    """Return texts sorted, every one once, and the place of each among them."""
    coded = names.dictionary_encode()
    order = np.asarray(pc.array_sort_indices(coded.dictionary)).astype(np.int64)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    own = np.array(coded.dictionary.take(order).to_pylist(), dtype=object)
    return own, place[np.asarray(coded.indices)]

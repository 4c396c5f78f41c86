"""The ranks: who is there, which rows and how much memory each has, and errors that all share."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import resources, threads
from robustgc.io.limits import text_of

INSTALL = (
    "engine='mpi' needs mpi4py, petsc4py and slepc4py, and {name} is not installed. Install them "
    "with: pip install 'robustgc[mpi]' (docs/cluster.md has other ways, among them the modules of "
    "a cluster)."
)

COPIES = 2.5  # of the entries: the rows, what is exchanged for them, the solver's matrix
VECTORS = 40  # of a number per row: bases, blocks of classes, what is checked
PER_EDGE = 24  # bytes of an edge as it is read: two nodes and a weight, or what stands for them


class MissingMPIError(ImportError):
    """The libraries of the engine are not installed."""


def library() -> Any:
    """Return the module of MPI itself."""
    return _imported("mpi4py.MPI")


@cache
def world() -> Any:
    """Return the communicator of all ranks."""
    mpi = library()
    comm = mpi.COMM_WORLD
    on_machine = comm.Split_type(mpi.COMM_TYPE_SHARED)
    if on_machine.size > 1 and "ROBUSTGC_NUM_THREADS" not in os.environ:
        # Ranks share the cores that they may run on; those bound to other cores do not count.
        every = on_machine.allgather(_cores())
        sharing = sum(not every[on_machine.rank].isdisjoint(cores) for cores in every)
        os.environ["ROBUSTGC_NUM_THREADS"] = str(max(1, threads.n_threads() // sharing))
    comm.Set_attr(_machine_key(), on_machine)
    return comm


def _cores() -> set[int]:
    """Return the cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return set(os.sched_getaffinity(0))
    return set(range(os.cpu_count() or 1))


@cache
def _machine_key() -> int:
    return int(library().Comm.Create_keyval())


@cache
def petsc() -> Any:
    """Return PETSc's module; mpi4py comes first, or PETSc starts MPI in its own way."""
    world()
    # Its signal handler would print a page of advice where a rank is stopped.
    _imported("petsc4py").init(["robustgc", "-no_signal_handler"])
    module = _imported("petsc4py.PETSc")
    if module.COMM_WORLD.size != world().size:
        raise MissingMPIError(
            f"PETSc sees {module.COMM_WORLD.size} rank and mpi4py {world().size}: it was built "
            "without MPI, or with another one. Build PETSc with mpicc in the path "
            "(docs/cluster.md)."
        )
    return module


@cache
def slepc() -> Any:
    """Return SLEPc's module."""
    petsc()
    _imported("slepc4py").init(["robustgc", "-no_signal_handler"])
    return _imported("slepc4py.SLEPc")


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as failure:
        raise MissingMPIError(INSTALL.format(name=name.split(".", maxsplit=1)[0])) from failure


def available(comm: Any) -> float:
    """Return the bytes that every rank can take: those of the one that has least."""
    on_machine = comm.Get_attr(_machine_key())
    share = resources.available() / (on_machine.size if on_machine else 1)
    return float(comm.allreduce(share, library().MIN))


def need_per_rank(nodes: int, entries: int, weighted: bool, size: int) -> float:
    """Return about how many bytes one of `size` ranks needs for its share of a graph and a fit.

    `nodes` and `entries` are those of the whole graph; an edge has two entries.
    """
    index = 4 if nodes < 2**31 else 8
    return entries / size * (index + 8 * weighted) * COPIES + 8 * VECTORS * nodes / size


def check_memory(comm: Any, what: str, need: float) -> None:
    """Refuse, on all ranks, what needs more bytes than one of them has; `what` they are for."""
    most, least = max(comm.allgather(need)), available(comm)
    if most > least:
        raise MemoryError(
            f"{what} on {comm.size} rank{'s' * (comm.size > 1)} needs about {text_of(most)} of "
            f"memory per rank, and a rank can take {text_of(least)}. Start more ranks on more "
            "machines, or fewer on each; ranks on one machine share its memory."
        )


@contextmanager
def collective_errors(comm: Any) -> Iterator[None]:
    """Do something that may fail on some ranks only; then it fails on all of them.

    Nothing inside may wait for another rank. The ranks that succeeded raise the error of the first
    one that failed.
    """
    failure: Exception | None = None
    try:
        yield
    except Exception as error:
        failure = error
    first = comm.allgather(None if failure is None else (type(failure), str(failure)))
    if failure is not None:
        raise failure
    for rank, other in enumerate(first):
        if other is not None:
            raise _again(other[0], f"rank {rank}: {other[1]}")


def _again(kind: Callable[..., Exception], said: str) -> Exception:
    """Return an error as another rank has it, of the same kind where that takes a text."""
    try:
        return kind(said)
    except TypeError:
        return RuntimeError(said)


def sum_over_ranks(comm: Any, values: Any) -> NDArray[Any]:
    """Return the sum of an array, or a number, over all ranks: the same bits on each."""
    mine = np.ascontiguousarray(values)
    if comm.size == 1:
        return mine
    total = np.empty_like(mine)
    comm.Allreduce(mine, total)
    return total

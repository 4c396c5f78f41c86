"""The ranks: who is there, how an error of one becomes the error of all, how much memory each has."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from robustgc import memory, parallel

INSTALL = (
    "engine='mpi' needs mpi4py, petsc4py and slepc4py, and {name} is not installed. Install them "
    "with: pip install 'robustgc[mpi]' (docs/cluster.md has other ways, among them the modules of "
    "a cluster)."
)


class MissingMPIError(ImportError):
    """The libraries of the engine are not installed."""


@cache
def world() -> Any:
    """Return the communicator of all ranks."""
    MPI = _imported("mpi4py.MPI")
    comm = MPI.COMM_WORLD
    beside = comm.Split_type(MPI.COMM_TYPE_SHARED)
    if beside.size > 1 and "ROBUSTGC_NUM_THREADS" not in os.environ:
        # Ranks on one machine share its cores: one thread each, unless there are cores to spare.
        threads = max(1, parallel.n_threads() // beside.size)
        os.environ["ROBUSTGC_NUM_THREADS"] = str(threads)
    comm.Set_attr(_beside_key(), beside)
    return comm


@cache
def _beside_key() -> int:
    return int(_imported("mpi4py.MPI").Comm.Create_keyval())


@cache
def petsc() -> Any:
    """Return PETSc's module; mpi4py comes first, or PETSc starts MPI in its own way."""
    world()
    # Its signal handler would print a page of advice where a rank is told to stop.
    _imported("petsc4py").init(["robustgc", "-no_signal_handler"])
    return _imported("petsc4py.PETSc")


@cache
def slepc() -> Any:
    """Return SLEPc's module."""
    petsc()
    _imported("slepc4py").init(["robustgc", "-no_signal_handler"])
    return _imported("slepc4py.SLEPc")


def _imported(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as failure:
        raise MissingMPIError(INSTALL.format(name=name.split(".")[0])) from failure


def available(comm: Any) -> float:
    """Return the bytes that every rank can take: those of the one that has least."""
    MPI = _imported("mpi4py.MPI")
    beside = comm.Get_attr(_beside_key())
    return float(comm.allreduce(memory.available() / (beside.size if beside else 1), MPI.MIN))


@contextmanager
def together(comm: Any) -> Iterator[None]:
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
            raise _again(*other, rank)


def _again(kind: Callable[..., Exception], text: str, rank: int) -> Exception:
    """Return an error as another rank has it, of the same kind where that takes a text."""
    said = f"rank {rank}: {text}"
    try:
        return kind(said)
    except TypeError:
        return RuntimeError(said)

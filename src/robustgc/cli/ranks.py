"""Commands on several ranks: one of them speaks, and all end together."""

import contextlib
import io
import os
import socket
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from robustgc.cli import shared
from robustgc.cli.errors import WRONG_INPUT, described, stop

_SIZE = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")  # how many ranks mpiexec says it has started


class Ranks:
    """The ranks of a command.

    Attributes
    ----------
    comm : communicator
    first : bool
        Whether this is rank 0, which speaks for all.
    """

    def __init__(self, comm: Any, quiet: bool) -> None:
        self.comm, self.first, self._quiet = comm, comm.rank == 0, quiet

    def say(self, text: str) -> None:
        """Tell the user something, once."""
        shared.say(text, self._quiet or not self.first)

    @contextmanager
    def once(self) -> Iterator[None]:
        """Let all ranks come to the same refusal, and rank 0 alone tell it."""
        hidden = (
            contextlib.nullcontext() if self.first else contextlib.redirect_stderr(io.StringIO())
        )
        with hidden:
            yield


@contextmanager
def on_ranks(quiet: bool) -> Iterator[Ranks]:
    """Give the ranks; what goes wrong is told once and ends all of them with an exit code."""
    from robustgc.graph.resources import rank_by_mpiexec
    from robustgc.mpi.stop import FailureBarrier
    from robustgc.mpi.world import MissingMPIError, world

    launched = rank_by_mpiexec()
    try:
        comm = world()
    except MissingMPIError as error:
        if launched:  # rank 0 tells it
            raise typer.Exit(WRONG_INPUT) from None
        stop(str(error))
    _check_size(comm, launched)
    ending, ranks = FailureBarrier(comm), Ranks(comm, quiet)
    try:
        machines = len(set(comm.allgather(socket.gethostname())))
        if launched is None:
            ranks.say("engine mpi: one rank, since this was not started by mpiexec")
        else:
            ranks.say(f"engine mpi: {_many(comm.size, 'rank')} on {_many(machines, 'machine')}")
        yield ranks
    except typer.Exit:  # of bad usage, which all ranks have seen
        raise
    except (Exception, KeyboardInterrupt) as error:
        text, code = described(error) or (f"{type(error).__name__}: {error}", 1)
        everywhere = ending.all_ranks_arrive()
        if described(error) is None and (ranks.first or not everywhere):
            traceback.print_exc()
        if not everywhere:
            ending.stop_all(text, code)
        with ranks.once():
            stop(text, code)


def _check_size(comm: Any, launched: int | None) -> None:
    """Refuse ranks that do not know of each other: each would do all of the work."""
    told = next((os.environ[name] for name in _SIZE if name in os.environ), "1")
    if launched is not None and told.isdigit() and int(told) != comm.size:
        if launched:
            raise typer.Exit(WRONG_INPUT)
        stop(
            f"mpiexec has started {told} ranks, but mpi4py knows of {comm.size}: they belong to "
            "different MPIs. Use the mpiexec of the MPI that mpi4py was built with."
        )


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"

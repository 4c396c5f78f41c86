"""Errors of ranks in the process that has started them: of the same kind, or what mpiexec said."""

import json
import re
import signal
from contextlib import suppress
from pathlib import Path

from robustgc.graph.atomic import new_file
from robustgc.io.opening import InputError
from robustgc.linalg.solution import NotConvergedError, NotConvexError
from robustgc.mpi.world import MissingMPIError

_KINDS: dict[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (
        MissingMPIError, NotConvexError, NotConvergedError, InputError, ValueError, TypeError,
        MemoryError, FileNotFoundError, OSError, NotImplementedError, ArithmeticError, RuntimeError,
    )
}  # fmt: skip
# What OpenMPI and MPICH say, the most telling first.
_MPI_MESSAGES = {
    r"process rank (?P<rank>\d+) .*exited on signal (?P<signal>\d+)": (
        "rank {rank} was ended by {how}"
    ),
    r"Process name: \[\[\d+,\d+\],(?P<rank>\d+)\]\s+Exit code:\s+(?P<code>\d+)": (
        "rank {rank} ended with exit code {code}"
    ),
    r"MPI_ABORT was invoked on rank (?P<rank>\d+)": "rank {rank} stopped all others",
    r"MPI_Abort\(.*\) - process (?P<rank>\d+)": "rank {rank} stopped all others",
    r"EXIT STRING: .*\(signal (?P<signal>\d+)\)": "a rank was ended by {how}",
    r"EXIT CODE: (?P<code>\d+)": "a rank ended with exit code {code}",
}


def write_error(folder: Path, rank: int, error: BaseException) -> None:
    """Leave an error where `raise_errors` finds it."""
    kind = next((k.__name__ for k in type(error).__mro__ if k.__name__ in _KINDS), "")
    text = str(error) if kind else f"{type(error).__name__}: {error}"
    about = json.dumps({"kind": kind or "RuntimeError", "text": text})
    with suppress(OSError):  # on a disk that is full, what mpiexec says must do
        with new_file(folder / f"error-{rank:05}.json", alone=True) as file:
            file.write(about.encode("utf-8"))


def raise_errors(folder: Path) -> None:
    """Raise the error of the first rank that has left one."""
    for file in sorted(folder.glob("error-*.json")):
        about = json.loads(file.read_text(encoding="utf-8"))
        raise _KINDS[about["kind"]](about["text"])


def explain_exit(output: str, code: int) -> str:
    """Say what happened to the ranks, by what mpiexec said of it and its exit code."""
    for pattern, text in _MPI_MESSAGES.items():
        if found := re.search(pattern, output):
            words = found.groupdict()
            return text.format(**words, how=_named(int(words.get("signal", 0))))
    if code < 0:
        return f"mpiexec was ended by {_named(-code)}"
    return f"mpiexec ended with exit code {code}"


def _named(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    more = ", as the system does where memory runs out" if number == signal.SIGKILL else ""
    return f"signal {number} ({name}{more})"

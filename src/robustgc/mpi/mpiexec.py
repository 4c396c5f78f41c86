"""Ranks that one process starts with mpiexec, and what becomes of their errors."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path

from robustgc.graph import threads
from robustgc.graph.atomic import new_file
from robustgc.graph.resources import rank_by_mpiexec
from robustgc.io.opening import InputError
from robustgc.linalg.solution import NotConvergedError, NotConvexError
from robustgc.mpi.world import MissingMPIError

_LAST = 200  # lines that are kept to find out what happened
_RANK = "import sys, pathlib; from robustgc.mpi.job import main; main(pathlib.Path(sys.argv[1]))"
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


def run_ranks(n_ranks: int, job: Path) -> None:
    """Run `robustgc.mpi.job.main` on some ranks, and wait for them.

    An error that a rank has raised comes as it is. Where a rank died, a RuntimeError says which and
    how.
    """
    if rank_by_mpiexec() is not None:
        raise ValueError(
            f"n_ranks={n_ranks} starts ranks, but this process is one of several that mpiexec has "
            "started. Leave n_ranks out: the ranks that are there do the work."
        )
    command = [mpiexec(), "-n", str(n_ranks), sys.executable, "-c", _RANK, str(job)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(n_ranks),
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C comes here first, and ends the ranks in order
    )
    said: deque[str] = deque(maxlen=_LAST)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line)
            sys.stderr.write(line)
        code = process.wait()
    finally:
        _end(process)
    raise_errors(job)
    if code != 0:
        raise RuntimeError(
            f"The work on {n_ranks} ranks was not finished: {explain_exit(''.join(said), code)}. "
            "Nothing was kept. What the ranks said is on standard error; where memory ran out, use "
            "a machine with more of it, or several under mpiexec."
        )


def mpiexec() -> str:
    """Return the path of mpiexec: next to this Python, else the first on the PATH."""
    here = str(Path(sys.executable).parent)
    for folder in (here, None):
        if path := shutil.which("mpiexec", path=folder) or shutil.which("mpirun", path=folder):
            return path
    raise MissingMPIError(
        f"n_ranks starts ranks with mpiexec, but there is none next to {sys.executable} or on the "
        "PATH. Install MPI: pip install 'robustgc[mpi]' with OpenMPI or MPICH of your system, or "
        "load your cluster's module (docs/cluster.md)."
    )


def environment(n_ranks: int) -> dict[str, str]:
    """Return what ranks on this machine need to get along; what the user has set stays."""
    settings = {
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        # Of OpenMPI, which counts cores, not what a rank needs: as many ranks as were asked for,
        # each on any core, with messages copied twice, since containers forbid the short way.
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    }
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        settings |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if n_ranks > threads.n_threads():  # a rank that waits must leave its core to others
        settings |= {
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
            "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
        }
    return {**settings, **os.environ}


def _end(process: "subprocess.Popen[str]") -> None:
    """End mpiexec, if it still runs; it ends the ranks."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


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
        if match := re.search(pattern, output):
            words = match.groupdict()
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

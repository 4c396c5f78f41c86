"""Ranks started by one process, such as a notebook."""

import os
import shutil
import subprocess
import sys
from collections import deque
from pathlib import Path

from robustgc.graph import threads
from robustgc.graph.resources import rank_by_mpiexec
from robustgc.mpi.failures import explain_exit, raise_errors
from robustgc.mpi.world import MissingMPIError

_LAST = 200  # lines that are kept to find out what happened


def run_ranks(n_ranks: int, job: Path) -> None:
    """Run ``python -m robustgc.mpi.worker JOB`` on some ranks, and wait for them.

    Parameters
    ----------
    n_ranks : int
    job : Path
        Folder of `robustgc.mpi.jobs`.

    Raises
    ------
    MissingMPIError
        There is no mpiexec.
    RuntimeError
        A rank died; the text says which and how. An error that a rank has raised comes as it is.
    """
    if rank_by_mpiexec() is not None:
        raise ValueError(
            f"n_ranks={n_ranks} starts ranks, but this process is one of several that mpiexec has "
            "started. Leave n_ranks out: the ranks that are there do the work."
        )
    command = [mpiexec(), "-n", str(n_ranks), sys.executable, "-m", "robustgc.mpi.worker", str(job)]
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
    """Return the path of mpiexec: beside this Python, else the first on the PATH."""
    here = str(Path(sys.executable).parent)
    for path in (here, None):
        if found := shutil.which("mpiexec", path=path) or shutil.which("mpirun", path=path):
            return found
    raise MissingMPIError(
        f"n_ranks starts ranks with mpiexec, and there is none beside {sys.executable} nor on the "
        "PATH. Install MPI: pip install 'robustgc[mpi]' with OpenMPI or MPICH of your system, or "
        "load your cluster's module (docs/cluster.md)."
    )


def environment(n_ranks: int) -> dict[str, str]:
    """Return what ranks on this machine need to get along; what the user has set stays."""
    wanted = {
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
        wanted |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if n_ranks > threads.n_threads():  # a rank that waits must leave its core to others
        wanted |= {
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
            "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
        }
    return {**wanted, **os.environ}


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

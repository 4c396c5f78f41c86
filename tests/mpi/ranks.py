"""Start a few ranks on this machine and read what they print."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import dedent

HERE = Path(__file__).parent
# Settings of whoever runs the tests, or of ranks around them, must not reach the ranks of a test.
FOREIGN = (
    "OMPI_",
    "PMIX_",
    "PMI_",
    "MPIR_",
    "HYDRA_",
    "SLURM_",
    "ROBUSTGC_NUM",
    "ROBUSTGC_MEMORY",
    "PYTHONUNBUFFERED",
)  # pieces of lines of several ranks would mix
SETTINGS = {
    # OpenMPI: root may start ranks in a container, and more of them than cores; where they wait
    # they leave the core to others; copies between processes need rights a container lacks.
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    # MPICH: the same for ranks that wait.
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


def run(n, code_or_path, *args, timeout=100, check=True, env=None):
    """Run a script, or its text, on n ranks; return what `subprocess.run` would.

    Warnings are errors. ``check`` asserts that all ranks succeeded; ``env`` sets more variables.
    """
    with tempfile.TemporaryDirectory(prefix="ranks-") as folder:
        path = Path(folder, "script.py")
        if isinstance(code_or_path, Path) or str(code_or_path).endswith(".py"):
            path = Path(code_or_path).resolve(strict=True)
        else:
            path.write_text(dedent(code_or_path), encoding="utf-8")
        words = [sys.executable, "-W", "error", str(path), *map(str, args)]
        done = _finished([mpiexec(), "-n", str(n), *words], environment(env), timeout)
    if check:
        assert done.returncode == 0, f"{done.returncode} from {n} ranks:\n{done.stderr}"
    return done


def mpiexec():
    """Return the one that belongs to this Python's MPI: beside it, or the system's, or None."""
    beside = shutil.which("mpiexec", path=Path(sys.executable).parent)
    return beside or shutil.which("mpiexec")


def environment(more=None):
    """Return the variables that ranks see; they can import what tests can."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    paths = [str(HERE), str(HERE.parent / "support"), *filter(None, [kept.get("PYTHONPATH")])]
    return kept | SETTINGS | {"PYTHONPATH": os.pathsep.join(paths)} | (more or {})


def _finished(words, variables, timeout):
    with subprocess.Popen(
        words,
        env=variables,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.terminate()  # a killed mpiexec would leave its ranks behind
            try:
                err = process.communicate(timeout=20)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                err = "(mpiexec did not end when asked to)"
            raise AssertionError(f"still running after {timeout} s:\n{err}") from None
        finally:
            if process.poll() is None:
                process.kill()
    return subprocess.CompletedProcess(words, process.returncode, out, err)

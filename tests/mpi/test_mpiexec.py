"""How ranks are started, and what mpiexec's own words are taken for."""

import re
import sys

import pytest

from robustgc.mpi import mpiexec
from robustgc.mpi.world import MissingMPIError

OPENMPI = "mpiexec noticed that process rank 1 with PID 77 on node vm exited on signal 9 (Killed)."
CODE = "The first process to do so was:\n\n  Process name: [[3002,1],2]\n  Exit code:    5\n"
ABORT = "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\nwith errorcode 1."
MPICH = "=   EXIT CODE: 9\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)"
MPICH_ABORT = "Abort(1) on node 1: application called MPI_Abort(MPI_COMM_WORLD, 1) - process 1"


@pytest.mark.parametrize(
    ("said", "code", "found"),
    [
        (OPENMPI, 137, r"rank 1 was ended by signal 9 \(SIGKILL, as the system does where memory"),
        (CODE, 5, "rank 2 ended with exit code 5"),
        (ABORT, 1, "rank 3 stopped all others"),
        (MPICH, 9, r"a rank was ended by signal 9 \(SIGKILL"),
        ("=   EXIT CODE: 3\n", 3, "a rank ended with exit code 3"),
        (MPICH_ABORT, 1, "rank 1 stopped all others"),
        ("", -15, r"mpiexec was ended by signal 15 \(SIGTERM\)"),
        ("something else", 7, "mpiexec ended with exit code 7"),
    ],
)
def test_what_happened_to_the_ranks(said, code, found):
    assert re.match(found, mpiexec.explain_exit(said, code))


def test_there_is_no_mpiexec(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(MissingMPIError, match=r"there is none next to .* Install MPI"):
        mpiexec.mpiexec()
    other = tmp_path / "mpiexec"
    other.touch()
    other.chmod(0o755)
    assert mpiexec.mpiexec() == str(other)


def test_ranks_do_not_start_ranks(monkeypatch, tmp_path):
    monkeypatch.setenv("PMI_RANK", "1")
    with pytest.raises(ValueError, match=r"n_ranks=2 starts ranks, but this process is one of"):
        mpiexec.run_ranks(2, tmp_path)


def test_what_the_user_has_set_stays(monkeypatch):
    monkeypatch.setenv("ROBUSTGC_NUM_THREADS", "2")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.delenv("OMPI_MCA_mpi_yield_when_idle", raising=False)
    few, many = mpiexec.environment(2), mpiexec.environment(3)
    assert (few["OMP_NUM_THREADS"], few["OPENBLAS_NUM_THREADS"]) == ("3", "1")
    assert "OMPI_MCA_mpi_yield_when_idle" not in few
    assert many["OMPI_MCA_mpi_yield_when_idle"] == "1"

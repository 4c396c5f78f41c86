"""The ranks: errors of one are errors of all, memory and cores are shared."""

import json
import os

import pytest
from ranks import run

# Every script says on rank 0 what each rank found.
TELL = """
import json, os
from robustgc.graph import threads
from robustgc.mpi import world
comm = world.world()

def tell(value):
    values = comm.gather(value)
    if comm.rank == 0:
        print(json.dumps(values))

def attempt(failures):
    try:
        with world.collective_errors(comm):
            if comm.rank in failures:
                raise failures[comm.rank]
    except Exception as error:
        return type(error).__name__, str(error)
    return "fine"
"""


def told(n, code, **more):
    return json.loads(run(n, TELL + code, **more).stdout)


def test_an_error_of_one_rank_is_an_error_of_all_that_names_the_rank():
    code = """
rows, disk = ValueError("no rows"), OSError("disk")
odd = UnicodeDecodeError("utf-8", b"x", 0, 1, "odd")  # cannot be made from a text
tell([attempt(failures) for failures in ({1: rows}, {}, {1: disk, 2: rows}, {0: odd})])"""
    one, none, several, special = zip(*told(3, code), strict=True)
    again = ["ValueError", "rank 1: no rows"]
    assert one == (again, ["ValueError", "no rows"], again)
    assert none == ("fine", "fine", "fine")
    assert several == (["OSError", "rank 1: disk"], ["OSError", "disk"], ["ValueError", "no rows"])
    assert special[0][0] == "UnicodeDecodeError"
    assert special[1] == special[2] == ["RuntimeError", f"rank 0: {special[0][1]}"]


def test_memory_is_that_of_the_rank_with_least_and_shared_on_a_machine():
    code = """
if comm.rank == comm.size - 1:
    os.environ["ROBUSTGC_MEMORY"] = "3e6"
tell(world.available(comm))"""
    assert told(3, code) == [pytest.approx(1e6)] * 3


@pytest.mark.parametrize("n", [1, 2])
def test_ranks_on_a_machine_share_its_cores(n):
    cores = len(os.sched_getaffinity(0))
    # OpenMPI would bind each of few ranks to a core of its own.
    free = {"OMPI_MCA_hwloc_base_binding_policy": "none"}
    assert told(n, "tell(threads.n_threads())", env=free) == [max(1, cores // n)] * n


def test_threads_that_were_asked_for_stay():
    asked = {"ROBUSTGC_NUM_THREADS": "5"}
    assert told(2, "tell(threads.n_threads())", env=asked) == [5, 5]


def test_petsc_and_slepc_know_all_ranks_and_count_in_real_numbers():
    code = """
PETSc, SLEPc = world.petsc(), world.slepc()
real = PETSc.ScalarType().dtype.kind
tell([PETSc.COMM_WORLD.size, SLEPc.EPS().create().comm.size, real])"""
    assert told(2, code) == [[2, 2, "f"]] * 2  # 1: a PETSc that was built without MPI

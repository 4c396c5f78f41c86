"""The helper of these tests: what goes wrong on a rank must not pass."""

import pytest
from ranks import run


def test_every_rank_runs_with_the_arguments_given():
    done = run(3, "import sys; from mpi4py import MPI; print(MPI.COMM_WORLD.size, sys.argv[1])", 7)
    assert done.stdout.splitlines() == ["3 7"] * 3


def test_a_script_can_be_a_file(tmp_path):
    (tmp_path / "hello.py").write_text("print('hello')")
    assert run(2, tmp_path / "hello.py").stdout.split() == ["hello", "hello"]


def test_an_error_of_one_rank_fails_and_is_shown():
    code = "from mpi4py import MPI; assert MPI.COMM_WORLD.rank == 0, 'not the first'"
    with pytest.raises(AssertionError, match="not the first"):
        run(2, code)
    assert run(2, code, check=False).returncode != 0


def test_warnings_are_errors():
    with pytest.raises(AssertionError, match="UserWarning: careful"):
        run(1, "import warnings; warnings.warn('careful')")


def test_ranks_that_wait_for_ever_are_ended():
    code = """
        import sys
        from mpi4py import MPI
        print("waiting", file=sys.stderr, flush=True)
        if MPI.COMM_WORLD.rank == 0:
            MPI.COMM_WORLD.recv()
        """
    with pytest.raises(AssertionError, match=r"after 4 s:\n(.|\n)*waiting"):
        run(2, code, timeout=4)


def test_settings_around_the_tests_do_not_reach_the_ranks(monkeypatch):
    monkeypatch.setenv("ROBUSTGC_MEMORY", "7")
    monkeypatch.setenv("OMPI_MCA_btl", "nonsense")
    code = "import os; print(*(os.environ.get(name) for name in ('ROBUSTGC_MEMORY', 'MINE')))"
    assert run(1, code, env={"MINE": "5"}).stdout.split() == ["None", "5"]

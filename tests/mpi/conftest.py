"""Without MPI, PETSc and SLEPc little here is a test; `make test-mpi` insists on them."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from ranks import mpiexec

missing = [name for name in ("mpi4py", "petsc4py", "slepc4py") if find_spec(name) is None]
if mpiexec() is None:
    missing.append("mpiexec")
if missing and os.environ.get("ROBUSTGC_TEST_MPI"):
    raise pytest.UsageError(
        f"The tests of MPI cannot run: {', '.join(missing)} not found. "
        "`tools/mpi-environment` makes an environment that has all; then `make test-mpi`."
    )
HERE = Path(__file__).parent
ALONE = {"test_missing_libraries.py", "test_part_tables.py"}  # what one process does, without MPI
collect_ignore = [path.name for path in HERE.glob("*.py") if missing and path.name not in ALONE]


@pytest.hookimpl(tryfirst=True)  # before -m chooses by markers
def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == HERE and item.path.name not in ALONE:
            item.add_marker("ranks")

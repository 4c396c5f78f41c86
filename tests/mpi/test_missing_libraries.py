"""Without the libraries of the MPI engine: an error that says how to install them."""

import subprocess
import sys

import pytest

# None in sys.modules makes an import fail, installed or not.
CODE = """
import sys
from robustgc.mpi import world
if {name!r} != "mpi4py":
    world.world = lambda: None  # as if mpi4py were there
sys.modules[{name!r}] = None
try:
    world.{call}()
except world.MissingMPIError as error:
    assert isinstance(error, ImportError) and isinstance(error.__cause__, ImportError)
    print(error)
"""


@pytest.mark.parametrize(
    ("name", "call"),
    [("mpi4py", "world"), ("mpi4py", "slepc"), ("petsc4py", "petsc"), ("petsc4py", "slepc")],
)
def test_a_missing_library_is_named_with_the_line_that_installs_it(name, call):
    code = CODE.format(name=name, call=call)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"{name} is not installed" in done.stdout
    assert "pip install 'robustgc[mpi]'" in done.stdout
    assert "docs/cluster.md" in done.stdout


def test_slepc4py_alone_is_named():
    code = CODE.format(name="slepc4py", call="slepc").replace("world.world", "world.petsc")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "slepc4py is not installed" in done.stdout

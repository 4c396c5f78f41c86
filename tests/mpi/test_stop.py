"""The last line of a rank that is told to stop, whatever it is doing."""

import subprocess
import sys

import pytest
from ranks import environment

# Like PETSc: code that is not Python's, and keeps the interpreter's lock.
BUSY = """
import ctypes, sys
from robustgc.mpi.stop import StopMessage
stage = StopMessage(3, "It stays.", prints={spoken})
stage.watch("reading")
stage.now("fitting käse")
print("ready", flush=True)
ctypes.PyDLL(None).sleep(60)
"""


@pytest.mark.parametrize("spoken", [True, False])
def test_a_rank_that_is_busy_says_what_it_did(spoken):
    words = [sys.executable, "-W", "error", "-c", BUSY.format(spoken=spoken)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            process.terminate()
            said = process.communicate(timeout=20)[1].decode()
        finally:
            process.kill()
    assert process.returncode == 128 + 15
    expected = "robustgc: rank 3: told to stop while fitting käse. It stays.\n"
    assert said == (expected if spoken else "")

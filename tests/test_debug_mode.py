"""`make test-debug` checks every index and poisons memory: does it see a fault?"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[1] / "Makefile"
OUTSIDE = """
import numpy as np
from robustgc.graph import threads
never_written = np.empty(1000, dtype=np.int32)
indptr, u, out = np.array([0, 1, 2]), np.ones((2, 1)), np.zeros((2, 1))
try:
    threads.loops().product(indptr, never_written, None, u, out, 0, 2)
except IndexError as error:
    print(error)
print(np.empty(1000)[7] > 1e300, never_written[7] == 0x7F7F7F7F)
"""


def settings(folder):
    line = re.search(r"^DEBUG := (.*)$", MAKEFILE.read_text(encoding="utf-8"), re.MULTILINE)
    given = dict(pair.split("=") for pair in line[1].split())
    return {**os.environ, **given, "NUMBA_CACHE_DIR": str(folder)}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is poisoned by glibc")
def test_an_index_from_memory_that_was_never_written_is_an_error(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", OUTSIDE],
        env=settings(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "index is out of bounds\nTrue True\n"

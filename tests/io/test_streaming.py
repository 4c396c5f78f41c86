"""Arrow's threads are done with a table when its reading ends, however it ends."""

import io
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pytest

from robustgc.io.tables import batches

ROWS = b"1,2\n" * 2**18  # a megabyte
BAD = b"x,2\n"


class Slow(io.RawIOBase):
    """A Python stream that takes its time, and may fail."""

    def __init__(self, content, fails=None, pause=0.01):
        self.content, self.fails, self.pause, self.reads = io.BytesIO(content), fails, pause, 0

    def readable(self):
        return True

    def readinto(self, room):
        self.reads += 1
        if self.reads == self.fails:
            raise ValueError("the stream has failed")
        time.sleep(self.pause)
        return self.content.readinto(room)


def parts(stream):
    return closing(
        batches(
            stream,
            pc.ReadOptions(block_size=2**20, column_names=["a", "b"]),
            pc.ParseOptions(),
            pc.ConvertOptions(column_types={"a": pa.int64(), "b": pa.int64()}),
        )
    )


def test_all_rows_come():
    for stream in (Slow(5 * ROWS), pa.BufferReader(5 * ROWS)):
        with parts(stream) as found:
            assert sum(part.num_rows for part in found) == 5 * 2**18


def test_nothing_is_read_once_the_reading_has_ended():
    stream = Slow(40 * ROWS)
    with parts(stream) as found:
        next(found)
    reads = stream.reads
    time.sleep(0.1)
    assert stream.reads == reads < 40


@pytest.mark.parametrize("content", [BAD + 40 * ROWS, 9 * ROWS + BAD + 40 * ROWS])
def test_nothing_is_read_after_a_row_that_does_not_fit(content):
    stream = Slow(content, pause=0.05)  # two seconds for all of it
    with pytest.raises(pa.ArrowInvalid, match="invalid value 'x'"), parts(stream) as found:
        list(found)
    reads = stream.reads
    time.sleep(0.1)
    assert stream.reads == reads < 40


@pytest.mark.parametrize("fails", [1, 4])
def test_what_a_stream_raises_comes_through_at_once(fails):
    start = time.monotonic()
    with (
        pytest.raises(ValueError, match="the stream has failed"),
        parts(Slow(9 * ROWS, fails)) as f,
    ):
        list(f)
    assert time.monotonic() - start < 3


def test_a_stream_may_be_ended_from_another_thread():
    found = []
    with parts(Slow(3 * ROWS)) as given:
        thread = threading.Thread(target=lambda: found.extend(given))
        thread.start()
        thread.join()
    assert sum(part.num_rows for part in found) == 3 * 2**18


PROGRAM = """
import sys, test_streaming
from robustgc.io import tables
from robustgc.io.layouts import find_layout
from robustgc.io.opening import InnerFile
rows = test_streaming.ROWS
content = b"a,b\\n" + 2 * rows + test_streaming.BAD + 9 * rows
path = InnerFile.of("t.csv", ".csv", len(content), lambda: test_streaming.Slow(content))
import pyarrow as pa
try:
    tables.read(find_layout(path, ()), {0: pa.int64(), 1: pa.int64()})
except tables.InputError as error:
    kept = error  # and with it all that its frames hold
    sys.exit(3)
"""


def test_python_ends_well_after_a_refusal_within_a_stream():
    """Arrow's threads went on to read the stream: "terminate called without an active exc..."."""
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=Path(__file__).parent,  # from where it imports this file
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (3, "")

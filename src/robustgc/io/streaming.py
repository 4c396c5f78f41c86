"""Text tables through the threads of Arrow, which keep nothing of Python's once the reading ends.

Arrow reads ahead, and closing its reader does not stop that. A thread that still reads a Python
stream, or lets go of bytes that it got from one, while the interpreter ends aborts the process.
"""

import io
import threading
import time
import weakref
from collections.abc import Generator
from typing import Any

_PATIENCE = 5.0  # seconds that threads may take to end; they need milliseconds


def batches(stream: Any, reading: Any, parsing: Any, converting: Any) -> Generator[Any, None, None]:
    """Yield the record batches of a stream; close it where not all are taken."""
    import pyarrow as pa
    import pyarrow.csv as pc

    if isinstance(stream, pa.OSFile):  # nothing of Python's
        with pc.open_csv(stream, reading, parsing, converting) as reader:
            yield from reader
        return
    lender, reader = _Lender(stream), None
    try:
        reader = pc.open_csv(lender.file(), reading, parsing, converting)
        yield from reader
    finally:
        del reader
        lender.take_back()


class _Lender:
    """A stream whose blocks are lent to threads, and ends where they are wanted back."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._over, self._lock = stream, False, threading.Lock()
        self._lent: list[weakref.ref[Any]] = []

    def file(self) -> "_File":
        """Return what the threads are to read; it is lent as well."""
        file = _File(self)
        self._lent.append(weakref.ref(file))
        return file

    def read(self, size: int) -> memoryview:
        """Return a block; an empty one at the end, and when all is over."""
        with self._lock:
            try:
                block = memoryview(b"" if self._over else self._stream.read(size))
            except BaseException:
                self._lent = [one for one in self._lent if not isinstance(one(), _File)]
                raise  # with a traceback that keeps the file
            self._lent = [one for one in self._lent if one() is not None]
            self._lent.append(weakref.ref(block))
        return block

    def take_back(self) -> None:
        """End the stream, and wait until all that was lent is free."""
        with self._lock:
            self._over = True
        until = time.monotonic() + _PATIENCE
        while any(one() is not None for one in self._lent) and time.monotonic() < until:
            time.sleep(1e-3)


class _File(io.RawIOBase):
    """What Arrow takes for a file."""

    def __init__(self, lender: _Lender) -> None:
        self._lender = lender

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> memoryview:
        return self._lender.read(size)

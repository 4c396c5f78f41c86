"""How a rank ends: an error of all ranks in good order, an error of one by stopping the others."""

import atexit
import ctypes
import signal
import sys
import time
from typing import Any

from numba import cfunc

PATIENCE = 5.0  # seconds in which ranks that fail for the same reason come to know it
STOPPED = 128 + int(signal.SIGTERM)
_ROOM = 4096  # bytes of the last line


class FailureBarrier:
    """Tells whether all ranks have failed, by messages of its own; all ranks make one together."""

    def __init__(self, comm: Any) -> None:
        self.comm, self._apart = comm, comm.Dup()

    def all_ranks_arrive(self, patience: float = PATIENCE) -> bool:
        """Whether all ranks come here within some seconds: then none waits for another."""
        arrived, end = self._apart.Ibarrier(), time.monotonic() + patience
        while not arrived.Test():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def stop_all(self, text: str, code: int = 1) -> None:
        """Say why, and end all ranks: others wait for this one, and would for ever."""
        sys.stderr.write(f"robustgc: rank {self.comm.rank}: {text}\n")
        sys.stderr.flush()
        self.comm.Abort(code)


class StopMessage:
    """What is being done, and one line about it when this rank is told to stop.

    mpiexec sends SIGTERM to the ranks that are left when one has died. They wait for it inside of
    MPI, and those inside of PETSc hold the interpreter's lock: no code of Python would run. So the
    line lies ready in memory, and what writes it is compiled. `advice` is what becomes of the work;
    a rank that does not print it ends in silence.
    """

    def __init__(self, rank: int, advice: str, prints: bool) -> None:
        self._rank, self._advice, self._prints = rank, advice, prints
        self._line = ctypes.create_string_buffer(_ROOM)

    def watch(self, name: str) -> None:
        """From now on end with the line when told to stop."""
        self.now(name)
        self._handler = _compiled(ctypes.addressof(self._line))
        install = ctypes.CDLL(None).signal
        install.argtypes = [ctypes.c_int, ctypes.c_void_p]
        install(signal.SIGTERM, self._handler.address)

        def forget(stage: StopMessage = self) -> None:  # keeps line and handler to the end
            install(signal.SIGTERM, None)

        atexit.register(forget)  # Python frees both before the process has ended

    def now(self, name: str) -> None:
        """Say what is done from here on, such as "fitting"."""
        if self._prints:
            line = f"robustgc: rank {self._rank}: told to stop while {name}. {self._advice}\n"
            self._line.value = line.encode()[: _ROOM - 1]


def _compiled(line: int) -> Any:
    """Return a handler of signals that writes the text at an address, and ends the process."""
    library = ctypes.CDLL(None)
    length, write, leave = library.strlen, library.write, library._exit
    length.argtypes, length.restype = [ctypes.c_size_t], ctypes.c_size_t
    write.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t]
    write.restype = ctypes.c_ssize_t
    leave.argtypes, leave.restype = [ctypes.c_int], None

    def handler(_number: int) -> None:
        write(2, line, length(line))
        leave(STOPPED)

    return cfunc("void(int32)")(handler)

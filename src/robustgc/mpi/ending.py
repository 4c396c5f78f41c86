"""How a rank ends: an error of all ranks in good order, an error of one by stopping the others."""

import os
import signal
import socket
import sys
import threading
import time
from typing import Any

PATIENCE = 5.0  # seconds in which ranks that fail for the same reason come to know it
STOPPED = 128 + signal.SIGTERM


class Ending:
    """Tells whether all ranks have failed; a door of their own that no other message goes through.

    Parameters
    ----------
    comm : communicator
        All ranks make one together.
    """

    def __init__(self, comm: Any) -> None:
        self.comm, self._door = comm, comm.Dup()

    def everywhere(self, patience: float = PATIENCE) -> bool:
        """Whether all ranks come here within some seconds: then none waits for another."""
        arrived, end = self._door.Ibarrier(), time.monotonic() + patience
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


class Stage:
    """What is being done, and what is said of it when this rank is told to stop.

    A rank that waits for one that died is inside of MPI, where Python handles no signal: a thread
    waits for it.

    Parameters
    ----------
    name : str
        What is done now; may be set at any time.
    advice : str
        What becomes of the work.
    spoken : bool
        Whether this rank says so.
    """

    def __init__(self, name: str, advice: str, spoken: bool) -> None:
        self.name, self._advice, self._spoken = name, advice, spoken

    def watch(self, rank: int) -> None:
        """End this process with one line when it gets SIGTERM."""
        inner, outer = socket.socketpair()
        outer.setblocking(False)
        signal.signal(signal.SIGTERM, lambda *_: None)
        signal.set_wakeup_fd(outer.fileno(), warn_on_full_buffer=False)
        threading.Thread(target=self._wait, args=(inner, outer, rank), daemon=True).start()

    def _wait(self, inner: socket.socket, _outer: socket.socket, rank: int) -> None:
        while number := inner.recv(1):
            if number[0] == signal.SIGTERM:
                if self._spoken:
                    line = f"robustgc: rank {rank}: told to stop while {self.name}. {self._advice}"
                    os.write(2, f"{line}\n".encode())
                os._exit(STOPPED)

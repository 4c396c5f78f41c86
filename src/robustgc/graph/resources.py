"""How much memory there is, and whether this process is one of several ranks."""

import os
from pathlib import Path

import psutil

# What mpiexec, or a batch system, tells every rank that it starts.
_RANK = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MPI_RANKID")


def available() -> float:
    """Return the bytes this process can still take.

    Those of the machine, of its container, or of ``ROBUSTGC_MEMORY``, whichever is least.
    """
    free = float(psutil.virtual_memory().available)
    group = Path("/sys/fs/cgroup")
    try:
        limit = float((group / "memory.max").read_text())
        used = float((group / "memory.current").read_text())
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        free = min(free, max(limit - used + float(stat["file"]), 0.0))  # file pages can be dropped
    except (OSError, ValueError, KeyError):  # not in a container, or "max": no limit
        pass
    setting = os.environ.get("ROBUSTGC_MEMORY", "")
    if not setting:
        return free
    try:
        return min(free, max(float(setting), 0.0))
    except ValueError:
        raise ValueError(
            f"ROBUSTGC_MEMORY={setting!r} is not a number; it must be bytes, for instance 8e9."
        ) from None


def rank_by_mpiexec() -> int | None:
    """Return the number of this rank, or None: the process was not started by mpiexec."""
    rank = next((os.environ[name] for name in _RANK if name in os.environ), "")
    return int(rank) if rank.isdigit() else None

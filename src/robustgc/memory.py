"""How much memory there is."""

import os
from pathlib import Path

import psutil


def available() -> float:
    """Return the bytes this process can still take: the machine's, or its container's if less."""
    free = float(psutil.virtual_memory().available)
    group = Path("/sys/fs/cgroup")
    try:
        limit = float((group / "memory.max").read_text())
        used = float((group / "memory.current").read_text())
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        free = min(free, max(limit - used + float(stat["file"]), 0.0))  # file pages can be dropped
    except (OSError, ValueError, KeyError):  # not in a container, or "max": no limit
        pass
    asked = os.environ.get("ROBUSTGC_MEMORY", "")
    return min(free, float(asked)) if asked else free

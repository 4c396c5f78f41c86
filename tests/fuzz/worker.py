"""Runs cases in a process of its own, and says at which it is: whatever dies, the case is known."""

import contextlib
import faulthandler
import importlib
import json
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.fuzz.watch import Finding, Watch

KINDS = ["calls", "files", "models"]
GROWTH = {"calls": 600, "files": 1500, "models": 600}  # MiB that one case may take
ROOM = 6 * 2**30  # beyond this the system is not to be filled: allocation fails
LONGEST = 6000  # characters of a program; a longer one is given by its number


def made(kind, seed, number):
    """Return a case; it depends on nothing else."""
    rng = np.random.default_rng([seed, *kind.encode(), number])
    return importlib.import_module(f"tests.fuzz.{kind}").make(rng)


def run(kind, seed, number):
    """Run one case; return a record of it."""
    start, watch = time.perf_counter(), Watch()
    with tempfile.TemporaryDirectory(prefix="robustgc-fuzz-") as folder:
        case = made(kind, seed, number)
        _forget_peak()
        before = _mebibytes("VmRSS")
        case.run(watch, Path(folder))
        grown = _mebibytes("VmHWM") - before
    if grown > GROWTH.get(kind, 60):
        watch.findings.append(Finding("too much memory", f"{grown:.0f} MiB for one case"))
    return {
        "number": number,
        "answers": watch.answers,
        "refusals": watch.refusals,
        "seconds": time.perf_counter() - start,
        "findings": [vars(finding) for finding in watch.findings],
        "program": program(case, kind, seed, number) if watch.findings else "",
    }


def program(case, kind, seed, number):
    text = case.program()
    if len(text) <= LONGEST:
        return text
    return (
        f"# {len(text)} characters long, so by its number:\n"
        f"from tests.fuzz.worker import run\nrun({kind!r}, {seed}, {number})"
    )


def _forget_peak():
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _mebibytes(name):
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) / 1024
    return 0.0


def main(kind, seed, first, step):
    """Run cases until someone ends it; say each on standard output."""
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)  # the parent asks where a case is that takes long
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the cases print is theirs
    here = Path(tempfile.gettempdir())
    os.chdir(here)
    importlib.import_module(f"tests.fuzz.{kind}")
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    number = first
    while True:
        print(json.dumps({"at": number}), file=channel, flush=True)
        record = run(kind, seed, number)
        print(json.dumps(record), file=channel, flush=True)
        number += step


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))

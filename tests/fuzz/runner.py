"""The parent: starts workers, ends those that take too long, and gathers what they found."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
PATIENCE = 20.0  # seconds of work that a case may take
STARTING = 120.0  # and the first sign of life: loops may have to be compiled
WAITING = 6.0  # times that by the clock: a case that waits for ever does no work
LATE = "took too long"


@dataclass
class Found:
    """All findings of one cause: the first, and how many there were."""

    kind: str
    number: int
    cause: str
    text: str
    program: str
    count: int = 1


@dataclass
class Tally:
    """What came out of all cases."""

    cases: Counter = field(default_factory=Counter)
    seconds: Counter = field(default_factory=Counter)
    answers: int = 0
    refusals: int = 0
    found: dict[str, Found] = field(default_factory=dict)

    def add(self, kind, record, tell):
        self.cases[kind] += 1
        self.seconds[kind] += record["seconds"]
        self.answers += record["answers"]
        self.refusals += record["refusals"]
        for finding in record["findings"]:
            cause = f"{kind}: {finding['cause']}"
            if cause in self.found:
                self.found[cause].count += 1
                continue
            new = Found(kind, record["number"], cause, finding["text"], record["program"])
            self.found[cause] = new
            tell(new)


class Worker:
    """A child process that runs the cases `first`, `first` + 1, ... of a kind."""

    def __init__(self, kind, seed, first):
        self.kind, self.seed, self.number = kind, seed, first
        self._errors = tempfile.TemporaryFile()
        command = [sys.executable, "-m", "tests.fuzz.worker", kind, str(seed), str(first), "1"]
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self._errors, cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        self._times = psutil.Process(self._child.pid).cpu_times
        self._buffer, self._started = b"", False
        self._begin()

    def _begin(self):
        self._begun, self._worked = time.monotonic(), self._work()

    def _work(self):
        """Return the seconds of work of the child: by the clock, others that are busy count too."""
        return sum(self._times()[:2])

    def record(self, until):
        """Return the record of the next case, or None when the time is over."""
        while b"\n" not in self._buffer:
            patience, now = PATIENCE if self._started else STARTING, time.monotonic()
            if now >= until:
                return None
            if self._work() - self._worked > patience or now - self._begun > WAITING * patience:
                return self._lost(LATE)
            ready, _, _ = select.select([self._child.stdout], [], [], min(1.0, until - now))
            if ready:
                more = os.read(self._child.stdout.fileno(), 2**16)
                if not more:
                    return self._lost(self._end())
                self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        said = json.loads(line)
        if "at" in said:
            self._started, self.number = True, said["at"]
            self._begin()
            return self.record(until)
        return said

    def _end(self):
        code = self._child.wait()
        return f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def _lost(self, what):
        """Return the record of a case that did not come back."""
        if what == LATE:
            self._child.send_signal(signal.SIGUSR1)  # it says where it is
            time.sleep(1.0)
        self._child.kill()
        self._errors.seek(0)
        said = (
            self._errors.read().decode("utf-8", "replace").partition("Extension modules")[0][-3000:]
        )
        again = f"python -m tests.fuzz --kind {self.kind} --seed {self.seed} --case {self.number}"
        lines = re.findall(r'File "[^"]*/robustgc/([^"]*)", line (\d+)', said)
        where = f" at {lines[0][0]}:{lines[0][1]}" if lines else ""
        finding = {"cause": what + where, "text": f"{what}; the end of its standard error:\n{said}"}
        return {
            "number": self.number, "answers": 0, "refusals": 0,
            "seconds": time.monotonic() - self._begun,
            "findings": [finding], "program": f"# {again}", "lost": what,
        }  # fmt: skip

    def close(self):
        self._child.kill()
        self._child.wait()
        self._child.stdout.close()
        self._errors.close()


def run(kinds, seed, seconds, tell, most=10**9):
    """Run new cases of the kinds, each with an equal share of the time and at most so many."""
    tally = Tally()
    for kind in kinds:
        until = time.monotonic() + seconds / len(kinds)
        number, again = 0, Counter()
        while time.monotonic() < until and tally.cases[kind] < most:
            worker = Worker(kind, seed, number)
            try:
                while (record := worker.record(until)) is not None:
                    if _excused(record, again):
                        number = record["number"]
                        break
                    tally.add(kind, record, tell)
                    number = record["number"] + 1
                    if record.get("lost") or tally.cases[kind] >= most:
                        break
            finally:
                worker.close()
    return tally


def _excused(record, again):
    """Whether a case that took too long is to run again: loops may have been compiled meanwhile."""
    if record.get("lost") != LATE:
        return False
    again[record["number"]] += 1
    compiling = "/numba/core/" in record["findings"][0]["text"]
    return again[record["number"]] <= (6 if compiling else 1)


def run_one(kind, seed, number, tell):
    """Run one case again."""
    tally, worker = Tally(), Worker(kind, seed, number)
    try:
        tally.add(kind, worker.record(time.monotonic() + WAITING * (STARTING + PATIENCE)), tell)
    finally:
        worker.close()
    return tally

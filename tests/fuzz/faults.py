"""Cases with faults of every sort: the harness must see each of them."""

import os
import signal
import time
import warnings

import numpy as np

import robustgc
from robustgc import load
from tests.fuzz.answers import broken
from tests.fuzz.draw import pick


def make(rng):
    return pick(rng, *FAULTS)()


class Fault:
    def program(self):
        return f"{type(self).__name__}()"

    def run(self, watch, folder):
        watch("a step", self.step)


class Crash(Fault):
    def step(self):
        os.kill(os.getpid(), signal.SIGSEGV)


class Hang(Fault):
    def step(self):
        time.sleep(1000)


class Hog(Fault):
    def step(self):
        np.ones(2**24).sum()  # 128 MiB


class Stranger(Fault):
    def step(self):
        raise KeyError("x")


class Ugly(Fault):
    def step(self):
        raise ValueError("no sentence")


class Wrong(Fault):
    def step(self):
        broken("something does not hold: here")


class Loud(Fault):
    """A RuntimeWarning that comes through the package."""

    def step(self):
        class Path:
            def __fspath__(self):
                warnings.warn("divide by zero", RuntimeWarning, stacklevel=1)
                return "nowhere"

        load(Path())


class Fine(Fault):
    def step(self):
        robustgc.RobustGC().get_params()


FAULTS = [Crash, Hang, Hog, Stranger, Ugly, Wrong, Loud, Fine]

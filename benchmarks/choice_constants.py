"""What halving and doubling every tuned constant of `robustgc.choice` does, as a Markdown table.

    python -m benchmarks choice_constants [DRAWS] [FIRST_SEED]

Per constant and factor: the change of the mean accuracy in points, with the standard error of the
paired difference over trials, without noise and with 20 % and 40 % uniform noise; of the expected
calibration error of suspicions (all labels of trials with noise in ten bins) and of the mean AUC,
both times 100; and the share of trials in which any class or suspicion changed. Graphs: those of
`other_graphs`, and iris, wine, karate and polbooks; 5 and 20 labels a class. Two rare graphs (many
labels; modes on whiskers) reach constants that the others do not, and are in no mean. Exits with 1
where a constant changes nothing on any graph.
"""

import contextlib
import functools
import multiprocessing
import os
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import scipy.sparse as sp

from benchmarks.noise.columns import accuracy
from benchmarks.noise.data import Problem, block_model, load, problem_of
from benchmarks.noise.detection import auc, suspicion
from benchmarks.noise.draws import Trial, draw
from benchmarks.other_graphs import graphs
from robustgc import RobustGC
from robustgc.choice import candidates, ensemble, likelihood, ridges

NAMED = ("iris", "wine", "karate", "polbooks")
RATES, LABELS, FACTORS, FIRST = (0, 20, 40), (5, 20), (0.5, 2.0), 8101
CONSTANTS: dict[ModuleType, tuple[str, ...]] = {
    candidates: ("ETAS", "DIFFUSION", "RIDGES", "CONSTANT", "CLEAREST"),
    likelihood: (
        *("POWER", "ATYPICAL", "HARD", "_NOISE", "_ENSEMBLE_TAUS"),
        *("_ENSEMBLE_NOISE", "_CONFUSED", "_EASIEST"),
    ),
    ensemble: ("ROUNDS", "_DROPPED"),
    ridges: ("_LEAST_WEIGHT",),
}
PROBABILITIES = ("CLEAREST", "_NOISE", "_ENSEMBLE_NOISE", "ATYPICAL", "HARD", "_CONFUSED")
PLACES = {name: [(module, name)] for module, names in CONSTANTS.items() for name in names}


class Setting(NamedTuple):
    """A constant and what it is multiplied by; without a name all stay as they are."""

    name: str
    factor: float


class Found(NamedTuple):
    """What a fit says in one trial; a rare graph is in no mean."""

    rate: int
    rare: bool
    accuracy: float
    auc: float
    classes: Any
    suspicions: Any
    wrong: Any


def scaled(name: str, value: Any, factor: float) -> Any:
    if name == "ETAS":  # the distance of the upper one from 1
        return (*value[:-1], 1 - factor * (1 - value[-1]))
    if isinstance(value, tuple):
        return tuple(scaled(name, part, factor) for part in value)
    product = type(value)(value * factor)
    return min(1.0, product) if name in PROBABILITIES else product


@contextlib.contextmanager
def changed(setting: Setting) -> Iterator[None]:
    """Change a constant wherever it was imported to; then restore it."""
    with contextlib.ExitStack() as stack:
        for home, name in PLACES.get(setting.name, ()):
            old = getattr(home, name)
            new = scaled(setting.name, old, setting.factor)
            modules = [m for key, m in sys.modules.items() if key.startswith("robustgc.")]
            public = [m for m in modules if name[0] != "_" and vars(m).get(name) is old]
            for module in {home, *public}:
                stack.enter_context(mock.patch.object(module, name, new))
        yield


def rare_graphs(seed: int) -> Iterator[tuple[Problem, int]]:
    """Draw graphs that reach what small ones do not, with their labels a class."""
    rng = np.random.default_rng(seed)
    yield problem_of("many labels", *block_model([360, 360], 0.04, 0.02, rng)), 170
    core, length, count = 240, 100, 6
    W, y = block_model([core // 2] * 2, 0.3, 0.1, rng)
    W = sp.block_diag([W, *[sp.diags([np.ones(length - 1)] * 2, [-1, 1])] * count]).tolil()
    ends = core + length * np.arange(count)  # every path hangs at a node of the core
    W[np.arange(count), ends] = W[ends, np.arange(count)] = 1.0
    yield problem_of("whiskers", W, np.append(y, np.arange(count * length) // length % 2)), 20


@functools.lru_cache(maxsize=1)
def trials(draws: int, first: int) -> list[tuple[Problem, Trial, bool]]:
    found = []
    for seed in range(first, first + draws):
        cases = [(one, m, False) for one in (*graphs(seed), *map(load, NAMED)) for m in LABELS]
        cases += [(one, m, True) for one, m in rare_graphs(seed)]
        for one, m, rare in cases:
            found += [(one, Trial(one.name, "uniform", rate, m, seed), rare) for rate in RATES]
    return found


def run(setting: Setting, draws: int, first: int) -> list[Found]:
    warnings.simplefilter("ignore")
    found = []
    for one, trial, rare in trials(draws, first):
        given = draw(one, trial)
        with changed(setting):
            clf = RobustGC(affinity="precomputed").fit(one.W, given)
            said, classes = suspicion(clf, given), clf.transduction_
        right, wrong = accuracy(one, given, classes), (given != one.y)[given >= 0]
        found.append(Found(trial.rate, rare, right, auc(one, given, said), classes, said, wrong))
    return found


def calibration_error(found: list[Found]) -> float:
    said, wrong = (np.concatenate([getattr(f, k) for f in found]) for k in ("suspicions", "wrong"))
    place = np.minimum((10 * said).astype(int), 9)
    return float(np.abs(np.bincount(place, said - wrong)).sum() / len(said))


def differ(a: Found, b: Found) -> bool:
    moved = np.abs(a.suspicions - b.suspicions).max() > 1e-9
    return bool(moved) or not np.array_equal(a.classes, b.classes)


def means(found: list[Found]) -> list[float]:
    """Return the accuracy by rate, and calibration error and AUC with noise, all times 100."""
    usual = [f for f in found if not f.rare]
    values = [np.mean([f.accuracy for f in usual if f.rate == rate]) for rate in RATES]
    values += [calibration_error([f for f in usual if f.rate]), np.nanmean([f.auc for f in usual])]
    return [100 * float(value) for value in values]


def row(setting: Setting, now: list[Found], then: list[Found]) -> str:
    """Compare results with those of the constants as they are."""
    cells = [f"`{setting.name}`", f"{setting.factor:g}"]
    pairs = [(a, b) for a, b in zip(now, then, strict=True) if not a.rare]
    for rate in RATES:
        d = 100 * np.array([a.accuracy - b.accuracy for a, b in pairs if a.rate == rate])
        cells.append(f"{d.mean():+.2f} ± {d.std(ddof=1) / np.sqrt(len(d)):.2f}")
    cells += [f"{a - b:+.2f}" for a, b in zip(means(now)[3:], means(then)[3:], strict=True)]
    share = np.mean([differ(a, b) for a, b in pairs])
    rare = any(differ(a, b) for a, b in zip(now, then, strict=True) if a.rare)
    cells.append(f"{share:.0%}" if share or not rare else "rare graphs only")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    draws, first = (int(x) for x in (*sys.argv[1:3], *("4", str(FIRST))[len(sys.argv[1:3]) :]))
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    settings = [Setting(name, factor) for name in PLACES for factor in FACTORS]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as pool:
        jobs = [pool.submit(run, setting, draws, first) for setting in (Setting("", 1), *settings)]
        base, *others = (job.result() for job in jobs)
    heads = "constant | times | clean | 20 % wrong | 40 % wrong | calibration error | AUC | changed"
    print(f"| {heads} |\n|{'---|' * 8}")
    print(f"| as they are | 1 | {' | '.join(f'{x:.2f}' for x in means(base))} | |")
    effective = set()
    for setting, found in zip(settings, others, strict=True):
        print(row(setting, found, base))
        if any(map(differ, found, base)):
            effective.add(setting.name)
    if without := sorted({*PLACES} - effective):
        sys.exit(f"No result changed: {', '.join(without)}")


if __name__ == "__main__":
    from benchmarks.choice_constants import main as importable  # for processes that are spawned

    importable()

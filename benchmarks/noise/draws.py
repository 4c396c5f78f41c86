"""Which nodes have labels, and which of those labels are wrong."""

import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.noise.data import Problem

Rng = np.random.Generator
Ints = NDArray[np.int64]

SEED = 2347
FLOOR = 0.05  # added to the hardness: a node among its own kind can be mislabelled as well


@dataclass(frozen=True, order=True)
class Trial:
    """What a draw of labels depends on; `noise` is "none" at rate 0, where all noises agree."""

    data: str
    noise: str
    rate: int  # in percent
    labels: int
    repeat: int

    def rng(self) -> Rng:
        """Return a stream of its own, the same on every machine."""
        words = [zlib.crc32(str(value).encode()) for value in asdict(self).values()]
        return np.random.default_rng(np.random.SeedSequence([SEED, *words]))


def draw(problem: Problem, trial: Trial) -> Ints:
    """Return the given label of every node, -1 where there is none."""
    rng = trial.rng()
    nodes = np.concatenate([
        rng.choice(np.flatnonzero(problem.y == k), min(trial.labels, size // 2), replace=False)
        for k, size in enumerate(np.bincount(problem.y))
    ])  # fmt: skip
    given = np.full(len(problem.y), -1, dtype=np.int64)
    while len(np.unique(given[nodes])) < 2:  # one class left: draw the noise again
        given[nodes] = problem.y[nodes]
        count = round(trial.rate / 100 * len(nodes))
        if count:
            wrong, classes = NOISES[trial.noise](problem, nodes, count, rng)
            given[wrong] = classes
    return given


def uniform(problem: Problem, nodes: Ints, count: int, rng: Rng) -> tuple[Ints, Ints]:
    """Any label may be wrong, and any other class may be given."""
    wrong = rng.choice(nodes, count, replace=False)
    step = rng.integers(1, problem.n_classes, count)
    return wrong, (problem.y[wrong] + step) % problem.n_classes


def pair(problem: Problem, nodes: Ints, count: int, rng: Rng) -> tuple[Ints, Ints]:
    """Any label may be wrong; class k is taken for k + 1."""
    wrong = rng.choice(nodes, count, replace=False)
    return wrong, (problem.y[wrong] + 1) % problem.n_classes


def instance(problem: Problem, nodes: Ints, count: int, rng: Rng) -> tuple[Ints, Ints]:
    """Wrong more often where neighbours are of other classes; given the commonest of those."""
    W = problem.W[nodes]
    ties = W @ np.eye(problem.n_classes)[problem.y]
    own = ties[np.arange(len(nodes)), problem.y[nodes]]
    hardness = 1 - own / np.asarray(W.sum(axis=1)).ravel()
    chosen = _exactly(_chances(hardness + FLOOR, count), rng)
    # The small random part decides between classes equally near, and where there are none near.
    ties += 1e-9 * rng.random(ties.shape)
    ties[np.arange(len(nodes)), problem.y[nodes]] = -1
    return nodes[chosen], ties[chosen].argmax(axis=1)


def _chances(score: NDArray[np.float64], total: int) -> NDArray[np.float64]:
    """Scale scores to probabilities that add up to `total`; those that reach 1 stay there."""
    chance = np.zeros(len(score))
    full = np.zeros(len(score), dtype=bool)
    while True:
        free = score * ~full
        chance = np.where(full, 1.0, free * ((total - full.sum()) / max(free.sum(), 1e-300)))
        if (chance <= 1 + 1e-12).all():
            return chance
        full |= chance > 1


def _exactly(chance: NDArray[np.float64], rng: Rng) -> Ints:
    """Draw as many as the chances add up to, each with its own: systematic sampling."""
    order = rng.permutation(len(chance))
    ends = np.cumsum(chance[order])
    marks = rng.random() + np.arange(round(ends[-1]))
    return order[np.searchsorted(ends, marks, side="right").clip(max=len(order) - 1)]


NOISES: dict[str, Callable[[Problem, Ints, int, Rng], tuple[Ints, Ints]]] = {
    "uniform": uniform,
    "pair": pair,
    "instance": instance,
}

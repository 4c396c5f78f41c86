"""Trials on one's own graph: which nodes have labels, which labels are wrong, who copes."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.semi_supervised import LabelSpreading

from robustgc.estimators.baselines import BelkinGC, HarmonicGC, PoissonGC, ZhouGC
from robustgc.estimators.robust import RobustGC
from robustgc.paper.records import generator
from robustgc.paper.stats import ranks
from robustgc.transduction.labels import flip

Codes = NDArray[np.int64]
SPREADING = "LabelSpreading"
MODELS: dict[str, Callable[..., Any]] = {
    "RobustGC": RobustGC,
    "PF-RobustGC": partial(RobustGC, 0.9, n_modes=1),
    "ZhouGC": ZhouGC,
    "BelkinGC": BelkinGC,
    "HarmonicGC": HarmonicGC,
    "PoissonGC": PoissonGC,
    SPREADING: LabelSpreading,
}
LEAST_PER_CLASS = 2  # labels of every class
LEAST_TRUE = 10  # nodes with a true label


@dataclass(frozen=True)
class Trial:
    """One fit: `accuracy` on the nodes without a label; NaN, and the reason, where it failed."""

    model: str
    labels: int
    noise_percent: float
    repeat: int
    accuracy: float
    seconds: float
    reason: str = ""


@dataclass(frozen=True)
class Cell:
    """All repeats of a model at one label size and noise: mean, standard error, rank.

    The rank is None where a repeat failed: such a model cannot be paired with the others.
    """

    model: str
    labels: int
    labels_percent: float
    noise_percent: float
    accuracy_mean: float
    accuracy_error: float
    rank: int | None
    repeats: int
    seconds_mean: float


@dataclass(frozen=True)
class Problem:
    """What every model is fitted on: weights or points, how they are read, and the true classes."""

    X: Any
    options: Mapping[str, Any]
    codes: Codes
    points: Any = None
    spreading: Mapping[str, Any] | None = None

    def predict(self, model: str, y: Codes) -> NDArray[Any]:
        """Return the class that a model gives every node."""
        if model == SPREADING:
            spreading = MODELS[model](**self.spreading or {}).fit(self.points, y)
            return np.asarray(spreading.transduction_)
        return np.asarray(MODELS[model](**self.options, unlabeled=-1).fit_predict(self.X, y))


def label_counts(codes: Codes, sizes: Sequence[float]) -> tuple[list[int], list[str]]:
    """Return the numbers of labels for sizes in percent, and notes on those that are too many."""
    n_true, least = int((codes >= 0).sum()), LEAST_PER_CLASS * (int(codes.max()) + 1)
    if n_true < LEAST_TRUE:
        raise ValueError(
            f"{n_true} nodes have a true label; a comparison needs at least {LEAST_TRUE}. Give the "
            "true labels of more nodes."
        )
    wanted = {max(round(size / 100 * len(codes)), least): size for size in reversed(sizes)}
    possible = sorted(count for count in wanted if count < n_true)
    if not possible:
        raise ValueError(
            f"{min(wanted)} labels leave nothing to predict: {n_true} nodes have a true label. "
            f"Every class has at least {LEAST_PER_CLASS} labels; choose smaller sizes, or give "
            "more labels."
        )
    return possible, [
        f"{wanted[count]:g} % ({count} labels) was left out: of {n_true} true labels nothing "
        "would be left to predict"
        for count in sorted(set(wanted) - set(possible))
    ]


def draw_labels(codes: Codes, n_labels: int, noise: float, repeat: int, seed: int) -> Codes:
    """Draw the label that every node is given, -1 for none.

    The nodes do not depend on the noise, so that noises are compared on the same nodes.
    """
    key = {"labels": n_labels, "repeat": repeat, "seed": seed}
    rng = generator(key)
    order = rng.permutation(np.flatnonzero(codes >= 0))
    first = [order[codes[order] == k][:LEAST_PER_CLASS] for k in range(int(codes.max()) + 1)]
    of_every_class = np.concatenate(first)  # a rare class has labels as well
    rest = order[~np.isin(order, of_every_class)][: n_labels - len(of_every_class)]
    nodes = np.sort(np.append(of_every_class, rest))  # noise is not to depend on class names
    rng = generator({**key, "noise": float(noise)})
    y = np.full(len(codes), -1, dtype=np.int64)
    while len(np.unique(y[nodes])) < 2:  # one class left: draw the noise again
        n_wrong = round(noise / 100 * len(nodes))
        y[nodes] = flip(codes[nodes], n_wrong, np.unique(codes[nodes]), rng)[0]
    return y


def run_trial(problem: Problem, model: str, y: Codes, key: tuple[int, float, int]) -> Trial:
    """Fit one model; an error becomes the reason of a trial that failed."""
    start = time.perf_counter()
    accuracy, reason = float("nan"), ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a model that does not converge still answers
            predicted = problem.predict(model, y)
        hidden = (y < 0) & (problem.codes >= 0)
        # A node without an answer is a node that the model got wrong.
        accuracy = float(np.mean(predicted[hidden] == problem.codes[hidden]))
    except Exception as error:  # whatever it is, the other models go on
        reason = f"{type(error).__name__}: {error}"
    return Trial(model, *key, accuracy, round(time.perf_counter() - start, 4), reason)


def summarise(trials: Sequence[Trial], n_nodes: int) -> list[Cell]:
    """Return means, standard errors and ranks."""
    settings: dict[tuple[float, int], dict[str, list[Trial]]] = {}
    for t in trials:
        settings.setdefault((t.noise_percent, t.labels), {}).setdefault(t.model, []).append(t)
    cells = []
    for (noise, labels), models in sorted(settings.items()):
        values = {m: np.array([t.accuracy for t in rows]) for m, rows in models.items()}
        whole = {m: v for m, v in values.items() if not np.isnan(v).any()}
        rank = ranks(whole) if whole else {}
        for m, v in values.items():
            done = v[~np.isnan(v)]
            error = float(done.std(ddof=1) / np.sqrt(len(done))) if len(done) > 1 else np.nan
            mean = float(done.mean()) if len(done) else np.nan
            seconds = float(np.mean([t.seconds for t in models[m]]))
            cells.append(Cell(m, labels, 100 * labels / n_nodes, noise, mean, error, rank.get(m),
                              len(done), round(seconds, 4)))  # fmt: skip
    return cells

"""The methods: each answers for every node from the given labels, -1 for none."""

import contextlib
import inspect
import io
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.noise.data import Problem

Ints = NDArray[np.int64]
GAMMAS = np.logspace(-3, 1, 10)  # of the method of Zhou et al., for the one who knows the truth
ORACLE = "zhou_oracle"


class Answer(NamedTuple):
    """The class of every node, and the fitted estimator where it is one of ours."""

    classes: NDArray[Any]
    fitted: Any = None


def ours(name: str, **parameters: Any) -> Callable[[Problem, Ints], Answer]:
    def column(problem: Problem, given: Ints) -> Answer:
        import robustgc

        estimator = getattr(robustgc, name)
        known = inspect.signature(estimator).parameters
        settings = {key: value for key, value in parameters.items() if key in known}
        fitted = estimator(affinity="precomputed", **settings).fit(problem.W, given)
        return Answer(fitted.transduction_, fitted)

    return column


def zhou_oracle(problem: Problem, given: Ints) -> Answer:
    """Choose gamma by the answers themselves: what no method can do, beside what they do."""
    found = [ours("ZhouGC", gamma=gamma)(problem, given) for gamma in GAMMAS]
    return max(found, key=lambda answer: accuracy(problem, given, answer.classes))


def label_spreading(problem: Problem, given: Ints) -> Answer:
    """Give it the graph through the only door there is: a kernel that returns the matrix."""
    from sklearn.semi_supervised import LabelSpreading

    model = LabelSpreading(kernel=lambda X, Y=None: problem.W)
    return Answer(model.fit(np.arange(float(len(given)))[:, None], given).transduction_)


def diffusion(problem: Problem, given: Ints) -> Answer:
    from sknetwork.classification import DiffusionClassifier

    return Answer(DiffusionClassifier().fit_predict(problem.W, _as_dict(given)))


def pagerank(problem: Problem, given: Ints) -> Answer:
    from sknetwork.classification import PageRankClassifier

    return Answer(PageRankClassifier().fit_predict(problem.W, _as_dict(given)))


def gl_poisson(problem: Problem, given: Ints) -> Answer:
    """Give it classes numbered from 0 without gaps, as it wants them."""
    import graphlearning

    nodes = np.flatnonzero(given >= 0)
    classes, codes = np.unique(given[nodes], return_inverse=True)
    model = graphlearning.ssl.poisson(graphlearning.graph(problem.W))
    model.fit(nodes, codes)
    return Answer(classes[np.asarray(model.predict()).astype(int)])


def _as_dict(given: Ints) -> dict[int, int]:
    return {int(i): int(given[i]) for i in np.flatnonzero(given >= 0)}


COLUMNS: dict[str, Callable[[Problem, Ints], Answer]] = {
    "auto": ours("RobustGC"),
    "pf": ours("RobustGC", eta=0.9, n_modes=1),
    "zhou_auto": ours("ZhouGC", gamma="auto"),
    "belkin_auto": ours("BelkinGC", n_vectors="auto"),
    "harmonic": ours("HarmonicGC"),
    "poisson": ours("PoissonGC"),
    ORACLE: zhou_oracle,
    "label_spreading": label_spreading,
    "diffusion": diffusion,
    "pagerank": pagerank,
    "gl_poisson": gl_poisson,
}


def answer(name: str, problem: Problem, given: Ints) -> Answer:
    """Run a column without what peers print, and without warnings that they did not converge."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return COLUMNS[name](problem, given)


def accuracy(problem: Problem, given: Ints, classes: NDArray[Any]) -> float:
    """Return the share of right answers among the nodes without a label."""
    rest = given < 0
    return float(np.mean(np.asarray(classes)[rest] == problem.y[rest]))

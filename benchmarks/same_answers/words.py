"""What is said in words: it may be worded otherwise later, without another answer."""

import warnings
from typing import Any

import numpy as np

import robustgc as rg
from benchmarks.same_answers.digests import Run
from benchmarks.same_answers.estimators import PAPER, answers, fitted, named
from benchmarks.same_answers.functions import share, signs, solved
from benchmarks.same_answers.inputs import given, points
from benchmarks.same_answers.results import of_file
from robustgc import RobustGC


def fit(name: str, **options: Any) -> RobustGC:
    return RobustGC(affinity="precomputed", **options).fit(*given(name))


def reasons() -> list[Any]:
    X, y, _ = points()
    landmarks = RobustGC(landmarks=90, affinity="rbf").fit(X, y)
    return [fit("islands").reasons_, landmarks.reasons_]


def history(clf: RobustGC) -> list[Any]:
    return [[attempt.solver, attempt.reason, attempt.result] for attempt in clf.history_]


def warned(run: Run) -> list[Any]:
    """Return the result of a run, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = run()
    return [found, [[w.category.__name__, str(w.message)] for w in caught]]


def refused(call: Run) -> list[str]:
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error)]
    return ["nothing was refused"]


def with_weights(*entries: tuple[int, int, float]) -> Run:
    """Return a fit with some weights changed."""

    def run() -> RobustGC:
        W, y = given("cliques")
        W = W.toarray()
        for i, j, w in entries:
            W[i, j] = w
        return RobustGC(affinity="precomputed").fit(W, y)

    return run


TEXTS: dict[str, Run] = {
    "reasons": reasons,
    "history, dense": lambda: history(fit("two blocks")),
    "history, large": lambda: history(fit("blocks 2,400")),
    "history, the paper's": lambda: history(fit("grid 2,700", **PAPER)),
    "printed": lambda: [str(fitted().label_issues()), repr(signs("cliques")[0]), repr(fitted())],
    "words for no label": lambda: warned(lambda: answers(fitted(named("a", "b", "NA")))),
    "residual": lambda: warned(
        lambda: solved(rg.zhou(*signs("grid 2,700"), gamma=0.01, tol=1e-17))
    ),
}
BAD_CALLS: dict[str, Run] = {
    "eta": lambda: fitted(eta=1.5),
    "n_modes": lambda: fitted(n_modes=0),
    "affinity": lambda: fitted(affinity="cosin"),
    "priors": lambda: fitted(priors=[0.5, 0.7]),
    "solver": lambda: fitted(**PAPER, solver="fast"),
    "asymmetric": with_weights((3, 4, 0.25)),
    "negative": with_weights((3, 4, -1.0), (4, 3, -1.0)),
    "NaN": with_weights((3, 4, np.nan)),
    "length": lambda: fitted(lambda y: y[:-3]),
    "no labels": lambda: fitted(lambda y: np.full(len(y), -1)),
    "not convex": lambda: share(1.01, rg.robust)(*signs("two blocks")),
    "not connected": lambda: rg.Graph(given("islands")[0]),
    "update": lambda: fitted().update({500: 1}),
    "no model": lambda: rg.load("no-such-model.zip"),
    "no column": lambda: of_file("edges.csv", "points.csv"),
}
REFUSALS: dict[str, Run] = {
    name: lambda call=call: refused(call) for name, call in BAD_CALLS.items()
}

"""Calls of estimators: one case is an estimator, its fit, and what is asked of it afterwards."""

import numpy as np
import pandas as pd

import robustgc
from tests.fuzz import answers, functions, graphs, labels, points
from tests.fuzz.answers import Asked
from tests.fuzz.draw import chance, exponents, pick
from tests.fuzz.source import IMPORTS, call, source
from tests.fuzz.watch import FAILED

NAMES = ["RobustGC", "RobustGC", "RobustGC", "ZhouGC", "BelkinGC", "HarmonicGC", "PoissonGC"]


def make(rng):
    """Return a case: something with `run(watch, folder)` and `program()`."""
    return functions.make(rng) if chance(rng, 0.35) else Fit(rng)


class Fit:
    """One estimator, fitted and asked."""

    def __init__(self, rng):
        self.name = pick(rng, *NAMES)
        self.graph = chance(rng, 0.65)
        kind = graphs if self.graph else points
        plain = graphs.weights(rng) if self.graph else points.points(rng)
        if chance(rng, 0.06):
            self.X, self.plain = pick(rng, *kind.ILLEGAL)(rng, plain), None
        else:
            if np.abs(plain).max(initial=0.0) < 1e15 and chance(rng, 0.1):  # of another type
                plain = plain.astype(pick(rng, np.float32, np.int64, bool))
            self.plain = plain if np.asarray(plain).dtype == float else None
            self.X = kind.contained(rng, plain)
        n = len(plain)
        self.y, unlabeled, pool = labels.labels(rng, n)
        self.options = {**self._affinity(rng, n), **_own(rng, self.name, pool)}
        if n > 300 and self.options.get("n_vectors") == 10**6:  # all vectors, many times over
            self.options["n_vectors"] = 5
        if unlabeled is not None:
            self.options["unlabeled"] = unlabeled
        self.more = {}
        weight = labels.sample_weight(rng, n) if self.name == "RobustGC" else None
        if weight is not None:
            self.more["sample_weight"] = weight
        self.after = [_step(rng, self.name, n, pool) for _ in range(rng.integers(0, 3))]
        self.new = _new_points(rng, plain, self.graph)
        self.check = pick(rng, *answers.CHECKS)

    def _affinity(self, rng, n):
        if self.graph:
            return {"affinity": "precomputed"}
        found = {"affinity": pick(rng, "knn", "knn", "rbf", "rbf", points.kernel)}
        if chance(rng, 0.3):
            found["n_neighbors"] = pick(rng, 1, 2, 3, n - 1, n, 10**9, 0, -1, 2.5, "x", True)
        if chance(rng, 0.2):
            found["sigma"] = pick(rng, 0.5, 1e-300, 1e300, 0.0, -1.0, np.nan, np.inf, "x", 5e-324)
        if chance(rng, 0.1):
            found["scale"] = pick(rng, 1.0, 1e-300, 1e300, 0.0, np.nan, None, [1])
        if chance(rng, 0.1):
            found["self_loops"] = pick(rng, False, None, "no")
        if chance(rng, 0.1):
            found["landmarks"] = pick(rng, n // 2, n, n + 1, 2, 0, -3, 1.5, "x", True)
        if chance(rng, 0.05):
            found["ann"] = pick(rng, True, False, "never", None)
        if chance(rng, 0.15):
            found["metric"] = pick(rng, "cosine", "cosine", "cosine", "euclidean", "taxi", None)
        if chance(rng, 0.03):
            found["affinity"] = pick(rng, "cube", None, 7, "precomputed", np.zeros(3), print)
        return found

    def run(self, watch, folder):
        watch.texts = texts_of((self.y, self.options))
        before = source((self.X, self.y, self.more))
        clf = watch("the estimator", getattr(robustgc, self.name), **self.options)
        fitted = FAILED if clf is FAILED else watch("fit", clf.fit, self.X, self.y, **self.more)
        if fitted is not FAILED:
            asked = Asked(self, clf, list(watch.warned))
            watch("what was fitted", answers.fitted, asked)
            for name, args in self.after:
                watch(name, _after, clf, name, args)
            watch(self.check.__name__, self.check, asked, folder)
        if source((self.X, self.y, self.more)) != before:
            watch("the input", answers.broken, "the user's own arrays were changed")

    def program(self):
        lines = [
            IMPORTS.rstrip(), f"X = {source(self.X)}", f"y = {source(self.y)}",
            f"clf = {call(f'robustgc.{self.name}', (), self.options)}",
            f"{call('clf.fit', (_Name('X'), _Name('y')), self.more)}",
        ]  # fmt: skip
        lines += [_after_source(name, args) for name, args in self.after]
        lines.append(f"new = {source(self.new)}  # then: {self.check.__name__}")
        return "\n".join(lines)


class _Name(str):
    __slots__ = ()
    __repr__ = str.__str__


def _own(rng, name, pool):
    """Return the parameters that only this estimator has."""
    if name == "ZhouGC":
        value = pick(rng, 1.0, exponents(rng, None, 8), "auto", 0, -1, np.nan, "x", 1e300, 1e-300)
        return {"gamma": value}
    if name == "BelkinGC":
        kind = {} if chance(rng, 0.7) else {"laplacian": pick(rng, "combinatorial", "odd", None)}
        return {"n_vectors": pick(rng, "auto", 1, 2, 3, 5, 10**6, 0, 1.5, None), **kind}
    return _robust(rng, pool) if name == "RobustGC" else {}


def _robust(rng, pool):
    found = {}
    if chance(rng, 0.85):  # the automatic choice takes longer: seldom
        found["eta"] = pick(rng, 0.9, 0.5, 0.1, float(rng.random()), 1e-9, 1 - 1e-9, 5e-324)
        found["n_modes"] = pick(rng, 1, 1, 1, 2, 3, 10)
    if chance(rng, 0.04):
        found["eta"] = pick(rng, 0, 1, -1, np.nan, "x", None, [0.5], np.float32(0.5), 2**70)
    if chance(rng, 0.04):
        found["n_modes"] = pick(rng, 0, -1, 1.5, True, None, 10**9, 2**70, "x", np.int8(2))
    if chance(rng, 0.2):
        found["class_weight"] = pick(rng, "balanced", "balanced", "odd", {0: 1.0}, 3)
    if (shares := labels.priors(rng, pool)) is not None:
        found["priors"] = shares
    if chance(rng, 0.3):
        found["solver"] = pick(rng, "dense", "krylov", "multigrid", "direct", "odd", None)
    if chance(rng, 0.2):
        found["tol"] = pick(rng, 1e-12, 1e-4, 1e-300, 0, -1, np.nan, 1, "x", np.inf)
    if chance(rng, 0.2):
        found["dtype"] = pick(rng, "float32", "float64", "float16", None, np.float32)
    return found


def _step(rng, name, n, pool):
    """Return something that is asked after the fit: a method and its arguments."""
    usual = [
        ("label_issues", ()),
        ("suggest_queries", (pick(rng, 1, 3, n, 10**9, 0, -1, 1.5, None, "x", np.int64(2)),)),
        ("update", (_changes(rng, n, pool),)),
        ("update", (_changes(rng, n, pool),)),
    ]
    if name != "RobustGC":
        return "get_params", ()
    return pick(rng, *usual)


def _changes(rng, n, pool):
    if chance(rng, 0.1):
        return pick(rng, None, [(0, 1)], {}, "x", 3, {"a": 1}, {-1: 1}, {n: 1}, {1.0: 1}, {None: 1})
    hashable = [value for value in pool if not isinstance(value, list | dict)]
    wanted = [*hashable, *hashable, None, None, "", -1, np.nan, "other", [1]]
    return {int(node): pick(rng, *wanted) for node in rng.integers(0, n, rng.integers(0, 4))}


def _after(clf, name, args):
    found = getattr(clf, name)(*args)
    if name == "label_issues":
        answers.issues(found, clf)
        str(found)
        list(found)
    elif name == "suggest_queries":
        answers.queries(found, args[0], clf)
    elif name == "update":
        answers.consistent(clf)


def _after_source(name, args):
    text = call(f"clf.{name}", args, {})
    return f"str({text})" if name == "label_issues" else text


def _new_points(rng, plain, graph):
    """Return points, or rows of weights, that were not fitted; at times they do not fit at all."""
    X = np.asarray(plain, dtype=float)
    rows = X[rng.integers(0, len(X), 3)]
    made = pick(
        rng, rows, rows, rows * 2, rows + 0.5, np.zeros_like(rows), rows[:1], rows[:, :-1],
        rows * np.nan, rows * 1e300 if np.abs(rows).max(initial=0) < 1e5 else rows, -rows, rows[:0],
        rows[0],
    )  # fmt: skip
    return (
        made
        if made.size == 0
        else (graphs if graph else points).CONTAINERS[int(rng.integers(4))](made)
    )


def texts_of(value):
    """Return the texts within a value that are too long to be quoted."""
    if isinstance(value, str):
        return (value,) if len(value) > 200 else ()
    if isinstance(value, dict):
        return texts_of([*value.keys(), *value.values()])
    if isinstance(value, list | tuple):
        listed = (repr(value),) if isinstance(value, list) and len(value) > 40 else ()
        return (*listed, *dict.fromkeys(text for item in value for text in texts_of(item)))
    return texts_of(value.tolist()) if isinstance(value, np.ndarray | pd.Series) else ()

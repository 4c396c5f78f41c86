"""The estimators: on graphs and points of many kinds, with labels and weights in many forms."""

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import robustgc as rg
from benchmarks.same_answers.digests import Run
from benchmarks.same_answers.inputs import SMALL, given, graph, moons, points
from robustgc import RobustGC

PAPER: dict[str, Any] = {"eta": 0.9, "n_modes": 1}
FITTED = (
    "classes_ transduction_ f_ components_ residual_ n_iter_ sigma_ neighbors_ n_features_in_ eta_ "
    "n_modes_ n_vectors_ lambda_1_ gamma_ condition_bound_ eigen_residual_"
).split()
CANDIDATE = (
    "n_modes eta ridge constant centred accuracy evidence weight candidate margin chosen"
).split()
ISSUES = ("noise_rate", "pairs", "classes", "n_wrong")


def issues(found: rg.LabelIssues) -> list[Any]:
    return [found.columns(), [getattr(found, name) for name in ISSUES]]


def answers(clf: Any, new: Any = None) -> list[Any]:
    """Return all that an estimator answers in numbers; texts have a group of their own."""
    chosen = getattr(clf, "selection_", ())
    rows = [[getattr(row, name, "none") for name in CANDIDATE] for row in chosen]
    found = [{name: getattr(clf, name, "none") for name in FITTED}, rows]
    if isinstance(clf, RobustGC):
        found += [issues(clf.label_issues()), clf.suggest_queries(3), clf.solver_]
    if new is not None:
        found += [clf.predict(new), clf.decision_function(new), clf.predict_proba(new)]
    return found


def on_graph(name: str, estimator: Any = RobustGC, **options: Any) -> list[Any]:
    W, y = given(name)
    new = W[[3, 11, 17]] + W[[4, 10, 30]]  # nodes that are joined to the neighbours of two others
    return answers(estimator(affinity="precomputed", **options).fit(W, y), new)


def on_points(estimator: Any = RobustGC, change: Any = None, **options: Any) -> list[Any]:
    X, y, new = points()
    X, new = (X, new) if change is None else (change(X), change(new))
    return answers(estimator(**options).fit(X, y), new)


def fitted(labels: Any = None, change: Any = None, weight: Any = None, **options: Any) -> RobustGC:
    """Fit two blocks with labels, or weights, written in another way."""
    W, y = given("two blocks")
    clf = RobustGC(**{"affinity": "precomputed"} | options)
    return clf.fit(W if change is None else change(W), y if labels is None else labels(y), weight)


def way(*args: Any, **options: Any) -> Run:
    return lambda: answers(fitted(*args, **options))


def named(*values: Any, dtype: Any = None) -> Callable[[Any], Any]:
    """Return what gives classes other names; the last one means unlabelled."""
    return lambda y: np.array([values[k] for k in y], dtype)


def updated(name: str, **options: Any) -> list[Any]:
    W, y, some = graph(name)
    known = np.flatnonzero(some >= 0)
    clf = RobustGC(affinity="precomputed", **options).fit(W, some)
    clf.update({int(k): y[k] for k in known[:5]} | {int(known[7]): None, 13: y[13]})
    return answers(clf)


def huge() -> list[Any]:
    """Answer by the paper's model, without a report, which would take as long again."""
    clf = RobustGC(affinity="precomputed", **PAPER).fit(*given("blocks 100,000"))
    return [clf.f_, clf.transduction_, clf.lambda_1_, clf.residual_, clf.solver_]


def frame(X: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"column {k}" for k in range(X.shape[1])])


def kernel(A: Any, B: Any) -> Any:
    return 1.0 / (1.0 + ((A[:, None] - B[None]) ** 2).sum(axis=2))


def labelled_points() -> tuple[Any, Any]:
    X, y, _ = points()
    return X[y >= 0], y[y >= 0]


def searched(estimator: Any, values: dict[str, list[Any]]) -> list[Any]:
    found = GridSearchCV(estimator, values, cv=3).fit(*labelled_points())
    return [found.best_params_, found.best_score_, found.cv_results_["mean_test_score"]]


def scored() -> list[Any]:
    W, y, _ = graph("two blocks")
    X, some, _ = points()
    return [fitted().score(W, y), RobustGC(**PAPER, n_neighbors=7).fit_predict(X, some)]


def cloned() -> list[Any]:
    clf = fitted(**PAPER)
    return [answers(clone(clf).fit(*given("cliques"))), clf.get_params()]


def piped() -> Any:
    X, y, new = points()
    return make_pipeline(StandardScaler(), RobustGC()).fit(X, y).predict(new)


MODES = {"auto": {}, "the paper's": PAPER, "eta": {"eta": 0.5}, "modes": {"n_modes": 2}}
EVERY = [(name, mode) for name in (*SMALL, "blocks 12,000", "grid 12,000") for mode in [*MODES][:2]]
SOME = [
    (name, mode) for name in ("twelve blocks", "islands", "grid 2,700") for mode in [*MODES][2:]
]
ROBUST: dict[str, Run] = {
    **{f"{name}, {mode}": partial(on_graph, name, **MODES[mode]) for name, mode in EVERY + SOME},
    "bounded": lambda: [on_graph("star 31,000"), on_graph("tree 31,000")],
    "factors": partial(on_graph, "caterpillar 32,000"),
    "regular": partial(on_graph, "regular 31,000"),
    "balanced": partial(on_graph, "two blocks", **PAPER, class_weight="balanced"),
    "priors": lambda: [
        on_graph("twelve blocks", priors="labels"),
        on_graph("two blocks", priors={0: 0.3, 1: 0.7}),
    ],
    "tol": partial(on_graph, "blocks 2,400", tol=1e-7),
    "single precision": lambda: [on_graph("blocks 2,400", dtype="float32"), huge()],
    **{
        f"solver {solver}": partial(on_graph, "grid 2,700", **PAPER, solver=solver)
        for solver in ("dense", "krylov", "multigrid", "direct")
    },
    "update, small": partial(updated, "two blocks"),
    "update, large": partial(updated, "blocks 2,400"),
    "update, the paper's": partial(updated, "grid 2,700", **PAPER),
    "queries": lambda: RobustGC(affinity="precomputed").fit(*given("islands")).suggest_queries(12),
    "weights": lambda: answers(fitted(weight=np.linspace(0.2, 3, 120))),
    "all labelled": lambda: answers(RobustGC(affinity="precomputed").fit(*graph("cliques")[:2])),
}
WAYS: dict[str, Run] = {
    "dense": way(change=lambda W: W.toarray()),
    "coo": way(change=sp.coo_array),
    "CSR": way(change=rg.CSR.from_scipy),
    "single": way(change=lambda W: (W * 0.3).astype(np.float32)),
    "text": way(named("red", "blue", "")),
    "objects": way(named("red", "blue", None, dtype=object)),
    "numbers": way(named(2.0, 3.0, np.nan)),
    "marker": way(named(-1, 7, 99), unlabeled=99),
    "pickle": lambda: answers(pickle.loads(pickle.dumps(fitted()))),
    "score": scored,
    "clone": cloned,
    "pipeline": piped,
    "grid of eta": lambda: searched(RobustGC(), {"eta": [0.5, 0.9], "n_modes": [1, 2]}),
    "grid of gamma": lambda: searched(rg.ZhouGC(), {"gamma": [0.1, 1.0], "n_neighbors": [5, 10]}),
    "cross validation": lambda: cross_val_score(rg.PoissonGC(), *labelled_points(), cv=3),
}
POINTS: dict[str, Run] = {
    "knn": on_points,
    "knn, 5": partial(on_points, n_neighbors=5, **PAPER),
    "approximate": partial(on_points, ann=True),
    "cosine": partial(on_points, metric="cosine"),
    "rbf": partial(on_points, affinity="rbf"),
    "rbf, sigma": partial(on_points, affinity="rbf", sigma=1.5, scale=1.0, self_loops=False),
    "rbf in blocks": lambda: RobustGC(affinity="rbf", sigma=1.0, **PAPER).fit(*moons(5_100)).f_,
    "own kernel": partial(on_points, affinity=kernel),
    "sparse": partial(on_points, affinity="rbf", change=sp.csr_array),
    "frame": partial(on_points, change=frame),
    "landmarks": partial(on_points, landmarks=120),
    "landmarks, rbf": partial(on_points, landmarks=90, affinity="rbf", priors="labels"),
    "moons": lambda: answers(RobustGC().fit(*moons(300))),
}
OTHERS = (rg.ZhouGC, rg.BelkinGC, rg.HarmonicGC, rg.PoissonGC)
PEERS: dict[str, Run] = {
    **{
        f"{estimator.__name__}, {name}": partial(on_graph, name, estimator)
        for estimator in OTHERS
        for name in ("twelve blocks", "islands", "grid 2,700")
    },
    "ZhouGC, auto": lambda: [
        on_graph("twelve blocks", rg.ZhouGC, gamma="auto"),
        on_graph("grid 2,700", rg.ZhouGC, gamma="auto"),
    ],
    "ZhouGC, points": partial(on_points, rg.ZhouGC, gamma="auto", affinity="rbf"),
    "BelkinGC, combinatorial": partial(
        on_graph, "cliques", rg.BelkinGC, n_vectors=5, laplacian="combinatorial"
    ),
    "PoissonGC, points": partial(on_points, rg.PoissonGC, affinity="rbf", landmarks=150),
}

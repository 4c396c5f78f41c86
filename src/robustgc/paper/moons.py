"""Figure: the out-of-sample extension on two moons, for four bandwidths."""

from pathlib import Path

import numpy as np

from robustgc import datasets
from robustgc.estimators.robust import RobustGC
from robustgc.paper.records import Record, write_csv

SIGMAS = (0.15, 0.3, 0.6, 1.2)
PER_CLASS, LABELLED = 50, 5


def compute(folder: Path, *, seed: int, grid: int = 100) -> None:
    """Fit 50 points a class, 5 of them labelled, and extend to a regular grid."""
    data = datasets.moons(PER_CLASS, seed=seed)
    assert data.points is not None
    X, rng = data.points, np.random.default_rng([seed, 3])
    y = np.full(len(X), "", dtype=data.labels.dtype)
    for name in np.unique(data.labels):
        nodes = rng.permutation(np.flatnonzero(data.labels == name))[:LABELLED]
        y[nodes] = name
    points: list[Record] = [
        {"x": float(a), "y": float(b), "truth": str(t), "labelled": int(given != "")}
        for (a, b), t, given in zip(X, data.labels, y, strict=True)
    ]
    write_csv(folder / "moons-points.csv", points)
    xs = np.linspace(X[:, 0].min() - 1, X[:, 0].max() + 1, grid)
    ys = np.linspace(X[:, 1].min() - 1, X[:, 1].max() + 1, grid)
    places = np.array([(a, b) for b in ys for a in xs])
    rows: list[Record] = []
    for sigma in SIGMAS:
        clf = RobustGC(0.9, n_modes=1, affinity="rbf", sigma=sigma).fit(X, y)
        right = float(np.mean(clf.transduction_ == data.labels))
        f = clf.decision_function(places)
        rows += [
            {"sigma": sigma, "x": float(a), "y": float(b), "f": float(v), "accuracy": right}
            for (a, b), v in zip(places, f, strict=True)
        ]
    write_csv(folder / "moons.csv", rows)

"""What the report of wrong labels costs relative to the fit.

Two cases, a tenth of the labels wrong: all 1,797 digits of scikit-learn labelled, on their
neighbour graph, and a block model of 5,000 nodes in 5 classes with 400 labels.
"""

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits

from robustgc import RobustGC


def digits() -> tuple[RobustGC, Any, Any]:
    X, y = load_digits(return_X_y=True)
    return RobustGC(affinity="knn"), X, _with_errors(y, 10, 7)


def blocks() -> tuple[RobustGC, Any, Any]:
    rng = np.random.default_rng(2017)
    truth = np.repeat(np.arange(5), 1000)
    rows, columns = rng.integers(0, 5000, (2, 400_000))
    kept = (rng.random(400_000) < np.where(truth[rows] == truth[columns], 0.5, 0.05)) & (
        rows != columns
    )
    A = sp.csr_array((np.ones(kept.sum()), (rows[kept], columns[kept])), shape=(5000, 5000))
    W = sp.csr_array(((A + A.T) > 0).astype(float))
    y = np.full(5000, -1)
    labelled = rng.choice(5000, 400, replace=False)
    y[labelled] = _with_errors(truth[labelled], 5, 11)
    return RobustGC(affinity="precomputed"), W, y


def _with_errors(y: Any, n_classes: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    wrong = rng.random(len(y)) < 0.1
    return np.where(wrong, (y + rng.integers(1, n_classes, len(y))) % n_classes, y)


def main() -> None:
    print("case        fit, s  label_issues, s  ratio")
    clf, X, y = digits()
    clf.fit(X, y)  # compiles
    for case in (digits, blocks):
        clf, X, y = case()
        start = time.perf_counter()
        clf.fit(X, y)
        between = time.perf_counter()
        clf.label_issues()
        fit, report = between - start, time.perf_counter() - between
        print(f"{case.__name__:10}{fit:8.2f}{report:17.2f}{report / fit:7.2f}")


if __name__ == "__main__":
    main()

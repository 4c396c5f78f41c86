"""One measurement in a process of its own, so that its peak memory is its own; prints JSON.

Usage: python -m benchmarks.shared.one METHOD CASE, with CASE a .npz graph or "fashion".
"""

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.shared.cases import block_edges, fashion, fashion_labels, noisy_labels, truth

LABEL_SEED = 2029


def robustgc(A: Any, y: NDArray[np.int64]) -> Any:
    from robustgc import RobustGC

    return RobustGC(eta=0.9, n_modes=1, affinity="precomputed").fit(A, y).transduction_


def diffusion(A: Any, y: NDArray[np.int64]) -> Any:
    from sknetwork.classification import DiffusionClassifier

    return DiffusionClassifier().fit_predict(A, _as_dict(y))


def pagerank(A: Any, y: NDArray[np.int64]) -> Any:
    from sknetwork.classification import PageRankClassifier

    return PageRankClassifier().fit_predict(A, _as_dict(y))


def label_spreading(A: Any, y: NDArray[np.int64]) -> Any:
    """Give it the graph through the only door there is: a kernel that returns the matrix."""
    from sklearn.semi_supervised import LabelSpreading

    model = LabelSpreading(kernel=lambda X, Y=None: A)
    return model.fit(np.arange(float(len(y)))[:, None], y).transduction_


def poisson(A: Any, y: NDArray[np.int64]) -> Any:
    import graphlearning

    nodes = np.flatnonzero(y >= 0)
    return graphlearning.ssl.poisson(graphlearning.graph(A)).fit_predict(nodes, y[nodes])


def _as_dict(y: NDArray[np.int64]) -> dict[int, int]:
    return {int(i): int(y[i]) for i in np.flatnonzero(y >= 0)}


def robustgc_points(X: Any, y: NDArray[np.int64]) -> Any:
    """One column per class: near lambda_1 ten columns collapse on v1, so eta is small here."""
    from robustgc import RobustGC

    return RobustGC(eta=0.1, n_modes=1).fit(X, y).transduction_


def label_spreading_points(X: Any, y: NDArray[np.int64]) -> Any:
    from sklearn.semi_supervised import LabelSpreading

    return LabelSpreading(kernel="knn").fit(X, y).transduction_


METHODS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (robustgc, diffusion, pagerank, label_spreading, poisson, robustgc_points,
              label_spreading_points)
}  # fmt: skip


def main() -> None:
    warnings.simplefilter("ignore")  # of the peers: that they stopped before they converged
    method, case = METHODS[sys.argv[1]], sys.argv[2]
    if case == "fashion":
        X, answer = fashion()
        y = fashion_labels(answer, LABEL_SEED)
        small = X[:300], np.where(np.arange(300) < 30, answer[:300], -1)
    else:
        X = sp.load_npz(case)
        answer, y = truth(X.shape[0]), noisy_labels(X.shape[0], 100, 30, LABEL_SEED)
        rows, cols = next(block_edges(150_000, 10**6, seed=2011))
        tie = sp.coo_matrix((np.ones(len(rows)), (rows, cols)), shape=(150_000, 150_000)).tocsr()
        small = sp.csr_matrix((tie + tie.T) > 0, dtype=float), noisy_labels(150_000, 100, 30, 2029)
    method(*small)  # imports and compilation are not what is measured
    start = time.perf_counter()
    found = method(X, y)
    seconds = time.perf_counter() - start
    rest = y < 0
    print(json.dumps({
        "method": method.__name__,
        "seconds": seconds,
        "accuracy": float((np.asarray(found) == answer)[rest].mean()),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }))  # fmt: skip


if __name__ == "__main__":
    main()

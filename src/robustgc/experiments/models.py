"""The paper's four models over their parameter grids, on one label vector."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import Graph
from robustgc.models import belkin, zhou_path
from robustgc.spectrum import full_spectrum
from robustgc.weights import Array

MODELS = ("ZhouGC", "BelkGC", "RobustGC", "PF-RobustGC")
GRID = 51
ETAS = np.arange(1, GRID + 1) / (GRID + 1)  # evenly spaced, strictly inside (0, 1)
GAMMAS = np.logspace(-5, 5, GRID)


def decisions(graph: Graph, y: Array) -> dict[str, tuple[Array, Array]]:
    """Return, per model, the parameters and the decision values, one column per parameter.

    One decomposition of the graph serves all parameters, label sets and repeats.
    """
    spectrum = full_spectrum(graph)
    values, V = spectrum.values, spectrum.vectors
    c = (V.T @ y)[:, None]
    etas = np.append(ETAS, 0.9)
    gammas = etas * values[1]
    robust = np.zeros((graph.n, len(etas)))
    robust[1:] = gammas / (values[1:, None] - gammas)
    F = V @ (robust * c)
    vectors = np.arange(1, min(GRID, graph.n) + 1)
    projections = np.column_stack([belkin(graph, y, n_vectors=int(p)).f for p in vectors])
    zhou = np.column_stack([solution.f for solution in zhou_path(graph, y, GAMMAS)])
    return {
        "ZhouGC": (GAMMAS, zhou),
        "BelkGC": (vectors.astype(float), projections),
        "RobustGC": (ETAS, F[:, :-1]),
        "PF-RobustGC": (etas[-1:], F[:, -1:]),
    }


def accuracies(graph: Graph, truth: Array, y: Array) -> list[dict[str, str | int | float]]:
    """Return the accuracy on unlabelled nodes for every model and parameter, as flat records."""
    rest = y == 0
    return [
        {"model": model, "parameter": float(p), "accuracy": float(a)}
        for model, (parameters, F) in decisions(graph, y).items()
        for p, a in zip(
            parameters, np.mean((F[rest] > 0) == (truth[rest] > 0)[:, None], axis=0), strict=True
        )
    ]


def label(truth: Array, n_labels: int, rng: np.random.Generator, n_wrong: int = 0) -> Array:
    """Label nodes evenly at random until both classes occur, then flip some labels."""
    while True:
        nodes = rng.choice(len(truth), size=n_labels, replace=False)
        if abs(truth[nodes].sum()) < n_labels:
            break
    y = np.zeros(len(truth))
    y[nodes] = truth[nodes]
    y[nodes[:n_wrong]] *= -1
    return y


def remembered(
    build: Callable[..., tuple[Graph, Array]],
) -> Callable[..., tuple[Graph, Array]]:
    """Keep the few graphs a process works on, with their decompositions."""
    return lru_cache(maxsize=4)(build)


def signs(labels: NDArray[np.str_], positive: str) -> Array:
    """Return +1 for one class and -1 for the other."""
    return np.where(labels == positive, 1.0, -1.0)

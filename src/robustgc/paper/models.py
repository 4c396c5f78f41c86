"""The paper's four models over their parameter grids, on one label vector."""

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array
from robustgc.linalg.ladder import lambda_1
from robustgc.models.paper import belkin, robust_path, zhou_path
from robustgc.transduction.labels import draw, flip

MODELS = ("ZhouGC", "BelkGC", "RobustGC", "PF-RobustGC")
GRID = 51
ETAS = np.arange(1, GRID + 1) / (GRID + 1)  # evenly spaced, strictly inside (0, 1)
GAMMAS = np.logspace(-5, 5, GRID)


def decisions(graph: Graph, y: Array) -> dict[str, tuple[Array, Array]]:
    """Return, per model, the parameters and the decision values, one column per parameter.

    One decomposition of the graph serves all parameters, label sets and repeats.
    """
    etas = np.append(ETAS, 0.9)
    robust = [solution.f for solution in robust_path(graph, y, etas * lambda_1(graph))]
    zhou = [solution.f for solution in zhou_path(graph, y, GAMMAS)]
    vectors = range(1, min(GRID, graph.n) + 1)
    projected = [belkin(graph, y, n_vectors=p).f for p in vectors]
    return {
        "ZhouGC": (GAMMAS, np.column_stack(zhou)),
        "BelkGC": (np.array(vectors, dtype=float), np.column_stack(projected)),
        "RobustGC": (ETAS, np.column_stack(robust[:-1])),
        "PF-RobustGC": (etas[-1:], robust[-1][:, None]),
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
    nodes = draw(truth, n_labels, rng)
    y = np.zeros(len(truth))
    y[nodes] = flip(truth[nodes], n_wrong, [-1.0, 1.0], rng)[0]
    return y


def signs(labels: NDArray[np.str_], positive: str) -> Array:
    """Return +1 for one class and -1 for the other."""
    return np.where(labels == positive, 1.0, -1.0)

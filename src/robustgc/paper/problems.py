"""The six data sets of Table 1, as the paper's numbers have them.

What the paper leaves unsaid was found by experiment: karate with the factions (16/18), BelkGC on
the normalised Laplacian, digits with pixels in [0, 1], ``exp(-d^2 / sigma^2)`` with no factor 2
and a zero diagonal. The USPS subset and the block-model draw are unknown; draw 1 stands for them
and draws 2 to 5 show the spread.
"""

from functools import lru_cache

import numpy as np

from robustgc.affinity.kinds import Gaussian, Nearest
from robustgc.datasets import fetch_usps, load_karate, load_polblogs, load_polbooks, three_blocks
from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array
from robustgc.paper.models import signs

DATASETS = ("digits49-s", "digits49-w", "karate", "polblogs", "polbooks", "synth")
DRAWN = ("digits49-s", "digits49-w", "synth")  # depend on a subset or draw the paper did not name
DRAWS = 5
SIZES = {"digits49-s": 250, "digits49-w": 250, "karate": 34, "polblogs": 1222, "polbooks": 92,
         "synth": 300}  # fmt: skip
PERCENTS = (1, 2, 5, 10, 20, 50)


def n_labelled(dataset: str, percent: int) -> int:
    """Return how many labels a row has: the floor; 1 becomes 2; 0 means the row is left out."""
    count = SIZES[dataset] * percent // 100
    return 2 if count == 1 else count


@lru_cache(maxsize=4)  # the few graphs a process works on, with their decompositions
def problem(dataset: str, draw: int = 1) -> tuple[Graph, Array]:
    """Return the graph and the truth as +1 / -1."""
    if dataset == "karate":
        data = load_karate()
        return Graph(data.weights), signs(data.labels, "Mr. Hi")
    if dataset == "polbooks":
        data = load_polbooks()
        return Graph(data.weights), signs(data.labels, "liberal")
    if dataset == "polblogs":
        data = load_polblogs()
        return Graph(data.weights), signs(data.labels, "liberal")
    if dataset == "synth":
        data = three_blocks(seed=300 + draw)
        return Graph(data.weights), signs(data.labels, "positive")
    if dataset in DATASETS:
        X, truth = digits(125, draw)
        neighbours, gaussian = Nearest(X, 20), Gaussian(X, 1.25, 1.0, self_loops=False)
        return Graph((neighbours if dataset == "digits49-s" else gaussian).weights()), truth
    raise ValueError(f"{dataset!r} is unknown; the data sets are {', '.join(DATASETS)}.")


def digits(per_class: int, draw: int) -> tuple[Array, Array]:
    """Return images of 4 and 9: one run of consecutive images after the other, training first."""
    data = fetch_usps()
    run = slice(per_class * (draw - 1), per_class * draw)
    nodes = np.concatenate([np.flatnonzero(data.labels == digit)[run] for digit in ("4", "9")])
    assert data.points is not None
    return data.points[nodes], signs(data.labels[nodes], "4")

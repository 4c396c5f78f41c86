"""Figures: the two block models, and robustness of the four models to label noise on them."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

import numpy as np

from robustgc.datasets import two_blocks
from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array
from robustgc.paper.problems import (
    MODELS,
    accuracies,
    best_parameter,
    by_parameter,
    label,
    signs,
)
from robustgc.paper.records import Key, Options, Record, Rows, Store, generator, run, write_csv

CONNECTIVITY = {"low": 0.3, "high": 0.5}
LABELS = (10, 20, 30, 40, 50)
NOISE = (0, 10, 20, 30, 40)
REPEATS = 50  # in the paper


@lru_cache(maxsize=4)  # the few graphs a process works on, with their decompositions
def problem(connectivity: str, seed: int) -> tuple[Graph, Array]:
    """Return one block model of 200 nodes and its truth."""
    data = two_blocks(200, 0.7, CONNECTIVITY[connectivity], seed=seed)
    return Graph(data.weights), signs(data.labels, "positive")


def trial(key: Key) -> list[Record]:
    """Label nodes, flip a share of the labels, fit every model with every parameter."""
    graph, truth = problem(str(key["connectivity"]), int(key["seed"]))
    n, noise = int(key["n_labelled"]), int(key["noise_percent"])
    y = label(truth, n, generator(key), n_wrong=n * noise // 100)
    return accuracies(graph, truth, y)


def compute(options: Options) -> Iterator[tuple[int, int]]:
    """Run the missing trials, then write weights of the graphs and one row per point."""
    folder, seed, repeats = options.folder, options.seed, options.repeats or REPEATS
    edges: list[Record] = []
    for connectivity in CONNECTIVITY:
        W = problem(connectivity, seed)[0].W.tocoo()
        edges += [
            {"connectivity": connectivity, "row": int(i), "column": int(j)}
            for i, j in zip(W.row, W.col, strict=True)
        ]
    write_csv(folder / "blocks.csv", edges)
    keys: list[Key] = [
        {"connectivity": c, "n_labelled": n, "noise_percent": p, "repeat": r, "seed": seed}
        for c, n, p, r in product(CONNECTIVITY, LABELS, NOISE, range(repeats))
    ]
    store = Store(folder / "noise-trials.csv")
    yield from run(trial, keys, store, jobs=options.jobs)
    rows = [r for r in store.read() if int(r["seed"]) == seed and int(r["repeat"]) < repeats]
    write_csv(folder / "noise.csv", summary(rows))


def summary(rows: Rows) -> list[Record]:
    """Return mean, least and greatest accuracy per point, each model at its best parameter."""
    columns = ("connectivity", "n_labelled", "noise_percent")
    table: list[Record] = []
    for where, models in sorted(by_parameter(rows, columns).items()):
        for model in MODELS:
            best = models[model][best_parameter(models[model])]
            table.append({**dict(zip(columns, where, strict=True)),
                          "model": model, "accuracy_mean": round(float(np.mean(best)), 4),
                          "accuracy_min": round(min(best), 4), "accuracy_max": round(max(best), 4),
                          "repeats": len(best)})  # fmt: skip
    return table

"""Figure: accuracy of a model on a subgraph, extended to the rest, against the subgraph's size."""

from collections.abc import Iterator

import numpy as np

from robustgc.affinity.kinds import Gaussian
from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array
from robustgc.linalg.ladder import lambda_1
from robustgc.models.extension import extend
from robustgc.models.paper import robust
from robustgc.paper.problems import digits
from robustgc.paper.records import (
    REPEATS,
    Key,
    Options,
    Record,
    Store,
    generator,
    numbers,
    run,
    write_csv,
)
from robustgc.paper.stats import differs

SIZES = (20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 250, 300, 350, 400, 500, 600, 700, 800,
         900, 1000)  # fmt: skip
N_NODES, N_LABELS, SIGMA = 1000, 10, 5.0


def trial(key: Key) -> list[Record]:
    """Shuffle, label 5 of each class, fit on the first nodes, extend to all others."""
    X, truth = digits(N_NODES // 2, 1)
    rng = generator(key)
    chosen = [rng.permutation(np.flatnonzero(truth == c))[: N_LABELS // 2] for c in (1.0, -1.0)]
    labelled = np.concatenate(chosen)
    others = rng.permutation(np.setdiff1d(np.arange(N_NODES), labelled))
    order = np.concatenate([labelled, others])
    W = Gaussian(X[order], SIGMA, 1.0, self_loops=True).weights()
    y = np.zeros(N_NODES)
    y[:N_LABELS] = truth[labelled]
    records: list[Record] = []
    for size in SIZES:
        f = _extended(W, y, size)
        hits = (np.sign(f) == truth[order])[N_LABELS:]
        records.append({"size": size, "accuracy": float(np.mean(hits)),
                        "out_of_range": int(np.isnan(f).sum())})  # fmt: skip
    return records


def _extended(W: Array, y: Array, size: int) -> Array:
    """Fit PF-RobustGC on the first nodes; NaN where the extension does not reach."""
    graph = Graph(W[:size, :size])
    gamma = 0.9 * lambda_1(graph)
    f = robust(graph, y[:size], gamma=gamma).f
    if size == len(W):
        return f
    rest = extend(graph.d, f, W[size:, :size], 1.0, gamma=gamma)
    return np.concatenate([f, rest])


def compute(options: Options) -> Iterator[tuple[int, int]]:
    """Run the missing trials, then write one row per size."""
    folder, seed, repeats = options.folder, options.seed, options.repeats or REPEATS
    keys: list[Key] = [{"repeat": repeat, "seed": seed} for repeat in range(repeats)]
    store = Store(folder / "outofsample-trials.csv")
    yield from run(trial, keys, store, jobs=options.jobs)
    rows = [r for r in store.read() if int(r["seed"]) == seed and int(r["repeat"]) < repeats]
    rows.sort(key=lambda r: int(r["repeat"]))
    by_size = {s: 100 * np.array(numbers(rows, "accuracy", size=s)) for s in SIZES}
    missed = {s: int(sum(numbers(rows, "out_of_range", size=s))) for s in SIZES}
    full = by_size[N_NODES]
    table: list[Record] = [
        {"size": s, "accuracy_mean": round(float(a.mean()), 4), "accuracy_min": float(a.min()),
         "accuracy_max": float(a.max()), "complete_mean": round(float(full.mean()), 4),
         "complete_min": float(full.min()), "complete_max": float(full.max()),
         "significant": int(differs(a, full)), "out_of_range": missed[s]}
        for s, a in by_size.items()
    ]  # fmt: skip
    write_csv(folder / "outofsample.csv", table)

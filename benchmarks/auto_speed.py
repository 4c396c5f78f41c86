"""How long the default takes on ordinary and hard graphs, relative to a peer's Poisson learning.

    python -m benchmarks auto_speed [ordinary] [many] [hard]

The ordinary graphs are cora, pubmed, amazon-photo and email-Eu-core where they are at hand
(ROBUSTGC_DATA), and block models; 20 labels a class, a fifth of them wrong. Poisson learning of
graphlearning and RobustGC() run in turn, five times; medians are compared. Compiled code is loaded
before. Exits with 1 where a bar is missed.
"""

import gc
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.shared.hard_graphs import HARD, largest, of_edges
from robustgc import RobustGC

REPEATS, SEED = 5, 20_261
TIMES, LEAST, MEAN = (
    10.0,
    0.3,
    5.0,
)  # bars: times Poisson, or seconds where that is more; on average
SLOWEST = 10.0  # seconds, on any graph of up to a million entries
Problem = tuple[str, Any, NDArray[np.int64]]


def block_model(n: int, K: int, seed: int, degree: int = 10, inside: float = 0.7) -> Problem:
    """Draw equal blocks: a share of the edges joins nodes of the same block on purpose."""
    rng = np.random.default_rng(seed)
    y, m = rng.integers(0, K, n), n * degree // 2
    i, j, own = rng.integers(0, n, m), rng.integers(0, n, m), rng.random(m) < inside
    order, sizes = np.argsort(y, kind="stable"), np.bincount(y, minlength=K)
    first = np.concatenate([[0], np.cumsum(sizes)])
    block = y[i[own]]
    j[own] = order[first[block] + (rng.random(own.sum()) * sizes[block]).astype(int)]
    return f"blocks {n:,} x {K}", *largest(of_edges(n, i, j), y)


def real() -> Iterator[Problem]:
    folder = Path(os.environ.get("ROBUSTGC_DATA", Path(__file__).parents[2] / "shared/data"))
    for name in ("cora", "amazon-photo"):
        if (path := folder / "planetoid" / f"{name}.npz").exists():
            stored = np.load(path)
            edges = (
                stored["edges"].reshape(-1, 2)
                if stored["edges"].shape[1] == 2
                else stored["edges"].T
            )
            yield name, *largest(of_edges(len(stored["labels"]), *edges.T), stored["labels"])
    for name in ("pubmed", "email-Eu-core"):
        if (folder / name / "edges.csv").exists():
            nodes = np.loadtxt(folder / name / "labels.csv", dtype=str, delimiter=",", skiprows=1)
            number = {node: k for k, node in enumerate(nodes[:, 0])}
            rows = np.loadtxt(folder / name / "edges.csv", dtype=str, delimiter=",", skiprows=1)
            i, j = (np.array([number[x] for x in rows[:, k]]) for k in (0, 1))
            y = np.unique(nodes[:, 1], return_inverse=True)[1]
            yield name, *largest(of_edges(len(y), i, j), y)


def ordinary() -> Iterator[Problem]:
    yield from real()
    for n in (5_000, 20_000, 100_000):
        for K in (4, 15):
            yield block_model(n, K, SEED + K)


def labels(
    y: NDArray[np.int64], per_class: int, seed: int, wrong: float = 0.2
) -> NDArray[np.int64]:
    rng, K = np.random.default_rng(seed), int(y.max()) + 1
    given = np.full(len(y), -1)
    for c in range(K):
        here = np.flatnonzero(y == c)
        given[rng.choice(here, min(per_class, len(here) // 2), replace=False)] = c
    nodes = np.flatnonzero(given >= 0)
    bad = nodes[rng.random(len(nodes)) < 0.2]
    given[bad] = (given[bad] + rng.integers(1, K, len(bad))) % K
    return given


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def fitted(W: Any, given: Any, **options: Any) -> RobustGC:
    return RobustGC(affinity="precomputed", **options).fit(W, given)


def poisson(W: Any, given: NDArray[np.int64]) -> NDArray[np.int64]:
    import graphlearning

    known = np.flatnonzero(given >= 0)
    codes = np.unique(given[known], return_inverse=True)
    model = graphlearning.ssl.poisson(W)
    return np.asarray(codes[0][model.fit_predict(known, codes[1]).astype(int)])


def run_ordinary() -> bool:
    heads = ("graph", "nodes", "labels", "Poisson, s", "RobustGC(), s", "times", "accuracy, %")
    print(f"| {' | '.join(heads)} | issues / fit | after update |\n|{'---|' * 9}")
    good, large = True, []
    for name, W, y in ordinary():
        given, runs, shares = labels(y, 20, SEED + 1), [], []
        for _ in range(REPEATS):
            peer, theirs = timed(lambda W=W, given=given: poisson(W, given))
            own, clf = timed(lambda W=W, given=given: fitted(W, given))
            report, issues = timed(clf.label_issues)
            clf.update({int(issues.node[0]): issues.classes[0]})
            again, _ = timed(clf.label_issues)
            runs.append((peer, own))
            shares.append((report / own, again / own))
        peer, own = (statistics.median(column) for column in zip(*runs, strict=True))
        report, again = (statistics.median(column) for column in zip(*shares, strict=True))
        rest = given < 0
        right = [100 * np.mean(found[rest] == y[rest]) for found in (theirs, clf.transduction_)]
        met = own <= max(TIMES * peer, LEAST) and report <= 0.2 and again <= 0.3
        good &= met
        if len(y) > 10_000:
            large.append(own / peer)
        cells = (name, f"{len(y):,}", f"{int((~rest).sum())}", f"{peer:.3f}", f"{own:.3f}")
        cells += (f"{own / peer:.1f}", f"{right[0]:.1f} / {right[1]:.1f}")
        print(f"| {' | '.join(cells)} | {report:.2f} | {again:.2f} |{'' if met else ' MISSED'}")
        sys.stdout.flush()
    mean = float(np.exp(np.mean(np.log(large))))
    print(f"\nGeometric mean above 10,000 nodes: {mean:.1f} times (asked: {MEAN:.0f})\n")
    return good and mean <= MEAN


def run_many() -> bool:
    """Many labels: 5,000 on 100,000 nodes, relative to the paper's model; all nodes of cora."""
    _, W, y = block_model(100_000, 10, SEED + 3)
    given = labels(y, 500, SEED + 4)
    runs = []
    for _ in range(3):
        paper, _ = timed(lambda: fitted(W, given, eta=0.9, n_modes=1))
        runs.append((paper, timed(lambda: fitted(W, given))[0]))
    paper, own = (statistics.median(column) for column in zip(*runs, strict=True))
    ratio = f"{own / paper:.1f} fits of the paper's model (asked: 20)"
    print(f"100,000 nodes, 5,000 labels, 10 classes: {own:.1f} s, {ratio}")
    good = own <= 20 * paper
    for name, W, y in real():
        if name == "cora":
            own = statistics.median(timed(lambda W=W, y=y: fitted(W, y))[0] for _ in range(3))
            print(f"cora, all {len(y):,} nodes labelled: {own:.1f} s (asked: 5)")
            good &= own <= 5
    return good


def run_hard() -> bool:
    heads = ("graph, up to 500 labels", "nodes", "entries", "RobustGC(), s", "CPU, s")
    print(f"\n| {' | '.join(heads)} | accuracy, % |\n|{'---|' * 6}")
    good = True
    for name, draw in HARD.items():
        W, y = draw()
        given, before = labels(y, 25, SEED + 2), time.process_time()
        seconds, clf = timed(lambda W=W, given=given: fitted(W, given))
        used, rest = time.process_time() - before, given < 0
        good &= seconds <= SLOWEST
        met = "" if seconds <= SLOWEST else f" above {SLOWEST:.0f}"
        right = 100 * np.mean(clf.transduction_[rest] == y[rest])
        cells = (name, f"{len(y):,}", f"{W.nnz:,}", f"{seconds:.1f}{met}", f"{used:.1f}")
        print(f"| {' | '.join(cells)} | {right:.1f} |", flush=True)
    return good


def main() -> None:
    warnings.simplefilter("ignore")
    parts = {"ordinary": run_ordinary, "many": run_many, "hard": run_hard}
    asked = sys.argv[1:] or list(parts)
    for n in (2_000, 40_000):  # compiles
        _, W, y = block_model(n, 3, SEED + 5)
        fitted(W, labels(y, 20, SEED)).label_issues()
    sys.exit(0 if all([parts[name]() for name in asked]) else 1)


if __name__ == "__main__":
    main()

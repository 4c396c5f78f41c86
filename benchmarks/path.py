"""The same graph: 51 etas against one, and the whole against its bare products."""

import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.block_model import graph
from benchmarks.shared.cases import noisy_labels
from benchmarks.shared.verdict import verdict
from robustgc import CSR, Graph, robust_path

TOL = 1e-5


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> list[tuple[str, bool]]:
    print("\n## The same graph: the path of etas, and the bare product\n")
    n = 10**6
    W = graph(n, 10**7, seed=2017)
    y = noisy_labels(n, 100, 30, seed=2029)
    signs = np.where(y < 0, 0.0, 2.0 * y - 1)
    known = Graph(W)
    rows = CSR.from_scipy(W)
    block = np.random.default_rng(11).standard_normal((n, 2)).astype(np.float32)
    etas = np.linspace(0.01, 0.99, 51)
    # The largest eta is the hardest: both runs answer it.
    one = partial(robust_path, known, signs, etas=[0.99], tol=TOL)
    many = partial(robust_path, known, signs, etas=etas, tol=TOL)
    products = one()[0].n_iter
    times = {"one": [], "many": [], "bare": []}
    for _ in range(15):
        times["one"].append(timed(one))
        times["bare"].append(timed(lambda: rows @ block))
        times["many"].append(timed(many))
    single, path, bare = (statistics.median(times[k]) for k in ("one", "many", "bare"))
    print("| what | s |\n|---|---|")
    print(f"| one eta (0.99), lambda_1 included, {products} products | {single:.3f} |")
    print(f"| 51 etas from 0.01 to 0.99, lambda_1 included | {path:.3f} |")
    print(f"| one bare product, two columns in single precision | {bare:.4f} |")
    # Ratios round by round, since the machine's speed drifts; then their median.
    rounds = list(zip(times["one"], times["many"], times["bare"], strict=True))
    growth = statistics.median(m / o for o, m, _ in rounds)
    ratio = statistics.median(o / (products * b) for o, _, b in rounds)
    return [
        (f"51 etas cost {growth:.2f} of one (asked: at most 1.3)", growth <= 1.3),
        (f"time is {ratio:.2f} of {products} bare products (asked: at most 1.5)", ratio <= 1.5),
    ]


if __name__ == "__main__":
    verdict(main())

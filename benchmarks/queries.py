"""Which node to label next: `suggest_queries` against random choice on polbooks, polblogs, cora.

From two labels a class, a label at a time (a batch on the larger graphs); accuracy on the nodes
that stay unlabelled, mean over all steps and draws. Usage:
`python -m benchmarks queries [DRAWS]`; five minutes.
"""

import os
import sys

import numpy as np
from numpy.typing import NDArray

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.noise.data import LOADERS, Problem
from robustgc import RobustGC

DRAWS = int(sys.argv[1]) if len(sys.argv) > 1 else 10
PLAN = {"polbooks": (10, 1), "polblogs": (10, 1), "cora": (8, 7)}  # steps, labels a step


def start(problem: Problem, rng: np.random.Generator) -> NDArray[np.int64]:
    y = np.full(len(problem.y), -1)
    for k in np.unique(problem.y):
        mine = rng.permutation(np.flatnonzero(problem.y == k))[:2]
        y[mine] = k
    return y


def curve(problem: Problem, y: NDArray[np.int64], ask: bool, seed: int, name: str) -> float:
    steps, batch = PLAN[name]
    rng, y, found = np.random.default_rng([seed, 97]), y.copy(), []
    for _ in range(steps):
        clf = RobustGC(affinity="precomputed").fit(problem.W, y)
        if ask:
            nodes = clf.suggest_queries(batch)
        else:
            nodes = rng.choice(np.flatnonzero(y < 0), batch, replace=False)
        y[nodes] = problem.y[nodes]
        clf = RobustGC(affinity="precomputed").fit(problem.W, y)
        rest = y < 0
        found.append(float(np.mean(clf.transduction_[rest] == problem.y[rest])))
    return float(np.mean(found))


def main() -> None:
    print(f"{'graph':<10}{'asked':>8}{'random':>8}   wins of {DRAWS} draws")
    for name in PLAN:
        problem = LOADERS[name](name)
        pairs = []
        for draw in range(DRAWS):
            y = start(problem, np.random.default_rng([draw + 3, 131]))
            pairs.append([curve(problem, y, ask, draw + 3, name) for ask in (True, False)])
        asked, random = np.array(pairs).T
        wins = int((asked > random).sum())
        print(f"{name:<10}{asked.mean():>8.1%}{random.mean():>8.1%}   {wins}", flush=True)


if __name__ == "__main__":
    main()

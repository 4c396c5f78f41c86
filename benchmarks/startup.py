"""What a first fit of a process costs, its imports included, here and in another checkout.

Medians of five processes each, in CPU seconds, after one that fills the caches. Usage, a minute:

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks startup [OTHER_CHECKOUT]
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parents[1]
FIT = """
import numpy as np
import scipy.sparse as sp
from robustgc import RobustGC
rng, n = np.random.default_rng(59), {n}
block = np.arange(n) % 3
i, j = rng.integers(n, size=(2, 12 * n))
near = rng.random(12 * n) < np.where(block[i] == block[j], 0.6, 0.1)
W = sp.coo_array((np.ones(near.sum()), (i[near], j[near])), shape=(n, n)).tocsr()
W = W + W.T
W.data[:] = 1.0
y = np.where(rng.random(n) < max(0.02, 40 / n), block, -1)
RobustGC(affinity="precomputed").fit(W, y)
"""
PROGRAMS = {
    "import robustgc": "import robustgc",
    "from robustgc import RobustGC": "from robustgc import RobustGC",
    "first fit, 200 nodes": FIT.format(n=200),
    "first fit, 2,500 nodes": FIT.format(n=2_500),
    "first fit, 100,000 nodes": FIT.format(n=100_000),
}


def seconds(program: str, checkout: Path) -> float:
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-W", "ignore", "-c", program]
    subprocess.run(command, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    checkouts = [HERE, *map(Path, sys.argv[1:])]
    print(f"{'CPU seconds':<32}" + "".join(f"{path.resolve().name:>12}" for path in checkouts))
    for name, program in PROGRAMS.items():
        found = []
        for checkout in checkouts:
            seconds(program, checkout)
            found.append(float(np.median([seconds(program, checkout) for _ in range(5)])))
        print(f"{name:<32}" + "".join(f"{value:>12.3f}" for value in found))


if __name__ == "__main__":
    main()

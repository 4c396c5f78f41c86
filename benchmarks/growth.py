"""Time and memory per edge from 1e5 to 1e8 edges, each in a process of its own; plotted.

Memory is the peak of what the fit allocates (tracemalloc), with the weights that it maps.
"""

import json
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np

from benchmarks.shared.cases import block_edges, noisy_labels
from benchmarks.shared.verdict import verdict

HERE = Path(__file__).parent
SIZES = [10**5, 10**6, 10**7, 10**8]
DEGREE = 20


def measure(edges: int, folder: str) -> None:
    """Build and fit; print what it took."""
    from robustgc import CSR, RobustGC, build_csr

    clf = RobustGC(0.9, n_modes=1, affinity="precomputed")
    for size, path in ((20_000, f"{folder}/warm"), (edges, f"{folder}/graph")):
        n = 2 * size // DEGREE
        pairs = block_edges(n, size + size // 100, seed=2017)
        build_csr(pairs, path, n_nodes=n, duplicates="drop")
        graph = CSR.open(path)
        y = noisy_labels(n, max(100, n // 10_000), max(30, n * 3 // 100_000), seed=2029)
        seconds = []
        for _ in range(3 if size <= 10**7 else 1):
            start = time.perf_counter()
            clf.fit(graph, y)
            seconds.append(time.perf_counter() - start)
    tracemalloc.start()
    clf.fit(graph, y)
    memory = tracemalloc.get_traced_memory()[1] + graph.nbytes
    found = {"seconds": float(np.median(seconds)), "memory": memory, "edges": graph.nnz // 2}
    print(json.dumps({**found, "solver": clf.solver_}))


def main() -> list[tuple[str, bool]]:
    print("\n## Growth: two-block models of mean degree 20\n")
    print("| edges | fit, s | ns per edge | bytes per edge | solver |\n|---|---|---|---|---|")
    rows = []
    (HERE / "data").mkdir(exist_ok=True)
    for size in SIZES:
        with tempfile.TemporaryDirectory(dir=HERE / "data") as place:
            command = [sys.executable, "-m", "benchmarks.growth", str(size), place]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        found = json.loads(done.stdout.splitlines()[-1])
        edges = found["edges"]
        row = (edges, 1e9 * found["seconds"] / edges, found["memory"] / edges)
        rows.append(row)
        print(f"| {edges:,} | {found['seconds']:.2f} | {row[1]:.0f} | {row[2]:.1f} | "
              f"{found['solver']} |", flush=True)  # fmt: skip
    draw(rows)
    times, sizes = [row[1] for row in rows], [row[2] for row in rows]
    return [
        (f"time per edge within {max(times) / min(times):.1f}x (asked: 3)",
         max(times) <= 3 * min(times)),
        (f"memory per edge within {max(sizes) / min(sizes):.1f}x (asked: 3)",
         max(sizes) <= 3 * min(sizes)),
    ]  # fmt: skip


def draw(rows: list[tuple[int, float, float]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    edges = [row[0] for row in rows]
    for axis, column, name in zip(axes, (1, 2), ("ns per edge", "bytes per edge"), strict=True):
        axis.plot(edges, [row[column] for row in rows], "o-")
        axis.set(xscale="log", xlabel="edges", ylabel=name, ylim=(0, None))
        axis.grid(alpha=0.3)
    figure.suptitle("One fit of RobustGC(eta=0.9) on a two-block model")
    figure.savefig(HERE / "growth.png", dpi=110)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        measure(int(sys.argv[1]), sys.argv[2])
    else:
        verdict(main())

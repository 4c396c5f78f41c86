"""A billion edges on one machine: build the graph on disk, fit, print accuracy and certificate.

Usage: `python -m benchmarks billion [EDGES] [FOLDER]`; tens of GB of disk, 20 GiB of memory, a
quarter of an hour. Building and fitting are two processes, so that each has a peak of its own.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.shared.cases import block_edges, noisy_labels, truth

SEED, LABEL_SEED = 2027, 2029
DEGREE = 40


def build(edges: int, folder: str) -> None:
    from robustgc import build_csr

    n = 2 * edges // DEGREE
    start = time.perf_counter()
    graph = build_csr(
        block_edges(n, edges + edges // 100_000, SEED), folder, n_nodes=n, duplicates="drop"
    )
    seconds = time.perf_counter() - start
    _say(f"built {n:,} nodes, {graph.nnz // 2:,} edges, {graph.nbytes / 2**30:.2f} GiB on disk "
         f"in {seconds:.0f} s")  # fmt: skip


def fit(folder: str) -> None:
    from robustgc import CSR, RobustGC, estimate

    graph = CSR.open(folder)
    n = graph.shape[0]
    labels = max(100, n // 50_000)
    y = noisy_labels(n, labels, 3 * labels // 10, LABEL_SEED)
    _say(f"estimate: {estimate(graph, auto=False)}")
    start = time.perf_counter()
    clf = RobustGC(0.9, n_modes=1, affinity="precomputed", verbose=sys.stderr.isatty()).fit(
        graph, y
    )
    seconds = time.perf_counter() - start
    accuracy = float((clf.transduction_ == truth(n)).mean())
    _say(f"fit: {seconds:.0f} s with {labels} labels, {3 * labels // 10} of them wrong")
    _say(f"accuracy {accuracy:.4f}")
    _say(f"certificate: lambda_1 {clf.lambda_1_:.9g} (residual {clf.eigen_residual_:.1e}), gamma "
         f"{clf.gamma_:.9g}, condition bound {clf.condition_bound_:.4g}, residual "
         f"{clf.residual_:.1e}")  # fmt: skip
    for attempt in clf.history_:
        _say(f"  {attempt.solver}: {attempt.reason}: {attempt.result}, {attempt.seconds:.0f} s")
    _say(json.dumps({"edges": graph.nnz // 2, "seconds": seconds, "accuracy": accuracy}))


def _say(text: str) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"[{peak:6.2f} GiB] {text}", flush=True)


def main() -> None:
    edges = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**9
    folder = sys.argv[2] if len(sys.argv) > 2 else "benchmarks/data/billion"
    steps = {"build": lambda: build(edges, folder), "fit": lambda: fit(folder)}
    if len(sys.argv) > 3:
        steps[sys.argv[3]]()
        return
    for step in steps:
        if step == "build" and Path(folder).exists():
            print(f"{folder} is there already")
            continue
        words = [sys.executable, "-m", "benchmarks.billion", str(edges), folder, step]
        subprocess.run(words, check=True)


if __name__ == "__main__":
    main()

"""One fit on the ranks that mpiexec has started, for `python -m benchmarks mpi`.

Arguments: a graph folder, a file of labels, "paper" or "auto", repeats. Rank 0 prints JSON: the
seconds of the slowest rank, the best of the repeats; lambda_1; bytes and times of every rank.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from robustgc.estimators.fits import GraphProblem
from robustgc.graph.laplacian import operator
from robustgc.linalg.ladder import SolverOptions
from robustgc.models.parameters import Parameters
from robustgc.mpi.fit import fit_problem
from robustgc.mpi.graph import DistributedGraph
from robustgc.mpi.halo import Halo
from robustgc.mpi.reading import read_share
from robustgc.mpi.world import world
from robustgc.transduction.labels import encode

PRODUCTS = 20


def main(folder: Path, label_file: Path, kind: str, repeats: int) -> None:
    comm = world()
    y = np.load(label_file)
    nodes = np.flatnonzero(y >= 0)
    labels = encode(y[nodes], n_nodes=len(nodes))
    model = Parameters(0.9, 1, False) if kind == "paper" else Parameters(None, None, False)
    problem = GraphProblem(None, nodes, labels, np.ones(len(nodes)), model)
    before = psutil.Process().memory_info().rss
    runs = []
    for _ in range(repeats):
        comm.Barrier()
        start = time.perf_counter()
        share = read_share(folder, comm).share
        read = time.perf_counter() - start
        fitted = fit_problem(share, problem, SolverOptions())
        comm.Barrier()
        runs.append((time.perf_counter() - start, read))
    certificate = max(fitted.answer.certificates.values(), key=lambda c: c.n_nodes)
    codes = comm.gather(fitted.answer.codes)
    del fitted, share
    halo = Halo(read_share(folder, comm).share)
    mine = {
        "rows": int(halo.W.nbytes),
        "exchange": int(halo.nbytes - halo.W.nbytes),
        "ghosts": len(halo.ghosts),
        "peak": int(_peak() - before),
        "product": _product(DistributedGraph(read_share(folder, comm).share)),
    }
    every = comm.gather(mine)
    if comm.rank == 0:
        seconds, reading = min(runs)
        found = {
            "seconds": seconds,
            "reading": reading,
            "lambda_1": certificate.lambda_1,
            "history": [f"{a.solver}: {a.result}, {a.seconds:.2f} s" for a in certificate.history],
            "sum": int(np.concatenate(codes).sum()),
            "ranks": every,
        }
        print(json.dumps(found))


def _peak() -> float:
    """Return the most memory that this process has had."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def _product(graph: Any) -> dict[str, float]:
    """Return the seconds of a product with one column in single precision, and of its exchange."""
    L = operator(graph, "float32")
    u = np.ones((graph.rows, 1), dtype=np.float32)
    out = np.empty_like(u)
    times = []
    for work in (lambda: L.multiply(u, out), lambda: graph.halo.with_halo(u)):
        work()
        graph.comm.Barrier()
        start = time.perf_counter()
        for _ in range(PRODUCTS):
            work()
        graph.comm.Barrier()
        times.append((time.perf_counter() - start) / PRODUCTS)
    return {"all": times[0], "exchange": times[1]}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))

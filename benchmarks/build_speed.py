"""How many stored entries build_csr writes per second.

Usage: `python -m benchmarks build_speed [EDGES] [FOLDER]`.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from robustgc import build_csr

CHUNK = 2**20


def chunks(edges, nodes, spent):
    rng = np.random.default_rng(7)
    for start in range(0, edges, CHUNK):
        began = time.perf_counter()
        pair = rng.integers(0, nodes, (2, min(CHUNK, edges - start)))
        spent[0] += time.perf_counter() - began
        yield pair[0], pair[1]


def main():
    edges = int(float(sys.argv[1])) if len(sys.argv) > 1 else 50_000_000
    place = Path(tempfile.mkdtemp(dir=sys.argv[2] if len(sys.argv) > 2 else None))
    try:
        build_csr([(np.array([0]), np.array([1]))], place / "compile", duplicates="drop")
        build_csr(chunks(10**6, 10**5, [0.0]), place / "warm", duplicates="drop")
        spent = [0.0]
        began, worked = time.perf_counter(), time.process_time()
        graph = build_csr(chunks(edges, edges // 10, spent), place / "graph", duplicates="drop")
        seconds = time.perf_counter() - began - spent[0]
        work = time.process_time() - worked - spent[0]
        print(
            f"{graph.nnz} entries in {seconds:.1f} s, {graph.nnz / seconds / 1e6:.1f} million/s; "
            f"processor time {work:.1f} s"
        )
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()

"""A text file of 10 million edges: reading against fitting, and the memory of both.

Two minutes. Each part runs in a process of its own, so that peaks are its own. Bars: reading
takes no longer than the fit, everything together at most twice the fit, and reading no more memory
than three times the graph that comes out (beyond what the libraries take).
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

NODES, EDGES, LABELS, SEED = 1_000_000, 10_000_000, 100, 4099


def write(folder: Path) -> None:
    """Write two blocks, 90 % of the edges inside, every edge once, and some labels."""
    import pyarrow as pa
    import pyarrow.csv as pc

    rng = np.random.default_rng(SEED)
    side = rng.integers(0, 2, EDGES)
    other = np.where(rng.random(EDGES) < 0.9, side, 1 - side)
    ends = rng.integers(0, NODES // 2, (2, EDGES)) * 2 + [side, other]
    _, once = np.unique(ends.min(axis=0) * NODES + ends.max(axis=0), return_index=True)
    ends = ends[:, np.sort(once)]
    ends = ends[:, ends[0] != ends[1]]
    pc.write_csv(pa.table({"source": ends[0], "target": ends[1]}), folder / "edges.csv")
    nodes = rng.choice(NODES, LABELS, replace=False)
    names = np.where(nodes % 2, "odd", "even")
    pc.write_csv(pa.table({"node": nodes, "label": names}), folder / "labels.csv")


def peak() -> float:
    """Return the most memory that this process had, in MiB (Linux; ru_maxrss is the parent's)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measure(folder: Path, whole: bool) -> dict[str, float]:
    from robustgc.cli.options import DataOptions
    from robustgc.cli.shared import fit
    from robustgc.io.graph_files import read_graph
    from robustgc.io.rows import assemble

    two = np.array([0, 1], dtype=np.int32)
    assemble(two, two[::-1].copy(), range(2))  # load the libraries, compile the loops
    before, start = peak(), time.perf_counter()
    if not whole:
        graph = read_graph(folder / "edges.csv")
        seconds = time.perf_counter() - start
        return {"reading": seconds, "beyond": peak() - before, "csr": graph.W.nbytes / 2**20}
    data = DataOptions(edges=folder / "edges.csv", labels=str(folder / "labels.csv"))
    result, times = fit(data, quiet=True)
    result.write(folder / "predictions.csv")
    total = time.perf_counter() - start
    return {
        "reading": times["reading"],
        "fit": times["fit"],
        "total": total,
        "peak": peak(),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder)
        found = []
        for part in ("read", "read", "whole"):  # the first run fills the caches
            words = [sys.executable, "-m", "benchmarks.files", part, place]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            found.append(json.loads(done.stdout))
    _, read, whole = found
    print(f"{'reading the edges':<26}{read['reading']:7.1f} s, {read['beyond']:.0f} MiB beyond the")
    print(f"{'':<26}libraries for a graph of {read['csr']:.0f} MiB")
    print(f"{'reading for classify':<26}{whole['reading']:7.1f} s")
    print(f"{'fit':<26}{whole['fit']:7.1f} s")
    print(f"{'everything':<26}{whole['total']:7.1f} s, peak {whole['peak']:.0f} MiB")
    print(f"reading / fit {whole['reading'] / whole['fit']:.2f} (asked: at most 1)")
    print(f"everything / fit {whole['total'] / whole['fit']:.2f} (asked: at most 2)")
    print(f"memory of reading / graph {read['beyond'] / read['csr']:.1f} (asked: at most 3)")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(Path(sys.argv[2]), sys.argv[1] == "whole")))
    else:
        main()

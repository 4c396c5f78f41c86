"""Ranks against one machine: time, memory per rank, a rank that dies.

In the environment of the MPI tests, which `make test-mpi` makes; five minutes:

    . .venv-mpi/environment && .venv-mpi/bin/python -m benchmarks mpi

Ratios of one run: the engine of one machine on two threads, then two ranks with one thread each, on
the same folder. Then the cost model of docs/cluster.md from what was measured.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.block_model import graph as blocks
from benchmarks.grid import grid
from benchmarks.shared.cases import noisy_labels
from robustgc import CSR, RobustGC

NODES, EDGES, SIDE, REPEATS = 1_000_000, 10_000_000, 1000, 3


def main(scale: float = 1.0) -> None:
    nodes, side = int(NODES * scale), int(SIDE * scale**0.5)
    with tempfile.TemporaryDirectory(prefix="bench-mpi-") as name:
        home = Path(name)
        _stored(home / "blocks", blocks(nodes, int(EDGES * scale), 20181))
        np.save(home / "blocks.npy", noisy_labels(nodes, 100, 30, 77))
        _stored(home / "grid", grid(side))
        np.save(home / "grid.npy", _halves(side))
        print(f"{'work':<34}{'one machine':>12}{'2 ranks':>9}{'ratio':>7}  bar")
        _against(home, "blocks", "paper", "block model, eta = 0.9", "1.5")
        _against(home, "blocks", "auto", "block model, auto", "-")
        _against(home, "grid", "paper", "grid, eta = 0.9", "1.5")
        model("grid", side**2, _memory(home, "grid"))
        predict(model("blocks", nodes, _memory(home, "blocks")))
        _killed(home)


def _stored(folder: Path, W: Any) -> None:
    (W if isinstance(W, CSR) else CSR.from_scipy(W)).save(folder)


def _halves(side: int) -> Any:
    """Label 100 nodes of a grid by its halves, 20 of them wrongly."""
    rng = np.random.default_rng(911)
    nodes = rng.choice(side * side, 100, replace=False)
    y = np.full(side * side, -1)
    y[nodes] = nodes % side > side // 2
    y[nodes[:20]] = 1 - y[nodes[:20]]
    return y


def _against(home: Path, graph: str, kind: str, text: str, bar: str) -> None:
    y = np.load(home / f"{graph}.npy")
    options = {"eta": 0.9, "n_modes": 1} if kind == "paper" else {}
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        one = RobustGC(affinity="precomputed", **options).fit(CSR.open(home / graph), y)
        times.append(time.perf_counter() - start)
    many = ranks(2, home, graph, kind, REPEATS)
    ratio = many["seconds"] / min(times)
    print(f"{text:<34}{min(times):>10.2f} s{many['seconds']:>7.2f} s{ratio:>7.2f}  {bar}")
    print(f"    one machine: {'; '.join(f'{a.solver}: {a.result}' for a in one.history_)}")
    print(f"    2 ranks:     {'; '.join(many['history'])}; reading {many['reading']:.2f} s")
    off = abs(many["lambda_1"] / one.lambda_1_ - 1)
    same = many["sum"] == int(np.searchsorted(one.classes_, one.transduction_).sum())
    print(f"    lambda_1 {many['lambda_1']:.9e}, relative difference {off:.1e}; sums of classes "
          f"{'equal' if same else 'differ'}")  # fmt: skip


def ranks(n: int, home: Path, graph: str, kind: str, repeats: int) -> dict[str, Any]:
    """Run one fit on n ranks of one thread each."""
    words = ["mpiexec", "-n", str(n), sys.executable, "-m", "benchmarks.shared.mpi_ranks"]
    words += [str(home / graph), str(home / f"{graph}.npy"), kind, str(repeats)]
    environment = {**os.environ, "ROBUSTGC_NUM_THREADS": "1"}
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _memory(home: Path, graph: str) -> dict[int, dict[str, Any]]:
    """Print the memory of a rank for 1, 2, 4 ranks; return what they measured."""
    print(f"\n{graph}: memory of the largest rank (MB)")
    print(f"{'ranks':>6}{'rows':>9}{'exchange':>10}{'graph':>9}{'x ranks':>9}{'peak':>9}")
    measured = {}
    for n in (1, 2, 4):
        measured[n] = ranks(n, home, graph, "paper", 1)
        worst = {k: max(r[k] for r in measured[n]["ranks"]) / 1e6 for k in ("rows", "exchange",
                 "peak")}  # fmt: skip
        whole = worst["rows"] + worst["exchange"]
        if n == 1:
            one = whole
        print(f"{n:>6}{worst['rows']:>9.1f}{worst['exchange']:>10.1f}{whole:>9.1f}"
              f"{n * whole / one:>9.2f}{worst['peak']:>9.0f}")  # fmt: skip
    return measured


def model(name: str, n: int, measured: dict[int, dict[str, Any]]) -> float:
    """Fit the cost model: seconds of a product = row bytes / stream + halo bytes / exchange.

    Returns the bytes of rows per second that each of two ranks goes through.
    """
    one = measured[1]["ranks"][0]
    stream = one["rows"] / one["product"]["all"]
    print(f"{name}: a product on 1 rank {1e3 * one['product']['all']:.1f} ms: "
          f"{stream / 1e9:.2f} GB/s of rows")  # fmt: skip
    for ranks_ in (2, 4):
        mine = max(measured[ranks_]["ranks"], key=lambda r: r["product"]["all"])
        halo = 4 * mine["ghosts"]
        work = mine["product"]["all"] - mine["product"]["exchange"]
        print(f"  {ranks_} ranks: {1e3 * mine['product']['all']:.1f} ms, of which exchange "
              f"{1e3 * mine['product']['exchange']:.2f} ms for {halo / 1e6:.2f} MB (halo "
              f"{mine['ghosts'] / (n / ranks_):.2f} of the rows), rows "
              f"{mine['rows'] / work / 1e9:.2f} GB/s")  # fmt: skip
        if ranks_ == 2:
            stream = mine["rows"] / work
    return stream


def predict(stream: float) -> None:
    """Print what the model says of 100 billion edges on 64 machines, with what it assumes."""
    edges, nodes, machines, cores, network = 100e9, 5e9, 64, 64, 12.5e9
    products, columns = 25, 2  # the labels of two classes, and the random vector beside them
    rows = 4 * 2 * edges / machines
    entries = 2 * edges / machines
    print(f"\n{edges:.0e} edges, {nodes:.0e} nodes, {machines} machines of {cores} cores:")
    print(
        f"  assumed {network / 1e9:.1f} GB/s of network, {stream / 1e9:.2f} GB/s of rows per core"
    )
    for text, leaving in (("nodes in random order", 1.0), ("one entry in ten leaves", 0.1)):
        ghosts = nodes * (1 - np.exp(-leaving * entries / nodes))
        product = rows / (stream * cores)
        halo = 4 * columns * ghosts / network
        memory = rows + 16 * ghosts + nodes / machines * 4 * (products + 12) * columns
        total = products * (product + halo)
        print(f"  {text}: {ghosts:.2e} values from other machines; rows {product:.2f} s, exchange "
              f"{halo:.2f} s a product; {products} products {total:.0f} s; "
              f"{memory / 1e9:.0f} GB a machine")  # fmt: skip


def _killed(home: Path) -> None:
    """Kill a rank of a real command in the middle; then run the command again."""
    labels, y = home / "labels.csv", np.load(home / "grid.npy")
    rows = [f"{node},{y[node]}" for node in np.flatnonzero(y >= 0)]
    labels.write_text("node,label\n" + "\n".join(rows) + "\n")
    out = home / "answers"
    words = ["mpiexec", "-n", "2", str(Path(sys.executable).with_name("robustgc")), "classify"]
    words += [str(home / "grid"), "--labels", str(labels), "-o", str(out), "--engine", "mpi"]
    job = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not list(Path(f"{out}.checkpoint").glob("**/*")) and job.poll() is None:
        time.sleep(0.05)
    time.sleep(0.5)
    started = psutil.Process(job.pid).children(recursive=True)
    victims = [p for p in started if "classify" in p.cmdline() and "mpiexec" not in p.name()]
    victims[-1].send_signal(signal.SIGKILL)
    start = time.perf_counter()
    _, said = job.communicate(timeout=100)
    print(f"\na rank killed: the job ended after {time.perf_counter() - start:.1f} s with code "
          f"{job.returncode} (bar 30 s); it said:")  # fmt: skip
    print("\n".join(f"    {line}" for line in said.splitlines() if line.strip())[:1500])
    again = subprocess.run(words, capture_output=True, text=True, check=False)
    print(f"the same command again: code {again.returncode}")
    print("\n".join(f"    {line}" for line in again.stderr.splitlines() if line.strip())[:1500])


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))

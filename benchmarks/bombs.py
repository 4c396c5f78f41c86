"""Files made to do harm, or only large: memory and time of reading them, and what is said.

``python -m benchmarks bombs [--src FOLDER] [NAME ...]``; ``--src`` measures other code, such as an
older checkout's ``src``. Every file is read by a process of its own, which is stopped after two
minutes; its peak is what the system has counted (``wait4``), about 200 MB of which are libraries.
Code from before the limits takes 20 GB for ``nodes-claimed``: leave it out on a shared machine.
"""

import argparse
import gzip
import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

SIZE, SEED, PATIENCE = 200_000_000, 4231, 120
RUN = """
import sys
from pathlib import Path
import typer
from robustgc.cli.messages import guarded
from robustgc.io.graph_files import read_graph
try:
    with guarded():
        graph = read_graph(Path(sys.argv[1]))
except typer.Exit as end:
    sys.exit(end.exit_code)
nodes, entries = len(graph.names), graph.W.nnz
need = 8 * nodes + entries * (4 if getattr(graph.W, "data", None) is None else 12)
print(f"{nodes} nodes, {entries} entries, which need {need / 1e6:.0f} MB")
"""


def _zeros(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=6) as file:
        for _ in range(SIZE // 10**6):
            file.write(bytes(10**6))


def _letters(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=6) as file:
        for _ in range(SIZE // 10**6):
            file.write(b"?" * 10**6)


def _same_rows(path: Path) -> None:
    with path.open("wb") as file:
        for _ in range(SIZE // 10**6):
            file.write(b"ab,bc\nbc,cd\n" * (10**6 // 12))


def _packed_rows(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=6) as file:
        for _ in range(SIZE // 10**6):
            file.write(b"ab,bc\nbc,cd\n" * (10**6 // 12))


def _rows(path: Path, name: bytes) -> None:
    """Write edges between a million nodes, every pair once."""
    step, count, written = 7919, 10**6, 0
    with path.open("wb") as file:
        for k in range(1, 10**6):
            lines = [
                b"%s%d,%s%d\n" % (name, i, name, (i + k * step) % count) for i in range(0, count, 3)
            ]
            written += file.write(b"".join(lines))
            if written > SIZE:
                return


def _numbers(path: Path) -> None:
    _rows(path, b"")


def _names(path: Path) -> None:
    _rows(path, b"node")


def _header(shape: str, kind: str) -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def _matrix(path: Path) -> None:
    """Write a sparse matrix of 50 million nodes without an entry: 195 KB."""
    nodes = SIZE // 4
    parts = {
        "format": (_header("()", "|S3"), b"csr"),
        "shape": (_header("(2,)", "<i8"), nodes.to_bytes(8, "little") * 2),
        "data": (_header("(0,)", "<f8"), b""),
        "indices": (_header("(0,)", "<i4"), b""),
        "indptr": (_header(f"({nodes + 1},)", "<i4"), None),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, (head, body) in parts.items():
            with file.open(f"{name}.npy", "w") as member:
                member.write(head)
                if body is None:
                    for _ in range(nodes // 10**6):
                        member.write(bytes(4 * 10**6))
                    member.write(bytes(4))
                else:
                    member.write(body)


def _claim(path: Path) -> None:
    path.write_bytes(
        b"%%MatrixMarket matrix coordinate real symmetric\n1000000000 1000000000 5\n"
        b"2 1 1\n3 2 1\n4 3 1\n5 4 1\n1000000000 5 1\n"
    )


def _entries(path: Path) -> None:
    path.write_bytes(
        b"%%MatrixMarket matrix coordinate real symmetric\n5 5 1000000000\n2 1 1\n3 2 1\n"
    )


BOMBS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "zeros": ("zeros.csv.gz", _zeros),
    "letters": ("letters.gml.gz", _letters),
    "packed-rows": ("rows.csv.gz", _packed_rows),
    "same-rows": ("rows.csv", _same_rows),
    "numbers": ("numbers.csv", _numbers),
    "names": ("names.csv", _names),
    "matrix": ("matrix.npz", _matrix),
    "nodes-claimed": ("nodes.mtx", _claim),
    "entries-claimed": ("entries.mtx", _entries),
}


def measure(path: Path, source: Path) -> tuple[float, float, int, str]:
    """Return the seconds, the peak in MB, the exit code and what was said."""
    with tempfile.TemporaryFile() as said:
        words = [sys.executable, "-c", RUN, str(path)]
        start = time.perf_counter()
        env = {**os.environ, "PYTHONPATH": str(source)}
        child = subprocess.Popen(words, stdout=said, stderr=said, env=env)
        signal.signal(signal.SIGALRM, lambda *_: child.kill())
        signal.alarm(PATIENCE)
        _, status, used = os.wait4(child.pid, 0)
        signal.alarm(0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds, size = time.perf_counter() - start, said.tell()
        said.seek(0)
        first = said.read(300).decode("utf-8", "replace").split("\n")[0]
    more = f" ... ({size} bytes)" if size > 300 else ""
    return seconds, used.ru_maxrss / 1000, child.returncode, first + more


def results(names: list[str], source: Path) -> Iterator[str]:
    for name in names:
        file, write = BOMBS[name]
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / file
            write(path)
            size = path.stat().st_size
            seconds, peak, code, said = measure(path, source)
        said = said.replace(place, "")
        yield f"{name:<16}{size:>12} bytes{seconds:7.1f} s{peak:7.0f} MB  exit {code:>3}: {said}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[], help=f"of {', '.join(BOMBS)}")
    parser.add_argument("--src", type=Path, default=Path(__file__).parents[1] / "src")
    asked = parser.parse_args()
    for line in results(asked.names or list(BOMBS), asked.src):
        print(line, flush=True)


if __name__ == "__main__":
    main()

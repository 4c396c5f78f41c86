"""Us and our peers on large graphs (`make bench`): time, memory, accuracy; what was asked.

Tables as they come, of block_model, path, grid, points and growth; then a summary. Ten minutes.
"""

import datetime
import os
import platform
import sys
from importlib.metadata import version

from benchmarks import block_model, grid, growth, path, points
from benchmarks.shared.verdict import verdict


def main() -> None:
    names = ("robustgc", "numpy", "scipy", "numba", "pyamg", "scikit-learn", "scikit-network",
             "graphlearning", "faiss-cpu")  # fmt: skip
    print(f"{datetime.date.today()}, {platform.machine()}, {os.cpu_count()} cores, "
          f"Python {platform.python_version()}, "
          + ", ".join(f"{name} {version(name)}" for name in names))  # fmt: skip
    rows: list[tuple[str, bool]] = []
    for benchmark in (block_model, path, grid, points, growth):
        rows += benchmark.main()
        sys.stdout.flush()
    print("\n## Summary")
    sys.exit(0 if verdict(rows) else 1)


if __name__ == "__main__":
    main()

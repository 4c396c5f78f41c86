"""All benchmarks of `make bench`: tables as they come, then what was asked and what was seen."""

import datetime
import os
import platform
import sys
from importlib.metadata import version


def verdict(rows: list[tuple[str, bool]]) -> bool:
    print("\n| asked | met |\n|---|---|")
    for text, met in rows:
        print(f"| {text} | {'yes' if met else '**no**'} |")
    return all(met for _, met in rows)


def main() -> None:
    import block_model
    import grid
    import growth
    import path
    import points

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

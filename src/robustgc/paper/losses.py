"""Figure: the squared error and the concave error, for a positive and for an unknown label."""

from pathlib import Path

import numpy as np

from robustgc.paper.records import Record, write_csv


def compute(folder: Path) -> None:
    """Write ``(f - y)^2`` and ``-(f + y)^2`` against f for y = 1 and y = 0."""
    rows: list[Record] = [
        {"label": name, "f": round(float(f), 4), "SE": (f - y) ** 2, "CE": -((f + y) ** 2)}
        for name, y in (("positive", 1.0), ("unknown", 0.0))
        for f in np.linspace(-2, 2, 81)
    ]
    write_csv(folder / "losses.csv", rows)

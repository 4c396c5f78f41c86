"""Figure: the chain of 20 nodes with a link ten times weaker in the middle."""

from pathlib import Path

import numpy as np

from robustgc.datasets import chain
from robustgc.graph.graph import Graph
from robustgc.linalg.ladder import lambda_1
from robustgc.models.paper import belkin, robust, zhou
from robustgc.paper.records import Record, write_csv

# node: label. In the second example node 13 has the wrong sign.
EXAMPLES = {
    "two correct labels": {4: 1, 15: -1},
    "four correct labels, one flipped": {4: 1, 11: -1, 13: 1, 15: -1, 18: -1},
}
FLIPPED = 13


def compute(folder: Path) -> None:
    """Write the decision values of ZhouGC (gamma 1), BelkGC (p 2) and RobustGC (eta 0.5)."""
    graph = Graph(chain().weights)
    rows: list[Record] = []
    for example, labels in EXAMPLES.items():
        y = np.zeros(graph.n)
        y[list(labels)] = list(labels.values())
        found = {
            "ZhouGC": zhou(graph, y, gamma=1.0).f,
            "BelkGC": belkin(graph, y, n_vectors=2).f,
            "RobustGC": robust(graph, y, gamma=0.5 * lambda_1(graph)).f,
        }
        rows += [
            {
                "example": example,
                "node": i,
                "label": int(y[i]),
                "model": m,
                "f": float(f[i]),
                "degree": float(graph.d[i]),
            }
            for m, f in found.items()
            for i in range(graph.n)
        ]
    write_csv(folder / "chain.csv", rows)

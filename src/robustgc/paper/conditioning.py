"""Section 3.2: the bound on the condition number and the true one, against eta."""

from pathlib import Path

import numpy as np

from robustgc import datasets
from robustgc.affinity.kinds import Gaussian
from robustgc.graph.graph import Graph
from robustgc.linalg.spectrum import full_spectrum
from robustgc.models.paper import condition_bound
from robustgc.paper.records import Record, write_csv

ETAS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def compute(folder: Path, *, seed: int) -> None:
    """Compare for a Gaussian kernel matrix (positive semi-definite) and a block model."""
    moons = datasets.moons(50, seed=seed)
    graphs = {
        "positive semi-definite": Graph(Gaussian(moons.points, 0.3).weights()),
        "indefinite": Graph(datasets.two_blocks(seed=seed).weights),
    }
    rows: list[Record] = []
    for weights, graph in graphs.items():
        values = full_spectrum(graph).values[1:]
        for eta in ETAS:
            gamma = eta * float(values[0])
            system = np.abs(values / gamma - 1)
            psd = weights == "positive semi-definite"
            rows.append({"weights": weights, "eta": eta,
                         "lambda_1": float(values[0]), "lambda_max": float(values[-1]),
                         "true": float(system.max() / system.min()),
                         "bound": condition_bound(graph, gamma, positive_semidefinite=psd)}
                        )  # fmt: skip
    write_csv(folder / "conditioning.csv", rows)

"""The examples of section 3 and its condition numbers: each computed at once, without repeats."""

import numpy as np

from robustgc import datasets
from robustgc.affinity.kinds import Gaussian
from robustgc.estimators.robust import RobustGC
from robustgc.graph.graph import Graph
from robustgc.linalg.ladder import lambda_1
from robustgc.linalg.spectrum import full_spectrum
from robustgc.models.paper import belkin, condition_bound, robust, zhou
from robustgc.paper.records import Options, Record, write_csv

# Of the chain, node: label. In the second example node 13 has the wrong sign.
CHAINS = {
    "two correct labels": {4: 1, 15: -1},
    "four correct labels, one flipped": {4: 1, 11: -1, 13: 1, 15: -1, 18: -1},
}
FLIPPED = 13
ETAS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
SIGMAS = (0.15, 0.3, 0.6, 1.2)  # of the two moons
PER_CLASS, LABELLED = 50, 5


def losses(options: Options) -> None:
    """Write the squared error ``(f - y)^2`` and the concave ``-(f + y)^2`` for y = 1 and y = 0."""
    rows: list[Record] = [
        {"label": name, "f": round(float(f), 4), "SE": (f - y) ** 2, "CE": -((f + y) ** 2)}
        for name, y in (("positive", 1.0), ("unknown", 0.0))
        for f in np.linspace(-2, 2, 81)
    ]
    write_csv(options.folder / "losses.csv", rows)


def chain(options: Options) -> None:
    """Write f along the chain: of ZhouGC (gamma 1), BelkGC (p 2) and RobustGC (eta 0.5)."""
    graph = Graph(datasets.chain().weights)
    rows: list[Record] = []
    for example, labels in CHAINS.items():
        y = np.zeros(graph.n)
        y[list(labels)] = list(labels.values())
        values = {
            "ZhouGC": zhou(graph, y, gamma=1.0).f,
            "BelkGC": belkin(graph, y, n_vectors=2).f,
            "RobustGC": robust(graph, y, gamma=0.5 * lambda_1(graph)).f,
        }
        rows += [
            {"example": example, "node": i, "label": int(y[i]), "model": model, "f": float(f[i]),
             "degree": float(graph.d[i])}
            for model, f in values.items()
            for i in range(graph.n)
        ]  # fmt: skip
    write_csv(options.folder / "chain.csv", rows)


def conditioning(options: Options) -> None:
    """Write the true condition number and its bound (section 3.2) against eta, for two graphs."""
    moons = datasets.moons(50, seed=options.seed)
    graphs = {
        "positive semi-definite": Graph(Gaussian(moons.points, 0.3).weights()),
        "indefinite": Graph(datasets.two_blocks(seed=options.seed).weights),
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
    write_csv(options.folder / "conditioning.csv", rows)


def moons(options: Options, grid: int = 100) -> None:
    """Fit 50 points a class, 5 of them labelled, and extend f to a grid, for four bandwidths."""
    data = datasets.moons(PER_CLASS, seed=options.seed)
    assert data.points is not None
    X, rng = data.points, np.random.default_rng([options.seed, 3])
    y = np.full(len(X), "", dtype=data.labels.dtype)
    for name in np.unique(data.labels):
        nodes = rng.permutation(np.flatnonzero(data.labels == name))[:LABELLED]
        y[nodes] = name
    points: list[Record] = [
        {"x": float(a), "y": float(b), "truth": str(t), "labelled": int(label != "")}
        for (a, b), t, label in zip(X, data.labels, y, strict=True)
    ]
    write_csv(options.folder / "moons-points.csv", points)
    xs = np.linspace(X[:, 0].min() - 1, X[:, 0].max() + 1, grid)
    ys = np.linspace(X[:, 1].min() - 1, X[:, 1].max() + 1, grid)
    places = np.array([(a, b) for b in ys for a in xs])
    rows: list[Record] = []
    for sigma in SIGMAS:
        clf = RobustGC(0.9, n_modes=1, affinity="rbf", sigma=sigma).fit(X, y)
        accuracy = float(np.mean(clf.transduction_ == data.labels))
        f = clf.decision_function(places)
        rows += [
            {"sigma": sigma, "x": float(a), "y": float(b), "f": float(v), "accuracy": accuracy}
            for (a, b), v in zip(places, f, strict=True)
        ]
    write_csv(options.folder / "moons.csv", rows)

"""The demo: a real graph, a dozen labels, some of them wrong: who copes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.semi_supervised import LabelSpreading

from robustgc.baselines import BelkinGC, ZhouGC
from robustgc.datasets import Dataset, load_polblogs
from robustgc.estimators import RobustGC
from robustgc.graph import Graph
from robustgc.labels import draw, flip
from robustgc.selection import leave_one_out


@dataclass(frozen=True)
class LabelRecord:
    """One given label: right or wrong, and what the model says when it has not seen it."""

    name: str
    given: str
    truth: str
    model: str


@dataclass(frozen=True)
class Demo:
    """What the demo found."""

    data: Dataset
    accuracy: dict[str, float]  # on the nodes without a label
    lambda_1: float
    gamma: float
    residual: float
    labels: list[LabelRecord]


def run(n_labels: int = 12, n_wrong: int = 3, seed: int = 7) -> Demo:
    """Label some blogs of polblogs, make some labels wrong, classify the rest by four methods."""
    data = load_polblogs()
    rng = np.random.default_rng(seed)
    nodes = draw(data.labels, n_labels, rng)
    given, _ = flip(data.labels[nodes], n_wrong, np.unique(data.labels), rng)
    y = np.full(len(data.labels), "", dtype=data.labels.dtype)
    y[nodes] = given
    robust = RobustGC(0.9, n_modes=1, affinity="precomputed").fit(data.weights, y)
    answers = {
        "LabelSpreading (scikit-learn)": label_spreading(data, y),
        "ZhouGC": ZhouGC(affinity="precomputed").fit_predict(data.weights, y),
        "BelkinGC": BelkinGC(affinity="precomputed").fit_predict(data.weights, y),
        "RobustGC": robust.transduction_,
    }
    signs = np.where(y == "", 0, np.where(y == robust.classes_[1], 1, -1))
    unseen = leave_one_out(Graph(data.weights), signs, gamma=robust.gamma_)
    rest = y == ""
    return Demo(
        data,
        {name: float(np.mean((z == data.labels)[rest])) for name, z in answers.items()},
        robust.lambda_1_,
        robust.gamma_,
        robust.residual_,
        [
            LabelRecord(
                *map(str, (data.names[i], y[i], data.labels[i], robust.classes_[int(side)]))
            )
            for i, side in zip(np.sort(nodes), unseen[np.sort(nodes)] > 0, strict=True)
        ],
    )


def label_spreading(data: Dataset, y: NDArray[np.str_]) -> NDArray[np.str_]:
    """Run scikit-learn's LabelSpreading, defaults but for the graph, handed in as its kernel."""
    classes = np.unique(y[y != ""])
    codes = np.where(y == "", -1, np.searchsorted(classes, y))
    W = data.weights.toarray()
    node = np.arange(len(y), dtype=float)[:, None]
    model = LabelSpreading(kernel=lambda a, b: W[np.ix_(a[:, 0].astype(int), b[:, 0].astype(int))])
    return np.asarray(classes[model.fit(node, codes).transduction_])

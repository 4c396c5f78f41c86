"""The demo: a real graph, a dozen labels, some of them wrong: who copes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.semi_supervised import LabelSpreading

from robustgc.datasets import Dataset, load_polblogs
from robustgc.estimators.baselines import BelkinGC, ZhouGC
from robustgc.estimators.robust import RobustGC
from robustgc.transduction.labels import draw, flip


@dataclass(frozen=True)
class LabelRecord:
    """One given label: right or wrong, and what the model says when it has not seen it."""

    name: str
    given: str
    truth: str
    model: str
    suspicion: float


@dataclass(frozen=True)
class Demo:
    """What the demo found."""

    data: Dataset
    accuracy: dict[str, float]  # on the nodes without a label
    lambda_1: float
    residual: float
    noise_rate: float
    labels: list[LabelRecord]  # the most suspicious first


def run(n_labels: int = 12, n_wrong: int = 3, seed: int = 7) -> Demo:
    """Label some blogs of polblogs, make some labels wrong, classify the rest by four methods."""
    data = load_polblogs()
    rng = np.random.default_rng(seed)
    nodes = draw(data.labels, n_labels, rng)
    given, _ = flip(data.labels[nodes], n_wrong, np.unique(data.labels), rng)
    y = np.full(len(data.labels), "", dtype=data.labels.dtype)
    y[nodes] = given
    robust = RobustGC(affinity="precomputed").fit(data.weights, y)
    answers = {
        "LabelSpreading (scikit-learn)": label_spreading(data, y),
        "ZhouGC": ZhouGC(affinity="precomputed").fit_predict(data.weights, y),
        "BelkinGC": BelkinGC(affinity="precomputed").fit_predict(data.weights, y),
        "RobustGC": robust.transduction_,
    }
    issues = robust.label_issues()
    rest = y == ""
    return Demo(
        data,
        {name: float(np.mean((z == data.labels)[rest])) for name, z in answers.items()},
        robust.lambda_1_,
        robust.residual_,
        issues.noise_rate,
        [
            LabelRecord(
                str(data.names[row.node]),
                str(row.given),
                str(data.labels[row.node]),
                str(row.suggested),
                row.suspicion,
            )
            for row in issues
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

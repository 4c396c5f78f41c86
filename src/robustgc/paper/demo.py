"""The demo: a real graph, a dozen labels, some of them wrong: who copes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.semi_supervised import LabelSpreading

from robustgc.audit.issues import LabelIssues
from robustgc.datasets import Dataset, load_polblogs
from robustgc.estimators.baselines import BelkinGC, ZhouGC
from robustgc.estimators.robust import RobustGC
from robustgc.transduction.labels import draw, flip


@dataclass(frozen=True)
class Demo:
    """The graph, the accuracy of every method on the nodes without a label, and RobustGC's fit."""

    data: Dataset
    accuracy: dict[str, float]
    robust: RobustGC
    issues: LabelIssues


def run(n_labels: int = 12, n_wrong: int = 3, seed: int = 7) -> Demo:
    """Label some blogs of polblogs, make some labels wrong, classify the rest by four methods."""
    data = load_polblogs()
    rng = np.random.default_rng(seed)
    nodes = draw(data.labels, n_labels, rng)
    y = np.full(len(data.labels), "", dtype=data.labels.dtype)
    y[nodes] = flip(data.labels[nodes], n_wrong, np.unique(data.labels), rng)[0]
    robust = RobustGC(affinity="precomputed").fit(data.weights, y)
    answers = {
        "LabelSpreading (scikit-learn)": label_spreading(data, y),
        "ZhouGC": ZhouGC(affinity="precomputed").fit_predict(data.weights, y),
        "BelkinGC": BelkinGC(affinity="precomputed").fit_predict(data.weights, y),
        "RobustGC": robust.transduction_,
    }
    rest = y == ""
    accuracy = {name: float(np.mean((z == data.labels)[rest])) for name, z in answers.items()}
    return Demo(data, accuracy, robust, robust.label_issues())


def label_spreading(data: Dataset, y: NDArray[np.str_]) -> NDArray[np.str_]:
    """Run scikit-learn's LabelSpreading, defaults but for the graph, handed in as its kernel."""
    classes = np.unique(y[y != ""])
    codes = np.where(y == "", -1, np.searchsorted(classes, y))
    W = data.weights.toarray()
    node = np.arange(len(y), dtype=float)[:, None]
    model = LabelSpreading(kernel=lambda a, b: W[np.ix_(a[:, 0].astype(int), b[:, 0].astype(int))])
    return np.asarray(classes[model.fit(node, codes).transduction_])

"""Accuracy against the number of wrong labels: polblogs, 12 labels, 50 draws each.

Prints the table and draws docs/wrong_labels.png, the picture of the README. `make picture`.
"""

from pathlib import Path

import matplotlib
import numpy as np
from sklearn.semi_supervised import LabelSpreading

from robustgc import Graph, RobustGC, belkin, lambda_1, robust, zhou
from robustgc.datasets import load_polblogs
from robustgc.transduction.labels import draw, flip

matplotlib.use("agg")
import matplotlib.pyplot as plt

N_LABELS, REPEATS, WRONG = 12, 50, range(6)
COLOURS = {
    "RobustGC": "#0072B2",
    "RobustGC of the paper": "#56B4E9",
    "BelkinGC, 3 vectors": "#009E73",
    "ZhouGC": "#E69F00",
    "LabelSpreading (scikit-learn)": "#CC79A7",
}
MARKERS = dict(zip(COLOURS, "opsD^", strict=True))


def draws(data, n_wrong):
    """Return one column of +1 / -1 / 0 labels per repeat, some of the labels wrong."""
    truth = np.where(data.labels == "liberal", 1, -1)
    Y = np.zeros((len(truth), REPEATS))
    for k in range(REPEATS):
        rng = np.random.default_rng([2005, n_wrong, k])
        nodes = draw(truth, N_LABELS, rng)
        Y[nodes, k] = flip(truth[nodes], n_wrong, [-1, 1], rng)[0]
    return truth, Y


def label_spreading(W, Y):
    """Run scikit-learn's LabelSpreading, with the graph as its kernel."""
    node = np.arange(len(W), dtype=float)[:, None]
    f = np.empty_like(Y)
    for k, y in enumerate(Y.T):
        model = LabelSpreading(kernel=lambda a, b: W)
        codes = np.where(y == 0, -1, (y > 0).astype(int))
        f[:, k] = 2 * model.fit(node, codes).transduction_ - 1
    return f


def one_by_one(W, Y):
    """Fit RobustGC with its defaults: nothing is told but the labels."""
    f = np.empty_like(Y)
    for k, y in enumerate(Y.T):
        codes = np.where(y == 0, -1, (y > 0).astype(int))
        f[:, k] = RobustGC(affinity="precomputed").fit(W, codes).f_
    return f


def main():
    data = load_polblogs()
    graph, W = Graph(data.weights), data.weights.toarray()
    gamma = 0.9 * lambda_1(graph)
    accuracy = {name: [] for name in COLOURS}
    for n_wrong in WRONG:
        truth, Y = draws(data, n_wrong)
        answers = {
            "RobustGC": one_by_one(data.weights, Y),
            "RobustGC of the paper": robust(graph, Y, gamma=gamma).f,
            "BelkinGC, 3 vectors": belkin(graph, Y, n_vectors=3).f,
            "ZhouGC": zhou(graph, Y, gamma=1.0).f,
            "LabelSpreading (scikit-learn)": label_spreading(W, Y),
        }
        for name, f in answers.items():
            hits = np.where(Y == 0, (f > 0) == (truth > 0)[:, None], np.nan)
            accuracy[name].append(100 * np.nanmean(hits, axis=0))
    print(f"{'wrong labels of 12':32}" + "".join(f"{n:>7}" for n in WRONG))
    for name, values in accuracy.items():
        print(f"{name:32}" + "".join(f"{v.mean():7.1f}" for v in values))
    picture(accuracy)


def picture(accuracy):
    figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
    for name, values in accuracy.items():
        mean = [v.mean() for v in values]
        error = [v.std(ddof=1) / REPEATS**0.5 for v in values]
        style = {"marker": MARKERS[name], "color": COLOURS[name], "linewidth": 2, "capsize": 3}
        axes.errorbar(list(WRONG), mean, yerr=error, label=name, **style)
    axes.set(
        xlabel=f"wrong labels among the {N_LABELS} given",
        ylabel="accuracy on the other 1210 blogs, %",
        title=f"1222 political blogs, {N_LABELS} labels, mean ± standard error of {REPEATS} draws",
        ylim=(50, 100),
    )
    axes.title.set_fontsize(11)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, loc="lower left")
    figure.savefig(Path(__file__).parents[1] / "docs" / "wrong_labels.png", dpi=130)


if __name__ == "__main__":
    main()

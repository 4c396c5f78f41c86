"""The records as a picture: how far each column is behind, and whether suspicion can be trusted."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd

from benchmarks.noise import bars
from benchmarks.noise.columns import COLUMNS, ORACLE

mpl.use("Agg")
JITTER_SEED = 2371
COLOURS = {0: "#0072b2", 20: "#e69f00", 40: "#d55e00"}  # told apart by colour-blind readers
GREY = "#555555"


def draw(trials: pd.DataFrame, labels: pd.DataFrame, path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4.8), width_ratios=[1.7, 1], layout="constrained"
    )
    _strip(left, trials)
    _curve(right, labels)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _strip(axis: Any, trials: pd.DataFrame) -> None:
    """One dot per column and cell: points behind the best column of that cell.

    From the trials that all columns answered, so that all dots of a cell speak of the same labels.
    """
    names = [column for column in COLUMNS if column in trials and column != ORACLE]
    means = trials[names].dropna().groupby(bars.CELL).mean()
    deficit = -means.sub(means.max(axis=1), axis=0)
    rates = deficit.index.get_level_values("rate").to_numpy()
    rng = np.random.default_rng(JITTER_SEED)
    for row, name in enumerate(names):
        for rate, colour in COLOURS.items():
            values = deficit[name][rates == rate]
            heights = row + rng.uniform(-0.3, 0.3, len(values))
            axis.scatter(values, heights, s=9, color=colour, alpha=0.55, linewidths=0,
                         label=f"{rate} % wrong" if row == 0 else None)  # fmt: skip
        middle = deficit[name].median()
        axis.plot([middle, middle], [row - 0.38, row + 0.38], color="black", lw=1.6,
                  label="median" if row == 0 else None)  # fmt: skip
    axis.axvline(1, color=GREY, lw=0.8, ls=":")
    axis.set_xscale("symlog", linthresh=1, linscale=0.7)
    ticks = [0, 1, 3, 10, 30]
    axis.set(xticks=ticks, xticklabels=ticks, xlim=(-0.08, 100), yticks=range(len(names)),
             yticklabels=names, xlabel="points behind the best column of the cell")  # fmt: skip
    axis.minorticks_off()
    axis.invert_yaxis()
    axis.set_title(f"Each dot one of {len(deficit)} cells: left is better", fontsize=10)
    axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=4, frameon=False)


def _curve(axis: Any, labels: pd.DataFrame) -> None:
    """Of the labels of a suspicion, the share that is wrong; dots as large as their number."""
    axis.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls=":", label="as said")
    axis.set(xlim=(0, 1), ylim=(0, 1), xlabel="suspicion of a given label",
             ylabel="share that is wrong", aspect="equal")  # fmt: skip
    axis.set_title("Can the suspicion be believed?", fontsize=10)
    if labels.empty:
        axis.text(0.5, 0.4, "no suspicions in the records", ha="center", color=GREY)
        return
    table = bars.calibration(labels)
    centres = (bars.BINS[:-1] + bars.BINS[1:]) / 2
    sizes = 15 + 200 * np.sqrt(table["count"] / table["count"].max())
    axis.plot(centres, table["share"], color=COLOURS[0], lw=1.2)
    axis.scatter(centres, table["share"], s=sizes, color=COLOURS[0], alpha=0.7, clip_on=False,
                 label="seen; area grows with the labels")  # fmt: skip
    axis.legend(fontsize=8, loc="upper left")

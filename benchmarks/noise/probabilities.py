"""Whether `predict_proba` means what it says, on nodes without a label of the data of `run`.

The expected calibration error of the largest probability of every node, each draw counting as one
whatever its nodes: `python -m benchmarks noise probabilities`. Nothing is recorded.
"""

import multiprocessing
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd

from benchmarks.noise.bars import BINS
from benchmarks.noise.columns import answer
from benchmarks.noise.data import load
from benchmarks.noise.draws import Trial, draw
from benchmarks.noise.trials import plan

ASKED = 0.05


def measured(trial: Trial) -> pd.DataFrame:
    """Return, for every bin of probability, the share of nodes, of right answers, what was said."""
    problem = load(trial.data)
    given = draw(problem, trial)
    fitted = answer("auto", problem, given).fitted
    rest = given < 0
    chances = fitted.predict_proba(problem.W)[rest]
    known = np.isfinite(chances).all(axis=1)
    said = chances[known].max(axis=1)
    hits = fitted.classes_[chances[known].argmax(axis=1)] == problem.y[rest][known]
    share = np.full(len(said), 1.0 / max(len(said), 1))
    table = {
        "nodes": np.histogram(said, BINS, weights=share)[0],
        "right": np.histogram(said, BINS, weights=share * hits)[0],
        "said": np.histogram(said, BINS, weights=share * said)[0],
    }
    return pd.DataFrame({**table, "noise": trial.noise, "bin": range(len(BINS) - 1)})


def error(table: pd.DataFrame) -> float:
    """Return the expected calibration error."""
    sums = table.groupby("bin")[["nodes", "right", "said"]].sum()
    return float((sums["said"] - sums["right"]).abs().sum() / sums["nodes"].sum())


def main(data: Iterable[str], repeats: int, jobs: int) -> bool:
    """Print the errors; return whether the bar is met."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn) as pool:
        found = pd.concat(pool.map(measured, plan(list(data), repeats), chunksize=14))
    print("| probability | nodes, % | said | right |\n|---|---|---|---|")
    for k, row in found.groupby("bin")[["nodes", "right", "said"]].sum().iterrows():
        if row["nodes"] > 0:
            share = 100 * row["nodes"] / found["nodes"].sum()
            said, right = row["said"] / row["nodes"], row["right"] / row["nodes"]
            print(f"| {BINS[k]:.1f}-{BINS[k + 1]:.1f} | {share:.1f} | {said:.3f} | {right:.3f} |")
    for noise, table in found.groupby("noise"):
        print(f"expected calibration error with noise {noise!r}: {error(table):.3f}")
    whole = error(found[found["noise"] != "none"])
    print(f"over all trials with noise: {whole:.3f} (asked: {ASKED})")
    return whole <= ASKED

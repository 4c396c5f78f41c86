"""Table 1: accuracy of the four models on six data sets and six label sizes.

Also the source of the figure of accuracy against the tuning parameter: the same trials.
"""

from collections.abc import Iterator, Sequence
from importlib import resources
from itertools import product

import numpy as np

from robustgc.graph.weights import Array
from robustgc.paper.problems import (
    DRAWN,
    DRAWS,
    MODELS,
    PERCENTS,
    accuracies,
    best_parameter,
    by_parameter,
    label,
    n_labelled,
    problem,
)
from robustgc.paper.records import (
    REPEATS,
    Key,
    Options,
    Record,
    Rows,
    Store,
    generator,
    numbers,
    read_csv,
    run,
    write_csv,
)
from robustgc.paper.stats import ranks, standard_errors


def keys(datasets: Sequence[str], repeats: int, seed: int) -> Iterator[Key]:
    """Return the trials of the table."""
    for dataset in datasets:
        draws = range(1, DRAWS + 1 if dataset in DRAWN else 2)
        percents = [percent for percent in PERCENTS if n_labelled(dataset, percent)]
        for draw, percent, repeat in product(draws, percents, range(repeats)):
            yield {"dataset": dataset, "draw": draw, "percent_labelled": percent,
                   "repeat": repeat, "seed": seed}  # fmt: skip


def trial(key: Key) -> list[Record]:
    """Draw labels, fit every model with every parameter, measure on the unlabelled nodes."""
    dataset = str(key["dataset"])
    graph, truth = problem(dataset, int(key["draw"]))
    n_labels = n_labelled(dataset, int(key["percent_labelled"]))
    y = label(truth, n_labels, generator(key))
    return [{"n_labelled": n_labels, **record} for record in accuracies(graph, truth, y)]


def compute(options: Options) -> Iterator[tuple[int, int]]:
    """Run the missing trials, then write the cells of the table and of the tuning figure."""
    folder, datasets, seed = options.folder, options.datasets, options.seed
    repeats, store = options.repeats or REPEATS, Store(folder / "table1-trials.csv")
    yield from run(trial, keys(datasets, repeats, seed), store, jobs=options.jobs)
    rows = [
        row
        for row in store.read()
        if int(row["seed"]) == seed
        and (row["dataset"] not in datasets or int(row["repeat"]) < repeats)
    ]
    cells, curves = summary(rows, seed)
    write_csv(folder / "table1.csv", cells)
    write_csv(folder / "tuning.csv", curves)


def summary(rows: Rows, seed: int) -> tuple[list[Record], list[Record]]:
    """Return one record per cell, and one per point of the tuning curves.

    "Perfect validation": the parameter of a cell is the one with the best mean test accuracy.
    """
    columns = ("dataset", "draw", "percent_labelled")
    sizes = {(r["dataset"], int(r["percent_labelled"])): int(r["n_labelled"]) for r in rows}
    cells: list[Record] = []
    curves: list[Record] = []
    in_order = sorted(rows, key=lambda row: int(row["repeat"]))
    for (dataset, draw, percent), models in sorted(by_parameter(in_order, columns).items()):
        where: Record = {"dataset": dataset, "draw": draw, "percent_labelled": percent,
                         "n_labelled": sizes[str(dataset), int(percent)]}  # fmt: skip
        best = {m: best_parameter(models[m]) for m in MODELS}
        chosen: dict[str, Array] = {m: np.array(models[m][best[m]]) for m in MODELS}
        rank = ranks(chosen)
        for m in MODELS:
            a = chosen[m]
            cells.append({**where, "model": m, "parameter": best[m],
                          "accuracy_mean": round(float(a.mean()), 4),
                          "accuracy_std": round(float(a.std(ddof=1)), 4) if len(a) > 1 else 0.0,
                          "rank": rank[m], "repeats": len(a), "seed": seed})  # fmt: skip
            for p, values in sorted(models[m].items()):
                if draw == 1 and m != "PF-RobustGC":
                    curves.append({**where, "model": m, "parameter": p,
                                   "accuracy_mean": round(float(np.mean(values)), 4)})  # fmt: skip
    return cells, curves


def published() -> Rows:
    """Return the cells of the paper's own table."""
    with resources.as_file(resources.files("robustgc.paper") / "data/table1.csv") as path:
        return read_csv(path)


def compare(cells: Rows) -> list[Record]:
    """Set our cells beside the paper's, with the difference and two questions.

    ``within``: is the difference at most 3 standard errors, or 1.5 points? ``in_spread``: where the
    paper's subset or draw is unknown, does its mean lie between the least and the greatest of our
    means over five of them?
    """
    paper = {(r["dataset"], r["percent_labelled"], r["model"]): r for r in published()}
    rows: list[Record] = []
    for cell in cells:
        theirs = paper.get((cell["dataset"], cell["percent_labelled"], cell["model"]))
        if cell["draw"] != "1" or theirs is None:
            continue
        mean, std = float(cell["accuracy_mean"]), float(cell["accuracy_std"])
        their_mean, their_std = float(theirs["accuracy_mean"]), float(theirs["accuracy_std"])
        n = int(cell["repeats"])
        errors = standard_errors(mean, std, their_mean, their_std, n)
        of_all_draws = {k: cell[k] for k in ("dataset", "percent_labelled", "model")}
        spread = numbers(cells, "accuracy_mean", **of_all_draws)
        in_spread = min(spread) <= their_mean <= max(spread)
        within = abs(errors) <= 3 or abs(mean - their_mean) <= 1.5
        rows.append({**{k: cell[k] for k in ("dataset", "percent_labelled", "n_labelled", "model")},
                     "repeats": n, "seed": cell["seed"],
                     "ours_mean": mean, "ours_std": std, "ours_rank": int(cell["rank"]),
                     "paper_mean": their_mean, "paper_std": their_std,
                     "paper_rank": int(theirs["rank"]), "standard_errors": round(errors, 2),
                     "spread_low": min(spread), "spread_high": max(spread),
                     "within": int(within),
                     "in_spread": int(in_spread) if len(spread) > 1 else ""})  # fmt: skip
    return rows

"""What is asked of RobustGC with its defaults, and what the records say."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.noise.columns import ORACLE
from benchmarks.noise.records import KEY

OWN = "auto"
CELL = ["data", "noise", "rate", "labels"]
BINS = np.linspace(0, 1, 11)
ADDED = ("amazon-photo", "citeseer")  # later than the others, with a bar of their own
ENOUGH = 200  # labels of a bin that is judged


class Bar(NamedTuple):
    """A demand; `met` is None where the records do not say."""

    text: str
    met: bool | None


def accuracies(rows: pd.DataFrame) -> pd.DataFrame:
    """Return trials in rows, methods in columns, accuracy in percent."""
    table = rows.pivot_table(index=KEY, columns="column", values="accuracy", dropna=False)
    return 100 * table.dropna(axis=1, how="all").dropna(how="all")


def leads(trials: pd.DataFrame) -> pd.DataFrame:
    """Return by how many points each other column leads ours, per cell.

    Over the trials that both have answered: a column that fails on the hard ones gains nothing.
    """
    others = trials.columns.difference([OWN, ORACLE], sort=False)
    return trials[others].sub(trials[OWN], axis=0).groupby(CELL).mean()


def behind(lead: pd.DataFrame, by: float) -> pd.DataFrame:
    """List the cells in which ours is behind by more than some points, and by whom."""
    worst = lead.max(axis=1)
    cells = worst[worst > by].sort_values(ascending=False)
    return pd.DataFrame({"behind": cells, "by": lead.loc[cells.index].idxmax(axis=1)})


def _first(lead: pd.DataFrame) -> pd.DataFrame:
    return lead[~lead.index.get_level_values("data").isin(ADDED)]


def added(lead: pd.DataFrame) -> list[Bar]:
    """Judge every cell of the graphs that came later."""
    worst = lead[lead.index.get_level_values("data").isin(ADDED)].max(axis=1).dropna()
    bars = []
    for name in ADDED:
        cells = worst[worst.index.get_level_values("data") == name]
        if cells.empty:
            bars.append(Bar(f"{name}: no trials of `auto` beside others", None))
            continue
        most = max(cells.max(), 0.0)
        bars.append(Bar(f"{name}, largest deficit of {len(cells)} cells {most:.2f} points "
                        "(asked: at most 3)", bool(most <= 3)))  # fmt: skip
    return bars


def with_noise(lead: pd.DataFrame) -> list[Bar]:
    lead = _first(lead)
    worst = lead[lead.index.get_level_values("rate") > 0].max(axis=1).dropna()
    if worst.empty:
        return [Bar("with noise: no trials of `auto` beside others", None)]
    share, largest = 100 * (worst <= 1).mean(), max(worst.max(), 0.0)
    return [
        Bar(f"with noise, within 1 point of the best other column in {share:.1f} % of "
            f"{len(worst)} cells (asked: 90 %)", bool(share >= 90)),
        Bar(f"with noise, largest deficit {largest:.2f} points (asked: at most 3)",
            bool(largest <= 3)),
    ]  # fmt: skip


def without_noise(lead: pd.DataFrame) -> Bar:
    lead = _first(lead)
    worst = lead[lead.index.get_level_values("rate") == 0].max(axis=1).dropna()
    if worst.empty:
        return Bar("without noise: no trials of `auto` beside others", None)
    share = 100 * (worst <= 1.5).mean()
    return Bar(f"without noise, within 1.5 points of the best other column in {share:.1f} % of "
               f"{len(worst)} cells (asked: 80 %)", bool(share >= 80))  # fmt: skip


def detection(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean area under the ROC curve at 20 % uniform noise, 20 labels a class."""
    chosen = rows[(rows["noise"] == "uniform") & (rows["rate"] == 20) & (rows["labels"] == 20)]
    chosen = chosen[~chosen["data"].isin(ADDED)]
    return chosen.dropna(subset=["auc"]).pivot_table(index="data", columns="column", values="auc")


def finds(table: pd.DataFrame) -> list[Bar]:
    if OWN not in table:
        return [Bar("wrong labels found: no `label_issues` in the records", None)]
    mean = table[OWN].mean()
    bars = [Bar(f"mean AUC of wrong labels {mean:.3f} over {table[OWN].count()} data sets, 20 % "
                "uniform noise, 20 labels a class (asked: 0.96)", bool(mean >= 0.96))]  # fmt: skip
    peers = table.columns.difference([OWN])
    both = table.dropna(subset=[OWN])
    both = both[both[peers].notna().any(axis=1)]
    if not both.empty:
        lost = both.index[both[OWN] <= both[peers].max(axis=1)]
        bars.append(Bar(f"AUC above cleanlab's on {len(both) - len(lost)} of {len(both)} data sets "
                        f"with features (asked: all){_named(lost)}", lost.empty))  # fmt: skip
    return bars


def _named(data: pd.Index) -> str:
    return f"; not on {', '.join(data)}" if len(data) else ""


def calibration(labels: pd.DataFrame) -> pd.DataFrame:
    """Return, per bin of suspicion, how many labels there are and how many of them are wrong.

    From trials with noise: without, no label is wrong whatever its suspicion.
    """
    noisy = labels[labels["rate"] > 0]
    counts, sums = {}, np.zeros(len(BINS) - 1)
    for name in ("right", "wrong"):
        values = np.array(" ".join(noisy[name]).split(), dtype=float) / 1000
        counts[name] = np.histogram(values, BINS)[0]
        sums += np.histogram(values, BINS, weights=values)[0]
    table = pd.DataFrame(counts)
    table["count"] = table["right"] + table["wrong"]
    known = table["count"].where(table["count"] > 0)
    table["share"], table["said"] = table["wrong"] / known, sums / known
    return table


def error(table: pd.DataFrame) -> float:
    """Return the expected calibration error: what is said less what is so, by labels."""
    off = (table["said"] - table["share"]).abs() * table["count"]
    return float(off.sum() / max(table["count"].sum(), 1))


def precision(labels: pd.DataFrame) -> float:
    """Return the share of wrong labels among as many suspicious ones as are said to be wrong.

    The most suspicious labels of every trial with noise, their number the sum of the suspicions;
    equally suspicious ones count by their share.
    """
    found, asked = 0.0, 0
    for right, wrong in labels.loc[labels["rate"] > 0, ["right", "wrong"]].itertuples(index=False):
        parts = [np.array(part.split(), dtype=float) / 1000 for part in (right, wrong)]
        values, bad = np.concatenate(parts), np.repeat([0.0, 1.0], [len(part) for part in parts])
        count = round(float(values.sum()))
        if count:
            least = np.sort(values)[-count]
            above, level = values > least, values == least
            found += bad[above].sum() + bad[level].mean() * (count - above.sum())
            asked += count
    return found / max(asked, 1)


def calibrated(labels: pd.DataFrame) -> list[Bar]:
    """Judge whether suspicions mean what they say."""
    if labels.empty:
        return [Bar("calibration: no suspicions in the records", None)]
    table = calibration(labels)
    whole = error(table)
    bars = [Bar(f"expected calibration error {whole:.3f} (asked: 0.04)", whole <= 0.04)]
    for noise in ("uniform", "pair", "instance"):
        own = error(calibration(labels[labels["noise"] == noise]))
        bars.append(Bar(f"the same with {noise} noise {own:.3f} (asked: 0.08)", own <= 0.08))
    judged = table[table["count"] >= ENOUGH]
    worst = float((judged["said"] - judged["share"]).abs().max())
    bars.append(Bar(f"every bin of {ENOUGH} labels within {worst:.3f} (asked: 0.08)",
                    worst <= 0.08))  # fmt: skip
    bars.append(Bar(f"of as many labels as are said to be wrong, the most suspicious ones, "
                    f"{100 * precision(labels):.1f} % are (no bar)", True))  # fmt: skip
    return bars

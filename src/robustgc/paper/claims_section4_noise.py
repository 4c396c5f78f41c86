"""Claims of section 4.1: label noise."""

from robustgc.paper.claims import Tables, Verdict, claim, mean
from robustgc.paper.noise import LABELS, NOISE


def _noise(tables: Tables, connectivity: str, model: str, column: str = "accuracy_mean") -> dict[
    tuple[int, int], float
]:  # fmt: skip
    """Return a column of the noise table by number of labels and noise."""
    rows = [r for r in tables["noise"] if r["connectivity"] == connectivity and r["model"] == model]
    return {(int(r["n_labelled"]), int(r["noise_percent"])): float(r[column]) for r in rows}


HARDEST = (LABELS[0], NOISE[-1])


@claim("4.1", "Low connectivity: RobustGC is able to almost perfectly classify all the points "
       "independently of the noise level.", "mean accuracy at least 99 % everywhere",
       "noise")  # fmt: skip
def low_robust_is_perfect(tables: Tables) -> Verdict:
    worst = min(_noise(tables, "low", "RobustGC").values())
    return worst >= 99, f"least mean accuracy {worst:.1f} %"


@claim("4.1", "Low connectivity: the striped region (from least to greatest accuracy) of RobustGC only "
       "appears when the number of labels is small and the noise is maximum.",
       "no repeat below 99 % elsewhere", "noise")  # fmt: skip
def low_robust_has_no_band(tables: Tables) -> Verdict:
    least = _noise(tables, "low", "RobustGC", "accuracy_min")
    worst = min(value for at, value in least.items() if at != HARDEST)
    return worst >= 99, f"least accuracy of a repeat elsewhere {worst:.1f} %"


@claim("4.1", "Low connectivity: PF-RobustGC is almost as good as RobustGC, and only slightly worse "
       "when the noise is the highest and the number of labels is small.",
       "within 1 point elsewhere, within 10 points there", "noise")  # fmt: skip
def low_parameter_free_is_close(tables: Tables) -> Verdict:
    best, free = (_noise(tables, "low", m) for m in ("RobustGC", "PF-RobustGC"))
    gaps = {at: best[at] - free[at] for at in best}
    hardest = gaps.pop(HARDEST)
    return max(gaps.values()) <= 1 and hardest <= 10, (
        f"{hardest:.1f} points at {HARDEST[0]} labels and {HARDEST[1]} % noise, at most "
        f"{max(gaps.values()):.1f} elsewhere"
    )


@claim("4.1", "Low connectivity: these two models outperform BelkGC, and also ZhouGC, which is clearly "
       "the worse of the four approaches.", "order of the means over all settings",
       "noise")  # fmt: skip
def low_order(tables: Tables) -> Verdict:
    m = _means(tables, "low")
    holds = min(m["RobustGC"], m["PF-RobustGC"]) > m["BelkGC"] > m["ZhouGC"]
    return holds, _listed(m)


@claim("4.1", "High connectivity: RobustGC still gets a perfect classification except when the noise "
       "level is very high, where the accuracy drops a little when the number of labels is small.",
       "at least 98 % up to 20 % noise, and 90 % with the fewest labels and the most noise", "noise")  # fmt: skip
def high_robust_is_perfect(tables: Tables) -> Verdict:
    by = _noise(tables, "high", "RobustGC")
    quiet = min(value for (_, noise), value in by.items() if noise <= 20)
    text = ", ".join(f"{by[n, NOISE[-1]]:.1f} % with {n}" for n in LABELS)
    return quiet >= 98 and by[HARDEST] >= 90, (
        f"least {quiet:.1f} % up to 20 % noise; at {NOISE[-1]} % noise {text} labels"
    )


@claim("4.1", "High connectivity: BelkGC is again worse than RobustGC, and the difference is more "
       "noticeable when the noise increases.", "mean gap positive, and larger at the most noise",
       "noise")  # fmt: skip
def high_gap_grows(tables: Tables) -> Verdict:
    ours, theirs = (_noise(tables, "high", m) for m in ("RobustGC", "BelkGC"))
    gaps = [mean([ours[n, p] - theirs[n, p] for n in LABELS]) for p in NOISE]
    text = ", ".join(f"{g:.1f} at {p} %" for g, p in zip(gaps, NOISE, strict=True))
    return mean(gaps) > 0 and gaps[-1] > gaps[0], f"gap in points: {text}"


@claim("4.1", "High connectivity: PF-RobustGC is worse than BelkGC but it still outperforms ZhouGC.",
       "order of the means over all settings", "noise")  # fmt: skip
def high_order(tables: Tables) -> Verdict:
    m = _means(tables, "high")
    return m["BelkGC"] > m["PF-RobustGC"] > m["ZhouGC"], _listed(m)


def _means(tables: Tables, connectivity: str) -> dict[str, float]:
    models = ("ZhouGC", "BelkGC", "RobustGC", "PF-RobustGC")
    return {m: mean(list(_noise(tables, connectivity, m).values())) for m in models}


def _listed(means: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.1f}" for name, value in means.items())

"""Claims of section 3: the chain, conditioning, the extension."""

import numpy as np

from robustgc.paper.claims import Tables, Verdict, claim, mean
from robustgc.paper.examples import CHAINS, FLIPPED
from robustgc.paper.records import matching, numbers

FIRST, SECOND = CHAINS


@claim("3.1", "ZhouGC (with gamma = 1) is truly a regression model, fitting the known labels (even "
       "the flipped one) and pushing towards zero the unknown ones.",
       "f has the sign of every label; mean |f| without label below a third of that with",
       "chain")  # fmt: skip
def zhou_is_a_regression(tables: Tables) -> Verdict:
    rows = matching(tables["chain"], model="ZhouGC")
    fitted = all(float(r["f"]) * int(r["label"]) > 0 for r in rows if r["label"] != "0")
    known = mean([abs(float(r["f"])) for r in rows if r["label"] != "0"])
    unknown = mean([abs(float(r["f"])) for r in rows if r["label"] == "0"])
    return fitted and unknown < known / 3, f"mean |f| {known:.3f} with, {unknown:.3f} without label"


@claim("3.1", "BelkGC (p = 2) fits much better the unknown labels for nodes far from the labelled "
       "ones.", "mean of f times the true sign at unlabelled nodes at least three times ZhouGC's",
       "chain")  # fmt: skip
def belkin_reaches_far(tables: Tables) -> Verdict:
    size = {
        m: mean([
            float(r["f"]) * (1 if int(r["node"]) < 10 else -1)
            for r in matching(tables["chain"], example=FIRST, model=m, label=0)
        ])
        for m in ("BelkGC", "ZhouGC")
    }  # fmt: skip
    return size["BelkGC"] > 3 * size["ZhouGC"], f"{size['BelkGC']:.3f} against {size['ZhouGC']:.3f}"


@claim("3.1", "The flipped label pushes the prediction of BelkGC towards zero in the second example "
       "for the negative class.", "mean |f| of the negative half falls", "chain")  # fmt: skip
def belkin_is_pushed_to_zero(tables: Tables) -> Verdict:
    halves = [
        mean([abs(v) for v in numbers(tables["chain"], "f", example=e, model="BelkGC")[10:]])
        for e in CHAINS
    ]
    return halves[1] < halves[0], f"{halves[0]:.3f} -> {halves[1]:.3f}"


@claim("3.1", "RobustGC (eta = 0.5) clearly splits the graph in two for the first example, where the "
       "prediction is almost a step function.",
       "signs are right; along f / sqrt(d) the step at the weak link is three times any other",
       "chain")  # fmt: skip
def robust_is_a_step(tables: Tables) -> Verdict:
    f = np.array(numbers(tables["chain"], "f", example=FIRST, model="RobustGC"))
    d = np.array(numbers(tables["chain"], "degree", example=FIRST, model="RobustGC"))
    steps = np.abs(np.diff(f / np.sqrt(d)))
    middle, other = float(steps[9]), float(np.delete(steps, 9).max())
    split = bool((f[:10] > 0).all() and (f[10:] < 0).all())
    text = f"all signs right: {split}; step {middle:.3f} at the link, at most {other:.3f} elsewhere"
    return split and middle > 3 * other, text


@claim("3.1", "RobustGC is only slightly affected by the flipped label of the second example.",
       "no node but at most the flipped one changes sign", "chain")  # fmt: skip
def robust_keeps_the_split(tables: Tables) -> Verdict:
    f = np.array(numbers(tables["chain"], "f", example=SECOND, model="RobustGC"))
    truth = np.where(np.arange(20) < 10, 1, -1)
    wrong = np.flatnonzero(np.sign(f) != truth).tolist()
    return set(wrong) <= {FLIPPED}, f"nodes on the wrong side: {wrong or 'none'}"


@claim("3.2", "The condition number is at most (c - gamma) / (lambda_1 - gamma), c = 1 if the weight "
       "matrix is positive semi-definite and c = 2 if it is indefinite.",
       "the true condition number is below the bound for every eta", "conditioning")  # fmt: skip
def bound_holds(tables: Tables) -> Verdict:
    ratios = [float(r["true"]) / float(r["bound"]) for r in tables["conditioning"]]
    return max(ratios) <= 1 + 1e-9, f"true / bound between {min(ratios):.3f} and {max(ratios):.3f}"


@claim("3.2", "In order to have a reasonable condition number, gamma should not be too close to "
       "lambda_1.", "the condition number grows with eta, at least fivefold from 0.9 to 0.99",
       "conditioning")  # fmt: skip
def gamma_near_lambda_1_is_bad(tables: Tables) -> Verdict:
    rows = tables["conditioning"]
    growth = []
    for kind in ("positive semi-definite", "indefinite"):
        true = np.array(numbers(rows, "true", weights=kind))
        (early,) = numbers(rows, "true", weights=kind, eta=0.9)
        (late,) = numbers(rows, "true", weights=kind, eta=0.99)
        growth.append(late / early if (np.diff(true) > 0).all() else 0.0)
    return min(growth) > 5, f"from eta 0.9 to 0.99: x{growth[0]:.1f} and x{growth[1]:.1f}"


@claim("3.3", "As the bandwidth of the kernel is extended, the prediction can be extended to a "
       "broader area.", "the share of the grid in range grows with sigma", "moons")  # fmt: skip
def broader_kernels_reach_further(tables: Tables) -> Verdict:
    sigmas = dict.fromkeys(r["sigma"] for r in tables["moons"])
    shares = [
        1 - float(np.isnan(numbers(tables["moons"], "f", sigma=sigma)).mean()) for sigma in sigmas
    ]
    text = ", ".join(f"{100 * s:.0f} %" for s in shares)
    return bool((np.diff(shares) > 0).all()), f"in range: {text}"


@claim("3.3", "... but the classification becomes less precise at the border between the two classes.",
       "accuracy on the points with the broadest kernel below that with the narrowest",
       "moons")  # fmt: skip
def broader_kernels_are_less_precise(tables: Tables) -> Verdict:
    accuracy = {r["sigma"]: 100 * float(r["accuracy"]) for r in tables["moons"]}
    values = list(accuracy.values())
    text = ", ".join(f"{v:.0f} % (sigma {s})" for s, v in accuracy.items())
    return values[-1] < values[0], text

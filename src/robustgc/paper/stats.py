"""Means, Wilcoxon tests and ranks as in the paper's Table 1."""

from itertools import pairwise

import numpy as np
from scipy.stats import wilcoxon

from robustgc.graph.weights import Array

LEVEL = 0.05
FEWEST = 6  # pairs below which the test cannot separate anything at this level


def differs(a: Array, b: Array) -> bool:
    """Test at 5 % whether paired accuracies have a median difference other than zero."""
    gap = np.round(np.asarray(a) - np.asarray(b), 9)  # ties are ties, not rounding
    if not gap.any():
        return False
    return bool(wilcoxon(gap, method="approx", correction=False).pvalue < LEVEL)


def ranks(accuracies: dict[str, Array]) -> dict[str, int]:
    """Rank models by mean accuracy; neighbours that the test does not separate share a rank.

    As in the paper's table, the group of the best has rank 1, the group of the worst the last
    rank, and a group in between the rank of its first member.
    """
    order = sorted(accuracies, key=lambda name: -float(np.mean(accuracies[name])))
    groups = [[order[0]]]
    for better, name in pairwise(order):
        if differs(accuracies[better], accuracies[name]):
            groups.append([name])
        else:
            groups[-1].append(name)
    rank, position = {}, 1
    for number, group in enumerate(groups):
        last = number == len(groups) - 1 and number > 0
        for name in group:
            rank[name] = len(order) if last else position
        position += len(group)
    return {name: rank[name] for name in accuracies}


def standard_errors(mean_a: float, std_a: float, mean_b: float, std_b: float, n: int) -> float:
    """Return the difference of two means of n repeats in standard errors of the difference."""
    error = np.sqrt((std_a**2 + std_b**2) / n)
    gap = mean_a - mean_b
    return 0.0 if gap == 0 else float(gap / error) if error > 0 else float(np.sign(gap) * np.inf)

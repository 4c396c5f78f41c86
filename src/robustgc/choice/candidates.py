"""Which candidates there are, and how much weight each has before any label is seen.

A candidate is a filter ``(n_modes, eta)`` with a way to compare its classes, or a ridge regression
of the labels. With eta between 0 and 1 the filter is a lifted one; with eta below 0 it is ZhouGC's:
``gamma / (lambda - gamma)`` with ``gamma = eta lambda_1 < 0``, whose loss is convex, not concave.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from robustgc.choice.problem import Problem
from robustgc.graph import SMALL
from robustgc.lifted import MEDIUM, Modes, spreads
from robustgc.weights import Array

# docs/choice.md says where each comes from, and what happens at half and at double of it.
ETAS = (0.5, 0.99)  # modes with what is near a label, and modes alone
DIFFUSION = 0.2  # gamma of ZhouGC's filter, which knows no modes: about ten steps of a walk
_REGRESSION_PRIOR = 0.4  # share of ridge regressions; filters share the rest
_REGRESSION_LABELS = 200  # labels that give half of that to regressions on modes alone
_CLEAREST = 0.95  # relative gap at most: however clear the clusters, labels may say otherwise
_MOST_MODES = 60
_CONSTANTS = (1.25, 8.0)  # weights of the constant mode on one of several components
_CONSTANT_LABELS = 4  # labels of a component that give half of that: one is no majority
_LOCALISED = 0.1  # of a class of the usual size: modes on fewer nodes tell no classes apart
_WIDER_GAP = 3.0  # a gap behind one mode more than K classes need must be that much wider
FEW_LABELS = 8  # of which none can be told to be wrong by the others
_LOCALISED_ETAS = (0.1, 0.5)  # what leans least on the first modes
_LOCALISED_PRIOR = 0.99  # of these: other modes than the first may tell classes apart all the same
_PAPER_ETA = 0.9  # with few labels of two classes


class Comparison(NamedTuple):
    """How the classes of a filter are compared, as in `Candidate`, and its share of the prior."""

    balanced: bool
    constant: float
    centred: bool
    prior: float


@dataclass(frozen=True)
class Candidate:
    """A filter ``F = K Y`` or a ridge regression, with its weight: a row of `selection_`.

    Attributes
    ----------
    n_modes, eta : int, float
        The lifted filter. Below 0 eta is ``-0.2 / lambda_1``: ZhouGC with gamma 0.2. None: least
        squares on the first modes alone.
    balanced : bool
        Whether column c of F is divided by the label mass ``m_c``; else classes count by labels.
    constant : float
        Weight of ``v0 v0' Y``, which says what class has most labels; a lifted mode has 1.
    centred : bool
        Whether half of ``|mu_c|^2`` is subtracted: a node goes to the class of the nearest mean.
    accuracy : float
        Share of the given labels that it gives back when each is left out.
    evidence : float
        Mean log-likelihood of a given label that is left out, less the default's.
    weight : float
        Its weight in the ensemble; before the labels are seen, its prior.
    ridge : float or None
        None: the lifted filter itself. Else ridge regression with its kernel, and the variance of a
        label's noise relative to the mean of the kernel's diagonal.
    """

    n_modes: int
    eta: float | None
    balanced: bool
    constant: float
    centred: bool
    accuracy: float
    evidence: float
    weight: float
    ridge: float | None = None

    @property
    def lifted(self) -> bool:
        """Whether it is a lifted filter, neither ZhouGC's nor a regression."""
        return self.is_filter and self.eta is not None and self.eta > 0

    @property
    def is_filter(self) -> bool:
        """Whether it is a filter, not a regression."""
        return self.eta is not None and self.ridge is None


Filter = tuple[int, float]  # n_modes, eta
Regression = tuple[int, float | None, float | None]  # n_modes, eta, ridge


def all_candidates(
    problem: Problem,
    filters: Sequence[Filter],
    first: Sequence[int],
    default_prior: float,
    regressions: Sequence[Regression],
    *,
    local: bool,
) -> tuple[tuple[Candidate, ...], int]:
    """Return all candidates with their prior, and the place of the default among them.

    Filters stand first, comparison by comparison, then regressions. `first` are the places among
    the filters of those that have `default_prior` by themselves, the default before the others; the
    rest is shared by all.
    """
    ways, default_ways = _comparisons(problem, local=local)
    defaults = [default + way * len(filters) for way in default_ways for default in first]
    weights = _prior(filters, ways, regressions, problem.n_classes, len(problem.nodes))
    weights *= 1 - default_prior
    weights[defaults] += default_prior / len(defaults)
    models: list[tuple[int, float | None, bool, float, bool, float | None]]
    models = [(*f, *way[:3], None) for way in ways for f in filters]
    models += [(q, eta, False, 1.0, True, ridge) for q, eta, ridge in regressions]
    return tuple(
        Candidate(*model[:5], np.nan, 0.0, weight, model[5])
        for model, weight in zip(models, weights.tolist(), strict=True)
    ), defaults[0]


def _prior(
    filters: Sequence[Filter],
    ways: Sequence[Comparison],
    regressions: Sequence[Regression],
    n_classes: int,
    n_labels: int,
) -> Array:
    """Return the prior of all candidates but for the default's own share, summing to 1.

    Regressions have a share, with fewer labels a lesser one where they know the modes alone. Of the
    rest half is ZhouGC's, where it is a candidate. Among lifted filters, as among regressions, the
    prior is in proportion to ``min(1, (K - 1) / n_modes)``: less for more modes than K classes
    need.
    """

    def simplicity(members: Sequence[Any]) -> Array:
        return np.array([min(1.0, max(1, n_classes - 1) / member[0]) for member in members])

    filtered, regressed = simplicity(filters), simplicity(regressions)
    diffusion = np.array([eta < 0 for _, eta in filters])
    if diffusion.any():
        filtered[diffusion] = filtered[~diffusion].sum() / diffusion.sum()
    share = _REGRESSION_PRIOR if regressions else 0.0
    if all(ridge is None for _, _, ridge in regressions):  # on modes alone
        share *= n_labels / (n_labels + _REGRESSION_LABELS)
    parts = [(1 - share) * way.prior * filtered / filtered.sum() for way in ways]
    return np.concatenate([*parts, share * regressed / (regressed.sum() or 1.0)])


def wanted_modes(problem: Problem) -> int:
    """Return how many modes candidates may lift."""
    if problem.model.n_modes is not None:
        return problem.model.n_modes
    K = problem.n_classes
    return min(3 * K + 9 if problem.graph.n <= MEDIUM else K + 2, _MOST_MODES)


def localised(problem: Problem, vectors: Array) -> bool:
    """Whether each of the first modes lives on a sliver of the graph, where eta may be chosen.

    The first modes of sparse graphs with long whiskers live there, and tell no classes apart.
    """
    if problem.model.eta is not None:
        return False
    K = problem.n_classes
    return bool(spreads(problem.graph, vectors[:, : K + 1]).max() < _LOCALISED / K)


def filter_candidates(
    problem: Problem, modes: Modes, *, local: bool
) -> tuple[tuple[Filter, ...], tuple[int, ...], float]:
    """Return the filters (n_modes, eta), which of them come first, and the prior of these.

    The default lifts the modes below the widest gap that K classes need. What the gap tells is
    known before any label: the prior is ``(1 - lambda_q / lambda_{q+1})^2``, near 1 where the graph
    falls into clusters beyond doubt and near 0 where the cut after q modes is as good as another.
    """
    K, eta, n_modes = problem.n_classes, problem.model.eta, problem.model.n_modes
    etas: Sequence[float] = ETAS if eta is None else (eta,)
    if n_modes is None:
        numbers, default = _mode_numbers(modes.values, K, wanted_modes(problem), problem.graph.n)
    elif len(modes.values) < n_modes:
        raise ValueError(
            f"n_modes={n_modes} is not possible here: a component of {problem.graph.n} nodes "
            f"has {len(modes.values)} modes that can be told from the others. Lower n_modes, or "
            "leave it at 'auto'."
        )
    else:
        numbers, default = [n_modes], n_modes
    filters = [(q, float(eta)) for q in numbers for eta in etas]
    if local:
        paper = K == 2 and len(problem.nodes) < FEW_LABELS
        near = [(numbers[0], eta) for eta in ((_PAPER_ETA,) if paper else _LOCALISED_ETAS)]
        filters = near + [pair for pair in filters if pair not in near]
        return tuple(filters), tuple(range(len(near))), _LOCALISED_PRIOR
    place = filters.index((default, float(etas[-1])))
    if eta is None and n_modes is None:
        filters.append((1, -DIFFUSION / float(modes.values[0])))
    return tuple(filters), (place,), relative_gap(modes, default) ** 2


def relative_gap(modes: Modes, q: int) -> float:
    """Return ``1 - lambda_q / lambda_{q+1}``; one half where the next eigenvalue is not known."""
    values = modes.values
    following = float(values[q]) if q < len(values) else modes.beyond
    gap = 1.0 - float(values[q - 1]) / following if following > 0 else 0.5
    return min(max(gap, 0.0), _CLEAREST)


def _mode_numbers(values: Array, K: int, wanted: int, n: int) -> tuple[list[int], int]:
    """Return the numbers of modes to lift, and the default: the widest gap that K classes need."""
    known = len(values)
    top = min(known, wanted) if n > SMALL else min(known, wanted, max(1, n // 4))
    gaps = np.diff(values[: top + 1])
    if known < wanted and n > SMALL:  # those that stand clear: the widest gap is behind them
        default = min(known, max(1, K - 1))
    else:
        near = gaps[: max(1, K - 1)]
        default = int(np.argmax(near)) + 1 if near.size else 1
        if len(gaps) >= K and gaps[K - 1] > _WIDER_GAP * near.max():
            default = K  # a class of two clusters: the modes below the gap belong together
    ratios = gaps / np.maximum(values[: len(gaps)], 1e-300)
    widest = (np.argsort(-ratios, kind="stable")[:2] + 1).tolist()
    some = {1, 2, 3, K - 1, K, K + 2, 2 * K, 3 * K, default, *widest}
    return sorted(q for q in some if 1 <= q <= top), default


def _comparisons(
    problem: Problem, *, local: bool
) -> tuple[tuple[Comparison, ...], tuple[int, ...]]:
    """Return the ways to compare classes, and which of them are the default's.

    On one of several components the constant mode tells the classes here from those elsewhere. It
    is the smoothest mode of all, and may be all there is to tell: two weights of it are tried.
    """
    if not problem.has_choice:
        return (Comparison(problem.model.balanced, 0.0, False, 1.0),), (0,)
    m = len(problem.nodes)
    weights = [c * m / (m + _CONSTANT_LABELS) * problem.other_components for c in _CONSTANTS]
    constant = weights[0]
    if local:  # values differ by orders of magnitude: a constant would decide for most nodes
        ways = Comparison(True, constant, False, 0.8), Comparison(False, constant / 2, False, 0.2)
        return ways, (0,)
    counting = (
        Comparison(False, max(1.0, constant), False, 0.1),
        Comparison(False, constant / 2, False, 0.1),
    )
    weights = weights if problem.other_components else [0.0]
    share = 0.4 / len(weights)
    balanced = [Comparison(True, b, centred, share) for centred in (False, True) for b in weights]
    nearest = problem.n_classes > 2 or problem.other_components
    first = len(weights) * nearest
    return (*balanced, *counting), tuple(range(first, first + len(weights)))

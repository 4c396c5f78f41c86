"""The choice without test labels: candidates weighed by what they say of labels they do not see.

No single candidate can be told apart from its neighbours by ten labels, so none is picked: all
answer together, each with the weight that the labels and a prior for the default give it. The
answers are linear in the labels, so the committee is one linear filter again, and so is what it
says of a label left out. The labels in turn are trusted as far as the others bear them out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.choice import likelihood as scores
from robustgc.choice.candidates import Candidate, Family, Filtered, Fitted, Labelled
from robustgc.weights import Array

DEFAULT_ETA = {True: 0.9, False: 0.95}  # for two classes, the paper's; for more
ETAS = (0.1, 0.5, 0.9, 0.95, 0.99)
PRIOR = {True: 0.5, False: 0.25}  # of the default against all others: the paper's; our own guess
_FITS = 0.3  # share of the others' prior for least squares, with kernels of the labels
_MANY = 200  # labels that give half of it where there are only modes
_POWER = 0.3  # of the likelihood: neighbouring labels are not independent witnesses
ROUNDS = 3
_FAINT = 1e-3  # beside the heaviest; a candidate that light is judged once
_TOGETHER = 2e5  # values of candidates that are scored together


@dataclass(frozen=True)
class Committee:
    """The weights of all candidates, and what they say of the labels.

    Attributes
    ----------
    candidates : tuple of Candidate
        Filters, family by family, then least squares.
    factors : ndarray, shape (candidates,)
        Of the decision values, so that they can be added up.
    likeness : ndarray, shape (models + 1, K)
        What every model, and v0 last, finds that a class has in common with itself.
    trust : ndarray, shape (labels,)
        Weight of every label in the answer, 1 on average.
    judged : ndarray of bool, shape (labels,)
        False for the only label of its class.
    right : ndarray, shape (labels,)
        Probability that the label is right, from the others; where it cannot be judged, the share
        of right labels.
    chances : ndarray, shape (labels, K)
        Of the classes at every label, unseen.
    """

    candidates: tuple[Candidate, ...]
    factors: Array
    likeness: Array
    trust: Array
    judged: NDArray[np.bool_]
    right: Array
    chances: Array


class _Scores:
    """What all candidates say of the labels without them: values, log-likelihoods, readings."""

    def __init__(self, count: int, codes: NDArray[np.int64], K: int, others: Any) -> None:
        self.values = np.zeros((count, len(codes), K))
        self.lines = np.zeros((count, int(others.sum())))
        self.sharpness, self.noise = np.ones(count), np.full(count, 0.2)
        self._codes, self._others = codes, others

    def judge(
        self, which: NDArray[Any], values: Array, left: Array, balanced: Any, floor: float
    ) -> None:
        """Score some candidates anew, a few at a time: their values stay in cache."""
        step = max(1, int(_TOGETHER // max(left.size, 1)))
        for first in range(0, len(which), step):
            part, own = which[first : first + step], values[first : first + step]
            self.values[part] = S = scores.scaled(own, left, balanced[part], floor)[0]
            S = S if self._others.all() else S[:, self._others]
            self.lines[part], self.sharpness[part], self.noise[part] = scores.likelihood(
                S, self._codes[self._others]
            )


def convene(
    models: Sequence[tuple[int, float]],
    default: int,
    filters: Filtered,
    fits: Fitted,
    labels: Labelled,
    families: Sequence[Family],
    free: bool,
    rounds: int = ROUNDS,
    before: Array | None = None,
) -> Committee:
    """Weigh the candidates.

    Parameters
    ----------
    models : sequence of (n_modes, eta)
    default : int
        Which candidate has the prior: filters are counted family by family.
    filters, fits
        The models, and least squares.
    labels : Labelled
    families : sequence of Family
        How the models' classes are compared.
    free : bool
        Whether there is anything to choose.
    rounds : int
        How often candidates are weighed; between two rounds labels are weighed by trust.
    before : ndarray or None
        Weights of the candidates with nearly the same labels: those that were light are not heard.
    """
    codes, K = labels.codes, labels.n_classes
    one_hot = np.eye(K)[codes]
    # The only label of its class cannot be judged: without it the class is not there.
    others = np.bincount(codes, minlength=K)[codes] > 1
    prior = weight = _prior(models, default, families, fits, labels)
    balanced = np.zeros(len(prior), dtype=bool)
    alike = [family.balanced for family in families]
    balanced[: len(alike) * len(models)] = np.repeat(alike, len(models))
    trust, judged = np.ones(len(codes)), _Scores(len(prior), codes, K, others)
    active = np.arange(len(prior)) if before is None else _heard(before)
    prior = weight = np.where(np.isin(np.arange(len(prior)), active), prior, 0.0)
    filtered = len(models) * len(families)
    for turn in range(rounds):
        Y = one_hot * (trust * labels.size * labels.votes)[:, None]
        some = np.unique(active[active < filtered] % len(models))
        answers, pull, left = filters(Y, some)
        floor = 1e-10 * float(np.abs(pull).max(initial=0.0))  # below is rounding
        own, unseen = _likeness(answers, Y, left, labels)
        values = _values(answers, pull, left, unseen, labels, families)
        values = np.concatenate(
            [values, *(F[None] for F in fits.leave_one_out(trust * labels.size))]
        )
        judged.judge(active, values[_rows(active, some, models, families)], left, balanced, floor)
        total = judged.lines.sum(axis=1)
        weight = prior * np.exp(_POWER * np.minimum(total - total[prior > 0].max(), 0.0))
        weight /= weight.sum()
        right, chances = _verdict(judged, weight, codes, others, last=turn == rounds - 1)
        if turn < rounds - 1:
            trust = right / right.mean()
            active = _heard(weight)
    factors = weight * judged.sharpness
    if free:
        # By their size with all labels: a local candidate speaks of its own labels most of all.
        every, pull, left = filters.at_labels(Y, some)
        values = _values(every, pull, left, own, labels, families)
        values = np.concatenate([values, *(F[None] for F in fits.at_labels(trust * labels.size))])
        values = values[_rows(active, some, models, families)]
        factors[active] /= scores.scaled(values, left, balanced[active], floor)[1]
    likeness = np.zeros((len(models) + 1, K))
    likeness[some], likeness[-1] = own[:-1], own[-1]
    return Committee(
        _candidates(models, default, families, fits, judged, weight, codes, others),
        factors,
        likeness,
        trust,
        others,
        np.clip(right, 0.0, 1.0),
        chances,
    )


def _heard(weight: Array) -> NDArray[Any]:
    """Return the candidates that are not too light to count."""
    return np.flatnonzero(weight >= _FAINT * weight.max())


def _rows(
    active: NDArray[Any],
    some: NDArray[Any],
    models: Sequence[tuple[int, float]],
    families: Sequence[Family],
) -> NDArray[Any]:
    """Return where candidates stand among the values of some models, family by family, and fits."""
    family, model = np.divmod(active, len(models))
    filtered = family * len(some) + np.searchsorted(some, model)
    fitted = active - len(families) * (len(models) - len(some))
    return np.where(active < len(families) * len(models), filtered, fitted)


def _prior(
    models: Sequence[tuple[int, float]],
    default: int,
    families: Sequence[Family],
    fits: Fitted,
    labels: Labelled,
) -> Array:
    """Give the default a share by itself, and less to more modes than the classes need."""

    def fit(q: int) -> float:
        return min(1.0, max(1, labels.n_classes - 1) / q)

    filtered, fitted = (
        np.array([fit(q) for q, _ in models]),
        np.array([fit(q) for q in fits.numbers]),
    )
    m = len(labels.codes)
    share = _FITS if fits.kernels else _FITS * m / (m + _MANY) if fits.numbers else 0.0
    parts = [(1 - share) * family.share * filtered / filtered.sum() for family in families]
    most = PRIOR[labels.n_classes == 2]
    prior = (1 - most) * np.concatenate([*parts, share * fitted / (fitted.sum() or 1.0)])
    prior[default] += most
    return prior


def _likeness(F: Array, Y: Array, left: Array, labels: Labelled) -> tuple[Array, Array]:
    """Return what every class has in common with itself: with all labels, and without each.

    A mean over pairs of its labels, none with itself: the squared length of the class mean, without
    what chance adds to it. Labels in other components have nothing in common with those here. For
    every model, and for v0 last: (models + 1, K), and (models + 1, labels, K).
    """
    elsewhere = labels.elsewhere
    here, near = Y.sum(axis=0), left - elsewhere
    shared, pairs = Y * F, Y * near
    total, count = shared.sum(axis=1), pairs.sum(axis=0)
    least = 1e-9 * pairs.max(initial=0.0)
    own = _ratio(total, count, least) * _ratio(here, here + elsewhere, 0.0) ** 2
    unseen = _ratio(total[:, None] - 2 * shared, count - 2 * pairs, least)
    unseen = unseen * _ratio(near, left, 0.0) ** 2
    return (
        np.concatenate([own, _by_piece(here + elsewhere, labels)[None]]),
        np.concatenate([unseen, _by_piece(left, labels)[None]]),
    )


def _ratio(a: Array, b: Array, least: float) -> Array:
    """Return a / b, 0 where b is next to nothing."""
    return np.asarray(np.where(b > least, a / np.where(b > least, b, 1.0), 0.0))


def _by_piece(left: Array, labels: Labelled) -> Array:
    """Return the same for v0: it tells the labels of this component from those of all others."""
    away = _ratio(labels.elsewhere, left, 0.0)
    return np.asarray(labels.level * (away**2 + (1 - away) ** 2))


def _values(
    answers: Array,
    pull: Array,
    left: Array,
    likeness: Array,
    labels: Labelled,
    families: Sequence[Family],
) -> Array:
    """Return every filter's values at the labels, family by family: (candidates, labels, K)."""
    found = []
    for family in families:
        values = answers + family.constant * pull
        if family.centred:
            asked = likeness[:-1] + family.constant * likeness[-1]
            asked = asked if asked.ndim == 3 else asked[:, None]
            values -= 0.5 * labels.heights[:, None] * left * asked
        found.append(values)
    return np.concatenate(found)


def _verdict(
    judged: _Scores,
    weight: Array,
    codes: NDArray[np.int64],
    others: NDArray[np.bool_],
    *,
    last: bool,
) -> tuple[Array, Array]:
    """Return the probability of every label to be right, and of the classes there, unseen."""
    heard = _heard(weight)
    S = judged.values[heard]
    sharpness, noise = judged.sharpness[heard], judged.noise[heard]
    if last:
        sharpness, noise = scores.sharpest(S[:, others], codes[others])
    right, chances = np.zeros(len(codes)), np.zeros(S.shape[1:])
    for w, values, tau, eps in zip(weight[heard], S, sharpness, noise, strict=True):
        p = scores.softmax(tau * values)
        chances += w * p
        right += w * np.where(others, scores.right(p, codes, eps), 1 - eps)
    return right / weight[heard].sum(), chances / weight[heard].sum()


def _candidates(
    models: Sequence[tuple[int, float]],
    default: int,
    families: Sequence[Family],
    fits: Fitted,
    judged: _Scores,
    weight: Array,
    codes: NDArray[np.int64],
    others: NDArray[np.bool_],
) -> tuple[Candidate, ...]:
    members: list[tuple[int, float | None, bool, float, bool]]
    members = [(*model, *family[:3]) for family in families for model in models]
    members += [(q, eta, False, 1.0, True) for q, eta, _ in fits.members]
    ridges = [None] * (len(members) - len(fits.members)) + [s for _, _, s in fits.members]
    accuracy, evidence = np.full(len(weight), np.nan), np.zeros(len(weight))
    if others.any():
        values = judged.values if others.all() else judged.values[:, others]
        hits = values.argmax(axis=2) == codes[others]
        accuracy, evidence = hits.mean(axis=1), judged.lines.mean(axis=1)
        evidence = evidence - evidence[default]
    numbers = zip(accuracy.tolist(), evidence.tolist(), weight.tolist(), strict=True)
    return tuple(
        Candidate(*member, *row, ridge)
        for member, row, ridge in zip(members, numbers, ridges, strict=True)
    )

"""The choice without test labels: candidates weighed by what they say of labels they do not see.

No single candidate can be told apart from its neighbours by ten labels, so none is picked: all
answer together, each with the weight that the labels and a prior for the default give it. The
answers are linear in the labels, so the committee is one linear filter again, and so is what it
says of a label left out. The labels in turn are trusted as far as the others bear them out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustgc import scores
from robustgc.candidates import Candidate, Family, Filtered, Fitted, Labelled
from robustgc.weights import Array

DEFAULT_ETA = {True: 0.9, False: 0.95}  # for two classes, the paper's; for more
ETAS = (0.1, 0.5, 0.9, 0.95, 0.99)
PRIOR = {True: 0.5, False: 0.25}  # of the default against all others: the paper's; our own guess
_FITS = 0.3  # share of the others' prior for least squares, once labels are many
_MANY = 200  # labels that give half of it
_POWER = 0.3  # of the likelihood: neighbouring labels are not independent witnesses
ROUNDS = 3
_FAINT = 1e-3  # beside the heaviest; a candidate that light is judged once


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


class _Judged(NamedTuple):
    """A candidate's values at the labels unseen, their log-likelihood, sharpness and noise."""

    values: Array
    lines: Array
    tau: float
    eps: float


_NOTHING = _Judged(np.empty(0), np.empty(0), 1.0, 0.2)


def convene(
    models: Sequence[tuple[int, float]],
    default: int,
    filters: Filtered,
    fits: Fitted,
    labels: Labelled,
    families: Sequence[Family],
    *,
    free: bool,
    rounds: int = ROUNDS,
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
    """
    codes, K = labels.codes, labels.n_classes
    one_hot = np.eye(K)[codes]
    # The only label of its class cannot be judged: without it the class is not there.
    others = np.bincount(codes, minlength=K)[codes] > 1
    prior = weight = _prior(models, default, families, fits.numbers, labels)
    trust, judged = np.ones(len(codes)), [_NOTHING] * len(prior)
    for turn in range(rounds):
        Y = one_hot * (trust * labels.size * labels.votes)[:, None]
        answers, pull, left = filters(Y)
        floor = 1e-10 * float(np.abs(pull).max(initial=0.0))  # below is rounding
        likeness = [_likeness(F, Y, left, labels.elsewhere) for F in answers]
        likeness.append(
            (_by_piece(Y.sum(axis=0) + labels.elsewhere, labels), _by_piece(left, labels))
        )
        values = _values(answers, pull, left, [own for _, own in likeness], labels, families)
        values += [(F, left, False) for F in fits.unseen(trust * labels.size)]
        for k, value in enumerate(values):
            if turn == 0 or weight[k] >= _FAINT * weight.max():
                S = scores.scaled(*value, floor)[0]
                judged[k] = _Judged(S, *scores.likelihood(S[others], codes[others]))
        total = np.array([c.lines.sum() for c in judged])
        weight = prior * np.exp(_POWER * (total - total.max()))
        weight /= weight.sum()
        right, chances = _verdict(judged, weight, codes, others, last=turn == rounds - 1)
        if turn < rounds - 1:
            trust = right / right.mean()
    factors = weight * [c.tau for c in judged]
    if free:
        # By their size with all labels: a local candidate speaks of its own labels most of all.
        every = _values(*filters.seen(Y), [own for own, _ in likeness], labels, families)
        every += [(F, left, False) for F in fits.seen(trust * labels.size)]
        factors /= [scores.scaled(*value, floor)[1] for value in every]
    return Committee(
        _candidates(models, default, families, fits.numbers, judged, weight, codes, others),
        factors,
        np.stack([own for own, _ in likeness]),
        trust,
        others,
        np.clip(right, 0.0, 1.0),
        chances,
    )


def _prior(
    models: Sequence[tuple[int, float]],
    default: int,
    families: Sequence[Family],
    fits: Sequence[int],
    labels: Labelled,
) -> Array:
    """Give the default a share by itself, and less to more modes than the classes need."""

    def fit(q: int) -> float:
        return min(1.0, max(1, labels.n_classes - 1) / q)

    filtered, fitted = np.array([fit(q) for q, _ in models]), np.array([fit(q) for q in fits])
    m = len(labels.codes)
    share = _FITS * m / (m + _MANY) if len(fits) else 0.0
    parts = [(1 - share) * family.share * filtered / filtered.sum() for family in families]
    most = PRIOR[labels.n_classes == 2]
    prior = (1 - most) * np.concatenate([*parts, share * fitted / (fitted.sum() or 1.0)])
    prior[default] += most
    return prior


def _likeness(F: Array, Y: Array, left: Array, elsewhere: Array) -> tuple[Array, Array]:
    """Return what every class has in common with itself: with all labels, and without each.

    A mean over pairs of its labels, none with itself: the squared length of the class mean, without
    what chance adds to it. Labels in other components have nothing in common with those here.
    """
    here, near = Y.sum(axis=0), left - elsewhere
    shared, pairs = Y * F, Y * near
    total, count = shared.sum(axis=0), pairs.sum(axis=0)
    least = 1e-9 * pairs.max(initial=0.0)
    return (
        _ratio(total, count, least) * _ratio(here, here + elsewhere, 0.0) ** 2,
        _ratio(total - 2 * shared, count - 2 * pairs, least) * _ratio(near, left, 0.0) ** 2,
    )


def _ratio(a: Array, b: Array, least: float) -> Array:
    """Return a / b, 0 where b is next to nothing."""
    return np.asarray(np.where(b > least, a / np.where(b > least, b, 1.0), 0.0))


def _by_piece(left: Array, labels: Labelled) -> Array:
    """Return the same for v0: it tells the labels of this component from those of all others."""
    away = _ratio(labels.elsewhere, left, 0.0)
    return np.asarray(labels.level * (away**2 + (1 - away) ** 2))


def _values(
    answers: Sequence[Array],
    pull: Array,
    left: Array,
    likeness: Sequence[Array],
    labels: Labelled,
    families: Sequence[Family],
) -> list[tuple[Array, Array, bool]]:
    """Return every filter's values at the labels, family by family."""
    found = []
    for family in families:
        for F, own in zip(answers, likeness[:-1], strict=True):
            values = F + family.constant * pull
            if family.centred:
                asked = own + family.constant * likeness[-1]
                values = values - 0.5 * labels.heights[:, None] * asked * left
            found.append((values, left, family.balanced))
    return found


def _verdict(
    judged: Sequence[_Judged],
    weight: Array,
    codes: NDArray[np.int64],
    others: NDArray[np.bool_],
    *,
    last: bool,
) -> tuple[Array, Array]:
    """Return the probability of every label to be right, and of the classes there, unseen."""
    right, chances = np.zeros(len(codes)), np.zeros(judged[0].values.shape)
    for w, (S, _, *reading) in zip(weight, judged, strict=True):
        if w >= _FAINT * weight.max():
            tau, eps = scores.sharpest(S[others], codes[others]) if last else reading
            p = scores.softmax(tau * S)
            chances += w * p
            right += w * np.where(others, scores.right(p, codes, eps), 1 - eps)
    total = weight[weight >= _FAINT * weight.max()].sum()
    return right / total, chances / total


def _candidates(
    models: Sequence[tuple[int, float]],
    default: int,
    families: Sequence[Family],
    fits: Sequence[int],
    judged: Sequence[_Judged],
    weight: Array,
    codes: NDArray[np.int64],
    others: NDArray[np.bool_],
) -> tuple[Candidate, ...]:
    members: list[tuple[int, float | None, bool, float, bool]]
    members = [(*model, *family[:3]) for family in families for model in models]
    members += [(q, None, False, 1.0, True) for q in fits]
    base = judged[default].lines.mean() if others.any() else 0.0
    return tuple(
        Candidate(
            *member,
            float(np.mean((S.argmax(axis=1) == codes)[others])) if others.any() else np.nan,
            float(lines.mean() - base) if others.any() else 0.0,
            float(w),
        )
        for member, (S, lines, *_), w in zip(members, judged, weight, strict=True)
    )

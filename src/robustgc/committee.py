"""The choice without test labels: candidates weighed by what they say of labels they do not see.

No single candidate can be told apart from its neighbours by ten labels, so none is picked: all
answer together, each with the weight that the labels and a prior for the default give it. The
answers are linear in the labels, so the committee is one linear filter again, and so is what it
says of a label left out. The labels in turn are trusted as far as the others bear them out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from robustgc.weights import Array

# What held-out answers are made of: by model, at every label without it, a column per class; the
# pull of v0; the label mass of every class that is left.
Unseen: TypeAlias = tuple[Sequence[Array], Array, Array]

DEFAULT_ETA = {True: 0.9, False: 0.95}  # for two classes, the paper's; for more
ETAS = (0.1, 0.5, 0.9, 0.95, 0.99)
PRIOR = 0.5  # of the default: a coin's weight against all others together
_BY_COUNT = 0.15  # share of the others' prior for each way of counting labels
_POWER = 0.2  # of the likelihood: neighbouring labels are not independent witnesses
_SHARPNESS = (1.0, 2.0, 4.0, 8.0)
_NOISE = (0.05, 0.2, 0.4)
_ROUNDS = 3
_FINE = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_SLACK = 0.5  # log-likelihood that a sharper reading of the answers may cost


@dataclass(frozen=True)
class Candidate:
    """One member of the committee.

    Attributes
    ----------
    n_modes, eta : int, float
        The lifted model.
    balanced : bool
        Whether every class counts alike; else classes count by their labels.
    constant : float
        Weight of the constant mode v0, which says what class has most labels, beside a lifted one.
    accuracy : float
        Share of the given labels that it gives back unseen.
    evidence : float
        Mean log-likelihood of a given label unseen, above the default's.
    weight : float
        Its share in the committee.
    """

    n_modes: int
    eta: float
    balanced: bool
    constant: float
    accuracy: float
    evidence: float
    weight: float


@dataclass(frozen=True)
class Committee:
    """The weights of all candidates, and what they say of the labels.

    Attributes
    ----------
    candidates : tuple of Candidate
    factors : ndarray, shape (candidates,)
        Of the decision values, so that they can be added up.
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
    trust: Array
    judged: NDArray[np.bool_]
    right: Array
    chances: Array


def convene(
    models: Sequence[tuple[int, float]],
    default: int,
    unseen: Callable[[Array], Unseen],
    seen: Callable[[Array], Unseen],
    codes: NDArray[np.int64],
    size: Array,
    n_classes: int,
    *,
    families: Sequence[tuple[bool, float]],
    free: bool,
) -> Committee:
    """Weigh the candidates.

    Parameters
    ----------
    models : sequence of (n_modes, eta)
    default : int
        Which of them has the prior.
    unseen : callable
        From label columns, shape (labels, K), to what is said of every label without it.
    seen : callable
        The same with all labels.
    codes : ndarray of int, shape (labels,)
    size : ndarray, shape (labels,)
        Weight of every label before trust.
    families : sequence of (balanced, pulled)
        How classes count: alike or by their labels; the weight of the constant mode v0 beside that
        of a lifted one.
    free : bool
        Whether labels are weighed by trust.
    """
    one_hot = np.eye(n_classes)[codes]
    # The only label of its class cannot be judged: without it the class is not there.
    others = np.bincount(codes, minlength=n_classes)[codes] > 1
    trust = np.ones(len(codes))
    prior = _prior(models, default, len(families), n_classes)
    rounds = _ROUNDS if free else 1
    for turn in range(rounds):
        answers, pull, left = unseen(one_hot * (trust * size)[:, None])
        floor = 1e-10 * float(np.abs(pull).max(initial=0.0))  # below is rounding
        judged = []
        for balanced, pulled in families:
            for F in answers:
                S = _scaled(F + pulled * pull, left, balanced, floor)[0]
                judged.append((S, *_likelihood(S[others], codes[others])))
        total = np.array([lines.sum() for _, lines, _, _ in judged])
        weight = prior * np.exp(_POWER * (total - total.max()))
        weight /= weight.sum()
        chances, right = np.zeros(one_hot.shape), np.zeros(len(codes))
        for w, (S, _, *reading) in zip(weight, judged, strict=True):
            if w > 1e-6 * weight.max():
                last = turn == rounds - 1
                tau, eps = _sharpest(S[others], codes[others]) if last else reading
                p = _softmax(tau * S)
                chances += w * p
                right += w * np.where(others, _right(p, codes, eps), 1 - eps)
        if turn < rounds - 1:
            trust = right / right.mean()
    members = [(*model, *family) for family in families for model in models]
    base = judged[default][1].mean() if others.any() else 0.0
    candidates = tuple(
        Candidate(
            *member,
            float(np.mean((S.argmax(axis=1) == codes)[others])) if others.any() else np.nan,
            float(lines.mean() - base) if others.any() else 0.0,
            float(w),
        )
        for member, (S, lines, _, _), w in zip(members, judged, weight, strict=True)
    )
    factors = weight * [tau for *_, tau, _ in judged]
    if free:
        # By their size with all labels: a local candidate speaks of its own labels most of all.
        answers, pull, left = seen(one_hot * (trust * size)[:, None])
        factors /= [
            _scaled(F + pulled * pull, left, balanced, floor)[1]
            for balanced, pulled in families
            for F in answers
        ]
    return Committee(candidates, factors, trust, others, np.clip(right, 0.0, 1.0), chances)


def _prior(
    models: Sequence[tuple[int, float]], default: int, families: int, n_classes: int
) -> Array:
    """Half for the default; of the rest less for more modes than the classes need."""
    fit = np.array([min(1.0, max(1, n_classes - 1) / q) for q, _ in models])
    shares = [1.0, *[_BY_COUNT] * (families - 1)]
    shares[0] -= sum(shares[1:])
    prior = np.concatenate([(1 - PRIOR) * share * fit / fit.sum() for share in shares])
    prior[default] += PRIOR
    return prior


def _scaled(F: Array, left: Array, balanced: bool, floor: float) -> tuple[Array, float]:
    """Centre the classes of every row and bring a candidate's values to unit size.

    -inf where no label of the class is left.
    """
    there = left > 1e-9 * left.max()
    if balanced:
        F = F / np.where(there, left, 1.0) * left.mean()
    known = np.where(there, F, 0.0)
    known = np.where(there, known - known.sum(1, keepdims=True) / there.sum(1, keepdims=True), 0.0)
    scale = float(np.sqrt(np.mean(known**2)))
    if scale <= floor:
        known, scale = np.zeros_like(known), 1e10 * floor or 1.0
    return np.where(there, known / scale, -np.inf), scale


def _likelihood(S: Array, codes: NDArray[np.int64]) -> tuple[Array, float, float]:
    """Fit sharpness and noise of a candidate; return the log-likelihood of every label."""
    best = (-np.inf, np.zeros(0), 1.0, 0.2)
    rows, K = np.arange(len(codes)), S.shape[1]
    for tau in _SHARPNESS:
        own = _softmax(tau * S)[rows, codes]
        for eps in _NOISE:
            lines = np.log((1 - eps) * own + eps / K)
            score = float(lines.sum()) - 0.15 * tau  # a few labels do not make an oracle
            if score > best[0]:
                best = (score, lines, tau, eps)
    return best[1:]


def _sharpest(S: Array, codes: NDArray[np.int64]) -> tuple[float, float]:
    """Return the sharpest reading of a candidate that the labels bear out, and its noise.

    Wrong labels are explained by blurred answers as well as by noise. In the weights of the
    committee blur is the careful reading; of the labels it would say that few are wrong.
    """
    rows, K, found = np.arange(len(codes)), S.shape[1], []
    for tau in _SHARPNESS:
        own = _softmax(tau * S)[rows, codes]
        scores = [float(np.log((1 - eps) * own + eps / K).sum()) for eps in _FINE]
        best = int(np.argmax(scores))
        found.append((scores[best], tau, _FINE[best]))
    limit = max(found)[0] - _SLACK
    _, tau, eps = max((line for line in found if line[0] >= limit), key=lambda line: line[1])
    return tau, eps


def _right(p: Array, codes: NDArray[np.int64], eps: float) -> Array:
    """Return the probability of every label to be right, by Bayes."""
    own, K = p[np.arange(len(codes)), codes], p.shape[1]
    return np.asarray((1 - eps + eps / K) * own / ((1 - eps) * own + eps / K))


def _softmax(S: Array) -> Array:
    return np.asarray(np.exp(S - logsumexp(S, axis=1, keepdims=True)))

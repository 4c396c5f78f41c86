"""Compute the likelihood of the labels, and the posterior that each of them is right.

Decision values at label i, brought to unit size, are ``S_ic``. They give class c there the
probability ``p_ic = softmax_c(tau S_ic)``.

A **candidate** is scored by a plain model: a given label is the true class with probability
``1 - eps`` and any of the K classes, drawn evenly, with probability ``eps``.

The **ensemble** has a fuller one, by which labels are judged and probabilities are calibrated:

- the true class is c with ``q_ic = (1 - delta) p_ic + delta / K``: some nodes are not like their
  surroundings, however sure these are. The labels cannot tell them from wrong ones, so that their
  share is taken in proportion to eps, ``delta = 2 * 0.125 eps``;
- a label is wrong with ``eps (1 - rho + rho h_ic)``, h_ic being ``1 - q_ic`` relative to its mean:
  some mistakes are made anywhere, some where the classes are hard to tell apart;
- a mistake of the second kind gives class g with ``q_ig / (1 - q_ic)``, as the values themselves
  confuse them. One of the first kind does so with the probability alpha; else all are alike.

tau, eps and alpha are not chosen but integrated over grids.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from robustgc.graph.weights import Array

# docs/choice.md says where each comes from, and what happens at half and at double of it.
POWER = 0.25  # of a likelihood: neighbouring labels are not independent witnesses
ATYPICAL = 0.125  # of nodes are not like what is around them, whatever this is
HARD = 0.2  # rho
_TAUS, _NOISE = (1.0, 2.0, 4.0, 8.0), (0.05, 0.2, 0.4)  # grids of a candidate
_ENSEMBLE_TAUS = (2.0, 4.0, 8.0, 16.0, 32.0)
_ENSEMBLE_NOISE = (0.05, 0.15, 0.25, 0.35, 0.45, 0.55)
_CONFUSED = (0.0, 0.9)  # alpha
_EASIEST = 0.05  # mean of 1 - q at least: where all is clear no label is ten times as hard
_EMPTY = 1e-9  # of the heaviest class: a class of less mass has no label left


def standardise(F: Array, mass: Array, floor: Array, *, balanced: bool) -> tuple[Array, Array]:
    """Centre the classes of every label and divide every candidate's values by their size.

    F are decision values (candidates, labels, K), mass (labels, K) is the label mass of the classes
    behind them, by which they are divided if classes are balanced. Values below the floor are
    rounding, and are set to 0.

    Returns S, of root mean square 1, -inf where the class has no label left; and what the values
    were divided by, shape (candidates,).
    """
    present = mass > _EMPTY * mass.max(axis=1, keepdims=True)
    S = F * (
        np.where(present, mass.mean() / np.where(present, mass, 1.0), 0.0) if balanced else present
    )
    S -= (S @ np.ones(S.shape[2]) / present.sum(axis=1))[:, :, None]
    S *= present
    size = np.sqrt(np.einsum("cik,cik->c", S, S) / mass.size)
    silent = size <= floor
    size[silent] = np.where(floor > 0, 1e10 * floor, 1.0)[silent]
    S *= np.where(silent, 0.0, 1.0 / size)[:, None, None]
    if not present.all():
        S[:, ~present] = -np.inf
    return S, size


def fit_noise_model(S: Array, codes: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """Maximise the likelihood of all labels, less log tau, for every candidate.

    A tau twice as large is half as likely: a few labels make no oracle.

    Returns the log-likelihood of every label, shape (candidates, labels), then tau and eps, shape
    (candidates,) each.
    """
    count, rows, ones = len(S), np.arange(len(codes)), np.ones(S.shape[2])
    best, log_likelihood = np.full(count, -np.inf), np.zeros(S.shape[:2])
    tau, noise = np.ones(count), np.zeros(count)
    # p for tau = 1, 2, 4, 8 by squaring.
    powers = np.exp(S - S.max(axis=2, keepdims=True, initial=-1e300))
    for t in _TAUS:
        p = powers[:, rows, codes] / (powers @ ones)
        powers *= powers
        for eps in _NOISE:
            terms = np.log((1 - eps) * p + eps / S.shape[2])
            better = (score := terms.sum(axis=1) - np.log(t)) > best
            best[better], log_likelihood[better] = score[better], terms[better]
            tau[better], noise[better] = t, eps
    return log_likelihood, tau, noise


@dataclass(frozen=True)
class NoiseModel:
    """What the ensemble's leave-one-out values say of the labels, tau and eps integrated out."""

    label_posterior: Array  # probability that each given label is the true class, (labels,)
    class_probabilities: Array  # q_ic of the true class when the label is not seen, (labels, K)
    tau: float  # posterior mean of log tau, as a factor of values of unit size
    noise: float  # posterior mean of eps


def fit_ensemble_noise(S: Array, codes: NDArray[np.int64]) -> NoiseModel:
    """Integrate over tau, eps and alpha; S has the shape (labels, K) and unit size."""
    rows, K = np.arange(len(codes)), S.shape[1]
    log_weights, posteriors, classes = [], [], []
    for tau in _ENSEMBLE_TAUS:
        p = softmax(tau * S, axis=1)
        for eps in _ENSEMBLE_NOISE:
            delta = 2 * ATYPICAL * eps
            q = (1 - delta) * p + delta / K
            own, unsure = q[rows, codes], np.sum(q - q**2) / max(1, len(q))
            hardness = np.minimum((1 - q) / max(unsure, _EASIEST), 1 / eps)
            right = own * (1 - eps * (1 - HARD + HARD * hardness[rows, codes]))
            confused = q / (1 - q) * own[:, None]  # true class c, and what confuses it gives g
            confused[rows, codes] = 0.0
            hard, any_, even = (confused * hardness).sum(1), confused.sum(1), (1 - own) / (K - 1)
            for alpha in _CONFUSED:
                mistaken = HARD * hard + (1 - HARD) * (alpha * any_ + (1 - alpha) * even)
                likelihood = right + eps * mistaken
                log_weights.append(POWER * np.log(likelihood).sum())
                posteriors.append(right / likelihood)
            classes.append(q)
    weights = np.exp(np.array(log_weights) - max(log_weights))
    weights /= weights.sum()
    by_pair = weights.reshape(-1, len(_CONFUSED)).sum(axis=1)
    by_tau = by_pair.reshape(len(_ENSEMBLE_TAUS), -1)
    return NoiseModel(
        weights @ np.array(posteriors),
        np.tensordot(by_pair, np.array(classes), axes=1),
        float(np.exp(by_tau.sum(axis=1) @ np.log(_ENSEMBLE_TAUS))),
        float(by_tau.sum(axis=0) @ np.array(_ENSEMBLE_NOISE)),
    )


def label_posterior(
    p: Array, codes: NDArray[np.int64], eps: float, judged: NDArray[np.bool_]
) -> Array:
    """Return the probability that each given label is the true class, by Bayes, shape (labels,).

    ``(1 - eps + eps / K) p_i / ((1 - eps) p_i + eps / K)`` with ``p_i`` of the given class, from
    the probabilities p (labels, K) that the others give the classes; 1 - eps if they do not judge.
    """
    own, K = p[np.arange(len(codes)), codes], p.shape[1]
    posterior = (1 - eps + eps / K) * own / ((1 - eps) * own + eps / K)
    return np.asarray(np.where(judged, posterior, 1 - eps))


def typical(p: Array) -> Array:
    """Return ``(1 - delta) p + delta / K``: some nodes are not like their surroundings."""
    return np.asarray((1 - ATYPICAL) * p + ATYPICAL / p.shape[1])

"""How likely the given labels are by a candidate's decision values: the noise model.

A candidate's values at label i, brought to unit size, are ``S_ic``. It gives class c there the
probability ``p_ic = softmax_c(tau S_ic)``. A given label is the true class with probability
``1 - eps`` and any of the K classes, drawn evenly, with probability ``eps``: its likelihood is
``(1 - eps) p_ic + eps / K``. The inverse temperature tau and the noise eps are fitted on grids.

Here S has the shape (candidates, labels, K), and codes (labels,) are the given classes.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from robustgc.weights import Array

# By accuracy and calibration on drawn graphs and public data, docs/decisions.md.
_TAUS = (1.0, 2.0, 4.0, 8.0)  # each is twice the one before
_NOISE = (0.05, 0.2, 0.4)
_FINE_NOISE = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_SLACK = 3.0  # log-likelihood that a larger tau may cost
_TAU_PENALTY = 0.15  # log-likelihood that a unit of tau costs: a few labels make no oracle
_EMPTY = 1e-9  # of the heaviest class: a class of less mass has no label left
DEFAULT_NOISE = 0.2


def standardise(
    F: Array, mass: Array, balanced: NDArray[np.bool_], floor: float
) -> tuple[Array, Array]:
    """Centre the classes of every label and divide every candidate's values by their size.

    F are decision values (candidates, labels, K), mass (labels, K) is the label mass of the classes
    behind them, by which they are divided if the candidate is balanced (candidates,). Values below
    the floor are rounding, and are set to 0.

    Returns S, of root mean square 1, -inf where the class has no label left; and what the values
    were divided by, shape (candidates,).
    """
    present = mass > _EMPTY * mass.max(axis=1, keepdims=True)
    per_mass = mass.mean() / np.where(present, mass, 1.0)
    S = F * np.where(balanced[:, None, None], per_mass, 1.0)
    S *= present
    S -= S.sum(axis=2, keepdims=True) / present.sum(axis=1)[:, None]
    S *= present
    size = np.sqrt(np.einsum("cik,cik->c", S, S) / mass.size)
    silent = size <= floor
    size[silent] = 1e10 * floor or 1.0
    S *= np.where(silent, 0.0, 1.0 / size)[:, None, None]
    if not present.all():
        S[:, ~present] = -np.inf
    return S, size


def fit_noise_model(S: Array, codes: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """Maximise the likelihood of all labels, less a penalty on tau, for every candidate.

    Returns the log-likelihood of every label, shape (candidates, labels), then tau and eps, shape
    (candidates,) each.
    """
    count = len(S)
    best, log_likelihood = np.full(count, -np.inf), np.zeros(S.shape[:2])
    tau, noise = np.ones(count), np.full(count, DEFAULT_NOISE)
    for t, p in _given_class_probabilities(S, codes):
        for eps in _NOISE:
            terms = np.log((1 - eps) * p + eps / S.shape[2])
            score = terms.sum(axis=1) - _TAU_PENALTY * t
            better = score > best
            best[better], log_likelihood[better] = score[better], terms[better]
            tau[better], noise[better] = t, eps
    return log_likelihood, tau, noise


def fit_largest_tau(S: Array, codes: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return the largest tau that the labels allow, and its eps, shape (candidates,) each.

    Wrong labels are explained by a small tau as well as by noise. For the weights of candidates the
    small tau is the careful choice; of the labels it would say that few are wrong.
    """
    K, totals, noise = S.shape[2], [], []
    for _, p in _given_class_probabilities(S, codes):
        sums = np.stack([np.log((1 - eps) * p + eps / K).sum(axis=1) for eps in _FINE_NOISE])
        totals.append(sums.max(axis=0))
        noise.append(np.array(_FINE_NOISE)[sums.argmax(axis=0)])
    allowed = np.stack(totals) >= np.max(totals, axis=0) - _SLACK
    largest = len(_TAUS) - 1 - allowed[::-1].argmax(axis=0)
    return np.array(_TAUS)[largest], np.stack(noise)[largest, np.arange(len(S))]


def _given_class_probabilities(S: Array, codes: NDArray[np.int64]) -> Iterator[tuple[float, Array]]:
    """Yield tau and the probability of every given class, (candidates, labels), by squaring."""
    powers = np.exp(S - S.max(axis=2, keepdims=True, initial=-1e300))
    for tau in _TAUS:
        given = np.take_along_axis(powers, codes[None, :, None], axis=2)[:, :, 0]
        yield tau, given / powers.sum(axis=2)
        powers *= powers


def label_posterior(p: Array, codes: NDArray[np.int64], eps: float) -> Array:
    """Return the probability that each given label is the true class, by Bayes, shape (labels,).

    ``(1 - eps + eps / K) p_i / ((1 - eps) p_i + eps / K)`` with ``p_i`` of the given class, from
    the probabilities p (labels, K) that the other labels give the classes.
    """
    given, K = p[np.arange(len(codes)), codes], p.shape[1]
    return np.asarray((1 - eps + eps / K) * given / ((1 - eps) * given + eps / K))


def softmax(S: Array) -> Array:
    """Return probabilities of the classes from values of shape (labels, K)."""
    return np.asarray(np.exp(S - logsumexp(S, axis=1, keepdims=True)))

"""A candidate's values at the labels, made comparable, and read as chances of the classes."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from robustgc.weights import Array

_SHARPNESS = (1.0, 2.0, 4.0, 8.0)  # each twice the one before
_NOISE = (0.05, 0.2, 0.4)
_FINE = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_SLACK = 3.0  # log-likelihood that a sharper reading of the answers may cost
_ORACLE = 0.15  # log-likelihood that a unit of sharpness costs: a few labels make no oracle


def scaled(F: Array, left: Array, balanced: NDArray[np.bool_], floor: float) -> tuple[Array, Array]:
    """Centre the classes of every row and bring every candidate's values to unit size.

    Parameters
    ----------
    F : ndarray, shape (candidates, labels, K)
        Values.
    left : ndarray, shape (labels, K)
        The label mass of the classes behind them.
    balanced : ndarray of bool, shape (candidates,)
        Whether classes count alike, however much mass they have.
    floor : float
        What is below is rounding.

    Returns
    -------
    ndarray, ndarray
        The values, -inf where no label of the class is left; what they were divided by.
    """
    there = left > 1e-9 * left.max(axis=1, keepdims=True)  # a label far lighter is still one
    alike = left.mean() / np.where(there, left, 1.0)
    known = F * np.where(balanced[:, None, None], alike, 1.0)
    known *= there
    known -= known.sum(axis=2, keepdims=True) / there.sum(axis=1)[:, None]
    known *= there
    scale = np.sqrt(np.einsum("cik,cik->c", known, known) / left.size)
    silent = scale <= floor
    scale[silent] = 1e10 * floor or 1.0
    known *= np.where(silent, 0.0, 1.0 / scale)[:, None, None]
    if not there.all():
        known[:, ~there] = -np.inf
    return known, scale


def likelihood(S: Array, codes: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """Fit sharpness and noise of every candidate.

    Returns
    -------
    ndarray, shape (candidates, labels)
        The log-likelihood of every label.
    ndarray, ndarray
        Sharpness and noise.
    """
    count = len(S)
    best, lines = np.full(count, -np.inf), np.zeros(S.shape[:2])
    sharpness, noise = np.ones(count), np.full(count, 0.2)
    for tau, own in _readings(S, codes):
        for eps in _NOISE:
            now = np.log((1 - eps) * own + eps / S.shape[2])
            score = now.sum(axis=1) - _ORACLE * tau
            better = score > best
            best[better], lines[better] = score[better], now[better]
            sharpness[better], noise[better] = tau, eps
    return lines, sharpness, noise


def sharpest(S: Array, codes: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return the sharpest reading of every candidate that the labels bear out, and its noise.

    Wrong labels are explained by blurred answers as well as by noise. In the weights of the
    committee blur is the careful reading; of the labels it would say that few are wrong.
    """
    K, rows = S.shape[2], np.arange(len(S))
    sums, noise = [], []
    for _, own in _readings(S, codes):
        each = np.stack([np.log((1 - eps) * own + eps / K).sum(axis=1) for eps in _FINE])
        sums.append(each.max(axis=0))
        noise.append(np.array(_FINE)[each.argmax(axis=0)])
    totals = np.stack(sums)
    borne = totals >= totals.max(axis=0) - _SLACK
    last = len(_SHARPNESS) - 1 - borne[::-1].argmax(axis=0)
    return np.array(_SHARPNESS)[last], np.stack(noise)[last, rows]


def _readings(S: Array, codes: NDArray[np.int64]) -> Iterator[tuple[float, Array]]:
    """Give the chance of every label's own class at every sharpness, by squaring."""
    powers = np.exp(S - S.max(axis=2, keepdims=True, initial=-1e300))
    for tau in _SHARPNESS:
        own = np.take_along_axis(powers, codes[None, :, None], axis=2)[:, :, 0]
        yield tau, own / powers.sum(axis=2)
        powers *= powers


def right(p: Array, codes: NDArray[np.int64], eps: float) -> Array:
    """Return the probability of every label to be right, by Bayes."""
    own, K = p[np.arange(len(codes)), codes], p.shape[1]
    return np.asarray((1 - eps + eps / K) * own / ((1 - eps) * own + eps / K))


def softmax(S: Array) -> Array:
    """Return chances of the classes."""
    return np.asarray(np.exp(S - logsumexp(S, axis=1, keepdims=True)))

"""A candidate's values at the labels, made comparable, and read as chances of the classes."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from robustgc.weights import Array

_SHARPNESS = (1.0, 2.0, 4.0, 8.0)  # each twice the one before
_NOISE = (0.05, 0.2, 0.4)
_FINE = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_SLACK = 3.0  # log-likelihood that a sharper reading of the answers may cost
_ORACLE = 0.15  # log-likelihood that a unit of sharpness costs: a few labels make no oracle


def scaled(F: Array, left: Array, balanced: bool, floor: float) -> tuple[Array, float]:
    """Centre the classes of every row and bring a candidate's values to unit size.

    Parameters
    ----------
    F, left : ndarray, shape (labels, K)
        Values, and the label mass of the classes behind them.
    balanced : bool
        Whether classes count alike, however much mass they have.
    floor : float
        What is below is rounding.

    Returns
    -------
    ndarray, float
        The values, -inf where no label of the class is left; what they were divided by.
    """
    there = left > 1e-9 * left.max(axis=1, keepdims=True)  # a label far lighter is still one
    if balanced:
        F = F / np.where(there, left, 1.0) * left.mean()
    known = np.where(there, F, 0.0)
    known = np.where(there, known - known.sum(1, keepdims=True) / there.sum(1, keepdims=True), 0.0)
    scale = float(np.sqrt(np.mean(known**2)))
    if scale <= floor:
        known, scale = np.zeros_like(known), 1e10 * floor or 1.0
    return np.where(there, known / scale, -np.inf), scale


def likelihood(S: Array, codes: NDArray[np.int64]) -> tuple[Array, float, float]:
    """Fit sharpness and noise of a candidate; return the log-likelihood of every label first."""
    best = (-np.inf, np.zeros(0), 1.0, 0.2)
    for tau, own in _readings(S, codes):
        for eps in _NOISE:
            lines = np.log((1 - eps) * own + eps / S.shape[1])
            score = float(lines.sum()) - _ORACLE * tau
            if score > best[0]:
                best = (score, lines, tau, eps)
    return best[1:]


def sharpest(S: Array, codes: NDArray[np.int64]) -> tuple[float, float]:
    """Return the sharpest reading of a candidate that the labels bear out, and its noise.

    Wrong labels are explained by blurred answers as well as by noise. In the weights of the
    committee blur is the careful reading; of the labels it would say that few are wrong.
    """
    found = []
    for tau, own in _readings(S, codes):
        sums = [float(np.log((1 - eps) * own + eps / S.shape[1]).sum()) for eps in _FINE]
        best = int(np.argmax(sums))
        found.append((sums[best], tau, _FINE[best]))
    limit = max(found)[0] - _SLACK
    _, tau, eps = max((line for line in found if line[0] >= limit), key=lambda line: line[1])
    return tau, eps


def _readings(S: Array, codes: NDArray[np.int64]) -> list[tuple[float, Array]]:
    """Return the chance of every label's own class at every sharpness, by squaring."""
    rows = np.arange(len(codes))
    powers = np.exp(S - S.max(axis=1, keepdims=True, initial=-1e300))
    found = []
    for tau in _SHARPNESS:
        found.append((tau, powers[rows, codes] / powers.sum(axis=1)))
        powers = powers**2
    return found


def right(p: Array, codes: NDArray[np.int64], eps: float) -> Array:
    """Return the probability of every label to be right, by Bayes."""
    own, K = p[np.arange(len(codes)), codes], p.shape[1]
    return np.asarray((1 - eps + eps / K) * own / ((1 - eps) * own + eps / K))


def softmax(S: Array) -> Array:
    """Return chances of the classes."""
    return np.asarray(np.exp(S - logsumexp(S, axis=1, keepdims=True)))

"""Label weights and class priors: what the user knows beside the labels."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from robustgc.graph.quoting import listed, quoted
from robustgc.graph.weights import Array
from robustgc.transduction.answer import DECIDED, TIE, Transduction, decide
from robustgc.transduction.labels import Labels

_TURNS = 300
# The ensemble takes a class below 1e-9 of another for one without labels; between them stand the
# degree weights of hubs and the weights of labels by their posterior, a thousand at most.
_LIGHT = 1e-6
_FAINT = 1e-100  # no answer in double precision can tell a lighter label from this one


def label_sizes(sample_weight: ArrayLike | None, labels: Labels) -> tuple[Array, Labels]:
    """Check label weights; labels of weight 0 are left out.

    Raises
    ------
    ValueError
        Another length, negative, NaN or infinite weights, or fewer than two classes left.
    """
    n = len(labels.codes)
    if sample_weight is None:
        return np.ones(n), labels
    sizes = _numbers(sample_weight)
    if sizes.ndim == 0:
        sizes = np.full(n, float(sizes))
    if sizes.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {sizes.shape} for {n} nodes; it must be ({n},), one weight "
            "per node. Those of unlabelled nodes do not matter."
        )
    given = labels.codes >= 0
    bad = given & ~(np.isfinite(sizes) & (sizes >= 0))
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"sample_weight has {int(bad.sum())} weights that are negative, NaN or infinite, the "
            f"first {sizes[first]} at node {first}; label weights must be finite and at least 0 "
            "(0 leaves a label out)."
        )
    codes = np.where(given & (sizes > 0), labels.codes, -1)
    left = np.unique(codes[codes >= 0])
    if len(left) < 2:
        raise ValueError(
            f"Labels whose sample_weight is not zero are left of {len(left)} classes; at least two "
            "classes need one."
        )
    kept = codes >= 0
    found = np.zeros(n)
    found[kept] = relative_sizes(sizes[kept], codes[kept], labels.classes)
    return found, replace(labels, codes=codes)


def relative_sizes(sizes: Array, codes: NDArray[np.int64], classes: NDArray[Any]) -> Array:
    """Return label weights with mean 1, whatever their unit.

    Parameters
    ----------
    sizes : ndarray, shape (labels,)
        Finite and above 0.
    codes : ndarray of int, shape (labels,)
        Their classes.
    classes : ndarray

    Raises
    ------
    ValueError
        A class that weighs next to nothing, by itself or without its heaviest label: what the
        others say of its labels would be rounding.
    """
    if not sizes.size:
        raise ValueError("No label has a sample_weight above 0; at least two classes need one.")
    # By the largest first: a sum of weights near 1e308 is infinite, its mean is not.
    relative = np.maximum(sizes / sizes.max(), _FAINT)
    check_sizes(relative, codes, classes, sizes)
    return np.asarray(relative / relative.mean())


def check_sizes(
    relative: Array, codes: NDArray[np.int64], classes: NDArray[Any], sizes: Array
) -> None:
    """Refuse label weights by which a class weighs next to nothing.

    Parameters
    ----------
    relative : ndarray, shape (labels,)
    codes : ndarray of int, shape (labels,)
    classes : ndarray
    sizes : ndarray, shape (labels,)
        The same in their own unit, for the message.
    """
    counts = np.bincount(codes, minlength=len(classes))
    mass = np.bincount(codes, weights=relative, minlength=len(classes))
    heaviest = np.zeros(len(classes))
    np.maximum.at(heaviest, codes, relative)
    left = np.where(counts > 1, mass - heaviest, np.where(counts > 0, mass, np.inf))
    light, heavy = int(left.argmin()), int(mass.argmax())
    if left[light] < _LIGHT * mass[heavy]:
        share = left[light] / mass[heavy]
        part = f"{share:.1g}" if share > 1e-15 else "less than 1e-15"
        without = "without its heaviest label " if counts[light] > 1 else ""
        raise ValueError(
            f"sample_weight reaches from {sizes.min():g} to {sizes.max():g}: {without}class "
            f"{quoted(classes[light].item(), 60)} weighs {part} of class "
            f"{quoted(classes[heavy].item(), 60)}, and below {_LIGHT:g} rounding would decide "
            "what labels say of each other. Bring the weights closer together, or give 0 to labels "
            "that are not to count."
        )


def _numbers(sample_weight: ArrayLike) -> Array:
    try:
        return np.asarray(sample_weight, dtype=float)
    except (TypeError, ValueError) as failure:
        raise ValueError(
            f"sample_weight must be numbers, one per node ({failure}); this is "
            f"{quoted(sample_weight)}."
        ) from failure


def check_priors(priors: Any, labels: Labels) -> Array | None:
    """Return the class priors as an array in the order of the classes, or None.

    Parameters
    ----------
    priors : None, "labels", mapping or array-like
        "labels": the shares of the given labels.
    """
    if priors is None:
        return None
    classes = labels.classes.tolist()
    if isinstance(priors, str):
        if priors != "labels":
            raise ValueError(
                f"priors={quoted(priors)} is not allowed; it must be None, 'labels', a dictionary "
                "from "
                "class to share, or one share per class."
            )
        counts = np.bincount(labels.codes[labels.codes >= 0], minlength=len(classes))
        return np.asarray(counts / counts.sum())
    if isinstance(priors, Mapping):
        missing = [name for name in classes if name not in priors]
        unknown = [name for name in priors if name not in classes]
        if missing or unknown:
            raise ValueError(
                f"priors must have one share for each of the classes {listed(classes)}; missing: "
                f"{listed(missing) or 'none'}, unknown: {listed(unknown) or 'none'}."
            )
        priors = [priors[name] for name in classes]
    try:
        shares = np.asarray(priors, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"priors={quoted(priors)} is not allowed; it must be None, 'labels', a dictionary from "
            "class to share, or one share per class."
        ) from None
    if shares.shape != (len(classes),):
        raise ValueError(
            f"priors has shape {shares.shape}; it must be ({len(classes)},), one share for each of "
            f"the classes {listed(classes)}."
        )
    total = float(shares.sum())
    if not np.isfinite(shares).all() or (shares <= 0).any() or abs(total - 1) > 1e-6:
        raise ValueError(
            f"priors are {quoted(shares.tolist())} and sum to {total:g}; they must be positive and "
            "sum to 1."
        )
    return shares / total


def with_shares(answer: Transduction, shares: Array) -> Transduction:
    """Return the answer with its classes brought to the shares, over all nodes that were solved.

    What is added to a class grows with sqrt(d), as decision values do.
    """
    solved = np.isin(answer.number, list(answer.certificates))
    if not solved.any():
        return answer
    root = np.sqrt(answer.d[solved])[:, None]
    f = answer.f.copy()
    values = f[solved]
    columns = np.hstack([-values, values]) / 2 if f.shape[1] == 1 else values
    known = np.isfinite(columns)
    smooth = np.where(known, columns, 0.0) / root
    smooth = np.where(known, smooth, smooth.min() - 9 * (np.ptp(smooth) or 1.0))
    there = known.any(axis=0)  # a class without a label in any of these nodes has no share in them
    b = np.zeros(len(shares))
    b[there] = offsets(smooth[:, there], shares[there] / shares[there].sum())
    f[solved] += root * (b[1] - b[0] if f.shape[1] == 1 else b)
    codes, reasons = answer.codes.copy(), answer.reasons.copy()
    codes[solved] = decide(f[solved] / root)
    reasons[solved & (codes >= 0) & (reasons == TIE)] = DECIDED
    reasons[solved & (codes < 0)] = TIE
    return replace(answer, f=f, codes=codes, reasons=reasons)


def offsets(smooth: Array, shares: Array) -> Array:
    """Return what to add to every class so that the answers have the given shares.

    Class-mass normalisation: the classes of soft answers are brought to the shares in turn, as in
    matrix scaling; the softness is small beside the spread of the values.

    Parameters
    ----------
    smooth : ndarray, shape (N, K)
        Decision values, comparable between nodes; finite.
    shares : ndarray, shape (K,)
    """
    largest = float(np.abs(smooth).max(initial=0.0)) or 1.0  # squares would overflow
    smooth = smooth / largest
    spread = float(np.std(smooth - smooth.mean(axis=1, keepdims=True))) or 1.0
    b = np.zeros(smooth.shape[1])
    for softness in (0.5, 0.1, 0.03):
        scores = smooth / (softness * spread)
        c = b / (softness * spread)
        for _ in range(_TURNS):
            logits = scores + c
            log_share = logsumexp(
                logits - logsumexp(logits, axis=1, keepdims=True), axis=0
            ) - np.log(len(scores))
            step = np.log(shares) - log_share
            c += step
            if np.abs(step).max() < 1e-3:
                break
        b = c * softness * spread
    return np.asarray((b - b.mean()) * largest)

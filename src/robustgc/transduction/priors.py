"""Label weights and class priors: what the user knows besides the labels."""

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


def checked_weights(sample_weight: ArrayLike | None, labels: Labels) -> tuple[Array, Labels]:
    """Check the label weights of all nodes, and bring them to mean 1; weight 0 is no label."""
    n = len(labels.codes)
    if sample_weight is None:
        return np.ones(n), labels
    try:
        weights = np.asarray(sample_weight, dtype=float)
    except (TypeError, ValueError) as failure:
        raise ValueError(
            f"sample_weight must be numbers, one per node ({failure}); this is "
            f"{quoted(sample_weight)}."
        ) from failure
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {weights.shape} for {n} nodes; it must be ({n},), one weight "
            "per node. Those of unlabelled nodes do not matter."
        )
    labelled = labels.codes >= 0
    bad = labelled & ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"sample_weight has {int(bad.sum())} weights that are negative, NaN or infinite, the "
            f"first {weights[first]} at node {first}; label weights must be finite and at least 0 "
            "(0 leaves a label out)."
        )
    heavy = labelled & (weights > 0)
    codes = np.where(heavy, labels.codes, -1)
    left = len(np.unique(codes[heavy]))
    if left < 2:
        raise ValueError(
            f"Labels whose sample_weight is not zero are left of {left} classes; at least two "
            "classes need one."
        )
    normalised = np.zeros(n)
    normalised[heavy] = normalised_weights(weights[heavy], codes[heavy], labels.classes)
    return normalised, replace(labels, codes=codes)


def normalised_weights(weights: Array, codes: NDArray[np.int64], classes: NDArray[Any]) -> Array:
    """Return label weights, finite and above 0, with mean 1, whatever their unit."""
    if not weights.size:
        raise ValueError("No label has a sample_weight above 0; at least two classes need one.")
    # By the largest first: a sum of weights near 1e308 is infinite, its mean is not.
    relative = np.maximum(weights / weights.max(), _FAINT)
    check_class_weights(relative, codes, classes, weights)
    return np.asarray(relative / relative.mean())


def check_class_weights(
    relative: Array, codes: NDArray[np.int64], classes: NDArray[Any], weights: Array
) -> None:
    """Refuse label weights by which a class weighs next to nothing.

    By itself or without its heaviest label: what the others say of its labels would be rounding.
    The message shows `weights`, the same as `relative` in their own unit.
    """
    counts = np.bincount(codes, minlength=len(classes))
    mass = np.bincount(codes, weights=relative, minlength=len(classes))
    heaviest = np.zeros(len(classes))
    np.maximum.at(heaviest, codes, relative)
    others = np.where(counts > 1, mass - heaviest, np.where(counts > 0, mass, np.inf))
    light, heavy = int(others.argmin()), int(mass.argmax())
    if others[light] < _LIGHT * mass[heavy]:
        share = others[light] / mass[heavy]
        part = f"{share:.1g}" if share > 1e-15 else "less than 1e-15"
        without = "without its heaviest label " if counts[light] > 1 else ""
        raise ValueError(
            f"sample_weight reaches from {weights.min():g} to {weights.max():g}: {without}class "
            f"{quoted(classes[light].item(), 60)} weighs {part} of class "
            f"{quoted(classes[heavy].item(), 60)}, and below {_LIGHT:g} rounding would decide "
            "what labels say of each other. Bring the weights closer together, or give 0 to labels "
            "that are not to count."
        )


def check_priors(priors: Any, labels: Labels) -> Array | None:
    """Return the class priors as an array in the order of the classes, or None.

    Parameters
    ----------
    priors : None, "labels", mapping or array-like
        "labels": the shares of the given labels.
    """
    if priors is None:
        return None
    classes, names = labels.classes.tolist(), listed(labels.classes.tolist())
    refused = (
        f"priors={quoted(priors)} is not allowed; it must be None, 'labels', a dictionary from "
        "class to share, or one share per class."
    )
    if isinstance(priors, str):
        if priors != "labels":
            raise ValueError(refused)
        counts = np.bincount(labels.codes[labels.codes >= 0], minlength=len(classes))
        return np.asarray(counts / counts.sum())
    if isinstance(priors, Mapping):
        missing = [name for name in classes if name not in priors]
        unknown = [name for name in priors if name not in classes]
        if missing or unknown:
            raise ValueError(
                f"priors must have one share for each of the classes {names}; missing: "
                f"{listed(missing) or 'none'}, unknown: {listed(unknown) or 'none'}."
            )
        priors = [priors[name] for name in classes]
    try:
        shares = np.asarray(priors, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(refused) from None
    if shares.shape != (len(classes),):
        raise ValueError(
            f"priors has shape {shares.shape}; it must be ({len(classes)},), one share for each of "
            f"the classes {names}."
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
    matrix scaling; the softness is small relative to the standard deviation of the values.
    `smooth` are finite decision values, shape (N, K), comparable between nodes.
    """
    largest = float(np.abs(smooth).max(initial=0.0)) or 1.0  # squares would overflow
    smooth = smooth / largest
    deviation = float(np.std(smooth - smooth.mean(axis=1, keepdims=True))) or 1.0
    b = np.zeros(smooth.shape[1])
    for softness in (0.5, 0.1, 0.03):
        scores = smooth / (softness * deviation)
        c = b / (softness * deviation)
        for _ in range(_TURNS):
            logits = scores + c
            log_share = logsumexp(
                logits - logsumexp(logits, axis=1, keepdims=True), axis=0
            ) - np.log(len(scores))
            step = np.log(shares) - log_share
            c += step
            if np.abs(step).max() < 1e-3:
                break
        b = c * softness * deviation
    return np.asarray((b - b.mean()) * largest)

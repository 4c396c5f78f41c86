"""Fit on some of the points, answer the others by the out-of-sample extension."""

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Array
from robustgc.transduction.answer import TIE, Transduction, decide

EXTENDED = "extended from the landmarks"
OUT_OF_REACH = "out of reach of the landmarks"
SEED = 6007


def choose(landmarks: object, codes: NDArray[np.int64], affinity: object) -> NDArray[np.int64]:
    """Return the points to fit on, in ascending order: all labelled ones, the rest at random.

    The seed is fixed: the same number of points and the same labelled ones give the same choice.
    """
    n, labelled = len(codes), np.flatnonzero(codes >= 0)
    if affinity == "precomputed":
        raise ValueError(
            f"landmarks={quoted(landmarks)} is not allowed with affinity='precomputed': a random "
            "part of a graph loses the edges that connect it, and the matrix is in memory already. "
            "Pass points, or landmarks=None."
        )
    least = max(2, len(labelled))
    if not isinstance(landmarks, Integral) or not least <= int(landmarks) <= n:
        raise ValueError(
            f"landmarks={quoted(landmarks)} is not allowed for {n} points of which {len(labelled)} "
            f"are labelled; it must be None or a whole number from {least} to {n}, since labelled "
            "points are always among the landmarks."
        )
    rest = np.flatnonzero(codes < 0)
    drawn = np.random.default_rng(SEED).permutation(rest)[: int(landmarks) - len(labelled)]
    return np.sort(np.concatenate([labelled, drawn]))


def cover(answer: Transduction, chosen: NDArray[np.int64], f_rest: Array) -> Transduction:
    """Return the answer on all points: fitted on the landmarks, extended to the rest.

    A point that was extended to is no node of the graph; its component is -1.
    """
    n = len(chosen) + len(f_rest)
    rest = np.setdiff1d(np.arange(n), chosen)
    codes = decide(f_rest)
    reasons = np.empty(len(codes), dtype=object)
    reasons.fill(EXTENDED)  # one text for all
    reasons[codes < 0] = TIE
    reasons[np.isnan(f_rest).any(axis=1)] = OUT_OF_REACH

    def both(on_landmarks: Any, on_rest: Any) -> Any:
        merged = np.empty((n, *on_landmarks.shape[1:]), dtype=on_landmarks.dtype)
        merged[chosen], merged[rest] = on_landmarks, on_rest
        return merged

    return replace(
        answer,
        f=both(answer.f, f_rest),
        codes=both(answer.codes, codes),
        reasons=both(answer.reasons, reasons),
        number=both(answer.number, -1),
        d=both(answer.d, np.nan),
    )

"""Answers as the columns of a table: the same on one machine and on many."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from robustgc.graph.weights import Array
from robustgc.transduction.answer import Certificate, Transduction
from robustgc.transduction.labels import Labels

GIVEN, PREDICTED, UNLABELLED = "given", "predicted", "unlabelled"


def answer_columns(
    names: NDArray[Any],
    labels: Labels,
    answer: Transduction,
    probability: Array,
    suspicion: Array | None = None,
) -> dict[str, Any]:
    """Return a row per node: its name, class, the label it was given, how sure the answer is.

    `probability` has a column per class; `suspicion` is NaN where no label was given.
    """
    codes, given = answer.codes, labels.codes
    columns: dict[str, Any] = {
        "node": names,
        "label": class_names(codes, labels.classes),
        "given": class_names(given, labels.classes),
        "status": np.where(given >= 0, GIVEN, np.where(codes >= 0, PREDICTED, UNLABELLED)),
        "probability": probability.max(axis=1),
        **value_columns(answer.f, labels.classes),
        "reason": answer.reasons,
    }
    if suspicion is not None:
        columns["suspicion"] = suspicion
    return columns


def class_names(codes: NDArray[Any], classes: NDArray[Any]) -> list[Any]:
    """Return the class for every code, None for code -1."""
    known = classes.tolist()
    return [known[code] if code >= 0 else None for code in codes.tolist()]


def value_columns(f: Array, classes: NDArray[Any]) -> dict[str, Array]:
    """Return the decision value, or with more than two classes a score for each."""
    if f.ndim == 1 or f.shape[1] == 1:
        return {"decision": f.reshape(-1)}
    return {f"score_{name}": f[:, k] for k, name in enumerate(classes)}


def probabilities(f: Array, scale: float = 1.0, typical: float = 1.0) -> Array:
    """Map decision values to (0, 1): a column per class, rows sum to 1, NaN without an answer.

    The values are divided by `scale`. `typical` is the share of the nodes that are like their
    surroundings; the class of the others may be any.
    """
    scaled = f / (scale or 1.0)
    if f.shape[1] > 1:
        p = np.asarray(softmax(scaled, axis=1))
    else:
        p = np.column_stack([expit(-scaled[:, 0]), expit(scaled[:, 0])])
    there = np.isfinite(f) if f.shape[1] > 1 else np.ones(p.shape, dtype=bool)
    even = there / np.maximum(there.sum(axis=1, keepdims=True), 1)  # of classes labelled there
    return np.asarray(typical * p + (1.0 - typical) * even)


def calibrated(certificates: Iterable[Certificate]) -> bool:
    """Whether decision values are log-odds: where all models were chosen by labels left out."""
    chosen = [bool(certificate.selection) for certificate in certificates]
    return bool(chosen) and all(chosen)


def root_mean_square(f: Array) -> float:
    """Return the root mean square of the finite values; 1 if there are none but 0."""
    known = f[np.isfinite(f)]
    largest = float(np.abs(known).max(initial=0.0)) or 1.0
    return largest * (float(np.sqrt(np.mean((known / largest) ** 2))) or 1.0)

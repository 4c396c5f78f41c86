"""Answers as the columns of a table: the same on one machine and on many."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from robustgc.labels import Labels
from robustgc.transduction import Transduction
from robustgc.weights import Array

GIVEN, PREDICTED, UNLABELLED = "given", "predicted", "unlabelled"


def answer_columns(
    names: NDArray[Any],
    labels: Labels,
    answer: Transduction,
    spread: float,
    suspicion: Array | None = None,
) -> dict[str, Any]:
    """Return a row per node: its name, class, the label it was given, how sure the answer is.

    Parameters
    ----------
    names : ndarray, shape (N,)
    labels : Labels
    answer : Transduction
    spread : float
        Size of the decision values on the whole graph: `size_of`.
    suspicion : ndarray, shape (N,), default=None
        NaN where no label was given; None: no such column.
    """
    codes, given = answer.codes, labels.codes
    found: dict[str, Any] = {
        "node": names,
        "label": class_names(codes, labels.classes),
        "given": class_names(given, labels.classes),
        "status": np.where(given >= 0, GIVEN, np.where(codes >= 0, PREDICTED, UNLABELLED)),
        "probability": probabilities(answer.f, spread).max(axis=1),
        **value_columns(answer.f, labels.classes),
        "reason": answer.reasons,
    }
    if suspicion is not None:
        found["suspicion"] = suspicion
    return found


def class_names(codes: NDArray[Any], classes: NDArray[Any]) -> list[Any]:
    """Return the class for every code, None for code -1."""
    known = classes.tolist()
    return [known[code] if code >= 0 else None for code in codes.tolist()]


def value_columns(f: Array, classes: NDArray[Any]) -> dict[str, Array]:
    """Return the decision value, or with more than two classes a score for each."""
    if f.ndim == 1 or f.shape[1] == 1:
        return {"decision": f.reshape(-1)}
    return {f"score_{name}": f[:, k] for k, name in enumerate(classes)}


def probabilities(f: Array, spread: float) -> Array:
    """Map decision values to (0, 1): a column per class, rows sum to 1, NaN without an answer.

    Parameters
    ----------
    f : ndarray, shape (n, columns)
    spread : float
        By which the values are divided.
    """
    scaled = f / (spread or 1.0)
    if f.shape[1] > 1:
        return np.asarray(softmax(scaled, axis=1))
    p = expit(scaled[:, 0])
    return np.column_stack([1.0 - p, p])


def size_of(f: Array) -> float:
    """Return the root mean square of the finite values; 1 if there are none but 0."""
    known = f[np.isfinite(f)]
    largest = float(np.abs(known).max(initial=0.0)) or 1.0
    return largest * (float(np.sqrt(np.mean((known / largest) ** 2))) or 1.0)

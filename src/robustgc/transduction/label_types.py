"""Labels of any container as an array of one type, without a digit or a class lost on the way."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from robustgc.graph.quoting import quoted


def one_dimensional(y: ArrayLike) -> NDArray[Any]:
    """Return labels as an array of one dimension, with the objects of a list as they are."""
    if hasattr(y, "to_numpy") and not isinstance(getattr(y, "dtype", None), np.dtype):
        y = y.to_numpy(dtype=object) if type(y).__module__.startswith("pandas") else y.to_numpy()
    values = np.asarray(y) if hasattr(y, "dtype") else _listed(y)
    if values.dtype.kind == "T":
        values = _objects(values.tolist())
    if values.ndim == 0 or values.ndim > 2 or (values.ndim == 2 and values.shape[1] != 1):
        raise ValueError(
            f"y has shape {values.shape}; it must be one-dimensional, one label per node."
        )
    return np.asarray(column_or_1d(values, warn=True))


def _listed(y: Any) -> NDArray[Any]:
    """Turn a sequence into an array without letting numpy print None or numbers as text."""
    flat = isinstance(y, list | tuple) and not any(isinstance(v, list | tuple) for v in y)
    return _objects(list(y)) if flat else np.asarray(y)


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Find None and NaN (and the NA of data frames, which equals nothing)."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values), dtype=bool)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.array([is_none(v) for v in values], dtype=bool)


def is_none(value: object) -> bool:
    """Whether a value is None, NaN, or the NA of data frames."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def typed_values(values: NDArray[Any]) -> NDArray[Any]:
    """Give labels held as objects their own type; refuse a mixture of text and numbers."""
    if values.dtype.kind in "biufU":
        return values
    items = [_plain(v) for v in values.tolist()]  # bytes become text
    kinds = {type(v).__name__ for v in items}
    if kinds & {"bool", "bool_"} and kinds & {"int", "float"}:  # True would become class 1
        raise _unsupported(kinds)
    if items and kinds <= {"int", "float"} and not _fit_floats(items):
        whole = [v for v in items if isinstance(v, int)]
        return _integers(whole) if len(whole) == len(items) else _objects(items)
    plain = {"str", "str_", "int", "float", "bool", "bool_", "complex"}
    if kinds - plain - {type(v).__name__ for v in items if isinstance(v, str | np.generic)}:
        raise _unsupported(kinds)
    typed = np.array(items) if values.dtype.kind in "OS" else values
    textual = any(isinstance(v, str) for v in items)
    if textual and any(isinstance(v, str) and v.endswith("\0") for v in items):
        raise ValueError(
            "A text label ends with the character NUL, which arrays of text cut off, so that two "
            "classes could become one. Remove it, for instance with label.rstrip('\\0')."
        )
    if typed.dtype.kind == "c":
        raise ValueError("Complex data not supported: labels are text, integers or booleans.")
    if typed.dtype.kind not in "biufU" or (textual and len(kinds - {"str", "str_"}) > 0):
        raise _unsupported(kinds)
    return typed


def _unsupported(kinds: set[str]) -> TypeError:
    return TypeError(
        f"The labels mix or use unsupported types: {', '.join(sorted(kinds))}. Use all text, "
        "all integers or all booleans; None or NaN mark unlabelled nodes."
    )


def _plain(value: object) -> object:
    """Return a label as an object of Python: numpy's integers of two types would become floats."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"The label {quoted(value)} is not UTF-8. Decode labels first, for instance with "
                "label.decode('latin-1')."
            ) from error
    plain: object = value.item() if isinstance(value, np.integer | np.floating) else value
    return plain


def _fit_floats(items: list[Any]) -> bool:
    """Whether numbers stay what they are as floats of 64 bits."""
    return all(type(v) is float or (abs(v) <= 2**53) for v in items)


def _integers(items: list[int]) -> NDArray[Any]:
    """Return whole numbers as they are: of 64 bits where one such type holds all, else objects."""
    for kind in (np.int64, np.uint64):
        limits = np.iinfo(kind)
        if limits.min <= min(items) and max(items) <= limits.max:
            return np.array(items, dtype=kind)
    return _objects(items)


def of_one_type(values: NDArray[Any]) -> NDArray[Any]:
    """Return `typed_values`, or refuse numbers that no type holds as they are.

    Raises
    ------
    ValueError
        Integers beyond 64 bits, or above 2^53 among floats.
    """
    labels = typed_values(values)
    if labels.dtype.kind != "O":
        return labels
    largest = max((v for v in labels if type(v) is int), key=abs)
    if all(type(v) is int for v in labels):
        why = (
            f"The integer labels reach from {_shown(min(labels))} to {_shown(max(labels))}; they "
            "must all lie within -2^63 to 2^63 - 1, or all within 0 to 2^64 - 1."
        )
    else:
        why = (
            f"The labels mix integers above 2^53, such as {_shown(largest)}, with floats, which "
            "cannot tell such integers apart."
        )
    raise ValueError(f"{why} Use text for them: [None if v is None else str(v) for v in y].")


def _shown(value: int) -> str:
    """Print a whole number; Python refuses to print one of thousands of digits."""
    if value.bit_length() <= 200:
        return str(value)
    return f"{'-' if value < 0 else ''}2^{value.bit_length() - 1} and more"


def equal_to(labels: NDArray[Any], mark: object) -> NDArray[np.bool_]:
    """Return where a label is the marker: of the same kind, and equal to the last digit."""
    if not np.isscalar(mark):
        raise ValueError(
            f"unlabeled={quoted(mark)} is not allowed; it must be one value, such as -1."
        )
    if isinstance(mark, np.integer | np.floating):
        mark = mark.item()
    if isinstance(mark, float) and mark.is_integer():
        mark = int(mark)  # numpy would round large labels to floats to compare them
    if (labels.dtype.kind == "U") != isinstance(mark, str):
        return np.zeros(len(labels), dtype=bool)
    if (labels.dtype.kind == "b") != isinstance(mark, bool | np.bool_):
        return np.zeros(len(labels), dtype=bool)  # True == 1, but True is not the marker 1
    return np.asarray(labels == mark)

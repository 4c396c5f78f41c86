"""Class labels of any type <-> the paper's columns of +1, -1 and 0.

The only bridge between the two conventions: estimators speak class names with a marker for
"unlabelled", `models` speaks +1, -1, 0.
"""

import warnings
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets

from robustgc.graph.quoting import listed, quoted
from robustgc.graph.weights import Array
from robustgc.transduction.label_types import (
    equal_to,
    is_missing,
    is_none,
    of_one_type,
    one_dimensional,
    typed_values,
)
from robustgc.transduction.missing import MARKERS, Missing, find_missing


@dataclass(frozen=True)
class Labels:
    """Labels split into classes and codes.

    Attributes
    ----------
    classes : ndarray, shape (K,)
        The classes, sorted.
    codes : ndarray of int, shape (N,)
        Index into ``classes``; -1 for unlabelled.
    marker : object
        What stands for "unlabelled" in answers.
    """

    classes: NDArray[Any]
    codes: NDArray[np.int64]
    marker: object

    def names(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        """Return the class for every code, and the marker for code -1.

        In an array of the classes' type where it can hold the marker too, else of objects: whole
        numbers with NaN among them become floats only where floats tell all of them apart.
        """
        if (codes >= 0).all():
            return self.classes[codes]
        fits = np.result_type(self.classes.dtype, np.asarray(self.marker).dtype)
        numeric = self.classes.dtype.kind in "iuf" and fits.kind in "if" and self._exact_as(fits)
        numeric &= not isinstance(self.marker, bool | np.bool_)  # True would become class 1
        text = self.classes.dtype.kind == "U" and isinstance(self.marker, str)
        named = np.full(codes.shape, self.marker, dtype=fits if numeric or text else object)
        named[codes >= 0] = self.classes[codes[codes >= 0]]
        return named

    def _exact_as(self, dtype: np.dtype[Any]) -> bool:
        """Whether a type holds every class as it is: 2^53 + 1 is no float of 64 bits."""
        if self.classes.dtype.kind == "f" or dtype.kind != "f":
            return True
        # Python compares a float with a whole number exactly; numpy would round the number first.
        return all(float(name) == name for name in self.classes.tolist())


def n_columns(n_classes: int) -> int:
    """Return how many label columns there are: one for two classes, else one for every class."""
    return 1 if n_classes == 2 else n_classes


def sign_columns(codes: NDArray[np.int64], n_classes: int) -> Array:
    """Return columns of +1, -1 and 0: for two classes one, else one versus the rest for each."""
    wanted = range(1, 2) if n_classes == 2 else range(n_classes)
    columns = [np.where(codes >= 0, np.where(codes == k, 1.0, -1.0), 0.0) for k in wanted]
    return np.column_stack(columns)


def encode(y: ArrayLike, *, n_nodes: int, unlabeled: object = None) -> Labels:
    """Read labels of any type.

    Parameters
    ----------
    y : array-like, shape (N,)
        Text, integers, booleans or whole floats. Integers keep every digit; they must all fit into
        int64 or all into uint64.
    n_nodes : int
        How many labels there must be.
    unlabeled : object, default=None
        The value that marks unlabelled nodes, instead of the default: -1 for whole numbers, and
        the texts of `robustgc.transduction.missing.MARKERS` ("NA", "?" and the like, with a
        warning that counts them). None, NaN and, by default, "" mean unlabelled in any case.

    Raises
    ------
    ValueError
        No labels, one class only, another length, or values that are not classes.

    Examples
    --------
    >>> from robustgc.transduction.labels import encode
    >>> labels = encode(["spam", None, "ham", ""], n_nodes=4)
    >>> labels.classes, labels.codes
    (array(['ham', 'spam'], dtype='<U4'), array([ 1, -1,  0, -1]))
    """
    if y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None. Pass one label per "
            "node, with -1, None, NaN or '' for unlabelled nodes."
        )
    values = one_dimensional(y)
    if len(values) != n_nodes:
        raise ValueError(
            f"There are {len(values)} labels for {n_nodes} nodes; y needs one entry per node, "
            "with -1, None, NaN or '' for unlabelled nodes."
        )
    gaps = _gaps(values, unlabeled)
    missing = gaps.mask
    _warn_paper_convention(values, unlabeled)
    if missing.all():
        raise ValueError(
            f"All {n_nodes} nodes are unlabelled. At least one label of each of two classes is "
            "needed; -1, None, NaN and '' mean unlabelled (choose another marker with unlabeled=)."
            f"{_blamed(gaps)}"
        )
    labels = of_one_type(values[~missing])
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError(
            "Input y contains infinity or a value too large for dtype('float64'), which is no "
            "class. Use whole numbers, text or booleans; NaN marks unlabelled nodes."
        )
    with np.errstate(invalid="ignore"):  # whole numbers that no integer type of numpy holds
        check_classification_targets(labels)
    classes, inverse = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"The labels have 1 class only, {quoted(classes[0].item())}, on {len(labels)} of "
            f"{n_nodes} nodes. At least two classes are needed. (-1, None, NaN and '' mean "
            "unlabelled; choose another marker with unlabeled= if one of them is a class.)"
            f"{_blamed(gaps)}"
        )
    _warn_markers(gaps, text=classes.dtype.kind == "U")
    if unlabeled is not None and any(name == unlabeled for name in classes.tolist()):
        raise ValueError(
            f"unlabeled={quoted(unlabeled)} equals a class in Python, so that answers could not "
            "tell one from the other. Choose another marker, such as -1, None or ''."
        )
    codes = np.full(n_nodes, -1, dtype=np.int64)
    codes[~missing] = inverse.ravel()
    return Labels(classes, codes, _marker(values, missing, classes, unlabeled))


def recode(y: ArrayLike, classes: NDArray[Any], *, unlabeled: object = None) -> NDArray[np.int64]:
    """Return codes of labels by known classes: -1 for unlabelled, -2 for another class."""
    values = one_dimensional(y)
    known = {value: code for code, value in enumerate(classes.tolist())}
    missing = unlabelled(values, unlabeled)
    if classes.dtype.kind == "U":  # "-1" was a class among words; here it may stand alone
        missing &= np.array([str(value) not in known for value in values], dtype=bool)
    codes = np.full(len(values), -1, dtype=np.int64)
    if not missing.all():
        labels = typed_values(values[~missing])
        comparable = (labels.dtype.kind == "U") == (classes.dtype.kind == "U")
        codes[~missing] = [known.get(v, -2) if comparable else -2 for v in labels.tolist()]
    return codes


def changed_labels(
    labels: Labels, changes: Mapping[int, Any], *, unlabeled: object = None
) -> Labels:
    """Return labels with some changed by a mapping, or Series, from node to label.

    `unlabeled` is that of `encode`: None takes labels away by all the usual markers.
    """
    codes = labels.codes.copy()
    known = {value: code for code, value in enumerate(labels.classes.tolist())}
    for node, name in pairs_of(changes):
        whole = isinstance(node, Integral) and not isinstance(node, bool)  # True is no node 1
        if not whole or not 0 <= node < len(codes):
            raise ValueError(
                f"{quoted(node)} is not a node of the fitted graph; nodes are 0 to "
                f"{len(codes) - 1}."
            )
        codes[node] = _code(name, known, labels.marker, usual=unlabeled is None)
    if len(np.unique(codes[codes >= 0])) < 2:
        raise ValueError(
            "After the update fewer than two classes are labelled; at least two are needed."
        )
    return replace(labels, codes=codes)


def pairs_of(changes: Any) -> Iterable[tuple[Any, Any]]:
    """Return (node, label) pairs of a mapping, or of a Series, whose index are the nodes."""
    series = type(changes).__name__ == "Series" and hasattr(changes, "items")
    if isinstance(changes, Mapping) or series:
        pairs: Iterable[tuple[Any, Any]] = changes.items()
        return pairs
    raise TypeError(
        f"update takes a mapping from node to label, such as {{3: 'spam', 7: None}}; this is "
        f"{quoted(changes)} of type {type(changes).__name__}. Pairs become one by dict(pairs)."
    )


def _code(name: Any, known: dict[Any, int], marker: object, *, usual: bool) -> int:
    """Return the code of a label, -1 for none; refuse what is no class."""
    scalar = isinstance(name, np.generic) or (isinstance(name, np.ndarray) and name.ndim == 0)
    value = name.item() if scalar else name
    if is_none(value):
        return -1
    # True equals 1 in Python, but it is no class, or marker, among numbers; nor 1 among booleans.
    truth = isinstance(value, bool)
    if isinstance(value, Hashable) and truth == isinstance(next(iter(known)), bool):
        try:
            if value in known:
                return known[value]
        except TypeError:  # a tuple with a list in it
            pass
    same_kind = isinstance(value, str | int | float) and truth == isinstance(marker, bool)
    if same_kind and not is_none(marker) and value == marker:
        return -1
    if find_missing([*known, value], None if usual else "").mask[-1]:
        return -1
    raise ValueError(
        f"{quoted(value)} is not a class of the fit; those are {listed(known)}. "
        "None takes a label away; fit again for a new class."
    )


def draw(truth: ArrayLike, n_labels: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw nodes to label, evenly, again and again until every class occurs.

    Examples
    --------
    >>> import numpy as np
    >>> from robustgc.transduction.labels import draw
    >>> sorted(draw(["a", "b", "a", "b"], 4, np.random.default_rng(7)).tolist())
    [0, 1, 2, 3]
    """
    values = np.asarray(truth)
    classes = np.unique(values)
    if not len(classes) <= n_labels <= len(values):
        raise ValueError(
            f"{n_labels} labels cannot be drawn: {len(values)} nodes have {len(classes)} classes. "
            f"Ask for {len(classes)} to {len(values)}."
        )
    while True:
        nodes = rng.choice(len(values), size=n_labels, replace=False)
        if len(np.unique(values[nodes])) == len(classes):
            return np.asarray(nodes)


def flip(
    labels: ArrayLike, n_wrong: int, classes: ArrayLike, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Make some labels wrong: another class, drawn evenly. Return the labels and which changed.

    Examples
    --------
    >>> import numpy as np
    >>> from robustgc.transduction.labels import flip
    >>> flip(["a", "b"], 2, ["a", "b"], np.random.default_rng(7))[0]
    array(['b', 'a'], dtype='<U1')
    """
    right, names = np.asarray(labels), np.asarray(classes)
    # Of the wider of the two types: "red" into an array of one letter each would become "r".
    wrong = np.array(right, dtype=np.result_type(right, names) if right.dtype.kind == "U" else None)
    if not 0 <= n_wrong <= len(wrong):
        raise ValueError(
            f"{n_wrong} of {len(wrong)} labels cannot be flipped; ask for 0 to {len(wrong)}."
        )
    changed = np.sort(rng.choice(len(wrong), size=n_wrong, replace=False))
    for i in changed:
        wrong[i] = rng.choice(names[names != wrong[i]])
    return wrong, changed


def unlabelled(values: NDArray[Any], unlabeled: object, *, warn: bool = False) -> NDArray[np.bool_]:
    """Return where there is no label; warn of texts that are read so, if asked to."""
    gaps = _gaps(values, unlabeled)
    if warn:
        _warn_markers(gaps, text=any(isinstance(value, str) for value in values[~gaps.mask]))
    return gaps.mask


def _gaps(values: NDArray[Any], unlabeled: object) -> Missing:
    """Find the unlabelled nodes: by the rule of `transduction.missing`, or by a marker alone."""
    if unlabeled is None and values.dtype.kind in "OUS":
        return find_missing(values.tolist())
    missing: NDArray[np.bool_] = is_missing(values)
    if not missing.all():
        labels = typed_values(values[~missing])
        missing[~missing] = equal_to(labels, -1 if unlabeled is None else unlabeled)
    return Missing(missing)


def _blamed(gaps: Missing) -> str:
    """Say which markers took labels away, in an error about labels that are not there."""
    if not (said := gaps.sentence()):
        return ""
    return f" Of y, {said}, read as unlabelled; pass unlabeled='' if that is a class."


def _warn_markers(gaps: Missing, *, text: bool) -> None:
    """Warn of texts that are read as unlabelled; -1 among numbers is scikit-learn's own marker."""
    counts = {mark: many for mark, many in gaps.counts.items() if text or mark in MARKERS}
    if counts:
        warnings.warn(
            f"Of y, {Missing(gaps.mask, counts).sentence()}: read as unlabelled. If that is a "
            "class, pass unlabeled=''; if not, write None, or pass it as unlabeled=, to silence "
            "this.",
            UserWarning,
            stacklevel=4,
        )


def _warn_paper_convention(values: NDArray[Any], unlabeled: object) -> None:
    """Warn about {-1, 0, 1} with mostly zeros: it looks like the paper's 0 = unlabelled."""
    if values.dtype.kind == "O" and all(isinstance(v, int) for v in values):
        values = np.array(values.tolist())
    if unlabeled is not None or values.dtype.kind not in "if":
        return
    present, counts = np.unique(values, return_counts=True)
    if present.tolist() == [-1, 0, 1] and counts[1] > counts.sum() / 2:
        warnings.warn(
            f"y holds -1, 0 and 1, and {counts[1]} of {counts.sum()} are 0. Here -1 means "
            "unlabelled and 0 is a class. If 0 means unlabelled, pass unlabeled=0; if not, pass "
            "unlabeled=-1 to silence this.",
            UserWarning,
            stacklevel=4,
        )


def _marker(
    values: NDArray[Any], missing: NDArray[np.bool_], classes: NDArray[Any], unlabeled: object
) -> object:
    """Choose what "unlabelled" looks like in answers: as in y, or the default of its type."""
    if unlabeled is not None:
        return unlabeled
    if missing.any():
        seen = values[missing][0]
        return seen.item() if isinstance(seen, np.generic) else seen
    return {"U": "", "b": None}.get(classes.dtype.kind, -1)

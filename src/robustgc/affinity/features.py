"""The columns of points: their names, their scales, and the metric that compares rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from robustgc.graph.alerts import warn
from robustgc.graph.quoting import listed, quoted
from robustgc.graph.weights import Array

METRICS = ("euclidean", "cosine")
SCALINGS = ("standard", "none")
APART = 100  # a column whose deviation is that many times another's decides all distances
COLUMNS = 32
ROWS = 2000  # rows that tell which columns hardly take part in distances
RARE = 0.05  # those where fewer rows differ from the median
ROUNDING = 64 * float(np.finfo(float).eps)  # deviation over size that sums of equal numbers leave


@dataclass(frozen=True, eq=False)
class Standardisation:
    """Mean and standard deviation of every column: ``(x - mean) / deviation``.

    Attributes
    ----------
    mean, deviation : ndarray, shape (columns,)
        A deviation of 0 marks a column that was constant: it becomes 0, for new points too.

    Examples
    --------
    >>> import numpy as np
    >>> from robustgc.affinity.features import Standardisation
    >>> X = np.array([[1.0, 7.0], [3.0, 7.0]])
    >>> Standardisation.of(X).applied(X)
    array([[-1.,  0.], [ 1.,  0.]])
    """

    mean: Array
    deviation: Array

    @classmethod
    def of(cls, X: Array) -> Self:
        """Return that of some points."""
        mean, deviation = np.empty(X.shape[1]), np.empty(X.shape[1])
        for first in range(0, X.shape[1], COLUMNS):  # at a time, to hold no second copy of X
            part = slice(first, first + COLUMNS)
            size = np.abs(X[:, part]).max(axis=0)
            size[size == 0] = 1.0
            shares = X[:, part] / size  # squares of huge numbers would overflow
            spread = shares.std(axis=0)
            spread[spread <= ROUNDING] = 0.0
            mean[part], deviation[part] = shares.mean(axis=0) * size, spread * size
        deviation[deviation < np.finfo(float).tiny] = 0.0  # has no half
        return cls(mean, deviation)

    def applied(self, X: Array) -> Array:
        """Return points with every column standardised."""
        out = X / 2  # halves: a difference of huge numbers would overflow
        out -= self.mean / 2
        out /= np.where(self.deviation > 0, self.deviation / 2, np.inf)
        return out

    def notes(self, names: Sequence[str]) -> tuple[str, ...]:
        """Say what was done to the columns."""
        done = (
            "columns are standardised: mean 0, deviation 1; --scale none (scaling='none' in "
            "Python) leaves them as they are"
        )
        constant = [name for name, size in zip(names, self.deviation, strict=True) if size == 0]
        if not constant:
            return (done,)
        return done, f"columns that hold one value only have no effect: {listed(constant)}"


def check_metric(metric: object, affinity: object) -> None:
    """Refuse an unknown metric, and one that the affinity does not use."""
    if not isinstance(metric, str) or metric not in METRICS:
        raise ValueError(f"metric={quoted(metric)} is unknown; it must be 'euclidean' or 'cosine'.")
    if metric == "cosine" and (callable(affinity) or affinity == "precomputed"):
        what = "a function of your own" if callable(affinity) else "affinity='precomputed'"
        raise ValueError(
            f"metric='cosine' has no effect with {what}, which brings its own weights. Use "
            "affinity='knn' or 'rbf', or leave metric out."
        )


def unit_rows(X: Any) -> Any:
    """Return rows of length 1: between them distances order pairs as cosines do.

    ``|a - b|^2 = 2 - 2 cos(a, b)``. A row of zeros has no direction and is refused.
    """
    if sp.issparse(X):
        X = sp.csr_array(X, copy=True)
        X.sum_duplicates()
        size, counts = _checked_sizes(abs(X).max(axis=1).toarray().ravel()), np.diff(X.indptr)
        X.data = X.data / np.repeat(size, counts)  # squares of huge numbers would overflow
        length = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
        X.data = X.data / np.repeat(length, counts)
        return X
    X = np.ascontiguousarray(X) / _checked_sizes(np.abs(X).max(axis=1))[:, None]
    return X / np.sqrt(np.einsum("ij,ij->i", X, X))[:, None]


def _checked_sizes(size: Array) -> Array:
    """Return the largest values of all rows, or refuse a row of zeros."""
    zeros = np.flatnonzero(size == 0)
    if len(zeros):
        raise ValueError(
            f"X[{zeros[0]}], row {zeros[0] + 1} of the points, holds only zeros ({len(zeros)} such "
            "in all): it has no direction, and no cosine with others. Leave such rows out, or use "
            "metric='euclidean' (--metric euclidean)."
        )
    return size


def column_names(X: Any) -> list[str] | None:
    """Return the names of a frame's columns; None for arrays, and where they are no text."""
    if type(X).__module__.split(".")[0] not in ("pandas", "polars", "pyarrow"):
        return None
    names = getattr(X, "column_names", None)
    names = getattr(X, "columns", None) if names is None else names
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return [str(name) for name in names]


def matched(names: Sequence[str], wanted: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return the place of every wanted column among the names, and the names not wanted.

    Raises
    ------
    ValueError
        Columns are missing, or a wanted one is there twice; the text names them.
    """
    place = {name: k for k, name in enumerate(names)}
    if missing := [name for name in wanted if name not in place]:
        many = f"{len(missing)} of the {len(wanted)} columns that the model was fitted on"
        raise ValueError(
            f"{many} {'is' if len(missing) == 1 else 'are'} missing: {listed(missing)}; the "
            f"columns are {listed(names)}. Add or rename columns: they are matched by name"
        )
    known = set(wanted)
    for k, name in enumerate(names):
        if name in known and place[name] != k:
            raise ValueError(f"two columns are called {quoted(name)}. Rename or remove one")
    return [place[name] for name in wanted], [name for name in names if name not in known]


def by_name(X: Any, wanted: Sequence[str]) -> Any:
    """Return a frame's wanted columns, in that order; warn of others, which are left out."""
    names = column_names(X)
    if names is None or names == list(wanted):
        return X
    try:
        order, extra = matched(names, wanted)
    except ValueError as error:
        raise ValueError(f"X: {error}.") from None
    if extra:
        warn(f"The model was not fitted on columns {listed(extra)} of X; they are left out.")
    if hasattr(X, "iloc"):
        return X.iloc[:, order]
    return X.select([names[k] for k in order])


def warn_of_spreads(X: Any, names: Sequence[str] | None) -> None:
    """Warn where a column spreads so much more than another that distances ignore the latter."""
    if sp.issparse(X):
        return
    some = X[np.unique(np.linspace(0, len(X) - 1, ROWS).astype(int))]
    middle = np.partition(some, len(some) // 2, axis=0)[len(some) // 2]
    common = (some != middle).mean(axis=0) >= RARE
    deviation = Standardisation.of(X).deviation
    counted = np.flatnonzero(common & (deviation > 0))
    if len(counted) < 2:
        return
    widest, narrowest = (int(counted[find(deviation[counted])]) for find in (np.argmax, np.argmin))
    with np.errstate(over="ignore"):
        ratio = deviation[widest] / deviation[narrowest]
    if ratio > APART:
        wide, narrow = (
            f"column {k} (from 0)" if names is None else f"column {quoted(names[k], 60)}"
            for k in (widest, narrowest)
        )
        warn(
            f"{wide[0].upper()}{wide[1:]} of X has {ratio:.3g} times the standard deviation of "
            f"{narrow}, so that distances hardly depend on the latter. Standardise the columns "
            "(StandardScaler of scikit-learn; classify(points=...) and --scale standard do it), or "
            "compare directions with metric='cosine'."
        )

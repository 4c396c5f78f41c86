"""Columns of data on the nodes of a graph -> which nodes are alike: a neighbour graph of its own.

What the columns are decides how rows are compared: measurements by the distance of standardised
columns; counts of words by the cosine, rare words counting more; embeddings by the cosine as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from operator import or_
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.affinity.features import ROUNDING, Standardisation, column_names, unit_rows
from robustgc.affinity.kinds import Nearest
from robustgc.affinity.neighbours import approximates
from robustgc.graph.quoting import listed, quoted
from robustgc.graph.weights import Array, Weights

KINDS = ("auto", "measurements", "counts", "embedding")
N_NEIGHBORS = 10  # of a row, as for points
_WORDS, _WIDE = 20, 32  # columns from which on they may be words, or an embedding
_EVEN = 10.0  # columns of an embedding differ less in their deviations: the 9th decile to the 1st
_DENSE, _FILLED = 2**26, 0.02  # values up to which, and share from which, zeros are stored
_SAID = {
    "measurements": "standardised and compared by distance, as measurements",
    "counts": "compared by cosine, rare ones counting more (TF-IDF), as words",
    "embedding": "compared by cosine, as an embedding",
}


def check_kind(kind: object) -> None:
    """Refuse what is no kind of features."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(
            f"features_as={quoted(kind)} is unknown; choose one of {', '.join(KINDS)}."
        )


def read_features(features: Any, n_nodes: int) -> tuple[Any, list[str] | None, list[str]]:
    """Return features as an array or a sparse array, the names of their columns, and notes.

    Columns that do not hold numbers are left out, and said.
    """
    if hasattr(features, "collect_schema") and not hasattr(features, "__len__"):
        raise ValueError("The features are a frame that is not computed yet; call collect() first.")
    names, notes = column_names(features), list[str]()
    if names is not None:
        names, X = _of_frame(features, names, notes)
    elif getattr(getattr(features, "dtype", None), "kind", "") in ("c", "U", "S"):
        raise ValueError(f"The features are of type {features.dtype}; give real numbers.")
    elif sp.issparse(features):
        X = sp.csr_array(features).astype(np.float64)
    else:
        try:
            X = np.ma.filled(np.ma.asarray(features, dtype=np.float64), np.nan)
        except (TypeError, ValueError):
            raise ValueError(
                "The features hold text or objects; give numbers, with NaN where one is missing, "
                "or a frame of pandas, polars or pyarrow, whose columns of text are left out."
            ) from None
    if X.ndim != 2 or X.shape[1] == 0:
        raise ValueError(
            f"The features have shape {X.shape}; give a row for each node and a column for each "
            "feature."
        )
    if X.shape[0] != n_nodes:
        raise ValueError(
            f"The features have {X.shape[0]} rows, the graph has {n_nodes} nodes. Give a row for "
            "each node, in the order of the graph; NaN where a node has no features."
        )
    return X, names, notes


def _of_frame(frame: Any, names: list[str], notes: list[str]) -> tuple[list[str], Array]:
    """Return the names and values of the columns of numbers; note the others."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Two columns of the features are called {quoted(twice)}. Rename one.")
    columns = {name: _numbers(np.asarray(frame[name])) for name in names}
    if text := [name for name, column in columns.items() if column is None]:
        notes.append(f"columns that do not hold numbers are left out: {listed(text)}")
    known = {name: column for name, column in columns.items() if column is not None}
    if not known:
        raise ValueError("The features hold no column of numbers. Give some, or leave them out.")
    return list(known), np.column_stack(list(known.values()))


def _numbers(column: NDArray[Any]) -> Array | None:
    """Return a column of a frame as numbers, None if it holds anything else."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    if column.dtype.kind != "O":
        return None
    missing = [value is None or type(value).__name__ == "NAType" for value in column]
    numbers = (isinstance(value, Real | Decimal) for value in column)
    if not all(map(or_, missing, numbers)):
        return None
    return np.array([np.nan if m else float(v) for m, v in zip(missing, column, strict=True)])


@dataclass(frozen=True, eq=False)
class FeatureScale:
    """How rows of node data become points that distances compare.

    Attributes
    ----------
    kind : {"measurements", "counts", "embedding"}
    used : ndarray of int
        The columns that count: those with more than one value.
    median : ndarray, shape (used,)
        What stands for a missing value.
    factor : ndarray, shape (used,)
        What a column is multiplied by: of measurements ``1 / deviation``, of words ``log((1 + n) /
        (1 + rows with it)) + 1``, else 1.
    centre : ndarray, shape (used,)
        What is subtracted before. Distances do not see it: it is 0 where zeros are not stored.
    notes : tuple of str
        What was decided, for the user.
    """

    kind: str
    used: NDArray[np.int64]
    median: Array
    factor: Array
    centre: Array
    notes: tuple[str, ...]

    @classmethod
    def of(cls, X: Any, kind: str = "auto", names: Sequence[str] | None = None) -> Self:
        """Look at the columns of an array or a sparse array, where NaN is a missing value.

        Raises
        ------
        ValueError
            The kind is unknown, a value is infinite, or no column has two values.
        """
        check_kind(kind)
        _refuse_infinite(X, names)
        median = _medians(X)
        filled, missing = _filled(X, median)
        known = filled[np.flatnonzero(missing < X.shape[1])]
        used = _varied(known)
        centre, factor = _standard(known[:, used])
        some = factor > 0  # else they differ by rounding
        used, centre, factor = used[some], centre[some], factor[some]
        if len(used) == 0:
            raise ValueError(
                f"The features tell no nodes apart: none of their {X.shape[1]} columns has two "
                "different values. Leave the features out."
            )
        known, notes = known[:, used], []
        if len(used) < X.shape[1]:
            constant = np.setdiff1d(np.arange(X.shape[1]), used)
            which = listed([_name(k, names) for k in constant])
            notes.append(f"columns with one value only are left out: {which}")
        chosen = _kind(known, factor) if kind == "auto" else kind
        how = f"the columns of the features ({len(used)}) are {_SAID[chosen]}"
        notes.append(how if kind != "auto" else f"{how}; features_as= says otherwise")
        if chosen != "measurements":
            factor, centre = np.ones(len(used)), np.zeros(len(used))
        if chosen == "counts":
            lowest = float(known.min())
            if lowest < 0:
                raise ValueError(
                    f"The features go down to {lowest:g}, and counts are 0 or more. Choose "
                    "'embedding' or 'measurements', or leave features_as out."
                )
            rows_with = np.asarray((known > 0).sum(axis=0), dtype=float).ravel()
            factor = np.log((1 + known.shape[0]) / (1 + rows_with)) + 1
        return cls(chosen, used, median[used], factor, centre, tuple(notes))

    def applied(self, X: Any) -> tuple[Any, NDArray[np.int64]]:
        """Return the rows that can be compared, as points, and their numbers.

        A row where everything is missing has no features; nor has one of zeros, where directions
        are compared.
        """
        filled, missing = _filled(X[:, self.used], self.median)
        rows = np.flatnonzero(missing < len(self.used))
        points = filled[rows]
        if sp.issparse(points):
            points = sp.csr_array(points @ sp.diags_array(self.factor))
            points.eliminate_zeros()
        else:
            points = (points - self.centre) * self.factor
        if self.kind == "measurements":
            return points, rows
        some = np.flatnonzero(_row_sizes(points) > 0)
        return unit_rows(points[some]), rows[some]


@dataclass(frozen=True, eq=False)
class FeatureGraph:
    """The nodes that are alike by their features, each joined to its nearest ones."""

    scale: FeatureScale
    neighbours: Nearest  # of the nodes that have features
    nodes: NDArray[np.int64]  # these nodes
    n_nodes: int
    notes: tuple[str, ...]  # what was decided, for the user

    @classmethod
    def of(cls, X: Any, kind: str = "auto", names: Sequence[str] | None = None) -> Self:
        """Join the rows of an array or a sparse array to their nearest ones.

        Examples
        --------
        >>> import numpy as np
        >>> from robustgc.affinity.node_features import FeatureGraph
        >>> found = FeatureGraph.of(np.array([[1.0], [2.0], [np.nan], [9.0]]))
        >>> found.nodes, found.weights().shape
        (array([0, 1, 3]), (4, 4))
        """
        scale = FeatureScale.of(X, kind, names)
        points, nodes = scale.applied(X)
        if len(nodes) < 2:
            raise ValueError(
                f"Only {len(nodes)} of {X.shape[0]} nodes has features that can be compared. Leave "
                "the features out."
            )
        notes, partly = list(scale.notes), _filled(X[:, scale.used], scale.median)[1][nodes] > 0
        if partly.any():
            notes.append(
                f"nodes that lack some features: {partly.sum()}; the median of the column stands in"
            )
        if without := X.shape[0] - len(nodes):
            notes.append(f"nodes without features: {without}")
        points = _stored(points)
        near = Nearest(points, min(N_NEIGHBORS, len(nodes) - 1), approximates(points, "auto"))
        return cls(scale, near, nodes, X.shape[0], tuple(notes))

    def weights(self) -> Weights:
        """Return the symmetric weights between all nodes; those without features have none."""
        known = sp.coo_array(self.neighbours.weights())
        pairs = (self.nodes[known.row], self.nodes[known.col])
        return sp.csr_array((known.data, pairs), shape=(self.n_nodes, self.n_nodes))


def _refuse_infinite(X: Any, names: Sequence[str] | None) -> None:
    values = X.data if sp.issparse(X) else X
    if not np.isinf(values).any():
        return
    where = sp.coo_array(X) if sp.issparse(X) else None
    if where is not None:
        first = int(np.flatnonzero(np.isinf(where.data))[0])
        row, column = int(where.row[first]), int(where.col[first])
    else:
        row, column = (int(part[0]) for part in np.nonzero(np.isinf(X)))
    raise ValueError(
        f"{int(np.isinf(values).sum())} values of the features are infinite, the first in row "
        f"{row} (from 0) of {_name(column, names)}. Correct them, or leave the cells empty: the "
        "median of the column stands in."
    )


def _name(column: int, names: Sequence[str] | None) -> str:
    return f"column {column}" if names is None else str(names[column])


def _medians(X: Any) -> Array:
    """Return the median of every column that has missing values; 0 for others."""
    median = np.zeros(X.shape[1])
    holes = np.isnan(X.data if sp.issparse(X) else X)
    if not holes.any():
        return median
    columns = np.unique(sp.coo_array(X).col[holes] if sp.issparse(X) else np.nonzero(holes)[1])
    by_column = sp.csc_array(X) if sp.issparse(X) else X
    for k in columns.tolist():
        column = by_column[:, [k]].toarray().ravel() if sp.issparse(X) else by_column[:, k]
        known = column[~np.isnan(column)]
        median[k] = np.median(known) if known.size else 0.0
    return median


def _filled(X: Any, median: Array) -> tuple[Any, NDArray[np.int64]]:
    """Return the values with medians for the missing ones, and how many a row misses."""
    if not sp.issparse(X):
        holes = np.isnan(X)
        return np.where(holes, median, X), holes.sum(axis=1)
    X = sp.csr_array(X, copy=True)
    holes, row = np.isnan(X.data), np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    X.data[holes] = median[X.indices[holes]]
    return X, np.bincount(row[holes], minlength=X.shape[0])


def _varied(X: Any) -> NDArray[np.int64]:
    """Return the columns with more than one value."""
    if X.shape[0] == 0:
        return np.empty(0, dtype=np.int64)
    low, high = X.min(axis=0), X.max(axis=0)
    if sp.issparse(X):
        low, high = (part.toarray().ravel() for part in (low, high))
    return np.flatnonzero(high > low)


def _kind(X: Any, factor: Array) -> str:
    """Tell what columns are from their values; `factor` is ``1 / deviation``."""
    values = X.data if sp.issparse(X) else X
    filled = np.count_nonzero(values) / max(1, X.shape[0] * X.shape[1])
    if X.shape[1] >= _WORDS and filled < 0.5 and values.min(initial=0.0) >= 0:
        return "counts" if (values == np.round(values)).all() else "embedding"
    if X.shape[1] >= _WIDE:
        low, high = np.quantile(factor, (0.1, 0.9))
        if high <= _EVEN * low:
            return "embedding"
    return "measurements"


def _standard(X: Any) -> tuple[Array, Array]:
    """Return the centre and ``1 / deviation`` of every column; 0 where that is rounding only."""
    if not sp.issparse(X):
        standard = Standardisation.of(X)
        centre, deviation = standard.mean, standard.deviation
    else:
        X, centre = sp.csc_array(X), np.zeros(X.shape[1])
        size = abs(X).max(axis=0).toarray().ravel()  # squares of huge numbers would overflow
        size[size == 0] = 1.0
        shares, rows = X.data / np.repeat(size, np.diff(X.indptr)), X.shape[0]
        column = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        mean = np.bincount(column, shares, X.shape[1]) / rows
        square = np.bincount(column, (shares - mean[column]) ** 2, X.shape[1])
        square += (rows - np.diff(X.indptr)) * mean**2
        spread = np.sqrt(square / rows)
        deviation = np.where(spread > ROUNDING, spread, 0.0) * size
    some = deviation >= np.finfo(float).tiny
    return centre, np.where(some, 1 / np.where(some, deviation, 1.0), 0.0)


def _row_sizes(X: Any) -> Array:
    largest = abs(X).max(axis=1)
    return np.asarray(largest.toarray() if sp.issparse(largest) else largest, dtype=float).ravel()


def _stored(points: Any) -> Any:
    """Store the zeros of points where products are faster with them."""
    if not sp.issparse(points) or np.prod(points.shape, dtype=float) > _DENSE:
        return points
    return points.toarray() if points.nnz >= _FILLED * np.prod(points.shape) else points

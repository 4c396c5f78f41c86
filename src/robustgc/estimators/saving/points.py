"""The points, or weights, of a fitted RobustGC and the graph made of them <-> JSON and arrays."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.affinity.features import Standardisation
from robustgc.affinity.kinds import Affinity, Gaussian, Nearest, Precomputed
from robustgc.estimators.robust import RobustGC
from robustgc.graph.csr import CSR
from robustgc.graph.quoting import short
from robustgc.graph.structure import check_rows
from robustgc.graph.weights import check_weights
from robustgc.storage.answers import Arrays
from robustgc.storage.values import Checked

KINDS = {"rbf": Gaussian, "knn": Nearest, "precomputed": Precomputed}
_WEIGHTS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"


def points_state(X: Any) -> tuple[dict[str, Any], Arrays]:
    """Return how the points, or the weights, are held, and their arrays."""
    if not isinstance(X, CSR) and not sp.issparse(X):
        return {"kind": "dense"}, {"points": X}
    arrays = {"points_indptr": X.indptr, "points_indices": X.indices}
    if X.data is not None:
        arrays["points_data"] = X.data
    if isinstance(X, CSR):
        return {"kind": "csr", "weighted": X.data is not None}, arrays
    return {"kind": "sparse", "columns": int(X.shape[1])}, arrays


def read_points(checked: Checked, square: bool) -> Any:
    """Take the points or weights as they were fitted, arrays with their layout."""
    kind = checked.value("points", dict)
    if kind.get("kind") == "dense":
        X = checked.array("points", "float64", (None, None))
    else:
        X = _rows_of_entries(checked, kind)
    n, columns = X.shape
    if n < 2 or columns < 1 or (square and n != columns):
        checked.refuse(f"the points, or weights, have shape {X.shape}")
    if isinstance(X, CSR) and not square:
        checked.refuse("points cannot be held as a graph")
    return X


def _rows_of_entries(checked: Checked, kind: dict[str, Any]) -> Any:
    indptr = checked.array("points_indptr", "int32 int64", (None,), 0)
    indices = checked.array("points_indices", "int32 int64", (None,), 0)
    with checked.refusing("the row pointers are wrong", "points_indptr.npy"):
        check_rows(indptr, indices, what="the model")
    if kind.get("kind") == "csr":
        weighted = kind.get("weighted") is True
        data = checked.array("points_data", _WEIGHTS, indices.shape) if weighted else None
        with checked.refusing("the weights are no graph", "points_indices.npy"):
            return CSR(indptr, indices, data)
    data, columns = checked.array("points_data", "float64", indices.shape), kind.get("columns")
    if kind.get("kind") != "sparse" or type(columns) is not int or columns < 1:
        checked.refuse(f"points are {short(kind)}, which this version of robustgc does not know")
    with checked.refusing("the entries are not in order", "points_indices.npy"):
        X = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, columns))
        X.check_format(full_check=True)  # an index out of range would be read as memory
    return X


def affinity_state(affinity: Any) -> tuple[dict[str, Any], Arrays]:
    """Return the width of a kernel, or the neighbours that were found."""
    if isinstance(affinity, Gaussian):
        width = {"sigma": float(affinity.sigma), "scale": float(affinity.scale)}
        return {**width, "self_loops": bool(affinity.self_loops)}, {}
    if isinstance(affinity, Nearest):
        # Kept, not searched again: the index of approximate search may be missing there.
        graph, reach = affinity._index
        k = int(affinity.n_neighbors)
        arrays = {"reach": reach, "neighbours": graph.indices.reshape(-1, k)}
        return {"n_neighbors": k, "approximate": bool(affinity.approximate)}, arrays
    return {}, {}


def read_affinity(checked: Checked, kind: str, X: Any) -> Affinity:
    """Take what makes weights of the points in the graph."""
    about, n = checked.value("affinity", dict), X.shape[0]
    if kind == "precomputed":
        file = "points.npy" if isinstance(X, np.ndarray) else "points_indices.npy"
        with checked.refusing("the weights are no graph", file):
            return Precomputed(check_weights(X))
    if kind == "rbf":
        width = about.get("sigma"), about.get("scale"), about.get("self_loops")
        if [type(value) for value in width] != [float, float, bool] or min(width[:2]) <= 0:
            checked.refuse(f"the Gaussian kernel has {short(about)}")
        return Gaussian(X, *width)
    k, approximate = about.get("n_neighbors"), about.get("approximate")
    if type(k) is not int or not 1 <= k < n or type(approximate) is not bool:
        checked.refuse(f"the nearest neighbours of {n} points have {short(about)}")
    numbers = checked.array("neighbours", "int32 int64", (n, k), 0, n - 1)
    nearest = Nearest(X, k, approximate)
    starts = np.arange(0, n * k + 1, k)
    graph = sp.csr_array((np.ones(n * k), numbers.ravel(), starts), shape=(n, n))
    # Into its cache, so that neighbours are not searched again.
    vars(nearest)["_index"] = (graph, checked.array("reach", "float64", (n,), 0))
    return nearest


def read_landmarks(checked: Checked, n: int, square: bool) -> NDArray[np.int64] | None:
    """Take the numbers of the points that are in the graph; None: all are."""
    if not checked.has("landmarks"):
        return None
    if square:
        checked.refuse("a graph has no landmarks", "landmarks.npy")
    landmarks = checked.array("landmarks", "int64", (None,), 0, n - 1)
    if len(landmarks) < 2 or (np.diff(landmarks) <= 0).any():
        checked.refuse("landmarks must be two or more nodes, ascending", "landmarks.npy")
    return landmarks


def read_features(checked: Checked, estimator: RobustGC, columns: int) -> None:
    """Take the number and the names of the columns, and how they were standardised."""
    count = checked.value("features", int)
    if count != columns:
        checked.refuse(f"the model has {count} features, but its points have {columns}")
    estimator.n_features_in_ = count
    if checked.about.get("feature_names") is not None:
        names = checked.value("feature_names", list)
        if len(names) != count or not all(type(name) is str for name in names):
            checked.refuse(f"feature_names must be {count} texts")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if checked.has("column_mean"):
        if estimator.affinity == "precomputed":
            checked.refuse("weights of a graph are not standardised", "column_mean.npy")
        mean = checked.array("column_mean", "float64", (count,))
        deviation = checked.array("column_deviation", "float64", (count,), 0)
        estimator._scaling = Standardisation(mean, deviation)

"""Weight matrices: read from any container, and refused with the reason and the cure.

`check_weights` answers why a matrix was refused; `Graph` adds that it must be connected.
"""

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from robustgc.graph.alerts import warn
from robustgc.graph.csr import CSR, native
from robustgc.graph.structure import check_arrays, check_sparse

Array: TypeAlias = NDArray[np.float64]
Weights: TypeAlias = Any  # float64 ndarray, csr_array in canonical form, or CSR

# Squares of rounding errors: a coupling below this cannot be told from none in double precision.
NEGLIGIBLE = 1e-24

# Exponent of 2 that the sum of all degrees may have, a little below the last one.
HIGHEST = 1020

# Entries and nodes from which one pass over them replaces the checks that copy the matrix.
LARGE = 2**20


class Operator(ABC):
    """Weights known by their products only; symmetric, finite and >= 0 by construction."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @abstractmethod
    def __matmul__(self, V: ArrayLike) -> Array: ...

    @abstractmethod
    def sum(self, axis: int = 1) -> Array:
        """Return the degrees."""

    @abstractmethod
    def diagonal(self) -> Array:
        """Return the self-loops."""

    @abstractmethod
    def part(self, nodes: NDArray[Any]) -> "Operator":
        """Return the rows and columns of some of the nodes."""

    @abstractmethod
    def without_diagonal(self) -> "Operator":
        """Return the same weights without self-loops."""

    @abstractmethod
    def components(self) -> tuple[int, NDArray[np.int64]]:
        """Count connected components and number them per node."""


def check_weights(W: Any) -> Weights:
    """Return weights as float64 (ndarray or canonical csr_array), or say why they are refused.

    Checks: numeric, square, not empty, finite, non-negative, symmetric to rounding. Duplicate
    entries of a sparse matrix are summed, as scipy does. The input is never modified.
    """
    if isinstance(W, Operator):
        return W
    if isinstance(W, CSR):
        return _checked_csr(W)
    if sp.issparse(W) and W.ndim == 2 and W.format == "csr":
        check_arrays(W.indptr, W.indices, W.data, what="the weight matrix")
        large = W.nnz + W.shape[0] >= LARGE  # many nodes are as many to copy as entries
        known = _clean(W) if large and native(W.dtype) else None
        if known is not None:
            return known
    if sp.issparse(W):
        check_sparse(W)
    W, rtol = _as_float(W)
    if W.ndim <= 2 and max(W.shape, default=0) == 0:
        raise ValueError("The graph is empty: 0 nodes. At least 2 nodes are needed.")
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise ValueError(
            f"The weight matrix has shape {W.shape}; it must be square, one row and one column "
            "per node. For points use affinity='rbf' or 'knn' instead of 'precomputed'."
        )
    values = W.data if sp.issparse(W) else W
    if not np.isfinite(values).all():
        _refuse(W, ~np.isfinite(values), "not finite", "Weights must be finite numbers; remove "
                "the edge or give it a weight.")  # fmt: skip
    if values.size and values.min() < 0:
        _refuse(W, values < 0, "negative", "Weights must be >= 0; use similarities, for instance "
                "exp(-distance), or drop these edges.")  # fmt: skip
    with np.errstate(over="ignore"):
        if not np.isfinite(np.asarray(W.sum(axis=1))).all():
            raise ValueError(
                f"A node's degree (sum of weights) overflows; the largest weight is "
                f"{values.max():.3g}. Divide all weights by it; their scale does not matter."
            )
    return _symmetrised(W, rtol)


def _clean(W: Any) -> Weights | None:
    """Return a large matrix without a copy if nothing is wrong with it, else None.

    What is wrong, or only rounding, is for the thorough checks to say.
    """
    if W.shape[0] != W.shape[1] or W.nnz != len(W.indices):
        return None
    rows = CSR(W.indptr, W.indices, W.data)
    findings, degrees = rows.inspected()
    if findings[:3].any() or not np.isfinite(degrees).all() or not rows.is_symmetric():
        return None
    if findings[4] == findings[5] == 1:
        return CSR(W.indptr, W.indices)
    return sp.csr_array((W.data.astype(np.float64, copy=False), W.indices, W.indptr), W.shape)


def _checked_csr(W: CSR) -> CSR:
    """Refuse what a graph folder or a CSR of the user's own may have wrong."""
    n = W.shape[0]
    if n == 0:
        raise ValueError("The graph is empty: 0 nodes. At least 2 nodes are needed.")
    findings, degrees = W.inspected()
    refuse_faults(findings[:3], overflows=not np.isfinite(degrees).all())
    if not W.is_symmetric():
        raise ValueError(NOT_SYMMETRIC)
    return W


def refuse_faults(counts: Array, *, overflows: Any) -> None:
    """Refuse a CSR by its faulty entries, as `CSR.inspected` counts them, or an infinite degree."""
    for count, what in zip(counts, _FAULTS, strict=True):
        if count:
            raise ValueError(f"{int(count)} entries of the CSR are {what}")
    if overflows:
        raise ValueError("A node's degree overflows; divide all weights by the largest.")


_FAULTS = (
    "out of range, repeated, or not in ascending order of columns; sort every row and add up "
    "repeated entries.",
    "negative or not finite; weights must be finite numbers > 0.",
    "zero; leave them out.",
)
NOT_SYMMETRIC = (
    "The weights of the CSR are not symmetric: for some entry (i, j) there is no equal one at "
    "(j, i). The graph must be undirected; build_csr stores every edge both ways."
)


def _as_float(W: Any) -> tuple[Weights, float]:
    """Convert to float64 without touching the input; also the asymmetry its precision excuses."""
    if isinstance(W, np.ma.MaskedArray):
        raise TypeError(
            f"The weight matrix is a masked array with {int(np.sum(W.mask))} masked entries; a "
            "plain array is needed. Fill them, for instance with W.filled(0)."
        )
    if not sp.issparse(W):
        W = np.asarray(W)
    if W.dtype.kind not in "biuf":
        raise TypeError(
            f"The weight matrix has dtype {W.dtype}; real numbers are needed (float, int or bool). "
            "Convert it first, for instance with W.astype(float)."
        )
    digits = {2: 1e-2, 4: 1e-5} if W.dtype.kind == "f" else {}
    rtol = digits.get(W.dtype.itemsize, 1e-10)
    if not sp.issparse(W):
        return np.asarray(W, dtype=np.float64), rtol
    if W.ndim != 2:
        return W, rtol
    # Convert before anything is summed: int8 duplicates would wrap around.
    W = sp.csr_array(W.astype(np.float64))
    if not W.has_canonical_format or (W.data == 0).any():
        W = W.copy()  # its index arrays may be the caller's
        W.sum_duplicates()
        W.eliminate_zeros()
    return W, rtol


def _refuse(W: Weights, bad: NDArray[np.bool_], what: str, cure: str) -> None:
    """Raise with the first offending entry and how many there are."""
    if sp.issparse(W):
        first = int(np.flatnonzero(bad)[0])
        i, j = int(np.searchsorted(W.indptr, first, side="right")) - 1, int(W.indices[first])
    else:
        i, j = (int(k) for k in np.argwhere(bad)[0])
    raise ValueError(f"W[{i}, {j}] = {W[i, j]} is {what} ({int(bad.sum())} such entries). {cure}")


def _symmetrised(W: Weights, rtol: float) -> Weights:
    """Refuse directed weights; average away differences of the size of rounding."""
    Wt = sp.csr_array(W.T) if sp.issparse(W) else W.T
    gap = abs(W - Wt)
    if gap.max() == 0:
        return W
    # Besides the relative error, sums leave an absolute one; but an edge in one direction only
    # is a directed edge, however weak.
    both = (W > 0).multiply(Wt > 0) if sp.issparse(W) else (W > 0) & (Wt > 0)
    absolute = 8 * float(np.finfo(float).eps) * W.max()
    excess = gap - (W * (rtol / 2) + Wt * (rtol / 2)) - absolute * both.astype(float)
    if excess.max() > 0:
        bad = sp.coo_array(excess)
        worst = int(np.argmax(bad.data))
        i, j = int(bad.row[worst]), int(bad.col[worst])
        raise ValueError(
            f"The weight matrix is not symmetric: W[{i}, {j}] = {W[i, j]:.6g} but W[{j}, {i}] = "
            f"{W[j, i]:.6g} ({int((bad.data > 0).sum()) // 2} such pairs). The graph must be "
            "undirected. Pass (W + W.T) / 2 if either direction counts as half an edge."
        )
    return W * 0.5 + Wt * 0.5


def components(W: Weights) -> tuple[int, NDArray[Any]]:
    """Count connected components and number them per node, for weights from `check_weights`.

    Nodes count as joined only by weights that double precision can tell from zero relative to
    their degrees (``S_ij > 1e-24``): clusters a hundred bandwidths apart under a Gaussian kernel
    are separate components, although no weight is exactly zero.
    """
    if isinstance(W, Operator):
        return W.components()
    root = np.sqrt(np.asarray(W.sum(axis=1)).ravel())
    root[root == 0] = 1.0
    if isinstance(W, CSR):
        return W.components(root, NEGLIGIBLE)
    if sp.issparse(W):
        return CSR(W.indptr, W.indices, W.data).components(root, NEGLIGIBLE)
    pattern = sp.csr_array(W / root / root[:, None] > NEGLIGIBLE)
    count, number = connected_components(pattern, directed=False)
    return int(count), number.astype(np.int64)


def separated(W: Weights, *, tell: bool = False) -> Weights:
    """Return weights without the links between components; `tell`: warn if there were any.

    A link that joins nothing (`components`) may still be most of the degree of its lesser node: a
    weight of 1 to a node that has one of 1e60. Left in, it would act like a self-loop in one
    representation of the matrix and like an edge in another. Without it every component is a graph
    by itself. Weights known by their products are separated where their parts are taken.
    """
    if isinstance(W, Operator) or (isinstance(W, CSR) and W.data is None):
        return W
    stored = sp.issparse(W) or isinstance(W, CSR)
    if least_weight(W) > NEGLIGIBLE * float(np.asarray(W.sum(axis=1)).max()):  # as almost always
        return W
    count, number = components(W)
    if not stored:
        apart: Weights = np.where(number[:, None] == number, W, 0.0)
        faint = int(np.count_nonzero(W) - np.count_nonzero(apart)) // 2
    else:
        rows = CSR(W.indptr, W.indices, W.data)
        apart = rows.only(np.repeat(number, np.diff(W.indptr)) == number[W.indices])
        faint = (W.nnz - apart.nnz) // 2
    if faint == 0:
        return W
    if tell:
        warn_of_faint_links(faint, count)
    return apart.to_scipy() if sp.issparse(W) else apart


def least_weight(W: Weights) -> float:
    """Return the smallest weight that is not 0; infinity where there is none."""
    if not (sp.issparse(W) or isinstance(W, CSR)):
        return float(W.min(initial=np.inf, where=W > 0))
    return float(W.data.min()) if W.nnz else np.inf


def unit_of(W: Weights) -> float:
    """Return a power of two by which weights beyond all measure are to be divided; mostly 1.

    The scale of all weights does not matter to any model, but sums, squares and inverses of huge
    or tiny ones leave the range of double precision. Half way between the smallest weight and the
    largest degree becomes 1; nothing is rounded. Refused where the sum of all degrees overflows
    even so.
    """
    if isinstance(W, Operator) or (isinstance(W, CSR) and W.data is None):
        return 1.0
    largest = float(np.asarray(W.sum(axis=1)).max())
    if largest == 0 or 1e-100 < largest < 1e100:
        return 1.0
    least = least_weight(W)
    middle = (np.log2(largest) + np.log2(least)) / 2
    if np.log2(largest) - middle + np.log2(W.shape[0]) > HIGHEST:
        raise ValueError(
            f"The weights go from {least:.3g} to degrees (sums of weights) of {largest:.3g}: no "
            "unit brings both into double precision. Leave out the faintest, or bring the weights "
            "to a common scale, for instance by their logarithms or ranks."
        )
    return float(2.0 ** np.round(middle))


def divided(W: Weights, unit: float) -> Weights:
    """Return weights in another unit; not an operator's."""
    if unit == 1:
        return W
    if isinstance(W, CSR):
        return CSR(W.indptr, W.indices, None if W.data is None else W.data / unit)
    if sp.issparse(W):  # scipy would multiply by 1 / unit, which may overflow
        return sp.csr_array((W.data / unit, W.indices, W.indptr), shape=W.shape)
    return W / unit


def warn_of_faint_links(count: int, n_components: int) -> None:
    """Say that `separated` has left links out."""
    warn(
        f"Left out {count} link{'s' * (count != 1)} fainter than {NEGLIGIBLE:g} of the degrees of "
        "its nodes, which double precision cannot tell from none; the graph has "
        f"{n_components} components. If such links should count, bring the weights to a common "
        "scale, for instance by their logarithms or ranks."
    )

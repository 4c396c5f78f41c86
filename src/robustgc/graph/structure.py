"""Whether the arrays of a sparse matrix fit together; asked before compiled code reads them.

scipy's loops and ours follow row pointers and column numbers without a look: one that is wrong
reads, or writes, memory of others.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.quoting import short

_BLOCK = 2**20  # values compared at a time
_INDEX = (np.dtype(np.int32), np.dtype(np.int64))


def check_rows(
    indptr: Any,
    indices: Any,
    data: Any = None,
    *,
    shape: tuple[int, int] | None = None,
    spare: bool = False,
    what: str = "the CSR",
) -> None:
    """Refuse rows of a sparse matrix that do not fit together.

    One pass over the row pointers, and with a shape one over the columns; nothing is copied. With
    `spare` there may be more entries than the rows have, as in matrices of scipy. `what` says whose
    arrays these are.
    """
    check_arrays(indptr, indices, data, what=what)
    entries, rows = len(indices), len(indptr) - 1
    if shape is not None and rows != shape[0]:
        raise ValueError(
            f"indptr of {what} has {len(indptr)} values for {shape[0]} rows; it must have one more "
            "than there are rows. Build the matrix again."
        )
    last = int(indptr[-1])
    full = last <= entries if spare else last == entries
    if indptr[0] != 0 or not full or not _rises(indptr):
        raise ValueError(
            f"indptr of {what} runs from {indptr[0]} to {last} for {entries} entries; it "
            "must rise from 0 to the number of entries. Build the matrix again."
        )
    if shape is not None:
        check_range(indices[:last], shape[1], f"indices of {what}")


def check_arrays(indptr: Any, indices: Any, data: Any = None, *, what: str = "the CSR") -> None:
    """Refuse, without a look at their values, arrays that cannot be rows of a sparse matrix."""
    _check_index(indptr, f"indptr of {what}")
    _check_index(indices, f"indices of {what}")
    if len(indptr) == 0:
        raise ValueError(f"indptr of {what} is empty; without a row it is [0]. Build it again.")
    if data is None:
        return
    if not isinstance(data, np.ndarray) or data.ndim == 0:
        raise TypeError(
            f"The values of {what} are {_kind(data)}; an array with one per entry is needed. Pass "
            "np.asarray(data)."
        )
    if len(data) != len(indices):
        raise ValueError(
            f"{what[:1].upper() + what[1:]} has {len(data)} values for {len(indices)} columns; it "
            "must have one for each. Build the matrix again."
        )


def check_range(numbers: NDArray[Any], size: int, name: str) -> None:
    """Refuse numbers of rows or columns outside of a matrix."""
    least, most = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, -1)
    if least < 0 or most >= size:
        raise ValueError(
            f"{name} run from {least} to {most}, out of range for a size of {size}; allowed are 0 "
            f"to {size - 1}. Build the matrix again."
        )


def check_sparse(W: Any, what: str = "the weight matrix") -> None:
    """Refuse a scipy matrix of any format whose arrays do not fit together.

    scipy looks at some of them when a matrix is made, and at none that were changed since.
    """
    if W.ndim != 2:  # refused elsewhere, for its shape
        return
    if W.format in ("csr", "csc"):
        shape = W.shape if W.format == "csr" else W.shape[::-1]
        check_rows(W.indptr, W.indices, W.data, shape=shape, spare=True, what=what)
        _check_values(W.data, 1, what)
    elif W.format == "bsr":
        check_arrays(W.indptr, W.indices, W.data, what=what)
        _check_values(W.data, 3, what)
        high, wide = W.data.shape[1:]
        if not high or not wide or W.shape[0] % high or W.shape[1] % wide:
            raise ValueError(
                f"The blocks of {what} have shape {(high, wide)}, of which its shape {W.shape} is "
                "no multiple. Build the matrix again."
            )
        shape = (W.shape[0] // high, W.shape[1] // wide)
        check_rows(W.indptr, W.indices, W.data, shape=shape, spare=True, what=what)
    elif W.format == "coo":
        _check_pairs(W.coords, W.data, W.shape, what)
    elif W.format == "dia":
        _check_index(W.offsets, f"offsets of {what}")
        _check_values(W.data, 2, what)
        if len(W.data) != len(W.offsets) or len(np.unique(W.offsets)) != len(W.offsets):
            raise ValueError(
                f"{what[:1].upper() + what[1:]} has {len(W.data)} diagonals and {len(W.offsets)} "
                "offsets; each diagonal needs one of its own. Build the matrix again."
            )
    elif W.format == "lil":
        _check_lists(W, what)


def _check_pairs(coords: Any, data: Any, shape: tuple[int, ...], what: str) -> None:
    for name, numbers, size in zip(("rows", "columns"), coords, shape, strict=True):
        _check_index(numbers, f"{name} of {what}")
        check_arrays(np.zeros(1, dtype=np.int64), numbers, data, what=what)
        check_range(numbers, size, f"{name} of {what}")
    _check_values(data, 1, what)


def _check_lists(W: Any, what: str) -> None:
    """Refuse lists of columns that could not be the rows of a matrix."""
    if W.rows.shape != (W.shape[0],) or W.data.shape != (W.shape[0],):
        raise ValueError(f"{what[:1].upper() + what[1:]} lacks lists for its {W.shape[0]} rows.")
    for i, (columns, values) in enumerate(zip(W.rows, W.data, strict=True)):
        whole = all(isinstance(j, int | np.integer) and 0 <= j < W.shape[1] for j in columns)
        if not whole or len(columns) != len(values):
            raise ValueError(
                f"Row {i} of {what} has {len(columns)} columns for {len(values)} values, or one "
                f"that is out of range; allowed are 0 to {W.shape[1] - 1}. Build the matrix again."
            )


def _check_values(data: Any, dimensions: int, what: str) -> None:
    if not isinstance(data, np.ndarray) or data.ndim != dimensions:
        raise ValueError(
            f"The values of {what} are {_kind(data)}; an array of {dimensions} dimension"
            f"{'s' * (dimensions > 1)} is needed. Build the matrix again."
        )


def _check_index(array: Any, name: str) -> None:
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        raise TypeError(
            f"{name} are {_kind(array)}; an array of one dimension is needed. Pass "
            "np.asarray(..., dtype=np.int64)."
        )
    if array.dtype not in _INDEX:  # in the other byte order it is not the same dtype
        raise TypeError(
            f"{name} have dtype {short(array.dtype.str)}; int32 or int64, in the byte order of "
            "this machine, is needed. Convert them with astype(np.int64)."
        )


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return f"of type {type(value).__name__}"


def _rises(indptr: NDArray[Any]) -> bool:
    """Whether no value is below the one before it; differences of huge ones would wrap around."""
    return all(
        bool((block[1:] >= block[:-1]).all())
        for block in (indptr[k : k + _BLOCK + 1] for k in range(0, len(indptr) - 1, _BLOCK))
    )

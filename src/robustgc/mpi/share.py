"""One rank's share of the weights: some rows, whose columns are numbered over all ranks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Share:
    """The rows ``first`` to ``first + rows - 1`` of a symmetric matrix of weights.

    Ranks hold the rows in order: those of rank 0 come first. A rank may have none. What is fitted
    takes the arrays over: it numbers the columns anew, in place.

    Attributes
    ----------
    comm : communicator
    first, n : int
        Number of the first row here, and of all rows over the ranks.
    indptr, indices : ndarray of int
        As in `CSR`; columns ascending in every row, numbered from 0 to ``n - 1``.
    data : ndarray of float64, or None
        None on every rank: all weights are 1.
    """

    comm: Any
    first: int
    n: int
    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[np.float64] | None = None

    @property
    def rows(self) -> int:
        """How many rows are here."""
        return len(self.indptr) - 1

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays here."""
        weights = 0 if self.data is None else self.data.nbytes
        return int(self.indptr.nbytes + self.indices.nbytes + weights)

"""Sparse weights as large as memory: rows of column numbers, without the weights if all are equal.

scipy gives row pointers and columns the same integer type, so beyond 2^31 entries it doubles the
columns, and it always stores a weight per entry. Here a billion unweighted edges take 8 GB, and
they may stay in files that are mapped into memory.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.atomic import new_folder
from robustgc.graph.folder import mapped, write_manifest
from robustgc.graph.quoting import quoted
from robustgc.graph.structure import check_arrays, check_range, check_rows, check_sparse

# Entries and rows up to which numpy has read them before numba is loaded; and rows, however full.
# Beyond, the arrays that numpy makes on the way are a multiple of the graph.
FEW, FEW_ROWS = 2**18, 1500
PARTS = 32  # ranges of rows whose sums are added in order, whatever the number of threads


@dataclass(frozen=True, eq=False)
class CSR:
    """A square sparse matrix in rows.

    Attributes
    ----------
    indptr : ndarray of int, shape (N + 1,)
        Where each row starts; row i has the entries ``indptr[i]`` to ``indptr[i + 1] - 1``.
    indices : ndarray of int, shape (entries,)
        The columns, ascending in every row.
    data : ndarray of float or None
        The weights; None: every stored weight is 1.

    Examples
    --------
    >>> import numpy as np
    >>> from robustgc import CSR
    >>> path = CSR(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], dtype=np.int32))
    >>> path @ np.array([1.0, 10.0, 100.0])
    array([ 10., 101.,  10.])
    """

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        check_arrays(self.indptr, self.indices, self.data)
        if self.data is not None and (self.data.ndim != 1 or not native(self.data.dtype)):
            raise TypeError(
                f"The weights of the CSR have dtype {self.data.dtype} and shape {self.data.shape}; "
                "one float64 or float32 per entry is needed. Convert them with astype."
            )

    @cached_property
    def _rows(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
        """The arrays, for loops that follow the row pointers without a look.

        Checked once, before the first loop: a mapped file is not read when it is opened.
        """
        check_rows(self.indptr, self.indices)
        return self.indptr, self.indices, self.data

    @cached_property
    def _width(self) -> int:
        """As many columns as the entries may reach, none below 0: more than rows on some ranks."""
        indices = self._rows[1]
        width = int(indices.max(initial=-1)) + 1
        check_range(indices, width, "indices of the CSR")
        return width

    def _within(self, columns: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
        """Return the arrays, for loops that look up values by column."""
        if self._width > columns:
            check_range(self.indices, columns, "indices of the CSR")
        return self._rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.indptr) - 1, len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        """Number of stored entries, twice the number of edges."""
        return len(self.indices)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        weights = 0 if self.data is None else self.data.nbytes
        return int(self.indptr.nbytes + self.indices.nbytes + weights)

    def same(self, other: "CSR") -> bool:
        """Whether two matrices have the same entries."""
        if (self.data is None) != (other.data is None):
            return False
        names = ("indptr", "indices", *(["data"] if self.data is not None else []))
        pairs = ((getattr(self, name), getattr(other, name)) for name in names)
        return self is other or all(np.array_equal(a, b) for a, b in pairs)

    def cuts(self, parts: int | None = None) -> NDArray[np.int64]:
        """Cut the rows into ranges of about equal work, by default one per thread."""
        if parts is None:
            alone = self.nnz + len(self.indptr) < threads.ALONE
            parts = 1 if alone else threads.n_threads()
        return threads.even_entries(self.indptr, parts)

    @property
    def _loops(self) -> Any:
        """The loops over rows, compiled where there are many entries."""
        rows = len(self.indptr) - 1
        few = rows <= FEW_ROWS or self.nnz + rows <= FEW
        return threads.loops("graph.plain_loops" if few else "graph.loops")

    def __matmul__(self, X: NDArray[Any]) -> NDArray[Any]:
        columns = np.ascontiguousarray(X.reshape(len(X), -1))
        out = np.empty_like(columns)
        threads.run(self._loops.product, self.cuts(), *self._within(len(X)), columns, out)
        return out.reshape(X.shape)

    def sum(self, axis: int = 1) -> NDArray[np.float64]:
        """Return the sum of every row: the degrees. Rows are all that is ever summed."""
        if axis != 1:
            raise ValueError(f"axis={quoted(axis)} is not supported; rows are summed with axis=1.")
        if self.data is None:
            return np.diff(self.indptr).astype(np.float64)
        return self.inspected()[1]

    def diagonal(self) -> NDArray[np.float64]:
        """Return the self-loops."""
        out = np.zeros(self.shape[0])
        threads.run(self._loops.diagonal, self.cuts(), *self._rows, out)
        return out

    def part(self, nodes: NDArray[np.int64]) -> "CSR":
        """Return the rows and columns of some nodes, which must ascend."""
        # Zeros, not what was in memory: those of other nodes are read below.
        place = np.zeros(self.shape[0], dtype=self.indices.dtype)
        place[nodes] = np.arange(len(nodes))
        indptr, entries = self.entries_of(nodes)
        columns = self.indices[entries]
        inside = place[columns]
        data = None if self.data is None else self.data[entries]
        return CSR(indptr, inside, data).only(nodes[inside] == columns)

    def entries_of(self, nodes: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the bounds of some rows put one behind the other, and where their entries are."""
        starts = np.asarray(self.indptr[nodes], dtype=np.int64)
        counts = np.asarray(self.indptr[nodes + 1]) - starts
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return indptr, np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], counts)

    def only(self, keep: NDArray[np.bool_]) -> "CSR":
        """Return the matrix with some of its entries, itself if they are all."""
        if keep.all():
            return self
        indptr = np.concatenate([[0], np.cumsum(keep)])[self.indptr]
        return CSR(indptr, self.indices[keep], None if self.data is None else self.data[keep])

    def inspected(
        self, columns: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Read every entry once; return the findings of `loops.inspect` and the degrees.

        `columns` is how many there are where these are some rows of a matrix.
        """
        degrees, start = np.empty(self.shape[0]), np.array([0, 0, 0, 0, np.inf, -np.inf])
        columns = self.shape[0] if columns is None else columns
        arguments = (*self._rows, columns, degrees)
        parts = threads.collect(self._loops.inspect, self.cuts(PARTS), *arguments, found=start)
        if not parts[:, 0].any():  # all columns are those of rows: no need to look again
            self.__dict__.setdefault("_width", columns)
        findings = [parts[:, :4].sum(axis=0), [parts[:, 4].min(), parts[:, 5].max()]]
        return np.concatenate(findings), degrees

    def is_symmetric(self) -> bool:
        """Whether the matrix is symmetric to the last bit, by a hash of all entries."""
        return self.asymmetry() == 0

    def asymmetry(self, first: int = 0) -> int:
        """Return that hash, of rows that are numbered from `first` on; modulo 2^64 they add up."""
        bits = None
        if self.data is not None:
            # + 0.0 would copy; -0.0 is refused before, with the negative weights.
            bits = self.data.view(f"u{self.data.dtype.itemsize}")
        arguments, start = (*self._rows[:2], bits, first), np.zeros(1, dtype=np.uint64)
        parts = threads.collect(self._loops.asymmetry, self.cuts(PARTS), *arguments, found=start)
        return int(parts.sum(dtype=np.uint64))

    def components(self, root: NDArray[np.float64], least: float) -> tuple[int, NDArray[Any]]:
        """Count and number the pieces joined by entries ``w_ij > least root_i root_j``."""
        number = np.empty(self.shape[0], dtype=np.int32 if self.shape[0] < 2**31 else np.int64)
        return int(self._loops.components(*self._within(self._width), root, least, number)), number

    @classmethod
    def from_scipy(cls, W: Any) -> "CSR":
        """Share the arrays of a scipy CSR matrix with sorted rows; weights all 1 are left out."""
        check_sparse(W)
        if not W.has_canonical_format:
            W = W.copy()
            W.sum_duplicates()
        unit = W.nnz > 0 and bool((W.data[: W.nnz] == 1).all())
        return cls(W.indptr, W.indices[: W.nnz], None if unit else W.data[: W.nnz])

    def to_scipy(self) -> Any:
        """Return a scipy ``csr_array`` in float64; scipy copies the columns if it needs 64 bits."""
        data = np.ones(self.nnz) if self.data is None else self.data.astype(np.float64, copy=False)
        indptr, indices, _ = self._within(self.shape[0])
        return sp.csr_array((data, indices, indptr), shape=self.shape)

    @classmethod
    def open(cls, folder: str | Path) -> "CSR":
        """Open a folder written by `save` or `robustgc.build_csr`, mapped into memory."""
        try:
            return cls(**mapped(Path(folder)))
        except TypeError as failure:
            raise ValueError(f"The folder {folder}: {failure} Build the folder again.") from failure

    def save(self, folder: str | Path) -> None:
        """Write a folder of plain .npy files; it gets its name when it is complete."""
        with new_folder(folder) as path:
            self.fill(path)

    def fill(self, folder: Path) -> None:
        """Write the files of `save` to a folder that is there, the manifest last."""
        np.save(folder / "indptr.npy", self.indptr)
        np.save(folder / "indices.npy", self.indices)
        if self.data is not None:
            np.save(folder / "data.npy", self.data)
        weights = None if self.data is None else self.data.dtype
        write_manifest(folder, self.shape[0], self.nnz, weights)


def native(dtype: Any) -> bool:
    """Whether compiled loops know such numbers."""
    return bool(dtype.kind in "biuf" and dtype.isnative and dtype.char not in "eg")

"""Names of nodes as text, numbered while a table is read, so that no column of text is kept."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROWS = 2**19  # names that wait, at least, before they are numbered together


class NameTable:
    """Numbers for names, in the order in which they come.

    Called with a chunk of text it keeps the text for a while and returns the place of the chunk,
    for `finished`; other chunks are returned as they are. Names wait until they are as many as
    those that are known, since these are hashed again every time.
    """

    def __init__(self) -> None:
        self._names: Any = None
        self._waiting: list[Any] = []
        self._rows = 0
        self._codes: list[NDArray[np.int32]] = []

    def __call__(self, chunk: Any) -> Any:
        """Take a chunk of a column."""
        import pyarrow as pa

        if not pa.types.is_string(chunk.type) and not pa.types.is_large_string(chunk.type):
            return chunk
        self._waiting.append(chunk)
        self._rows += len(chunk)
        place = len(self._codes) + len(self._waiting) - 1
        if self._rows >= max(_ROWS, 0 if self._names is None else len(self._names)):
            self._number()
        return place

    def finished(self, columns: list[list[int]]) -> tuple[list[NDArray[Any]], Any]:
        """Return the numbers of the names of some columns, by the places of their chunks.

        Also every name once, an Arrow array, in the order of the columns: it must not matter how
        they were cut into chunks.
        """
        self._number()
        known = np.zeros(len(self._names), dtype=bool)
        order = []
        for codes in (self._codes[place] for column in columns for place in column):
            new = codes[~known[codes]]
            order.append(new[np.sort(np.unique(new, return_index=True)[1])])
            known[new] = True
        first = np.concatenate(order)
        place = np.empty(len(first), dtype=np.int32)
        place[first] = np.arange(len(first), dtype=np.int32)
        return [self._joined(column, place) for column in columns], self._names.take(first)

    def _joined(self, places: list[int], number: NDArray[np.int32]) -> NDArray[np.int32]:
        out = np.empty(sum(len(self._codes[k]) for k in places), dtype=np.int32)
        done = 0
        for k in places:
            codes, self._codes[k] = self._codes[k], self._codes[k][:0].copy()  # memory
            out[done : done + len(codes)] = number[codes]
            done += len(codes)
        return out

    def _number(self) -> None:
        import pyarrow as pa

        if not self._waiting:
            return
        known = [] if self._names is None else [self._names]
        coded = pa.chunked_array([*known, *self._waiting]).dictionary_encode()
        # All chunks have one dictionary, the known names first: to unify them, as one might for
        # chunks from elsewhere, takes ten times as long and as much memory as all the rest.
        for chunk in coded.chunks[len(known) :]:
            self._codes.append(np.array(chunk.indices, dtype=np.int32))
        self._names = coded.chunk(coded.num_chunks - 1).dictionary
        self._waiting, self._rows = [], 0
        pa.default_memory_pool().release_unused()

"""A graph whose nodes have names; names found, compared and numbered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.quoting import listed, quoted
from robustgc.graph.weights import Weights
from robustgc.io.arrow import pa, pc
from robustgc.io.layouts import INTEGER
from robustgc.io.opening import InputError
from robustgc.io.rows import index_type

_COMPARED = 100_000  # names that are looked through for one that may be meant: a second
_DENSE = 8  # numbers up to that many times the edges are counted, others sorted
_ROWS = 2**19  # names that wait, at least, before they are numbered together


@dataclass(frozen=True)
class NamedGraph:
    """Weights, and what the user calls the nodes."""

    W: Weights  # not checked yet
    names: NDArray[Any]  # integers or text, no two the same
    notes: tuple[str, ...] = ()  # what the user should know of how the graph was read
    # From the name of a node attribute to a value per node, None where it is missing.
    attributes: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def n_edges(self) -> int:
        """Edges, a self-loop counting as one."""
        return edge_count(self.W)


def edge_count(W: Any) -> int:
    """Return the edges of a symmetric matrix, a self-loop counting as one."""
    entries = getattr(W, "nnz", None)
    loops = int(np.count_nonzero(W.diagonal()))
    return (int(np.count_nonzero(W) if entries is None else entries) + loops) // 2


def positions(wanted: Any, names: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of every wanted name, -1 where there is none.

    Names are compared as text: 7 in a table of numbers is "7" in one of text.
    """
    values, known = _arrow(wanted), _arrow(names)
    if values.type != known.type:
        values, known = values.cast(pa.string()), known.cast(pa.string())
    place = pc.index_in(values, value_set=known).fill_null(-1)
    return np.asarray(place.to_numpy(zero_copy_only=False), dtype=np.int64)


def as_text(values: Any) -> Any:
    """Return names as an Arrow array of text, as `positions` compares them."""
    return _arrow(values).cast(pa.string())


def by_number(pairs: Iterable[tuple[Any, Any]], names: NDArray[Any]) -> dict[int, Any]:
    """Return pairs of the name of a node and a value as values by the numbers of nodes.

    Names, compared as text, that are not among the names of the nodes are refused.
    """
    pairs = list(pairs)
    wanted = [name for name, _ in pairs]
    place = positions(wanted, names).tolist()
    if unknown := [name for name, k in zip(wanted, place, strict=True) if k < 0]:
        raise InputError(
            f"{len(unknown)} of {len(wanted)} names are not in the graph, first "
            f"{quoted(unknown[0], 60)}{near(unknown[0], names)}. Names are compared as text; check "
            "them."
        )
    values: dict[int, Any] = {}
    for (name, value), k in zip(pairs, place, strict=True):
        if k in values:
            raise InputError(
                f"{quoted(name, 60)} is named twice: names are compared as text, and two of these "
                "are the same. Keep one."
            )
        values[k] = value
    return values


def near(name: Any, names: Any) -> str:
    """Return a hint at names that may be meant, empty where none is close.

    Examples
    --------
    >>> near("Jon", ["John", "Mary"])
    " (is it 'John'?)"
    """
    import difflib

    texts = {str(known): known for known in islice(names, _COMPARED)}
    folded: dict[str, str] = {}
    for text in texts:
        folded.setdefault(text.casefold().strip(), text)
    close = difflib.get_close_matches(str(name).casefold().strip(), folded, n=3)
    known = [texts[folded[text]] for text in close]
    return f" (is it {listed(known, 90)}?)" if known else ""


def _arrow(values: Any) -> Any:
    """Return names as an Arrow array: whole numbers, or text."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if not isinstance(values, pa.Array):
        if isinstance(values, np.ndarray) and values.dtype.kind == "i":
            return pa.array(values.astype(np.int64, copy=False))
        try:
            return pa.array(list(map(str, values)), type=pa.string())
        except UnicodeEncodeError as error:
            raise InputError(
                f"The name {quoted(error.object)} is no text that can be written. Rename the node."
            ) from None
    if pa.types.is_integer(values.type) and values.type != pa.uint64():
        return values.cast(pa.int64())
    return values.cast(pa.string())


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


def numbered(chunks: list[list[Any]], table: NameTable) -> tuple[list[NDArray[Any]], Any]:
    """Return both columns with the nodes numbered: numbers ascending, text as it comes."""
    if isinstance(chunks[0][0], int):
        return table.finished(chunks)
    ends = [_joined(column) for column in chunks]
    least, most = min(int(e.min()) for e in ends), max(int(e.max()) for e in ends)
    if least >= 0 and most < _DENSE * len(ends[0]) + 2**20:
        there = np.zeros(most + 1, dtype=bool)
        for end in ends:
            there[end] = True
        names = np.flatnonzero(there)
        if len(names) <= most:
            place = np.cumsum(there, dtype=index_type(most)) - 1
            ends = [place[end] for end in ends]
        return ends, names
    names = np.unique(np.concatenate([np.unique(end) for end in ends]))
    return [np.searchsorted(names, end) for end in ends], names


def _joined(chunks: list[Any]) -> NDArray[Any]:
    """Put chunks of integers together, in 32 bits where they fit."""
    arrays = [in_32_bits(chunk) if not isinstance(chunk, np.ndarray) else chunk for chunk in chunks]
    chunks.clear()  # memory: they are not needed any more
    return np.concatenate(arrays)


def in_32_bits(chunk: Any) -> Any:
    """Return a chunk of whole numbers in 32 bits where they fit; others as they are."""
    if str(chunk.type) != "int64":
        return chunk
    array = np.asarray(chunk)
    fits = array.size == 0 or (array.min() >= 0 and array.max() < 2**31)
    return array.astype(np.int32 if fits else np.int64)


def as_array(names: Any) -> NDArray[Any]:
    """Return names as an array: of whole numbers, or of text as objects."""
    return names if isinstance(names, np.ndarray) else np.array(names.to_pylist(), dtype=object)


def as_names(names: Sequence[Any]) -> NDArray[Any]:
    """Return names as whole numbers if all are, else as they are."""
    whole = all(isinstance(name, int) and not isinstance(name, bool) for name in names)
    if whole and len(names) and max(map(abs, names)) < 2**63:
        return np.array(names, dtype=np.int64)
    out = np.empty(len(names), dtype=object)
    for k, name in enumerate(names):  # in one go numpy would make a table of tuples
        out[k] = name
    return out


def numbers_or_text(names: Sequence[str]) -> list[Any]:
    """Return names as whole numbers where all are such, written the usual way; else as they are."""
    if all(INTEGER.fullmatch(name) for name in names):
        return [int(name) for name in names]
    return list(names)

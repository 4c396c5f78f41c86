"""A graph whose nodes have names, and the names in number."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.quoting import listed, quoted
from robustgc.graph.weights import Weights
from robustgc.io.opening import InputError

_COMPARED = 100_000  # names that are looked through for one that may be meant: a second


@dataclass(frozen=True)
class NamedGraph:
    """Weights, and what the user calls the nodes.

    Attributes
    ----------
    W : weights
        Not checked yet.
    names : ndarray, shape (N,)
        Integers or text, no two the same.
    notes : tuple of str
        What the user should know of how the graph was read.
    attributes : mapping
        From the name of a node attribute to a value per node, None where it is missing.
    """

    W: Weights
    names: NDArray[Any]
    notes: tuple[str, ...] = ()
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
    import pyarrow as pa
    import pyarrow.compute as pc

    asked, known = _arrow(wanted), _arrow(names)
    if asked.type != known.type:
        asked, known = asked.cast(pa.string()), known.cast(pa.string())
    found = pc.index_in(asked, value_set=known)
    return np.asarray(found.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)


def as_text(values: Any) -> Any:
    """Return names as an Arrow array of text, as `positions` compares them."""
    import pyarrow as pa

    return _arrow(values).cast(pa.string())


def by_number(pairs: Iterable[tuple[Any, Any]], names: NDArray[Any]) -> dict[int, Any]:
    """Return values given by the names of nodes by their numbers; refuse names there are not.

    Parameters
    ----------
    pairs : iterable of tuple
        Name and value. Names are compared as text.
    names : ndarray
        Of all nodes.
    """
    given = list(pairs)
    wanted = [name for name, _ in given]
    place = positions(wanted, names)
    unknown = [name for name, k in zip(wanted, place.tolist(), strict=True) if k < 0]
    if unknown:
        raise InputError(
            f"{len(unknown)} of {len(wanted)} names are not in the graph, first "
            f"{quoted(unknown[0], 60)}{near(unknown[0], names)}. Names are compared as text; check "
            "them."
        )
    values: dict[int, Any] = {}
    for (name, value), k in zip(given, place.tolist(), strict=True):
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
    import pyarrow as pa

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

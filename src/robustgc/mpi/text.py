"""Text from every rank to every other."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.mpi.routing import all_to_all


class Text(NamedTuple):
    """Texts as their bytes, one after the other; text k starts at ``offsets[k]``."""

    offsets: NDArray[np.int64]
    letters: NDArray[np.uint8]

    @classmethod
    def of(cls, names: Any) -> "Text":
        """Share the memory of an Arrow array of large strings without nulls."""
        if not len(names):
            return cls(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8))
        _, offsets, letters = names.buffers()
        every = np.frombuffer(offsets, dtype=np.int64)[names.offset :][: len(names) + 1]
        none = np.zeros(0, dtype=np.uint8)  # Arrow has no buffer where all texts are empty
        return cls(every, none if letters is None else np.frombuffer(letters, dtype=np.uint8))

    def arrow(self) -> Any:
        """Return them as an Arrow array of large strings."""
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.letters)]
        return pa.Array.from_buffers(pa.large_string(), len(self.offsets) - 1, buffers)

    def owners(self, size: int) -> NDArray[np.int32]:
        """Give every text to a rank."""
        out = np.empty(len(self.offsets) - 1, dtype=np.int32)
        threads.loops("mpi._spread").owners_of_text(self.offsets, self.letters, size, out)
        return out


def all_to_all_text(
    comm: Any, names: Any, counts: NDArray[np.int64]
) -> tuple[Any, NDArray[np.int64]]:
    """Send texts, an Arrow array of large strings, as `all_to_all` sends numbers."""
    text = Text.of(names)
    lengths, coming = all_to_all(comm, np.diff(text.offsets), counts)
    cuts = text.offsets[np.concatenate([[0], np.cumsum(counts)])]
    letters, _ = all_to_all(comm, text.letters[cuts[0] : cuts[-1]], np.diff(cuts))
    return Text(np.concatenate([[0], np.cumsum(lengths)]), letters).arrow(), coming

"""Files that are not files of their own: inside of an archive, a sheet, or piped in."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from robustgc.io.dialect import Dialect

if sys.platform == "win32":
    from pathlib import WindowsPath as _Native
else:
    from pathlib import PosixPath as _Native


class InnerFile(_Native):
    """A path, as messages name it, of which the content is found in its own way.

    Attributes
    ----------
    ending : str
        Which kind of file it is, such as ``.csv``.
    size : int
        Bytes of what it is in, as they are stored.
    packing : str
        How it is packed, for messages; empty: it is not.
    stream : callable
        Gives the bytes: a context with a stream to read.
    notes : tuple of str
        What the user should know of how it was found.
    dialect : Dialect or None
        How its text is written, where this library has written it; None: as the user says.
    cells : callable or None
        Gives the values that a sheet has instead of text: a list for every line.
    """

    ending: str
    size: int
    packing: str
    stream: Callable[[], AbstractContextManager[Any]]
    notes: tuple[str, ...]
    dialect: Dialect | None = None
    cells: Callable[[], list[list[Any]]] | None = None

    @classmethod
    def of(
        cls,
        name: str | Path,
        ending: str,
        size: int,
        stream: Callable[[], AbstractContextManager[Any]],
        packing: str = "",
        notes: tuple[str, ...] = (),
    ) -> "InnerFile":
        """Make one; attributes are set here, as `Path` has a constructor of its own."""
        file = cls(name)
        file.ending, file.size, file.stream, file.packing = ending, size, stream, packing
        file.notes = notes
        return file

    @classmethod
    def of_bytes(
        cls, name: str | Path, ending: str, content: bytes, notes: tuple[str, ...] = ()
    ) -> "InnerFile":
        """Make one whose content is in memory."""

        def stream() -> Any:
            import pyarrow as pa

            return pa.BufferReader(content)

        return cls.of(name, ending, len(content), stream, notes=notes)

    def with_segments(self, *segments: Any) -> Path:
        """Return paths derived from this one, such as its folder, as plain paths."""
        return Path(*segments)


def notes_of(path: object) -> tuple[str, ...]:
    """Return what the user should know of how a file was found."""
    return path.notes if isinstance(path, InnerFile) else ()


def written(path: object, dialect: Dialect | None) -> Dialect | None:
    """Return how the text of a file is written: as the user says, or as it was made of a sheet."""
    own = path.dialect if isinstance(path, InnerFile) else None
    return (
        dialect if own is None else replace(own, header=None if dialect is None else dialect.header)
    )

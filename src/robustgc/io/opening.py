"""Files and what stands in for them: what kind they are, opened packed or not, written whole."""

import codecs
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from robustgc.graph import atomic
from robustgc.graph.atomic import new_file
from robustgc.graph.quoting import short
from robustgc.io.arrow import pa
from robustgc.io.dialect import Dialect, undecodable
from robustgc.io.errors import InputError, NoRowsError
from robustgc.io.limits import Metered, check_text

if sys.platform == "win32":
    from pathlib import WindowsPath as _Native
else:
    from pathlib import PosixPath as _Native

__all__ = [
    "SQUEEZED", "Blocks", "InnerFile", "InputError", "NoRowsError", "check_file", "check_target",
    "kind", "notes_of", "one_space", "opened", "packed_size", "replacing", "unwritten", "whole",
]  # fmt: skip

SQUEEZED = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
_BLOCK = 2**20  # bytes of a table between spaces at a time
_REMARK = re.compile(rb"(?m)^[ \t]*[#%]([ \t#%].*)?(?=\r?$)")  # not #name, which is a node


class InnerFile(_Native):
    """A path, as messages name it, of which the content is found in its own way."""

    ending: str  # which kind of file it is, such as .csv
    size: int  # bytes of what it is in, as they are stored
    packing: str  # how it is packed, for messages; empty: it is not
    stream: Callable[[], AbstractContextManager[Any]]  # gives the bytes
    notes: tuple[str, ...]  # what the user should know of how it was found
    dialect: Dialect | None = None  # how its text is written, where this library has written it
    cells: Callable[[], list[list[Any]]] | None = None  # gives the values of a sheet, by lines

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
        return cls.of(name, ending, len(content), lambda: pa.BufferReader(content), notes=notes)

    def with_segments(self, *segments: Any) -> Path:
        """Return paths derived from this one, such as its folder, as plain paths."""
        return Path(*segments)


def notes_of(path: object) -> tuple[str, ...]:
    """Return what the user should know of how a file was found."""
    return path.notes if isinstance(path, InnerFile) else ()


def kind(path: Path) -> str:
    """Return the ending of a file that says what it is, without that of its compression."""
    if isinstance(path, InnerFile):
        return path.ending
    name = path.name.lower()
    for ending in SQUEEZED:
        name = name.removesuffix(ending)
    return Path(name).suffix


def packed_size(path: Path) -> int:
    """Return how many bytes a file has as it is stored."""
    return path.size if isinstance(path, InnerFile) else os.stat(path).st_size


def check_file(path: Path) -> None:
    """Refuse what is no file, cannot be read, or has nothing in it."""
    if isinstance(path, InnerFile):  # it was looked at when it was made
        return
    if os.path.isdir(path):  # unlike Path.is_dir it bears names that are too long
        raise InputError(f"{path} is a folder; name a file.")
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise InputError(f"{path} is empty; check that it was written to the end.")
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist; check the name{_near(path)}.") from error
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}. Check its name and permissions."
        ) from error


def _near(path: Path) -> str:
    """Name a file next to it that may be meant."""
    import difflib

    if not path.parent.is_dir():
        return f": there is no folder {path.parent}"
    others = [other.name for other in path.parent.iterdir()]
    close = difflib.get_close_matches(path.name, others, n=1)
    return f" (is it {close[0]}?)" if close else ""


@contextmanager
def opened(path: Path, *, spaced: bool = False, encoding: str = "utf-8") -> Iterator[Any]:
    """Give a stream of bytes, unpacked by the ending of the file; text comes as UTF-8.

    Where fields stand `spaced`, between any number of spaces, they come with one, and comments as
    empty lines.
    """
    check_file(path)
    if isinstance(path, InnerFile):
        packing, stored = path.packing, path.stream
    else:
        packing, stored = SQUEEZED.get(path.suffix.lower(), ""), partial(pa.OSFile, str(path))
    try:
        with stored() as content:
            stream = content
            if packing in SQUEEZED.values():
                unpacked = pa.CompressedInputStream(content, packing)
                stream = Metered(unpacked, path, packed_size(path))
            text = stream if encoding == "utf-8" else Blocks(_recoded(stream, path, encoding))
            yield Blocks(_spaced(text)) if spaced else text
    except OSError as error:
        if not packing:
            raise InputError(f"{path} cannot be read: {short(error)}.") from error
        raise InputError(
            f"{path} is not what its ending says, or is cut short: it cannot be unpacked as "
            f"{packing} ({short(error)}). Write it again, or rename it."
        ) from error


def whole(path: Path, *, factor: float = 1.0, what: str = "content") -> io.BytesIO:
    """Return all bytes of a file, unpacked, for readers that go back and forth.

    The reader takes about `factor` bytes of memory for each of them: too many are refused, with
    `what` the file holds.
    """
    content = io.BytesIO()
    with opened(path) as stream:
        check_text(path, packed_size(path), factor, what)
        while block := stream.read(_BLOCK):
            content.write(block)
            check_text(path, content.tell(), factor, what)
    content.seek(0)
    return content


def one_space(text: bytes) -> bytes:
    """Return lines without comments (# and a space), and with one space where there are several."""
    if b"#" in text or b"%" in text:  # most files have nothing to change: that is seen fast
        text = re.sub(_REMARK, b"", text)
    if b"  " in text or b"\t" in text:
        text = re.sub(rb"[ \t]+", b" ", text)
    if any(edge in b"\n" + text + b"\n" for edge in (b"\n ", b" \n", b" \r")):
        text = re.sub(rb"(?m)^ | (?=\r?$)", b"", text)
    return text


class Blocks(io.RawIOBase):
    """A stream of the bytes that come in blocks."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._ready = blocks, b""

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, room: Any) -> int:
        """Fill a buffer as far as the next block that is not empty does."""
        if not self._ready:
            self._ready = next(filter(None, self._blocks), b"")
        count = min(len(room), len(self._ready))
        room[:count], self._ready = self._ready[:count], self._ready[count:]
        return count


def _recoded(stream: Any, path: Path, encoding: str) -> Iterator[bytes]:
    """Yield text in another encoding as UTF-8."""
    decoder, line = codecs.getincrementaldecoder(encoding)(), 1
    while True:
        block = stream.read(_BLOCK)
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as bad:
            line += bad.object[: bad.start].decode(encoding, "ignore").count("\n")
            raise undecodable(path, line, bad.object[bad.start], encoding) from None
        line += text.count("\n")
        yield text.encode("utf-8", "replace")
        if not block:
            return


def _spaced(stream: Any) -> Iterator[bytes]:
    """Yield text through `one_space`, in as many lines as before."""
    cut = b""
    while block := stream.read(_BLOCK):
        *whole_lines, cut = (cut + block).rpartition(b"\n")
        yield one_space(b"".join(whole_lines))
    yield one_space(cut)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a file to write next to `path`, moved there at the end: the old one, or all of the new.

    Within `atomic.together` it is moved when all outputs are complete.
    """
    check_target(path)
    try:
        with new_file(path) as file:
            yield file
    except OSError as error:
        unwritten(path, error)


def check_target(path: Path) -> None:
    """Refuse, before the work, a place where nothing can be written."""
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder; name a file to write.")
    if not path.parent.is_dir():
        raise InputError(
            f"{path} cannot be written: there is no folder {path.parent}. Make it first."
        )
    if not os.access(path.parent, os.W_OK):
        raise InputError(
            f"{path} cannot be written: no permission in {path.parent}. Choose another folder."
        )


def unwritten(path: Path, error: OSError) -> NoReturn:
    """Say why a file was not written, and what to do."""
    raise InputError(atomic.unwritten(path, error)) from error

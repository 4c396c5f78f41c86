"""How much a file may unpack to, and a graph claim, before it is taken for one made to do harm.

Packed files are limited in size, by the memory that is there, and in ratio. `allowing` lifts both
for all that is read inside of it, whoever reads it: a parameter would go through twenty signatures.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustgc.graph.quoting import quoted
from robustgc.graph.resources import available
from robustgc.io.errors import InputError, TooLargeError

RATIO = 100  # bytes out of a packed one; edge lists have 3 to 20, files of one letter 1000
SMALL = 2**26  # bytes that are never too many
READING = 3  # times what a graph needs, while it is read
_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?(?:e\d+)?)\s*([KMGT]?)(i?)B?\s*", re.I | re.A)
_LIFT = "If it is meant so, allow it with --max-size, for instance {} (max_size= in Python)."

_allowed: ContextVar[float | None] = ContextVar("robustgc_max_size", default=None)


def as_bytes(size: str | float) -> float:
    """Return a size such as 8e9, "8GB" or "500 MiB" in bytes; refuse what is none, or 0."""
    match = _SIZE.fullmatch(str(size))
    value = 0.0
    if match and not isinstance(size, bool):
        number, letter, binary = match.groups()
        power = " KMGT".index(letter.upper() or " ")
        value = float(number) * (1024 if binary else 1000) ** power
    if not 0 < value < float("inf"):
        raise InputError(
            f"max_size (--max-size) is {quoted(size)}, which is no size; give bytes above 0, such "
            "as 8e9 or 8GB."
        )
    return value


@contextmanager
def allowing(max_size: str | float | None) -> Iterator[None]:
    """Let files unpack to so many bytes, and graphs need as many; None: as always."""
    if max_size is None:
        yield
        return
    before = _allowed.set(as_bytes(max_size))
    try:
        yield
    finally:
        _allowed.reset(before)


def text_of(size: float) -> str:
    """Return a number of bytes as people say it."""
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} bytes"


@dataclass(frozen=True)
class _Room:
    """How many bytes may be taken, and whether the user has said so."""

    size: float
    by_user: bool

    def __str__(self) -> str:
        have = "are allowed by --max-size" if self.by_user else "of memory are available"
        return f"{text_of(self.size)} {have}"


def _room(least: float = 0.0) -> _Room:
    """Return the room that there is now."""
    allowed = _allowed.get()
    return _Room(max(available(), least) if allowed is None else allowed, allowed is not None)


def _is_small(size: float) -> bool:
    """Whether so many bytes are never too many, unless the user says so."""
    return size <= SMALL and _allowed.get() is None


def check_unpacked(path: Path, packed: float, unpacked: float, *, more: bool = False) -> None:
    """Refuse a packed file that has, or claims, too many bytes for its size or for the memory.

    `more` says that there may be more than `unpacked`, as not all was seen.
    """
    if not _is_small(unpacked):
        _refuse_unpacked(path, packed, unpacked, _room(), more=more)


def _refuse_unpacked(
    path: Path, packed: float, unpacked: float, room: _Room, *, more: bool
) -> None:
    sizes = f"{path}: its {text_of(packed)} unpack to {'more than ' * more}{text_of(unpacked)}"
    if room.by_user:
        if unpacked > room.size:
            raise TooLargeError(f"{sizes}, and --max-size allows {text_of(room.size)}. Raise it.")
        return
    wanted = room.size / 2 if more else 2 * unpacked  # how much there is in all is not known then
    lift = _LIFT.format(f"--max-size {_rounded(max(wanted, SMALL))}")
    if unpacked > max(RATIO * packed, SMALL):
        raise TooLargeError(
            f"{sizes}, over {RATIO} times as much, as files do that are made to fill the memory "
            f"(tables have 3 to 20 times). {lift}"
        )
    if unpacked > room.size:
        raise TooLargeError(f"{sizes}, and {room}. {lift}")


def check_nodes(where: str, nodes: int, entries: int, seen: float) -> None:
    """Refuse a graph of more nodes than fit into memory, or than so small a file may claim.

    Entries of edges given once count twice; `seen` are the bytes of the input, without which nodes
    are only claimed.
    """
    need = 8.0 * nodes + 12.0 * entries
    if _is_small(READING * need):
        return
    room = _room()
    text = f"{where}: {nodes} nodes and {entries} entries need {text_of(need)}"
    flag = f"--max-size {_rounded(2 * READING * need)}"
    if READING * need > room.size:
        cure = f"Use a machine with more, or allow it with {flag} (max_size= in Python)"
        raise TooLargeError(
            f"{text}, and reading them up to {READING} times that; {room}. "
            f"{'Raise it' if room.by_user else cure}."
        )
    if not room.by_user and need > max(RATIO * seen, SMALL):
        lift = _LIFT.format(flag)
        raise TooLargeError(
            f"{text}, over {RATIO} times the {text_of(seen)} that were given: most nodes have no "
            f"edge. Leave them out. {lift}"
        )


def check_text(path: Path, size: float, factor: float, what: str) -> None:
    """Refuse a file whose objects would not fit into memory: `factor` bytes for each of its own."""
    if not _is_small(size * factor) and size * factor > (room := _room()).size:
        raise TooLargeError(
            f"{path}: reading its {text_of(size)} of {what} takes about {text_of(size * factor)}, "
            f"and {room}. Convert it to a table (.csv or .parquet), which takes far less, or allow "
            f"it with --max-size {_rounded(2 * size * factor)} (max_size= in Python)."
        )


def _rounded(size: float) -> str:
    """Return a size to ask for, rounded up, as it is typed."""
    for unit, name in _UNITS[:-1]:
        if size >= unit:
            return f"{-(-size // unit):.0f}{name}"
    return "1MB"


class Metered(io.RawIOBase):
    """An unpacking stream that stops where it has given too much.

    The limits are those of the time when it was opened: it may be read by another thread.
    """

    def __init__(self, stream: Any, path: Path, packed: int) -> None:
        self._stream, self._path, self._packed, self._count = stream, path, packed, 0
        self._room = _room(least=SMALL)

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, room: Any) -> int:
        """Fill a buffer; refuse to go on where the limits are passed."""
        count = int(self._stream.readinto(room))
        self._count += count
        if self._count > SMALL or self._room.by_user:
            _refuse_unpacked(self._path, self._packed, self._count, self._room, more=True)
        return count

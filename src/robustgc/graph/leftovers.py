"""Unfinished files and folders: what they are called, who is writing them, which are left over.

A killed run leaves what it was writing. The next run that writes the same name removes it, if
nobody is writing it any more. That is told by a lock (flock), which the kernel takes back from a
process however it ends. The number of the process in the name lost: numbers are used again, and
mean nothing in another container. On a shared disk locks of other machines may not be seen, so
what was begun there (the name has a hash of the machine's), or where there are no locks, goes when
nothing was written to it for a day.
"""

import os
import re
import secrets
import shutil
import socket
import time
import zlib
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_DAY = 86_400  # seconds
_LONGEST = 180  # bytes of a name that are repeated in that of its unfinished file; 255 are possible
_HERE = f"{zlib.crc32(socket.gethostname().encode()):08x}"


def hidden_beside(path: Path) -> Path:
    """Return a name for an unfinished file: readers of a whole folder do not see it."""
    return path.with_name(f".{_stem(path.name)}.{_HERE}-{secrets.token_hex(4)}.partial")


def beside(path: Path, kind: str) -> Path:
    """Return a name for an unfinished folder ("partial"), or for what is replaced ("old")."""
    return path.with_name(f"{_stem(path.name)}.{kind}-{_HERE}-{secrets.token_hex(4)}")


def _stem(name: str) -> str:
    """Return the name, or a short form of one so long that nothing could be put behind it."""
    raw = os.fsencode(name)
    return name if len(raw) <= _LONGEST else f"{name[:20]}{zlib.crc32(raw):08x}"


def clear_leftovers(path: Path) -> None:
    """Remove what killed runs have left of this output; bring back an old one they had put away."""
    stem = re.escape(_stem(path.name))
    known = re.compile(
        rf"\.{stem}\.(?P<a>[0-9a-f]{{8}}-)?[0-9a-f]{{8}}\.partial|"
        rf"{stem}\.(partial|old)-(?P<b>[0-9a-f]{{8}}-)?[0-9a-f]{{8}}(\.zip)?"
    )
    try:
        names = os.listdir(path.parent)
    except OSError:  # whatever it is, writing will say it
        return
    for name in names:
        if found := known.fullmatch(name):
            with suppress(OSError):
                _clear(path.parent / name, path, (found["a"] or found["b"]) == f"{_HERE}-")


def _clear(left: Path, final: Path, here: bool) -> None:
    """Remove one leftover, if nobody is writing it."""
    lock = locked(left)  # or BlockingIOError: somebody is
    try:
        if (not here or lock is None) and time.time() - _changed(left) < _DAY:
            return
        if left.name.startswith(f"{_stem(final.name)}.old-") and not os.path.lexists(final):
            left.rename(final)  # killed between two renames: this is the only complete one
        else:
            remove(left)
    finally:
        if lock is not None:
            os.close(lock)


def _changed(path: Path) -> float:
    """Return when something was last written to a file or folder."""
    inside = path.iterdir() if path.is_dir() and not path.is_symlink() else ()
    return max([path.lstat().st_mtime, *(file.lstat().st_mtime for file in inside)])


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there and can be removed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def locked(path: Path) -> int | None:
    """Lock a file or folder and return its descriptor; None where there are no locks.

    Raises
    ------
    BlockingIOError
        Somebody else has locked it.
    """
    if fcntl is None:
        return None
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    except OSError:
        os.close(descriptor)
        return None
    return descriptor

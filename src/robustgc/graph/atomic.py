"""The one way to write a file or folder whole or not at all, one alone or several together.

Everything is written next to its final name and gets that name by a rename when it is complete:
whoever looks sees the old one or the new one, never a part.

A killed run leaves what it was writing. The next run that writes the same name removes it, if
nobody is writing it any more. That is told by a lock (flock), which the kernel takes back from a
process however it ends. The number of the process in the name would not do: numbers are used
again, and mean nothing in another container. On a shared disk locks of other machines may not be
seen, so what was begun there (the name has a hash of the machine's), or where there are no locks,
goes when nothing was written to it for a day.
"""

import errno
import os
import re
import secrets
import shutil
import socket
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_TRIES = 100
_DAY = 86_400  # seconds
_LONGEST = 180  # bytes of a name that are repeated in that of its unfinished file; 255 are possible
_HERE = f"{zlib.crc32(socket.gethostname().encode()):08x}"


@dataclass
class _Staged:
    """An output that is complete, or being written, next to its final name."""

    final: Path
    partial: Path
    lock: int | None
    check: Callable[[], object] | None = None
    old: Path | None = None  # what was there before, until all outputs are in place
    old_lock: int | None = None
    new: bool = False  # whether there was nothing before
    moved: bool = False

    def move(self, keep: bool) -> None:
        """Give it its name; what was there stays next to it if it may have to come back."""
        self.new = not os.path.lexists(self.final)
        if self.partial.is_dir() and not self.new:
            with suppress(OSError):  # else another run could take it for a leftover
                self.old_lock = _locked(self.final)
            self.old = sibling_name(self.final, "old")
            self.final.rename(self.old)
        elif keep and not self.new:
            self.old = sibling_name(self.final, "old")
            try:  # a second name: unlike a rename, it leaves no moment without the file
                os.link(self.final, self.old)
                self.old_lock = _locked(self.old)
            except BlockingIOError:  # of another run that moves it: it is no leftover then either
                pass
            except OSError:  # there are no such links on this disk
                self.old = None
        if self.partial.is_dir():
            self.partial.rename(self.final)
        else:
            self.partial.replace(self.final)
        self.moved = True

    def back(self) -> None:
        """Undo `move`, also one that failed halfway."""
        with suppress(OSError):
            if self.moved and self.old is not None and not self.final.is_dir():
                self.old.replace(self.final)
            elif self.moved and (self.new or self.old is not None):
                self.final.rename(self.partial)  # where `close` removes it
            if self.old is not None and not os.path.lexists(self.final):
                self.old.rename(self.final)

    def close(self) -> None:
        """Remove what did not get its name, and what is no longer wanted."""
        _remove(self.partial)
        if self.old is not None and os.path.lexists(self.final):
            _remove(self.old)
        for lock in (self.lock, self.old_lock):
            if lock is not None:
                os.close(lock)
        self.lock = self.old_lock = None


@dataclass
class _Group:
    finals: list[Path]
    staged: list[_Staged] = field(default_factory=list)


_GROUP: ContextVar[_Group | None] = ContextVar("outputs of one run", default=None)


@contextmanager
def together(paths: Iterable[str | os.PathLike[str]]) -> Iterator[None]:
    """Move all that is written inside to its place at the end, one after the other, or nothing.

    If one of the paths cannot be replaced an OSError says so, and all are as they were before.
    """
    if _GROUP.get() is not None:  # a part of a larger run
        yield
        return
    group = _Group([Path(path) for path in paths])
    token = _GROUP.set(group)
    try:
        yield
        _move(group.staged)
    finally:
        _GROUP.reset(token)
        for staged in group.staged:
            staged.close()


@contextmanager
def new_file(
    path: Path, *, check: Callable[[], object] | None = None, alone: bool = False
) -> Iterator[BinaryIO]:
    """Give a file to write next to `path`, moved there at the end, or with others of `together`.

    `check` is called before the move, and raises if what is at the path may not be replaced.
    `alone`: moved at once in any case, as it lies in a folder that is being written.
    """
    remove_leftovers(path)
    staged, stream = _begin(path, partial_file_name, lambda partial: partial.open("xb"))
    staged.check = check
    with _staging(staged, alone):
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())


@contextmanager
def new_folder(
    path: str | os.PathLike[str], *, check: Callable[[], object] | None = None
) -> Iterator[Path]:
    """Give a folder to fill next to `path`, renamed at the end, removed after a failure.

    `check` is called before the move, and raises if what is at the path may not be replaced. None:
    nothing may be there, or it is a FileExistsError.
    """
    final = Path(path)
    remove_leftovers(final)
    if check is None:
        _check_free(final)
    staged, _ = _begin(final, sibling_name, lambda partial: partial.mkdir(parents=True))
    staged.check = check or (lambda: _check_free(final))
    with _staging(staged):
        yield staged.partial


def unwritten(path: Path, error: OSError) -> str:
    """Return why an output was not written, what became of the others, and what to do."""
    why = error.strerror or str(error).rstrip(".") or "the system does not say why"
    # numpy counts what it could not write, and forgets why.
    full = error.errno in (errno.ENOSPC, errno.EDQUOT) or "requested and" in why
    group = _GROUP.get()
    finals, own = group.finals if group else [], os.path.realpath(path)
    others = [str(final) for final in finals if os.path.realpath(final) != own]
    rest = f", and {' and '.join(others)} {'stay' if len(others) > 1 else 'stays'} as before"
    cure = "make room, or choose another disk" if full else "choose another place"
    return f"{path} was not written: {why}. Nothing was left there{rest * bool(others)}; {cure}."


@contextmanager
def _staging(staged: _Staged, alone: bool = False) -> Iterator[None]:
    """Move an output that was written inside, or leave that to the group it belongs to."""
    group = None if alone else _GROUP.get()
    try:
        yield
    except BaseException:  # Ctrl-C too
        staged.close()
        raise
    if group is not None:
        group.staged.append(staged)
        return
    try:
        _move([staged])
    finally:
        staged.close()


def _move(outputs: list[_Staged]) -> None:
    """Move outputs into place; if one cannot be, take the others back."""
    now, several = time.time_ns(), len(outputs) > 1
    for staged in outputs:
        if staged.check is not None:
            staged.check()
        if several:  # of one run: of one time
            os.utime(staged.partial, ns=(now, now))
    try:
        for staged in outputs:
            staged.move(keep=several)
    except BaseException as error:
        for other in reversed(outputs):
            other.back()
        if isinstance(error, OSError) and several:
            raise OSError(unwritten(staged.final, error)) from error
        raise


def _begin(
    final: Path, name: Callable[[Path], Path], create: Callable[[Path], Any]
) -> tuple[_Staged, Any]:
    """Create a file or folder, locked before a run that removes leftovers has taken it for one."""
    for _ in range(_TRIES):
        partial = name(final)
        stream = create(partial)
        try:
            lock = _locked(partial)
            if lock is None or os.path.samestat(os.fstat(lock), partial.stat()):
                return _Staged(final, partial, lock), stream
            os.close(lock)
        except (BlockingIOError, FileNotFoundError):  # the other run was faster
            pass
        if stream is not None:
            stream.close()
    raise OSError(f"{final} cannot be written: other runs remove what is begun. Try again.")


def _check_free(path: Path) -> None:
    if os.path.lexists(path):
        raise FileExistsError(f"{path} exists already; remove it or choose another name.")


def partial_file_name(path: Path) -> Path:
    """Return a name for an unfinished file: readers of a whole folder do not see it."""
    return path.with_name(f".{_stem(path.name)}.{_HERE}-{secrets.token_hex(4)}.partial")


def sibling_name(path: Path, kind: str = "partial") -> Path:
    """Return a name for an unfinished folder ("partial"), or for what is replaced ("old")."""
    return path.with_name(f"{_stem(path.name)}.{kind}-{_HERE}-{secrets.token_hex(4)}")


def _stem(name: str) -> str:
    """Return the name, or a short form of one so long that nothing could be put behind it."""
    raw = os.fsencode(name)
    return name if len(raw) <= _LONGEST else f"{name[:20]}{zlib.crc32(raw):08x}"


def remove_leftovers(path: Path) -> None:
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
        if match := known.fullmatch(name):
            here = (match["a"] or match["b"]) == f"{_HERE}-"
            with suppress(OSError):
                _remove_leftover(path.parent / name, path, here)


def _remove_leftover(left: Path, final: Path, here: bool) -> None:
    """Remove one leftover, if nobody is writing it."""
    lock = _locked(left)  # or BlockingIOError: somebody is
    try:
        if (not here or lock is None) and time.time() - _last_write(left) < _DAY:
            return
        if left.name.startswith(f"{_stem(final.name)}.old-") and not os.path.lexists(final):
            left.rename(final)  # killed between two renames: this is the only complete one
        else:
            _remove(left)
    finally:
        if lock is not None:
            os.close(lock)


def _last_write(path: Path) -> float:
    """Return when something was last written to a file or folder."""
    inside = path.iterdir() if path.is_dir() and not path.is_symlink() else ()
    return max([path.lstat().st_mtime, *(file.lstat().st_mtime for file in inside)])


def _remove(path: Path) -> None:
    """Remove a file or a folder, if it is there and can be removed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _locked(path: Path) -> int | None:
    """Lock a file or folder and return its descriptor; None where there are no locks.

    A BlockingIOError says that somebody else has locked it.
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

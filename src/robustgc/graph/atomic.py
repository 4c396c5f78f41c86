"""Files and folders written whole or not at all, one alone or several together.

Everything is written beside its final name and gets that name by a rename when it is complete:
whoever looks sees the old one or the new one, never a part. What killed runs have left is removed
by the next one (`robustgc.graph.leftovers`).
"""

import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from robustgc.graph.leftovers import beside, clear_leftovers, hidden_beside, locked, remove

_TRIES = 100


@dataclass
class _Staged:
    """An output that is complete, or being written, beside its final name."""

    final: Path
    partial: Path
    lock: int | None
    check: Callable[[], object] | None = None
    old: Path | None = None  # what was there before, until all outputs are in place
    old_lock: int | None = None
    new: bool = False  # whether there was nothing before
    moved: bool = False

    def move(self, keep: bool) -> None:
        """Give it its name; what was there is kept beside it if it may have to come back."""
        self.new = not os.path.lexists(self.final)
        if self.partial.is_dir() and not self.new:
            with suppress(OSError):  # else another run could take it for a leftover
                self.old_lock = locked(self.final)
            self.old = beside(self.final, "old")
            self.final.rename(self.old)
        elif keep and not self.new:
            self.old = beside(self.final, "old")
            try:  # a second name: unlike a rename, it leaves no moment without the file
                os.link(self.final, self.old)
                self.old_lock = locked(self.old)
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
        remove(self.partial)
        if self.old is not None and os.path.lexists(self.final):
            remove(self.old)
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

    Parameters
    ----------
    paths : iterable of path
        What will be written, for messages.

    Raises
    ------
    OSError
        One of them could not be moved; then all are as they were before.
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
    """Give a file to write beside `path`, moved there at the end, or with others of `together`.

    Parameters
    ----------
    path : Path
    check : callable or None
        Asked before the move whether what is at the path may be replaced: it raises if not.
    alone : bool
        Whether it is moved at once in any case: it lies in a folder that is being written.
    """
    clear_leftovers(path)
    staged, stream = _begun_file(path)
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
    """Give a folder to fill beside `path`, renamed at the end, removed after a failure.

    Parameters
    ----------
    path : path
    check : callable or None
        Asked before the move whether what is at the path may be replaced: it raises if not. None:
        nothing may be there.

    Raises
    ------
    FileExistsError
        There is something that may not be replaced.
    """
    final = Path(path)
    clear_leftovers(final)
    if check is None:
        _check_free(final)
    staged = _begun_folder(final)
    staged.check = check or (lambda: _check_free(final))
    with _staging(staged):
        yield staged.partial


@contextmanager
def scratch_folder(path: Path) -> Iterator[Path]:
    """Give a folder beside `path` for what is needed only while that is written."""
    staged = _begun_folder(path)
    try:
        yield staged.partial
    finally:
        staged.close()


def unwritten(path: Path, error: OSError) -> str:
    """Return why an output was not written, what became of the others, and what to do."""
    why = error.strerror or str(error).rstrip(".") or "the system does not say why"
    # numpy counts what it could not write, and forgets why.
    full = error.errno in (errno.ENOSPC, errno.EDQUOT) or "requested and" in why
    group = _GROUP.get()
    finals, own = group.finals if group else [], os.path.realpath(path)
    others = [str(final) for final in finals if os.path.realpath(final) != own]
    kept = f", and {' and '.join(others)} {'stay' if len(others) > 1 else 'stays'} as before"
    cure = "make room, or choose another disk" if full else "choose another place"
    return f"{path} was not written: {why}. Nothing was left there{kept * bool(others)}; {cure}."


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


def _begun_file(path: Path) -> tuple[_Staged, BinaryIO]:
    for _ in range(_TRIES):
        partial = hidden_beside(path)
        stream = partial.open("xb")
        if (staged := _lock_staged(path, partial)) is not None:
            return staged, stream
        stream.close()
    raise OSError(f"{path} cannot be written: other runs remove what is begun. Try again.")


def _begun_folder(path: Path) -> _Staged:
    for _ in range(_TRIES):
        partial = beside(path, "partial")
        partial.mkdir(parents=True)
        if (staged := _lock_staged(path, partial)) is not None:
            return staged
    raise OSError(f"{path} cannot be written: other runs remove what is begun. Try again.")


def _lock_staged(final: Path, partial: Path) -> _Staged | None:
    """Lock what was just begun; None if a run that removes leftovers was faster."""
    try:
        lock = locked(partial)
        if lock is not None and not os.path.samestat(os.fstat(lock), partial.stat()):
            os.close(lock)
            return None
    except (BlockingIOError, FileNotFoundError):
        return None
    return _Staged(final, partial, lock)


def _check_free(path: Path) -> None:
    if os.path.lexists(path):
        raise FileExistsError(f"{path} exists already; remove it or choose another name.")

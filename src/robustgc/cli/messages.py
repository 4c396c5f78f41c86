"""What a command says, and how it ends: messages, summaries, errors in words, exit codes.

Data goes to standard output or to files; messages go to standard error.
"""

import errno
import json
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
from rich.console import Console

WRONG_INPUT, WRONG_USAGE, NO_CONVERGENCE, STOPPED = 1, 2, 3, 130


def of_system(error: OSError) -> str:
    """Say what the operating system refused: which file, what happened, what to do."""
    if error.errno is None or not error.strerror:  # a sentence of ours, or of a library
        return str(error).strip() or "a file cannot be read or written. Check disks and folders."
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if name is not None]
    where = " -> ".join(name for name in names if isinstance(name, str))
    where = where or "a file (the system does not say which)"
    cures = {
        (errno.ENOSPC, errno.EDQUOT): "Make room on the disk, or choose another one, for "
        "temporary files (TMPDIR) as well.",
        (errno.EACCES, errno.EPERM, errno.EROFS): "Check its permissions, or choose another place.",
        (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG): "Check the name.",
        (errno.EMFILE, errno.ENFILE): "Close other programs, or raise the limit (ulimit -n).",
        (errno.EFBIG,): "Raise the limit of the size of files (ulimit -f).",
        (errno.ENOMEM,): "Close other programs, or use a machine with more memory.",
    }
    cure = next((text for numbers, text in cures.items() if error.errno in numbers), None)
    return f"{where}: {error.strerror}. {cure or 'Check the disk and the network, and run again.'}"


def described(error: BaseException) -> tuple[str, int] | None:
    """Return what to tell the user of an error, and the exit code; None: it is a fault of ours."""
    from robustgc.linalg.solution import NotConvergedError

    if isinstance(error, NotConvergedError):
        return str(error), NO_CONVERGENCE
    if isinstance(error, KeyboardInterrupt):
        return "stopped; nothing was written.", STOPPED
    if isinstance(error, MemoryError):
        what = str(error).strip().rstrip(".") or "the work does not fit into what is free"
        text = f"not enough memory: {what}."
        if ". " not in what:  # else it is ours, and says what to do
            text += (
                " `robustgc info` says what a graph needs; close other programs, use a machine "
                "with more memory, or spread the graph with --engine mpi."
            )
    elif isinstance(error, OSError):
        text = of_system(error)
    elif isinstance(error, UnicodeError):
        text = (
            f"a text cannot be read or written: {error}. Write files as UTF-8, and rename files "
            "and labels with characters that have no UTF-8."
        )
    elif isinstance(error, ValueError | TypeError | NotImplementedError | ArithmeticError):
        text = str(error).strip() or f"{type(error).__name__} without a message. Please report it."
    else:
        return None
    return text, WRONG_INPUT


def stop(text: str, code: int = WRONG_INPUT) -> NoReturn:
    """End with a message."""
    typer.echo(f"robustgc: {text}", err=True)
    raise typer.Exit(code)


def refuse(text: str) -> NoReturn:
    """End since the options cannot be used like this."""
    stop(text, WRONG_USAGE)


@contextmanager
def guarded(max_size: str | None = None, quiet: bool = False) -> Iterator[None]:
    """Turn an error into a message and an exit code; files may have `max_size` bytes."""
    try:
        from robustgc.graph.resources import rank_by_mpiexec
        from robustgc.graph.threads import announced
        from robustgc.io.limits import allowing

        def note(text: str) -> None:  # on the first of several ranks
            say(f"note: {text}", quiet or bool(rank_by_mpiexec()))

        with allowing(max_size), announced(note), warnings.catch_warnings():
            warnings.showwarning = lambda text, *_, **__: say(f"warning: {text}", quiet)
            yield
    except (Exception, KeyboardInterrupt) as error:
        if (description := described(error)) is None:
            raise
        stop(*description)


def say(text: str, quiet: bool = False) -> None:
    """Print a message to standard error."""
    if not quiet:
        Console(stderr=True, highlight=False, soft_wrap=True, markup=False).print(text)


def say_notes(notes: Iterable[str], quiet: bool = False) -> None:
    """Print what was noticed on the way."""
    for note in notes:
        say(f"note: {note}", quiet)


def many(count: int, what: str) -> str:
    """Return how many of what: 1 node, 2 nodes."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def progress_bar(task: str, hidden: bool = False) -> Any:
    """Return a progress bar on standard error; `task` is how a task is written."""
    from rich import progress

    left = progress.TimeRemainingColumn(elapsed_when_finished=True)
    columns = (progress.TextColumn(task), progress.BarColumn(), progress.MofNCompleteColumn(), left)
    return progress.Progress(*columns, console=Console(stderr=True), disable=hidden)


def print_json(summary: dict[str, Any]) -> None:
    """Print a summary for machines; what is not finite is null."""
    from robustgc.io.writing import print_bytes

    text = json.dumps(_finite(summary), indent=1, ensure_ascii=False) + "\n"
    # Half a surrogate pair, as in names of files, has no UTF-8; JSON has this escape for it.
    print_bytes(text.encode("utf-8", errors="backslashreplace"))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value

"""What goes wrong in words, and the exit code for it."""

import errno
import os
from typing import NoReturn

import typer

WRONG_INPUT, WRONG_USAGE, NO_CONVERGENCE, STOPPED = 1, 2, 3, 130


def of_system(error: OSError) -> str:
    """Say what the operating system refused: which file, what happened, what to do."""
    if error.errno is None or not error.strerror:  # a sentence of ours, or of a library
        return str(error).strip() or "a file cannot be read or written. Check disks and folders."
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if name is not None]
    where = " -> ".join(name for name in names if isinstance(name, str))
    where = where or "a file (the system does not say which)"
    cures = {
        (errno.ENOSPC, errno.EDQUOT): "Make room on the disk, or choose another one; also for "
        "temporary files (TMPDIR).",
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
            f"a text is not what it should be: {error}. Write files as UTF-8, and rename files and "
            "labels with characters that have no UTF-8."
        )
    elif isinstance(error, ValueError | TypeError | NotImplementedError | ArithmeticError):
        text = str(error).strip() or f"{type(error).__name__} without a word. Please report it."
    else:
        return None
    return text, WRONG_INPUT


def stop(text: str, code: int = WRONG_INPUT) -> NoReturn:
    """End with a message."""
    typer.echo(f"robustgc: {text}", err=True)
    raise typer.Exit(code)

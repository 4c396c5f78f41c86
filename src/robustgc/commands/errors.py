"""Errors of the operating system in words."""

import errno
import os


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

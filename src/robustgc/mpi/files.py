"""The files that ranks read: the same ones on every rank, and none that changes meanwhile."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustgc.io.opening import InputError

GRAPH = ("manifest.json", "indptr.npy", "indices.npy", "data.npy", "names.json")
SHARED = (
    "All ranks need the same files at the same path: put them on a file system that all machines "
    "share."
)


@dataclass(frozen=True)
class Listing:
    """What there is at a path: names, sizes and times of the files, in the order of the names.

    Names are relative to a folder; a single file has the name ".". Names that start with _ or .
    are left out, as programs that write part files keep their marks there. Of a graph folder only
    its own files are listed.
    """

    folder: bool
    files: tuple[tuple[str, int, int], ...]
    trouble: str = ""

    @property
    def graph(self) -> bool:
        """Whether it is a graph folder, or what is left of one."""
        return self.folder and any(name in GRAPH[:2] for name, _, _ in self.files)

    def same(self) -> str:
        """Return what must be the same on all ranks; clocks of file servers may differ."""
        return repr((self.folder, [file[:2] for file in self.files], self.trouble))

    def __str__(self) -> str:
        total = sum(size for _, size, _ in self.files)
        count = len(self.files)
        return self.trouble or f"{count} file{'s' * (count != 1)} of {total} bytes"


def listing(path: Path) -> Listing:
    """Look at a path; what cannot be read is told, not raised."""
    try:
        if not os.path.isdir(path):
            about = os.stat(path)
            return Listing(False, ((".", about.st_size, about.st_mtime_ns),))
        found = []
        for name in _walked(path):
            about = os.stat(path / name)
            found.append((name, about.st_size, about.st_mtime_ns))
        every = Listing(True, tuple(found))
        if not every.graph:
            return every
        return Listing(True, tuple(file for file in found if file[0] in GRAPH))
    except OSError as error:
        return Listing(False, (), f"nothing that can be read ({error.strerror or error})")


def _walked(path: Path) -> list[str]:
    names = []
    for folder, inside, files in os.walk(path):
        inside[:] = [name for name in inside if name[0] not in "_."]
        beside = Path(folder).relative_to(path)
        names += [(beside / name).as_posix() for name in files if name[0] not in "_."]
    return sorted(names)


def check_same(comm: Any, path: Path, seen: Listing) -> None:
    """Refuse, on all ranks, to read what is not the same on all of them."""
    text = seen.same()
    if seen.graph:
        try:
            text += repr((path / GRAPH[0]).read_bytes())
        except OSError as error:
            text += str(error)
    check_equal(comm, text, str(seen), f"{path} is", SHARED)


def check_equal(comm: Any, text: str, short: str, what: str, cure: str) -> None:
    """Refuse, on all ranks, a text that is not the same on all of them.

    Parameters
    ----------
    comm : communicator
    text : str
    short : str
        What it says, in a few words.
    what, cure : str
        How the message begins and ends.
    """
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    every = comm.allgather((digest, short))
    other = [rank for rank, (known, _) in enumerate(every) if known != every[0][0]]
    if not other:
        return
    here, there = every[0][1], every[other[0]][1]
    found = f"rank 0 has {here}, rank {other[0]} {'others' if here == there else there}"
    ranks = ", ".join(map(str, other[:8])) + (", ..." if len(other) > 8 else "")
    plural = "s" * (len(other) > 1)
    raise InputError(f"{what} not the same on rank{plural} {ranks} as on rank 0: {found}. {cure}")


@contextmanager
def unchanged(path: Path, before: Listing) -> Iterator[None]:
    """Read something; an error if it was written meanwhile, whatever came of the reading."""
    try:
        yield
    except (OSError, ValueError) as error:
        if listing(path) != before:
            raise _changed(path, before) from error
        raise
    if listing(path) != before:
        raise _changed(path, before)


def _changed(path: Path, before: Listing) -> InputError:
    now = {name: rest for name, *rest in listing(path).files}
    old = {name: rest for name, *rest in before.files}
    names = sorted(name for name in now | old if now.get(name) != old.get(name))
    first = f" (first {names[0]})" if names and names[0] != "." else ""
    return InputError(
        f"{path} changed while it was read{first}. Wait until it is written, then start again."
    )

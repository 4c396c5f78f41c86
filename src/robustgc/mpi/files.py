"""Files and graph folders that ranks read: the same on every rank, and unchanged meanwhile."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from robustgc.io.graph_files import folder_names, open_folder
from robustgc.io.opening import InputError
from robustgc.mpi.exchange import check_equal
from robustgc.mpi.share import Share, own_rows
from robustgc.mpi.world import check_memory, collective_errors, need_per_rank

GRAPH = ("manifest.json", "indptr.npy", "indices.npy", "data.npy", "names.json")
SHARED = (
    "All ranks need the same files at the same path: put them on a file system that all machines "
    "share."
)


@dataclass(frozen=True)
class Listing:
    """What there is at a path: names, sizes and times of the files, in the order of the names.

    Names are relative to a folder; a single file has the name ".". Names that start with _ or .
    are left out: programs that write part files mark with them. Of a graph folder only its own
    files are listed.
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
    """List what is at a path; one that cannot be read is a listing too, with the trouble."""
    try:
        if not os.path.isdir(path):
            about = os.stat(path)
            return Listing(False, ((".", about.st_size, about.st_mtime_ns),))
        every = []
        for name in _walked(path):
            about = os.stat(path / name)
            every.append((name, about.st_size, about.st_mtime_ns))
        if Listing(True, tuple(every)).graph:
            every = [file for file in every if file[0] in GRAPH]
        return Listing(True, tuple(every))
    except OSError as error:
        return Listing(False, (), f"nothing that can be read ({error.strerror or error})")


def _walked(path: Path) -> list[str]:
    names = []
    for folder, inside, files in os.walk(path):
        inside[:] = [name for name in inside if name[0] not in "_."]
        inner = Path(folder).relative_to(path)
        names += [(inner / name).as_posix() for name in files if name[0] not in "_."]
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


def read_folder(path: Path, comm: Any, seen: Listing) -> tuple[Share, NDArray[Any] | None]:
    """Read the rank's own rows, so many that ranks have about equal numbers of entries.

    The names are one list in JSON: every rank reads all of it, and keeps those of its rows.
    """
    with collective_errors(comm), unchanged(path, seen):
        graph = open_folder(path)
    n = graph.shape[0]
    need = need_per_rank(n, graph.nnz, graph.data is not None, comm.size)
    check_memory(comm, f"{path} ({n} nodes, {graph.nnz} entries)", need)
    with collective_errors(comm), unchanged(path, seen):
        share = own_rows(comm, graph)
        names = folder_names(path, n)
        names = None if names is None else names[share.first :][: share.rows].copy()
    return share, names

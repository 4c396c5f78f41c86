"""Checkpoints: results of every rank in files, so that a stopped run can go on."""

import hashlib
import json
import os
import zipfile
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.io.opening import InputError, replacing

Arrays = dict[str, NDArray[Any]]
_ABOUT = "about_"  # among the arrays of a file: whose they are


class Checkpoint:
    """Results by name, a file of each for every rank, in a folder that all ranks see.

    The folder is made with the first file. `fingerprint` is of all that the results depend on:
    those written with another one are not used.

    Attributes
    ----------
    reused : list of str
        Names of the results that were taken over from an earlier run.
    notes : list of str
        What was noticed, the same on every rank.
    """

    def __init__(self, folder: Path, comm: Any, fingerprint: str) -> None:
        self.folder, self._comm, self._fingerprint = folder, comm, fingerprint
        self.reused: list[str] = []
        self.notes: list[str] = []

    def __call__(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """Return what an earlier run has written under a name; else make it, and write it.

        All ranks call this together. What one rank has lost is made anew by all of them.
        """
        arrays, note = self._read(name)
        self._note([note] if note else [])
        if all(self._comm.allgather(arrays is not None)):
            assert arrays is not None
            self.reused.append(name)
            return arrays
        made = make()
        self._note(self._write(name, made))
        return made

    def clear(self) -> None:
        """Remove the checkpoint: the work is done. All ranks call this together."""
        self._comm.Barrier()
        if self._comm.rank == 0 and self.folder.is_dir():
            for file in self.folder.iterdir():
                if file.name.endswith(".rank.npz") or file.name.endswith(".partial"):
                    file.unlink(missing_ok=True)
            with suppress(OSError):  # something else lies there: it stays
                self.folder.rmdir()
        self._comm.Barrier()

    def _note(self, notes: list[str]) -> None:
        for of_rank in self._comm.allgather(notes):
            self.notes += [note for note in of_rank if note not in self.notes]

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}-{self._comm.rank:05}.rank.npz"

    def _read(self, name: str) -> tuple[Arrays | None, str]:
        """Return what this rank has written, or None, and why if something else is there."""
        file = self._file(name)
        try:
            # A zip: it has checksums.
            with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
                arrays = {key: stored[key] for key in stored.files}
            about = json.loads(arrays.pop(_ABOUT).tobytes())
        except (FileNotFoundError, NotADirectoryError):
            return None, ""
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as failure:
            return None, f"{file} is damaged ({failure}): this is done again"
        if about != self._about():
            return None, f"{self.folder} is of other input, options or ranks: it is not used"
        return arrays, ""

    def _about(self) -> dict[str, Any]:
        return {"fingerprint": self._fingerprint, "ranks": self._comm.size}

    def _write(self, name: str, arrays: Arrays) -> list[str]:
        """Write what this rank has made; a disk that is full is no reason to stop."""
        about = np.frombuffer(json.dumps(self._about()).encode(), dtype=np.uint8)
        try:
            self.folder.mkdir(exist_ok=True)
            with replacing(self._file(name)) as file:
                np.savez(file, allow_pickle=False, **{_ABOUT: about, **arrays})
        except (InputError, OSError) as failure:
            return [f"no checkpoint was written ({failure}): the work goes on without it"]
        return []


def fingerprint(source: Path, *values: Any) -> str:
    """Return a digest of the files of a graph and of other things that results depend on.

    Of a file or folder names, sizes and times of change count, not what is in it; of values what
    their ``repr`` says.
    """
    digest = hashlib.sha256(f"{version('robustgc')} {os.path.realpath(source)}".encode())
    files = sorted(p for p in source.rglob("*") if p.is_file()) if source.is_dir() else [source]
    for file in files:
        known = file.stat()
        digest.update(f"{file} {known.st_size} {known.st_mtime_ns}\n".encode())
    for value in values:
        if isinstance(value, np.ndarray) and value.dtype.kind != "O":
            digest.update(f"{value.dtype} {value.shape}\n".encode())
            digest.update(np.ascontiguousarray(value).tobytes())
        else:
            listed = value.tolist() if isinstance(value, np.ndarray) else value
            digest.update(f"{listed!r}\n".encode())
    return digest.hexdigest()

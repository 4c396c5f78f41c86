"""A model's files: written next to their final name, checked before they are believed.

A model is a folder, or a zip without compression, of .npy files and one manifest.json. The
manifest has the size and the SHA-256 of every file. Nothing that is read is ever run.
"""

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.atomic import new_file, new_folder, unwritten
from robustgc.graph.folder import read_header
from robustgc.graph.quoting import quoted

FORMAT = "robustgc-model"
VERSION = 1
MANIFEST = "manifest.json"
_NAME = re.compile(r"[a-z_]{1,64}\.npy")
_DEEPEST = 30  # lists within lists; save writes about ten
AGAIN = "Save the model again, or get a whole copy of it."


def place(path: str | os.PathLike[str]) -> Path:
    """Return where a model is to go; refuse a place where something else is."""
    real = Path(os.path.realpath(path))
    if not os.path.lexists(real):
        return real
    if real.is_dir() == _zipped(real):
        kind = "a folder" if real.is_dir() else "a file"
        raise FileExistsError(
            f"{real} exists and is {kind}; a model is a zip file if its name ends in .zip, else a "
            "folder. Choose another name."
        )
    try:
        with _opened(real) as source:
            known = {MANIFEST, *_manifest(source, any_version=True)["files"]}
            others = sorted(source.sizes.keys() - known)
    except ValueError as failure:
        raise FileExistsError(
            f"{real} exists and is no model that could be replaced ({failure}) Remove it or choose "
            "another name."
        ) from failure
    if others:
        raise FileExistsError(
            f"{real} holds {len(others)} files that are no part of the model, the first "
            f"{quoted(others[0])}; it is not replaced. Move them away or choose another name."
        )
    return real


def write(
    path: str | os.PathLike[str], about: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write a model; it gets its name when it is complete, and replaces an earlier one."""
    final = place(path)
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        if _zipped(final):
            with new_file(final, check=lambda: place(final)) as file:
                _fill_zip(file, _contents(about, arrays))
        else:
            with new_folder(final, check=lambda: place(final)) as folder:
                for name, save in _contents(about, arrays).items():
                    with (folder / name).open("wb") as file:
                        save(file)
    except FileExistsError:  # something else is there by now: writing may have taken long
        raise
    except OSError as error:
        raise OSError(unwritten(final, error)) from error


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what the manifest says of the model, and its arrays, all of them checked."""
    with _opened(Path(path)) as source:
        manifest = _manifest(source)
        return manifest["model"], {
            name.removesuffix(".npy"): _array(source, name, entry)
            for name, entry in manifest["files"].items()
        }


def digest(model: Any, files: Any) -> str:
    """Return the SHA-256 of what the manifest says, so that damage to it is seen."""
    return hashlib.sha256(_json({"model": model, "files": files}, None)).hexdigest()


@dataclass(frozen=True)
class _Source:
    """A folder or a zip that a model is read from."""

    path: Path
    sizes: dict[str, int]  # bytes of all that is in it; -1: a folder
    open: Callable[[str], io.BufferedIOBase]


@contextmanager
def _opened(path: Path) -> Iterator[_Source]:
    """Open a folder, or a zip whose members could have been written here."""
    if path.is_dir():
        with os.scandir(path) as entries:
            sizes = {e.name: e.stat().st_size if e.is_file() else -1 for e in entries}
        yield _Source(path, sizes, lambda name: (path / name).open("rb"))
        return
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; there is no model to load.")
    try:
        bundle = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as failure:
        raise ValueError(
            f"{path} is neither a folder nor a zip that can be read ({failure}). {AGAIN}"
        ) from failure
    with bundle:
        members = bundle.infolist()
        _check_members(path, members)
        sizes = {member.filename: member.file_size for member in members}
        yield _Source(path, sizes, lambda name: cast(io.BufferedIOBase, bundle.open(name)))


def _check_members(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuse a zip that could not have been written here, before anything in it is opened."""
    names = [member.filename for member in members]
    for member in members:
        name = member.filename
        if name != MANIFEST and not _NAME.fullmatch(name):
            raise ValueError(
                f"{path} holds {quoted(name)}, which is no name of a model's file: they lie side "
                f"by side, {MANIFEST} and .npy files in small letters. Do not trust this file."
            )
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
            raise ValueError(
                f"{name} in {path} is compressed or encrypted; only stored files are read, so that "
                "a small zip cannot fill the memory. Unpack it and load the folder."
            )
    if len(set(names)) != len(names):
        raise ValueError(f"{path} holds two files of the same name. Do not trust this file.")
    claimed, size = sum(member.file_size for member in members), path.stat().st_size
    if claimed > size:
        raise ValueError(
            f"The files in {path} claim {claimed} bytes, more than its own {size}. Do not trust "
            "this file."
        )


def _manifest(source: _Source, *, any_version: bool = False) -> dict[str, Any]:
    where = source.path / MANIFEST
    if source.sizes.get(MANIFEST, -1) < 0:
        raise ValueError(f"{where} is missing: this is no {FORMAT}, or not all of it. {AGAIN}")
    try:
        with source.open(MANIFEST) as stream:
            manifest = json.loads(stream.read().decode("utf-8"), parse_constant=_no_constant)
        _check_depth([manifest])
    except (ValueError, RecursionError, OSError, EOFError, zipfile.BadZipFile) as failure:
        raise ValueError(f"{where} is damaged ({failure}). {AGAIN}") from failure
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError(f"{where} does not describe a {FORMAT}. Give the path of a saved model.")
    version, files = manifest.get("version"), manifest.get("files")
    if version != VERSION and not any_version:
        raise ValueError(
            f"{where} has format version {quoted(version)}; this version of robustgc reads "
            f"{VERSION}; upgrade robustgc, or save the model again."
        )
    if not isinstance(files, dict) or not all(_NAME.fullmatch(name) for name in files):
        raise ValueError(f"{where} has no list of files with names as save gives them. {AGAIN}")
    if any_version:
        return manifest
    model = manifest.get("model")
    try:
        whole = isinstance(model, dict) and manifest.get("sha256") == digest(model, files)
    except (ValueError, RecursionError):  # such as 1e999, which JSON allows and save never writes
        whole = False
    if not whole:
        raise ValueError(f"{where} is damaged: its content does not fit its checksum. {AGAIN}")
    return manifest


def _check_depth(value: dict[str, Any] | list[Any], level: int = 0) -> None:
    """Refuse lists within lists without an end: what reads them would run out of stack."""
    if level > _DEEPEST:
        raise ValueError(f"lists and objects are nested more than {_DEEPEST} deep")
    for inside in value.values() if isinstance(value, dict) else value:
        if isinstance(inside, dict | list):
            _check_depth(inside, level + 1)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")


def _array(source: _Source, name: str, entry: Any) -> NDArray[Any]:
    """Return one array after its size, its checksum and its header have been checked."""
    where, size = source.path / name, source.sizes.get(name, -1)
    wanted = entry.get("size") if isinstance(entry, dict) else None
    if size < 0:
        raise ValueError(f"{where} is missing. {AGAIN}")
    if size != wanted:
        raise ValueError(f"{where} has {size} bytes; by the manifest it has {wanted}. {AGAIN}")
    try:
        with source.open(name) as stream:
            checksum = hashlib.file_digest(stream, "sha256").hexdigest()
        if checksum != entry.get("sha256"):
            raise ValueError("its content does not fit the checksum in the manifest")
        with source.open(name) as stream:
            dtype = read_header(stream, size)[2]
            if dtype.kind not in "biuf":
                raise ValueError(f"it has type {dtype}; numbers are needed")
            stream.seek(0)
            return np.asarray(np.load(stream, allow_pickle=False))
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as failure:
        raise ValueError(f"{where} is damaged: {failure}. {AGAIN}") from failure


class _Checksum:
    """A file that only counts and digests what is written to it."""

    def __init__(self) -> None:
        self.size, self.sha256 = 0, hashlib.sha256()

    def write(self, content: bytes) -> int:
        """Take a part of the content."""
        self.size += len(content)
        self.sha256.update(content)
        return len(content)


def _contents(
    about: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> dict[str, Callable[[Any], object]]:
    """Return what writes each file of a model, by its name and in the order of names."""
    contents: dict[str, Callable[[Any], object]] = {
        f"{name}.npy": partial(np.save, arr=values, allow_pickle=False)
        for name, values in arrays.items()
    }
    files = {}
    for name, save in contents.items():
        save(checksum := _Checksum())
        files[name] = {"size": checksum.size, "sha256": checksum.sha256.hexdigest()}
    manifest = {"format": FORMAT, "version": VERSION, "sha256": digest(about, files)}
    text = _json({**manifest, "files": files, "model": about}, 1)
    contents[MANIFEST] = lambda file: file.write(text)
    return dict(sorted(contents.items()))


def _fill_zip(file: IO[bytes], contents: dict[str, Callable[[Any], object]]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as bundle:
        for name, save in contents.items():
            # ZipInfo has no date: the same model, the same bytes.
            with bundle.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                save(member)


def _json(value: Any, indent: int | None) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, sort_keys=True)
    # Half a surrogate pair, as in names of files, has no UTF-8; JSON has this escape for it.
    return text.encode("utf-8", errors="backslashreplace")


def _zipped(path: Path) -> bool:
    return path.suffix.lower() == ".zip"

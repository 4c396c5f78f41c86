"""Answers to part files, one per rank, and a manifest that comes last."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from robustgc.audit.issues import LabelIssues
from robustgc.choice.likelihood import ATYPICAL
from robustgc.io.arrow_tables import PARQUET
from robustgc.io.frames import arrow
from robustgc.io.opening import InputError, check_target, replacing
from robustgc.mpi.fit import Fitted
from robustgc.mpi.world import collective_errors
from robustgc.transduction.columns import answer_columns, calibrated, probabilities, value_columns

FORMAT, VERSION, MANIFEST = "robustgc-parts", 1, "manifest.json"
_PART = re.compile(
    r"part-[0-9]{5,}\.[a-z]+|\.(part-.*|manifest\.json)\.([0-9a-f]{8}-)?[0-9a-f]{8}\.partial"
)
_ROWS = 2**18  # of a table at a time: names and classes are objects of Python there


def check_folder(folder: Path) -> None:
    """Refuse, before the work, a folder that could not be filled or that holds something else."""
    if not folder.exists():
        check_target(folder)
        return
    if not folder.is_dir():
        raise InputError(
            f"{folder} is a file, but every rank writes a part of its own to a folder. Name a "
            "folder, or ask for one file with --merge."
        )
    others = sorted({file.name for file in folder.iterdir()} - {MANIFEST})
    others = [name for name in others if not _PART.fullmatch(name)]
    if others or ((folder / MANIFEST).exists() and not _ours(folder / MANIFEST)):
        raise InputError(
            f"{folder} holds {others[0] if others else MANIFEST}, which is no part of earlier "
            "answers; it is not written to. Name another folder."
        )


def _ours(manifest: Path) -> bool:
    try:
        about = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(about, dict) and about.get("format") == FORMAT


def write_parts(folder: Path, fitted: Fitted, names: NDArray[Any] | None, ending: str = "") -> None:
    """Write the rows of every rank to its part, then the manifest. All ranks call this together.

    Parts that a stopped run has left, and those of earlier answers, are replaced.

    Parameters
    ----------
    folder : Path
    fitted : Fitted
    names : ndarray or None
        Of the own rows; None: they have numbers.
    ending : str
        Of the files; by default ``.parquet`` if the folder's name ends so, else ``.csv``.
    """
    comm, share = fitted.share.comm, fitted.share
    ending = ending or (folder.suffix.lower() if folder.suffix.lower() in PARQUET else ".csv")
    with collective_errors(comm):
        if comm.rank == 0:
            check_folder(folder)
            _emptied(folder)
    part: dict[str, Any] | None = None
    issues, spread = fitted.issues, fitted.spread  # found together: not below
    with collective_errors(comm):
        if share.rows:
            file = folder / f"part-{comm.rank:05}{ending}"
            columns = schema(fitted, names)
            with replacing(file) as stream, writer(stream, ending, columns) as out:
                for table in _blocks(fitted, names, issues, spread):
                    out.write_table(table.cast(columns))
            part = {"file": file.name, "rows": share.rows, **_checked(file)}
    parts = [found for found in comm.gather(part) or [] if found]
    with collective_errors(comm):
        if comm.rank == 0:
            _finish(folder, fitted, parts)


def _emptied(folder: Path) -> None:
    """Make the folder; the manifest goes first, so that what is left is never taken for whole."""
    folder.mkdir(exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)
    for file in folder.iterdir():
        file.unlink()


def _blocks(
    fitted: Fitted, names: NDArray[Any] | None, issues: LabelIssues, spread: float
) -> Iterator[Any]:
    """Give the rows here as tables, some at a time."""
    first, rows = fitted.share.first, fitted.share.rows
    here = (issues.node >= first) & (issues.node < first + rows)
    suspicion = np.full(rows, np.nan)
    suspicion[issues.node[here] - first] = issues.suspicion[here]
    known = np.arange(first, first + rows) if names is None else names
    answer = fitted.answer
    for start in range(0, rows, _ROWS):
        some = slice(start, start + _ROWS)
        labels = replace(fitted.labels, codes=fitted.labels.codes[some])
        part = replace(
            answer, f=answer.f[some], codes=answer.codes[some], reasons=answer.reasons[some]
        )
        chosen = calibrated(answer.certificates.values())
        p = probabilities(part.f, typical=1 - ATYPICAL) if chosen else probabilities(part.f, spread)
        yield arrow(answer_columns(known[some], labels, part, p, suspicion[some]))


def schema(fitted: Fitted, names: NDArray[Any] | None) -> Any:
    """Return the columns with their types: those of the whole table, whatever rows are here."""
    classes = arrow({"class": fitted.labels.classes}).schema.field(0).type
    values = value_columns(fitted.answer.f[:0], fitted.labels.classes)
    numbered = names is None or names.dtype.kind == "i"
    types = {
        "node": pa.int64() if numbered else pa.string(),
        "label": classes,
        "given": classes,
        "status": pa.string(),
        "probability": pa.float64(),
        **dict.fromkeys(values, pa.float64()),
        "reason": pa.string(),
        "suspicion": pa.float64(),
    }
    return pa.schema(list(types.items()))


def writer(stream: Any, ending: str, columns: Any) -> Any:
    """Return what writes tables to a file, one after the other."""
    if ending in PARQUET:
        return pq.ParquetWriter(stream, columns)
    mark = "\t" if ending == ".tsv" else ","
    return pc.CSVWriter(stream, columns, write_options=pc.WriteOptions(delimiter=mark))


def _checked(file: Path) -> dict[str, Any]:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"bytes": file.stat().st_size, "sha256": digest}


def _finish(folder: Path, fitted: Fitted, parts: list[dict[str, Any]]) -> None:
    """Write the manifest, once all parts can be seen from here."""
    for part in parts:
        file = folder / part["file"]
        size = file.stat().st_size if file.is_file() else -1
        if size != part["bytes"]:
            raise InputError(
                f"{file} was written by its rank with {part['bytes']} bytes, but rank 0 finds "
                f"{'no such file' if size < 0 else f'{size} bytes'}. All ranks need the same "
                "shared file system; name a folder there."
            )
    solved = fitted.answer.certificates.values()
    about = {
        "format": FORMAT,
        "version": VERSION,
        "robustgc": version("robustgc"),
        "ranks": fitted.share.comm.size,
        "nodes": fitted.share.n,
        "classes": fitted.labels.classes.tolist(),
        "residual": max((float(c.residual) for c in solved), default=0.0),
        "parts": parts,
    }
    with replacing(folder / MANIFEST) as stream:
        stream.write((json.dumps(about, indent=1, ensure_ascii=False) + "\n").encode("utf-8"))

"""Points from CSV, Parquet, .npy, .npz, arrays and frames: a row per point, with its name."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.affinity.features import column_names
from robustgc.graph.quoting import short
from robustgc.io import tables
from robustgc.io.arrays import read_array, read_arrays
from robustgc.io.arrow_tables import TYPED, arrow_table, is_table, read_typed
from robustgc.io.column_names import numbered_columns
from robustgc.io.decimals import is_number
from robustgc.io.dialect import Dialect
from robustgc.io.headers import counts_columns
from robustgc.io.layouts import Layout, find_layout
from robustgc.io.opening import InputError, kind, notes_of
from robustgc.io.point_columns import (
    NAME,
    Choice,
    NamedPoints,
    PointTable,
    check_names,
    check_values,
    kind_in_arrow,
    kind_of,
    roles,
)
from robustgc.io.sources import table_source

_ARRAYS = (".npy", ".npz")


def read_points(
    path: Path,
    *,
    name: str | None = None,
    columns: Sequence[str] | None = None,
    sheet: str | None = None,
    label: str | None = None,
    or_file: bool = False,
    model: Sequence[str] | None = None,
    dialect: Dialect | None = None,
) -> NamedPoints:
    """Read points.

    Parameters
    ----------
    path : Path
        .csv, .tsv, .txt, .parquet, .feather, .arrow, .jsonl, .xlsx with a header or without; .npy;
        .npz with one array, or `X` and perhaps `names`; ``-`` is standard input.
    name : str or None
        The column with the names of the points. None: one with a usual name (id, node, name), or
        else row numbers from 0.
    columns : sequence of str or None
        The columns that count; None: all others with numbers.
    sheet : str or None
        Which sheet of a spreadsheet; None: the first that is not empty.
    label : str or None
        The column with the labels, if they stand in the same table.
    or_file : bool
        Whether `label` is a file, which is not read here, where no column is called so.
    model : sequence of str or None
        The columns that a model was fitted on: they are found by name, and others left out.
    dialect : Dialect or None
        How a text table is written, as far as the user says it.
    """
    path = table_source(path, "points", sheet, dialect, others=_ARRAYS)
    choice = Choice(name, label, columns, model, or_file)
    if kind(path) in _ARRAYS:
        return _numpy(path, choice)
    if kind(path) in TYPED:
        return _of_arrow(read_typed(path), str(path), choice)
    return _text(path, choice, dialect)


def _text(path: Path, choice: Choice, dialect: Dialect | None) -> NamedPoints:
    import pyarrow as pa

    layout = _layout(path, choice, dialect)
    parts = roles(str(path), layout.columns, choice, layout.names is not None)
    kinds = {k: kind_of(r[k] for r in layout.sample if len(r) > k) for k in parts.features}
    # Text among columns that were named is refused by the reader, with its line.
    others = (parts.name, parts.label, parts.reviewed)
    types = {k: pa.string() for k in others if k is not None}
    for k, what in kinds.items():
        number = what == "number" or (what == "text" and parts.exact)
        types[k] = pa.float64() if number else pa.string()
    chunks = tables.read(layout, types, _encoded)
    values = {k: _joined(c, types[k]) for k, c in zip(types, chunks, strict=True)}
    table = PointTable(path, layout.columns, values, kinds, layout.names is not None, layout)
    points = table.points(parts)
    return replace(points, notes=(*notes_of(path), *layout.notes, *points.notes))


def _layout(path: Path, choice: Choice, dialect: Dialect | None) -> Layout:
    """Return how a file is written; a header of numbers is known by what they are, and noted."""
    model = [word.lower() for word in choice.model or ()]
    own = [*model, (choice.label or "").lower()]
    words = (*NAME[:3], *(word for word in own if word and not is_number(word)))
    layout = find_layout(path, words, True if choice.by_user else None, dialect)
    if layout.names is not None or len(layout.sample) < 2 or (dialect or Dialect()).header is False:
        return layout
    first = [field.strip().lower() for field in layout.sample[0][: layout.width]]
    if counts_columns(first):
        reason = "counts the columns"
    elif model and set(model) <= set(first):
        reason = "has the names of the model's columns"
    else:
        return layout
    layout = find_layout(path, words, True, dialect)
    note = f"line {layout.skipped} is read as a header, as it {reason} (--no-header reads it as a "
    return replace(layout, notes=(*layout.notes, f"{note}point)"))


def _encoded(chunk: Any) -> Any:
    """Return text with every distinct one stored once, where most are there twice or more."""
    if str(chunk.type) == "double":
        return chunk
    encoded = chunk.dictionary_encode()
    return encoded if 2 * len(encoded.dictionary) <= len(chunk) else chunk


def _joined(chunks: list[Any], kind: Any) -> Any:
    """Return the chunks of a column as one; text as numbers of texts only where all chunks are."""
    import pyarrow as pa

    if len({chunk.type for chunk in chunks}) == 1:
        return pa.chunked_array(chunks).unify_dictionaries()
    return pa.chunked_array([chunk.cast(kind) for chunk in chunks], kind)


def _of_arrow(
    table: Any, where: str, choice: Choice, header: bool = True, index: Any = None
) -> NamedPoints:
    """Read the points of an Arrow table; `index` has the names of rows that are no column of it."""
    names = table.column_names
    parts = roles(where, names, choice, header)
    values = {k: table.column(k) for k in range(table.num_columns)}
    kinds = {k: kind_in_arrow(values[k]) for k in parts.features}
    return PointTable(where, names, values, kinds, header, index=index).points(parts)


def _numpy(path: Path, choice: Choice) -> NamedPoints:
    if choice.by_user:
        raise InputError(
            f"{path}: an array has no named columns; leave out --id, --columns and --label-column."
        )
    try:
        arrays = {"X": read_array(path)} if kind(path) == ".npy" else read_arrays(path)
    except InputError:
        raise
    except Exception as error:  # of numpy, zipfile or zlib
        raise InputError(
            f"{path} is no array that numpy.save or savez wrote, or is cut short ({short(error)}). "
            "Write it again."
        ) from error
    X = arrays.get("X", next(iter(arrays.values())) if len(arrays) == 1 else None)
    if X is None:
        content = short(", ".join(arrays)) or "no arrays"
        raise InputError(f"{path} has {content}, and none called X. Call the points X.")
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InputError(
            f"{path} has an array of shape {X.shape} and type {X.dtype}; points are numbers, with "
            "a row each. Save an array of shape (points, columns)."
        )
    names = arrays.get("names")
    if names is not None and names.shape != (len(X),):
        raise InputError(
            f"{path} has names of shape {names.shape} for {len(X)} points; give one each."
        )
    return _of_array(X.astype(np.float64), names, str(path))


def _of_array(X: NDArray[np.float64], names: NDArray[Any] | None, where: str) -> NamedPoints:
    columns = numbered_columns(X.shape[1])
    check_values(X, columns, where)
    if names is None:
        return NamedPoints(X, np.arange(len(X)), columns, header=False)
    check_names(names, lambda k: f"{where}, row {k + 1}")
    names = names if names.dtype.kind in "iu" else names.astype(object)
    return NamedPoints(X, names, columns, header=False)


def named_points(
    points: Any, *, name: str | None = None, label: str | None = None, or_file: bool = False
) -> NamedPoints:
    """Read points from an array, or a table: of pandas, or one that speaks the Arrow C stream.

    `name` and `label` are columns of a table; `or_file` is as in `read_points`.
    """
    home = type(points).__module__.split(".")[0]
    if home in ("pandas", "polars", "pyarrow") or is_table(points):  # not all of theirs are tables
        return _of_frame(points, home, Choice(name, label, or_file=or_file))
    if name is not None or (label is not None and not or_file):
        raise InputError("An array has no named columns; pass a frame, or leave out their names.")
    X = np.asarray(points, dtype=np.float64)
    if X.ndim != 2:
        raise InputError(f"The points have shape {X.shape}; give one row for each point.")
    return _of_array(X, None, "The points")


def _of_frame(frame: Any, home: str, choice: Choice) -> NamedPoints:
    table = arrow_table(frame, "The points")
    named = home not in ("pandas", "polars", "pyarrow") or column_names(frame) is not None
    index = _index(frame) if home == "pandas" and choice.name is None else None
    return _of_arrow(table, "The points", choice, named, index)


def _index(frame: Any) -> Any:
    """Return the names that the index of a frame of pandas gives to the rows; None: it counts."""
    index = frame.index
    if type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1):
        return None
    names = index.to_numpy()
    return names if names.dtype.kind in "iu" else names.astype(object)

"""Points from CSV, Parquet, .npy and .npz: a row per point, with its name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.io import tables
from robustgc.io.arrays import read_array, read_arrays
from robustgc.io.dialect import Dialect
from robustgc.io.opening import InputError, check_file, kind
from robustgc.io.reasons import line_of
from robustgc.quoting import quoted, short

NAME = ("id", "node", "name", "node_id", "point", "index")


@dataclass(frozen=True)
class NamedPoints:
    """Points, what the user calls them, and the columns they have."""

    X: NDArray[np.float64]
    names: NDArray[Any]
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()


def read_points(
    path: Path,
    *,
    name: str | None = None,
    columns: Sequence[str] | None = None,
    dialect: Dialect | None = None,
) -> NamedPoints:
    """Read points.

    Parameters
    ----------
    path : Path
        .csv, .tsv, .txt, .parquet with a header or without; .npy; .npz with one array, or `X` and
        perhaps `names`.
    name : str or None
        The column with the names of the points. None: one with a usual name (id, node, name), or
        else row numbers from 0.
    columns : sequence of str or None
        The columns that count; None: all others.
    dialect : Dialect or None
        How a text table is written, as far as the user says it.
    """
    check_file(path)
    ending = kind(path)
    if ending in (".npy", ".npz"):
        return _numpy(path, name, columns)
    if ending in tables.PARQUET:
        table = tables.parquet(path)
        names = table.column_names
        values = {k: table.column(k) for k in range(table.num_columns)}
        return _points(path, names, values, name, columns, lambda k: f"{path}, row {k + 1}")
    if ending not in tables.TEXT:
        known = ", ".join([*tables.TEXT, *tables.PARQUET, ".npy", ".npz"])
        raise InputError(
            f"{path}: points come as {known}, not as {ending or 'a file without an ending'}. "
            "Rename or convert it."
        )
    return _text(path, name, columns, dialect)


def _text(
    path: Path, name: str | None, columns: Sequence[str] | None, dialect: Dialect | None
) -> NamedPoints:
    import pyarrow as pa

    look = tables.layout(path, NAME[:3], True if name or columns else None, dialect)
    names = look.names or tuple(f"column {k + 1}" for k in range(look.width))
    label, chosen = _choice(path, names, name, columns)
    types = {k: pa.float64() for k in chosen}
    if label is not None:
        types[label] = pa.string()
    chunks = tables.read(path, look, types)
    values = {k: pa.chunked_array(c, types[k]) for k, c in zip(types, chunks, strict=True)}

    def row(k: int) -> str:
        return f"{path}, line {line_of(path, look.skipped, k, dialect)}"

    return replace(_points(path, names, values, name, columns, row), notes=look.notes)


def _choice(
    path: Path, names: Sequence[str], name: str | None, columns: Sequence[str] | None
) -> tuple[int | None, list[int]]:
    try:
        label = tables.column(names, name, NAME, -1)
        chosen = [tables.column(names, wanted, (), 0) for wanted in columns or ()]
    except InputError as error:
        raise InputError(f"{path}: {error}.") from None
    rest = [k for k in range(len(names)) if k != label]
    if not (chosen or rest):
        raise InputError(f"{path} has names and no columns with numbers. Add some.")
    return (None if label < 0 else label), chosen or rest


def _points(
    path: Path,
    names: Sequence[str],
    values: dict[int, Any],
    name: str | None,
    columns: Sequence[str] | None,
    row: Callable[[int], str],
) -> NamedPoints:
    import pyarrow as pa

    label, chosen = _choice(path, names, name, columns)
    X = np.empty((len(next(iter(values.values()))), len(chosen)))
    for j, k in enumerate(chosen):
        try:
            X[:, j] = values[k].cast(pa.float64(), safe=False).to_numpy()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(
                f"{path}: column {quoted(names[k])} holds {values[k].type}, not numbers. Choose "
                "columns with --columns, or name the one with the points' names with --id."
            ) from None
    check_values(X, [names[k] for k in chosen], str(path), row)
    if label is None:
        return NamedPoints(X, np.arange(len(X)), tuple(names[k] for k in chosen))
    found = np.array(values[label].to_pylist(), dtype=object)
    _check_names(found, row)
    return NamedPoints(X, found, tuple(names[k] for k in chosen))


def check_values(
    X: NDArray[np.float64],
    names: Sequence[str],
    where: str,
    row: Callable[[int], str] | None = None,
) -> None:
    """Refuse values that are missing or not finite, with their place; and no values at all."""
    if not X.size:
        raise InputError(
            f"{where}: the points have shape {X.shape}. Give a row or more, with a column or more."
        )
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        i, j = bad[0]
        what = "missing" if np.isnan(X[i, j]) else "infinite"
        raise InputError(
            f"{row(int(i)) if row else f'{where}, row {i + 1}'}, column {quoted(names[j])}: the "
            f"value is {what} ({len(bad)} such in all). Fill in the values, or leave out such rows "
            "or columns (--columns)."
        )


def _check_names(names: NDArray[Any], row: Callable[[int], str]) -> None:
    seen: dict[str, int] = {}
    for k, name in enumerate(names.tolist()):
        if name is None or name == "":
            raise InputError(f"{row(k)}: a point without a name. Name it.")
        if (first := seen.setdefault(str(name), k)) != k:
            raise InputError(
                f"{row(k)}: the name {quoted(name)} is that of {row(first)} too. Names must "
                "differ; without a column of names rows are numbered from 0."
            )


def _numpy(path: Path, name: str | None, columns: Sequence[str] | None) -> NamedPoints:
    if name or columns:
        raise InputError(f"{path}: an array has no named columns; leave out --id and --columns.")
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
        held = short(", ".join(arrays)) or "no arrays"
        raise InputError(f"{path} has {held}; call the points X.")
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InputError(
            f"{path} has an array of shape {X.shape} and type {X.dtype}; points are numbers, with "
            "a row each. Save an array of shape (points, columns)."
        )
    X = X.astype(np.float64)
    labels = tuple(f"column {k + 1}" for k in range(X.shape[1]))
    check_values(X, labels, str(path))
    names = arrays.get("names", np.arange(len(X)))
    if names.shape != (len(X),):
        raise InputError(
            f"{path} has names of shape {names.shape} for {len(X)} points; give one each."
        )
    _check_names(names, lambda k: f"{path}, row {k + 1}")
    return NamedPoints(X, names if names.dtype.kind in "iu" else names.astype(object), labels)


def named_points(points: Any) -> NamedPoints:
    """Read points from an array, or a table of pandas, polars or pyarrow."""
    home = type(points).__module__.split(".")[0]
    if home in ("pandas", "polars", "pyarrow"):
        names = list(map(str, getattr(points, "column_names", None) or list(points.columns)))
        X = np.asarray(points.to_pandas() if home == "pyarrow" else points, dtype=np.float64)
        index = points.index.to_numpy() if home == "pandas" else np.arange(len(X))
    else:
        X = np.asarray(points, dtype=np.float64)
        names = [f"column {k + 1}" for k in range(X.shape[1])] if X.ndim == 2 else []
        index = np.arange(len(X))
    if X.ndim != 2:
        raise InputError(f"The points have shape {X.shape}; give a row each.")
    check_values(X, names, "The points")
    return NamedPoints(X, index if index.dtype.kind in "iu" else index.astype(object), tuple(names))

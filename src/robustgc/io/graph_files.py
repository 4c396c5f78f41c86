"""Graph files of any kind, each by its own reader; Matrix Market, scipy and folders are here."""

import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.csr import CSR
from robustgc.graph.quoting import quoted, short
from robustgc.io import arrow_tables, edge_tables, limits, objects, tables
from robustgc.io.dialect import Dialect, not_used
from robustgc.io.edge_lists import read_adjacency_list, read_edge_list
from robustgc.io.matrices import read_matrix
from robustgc.io.named import NamedGraph
from robustgc.io.network_files import read_network
from robustgc.io.node_link import read_node_link
from robustgc.io.opening import InnerFile, InputError, check_file, kind, notes_of, whole
from robustgc.io.pajek import read_pajek
from robustgc.io.sources import source as source_of

_MATRICES = (".mtx", ".npz")
_AGAIN = "Write the folder again."
_NAMES = 12  # bytes of memory for a byte of names that become Python objects, about
_COMMENTS = re.compile(rb"(?:%.*\n|\s*\n)*")
_NO_NUMBER = re.compile(rb"[^0-9+\-.eE \t\r\n]|[eE](?![+-]?[0-9])")


def read_graph(
    path: Path,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    symmetrise: str | None = None,
    sheet: str | None = None,
    dialect: Dialect | None = None,
) -> NamedGraph:
    """Read a graph from a file, by its ending, or from a folder that `build_csr` wrote.

    Parameters
    ----------
    path : Path
        .csv, .tsv, .txt, .edges, .parquet, .feather, .arrow, .jsonl, .xlsx with a row per edge;
        .graphml, .gml, .gexf, .net, .paj, .edgelist, .ncol, .adjlist, .mtx, .npz, .json; also with
        .gz or .zst, or as the one file of a .zip; ``-`` is standard input.
    source, target, weight : str or None
        Names of the columns of a table, and of the edge attribute of other files.
    symmetrise : {None, "mean", "max", "sum"}
        What to do where the two directions of an edge differ; None: refuse.
    sheet : str or None
        Which sheet of a spreadsheet; None: the first that is not empty.
    dialect : Dialect or None
        How a text table is written, as far as the user says it.
    """
    if os.path.isdir(path):
        return _folder(path)
    path = source_of(path, sheet, dialect)
    columns = {"source": source, "target": target, "weight": weight}
    unused = _not_used(path, dialect)
    graph = _of_file(path, symmetrise=symmetrise, dialect=dialect, **columns)
    return replace(graph, notes=(*notes_of(path), *unused, *graph.notes))


def _not_used(path: Path, dialect: Dialect | None) -> tuple[str, ...]:
    """Say what of the dialect a file has no use for; refuse a header where there are no rows."""
    ending = kind(path)
    if isinstance(path, InnerFile) and path.dialect is not None:  # a sheet, which may have a header
        return not_used(dialect and replace(dialect, header=None), path, "a spreadsheet")
    known = ending in arrow_tables.TYPED or ending in READERS
    if not known or READERS.get(ending) is read_edge_list:
        return ()
    return not_used(dialect, path, f"a {ending} file")


def _of_file(
    path: Path,
    *,
    source: str | None,
    target: str | None,
    weight: str | None,
    symmetrise: str | None,
    dialect: Dialect | None,
) -> NamedGraph:
    ending = kind(path)
    columns = {"source": source, "target": target, "weight": weight, "symmetrise": symmetrise}
    if ending in tables.TEXT:
        return edge_tables.read_text(path, dialect=dialect, **columns)
    check_file(path)
    if ending in arrow_tables.TYPED:
        return edge_tables.from_arrow(arrow_tables.read_typed(path), str(path), **columns)
    reader = READERS.get(ending)
    if reader is None:
        known = ", ".join([*tables.TEXT, *arrow_tables.TYPED, ".xlsx", *READERS])
        raise InputError(
            f"{path}: files that end in {ending or 'nothing'!r} are unknown; known are {known}, "
            "also with .gz, .zst or .zip, and folders that `robustgc convert` wrote. Rename or "
            "convert it."
        )
    if source is not None or target is not None:
        raise InputError(
            f"{path}: --source and --target name columns of a table, and a {ending} file has none. "
            "Leave them out."
        )
    if weight is not None and ending in _MATRICES:
        raise InputError(f"{path}: {objects.NO_ATTRIBUTES}")
    if reader is read_edge_list:
        return read_edge_list(path, weight, symmetrise, dialect)
    return reader(path, weight, symmetrise)


def _folder(path: Path) -> NamedGraph:
    try:
        graph = CSR.open(path)
    except (OSError, ValueError) as error:
        raise InputError(short(error, 1000)) from error
    names = folder_names(path, graph.shape[0])
    return NamedGraph(graph, np.arange(graph.shape[0]) if names is None else names)


def folder_names(path: Path, n_nodes: int) -> NDArray[Any] | None:
    """Return the names that a graph folder gives its nodes; None: they are numbered."""
    names = path / "names.json"
    if not names.is_file():
        return None
    try:
        known = json.loads(whole(names, factor=_NAMES, what="names").read())
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"{names} is damaged ({short(error)}). {_AGAIN}") from error
    if not isinstance(known, list):
        raise InputError(f"{names} is damaged: it is no list of names. {_AGAIN}")
    known = [tuple(name) if isinstance(name, list) else name for name in known]
    for k, name in enumerate(known):
        parts = name if isinstance(name, tuple) else (name,)
        if not all(isinstance(part, str | int | float) for part in parts):
            raise InputError(
                f"{names}: name {k + 1} is {quoted(name)}. Names are text or numbers, or lists of "
                f"them. {_AGAIN}"
            )
    count = len(set(map(str, known)))
    if count != n_nodes:
        raise InputError(f"{names} has {count} names for {n_nodes} nodes. {_AGAIN}")
    return objects.as_names(known)


def _matrix_market(path: Path, weight: str | None, symmetrise: str | None) -> NamedGraph:
    import scipy.io

    content = whole(path)
    content.seek(0, io.SEEK_END)
    content.write(b"\n")
    text = content.getvalue()
    try:
        _check_claims(path, scipy.io.mminfo(io.BytesIO(text)), len(text))
        # Looked at first: scipy reads 00x as 0, and dies, and Python with it, of 5E- or a NUL.
        comments = _COMMENTS.match(text)
        if wrong := _NO_NUMBER.search(text, comments.end() if comments else 0):
            line = text[: wrong.start()].count(b"\n") + 1
            raise ValueError(f"line {line} has other things than finite numbers")
        matrix = scipy.io.mmread(io.BytesIO(text))
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{path} is no Matrix Market file, or is cut short ({short(error)}). Write it again, "
            "or rename it."
        ) from error
    return objects.from_matrix(matrix, symmetrise=symmetrise, where=str(path))


def _check_claims(path: Path, claims: Any, size: int) -> None:
    """Refuse a header that claims more entries than the bytes can be, or too many nodes."""
    rows, columns, entries, layout, _, symmetry = claims
    least = 2 if layout == "array" else 4  # bytes: a digit and a line end, or two and their spaces
    if entries * least > size * (2 if symmetry != "general" else 1):
        raise InputError(
            f"{path}: its header claims {entries} entries, which is more than its {size} bytes can "
            "hold. It is damaged, or cut short; write it again."
        )
    if layout != "array":
        entries *= 2 if symmetry != "general" else 1
        limits.check_nodes(str(path), max(rows, columns), entries, size)


def _scipy(path: Path, weight: str | None, symmetrise: str | None) -> NamedGraph:
    try:
        matrix = read_matrix(path)
    except InputError:
        raise
    except Exception as error:  # of numpy, zipfile or zlib
        raise InputError(
            f"{path} is no sparse matrix that scipy.sparse.save_npz wrote, or is cut short "
            f"({short(error)}). Write it again; for points use --points."
        ) from error
    return objects.from_matrix(matrix, symmetrise=symmetrise, where=str(path))


READERS: dict[str, Callable[[Path, str | None, str | None], NamedGraph]] = {
    ".graphml": read_network,
    ".gml": read_network,
    ".gexf": read_network,
    ".net": read_pajek,
    ".paj": read_pajek,
    ".edgelist": read_edge_list,
    ".ncol": read_edge_list,
    ".adjlist": read_adjacency_list,
    ".mtx": _matrix_market,
    ".npz": _scipy,
    ".json": read_node_link,
}

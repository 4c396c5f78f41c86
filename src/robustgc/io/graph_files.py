"""Graphs from files and folders, each by its own reader, and to them, whole or not at all."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.graph.atomic import new_folder, together
from robustgc.graph.csr import CSR
from robustgc.graph.quoting import quoted, short
from robustgc.graph.weights import check_weights
from robustgc.io import arrow_tables, edge_tables, objects, tables
from robustgc.io.adjacency import Matrix
from robustgc.io.arrays import read_matrix_market, read_scipy
from robustgc.io.dialect import Dialect, not_used
from robustgc.io.edge_columns import Wanted
from robustgc.io.named import NamedGraph, as_names
from robustgc.io.network_files import (
    read_adjacency_list,
    read_edge_list,
    read_network,
    read_node_link,
)
from robustgc.io.opening import (
    InnerFile,
    InputError,
    check_file,
    check_target,
    kind,
    notes_of,
    replacing,
    unwritten,
    whole,
)
from robustgc.io.pajek import read_pajek
from robustgc.io.sources import source as source_of
from robustgc.io.writing import TABLES, check_table, write_table

_AGAIN = "Write the folder again."
_NAMES = 12  # bytes of memory for a byte of names that become Python objects, about


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
        return _read_folder(path)
    path = source_of(path, sheet, dialect)
    unused, where = _not_used(path, dialect), str(path)
    content = _read_content(path, Wanted(source, target, weight), dialect)
    if isinstance(content, edge_tables.Edges | Matrix):
        graph = edge_tables.graph_of(content, symmetrise, where)
    elif isinstance(content, objects.Lists):
        graph = objects.from_lists(content, weight, symmetrise, where)
    else:
        graph = objects.from_matrix(content, symmetrise=symmetrise, where=where)
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


def _read_content(path: Path, wanted: Wanted, dialect: Dialect | None) -> Any:
    """Return what a file has: edges or a matrix of a table, lists, or a sparse matrix."""
    ending = kind(path)
    if ending in tables.TEXT:
        return edge_tables.read_text(path, wanted, dialect)
    check_file(path)
    if ending in arrow_tables.TYPED:
        return edge_tables.read_arrow(arrow_tables.read_typed(path), str(path), wanted)
    reader = READERS.get(ending)
    if reader is None:
        known = ", ".join([*tables.TEXT, *arrow_tables.TYPED, ".xlsx", *READERS])
        raise InputError(
            f"{path}: files that end in {ending or 'nothing'!r} are unknown; known are {known}, "
            "also with .gz, .zst or .zip, and folders that `robustgc convert` wrote. Rename or "
            "convert it."
        )
    if wanted.source is not None or wanted.target is not None:
        raise InputError(
            f"{path}: --source and --target name columns of a table, and a {ending} file has none. "
            "Leave them out."
        )
    if reader is read_edge_list:
        return read_edge_list(path, wanted.weight, dialect)
    if wanted.weight is not None and ending in NO_WEIGHT:
        raise InputError(f"{path}: {NO_WEIGHT[ending]}")
    return reader(path)


def _read_folder(path: Path) -> NamedGraph:
    graph = open_folder(path)
    names = folder_names(path, graph.shape[0])
    return NamedGraph(graph, np.arange(graph.shape[0]) if names is None else names)


def open_folder(path: Path) -> CSR:
    """Open the weights of a graph folder."""
    try:
        return CSR.open(path)
    except (OSError, ValueError) as error:
        raise InputError(short(error, 1000)) from error


def folder_names(path: Path, n_nodes: int) -> NDArray[Any] | None:
    """Return the names that a graph folder gives its nodes; None: they are numbered."""
    names = path / "names.json"
    if not names.is_file():
        return None
    text = whole(names, factor=_NAMES, what="names").read()
    try:
        known = json.loads(text)
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
    return as_names(known)


# They return lists or a matrix, but for `read_edge_list`, which may find a table.
READERS: dict[str, Callable[..., Any]] = {
    ".graphml": read_network,
    ".gml": read_network,
    ".gexf": read_network,
    ".net": read_pajek,
    ".paj": read_pajek,
    ".edgelist": read_edge_list,
    ".ncol": read_edge_list,
    ".adjlist": read_adjacency_list,
    ".mtx": read_matrix_market,
    ".npz": read_scipy,
    ".json": read_node_link,
}
# Endings that have no edge attributes to choose from, and why.
NO_WEIGHT = {
    **dict.fromkeys((".mtx", ".npz"), objects.NO_ATTRIBUTES),
    **dict.fromkeys(
        (".net", ".paj"),
        "the lines of a Pajek file have one value, which is the weight; leave out --weight.",
    ),
    ".adjlist": "an adjacency list has no weights; leave out --weight.",
}


def write_graph(graph: NamedGraph, path: Path, *, excel: bool = False) -> None:
    """Write a graph by the ending of the path; without a known one, a folder."""
    check_graph(path, excel=excel)
    W = check_weights(graph.W)
    ending = path.suffix.lower()
    if ending in TABLES:
        _write_edges(W, graph.names, path, excel)
    elif ending:
        _write_matrix(W, graph, path)
    else:
        _write_folder(W if isinstance(W, CSR) else CSR.from_scipy(sp.csr_array(W)), graph, path)


def check_graph(path: Path, *, excel: bool = False) -> None:
    """Refuse, before the work, a graph that could not be written."""
    ending = path.suffix.lower()
    if excel and ending not in (".csv", ".tsv", ".xlsx"):
        raise InputError(f"{path}: graphs for spreadsheets are .csv, .tsv or .xlsx. Rename it.")
    if ending not in (*TABLES, ".npz", ".mtx", ""):
        raise InputError(
            f"{path}: graphs are written as {', '.join(TABLES)}, .npz, .mtx, or as a folder (a "
            "name without an ending). Rename it."
        )
    if ending in TABLES:
        check_table(path, excel=excel)
    elif ending:
        check_target(path)
    elif path.exists():
        raise InputError(f"{path} exists already; remove it or choose another name.")


def _write_edges(W: Any, names: Any, path: Path, excel: bool) -> None:
    upper = sp.triu(_as_scipy(W), format="coo")  # every edge once
    columns = {"source": names[upper.row], "target": names[upper.col]}
    if not (upper.data == 1).all():
        columns["weight"] = upper.data
    write_table(path, columns, excel=excel)


def _write_matrix(W: Any, graph: NamedGraph, path: Path) -> None:
    import scipy.io  # slow to import

    names = path.with_name(path.name + ".names.csv")
    named = not _counted(graph.names)
    with together([path, names] if named else [path]):  # both, or none
        with replacing(path) as file:
            if path.suffix.lower() == ".npz":
                sp.save_npz(file, _as_scipy(W))
            else:
                scipy.io.mmwrite(file, _as_scipy(W), symmetry="symmetric")
        if named:
            write_table(names, {"row": np.arange(len(graph.names)), "node": graph.names})


def _write_folder(W: CSR, graph: NamedGraph, path: Path) -> None:
    try:
        with new_folder(path) as partial:
            if not _counted(graph.names):
                text = json.dumps(graph.names.tolist(), ensure_ascii=False)
                (partial / "names.json").write_text(text, encoding="utf-8")
            W.fill(partial)
    except FileExistsError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        unwritten(path, error)


def _counted(names: Any) -> bool:
    """Whether the names are the numbers that nodes have anyway."""
    return names.dtype.kind in "iu" and bool((names == np.arange(len(names))).all())


def _as_scipy(W: Any) -> Any:
    return W.to_scipy() if isinstance(W, CSR) else sp.csr_array(W)

"""Graph files of others: GraphML, GML, Matrix Market, scipy, node-link JSON, folders."""

import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.csr import CSR
from robustgc.io import edge_tables, limits, objects, tables
from robustgc.io.dialect import Dialect
from robustgc.io.matrices import read_matrix
from robustgc.io.named import NamedGraph
from robustgc.io.opening import InputError, check_file, kind, whole
from robustgc.quoting import quoted, short

_AGAIN = "Write the folder again."
# Bytes of memory for a byte of text where all of it becomes Python objects: measured 14 (JSON), 22
# (GML) and 31 (GraphML) for 120,000 edges; and for names, about.
_OBJECTS, _NAMES = 30, 12
_COMMENTS = re.compile(rb"(?:%.*\n|\s*\n)*")
_NO_NUMBER = re.compile(rb"[^0-9+\-.eE \t\r\n]|[eE](?![+-]?[0-9])")


def read_graph(
    path: Path,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    symmetrise: str | None = None,
    dialect: Dialect | None = None,
) -> NamedGraph:
    """Read a graph from a file, by its ending, or from a folder that `build_csr` wrote.

    Parameters
    ----------
    path : Path
        .csv, .tsv, .txt, .edges, .parquet with a row per edge; .graphml, .gml, .mtx, .npz, .json;
        text also with .gz or .zst.
    source, target, weight : str or None
        Names of the columns of a table, and of the edge attribute of other files.
    symmetrise : {None, "mean", "max", "sum"}
        What to do where the two directions of an edge differ; None: refuse.
    dialect : Dialect or None
        How a text table is written, as far as the user says it.
    """
    if os.path.isdir(path):
        return _folder(path)
    ending = kind(path)
    columns = {"source": source, "target": target, "weight": weight, "symmetrise": symmetrise}
    if ending in tables.TEXT:
        return edge_tables.read_text(path, dialect=dialect, **columns)
    if ending in tables.PARQUET:
        return edge_tables.from_arrow(tables.parquet(path), str(path), **columns)
    check_file(path)
    reader = READERS.get(ending)
    if reader is None:
        known = ", ".join([*tables.TEXT, *tables.PARQUET, *READERS])
        raise InputError(
            f"{path}: files that end in {ending or 'nothing'!r} are unknown; known are {known}, "
            "also with .gz or .zst, and folders that `robustgc convert` wrote. Rename or convert "
            "it."
        )
    return reader(path, weight or "weight", symmetrise)


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


def _networkx(path: Path, weight: str, symmetrise: str | None) -> NamedGraph:
    import networkx as nx

    content = whole(path, factor=_OBJECTS, what=f"{kind(path)[1:].upper()}")
    try:
        if kind(path) == ".graphml":
            graph = nx.read_graphml(content)
        else:
            graph = _gml(nx, content.read().decode("utf-8-sig").splitlines())
    except UnicodeDecodeError as error:
        line = content.getvalue()[: error.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: not UTF-8. Save the file as UTF-8.") from error
    except Exception as error:  # the parsers raise what they like
        raise InputError(
            f"{path} is not the {kind(path)[1:].upper()} file that its ending says, or is cut "
            f"short ({short(f'{type(error).__name__}: {error}')}). Write it again, or rename it."
        ) from error
    return objects.from_networkx(graph, weight=weight, symmetrise=symmetrise, where=str(path))


def _gml(nx: Any, lines: list[str]) -> Any:
    try:
        return nx.parse_gml(lines, label="label")
    except nx.NetworkXError:  # no labels, or two alike: the numbers of the nodes then
        return nx.parse_gml(lines, label="id")


def _node_link(path: Path, weight: str, symmetrise: str | None) -> NamedGraph:
    try:
        data = json.loads(whole(path, factor=_OBJECTS, what="JSON").read())
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is no JSON, or is cut short ({short(error)}). Write it again, or rename it."
        ) from error
    links = data.get("links", data.get("edges")) if isinstance(data, dict) else None
    nodes = data.get("nodes") if isinstance(data, dict) else None
    if not isinstance(links, list) or not isinstance(nodes, list):
        raise InputError(
            f"{path} is no node-link JSON: it needs lists `nodes` and `links` (or `edges`), as "
            "NetworkX's node_link_data writes them."
        )
    try:
        names = [node["id"] for node in nodes]
        edges = [(link["source"], link["target"], link.get(weight)) for link in links]
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{path}: every node needs an `id`, every link a `source` and a `target` "
            f"({short(f'{type(error).__name__}: {error}')}). Add what is missing."
        ) from error
    ends = (end for edge in edges for end in edge[:2])
    odd = next((name for name in (*names, *ends) if not isinstance(name, str | int | float)), "")
    if odd != "":
        raise InputError(
            f"{path}: a node is called {quoted(odd)}. Names are text or numbers; change it."
        )
    found = sorted({key for node in nodes for key in node if key != "id"})
    attributes = {key: [node.get(key) for node in nodes] for key in found}
    return objects.from_edges(names, edges, attributes, symmetrise=symmetrise, where=str(path))


def _matrix_market(path: Path, weight: str, symmetrise: str | None) -> NamedGraph:
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


def _scipy(path: Path, weight: str, symmetrise: str | None) -> NamedGraph:
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


READERS: dict[str, Callable[[Path, str, str | None], NamedGraph]] = {
    ".graphml": _networkx,
    ".gml": _networkx,
    ".mtx": _matrix_market,
    ".npz": _scipy,
    ".json": _node_link,
}

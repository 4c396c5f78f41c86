"""Edge lists and adjacency lists as NetworkX and igraph write them: words between spaces."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from robustgc.graph.quoting import quoted
from robustgc.io import edge_tables, objects
from robustgc.io.dialect import Dialect, not_used
from robustgc.io.edge_attributes import attribute_columns
from robustgc.io.heads import SAMPLE
from robustgc.io.layouts import INTEGER
from robustgc.io.named import NamedGraph
from robustgc.io.network_files import OBJECTS, not_utf8
from robustgc.io.opening import InputError, opened, whole

_DATA = re.compile(r"(\S+)\s+(\S+)\s+(\{.*\})\s*")


def read_edge_list(
    path: Path, weight: str | None, symmetrise: str | None, dialect: Dialect | None = None
) -> NamedGraph:
    """Read a row per edge: two nodes, and perhaps a weight or a dictionary of attributes."""
    with opened(path) as stream:
        head = stream.read(SAMPLE)
    first = next((line for line in head.splitlines() if line.strip() and line[:1] != b"#"), b"")
    if not first.rstrip().endswith(b"}"):
        dialect = dialect or Dialect()
        plain = replace(dialect, header=bool(dialect.header))  # none by definition
        return edge_tables.read_text(path, weight=weight, symmetrise=symmetrise, dialect=plain)
    notes = not_used(dialect, path, "a list with dictionaries")
    pairs, records = [], []
    for where, line in _lines(path, "edges"):
        u, v, data = _edge(where, line)
        pairs.append((u, v))
        records.append(data)
    names, pairs = _numbers(list(dict.fromkeys(end for pair in pairs for end in pair)), pairs)
    columns = attribute_columns(records)
    graph = objects.from_columns(
        names, pairs, columns, {}, weight=weight, symmetrise=symmetrise, where=str(path)
    )
    return replace(graph, notes=(*notes, *graph.notes))


def read_adjacency_list(path: Path, weight: str | None, symmetrise: str | None) -> NamedGraph:
    """Read a row per node: the node, then its neighbours."""
    if weight is not None:
        raise InputError(f"{path}: an adjacency list has no weights; leave out --weight.")
    names: dict[str, None] = {}
    pairs = []
    for where, line in _lines(path, "neighbours"):
        if "{" in line or "," in line:
            raise InputError(
                f"{where}: {quoted(line)} is no row of an adjacency list, which has a node and its "
                "neighbours between spaces. If it is a table of edges, name it .edgelist or .csv."
            )
        node, *neighbours = line.split()
        names.update(dict.fromkeys((node, *neighbours)))
        pairs += [(node, other) for other in neighbours]
    known, pairs = _numbers(list(names), pairs)
    return objects.from_columns(
        known, pairs, {}, {}, weight=None, symmetrise=symmetrise, where=str(path)
    )


def _lines(path: Path, what: str) -> Iterator[tuple[str, str]]:
    """Yield the lines that are no comments, each with its place."""
    content = whole(path, factor=OBJECTS, what=what).getvalue()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path, content, error) from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and line.lstrip()[0] != "#":
            yield f"{path}, line {number}", line.strip()


def _edge(where: str, line: str) -> tuple[str, str, dict[Any, Any]]:
    parts = _DATA.fullmatch(line)
    if parts is None:
        raise InputError(
            f"{where}: {quoted(line)} is no edge of this list, which has two nodes and a "
            "dictionary such as {'weight': 1.0} on every line. Names hold no spaces there; write "
            "the graph as .graphml or .csv if they do."
        )
    try:
        data = ast.literal_eval(parts[3])  # constants only: nothing is run
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        data = None
    if not isinstance(data, dict):
        raise InputError(
            f"{where}: {quoted(parts[3])} is no dictionary of text and numbers, such as "
            "{'weight': 1.0}. Correct it, or leave it out."
        )
    return parts[1], parts[2], data


def _numbers(
    names: list[Any], pairs: list[tuple[Any, Any]]
) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """Return whole numbers where every name is one, written the usual way, as tables have them."""
    if not all(map(INTEGER.fullmatch, names)):
        return names, pairs
    return list(map(int, names)), [(int(u), int(v)) for u, v in pairs]

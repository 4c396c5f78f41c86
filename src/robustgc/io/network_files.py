"""Graphs as NetworkX and other programs write them, read into objects of Python.

GraphML, GML and GEXF are parsed by NetworkX; node-link JSON, edge lists with attributes and
adjacency lists are read here.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from robustgc.graph.quoting import quoted, short
from robustgc.io import edge_tables
from robustgc.io.adjacency import Matrix
from robustgc.io.dialect import Dialect, not_used
from robustgc.io.edge_columns import Wanted
from robustgc.io.edge_tables import Edges
from robustgc.io.heads import SAMPLE
from robustgc.io.named import numbers_or_text
from robustgc.io.objects import Lists, attribute_columns, networkx_lists
from robustgc.io.opening import InputError, kind, opened, whole

# Bytes of memory for a byte of text where all of it becomes Python objects: measured 14 (JSON), 22
# (GML) and 31 (GraphML) for 120,000 edges.
_OBJECTS = 30
BY_LABEL = "nodes are called by their labels; their ids are the node attribute 'id'"
_ENDS = ("source", "target")
_NAMES = ("id", "name", "label")  # keys that name a node, the best first
_DATA = re.compile(r"(\S+)\s+(\S+)\s+(\{.*\})\s*")


def read_network(path: Path) -> Lists:
    """Read a GraphML, GML or GEXF file."""
    ending = kind(path)
    name = ending[1:].upper()
    content = whole(path, factor=_OBJECTS, what=name)
    try:
        graph = _parsed(ending, content)
    except UnicodeDecodeError as error:
        raise _not_utf8(path, content.getvalue(), error) from error
    except Exception as error:  # the parsers raise what they like
        raise InputError(
            f"{path} is not the {name} file that its ending says, or is cut short "
            f"({short(f'{type(error).__name__}: {error}')}). Write it again, or rename it."
        ) from error
    notes: tuple[str, ...] = ()
    if ending != ".graphml":  # its nodes have names of their own: labels are one more attribute
        graph, notes = _with_labels(graph)
    if ending == ".gml" and notes == (BY_LABEL,):  # ids there are how the file counts its nodes
        notes = ()
    return networkx_lists(graph)._replace(notes=notes)


def lines_of(path: Path, what: str, comments: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the lines of a text that are neither empty nor comments, each with its place.

    The text becomes Python objects: `what` it holds is for the message where it is too large.
    """
    content = whole(path, factor=_OBJECTS, what=what).getvalue()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, content, error) from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith(comments):
            yield f"{path}, line {number}", line.strip()


def _not_utf8(path: Path, text: bytes, error: UnicodeDecodeError) -> InputError:
    """Return an error that names the line of the first byte that is no UTF-8."""
    line = text[: error.start].count(b"\n") + 1
    return InputError(f"{path}, line {line}: not UTF-8. Save the file as UTF-8.")


def _parsed(ending: str, content: Any) -> Any:
    import networkx as nx

    if ending == ".graphml":
        return nx.read_graphml(content)
    if ending == ".gexf":
        return nx.read_gexf(content)
    return nx.parse_gml(content.read().decode("utf-8-sig").splitlines(), label="id")


def _with_labels(graph: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a NetworkX graph whose nodes have their labels for names, where no two are the same.

    The other way to call them stays, as the node attribute `id` or `label`.
    """
    import networkx as nx

    ids = list(graph.nodes)
    labels = [data.get("label") for _, data in graph.nodes(data=True)]
    use, notes = naming(ids, labels)
    if use:
        for name, data in graph.nodes(data=True):
            data["id"] = name
            del data["label"]
        graph = nx.relabel_nodes(graph, dict(zip(ids, labels, strict=True)))
    return graph, notes


def naming(ids: Sequence[Any], labels: Sequence[Any]) -> tuple[bool, tuple[str, ...]]:
    """Tell whether labels can be the names of nodes, and what the user should know of it."""
    texts = [str(label) for label in labels if label is not None and str(label).strip()]
    if not texts or list(map(str, labels)) == list(map(str, ids)):
        return False, ()
    if len(texts) == len(ids) == len(set(texts)):
        return True, (BY_LABEL,)
    twice = next((label for label, times in Counter(texts).items() if times > 1), None)
    why = "some nodes have none" if twice is None else f"{quoted(twice, 60)} is there twice"
    note = f"the labels of the nodes do not tell them apart ({why}): they are called by their ids"
    return False, (note,)


def read_node_link(path: Path) -> Lists:
    """Read node-link JSON: every node has an `id`, every link a `source` and a `target`."""
    nodes, links = _lists(path)
    key = _name_key(nodes)
    try:
        names = [node[key] for node in nodes]
        pairs = [(link["source"], link["target"]) for link in links]
        columns = attribute_columns(
            {name: value for name, value in link.items() if name not in _ENDS} for link in links
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: every node needs an `id`, every link a `source` and a `target` "
            f"({short(f'{type(error).__name__}: {error}')}). Add what is missing."
        ) from error
    _check_names(path, [*names, *(end for pair in pairs for end in pair)])
    pairs, notes = _resolved(names, pairs)
    if key != "id":
        notes = (f"nodes have no `id`: they are called by their `{key}`", *notes)
    others = sorted({other for node in nodes for other in node if other != key})
    attributes = {other: [node.get(other) for node in nodes] for other in others}
    return Lists(names, pairs, columns, attributes, notes)


def _lists(path: Path) -> tuple[list[Any], list[Any]]:
    text = whole(path, factor=_OBJECTS, what="JSON").read()
    try:
        data = json.loads(text)
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
    return nodes, links


def _name_key(nodes: Sequence[Any]) -> str:
    """Return the key that names the nodes: `id`, or where no node has one the next that all have.

    Pages drawn with early versions of D3 have nodes with a `name`, and links by their place.
    """
    if not all(isinstance(node, dict) and "id" not in node for node in nodes):
        return "id"
    return next((key for key in _NAMES if all(key in node for node in nodes)), "id")


def _check_names(path: Path, names: Sequence[Any]) -> None:
    for name in names:
        if not isinstance(name, str | int | float):
            raise InputError(
                f"{path}: a node is called {quoted(name)}. Names are text or numbers; change it."
            )


def _resolved(
    names: Sequence[Any], pairs: list[tuple[Any, Any]]
) -> tuple[list[tuple[Any, Any]], tuple[str, ...]]:
    """Return links by the names of their nodes, where they have places in the list instead.

    Names are compared as text. Links that fit neither way come back as they are.
    """
    by_text = {str(name): name for name in names}
    ends = {end for pair in pairs for end in pair}
    if all(str(end) in by_text for end in ends):
        return [(by_text[str(u)], by_text[str(v)]) for u, v in pairs], ()
    text_only = all(isinstance(name, str) for name in names)
    if text_only and all(type(end) is int and 0 <= end < len(names) for end in ends):
        note = f"links name nodes by their place in the list: 0 is {quoted(names[0], 60)}"
        return [(names[u], names[v]) for u, v in pairs], (note,)
    return pairs, ()


def read_edge_list(
    path: Path, weight: str | None, dialect: Dialect | None
) -> Lists | Edges | Matrix:
    """Read a row per edge: two nodes, and perhaps a weight or a dictionary of attributes."""
    with opened(path) as stream:
        head = stream.read(SAMPLE)
    first = next((line for line in head.splitlines() if line.strip() and line[:1] != b"#"), b"")
    if not first.rstrip().endswith(b"}"):
        dialect = dialect or Dialect()
        plain = replace(dialect, header=bool(dialect.header))  # none by definition
        return edge_tables.read_text(path, Wanted(weight=weight), plain)
    notes = not_used(dialect, path, "a list with dictionaries")
    pairs, records = [], []
    for where, line in lines_of(path, "edges", ("#",)):
        u, v, data = _edge(where, line)
        pairs.append((u, v))
        records.append(data)
    names = dict.fromkeys(end for pair in pairs for end in pair)
    return _named_by_text(names, pairs, attribute_columns(records))._replace(notes=notes)


def read_adjacency_list(path: Path) -> Lists:
    """Read a row per node: the node, then its neighbours."""
    names: dict[str, None] = {}
    pairs = []
    for where, line in lines_of(path, "neighbours", ("#",)):
        if "{" in line or "," in line:
            raise InputError(
                f"{where}: {quoted(line)} is no row of an adjacency list, which has a node and its "
                "neighbours between spaces. If it is a table of edges, name it .edgelist or .csv."
            )
        node, *neighbours = line.split()
        names.update(dict.fromkeys((node, *neighbours)))
        pairs += [(node, other) for other in neighbours]
    return _named_by_text(names, pairs, {})


def _named_by_text(
    texts: Iterable[str], pairs: list[tuple[str, str]], columns: dict[str, list[Any]]
) -> Lists:
    """Return lists whose names are whole numbers where all of them are, as in tables, else text."""
    texts = list(texts)
    names = numbers_or_text(texts)
    known = dict(zip(texts, names, strict=True))
    return Lists(names, [(known[u], known[v]) for u, v in pairs], columns)


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

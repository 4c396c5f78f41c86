"""Graphs in JSON, as NetworkX and pages drawn with D3 have them: lists of nodes and of links."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from robustgc.graph.quoting import quoted, short
from robustgc.io import objects
from robustgc.io.edge_attributes import attribute_columns
from robustgc.io.named import NamedGraph
from robustgc.io.network_files import OBJECTS
from robustgc.io.opening import InputError, whole

_ENDS = ("source", "target")
_NAMES = ("id", "name", "label")  # keys that name a node, the best first


def read_node_link(path: Path, weight: str | None, symmetrise: str | None) -> NamedGraph:
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
    return objects.from_columns(
        names, pairs, columns, attributes,
        weight=weight, symmetrise=symmetrise, where=str(path), notes=notes,
    )  # fmt: skip


def _lists(path: Path) -> tuple[list[Any], list[Any]]:
    try:
        data = json.loads(whole(path, factor=OBJECTS, what="JSON").read())
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

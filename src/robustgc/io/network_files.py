"""GraphML, GML and GEXF, read by NetworkX; nodes are called as their users see them."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from robustgc.graph.quoting import quoted, short
from robustgc.io import objects
from robustgc.io.named import NamedGraph
from robustgc.io.opening import InputError, kind, whole

# Bytes of memory for a byte of text where all of it becomes Python objects: measured 14 (JSON), 22
# (GML) and 31 (GraphML) for 120,000 edges.
OBJECTS = 30
BY_LABEL = "nodes are called by their labels; their ids are the node attribute 'id'"


def read_network(path: Path, weight: str | None, symmetrise: str | None) -> NamedGraph:
    """Read a GraphML, GML or GEXF file."""
    ending = kind(path)
    content = whole(path, factor=OBJECTS, what=ending[1:].upper())
    try:
        graph = _parsed(ending, content)
    except UnicodeDecodeError as error:
        raise not_utf8(path, content.getvalue(), error) from error
    except Exception as error:  # the parsers raise what they like
        raise InputError(
            f"{path} is not the {ending[1:].upper()} file that its ending says, or is cut "
            f"short ({short(f'{type(error).__name__}: {error}')}). Write it again, or rename it."
        ) from error
    notes: tuple[str, ...] = ()
    if ending != ".graphml":  # its nodes have names of their own: labels are one more attribute
        graph, notes = _with_labels(graph)
    if ending == ".gml" and notes == (BY_LABEL,):  # ids there are how the file counts its nodes
        notes = ()
    return objects.from_networkx(
        graph, weight=weight, symmetrise=symmetrise, where=str(path), notes=notes
    )


def not_utf8(path: Path, text: bytes, error: UnicodeDecodeError) -> InputError:
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
    given = [label for label in labels if label is not None and str(label).strip()]
    if not given or list(map(str, labels)) == list(map(str, ids)):
        return False, ()
    if len(given) == len(ids) == len(set(map(str, given))):
        return True, (BY_LABEL,)
    twice = next((label for label, times in Counter(map(str, given)).items() if times > 1), None)
    why = "some nodes have none" if twice is None else f"{quoted(twice, 60)} is there twice"
    note = f"the labels of the nodes do not tell them apart ({why}): they are called by their ids"
    return False, (note,)

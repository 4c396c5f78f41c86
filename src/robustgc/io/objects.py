"""Graph objects of other libraries -> a graph with named nodes; none of them is imported here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from robustgc.graph.csr import CSR
from robustgc.graph.quoting import listed, quoted, short
from robustgc.graph.structure import check_sparse
from robustgc.graph.weights import check_weights
from robustgc.io import limits
from robustgc.io.arrow_tables import arrow_table, is_table
from robustgc.io.edge_columns import WEIGHT, Wanted
from robustgc.io.edge_tables import graph_of, read_arrow
from robustgc.io.errors import InputError
from robustgc.io.named import NamedGraph, as_names
from robustgc.io.rows import WAYS, assemble, check_edge_weights, edge_name

KINDS = (
    "a NetworkX or igraph graph, a scipy matrix or numpy array of weights, a robustgc.CSR, a "
    "table of edges (of pandas, polars, pyarrow, DuckDB: whatever speaks the Arrow C stream), a "
    "PyTorch Geometric Data, or an edge_index of shape (2, edges)"
)

NO_ATTRIBUTES = (
    "a matrix has its weights and no edge attributes to choose from; leave out --weight (weight= "
    "in Python)."
)
USUAL = tuple(dict.fromkeys(("weight", *WEIGHT, "count")))  # in small letters, best first
_NUMBERING = ("id", "key", "index")  # numbers that count edges rather than measure them


class Lists(NamedTuple):
    """A graph in lists: its nodes and pairs of them, attributes of both, and what is said of it."""

    names: Sequence[Any]
    pairs: Sequence[tuple[Any, Any]]
    edge_attributes: Mapping[str, Sequence[Any]] = {}
    node_attributes: Mapping[str, Sequence[Any]] = {}
    notes: tuple[str, ...] = ()


def named_graph(
    graph: Any, *, weight: str | None = None, symmetrise: str | None = None
) -> NamedGraph:
    """Read any graph object."""
    if isinstance(graph, NamedGraph):
        return graph
    home = type(graph).__module__.split(".")[0]
    if home == "torch":
        graph = graph.detach().cpu().numpy()
    if isinstance(graph, CSR):
        return NamedGraph(graph, np.arange(graph.shape[0]))
    if home == "networkx" or (hasattr(graph, "adj") and hasattr(graph, "is_multigraph")):
        return from_lists(networkx_lists(graph), weight, symmetrise, "The graph")
    if home == "igraph":
        return from_lists(_igraph_lists(graph), weight, symmetrise, "The graph")
    if is_table(graph):
        table = arrow_table(graph, "The edges")
        table = read_arrow(table, "The table", Wanted(weight=weight))
        return graph_of(table, symmetrise, "The table")
    if weight is not None:
        raise InputError(f"The graph is of type {type(graph).__name__}: {NO_ATTRIBUTES}")
    return _from_arrays(graph, symmetrise)


def _from_arrays(graph: Any, symmetrise: str | None) -> NamedGraph:
    """Read what has neither names of nodes nor attributes of edges."""
    if hasattr(graph, "edge_index"):
        return _from_torch(graph, symmetrise)
    if sp.issparse(graph):
        return from_matrix(graph, symmetrise=symmetrise)
    if not isinstance(graph, tuple | list | np.ndarray):
        raise InputError(f"A graph of type {type(graph).__name__} is unknown; pass {KINDS}.")
    array = np.asarray(graph)
    if array.ndim == 2 and array.shape[0] == 2 != array.shape[1] and array.dtype.kind in "iu":
        return _from_pairs(array, None, None, symmetrise)
    return from_matrix(array, symmetrise=symmetrise)


def networkx_lists(graph: Any) -> Lists:
    """Return the lists of a NetworkX graph."""
    columns = attribute_columns(data for _, _, data in graph.edges(data=True))
    keys = sorted({key for _, data in graph.nodes(data=True) for key in data}, key=str)
    attributes = {str(key): [data.get(key) for _, data in graph.nodes(data=True)] for key in keys}
    return Lists(list(graph.nodes), list(graph.edges()), columns, attributes)


def _igraph_lists(graph: Any) -> Lists:
    attributes = {name: graph.vs[name] for name in graph.vs.attributes()}
    names = attributes.pop("name", None) or list(range(graph.vcount()))
    columns = {name: graph.es[name] for name in graph.es.attributes()}
    pairs = [(names[u], names[v]) for u, v in graph.get_edgelist()]
    return Lists(names, pairs, columns, attributes)


def from_lists(lists: Lists, weight: str | None, symmetrise: str | None, where: str) -> NamedGraph:
    """Put pairs of nodes together, with the weights that one of their attributes has.

    `weight` names the attribute; None: one with a usual name.
    """
    names, pairs, columns, attributes, notes = lists
    weights, choice = edge_weights(columns, weight if pairs else None, where)
    place = _places(names, where)
    sources, targets, values = [], [], []
    for (u, v), w in zip(pairs, [None] * len(pairs) if weights is None else weights, strict=True):
        if u not in place or v not in place:
            lost = u if u not in place else v
            raise InputError(
                f"{where}: the edge {quoted(u, 60)} - {quoted(v, 60)} has the unknown node "
                f"{quoted(lost, 60)}. Add the node, or leave the edge out."
            )
        try:
            values.append(1.0 if w is None else float(w))
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"{where}: the weight {quoted(short(w, 60))} of the edge {quoted(u, 60)} - "
                f"{quoted(v, 60)} is no number that can be used. Give finite numbers of 0 or more."
            ) from None
        sources.append(place[u])
        targets.append(place[v])
    ends = np.array([sources, targets], dtype=np.int64)
    graph = _assembled(ends, np.array(values), as_names(names), attributes, symmetrise, where)
    return replace(graph, notes=(*notes, *graph.notes, *choice))


def _places(names: Sequence[Any], where: str) -> dict[Any, int]:
    """Return the number of every name; refuse names that could not be told apart as text."""
    if not names:
        raise InputError(f"{where} has no nodes. A graph needs two or more.")
    try:
        same = len(names) - len({str(name).encode() for name in names})
    except UnicodeEncodeError as error:
        raise InputError(
            f"{where}: the name {quoted(error.object)} is no text that can be written. Rename the "
            "node."
        ) from None
    if same:
        raise InputError(
            f"{where}: {same} nodes have the name of another one (compared as text). Names must "
            "differ; rename them."
        )
    return {name: k for k, name in enumerate(names)}


def _assembled(
    pairs: Any, weights: Any, names: Any, attributes: Any, symmetrise: str | None, where: str
) -> NamedGraph:
    """Check weights, and put numbered edges together."""
    if weights is not None:
        check_edge_weights(weights, lambda k: edge_name(where, names, pairs[0][k], pairs[1][k]))
    W, notes = assemble(pairs[0], pairs[1], weights, names, symmetrise=symmetrise, where=where)
    return NamedGraph(W, names, notes, attributes)


def from_matrix(matrix: Any, *, symmetrise: str | None, where: str = "The matrix") -> NamedGraph:
    """Read weights from a scipy matrix or an array; it must be symmetric, or made so."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"{where} has shape {matrix.shape}; weights are a square matrix, with a row and a "
            "column per node."
        )
    if sp.issparse(matrix):
        try:
            check_sparse(matrix, "the matrix")
        except (ValueError, TypeError) as error:
            raise InputError(f"{where}: {error}") from error
    W = sp.csr_array(matrix) if sp.issparse(matrix) else matrix
    names = np.arange(W.shape[0])
    if symmetrise is not None and W.dtype.kind in "biuf":
        A = sp.coo_array(W).astype(np.float64)
        return _assembled((A.row, A.col), A.data, names, {}, symmetrise, where)
    try:
        return NamedGraph(check_weights(W), names)
    except (ValueError, TypeError) as error:
        ways = f" Or choose with --symmetrise {'|'.join(WAYS)}." * ("not symm" in str(error))
        raise InputError(f"{where}: {error}{ways}") from error


def _from_torch(data: Any, symmetrise: str | None) -> NamedGraph:
    pairs = np.asarray(data.edge_index.detach().cpu().numpy())
    weights = getattr(data, "edge_weight", None)
    n_nodes = getattr(data, "num_nodes", None)
    values = None if weights is None else weights.detach().cpu().numpy().astype(np.float64)
    return _from_pairs(pairs, values, n_nodes, symmetrise)


def _from_pairs(
    pairs: Any, weights: Any, n_nodes: int | None, symmetrise: str | None
) -> NamedGraph:
    if pairs.ndim != 2 or pairs.shape[0] != 2 or pairs.dtype.kind not in "iu":
        raise InputError(
            f"edge_index has shape {pairs.shape} and type {pairs.dtype}; whole numbers of shape "
            "(2, edges) are needed. Transpose or convert it."
        )
    if pairs.size == 0:
        raise InputError("The graph has no edges.")
    if weights is not None and weights.shape != pairs[0].shape:
        raise InputError(
            f"edge_weight has shape {weights.shape} for {pairs.shape[1]} edges; give one each."
        )
    count = int(pairs.max()) + 1 if n_nodes is None else int(n_nodes)
    if pairs.min() < 0 or pairs.max() >= count:
        raise InputError(
            f"edge_index has nodes from {pairs.min()} to {pairs.max()}; allowed are 0 to "
            f"{count - 1}. Number the nodes from 0, or give the right number of them."
        )
    limits.check_nodes("The graph", count, 2 * pairs.shape[1], pairs.nbytes)
    pairs = pairs.astype(np.int64, copy=False)  # of any size and byte order; all of them fit
    return _assembled(pairs, weights, np.arange(count), {}, symmetrise, "The graph")


def attribute_columns(records: Iterable[Mapping[Any, Any]]) -> dict[str, list[Any]]:
    """Return the attributes of edges by name, an entry per edge, None where it has none."""
    rows = list(records)
    names = list(dict.fromkeys(key for row in rows for key in row))
    return {str(name): [row.get(name) for row in rows] for name in names}


def edge_weights(
    columns: Mapping[str, Sequence[Any]], weight: str | None, where: str
) -> tuple[Sequence[Any] | None, tuple[str, ...]]:
    """Return the weight of every edge, and what the user should know of the choice.

    None: no attribute has weights. These are those of the attribute that the user has named, of
    `weight`, or of the first of `USUAL` that is a number of 0 or more on every edge.
    """
    if weight is not None and weight not in columns:
        known = f"edges have {listed(columns)}" if columns else "edges have no attributes at all"
        raise InputError(
            f"{where}: no edge has the attribute {quoted(weight, 90)}; {known}. Name one of these "
            "with --weight (weight= in Python), or leave it out."
        )
    name = weight if weight is not None else _usual(columns)
    notes = []
    if name is not None:
        if weight is None and name != "weight":
            notes.append(f"weights are the edge attribute {quoted(name, 90)}")
        if lost := sum(value is None for value in columns[name]):
            notes.append(
                f"{lost} of {len(columns[name])} edges have no attribute {quoted(name, 90)} and "
                "count with weight 1"
            )
    others = [other for other in columns if other != name and _measures(other, columns[other])]
    if weight is None and others:
        notes.append(
            f"edge attributes not used: {listed(others)}; --weight NAME uses one (weight= in "
            "Python)"
        )
    return (None if name is None else columns[name]), tuple(notes)


def _usual(columns: Mapping[str, Sequence[Any]]) -> str | None:
    """Return the attribute that has the weights by its name; None if there is none."""
    if "weight" in columns:
        return "weight"
    for word in USUAL:
        for name, values in columns.items():
            if name.lower() == word and all(_number(value) >= 0 for value in values):
                return name
    return None


def _measures(name: str, values: Sequence[Any]) -> bool:
    """Whether an attribute has numbers only, on the edges that have it."""
    some = [value for value in values if value is not None]
    return name.lower() not in _NUMBERING and not any(map(isnan, map(_number, some)))


def _number(value: Any) -> float:
    """Return a finite number, also one written as text; NaN for all else."""
    if value is None or isinstance(value, bool):
        return float("nan")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
    return number if abs(number) < float("inf") else float("nan")

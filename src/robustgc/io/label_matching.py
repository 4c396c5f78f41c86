"""Why nodes of a table of labels are not in the graph: the cause is looked for, and said."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unicodedata import normalize

from robustgc.graph.quoting import listed, quoted, short
from robustgc.io.arrow import pa, pc
from robustgc.io.named import NamedGraph, as_text

# Straight, then curly ones.
_QUOTATION_MARKS = "\"'`\u00b4\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"


def _replaced(pattern: str, text: str = "") -> Callable[[Any], Any]:
    return lambda names: pc.replace_substring_regex(names, pattern, text)


# What to do with names, on both sides, so that they are the same, by the words for it.
_WAYS: dict[str, Callable[[Any], Any]] = {
    "spaces are left out": _replaced(r"[\s\x{a0}]+"),
    "quotation marks are left out": _replaced(f"[{_QUOTATION_MARKS}]"),
    "'.0' at the end is dropped": _replaced(r"\.0+$"),
    "leading zeros are dropped": _replaced("^0+([0-9])", r"\1"),
    "upper and lower case count as the same": lambda names: pc.utf8_lower(names),  # noqa: PLW0108 loads late
    "accents are stored the same way (Unicode NFC)": (
        lambda names: pc.utf8_normalize(names, form="NFKC")
    ),
    "invisible characters are left out": _replaced(r"\p{Cf}+"),
}


def cause(
    nodes: Any, columns: Mapping[str, Any], node: str | None, label: str, graph: NamedGraph
) -> str:
    """Say why names of labelled nodes are not in a graph, and the cure; empty where none is seen.

    `columns` are the other columns of the table in these rows, as Arrow arrays, by name. `node` and
    `label` are what the columns of nodes and labels are called; `node` is None for a mapping.
    """
    names, known = as_text(nodes), as_text(graph.names)
    now = _matches(names, known)
    reasons = [*_other_start(names, known), *_other_writing(names, known)]
    if 2 * now < len(names):  # else the column is right, and other matches are chance
        reasons += [*_attributes(names, graph), *_other_columns(columns, known, node, label)]
    best = max(reasons, default=(0, ""), key=lambda reason: reason[0])
    if best[0] <= now + (len(names) - now) / 2:  # less than half of the lost ones are explained
        return ""
    return f"{now} of {len(names)} match; {best[0]} of {len(names)} {best[1]}"


def examples(graph: NamedGraph) -> str:
    """Return what the nodes of a graph are called, for a message."""
    some = listed([str(name) for name in graph.names[:5]], 90)
    return (
        f"the graph has {len(graph.names)} nodes, called {some}{', ...' * (len(graph.names) > 5)}"
    )


def _matches(names: Any, known: Any) -> int:
    return int(pc.sum(pc.is_in(names, value_set=known)).as_py() or 0)


def _other_writing(names: Any, known: Any) -> Iterator[tuple[int, str]]:
    """Try one change of writing after another, then all of them together."""
    every_name, every_known = names, known
    for words, way in _WAYS.items():
        one, other = way(names), way(known)
        yield _matches(one, other), f"do once {words}{_pair(names, known, one, other)}: {_CURE}"
        every_name, every_known = way(every_name), way(every_known)
    both = _pair(names, known, every_name, every_known)
    words = "spaces, quotation marks, leading zeros, a '.0' at the end, upper case and Unicode"
    yield _matches(every_name, every_known), f"do once {words} are left aside{both}: {_CURE}"


_CURE = "write the nodes in the table as in the graph."


def _pair(names: Any, known: Any, one: Any, other: Any) -> str:
    """Return the first pair of names that only the change of writing makes the same."""
    places = pc.index_in(one, value_set=other)
    different = pc.and_(pc.is_valid(places), pc.invert(pc.is_in(names, value_set=known)))
    first = pc.index(different, True).as_py()
    if first < 0:
        return ""
    theirs, ours = names[first].as_py(), known[places[first].as_py()].as_py()
    if normalize("NFC", theirs) == normalize("NFC", ours):  # they look the same on the screen
        return f" ({short(ascii(theirs), 60)} is {short(ascii(ours), 60)} in the graph)"
    return f" ({quoted(theirs, 40)} is {quoted(ours, 40)} in the graph)"


def _other_start(names: Any, known: Any) -> Iterator[tuple[int, str]]:
    """Look whether the table counts nodes from 1 and the graph from 0, or the other way round."""
    try:
        theirs, ours = names.cast(pa.int64()), known.cast(pa.int64())
    except pa.ArrowInvalid:
        return
    low, high = (pc.min(theirs).as_py(), pc.max(theirs).as_py())
    least, most = (pc.min(ours).as_py(), pc.max(ours).as_py())
    for start, change, here in ((0, "subtract 1 from", high == most + 1 and low >= 1),
                                (1, "add 1 to", low == 0 and high < most)):  # fmt: skip
        if least == start and here:
            moved = pc.add(theirs, 1 if start else -1)
            yield (
                _matches(moved, ours),
                f"do if the table counts from {1 - start} and the graph from {start}: {change} the "
                "nodes in the table. If the numbers are the same ones, leave the others out with "
                "--ignore-unknown (ignore_unknown=True in Python).",
            )


def _attributes(names: Any, graph: NamedGraph) -> Iterator[tuple[int, str]]:
    """Look for the names among the node attributes: programs tell ids from labels."""
    for name, values in graph.attributes.items():
        known = as_text(["" if value is None else value for value in values])
        if many := _matches(names, known):
            places = pc.index_in(names, value_set=known)
            first = pc.index(pc.is_valid(places), True).as_py()
            ours = graph.names[places[first].as_py()]
            yield (
                many,
                f"are values of the node attribute {quoted(name, 40)}, not names of nodes "
                f"({quoted(names[first].as_py(), 40)} is node {quoted(str(ours), 40)}): write the "
                "names of the nodes in the table, or rename the nodes of the graph by that "
                "attribute (in Python networkx.relabel_nodes).",
            )


def _other_columns(
    columns: Mapping[str, Any], known: Any, node: str | None, label: str
) -> Iterator[tuple[int, str]]:
    """Look for the nodes in the other columns of the table."""
    for name, values in columns.items():
        try:
            many = _matches(as_text(values), known)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # lists and the like
            continue
        flag = f"--node-column {quoted(name, 40)}"
        if node is None:
            yield many, "do by their labels: labels go from node to class, so swap the two."
        elif name == label:
            what = f"do by column {quoted(name, 40)}, taken for the label: swap the two with {flag}"
            yield many, f"{what} --label-column {quoted(node, 40)}."
        else:
            what = f"do by column {quoted(name, 40)}: name it with {flag}"
            yield many, f"{what} (node_column= in Python)."

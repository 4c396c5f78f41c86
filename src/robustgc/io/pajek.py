"""Pajek's networks (.net) and projects (.paj): sections of lines, each with its own meaning.

NetworkX reads some of it and the rest wrongly in silence: nodes with the same label become one, and
lists of neighbours become weights. So it is read here.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from robustgc.graph.quoting import listed, quoted
from robustgc.io import limits
from robustgc.io.network_files import lines_of, naming
from robustgc.io.objects import Lists
from robustgc.io.opening import InputError

_WORD = re.compile(r'"([^"]*)"|(\S+)')


class _Line(NamedTuple):
    """A line in words, and where it stands."""

    place: str
    words: list[str]


@dataclass
class _Network:
    """What a Pajek file has said so far; its vertices count from 1."""

    path: Path
    size: int  # bytes of its lines
    networks: list[str] = field(default_factory=list)
    count: int | None = None
    labels: dict[int, str] = field(default_factory=dict)
    edges: list[tuple[int, int, float | None]] = field(default_factory=list)
    partitions: dict[str, list[str]] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    vertices_of: str = "*network"  # what the next section of vertices belongs to

    def vertex(self, line: _Line, k: int) -> int:
        """Return the number of the vertex that is word k of a line."""
        text = line.words[k] if k < len(line.words) else ""
        if not text.isdecimal() or not 1 <= int(text[:19]) <= (self.count or 0):
            raise InputError(
                f"{line.place}: {quoted(text, 60)} is no vertex; there are 1 to {self.count or 0}. "
                "Correct the line."
            )
        return int(text)


def read_pajek(path: Path) -> Lists:
    """Read a Pajek file with one network; partitions of a project are node attributes."""
    network = _parsed(path)
    ids = list(range(1, (network.count or 0) + 1))
    labels = [network.labels.get(k) for k in ids]
    use, notes = naming(ids, labels)
    names = [str(label) for label in labels] if use else ids
    attributes = {"id": ids} if use else {"label": labels} if network.labels else {}
    if network.skipped:
        notes = (*notes, f"sections not read: {listed(dict.fromkeys(network.skipped))}")
    pairs = [(names[u - 1], names[v - 1]) for u, v, _ in network.edges]
    values = [value for *_, value in network.edges]
    weights = {} if all(value is None for value in values) else {"weight": values}
    return Lists(names, pairs, weights, {**attributes, **network.partitions}, notes)


def _parsed(path: Path) -> _Network:
    lines = list(lines_of(path, "Pajek's text", ("%", "/*")))
    size = sum(len(text.encode()) + 1 for _, text in lines)
    network, header, rows = _Network(path, size), _Line("", []), list[_Line]()
    for place, text in lines:
        line = _Line(place, [in_quotes or word for in_quotes, word in _WORD.findall(text)])
        if not text.startswith("*"):
            rows.append(line)
            continue
        _section(network, header, rows)
        header, rows = line, []
    _section(network, header, rows)
    if network.count is None:
        raise InputError(
            f"{path} is no Pajek file, or is cut short: it has no line `*Vertices` with their "
            "number. Write it again, or rename it."
        )
    return network


def _section(network: _Network, header: _Line, rows: list[_Line]) -> None:
    """Take in a section: its line with a star, and the rows below it."""
    if not header.words:
        if rows:
            raise InputError(
                f"{rows[0].place}: text before the first line with a star, so this is no Pajek "
                "file. Rename it."
            )
        return
    name = header.words[0].lower()
    if name in ("*network", "*partition", "*vector", "*permutation"):
        network.vertices_of = name
        title = " ".join(header.words[1:]) or f"partition {len(network.partitions) + 1}"
        if name == "*network":
            network.networks.append(title)
        elif name == "*partition":
            network.partitions[title] = []
        else:
            network.skipped.append(header.words[0])
    elif name == "*vertices" and network.vertices_of == "*network":
        _vertices(network, header, rows)
    elif name == "*vertices" and network.vertices_of == "*partition":
        _partition(network, header, rows)
    elif name in _READERS and network.count is not None:
        for k, row in enumerate(rows):
            _READERS[name](network, row, k)
    elif name in _READERS:
        raise InputError(f"{header.place}: {header.words[0]} before *Vertices. Write it again.")
    elif name != "*vertices":
        network.skipped.append(header.words[0])


def _vertices(network: _Network, header: _Line, rows: list[_Line]) -> None:
    if network.count is not None:
        raise InputError(
            f"{header.place}: a second network ({listed(network.networks)}). Save the one that is "
            "meant as a .net file of its own."
        )
    claimed = header.words[1] if len(header.words) > 1 else ""
    if not claimed.isdecimal() or len(claimed) > 18:
        raise InputError(
            f"{header.place}: *Vertices needs their number, not {quoted(claimed)}. Correct it."
        )
    limits.check_nodes(str(network.path), int(claimed), 2 * len(rows), network.size)
    network.count = int(claimed)
    for row in rows:
        k = network.vertex(row, 0)
        if k in network.labels:
            raise InputError(f"{row.place}: vertex {k} is there twice. Keep one of the lines.")
        if len(row.words) > 1:
            network.labels[k] = row.words[1]


def _partition(network: _Network, header: _Line, rows: list[_Line]) -> None:
    title = list(network.partitions)[-1]
    if len(rows) != network.count:
        raise InputError(
            f"{header.place}: the partition {quoted(title, 60)} has {len(rows)} lines for "
            f"{network.count or 0} vertices; it needs one each, below the network."
        )
    network.partitions[title] = [row.words[0] for row in rows]


def _pair(network: _Network, row: _Line, _: int) -> None:
    value = None
    if len(row.words) > 2 and not row.words[2].startswith("["):  # else a time, not a weight
        value = _value(row, 2)
    network.edges.append((network.vertex(row, 0), network.vertex(row, 1), value))


def _neighbours(network: _Network, row: _Line, _: int) -> None:
    for k in range(1, len(row.words)):
        network.edges.append((network.vertex(row, 0), network.vertex(row, k), None))


def _matrix_row(network: _Network, row: _Line, place: int) -> None:
    if len(row.words) != network.count or place >= network.count:
        raise InputError(
            f"{row.place}: a row of {len(row.words)} values; *Matrix needs {network.count} rows of "
            "as many. Correct it."
        )
    for k in range(network.count):
        if value := _value(row, k):
            network.edges.append((place + 1, k + 1, value))


def _value(row: _Line, k: int) -> float:
    try:
        return float(row.words[k])
    except ValueError:
        raise InputError(
            f"{row.place}: the value {quoted(row.words[k], 60)} is no number. Correct it."
        ) from None


_READERS: dict[str, Callable[[_Network, _Line, int], None]] = {
    "*edges": _pair,
    "*arcs": _pair,
    "*edgeslist": _neighbours,
    "*arcslist": _neighbours,
    "*matrix": _matrix_row,
}

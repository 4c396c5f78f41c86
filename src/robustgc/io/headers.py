"""Whether the first row of a table names its columns, as the rows below it show."""

from collections import Counter
from collections.abc import Sequence
from enum import Enum

from robustgc.io.decimals import is_number

_NAMELESS = ("", "unnamed: 0", "__index_level_0__")
_COUNTERS = ("index", "id", "nr", "no", "row", "#")
FEW = 4  # rows from which edges may show a header
_RARE = 0.05  # share of edges that touch no other, up to which one that does so is no edge


class First(Enum):
    """What the first row of a table is."""

    KNOWN = "a header, by its words"
    HEADER = "a header, by what stands below it"
    LIKELY = "a header, as it shares no name with edges that all share some"
    OPEN = "a row, but it might be a header"
    ROW = "a row"

    @property
    def header(self) -> bool:
        """Whether it is read as a header."""
        return self in (First.KNOWN, First.HEADER, First.LIKELY)


def first_row(first: list[str], rest: list[list[str]], words: Sequence[str], decimal: str) -> First:
    """Return what the first row is: by its words, or by numbers that start below it."""
    if any(field.lower() in words for field in first):
        return First.KNOWN
    if any(is_number(field, decimal) for field in first):
        return First.ROW  # else a row with one bad field would be lost
    columns = [[row[k].strip() for row in rest if len(row) > k] for k in range(len(first))]
    above = any(below and all(is_number(x, decimal) for x in below) for below in columns)
    return First.HEADER if above else First.OPEN


def first_edge(
    first: list[str], rest: list[list[str]], words: Sequence[str], decimal: str, *, alone: bool
) -> First:
    """Return what the first row of a table of edges is, by the names in the other rows.

    Names of columns are in no other row. An edge may be so too, of two nodes that have no other:
    it is taken for one unless such edges are rare among the others, or there are none. Not `alone`,
    other files have edges of the same graph, which may share a name with it.
    """
    kind = first_row(first, rest, words, decimal)
    if kind in (First.ROW, First.HEADER) or not rest or len(first) < 2:
        return kind
    start = int(len(first) > 2 and counts_rows(first[0], [row[0].strip() for row in rest if row]))
    pair = first[start : start + 2]
    edges = [[field.strip() for field in row[start : start + 2]] for row in rest]
    counts = Counter(name for edge in edges for name in edge)
    known = sum(field.lower() in words for field in first)
    if kind is First.KNOWN:  # one word may be the name of a node
        node = known == 1 and any(name in counts for name in pair) and pair not in edges
        return First.ROW if node else kind
    if pair[0] == pair[1] or any(name in counts or not name for name in pair):
        return First.ROW
    apart = sum(all(counts[name] == 1 for name in edge) for edge in edges)
    return First.LIKELY if alone and odd_one_out(apart, len(edges)) else First.OPEN


def odd_one_out(apart: int, edges: int) -> bool:
    """Whether an edge that shares no name with others is likely none, as `apart` of them do so."""
    return (apart + 1) / (edges + 2) <= _RARE or (apart == 0 and edges >= FEW)


def counts_rows(name: str, fields: list[str]) -> bool:
    """Whether a column is one that programs add: 0, 1, 2, ... or 1, 2, 3, ...

    Without a name it may have gaps, as where rows were left out later.
    """
    if not fields or not all(map(str.isdecimal, fields)):
        return False
    if name.lower() in _NAMELESS:
        return len(set(fields)) == len(fields)
    start = int(fields[0][:1])
    return (
        name.lower() in _COUNTERS
        and start in (0, 1)
        and fields == [str(k) for k in range(start, start + len(fields))]
    )


def counts_columns(first: list[str]) -> bool:
    """Whether a first row is 0, 1, 2, ..., as frames without names are written; or so after ''."""
    numbers = first[1:] if first[0] == "" else first
    return len(first) > 1 and numbers == [str(k) for k in range(len(numbers))]

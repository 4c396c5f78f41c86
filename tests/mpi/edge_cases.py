"""Graphs in parts, as Spark or Dask write them, and the same in one file."""

import gzip
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def text(edges, header):
    lines = ([header] if header else []) + [",".join(map(str, edge)) for edge in edges]
    return "".join(f"{line}\n" for line in lines)


def write(path, edges, header="source,target,weight"):
    """Write edges to a file by its ending; header="": there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    width = len(edges[0]) if edges else 2
    names = header.split(",")[:width]
    if path.suffix == ".parquet":
        columns = list(zip(*edges, strict=True)) or [[]] * width
        types = [None] * width if edges else [pa.int64()] * width
        arrays = [pa.array(list(c), type=t) for c, t in zip(columns, types, strict=True)]
        pq.write_table(pa.table(dict(zip(names, arrays, strict=True))), path, row_group_size=7)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(text(edges, ",".join(names)).encode()))
    else:
        path.write_text(text(edges, ",".join(names) if header else ""), encoding="utf-8")


def drawn(seed, nodes, count, name=int, weights=()):
    """Draw edges, every pair at most once; `name` makes a name of a number."""
    rng = np.random.default_rng(seed)
    pairs = sorted({tuple(sorted(pair)) for pair in rng.integers(0, nodes, (count, 2)).tolist()})
    rng.shuffle(pairs)
    edges = [(name(i), name(j)) for i, j in pairs if i != j]
    if weights:
        edges = [
            (*edge, float(w))
            for edge, w in zip(edges, rng.choice(weights, len(edges)), strict=True)
        ]
    return edges


def cut(edges, *places):
    """Cut a list at the places; two that are the same leave an empty part between them."""
    ends = [0, *places, len(edges)]
    return [edges[a:b] for a, b in pairwise(ends)]


def parts(folder, pieces, ending="csv", header="source,target,weight"):
    """Write the parts, and all of them to whole.csv beside."""
    for k, edges in enumerate(pieces):
        write(folder / "parts" / f"part-{k:05}.{ending}", edges, header)
    every = [edge for edges in pieces for edge in edges]
    write(folder / "whole.csv", every)
    return folder / "parts"


def nested(folder):
    edges = drawn(3109, 40, 150, name="né {}".format, weights=(0.5, 1.25, 3.0))
    for k, some in enumerate(cut(edges, 40, 90)):
        write(folder / "parts" / f"day={k}" / f"part-0.{('csv', 'csv.gz', 'parquet')[k]}", some)
    write(folder / "parts" / "_temporary" / "part-9.csv", [("not", "read", 1.0)])
    write(folder / "parts" / ".part-0.csv", [("not", "read", 1.0)])
    (folder / "parts" / "_SUCCESS").touch()
    write(folder / "whole.csv", edges)
    return folder / "parts"


def one_file(folder, ending, count=200):
    edges = drawn(3119, 50, count)
    write(folder / f"one.{ending}", edges)
    write(folder / "whole.csv", edges)
    return folder / f"one.{ending}"


def mixed(folder):
    pieces = [drawn(3121, 30, 60), [("17", "Anna"), ("007", "7")], drawn(3137, 60, 60)]
    return parts(folder, pieces)


def copies(folder, weights=()):
    edges = drawn(3163, 12, 60, weights=weights)
    return parts(folder, [edges, edges[:9], edges[4:11], [(3, 3, *edges[0][2:])]])


def both_ways(folder, weights=(0.1, 0.7)):
    edges = drawn(3167, 25, 80, weights=weights)
    back = [(j, i, *w) for i, j, *w in edges]
    return parts(folder, [edges, back[20:], back[:20]])


def zeros(folder):
    edges = drawn(3169, 20, 60, weights=(0.0, 1.0, 2.0))
    return parts(folder, [*cut(edges, 5), [(4, 4, 2.5), (90, 90, 1.0), (91, 91, 0.0)]])


def two_ways(folder):
    edges = drawn(3181, 15, 60, weights=(1.0, 2.0))
    back = [(j, i, w + 1) for i, j, w in edges[::2]]
    return parts(folder, [edges, back])


def far(folder):
    edges = [(-5, 2**62), (2**62, 0), (0, -(2**62)), (-5, 7)]
    return parts(folder, cut(edges, 2), "parquet")


def unsigned(folder):
    path = folder / "parts"
    path.mkdir(parents=True)
    table = pa.table(
        {"u": pa.array([2**63 + 5, 3], pa.uint64()), "v": pa.array([3, 8], pa.uint64())}
    )
    pq.write_table(table, path / "a.parquet")
    write(path / "b.csv", [(8, 9)])
    write(folder / "whole.csv", [(2**63 + 5, 3), (3, 8), (8, 9)])
    return path


def uneven(folder):
    edges = drawn(3187, 300, 900)
    return parts(folder, cut(edges, 1, 1, 41, 44, 700))


def weighted_parquet(folder):
    edges = drawn(3191, 80, 300, weights=(0.3, 0.6, 1.0))
    return parts(folder, cut(edges, 100, 100, 250), "parquet")


# What is read, and with which options.
GOOD = {
    "uneven": (uneven, {}),
    "nested, text, several kinds": (nested, {}),
    "weighted parquet": (weighted_parquet, {}),
    "without header": (lambda f: parts(f, cut(drawn(3203, 30, 90), 20), header=""), {}),
    "numbers and text": (mixed, {}),
    "copies": (copies, {}),
    "weighted copies": (partial(copies, weights=(0.1, 0.2, 0.7)), {}),
    "both ways": (both_ways, {}),
    "both ways without weights": (partial(both_ways, weights=()), {}),
    "zeros and self-loops": (zeros, {}),
    "mean": (two_ways, {"symmetrise": "mean"}),
    "max": (two_ways, {"symmetrise": "max"}),
    "sum": (two_ways, {"symmetrise": "sum"}),
    "sum without weights": (partial(both_ways, weights=()), {"symmetrise": "sum"}),
    "far numbers": (far, {}),
    "beyond 2^63": (unsigned, {}),
    "one text file": (partial(one_file, ending="csv"), {}),
    "one packed file": (partial(one_file, ending="csv.gz"), {}),
    "one parquet file of many groups": (partial(one_file, ending="parquet"), {}),
    "one parquet file of one group": (partial(one_file, ending="parquet", count=6), {}),
    "two nodes": (lambda f: parts(f, [[("a", "b")], [("b", "a")]]), {}),
    "weights all 1": (lambda f: parts(f, cut(drawn(3209, 20, 60, weights=(1.0,)), 30)), {}),
    "columns by name": (
        lambda f: parts(f, cut(drawn(3217, 20, 60, weights=(2.0, 5.0)), 30), header="x,y,z"),
        {"source": "x", "target": "y", "weight": "z"},
    ),
}

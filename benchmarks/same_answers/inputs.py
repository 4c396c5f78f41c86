"""Graphs, points and files that the runs of `same_answers` read; all drawn with fixed seeds."""

import csv
import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import make_blobs, make_moons

from benchmarks.auto_speed import block_model, labels
from benchmarks.shared import hard_graphs as hard

Labels = NDArray[np.int64]


def blocks(n: int, K: int, seed: int) -> hard.Drawn:
    return block_model(n, K, seed)[1:]


def slabs(drawn: hard.Drawn, K: int) -> hard.Drawn:
    n = len(drawn[1])
    return drawn[0], np.arange(n) * K // n


def islands() -> hard.Drawn:
    """Join nothing: blocks with all classes and with two, two paths, an isolated node."""
    pieces = [blocks(90, 3, 7109), blocks(60, 2, 7121), hard.path(9), hard.path(4)]
    W = sp.block_diag([*(W for W, _ in pieces), [[0.0]]], format="csr")
    return W, np.concatenate([y % 3 for _, y in pieces] + [[2]])


def weighted_tree() -> hard.Drawn:
    W, y = hard.random_tree(700, 40)
    return slabs((hard.weighted(W, 2), y), 4)


SMALL: dict[str, Callable[[], hard.Drawn]] = {
    "two blocks": lambda: blocks(120, 2, 7103),
    "twelve blocks": lambda: blocks(900, 12, 7127),
    "islands": islands,
    "weighted tree": weighted_tree,
    "grid 2,700": lambda: slabs(hard.lattice(45, 60), 3),
    "cliques": lambda: slabs(hard.cliques(25, 8), 2),
    "blocks 2,400": lambda: blocks(2_400, 4, 7129),
}
LARGE: dict[str, Callable[[], hard.Drawn]] = {
    "blocks 12,000": lambda: blocks(12_000, 3, 7151),
    "grid 12,000": lambda: slabs(hard.lattice(110, 110), 4),
    "blocks 100,000": lambda: blocks(100_000, 3, 7297),
    # Without modes, answered by bounded polynomials; with modes from factors; with crowded ones.
    "star 31,000": lambda: hard.star(31_000, 100),
    "tree 31,000": lambda: slabs(hard.random_tree(31_000, 2_500), 3),
    "caterpillar 32,000": lambda: hard.caterpillar(4_000, 7),
    "regular 31,000": lambda: slabs(hard.regular(31_000), 3),
}


@cache
def graph(name: str) -> tuple[Any, Labels, Labels]:
    """Return weights, classes, and labels of which a fifth are wrong (-1: none)."""
    W, y = (SMALL | LARGE)[name]()
    return W, y, labels(y, 12, 7159)


def given(name: str) -> tuple[Any, Labels]:
    W, _, y = graph(name)
    return W, y


@cache
def points() -> tuple[Any, Labels, Any]:
    """Return points, labels of which a fifth are wrong, and new points."""
    X, y = make_blobs(255, 4, centers=3, cluster_std=3.0, random_state=7177)
    return X[:240], labels(y[:240], 10, 7187), X[240:]


def moons(n: int) -> tuple[Any, Labels]:
    X, y = make_moons(n, noise=0.12, random_state=7193)
    return X, labels(y, 8, 7207)


def table(path: str, rows: list[tuple[Any, ...]], delimiter: str = ",") -> None:
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)


def write_files() -> None:
    """Write the files that the runs read to the present folder."""
    _, W, y = block_model(110, 2, 7247)
    codes, upper = labels(y, 9, 7253), sp.triu(W, 1).tocoo()
    names = [f"n{k}" for k in range(len(y))]
    pairs = list(zip(upper.row.tolist(), upper.col.tolist(), strict=True))
    _write_graphs(names, pairs, [("red", "blue", "")[k] for k in codes])
    known = [(names[k], ("red", "blue")[codes[k]]) for k in np.flatnonzero(codes >= 0)]
    head = ("node", "label")
    table("labels.csv", [head, *known])
    table("numbers.csv", [head, *((name[1:], label) for name, label in known)])
    table("more.csv", [("who", "what"), *known, ("nobody", "red"), ("n7", "none")])
    table("truth.csv", [head, *((names[k], ("red", "blue")[c]) for k, c in enumerate(y))])
    other = {"red": "blue", "blue": "red"}
    decided = [
        (*row, other[row[1]], 0.75, word)
        for row, word in zip(known, ("change", "drop", "keep", "", "red"), strict=False)
    ]
    table("decisions.csv", [("node", "given", "suggested", "suspicion", "decision"), *decided])
    X, kind = make_blobs(97, 3, centers=3, cluster_std=2.5, random_state=7283)
    rows = [(f"f{k}", *x) for k, x in enumerate(X.round(3).tolist())]
    species = [f"kind {c}" if k % 6 == 0 else "" for k, c in enumerate(kind[:90])]
    some = [(*row, s) for row, s in zip(rows, species, strict=False)]
    table("points.csv", [("flower", "length", "width", "height", "species"), *some])
    table("new.csv", [("name", "x2", "x0", "x1"), *rows[90:]])


def write_formats() -> list[str]:
    """Write one graph to files of many kinds; return their names."""
    import networkx as nx
    import pandas as pd

    write_files()
    graph, edges = nx.read_graphml("graph.graphml"), pd.read_csv("edges.csv")
    nx.write_gml(graph, "graph.gml")
    nx.write_pajek(graph, "graph.net")
    nx.write_edgelist(graph, "graph.edgelist", data=False)
    nx.write_adjlist(graph, "graph.adjlist")
    nx.to_pandas_adjacency(graph, dtype=int).to_csv("matrix.csv")
    edges.to_parquet("edges.parquet")
    edges.to_feather("edges.feather")
    edges.to_excel("edges.xlsx", index=False)
    edges.to_json("edges.jsonl", orient="records", lines=True)
    packed = {"method": "zip", "archive_name": "edges.csv"}
    edges.to_csv("edges.zip", index=False, compression=packed)
    names = ("graph.json", "graph.gml", "graph.net", "graph.edgelist", "graph.adjlist")
    tables = [f"edges.{ending}" for ending in ("parquet", "feather", "xlsx", "jsonl", "zip")]
    return [*names, *tables, "matrix.csv"]


def _write_graphs(names: list[str], pairs: list[tuple[int, int]], kinds: list[str]) -> None:
    edges = [(names[i], names[j]) for i, j in pairs]
    table("edges.csv", [("source", "target"), *edges])
    table("edges.tsv", [("source", "target"), *edges], "\t")
    with gzip.open("edges.tsv.gz", "wb") as packed:
        packed.write(Path("edges.tsv").read_bytes())
    one_way = [(names[i], names[j], 1 + (i + j) % 4) for i, j in pairs]
    both = one_way + [(v, u, w + 1) for u, v, w in one_way[::3]]
    table("weighted.txt", [("source", "target", "strength"), *both], ";")
    head = f"%%MatrixMarket matrix coordinate pattern symmetric\n{len(names)} {len(names)} "
    entries = "".join(f"{j + 1} {i + 1}\n" for i, j in pairs)
    Path("graph.mtx").write_text(f"{head}{len(pairs)}\n{entries}")
    links = [{"source": u, "target": v} for u, v in edges]
    whole = {"nodes": [{"id": name} for name in names], "links": links}
    Path("graph.json").write_text(json.dumps(whole))
    nodes = "".join(
        f'<node id="{name}"><data key="k">{kind}</data></node>'
        for name, kind in zip(names, kinds, strict=True)
    )
    ends = "".join(f'<edge source="{u}" target="{v}"/>' for u, v in edges)
    Path("graph.graphml").write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="k" for="node" '
        'attr.name="kind" attr.type="string"/>'
        f'<graph edgedefault="undirected">{nodes}{ends}</graph></graphml>'
    )

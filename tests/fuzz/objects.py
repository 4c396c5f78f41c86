"""Calls of the functions that take the user's own objects: classify, find_label_issues."""

from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

import robustgc
from tests.fuzz import answers, graphs, labels
from tests.fuzz.answers import require
from tests.fuzz.draw import chance, pick
from tests.fuzz.source import Plain, call
from tests.fuzz.watch import FAILED


class Classified(Plain):
    """`classify` on objects, and everything that a Result can do."""

    def __init__(self, rng):
        W = graphs.weights(rng)
        W = W[:40, :40]
        n = len(W)
        y, unlabeled, _ = labels.labels(rng, n)
        self.options = {"eta": 0.5, "n_modes": 1} if chance(rng, 0.8) else {}
        if unlabeled is not None:
            self.options["unlabeled"] = unlabeled
        names = [pick(rng, f"node {i}", i, "\ud800" * i, f"=x{i}", (i, "a")) for i in range(n)]
        rows, columns = np.nonzero(W)
        edges = pd.DataFrame({"source": rows, "target": columns, "weight": W[rows, columns]})
        given = {i: label for i, label in enumerate(list(y)[:n])} if np.iterable(y) else y
        self.given = pick(
            rng, (W, y), (sp.csr_array(W), y), (edges, given), (edges, y), 
            (_network(W, names), None),
            (np.array([rows, columns]), y), (None, y), (W, None), (7, y), (W, "attribute"),
        )  # fmt: skip
        if self.given[1] is None and self.given[0] is not None and np.iterable(y):
            self.given = self.given[0], dict(zip(names, list(y), strict=False))
        self.after = pick(rng, *AFTER)

    def lines(self):
        args = call("robustgc.classify", self.given, self.options)
        return [f"result = {args}", f"# then: {self.after.__name__}"]

    def run(self, watch, folder):
        result = watch("classify", robustgc.classify, *self.given, **self.options)
        if result is not FAILED:
            watch("the estimator", answers.consistent, result.estimator)
            watch(self.after.__name__, self.after, result, folder)
            left = [p.name for p in folder.rglob("*") if ".partial" in p.name]
            watch("the folder", require, not left, f"left behind: {left}")


def _network(W, names):
    import networkx as nx

    graph = nx.from_numpy_array(W)
    return nx.relabel_nodes(graph, dict(enumerate(names)))


def labels_and_issues(result, folder):
    require(len(result.labels) <= len(result.names), "more labels than nodes: Result.labels")
    str(result.issues)
    result.to_frame()


def written(result, folder):
    result.write(folder / "out.csv")
    result.write(folder / "out.parquet")
    rows = (folder / "out.csv").read_bytes().count(b"\n")
    require(rows > len(result.names), f"rows are missing: {rows} for {len(result.names)} nodes")


def reported(result, folder):
    result.report(folder / "page.html")
    require("</html>" in Path(folder / "page.html").read_text(encoding="utf-8"), "the page is cut:")


def kept(result, folder):
    result.save(folder / "model")
    again = robustgc.load(folder / "model")
    require(again.labels == result.labels, "labels differ: of a loaded Result")
    require(again.names.tolist() == result.names.tolist(), "names differ: of a loaded Result")
    again.report(folder / "again.html")


AFTER = [labels_and_issues, written, reported, kept]


class Issues(Plain):
    """`find_label_issues`."""

    def __init__(self, rng):
        W = graphs.weights(rng)
        self.y, _, _ = labels.labels(rng, len(W))
        self.W = graphs.contained(rng, W)
        self.options = {"eta": 0.5, "n_modes": 1} if chance(rng, 0.9) else {}
        if chance(rng, 0.05):
            self.options = pick(rng, {"odd": 1}, {"affinity": "odd"}, {"eta": None})

    def lines(self):
        return [call("robustgc.find_label_issues", (self.W, self.y), self.options)]

    def run(self, watch, folder):
        found = watch("issues", robustgc.find_label_issues, self.W, self.y, **self.options)
        if found is not FAILED:
            watch("the table", lambda: (str(found), list(found), found.columns()))

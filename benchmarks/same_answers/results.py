"""`classify` with graphs and points of all kinds, what its result writes, and saved models."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

import robustgc as rg
from benchmarks.same_answers.digests import Run, content
from benchmarks.same_answers.estimators import FITTED, PAPER, issues
from benchmarks.same_answers.inputs import given, write_files, write_formats
from robustgc import Result, classify

STORED = Path(__file__).parents[1] / "records/models_before_packages"
LABELS = {
    **dict.fromkeys(("n0", "n1", "n33"), "red"),
    **dict.fromkeys(("n4", "n61", "n70"), "blue"),
    "n90": "",
}


def shown(result: Result) -> list[Any]:
    columns = [result.labels, result.columns(), issues(result.issues)]
    return [result.names, *columns, list(result.notes), result.run]


def named_graph() -> Any:
    import networkx as nx

    write_files()
    return nx.read_graphml("graph.graphml")


def of_table(kind: str) -> list[Any]:
    import networkx as nx
    import polars
    import pyarrow

    change = {"polars": polars.from_pandas, "pyarrow": pyarrow.Table.from_pandas}
    edges = nx.to_pandas_edgelist(named_graph())
    result = classify(change[kind](edges) if kind in change else edges, LABELS)
    return [*shown(result), type(result.to_frame()).__module__.split(".")[0]]


def of_igraph() -> list[Any]:
    import igraph

    return shown(classify(igraph.Graph.TupleList(named_graph().edges()), LABELS))


def of_matrix(change: Any) -> list[Any]:
    W, y = given("cliques")
    return shown(classify(change(W), [None if k < 0 else k for k in y.tolist()]))


def of_file(name: str, labels: str = "labels.csv", **options: Any) -> list[Any]:
    write_files()
    return shown(classify(name, labels, **options))


def of_formats() -> list[Any]:
    return [shown(classify(name, "labels.csv")) for name in write_formats()]


def of_points(read: Callable[[str], Any] = str, **options: Any) -> list[Any]:
    write_files()
    return shown(classify(points=read("points.csv"), labels="species", id="flower", **options))


def of_frame(**options: Any) -> list[Any]:
    import pandas as pd

    return of_points(pd.read_csv, **options)


def tables() -> Any:
    result, names = classify(named_graph(), LABELS), ("a.csv", "a.tsv", "a.parquet", "a.xlsx")
    for name in names:
        result.write(name, excel=name == "a.xlsx", suspicion=name != "a.tsv")
    return [content(Path(name)) for name in names]


def page_and_model() -> Any:
    result = classify(named_graph(), LABELS)
    result.report("page.html", title="A page", command="none")
    result.save("model.zip")
    return [content(Path(name)) for name in ("page.html", "model.zip")]


def changed() -> list[Any]:
    before = classify(named_graph(), LABELS)
    after = before.update({"n0": "blue", "n33": None, "n5": "red"})
    return [shown(before), shown(after)]


def saved_and_loaded() -> list[Any]:
    before = classify(named_graph(), LABELS)
    before.save("model")
    after = rg.load("model")
    rows = (np.arange(330).reshape(3, 110) % 7 == 2) * 1.0
    return [shown(after), before.run == after.run, after.estimator.predict(rows)]


CLASSIFY: dict[str, Run] = {
    "networkx": lambda: shown(classify(named_graph(), "kind", eta=0.8)),
    "igraph": of_igraph,
    **{kind: partial(of_table, kind) for kind in ("pandas", "polars", "pyarrow")},
    "scipy": lambda: of_matrix(lambda W: W),
    "array": lambda: of_matrix(lambda W: W.toarray()),
    "CSR": lambda: of_matrix(rg.CSR.from_scipy),
    "edge_index": lambda: of_matrix(lambda W: np.stack(W.nonzero())),
    "edges.csv": partial(of_file, "edges.csv"),
    "edges.tsv.gz": partial(of_file, "edges.tsv.gz"),
    "formats": of_formats,
    "graph.mtx": partial(of_file, "graph.mtx", "numbers.csv"),
    "weighted.txt": partial(of_file, "weighted.txt", weight="strength", symmetrise="mean"),
    "options": partial(of_file, "edges.csv", "more.csv", ignore_unknown=True, unlabelled="none"),
    "points": of_points,
    "points, frame": partial(of_frame, scaling="none", affinity="rbf"),
    "tables": tables,
    "page and model": page_and_model,
    "update": changed,
    "save and load": saved_and_loaded,
}


def model_of_points(K: int = 2, **options: Any) -> Result:
    import pandas as pd

    X, y = make_blobs(60, 3, centers=K, cluster_std=2.0, random_state=7213)
    table = {f"x{k}": X[:, k] for k in range(3)} | {"name": [f"p{k}" for k in range(60)]}
    labels = {f"p{k}": f"class {y[k]}" for k in range(0, 60, 5)}
    return classify(points=pd.DataFrame(table), labels=labels, **options)


def model_of_graph(name: str, **options: Any) -> Result:
    W, y = given(name)
    return classify(W, [None if k < 0 else k for k in y.tolist()], **options)


MODELS: dict[str, Callable[[], Result]] = {
    "points_auto": model_of_points,
    "points_three_classes": partial(model_of_points, 3, metric="cosine", eta=0.7),
    "points_rbf": partial(model_of_points, affinity="rbf", **PAPER),
    "points_landmarks": partial(model_of_points, 3, affinity="rbf", landmarks=30, n_modes=2),
    "points_approximate": partial(model_of_points, ann=True, **PAPER, priors="labels"),
    "graph_auto": partial(model_of_graph, "two blocks"),
    "graph_islands": partial(model_of_graph, "islands", eta=0.9),
    "graph_updated": lambda: model_of_graph("cliques", **PAPER).update({"3": 1, "150": None}),
}


def loaded(name: str) -> list[Any]:
    """Load a stored model, answer new points, and save it again."""
    result = rg.load(STORED / f"{name}.zip")
    clf = result.estimator
    new = np.random.default_rng(7219).normal(0, 6, (7, clf.n_features_in_))
    new = np.abs(new) if clf.affinity == "precomputed" else new
    result.save("again.zip")
    return [
        *shown(result),
        *(clf.predict(new), clf.decision_function(new), clf.predict_proba(new)),
        *(clf.get_params(), clf.reasons_, [getattr(clf, name, "none") for name in FITTED]),
        content(Path("again.zip")),
    ]


SAVED: dict[str, Run] = {name: partial(loaded, name) for name in MODELS}

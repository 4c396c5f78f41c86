"""The functions on a graph, graphs in files, and the data sets."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import robustgc as rg
from benchmarks.same_answers.digests import Run
from benchmarks.same_answers.estimators import fitted, issues
from benchmarks.same_answers.inputs import given, table
from robustgc import datasets

ISSUE = ("node", "given", "suggested", "suspicion", "margin", "evidence", "judged")
KIND = "combinatorial"
DATASET = ("name", "labels", "names", "weights", "points", "citation", "licence")


def signs(name: str, columns: int = 1) -> tuple[rg.Graph, Any]:
    """Return a new graph, which keeps nothing of other runs, and labels +1, -1 and 0."""
    W, y = given(name)
    own = np.where(y[:, None] == np.arange(columns), 1.0, -1.0)
    Y = np.where(y[:, None] < 0, 0.0, own)
    return rg.Graph(W), Y[:, 0] if columns == 1 else Y


def solved(found: Any) -> list[Any]:
    several = found if isinstance(found, list) else [found]
    return [[s.f, s.residual, s.n_iter] for s in several]


def pairs(found: rg.Spectrum) -> list[Any]:
    return [found.values, found.vectors, found.residual]


def share(eta: float, model: Any, **options: Any) -> Callable[..., Any]:
    """Return a model with gamma as a share of lambda_1."""
    return lambda g, y: model(g, y, gamma=eta * rg.lambda_1(g), **options)


def bounds(g: rg.Graph, y: Any) -> list[float]:
    first = rg.lambda_1(g)
    bound = rg.condition_bound(g, 0.4 * first, positive_semidefinite=True)
    return [first, rg.condition_bound(g, 0.4 * first), bound]


ON_GRAPHS: dict[str, Callable[[rg.Graph, Any], Any]] = {
    "lambda_1": bounds,
    "eigenpairs": lambda g, y: pairs(rg.eigenpairs(g, 6)) + pairs(rg.eigenpairs(g, 4, KIND)),
    "products": lambda g, y: [g.S(y), g.L_N(y), g.P0(y), g.d, g.v0, g.W, g.n],
    "robust": lambda g, y: solved(share(0.9, rg.robust)(g, y)),
    "robust, modes": lambda g, y: solved(share(0.9, rg.robust, n_modes=2)(g, y)),
    "robust_path": lambda g, y: solved(rg.robust_path(g, y, etas=[0.3, 0.7, 0.95])),
    "zhou": lambda g, y: solved(rg.zhou(g, y, gamma=0.05)),
    "zhou_path": lambda g, y: solved(rg.zhou_path(g, y, [0.01, 0.3, 2.0])),
    "belkin": lambda g, y: solved(rg.belkin(g, y, n_vectors=5)),
    "harmonic": lambda g, y: solved(rg.harmonic(g, y)),
    "poisson": lambda g, y: solved(rg.poisson(g, y)),
    "leave_one_out": share(0.8, rg.leave_one_out),
    "node_kernel": lambda g, y: rg.node_kernel(g, [2, 5], [3, 5, 8]),
}


def edges_of(name: str) -> tuple[Any, Any, Any]:
    upper = sp.triu(given(name)[0], 1).tocoo()
    return upper.row.astype(np.int64), upper.col.astype(np.int64), upper.data


def built(edges: Any, folder: str = "graph", **options: Any) -> list[Any]:
    W = rg.build_csr(edges, folder, **options)
    return [W.indptr, W.indices, "unit" if W.data is None else W.data]


def of_files() -> list[Any]:
    i, j, w = edges_of("weighted tree")
    np.save("edges.npy", np.stack([i, j], axis=1))
    rows = zip(i.tolist(), j.tolist(), w.tolist(), strict=True)
    table("numbers.csv", [("source", "target", "weight"), *rows])
    return [built("edges.npy", "one", n_nodes=710), built("numbers.csv", "two")]


def csr() -> list[Any]:
    W = rg.CSR.from_scipy(given("weighted tree")[0])
    W.save("folder")
    again = rg.CSR.open("folder")
    x = np.linspace(-1, 2, W.shape[0])
    return [again.to_scipy(), again @ x, again.sum(), again.diagonal(), W.shape, W.nnz, W.nbytes]


def estimated() -> list[Any]:
    sizes = {"n_nodes": 10**7, "n_edges": 10**8}
    several = [rg.estimate(given("grid 2,700")[0]), rg.estimate(**sizes, auto=False)]
    return [[found.memory, found.least, found.solver] for found in several]


def extended() -> Any:
    g, y = signs("two blocks")
    sizes = np.array([[1.0], [0.1], [3.0], [0.0]])
    rows = np.random.default_rng(7211).random((4, g.n)) * sizes
    return rg.extend(g.d, rg.zhou(g, y, gamma=0.5).f, rows, 1.0, gamma=-0.5)


def row_by_row() -> list[Any]:
    return [[getattr(row, name) for name in ISSUE] for row in fitted().label_issues()]


def dataset(load: Callable[..., Any], *args: Any, **options: Any) -> list[Any]:
    found = load(*args, **options)
    return [getattr(found, name) for name in DATASET]


def drawn() -> list[Any]:
    blocks = [dataset(datasets.two_blocks, seed=7229), dataset(datasets.three_blocks, seed=7237)]
    return [dataset(datasets.chain, 20), dataset(datasets.moons, seed=7243), *blocks]


FUNCTIONS: dict[str, Run] = {
    **{
        f"{name}, {kind}": lambda name=name, call=call: call(*signs(name))
        for name in ("two blocks", "grid 2,700")
        for kind, call in ON_GRAPHS.items()
    },
    "full_spectrum": lambda: pairs(rg.full_spectrum(signs("cliques")[0])),
    "robust, columns": lambda: solved(share(0.9, rg.robust)(*signs("blocks 2,400", 4))),
    "extend": extended,
    "CSR": csr,
    "build_csr": lambda: built([edges_of("weighted tree")]),
    "build_csr, files": of_files,
    "build_csr, twice": lambda: built([edges_of("cliques")] * 2, duplicates="sum", buffer=8192),
    "estimate": estimated,
    "find_label_issues": lambda: issues(rg.find_label_issues(*given("twelve blocks"))),
    "row by row": row_by_row,
}
DATASETS: dict[str, Run] = {
    "polblogs": lambda: dataset(datasets.load_polblogs),
    "small": lambda: [dataset(datasets.load_karate), dataset(datasets.load_polbooks)],
    "drawn": drawn,
}

"""The graphs: one symmetric weight matrix each, which every method gets, and the true classes."""

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

SYNTH_SEED, EQUAL_SEED, UNEQUAL_SEED = 2311, 2333, 2339
INSIDE, ACROSS = 0.08, 0.01


@dataclass(frozen=True)
class Problem:
    """Weights, the true class of every node as 0, 1, ..., and features where there are any."""

    name: str
    W: sp.csr_matrix
    y: NDArray[np.int64]
    X: Any = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1


def problem_of(name: str, W: Any, classes: Any, X: Any = None) -> Problem:
    """Put weights and classes of any type into a problem."""
    y = np.unique(np.asarray(classes), return_inverse=True)[1]
    # csr_matrix, since not all peers know csr_array.
    return Problem(name, sp.csr_matrix(W).astype(float), y.astype(np.int64), X)


def _largest(W: Any) -> NDArray[np.int64]:
    piece = connected_components(W, directed=False)[1]
    return np.flatnonzero(piece == np.bincount(piece).argmax())


def _of_the_paper(name: str) -> Problem:
    from robustgc import datasets

    loaded = (
        datasets.three_blocks(seed=SYNTH_SEED)
        if name == "synth"
        else getattr(datasets, f"load_{name}")()
    )
    return problem_of(name, loaded.weights, loaded.labels)


def _points(name: str) -> Problem:
    """Join points as `RobustGC` does by default; wine and cancer mix units, so scale them."""
    from sklearn import datasets
    from sklearn.preprocessing import StandardScaler

    from robustgc.affinity import kinds

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    if name in ("wine", "breast_cancer"):
        X = StandardScaler().fit_transform(X)
    near = kinds.make(X, "knn", sigma=None, scale=2.0, self_loops=True, n_neighbors=None)
    return problem_of(name, near.weights(), y, X)


def _shared(name: str) -> Problem:
    """Read a graph of the shared folder: its largest component, without tiny classes."""
    folder = _folder() / name
    with (folder / "labels.csv").open(encoding="utf-8") as file:
        y = np.array([int(row["label"]) for row in csv.DictReader(file)])
    ends = np.loadtxt(folder / "edges.csv", delimiter=",", skiprows=1, dtype=np.int64)[:, :2]
    upper = sp.coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(y),) * 2)
    W = sp.csr_matrix(upper + upper.T)
    kept = np.arange(len(y))
    if name == "email-Eu-core":
        kept = np.flatnonzero(np.bincount(y)[y] >= 10)
    kept = kept[_largest(W[kept][:, kept])]
    X = _words(folder / "features_csr.npz")
    return problem_of(name, W[kept][:, kept], y[kept], None if X is None else X[kept])


def _planetoid(name: str) -> Problem:
    """Read a graph with features: its largest component of the nodes whose class is known."""
    with np.load(_folder() / "planetoid" / f"{name}.npz") as parts:
        y, ends = parts["labels"], parts["edges"].reshape(-1, 2)
        words = (parts["X_data"], parts["X_indices"], parts["X_indptr"])
        X = sp.csr_matrix(words, shape=tuple(parts["X_shape"]))
    upper = sp.coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(y),) * 2)
    W = sp.csr_matrix(upper + upper.T)
    kept = np.flatnonzero(y >= 0)
    kept = kept[_largest(W[kept][:, kept])]
    return problem_of(name, W[kept][:, kept], y[kept], X[kept])


def _words(path: Path) -> sp.csr_matrix | None:
    """Read bags of words, scaled to unit length: what matters is which words, not how many."""
    if not path.exists():
        return None
    from sklearn.preprocessing import normalize

    with np.load(path) as parts:
        words = sp.csr_matrix(
            (parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"])
        )
    return normalize(words)


def _folder() -> Path:
    beside = Path(__file__).parents[3] / "shared" / "data"
    return Path(os.environ.get("ROBUSTGC_DATA") or beside)


def _blocks(name: str, sizes: list[int], seed: int) -> Problem:
    W, y = block_model(sizes, INSIDE, ACROSS, np.random.default_rng(seed))
    kept = _largest(W)
    return problem_of(name, W[kept][:, kept], y[kept])


def block_model(
    sizes: list[int], inside: float, across: float, rng: np.random.Generator
) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
    """Draw edges, with one chance inside of a block and another across; return W and the blocks."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    chance = np.where(y[:, None] == y[None, :], inside, across)
    upper = np.triu(rng.random(chance.shape) < chance, k=1)
    return sp.csr_matrix((upper | upper.T).astype(float)), y


LOADERS: dict[str, Callable[[str], Problem]] = {
    **dict.fromkeys(("karate", "polbooks", "polblogs", "synth"), _of_the_paper),
    **dict.fromkeys(("digits", "wine", "iris", "breast_cancer"), _points),
    **dict.fromkeys(("cora", "pubmed", "email-Eu-core"), _shared),
    **dict.fromkeys(("amazon-photo", "citeseer"), _planetoid),
    "blocks-equal": lambda name: _blocks(name, [200] * 5, EQUAL_SEED),
    "blocks-unequal": lambda name: _blocks(name, [600, 400, 250, 150, 80, 50], UNEQUAL_SEED),
}


@lru_cache(maxsize=2)
def load(name: str) -> Problem:
    return LOADERS[name](name)

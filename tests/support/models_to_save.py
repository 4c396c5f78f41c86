"""Fitted models of every kind, and how to see that two are the same to the last bit."""

from dataclasses import fields, is_dataclass

import numpy as np
import scipy.sparse as sp

import graphs
import lifting
from robustgc import CSR, RobustGC
from samples import moons


def blobs(seed=5501, text=True):
    """Three groups of points, four labels each, and new points among them."""
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 1.0], [0.0, 4.0, -1.0]])
    truth = np.repeat([0, 1, 2], 30)
    X = centres[truth] + rng.normal(size=(90, 3))
    y = np.full(90, "", dtype="<U25") if text else np.full(90, -1, dtype=np.int16)
    names = np.array(["été", "日本", "x" * 20]) if text else np.array([7, 11, 300])
    for k in range(3):
        chosen = np.flatnonzero(truth == k)[:4]
        y[chosen] = names[k]
    y[0] = names[1]
    return X, y, centres[rng.integers(3, size=9)] + rng.normal(size=(9, 3))


def islands():
    """Two solved components, one with one class, one without a label, one isolated node."""
    rng = np.random.default_rng(5503)
    parts = [graphs.random_weights(rng, n) for n in (12, 10, 5, 4)]
    W = sp.block_diag([*parts, [[0.0]]], format="csr")
    y = np.full(32, -1)
    y[[0, 3, 5, 7]] = [3, 4, 5, 3]
    y[[12, 15, 17, 20]] = [4, 3, 4, 3]
    y[[22, 24]] = 5
    return W, y


def _moons(**options):
    def made():
        X, y, _ = moons()
        return RobustGC(**options).fit(X, y), X, moons(seed=23)[0][:11]

    return made


def _blobs(text=True, change=lambda X: X, weight=None, **options):
    def made():
        X, y, new = blobs(text=text)
        return RobustGC(**options).fit(change(X), y, weight), change(X), change(new)

    return made


def _graph(change, **options):
    def made():
        W, truth = lifting.blocks(5507, [30, 25, 20], 0.4, 0.04)
        y, _ = lifting.some_labels(5519, truth, 6, 2)
        W = sp.csr_array(W)
        clf = RobustGC(affinity="precomputed", **options).fit(change(W), y)
        return clf, change(W), W[:4].toarray()

    return made


def _islands(**options):
    def made():
        W, y = islands()
        return RobustGC(affinity="precomputed", **options).fit(W, y), W, W[:, [0, 13, 23, 30]].T

    return made


def _labelled(values, **options):
    def made():
        X, y, _ = moons()
        named = np.array([values[label] for label in y.tolist()])
        return RobustGC(n_neighbors=4, **options).fit(X, named), X, moons(seed=23)[0][:11]

    return made


def _updated():
    W, y = islands()
    clf = RobustGC(affinity="precomputed").fit(W, y)
    return clf.update({1: 4, 0: None}), W, W[:3]


def _frame(X):
    import pandas as pd  # the environment of the tests on ranks has none

    return pd.DataFrame(X, columns=["a", "ü", "c"])


MODELS = {
    "knn, 2 classes": _moons(),
    "the paper's": _moons(eta=0.9, n_modes=1, solver="dense"),
    "numpy parameters": _moons(eta=np.float32(0.5), n_modes=np.int64(2), class_weight="balanced"),
    "rbf, 2 classes": _moons(affinity="rbf", sigma=0.3),
    "knn, 3 classes": _blobs(),
    "approximate search": _blobs(ann=True),
    "rbf without loops": _blobs(text=False, affinity="rbf", self_loops=False),
    "weights of labels": _blobs(weight=np.linspace(0.5, 3.0, 90)),
    "sparse points": _blobs(change=sp.csr_array, affinity="rbf"),
    "columns first": _blobs(change=np.asfortranarray),
    "data frame": _blobs(change=_frame),
    "landmarks, knn": _blobs(landmarks=60),
    "landmarks, rbf": _blobs(landmarks=50, affinity="rbf", priors="labels"),
    "landmarks, sparse": _blobs(change=sp.csr_array, landmarks=50, affinity="rbf"),
    "priors by name": _blobs(priors={"été": 0.2, "日本": 0.5, "x" * 20: 0.3}),
    "priors as an array": _blobs(text=False, priors=np.array([0.2, 0.5, 0.3])),
    "priors as a tuple": _blobs(text=False, priors=(0.2, 0.5, 0.3)),
    "dense graph": _graph(lambda W: W.toarray()),
    "sparse graph": _graph(lambda W: W),
    "graph of CSR": _graph(CSR.from_scipy),
    "weighted CSR": _graph(lambda W: CSR(W.indptr, W.indices, (W.data * 2).astype(np.float32))),
    "islands": _islands(),
    "islands, the paper's": _islands(eta=0.5, n_modes=1),
    "updated": _updated,
    "booleans": _labelled({-1: None, 0: False, 1: True}),
    "NaN": _labelled({-1: np.nan, 0: 2.0, 1: 5.0}),
    "another marker": _labelled({-1: 99, 0: -5, 1: 1}, unlabeled=np.int64(99)),
}


def same(a, b):
    """Whether two values are of the same types and have the same bytes."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray) and not a.dtype.hasobject:
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if isinstance(a, np.ndarray | dict) or is_dataclass(a):
        return same(_values(a), _values(b))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return repr(a) == repr(b)  # NaN equals NaN, and -0.0 is not 0.0


def _values(a):
    if is_dataclass(a):
        return [getattr(a, field.name) for field in fields(a)]
    return [a.shape, a.ravel().tolist()] if isinstance(a, np.ndarray) else list(a.items())

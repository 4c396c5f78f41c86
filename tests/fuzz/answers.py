"""What must hold of a fitted estimator."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from robustgc import CSR, BelkinGC, ResidualWarning, RobustGC
from robustgc.estimators.saving.model import load, save
from robustgc.graph.graph import SMALL
from robustgc.linalg.modes import LARGE_GRAPH_RESIDUAL
from robustgc.transduction.answer import DECIDED, ISOLATED, NO_LABEL, ONE_CLASS, TIE
from robustgc.transduction.labels import sign_columns
from robustgc.transduction.landmarks import EXTENDED, OUT_OF_REACH
from tests.fuzz.verdict import BrokenError
from tests.support import oracles

ANSWERED, NOTHING = [DECIDED, ONE_CLASS, EXTENDED], [NO_LABEL, ISOLATED, OUT_OF_REACH]
REASONS = {*ANSWERED, *NOTHING, TIE}
NOISE = 1e-10  # beside labels of 1: decision values below it are rounding errors
ROUNDING = 1e-7  # a margin below this share of the largest value is a tie


@dataclass
class Asked:
    """A fitted estimator, the case that it is of, and the categories of warnings of its fit."""

    case: Any
    clf: Any
    warned: list[type]


def broken(text):
    raise BrokenError(text)


def require(holds, text):
    if not holds:
        raise BrokenError(text)


def fitted(asked):
    """Check all that is documented of the attributes of a fit."""
    clf = asked.clf
    consistent(clf)
    tol = _tolerance(asked)
    said = any(kind.__module__.startswith("robustgc") for kind in asked.warned)
    require(np.isfinite(clf.residual_), f"residual_ is not finite: {clf.residual_}")
    require(
        clf.residual_ <= tol or said, f"residual_ above tol without a word: {clf.residual_} > {tol}"
    )


def _tolerance(asked):
    options = asked.clf.get_params()
    if options.get("tol") is not None:
        return options["tol"]
    chosen = isinstance(asked.clf, RobustGC) and "auto" in (options["eta"], options["n_modes"])
    if chosen and np.bincount(asked.clf.components_ + 1)[1:].max(initial=0) > SMALL:
        return LARGE_GRAPH_RESIDUAL  # as documented
    single = options.get("dtype") == "float32"
    return 1e-5 if single else 1e-8 if isinstance(asked.clf, RobustGC) else 1e-6


def consistent(clf):
    """Check shapes, classes, values and reasons against each other."""
    n, K = len(clf.components_), len(clf.classes_)
    f, named, reasons = clf.f_, clf.transduction_, clf.reasons_
    require(K >= 2, f"fewer than two classes: {K}")
    require(len(set(clf.classes_.tolist())) == K, f"classes twice: {clf.classes_}")
    require(f.shape == ((n,) if K == 2 else (n, K)), f"f_ has another shape: {f.shape}")
    require(named.shape == reasons.shape == (n,), f"answers have another shape: {named.shape}")
    require(set(reasons.tolist()) <= REASONS, f"an unknown reason: {set(reasons.tolist())}")
    codes = coded(named, clf)
    nothing = np.isin(reasons, NOTHING)
    columns = f[:, None] if K == 2 else f
    require(np.isnan(columns[nothing]).all(), "a value where there is no label: not NaN")
    some = np.isin(reasons, ANSWERED)
    require(not np.isnan(columns[some]).any(), "NaN in f_: where the model decided")
    require(not np.isposinf(columns).any(), "infinity in f_: not documented")
    require(K > 2 or np.isfinite(columns[some]).all(), "infinity in f_: of two classes")
    require((codes[some] >= 0).all(), "no class: where the model decided")
    require((codes[~some] < 0).all(), "a class: where there is no answer")
    decided = np.isin(reasons, [DECIDED, EXTENDED])
    best = (columns[:, 0] > 0) if K == 2 else np.nan_to_num(columns, nan=-np.inf).argmax(axis=1)
    require((best[decided] == codes[decided]).all(), "the class is not that of f_: decided")


def coded(named, clf):
    """Return the number of every class in an answer; -1 for what is no class."""
    known = clf.classes_.tolist()
    number = {value: k for k, value in enumerate(known)}
    codes = np.array([number.get(value, -1) for value in named.tolist()])
    for value in {repr(v): v for v, k in zip(named.tolist(), codes, strict=True) if k < 0}.values():
        unmarked = repr(value) in (repr(clf._labels.marker), "None", "nan")
        require(
            unmarked or value == clf._labels.marker, f"neither a class nor the marker: {value!r}"
        )
    return codes


def issues(found, clf):
    """Check a report of wrong labels."""
    given = np.flatnonzero(clf._labels.codes >= 0)
    if clf.landmarks is None:
        require(
            sorted(found.node.tolist()) == given.tolist(), "the report lacks labels: or has more"
        )
    require(((found.suspicion >= 0) & (found.suspicion <= 1)).all(), "suspicion: not from 0 to 1")
    require((np.abs(found.margin) <= 1 + 1e-9).all(), "margin: not from -1 to 1")
    require(0 <= found.noise_rate <= 1, f"noise_rate: {found.noise_rate}")
    require((found.pairs > -1e-9).all(), "pairs: negative")
    require(abs(found.pairs.sum() - 1) < 1e-6, f"pairs do not sum to 1: {found.pairs.sum()}")


def queries(found, wanted, clf):
    unlabelled = set(np.flatnonzero(clf._labels.codes < 0).tolist())
    require(len(found) <= wanted, "more queries than wanted: suggest_queries")
    require(len(set(found.tolist())) == len(found), "a query twice: suggest_queries")
    require(set(found.tolist()) <= unlabelled, "a query that has a label: suggest_queries")


def _probable(P, K, rows):
    require(P.shape == (rows, K), f"probabilities have another shape: {P.shape}")
    nothing = np.isnan(P).any(axis=1)
    require(np.isnan(P[nothing]).all(), "probabilities: some NaN in a row, not all")
    P = P[~nothing]
    require(((P >= 0) & (P <= 1)).all(), "probabilities: not from 0 to 1")
    require(np.allclose(P.sum(axis=1), 1), "probabilities: do not sum to 1")


# Checks after the fit; one of them a case. Add one here.


def on_the_same(asked, folder):
    """Check that predict on what was fitted gives what was fitted."""
    clf, X = asked.clf, asked.case.X
    predicted = clf.predict(X)
    require(same(predicted, clf.transduction_), "predict differs from transduction_: same X")
    _probable(clf.predict_proba(X), len(clf.classes_), len(predicted))
    require(0 <= clf.score(X, asked.case.y) <= 1, "score: not from 0 to 1")


def on_new(asked, folder):
    """Check answers for new points."""
    clf, new = asked.clf, asked.case.new
    predicted = clf.predict(new)
    coded(predicted, clf)
    _probable(clf.predict_proba(new), len(clf.classes_), len(predicted))
    f = clf.decision_function(new)
    require(not np.isposinf(f).any(), "infinity in decision_function: new points")


def twice(asked, folder):
    """Check that a second fit gives the same bytes."""
    clf = _again(asked, asked.case.X)
    fresh = _again(asked, asked.case.X)
    for name in ("f_", "transduction_", "components_"):
        require(same(getattr(clf, name), getattr(fresh, name)), f"{name} differs: on a second fit")


def _again(asked, X):
    clf = type(asked.clf)(**asked.case.options)
    return clf.fit(X, asked.case.y, **asked.case.more)


def same(a, b):
    """Whether two arrays have the same bytes, or the same objects."""
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    return repr(a.tolist()) == repr(b.tolist()) if a.dtype.hasobject else a.tobytes() == b.tobytes()


def saved(asked, folder):
    """Check that a saved model answers as the fitted one."""
    clf, new = asked.clf, asked.case.new
    if not isinstance(clf, RobustGC):
        return
    path = folder / ("model.zip" if len(clf.classes_) == 2 else "model")
    save(clf, path)
    loaded = load(path).estimator
    for name in ("f_", "transduction_", "reasons_", "components_"):
        require(same(getattr(clf, name), getattr(loaded, name)), f"{name} differs: once loaded")
    require(str(clf.label_issues()) == str(loaded.label_issues()), "issues differ: once loaded")
    first = clf.predict_proba(new)  # refused: then of the loaded one too
    require(same(first, loaded.predict_proba(new)), "predict_proba differs: once loaded")


def containers(asked, folder):
    """Check that the same matrix, dense and sparse, gives the same answer."""
    case = asked.case
    if case.plain is None or not case.graph or np.asarray(case.plain).shape[0] > 300:
        return
    if isinstance(asked.clf, BelkinGC):  # of eigenvalues that repeat any vectors may be the first
        return
    W = np.asarray(case.plain)
    tol = _tolerance(asked)
    eta = case.options.get("eta")
    room = (1e-6 + 10 * min(tol, 1e-3)) / (1 - eta if isinstance(eta, float) else 0.1)
    solved = [c.lambda_1 for c in asked.clf.certificates_.values() if c.lambda_1 > 0]
    room += 1e-13 / min(solved, default=1.0)  # rounding of v_1' y, as in `formula`
    fixed = isinstance(eta, float) and "n_modes" in case.options
    if isinstance(asked.clf, RobustGC) and not fixed and _repeats(W, asked.clf.components_):
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ResidualWarning)
        fits = [_again(asked, X) for X in (W, sp.csr_array(W), CSR.from_scipy(sp.csr_array(W)))]
    if any(w.category is ResidualWarning for w in told):  # it says that values mean little
        return
    for other, kind in zip(fits[1:], ("sparse", "CSR"), strict=True):
        agree(fits[0], other, room, kind)


def _repeats(W, components):
    """Whether an eigenvalue repeats in some component, as in a complete graph.

    The automatic choice also weighs least squares on the first modes, and of such an eigenvalue any
    vectors may be the first: values then differ by per cents, and by 1e-14 where all is fixed.
    """
    for c in np.unique(components):
        part = W[np.ix_(components == c, components == c)]
        if len(part) > 2 and part.any(axis=1).all():
            values = np.sort(np.linalg.eigvalsh(oracles.laplacian(part)))[1:]
            values = values[values > 1e-8]  # smaller ones are told apart by other means
            if (np.diff(values) < 1e-6).any():
                return True
    return False


def agree(a, b, room, kind):
    """Require the same answer up to rounding, and the same labels up to ties."""
    require(np.array_equal(a.components_, b.components_), f"components differ: dense and {kind}")
    A, B = (np.reshape(clf.f_, (len(clf.f_), -1)) for clf in (a, b))
    require((np.isfinite(A) == np.isfinite(B)).all(), f"no answer in one of: dense and {kind}")
    labels = coded(a.transduction_, a), coded(b.transduction_, b)
    for c in np.unique(a.components_):
        here = a.components_ == c
        X, Y = A[here], B[here]
        known = np.isfinite(X[0])
        if not known.any():
            continue
        X, Y = X[:, known], Y[:, known]
        top = max(np.abs(X).max(), np.abs(Y).max())
        if top < NOISE:  # the labels cancel: all that is left is rounding
            continue
        worst = np.abs(X / top - Y / top).max()
        require(
            worst <= room, f"f_ differs by a share: {worst:.2g} of the largest, dense and {kind}"
        )
        ranked = np.sort(X, axis=1) if X.shape[1] > 1 else np.hstack([-np.abs(X), np.abs(X)])
        margin = (ranked[:, -1] - ranked[:, -2]) / top
        differ = (labels[0][here] != labels[1][here]) & (margin > max(ROUNDING, 2 * room))
        require(not differ.any(), f"labels differ: {differ.sum()} of them, dense and {kind}")


def formula(asked, folder):
    """Check decision values against the paper's formula, dense and as printed."""
    clf, case = asked.clf, asked.case
    if case.plain is None or not case.graph or case.more or len(np.asarray(case.plain)) > 60:
        return
    W, Y = np.asarray(case.plain), sign_columns(clf._labels.codes, len(clf.classes_))
    F = np.reshape(clf.f_, (len(clf.f_), -1))
    for c in np.unique(clf.components_):
        nodes = np.flatnonzero(clf.components_ == c)
        part = W[np.ix_(nodes, nodes)]
        cut = np.count_nonzero(W[nodes]) > np.count_nonzero(part)  # links too faint to count
        if cut or not (clf.reasons_[nodes] == DECIDED).all() or _hard(part):
            continue
        limit = oracles.lambda_1(part)
        for k in np.flatnonzero(np.isfinite(F[nodes[0]])):
            expected, eta = _expected(clf, part, Y[nodes, k], limit)
            if expected is None:
                continue
            top = np.abs(expected).max()
            room = (1e-6 + 10 * _tolerance(asked) + 1e-13 / limit) / (1 - eta)
            worst = np.abs(F[nodes, k] - expected).max() / top if top else 0.0
            require(
                worst <= room, f"f_ is not the formula's: off by {worst:.2g}, allowed {room:.2g}"
            )


def _hard(W):
    """Whether the dense formula itself would lose its digits."""
    positive = W[W > 0]
    if positive.size == 0 or positive.max() > 1e6 * positive.min() or positive.max() > 1e100:
        return True
    return positive.min() < 1e-100 or not 1e-6 < oracles.lambda_1(W)


def _expected(clf, W, y, limit):
    options, name = clf.get_params(), type(clf).__name__
    eta = options.get("eta")
    if name == "RobustGC":
        plain = options["class_weight"] is None and options["priors"] is None
        if not isinstance(eta, float) or eta < 1e-6 or options["n_modes"] != 1 or not plain:
            return None, 0.0
        return oracles.robust(W, y, eta * limit), eta
    if name == "ZhouGC" and isinstance(options["gamma"], float) and 1e-6 < options["gamma"] < 1e6:
        return oracles.zhou(W, y, options["gamma"]), 0.0
    if name == "HarmonicGC":
        return oracles.harmonic(W, y), 0.0
    return (oracles.poisson(W, y), 0.0) if name == "PoissonGC" else (None, 0.0)


CHECKS = [on_the_same, on_new, twice, saved, containers, containers, formula]

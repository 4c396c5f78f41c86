"""What the estimators share: X becomes a graph, an answer becomes attributes and predictions."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from robustgc.affinity import kinds as affinities
from robustgc.affinity.features import (
    Standardisation,
    by_name,
    check_metric,
    unit_rows,
    warn_of_spreads,
)
from robustgc.affinity.kinds import Affinity
from robustgc.affinity.points import as_float, row_keys, same
from robustgc.affinity.views import FeaturedGraph
from robustgc.graph.alerts import warn
from robustgc.graph.csr import CSR
from robustgc.graph.quoting import quoted
from robustgc.graph.structure import check_sparse
from robustgc.graph.weights import Array, Weights, separated
from robustgc.transduction.answer import Certificate, Transduction, decide
from robustgc.transduction.columns import probabilities, root_mean_square
from robustgc.transduction.labels import Labels, recode
from robustgc.transduction.landmarks import choose, cover

BLOCK = 2**24  # kernel values held at a time when new points are answered: 128 MB


@contextmanager
def unchanged_by_failure(estimator: BaseEstimator) -> Iterator[None]:
    """Let a fit that fails, or is stopped, leave the estimator as it was: all attributes."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:  # Ctrl-C too
        estimator.__dict__ = before  # at once: a second Ctrl-C cannot come in between
        raise


@dataclass(frozen=True)
class InputGraph:
    """The rows of X as they were read, their labels, and the graph that they make."""

    X: Any  # points, or weights
    labels: Labels  # of the rows of X
    affinity: Affinity
    weights: Weights  # from `separated`
    chosen: NDArray[np.int64] | None  # rows of X that are nodes, the landmarks; None: all

    @property
    def node_labels(self) -> Labels:
        """The labels of the nodes."""
        if self.chosen is None:
            return self.labels
        return replace(self.labels, codes=self.labels.codes[self.chosen])

    def at_nodes(self, values: Array) -> Array:
        """Return the values of the nodes from those of the rows of X."""
        return values if self.chosen is None else values[self.chosen]

    def extended(self, answer: Transduction) -> Transduction:
        """Return the answer for all rows of X from that on the graph."""
        if self.chosen is None:
            return answer
        rest = np.setdiff1d(np.arange(self.X.shape[0]), self.chosen)
        return cover(answer, self.chosen, _extended(answer, self.affinity, self.X, rest))


class GraphClassifier(ClassifierMixin, BaseEstimator):
    """Base of the estimators: reading X, publishing an answer, and predicting from it.

    A subclass has a `fit` that reads from top to bottom, and calls what is here.
    """

    # Parameters that every subclass takes in its __init__.
    affinity: Any
    sigma: Any
    scale: Any
    self_loops: Any
    n_neighbors: Any
    metric: Any
    ann: Any
    landmarks: Any
    unlabeled: Any

    _scaling: Standardisation | None = None  # of columns, where `classify` has standardised them
    _chosen: NDArray[np.int64] | None = None  # as in `InputGraph`
    _featured: FeaturedGraph | None = None  # where the nodes of the graph have features

    def _set_parameters(self, arguments: dict[str, Any]) -> None:
        """Set the parameters of an `__init__`, from its `locals()`, each as it was given."""
        for name, value in arguments.items():
            if name != "self":
                setattr(self, name, value)

    def _check_input(self) -> None:
        """Refuse what says how X becomes a graph, before any work is done."""
        affinities.check_kind(self.affinity)
        check_metric(self.metric, self.affinity)
        if isinstance(self.scale, Real) and self.scale != 2.0 and self.affinity == "rbf":
            warn(
                f"scale={quoted(self.scale)} is deprecated and will be removed: sigma says the "
                "same. Give sigma multiplied by sqrt(scale / 2), and leave scale out.",
                FutureWarning,
            )

    def _read_to_fit(self, X: Any) -> Any:
        """Check X, and warn of columns of points that distances would not see."""
        self._scaling = None
        X = self._read(X, reset=True)
        if self.metric == "euclidean" and self.affinity in ("knn", "rbf"):
            warn_of_spreads(X, getattr(self, "feature_names_in_", None))
        return X

    def _input_graph(self, X: Any, labels: Labels) -> InputGraph:
        """Make the graph of the rows of X, or of some of them."""
        nodes, chosen = X, None
        if self.landmarks is not None:
            chosen = choose(self.landmarks, labels.codes, self.affinity)
            nodes = X[chosen]
        affinity = affinities.make(
            nodes,
            self.affinity,
            sigma=self.sigma,
            scale=self.scale,
            self_loops=self.self_loops,
            n_neighbors=self.n_neighbors,
            ann=self.ann,
        )
        weights = separated(affinity.weights(), tell=self.affinity == "precomputed")
        return InputGraph(X, labels, affinity, weights, chosen)

    def _keep(self, graph: InputGraph, answer: Transduction) -> None:
        """Keep the answer on a graph, extended to all rows of X."""
        whole = graph.extended(answer)
        self._X, self._labels = graph.X, graph.labels
        self._affinity: Any = graph.affinity
        self._answer, self._chosen = whole, graph.chosen
        self._graph_answer = answer  # what new points are answered from
        self._rows: dict[int, list[int]] | None = None

    def _set_answers(self, answer: Transduction) -> Certificate:
        """Set what all estimators publish; return the evidence of the largest component."""
        self.classes_ = self._labels.classes
        self.transduction_ = self._labels.names(answer.codes)
        self.f_ = self._shaped(answer.f).copy()
        self.reasons_ = answer.reasons
        self.components_ = answer.number
        self.certificates_ = answer.certificates
        self.sigma_ = getattr(self._affinity, "sigma", None)
        self.neighbors_ = getattr(self._affinity, "search", None)
        nothing = Certificate(0, residual=0.0, n_iter=0, extension=np.nan)
        solved = list(answer.certificates.values())
        self.residual_ = max((c.residual for c in solved), default=0.0)
        self.n_iter_ = max((c.n_iter for c in solved), default=0)
        return max(solved, key=lambda c: c.n_nodes, default=nothing)

    def fit_predict(self, X: Any, y: ArrayLike) -> NDArray[Any]:
        """Fit and return `transduction_`, the class of every node."""
        return np.asarray(self.fit(X, y).transduction_)

    def decision_function(self, X: Any) -> Array:
        """Return decision values: positive towards ``classes_[1]``, or one column per class.

        A row of X that was fitted gets its fitted value; other points are answered by the
        out-of-sample extension. NaN where the extension does not reach.

        Parameters
        ----------
        X : array or sparse matrix, shape (n, n_features) or (n, N)
            Points, or weights to the N fitted nodes if ``affinity="precomputed"``.
        """
        return self._shaped(self._decisions(X)[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row of X; the unlabelled marker where there is no answer."""
        codes = self._decisions(X)[1]
        return self._labels.names(codes)

    def predict_proba(self, X: Any) -> Array:
        """Map decision values to (0, 1) by a logistic (two classes) or softmax function.

        The values are scaled by their root mean square on the fitted graph. Rows sum to 1 and
        order points as the decision values do. They are a convenience, *not* calibrated
        frequencies: 0.9 does not mean that nine in ten such answers are right. Points without an
        answer get NaN.
        """
        return self._probabilities(self._decisions(X)[0])

    def _probabilities(self, f: Array) -> Array:
        """Return probabilities of the classes from decision values."""
        return probabilities(f, root_mean_square(self._answer.f))

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy over the entries of y that carry a label; no answer is a miss."""
        codes = self._decisions(X)[1]
        truth = recode(y, self.classes_, unlabeled=self.unlabeled)
        weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight)
        if not len(codes) == len(truth) == len(weight):
            raise ValueError(
                f"X has {len(codes)} rows, y {len(truth)} and sample_weight {len(weight)} entries; "
                "they must be as many."
            )
        known = truth != -1
        if not known.any():
            raise ValueError("No entry of y carries a label, so there is nothing to score.")
        weight = weight[known].astype(float)
        if not (np.isfinite(weight).all() and weight.min() >= 0 and weight.max() > 0):
            raise ValueError("sample_weight must be finite, at least 0, and not 0 for all labels.")
        return float(np.average((codes == truth)[known], weights=weight / weight.max()))

    def _decisions(self, X: Any) -> tuple[Array, NDArray[np.int64]]:
        """Return decision values and class codes for rows of X, block by block."""
        check_is_fitted(self)
        return self._decided(self._read(X, reset=False))

    def _decided(self, X: Any) -> tuple[Array, NDArray[np.int64]]:
        """Return decision values and class codes for rows that were read."""
        if not isinstance(self._X, CSR) and sp.issparse(X) != sp.issparse(self._X):
            X = X.toarray() if sp.issparse(X) else sp.csr_array(X)
        if X.shape == self._X.shape and same(X, self._X):
            return self._answer.f.copy(), self._answer.codes
        f, codes = np.empty((X.shape[0], self._answer.f.shape[1])), np.empty(X.shape[0], np.int64)
        fitted = self._fitted_rows(X)
        for row, nodes in fitted:
            f[row] = self._answer.f[nodes].mean(axis=0)
            agreed = np.unique(self._answer.codes[nodes])
            codes[row] = agreed[0] if len(agreed) == 1 else decide(f[row][None])[0]
        new = np.setdiff1d(np.arange(X.shape[0]), [row for row, _ in fitted])
        if self._featured is not None and len(new):
            raise ValueError(
                f"{len(new)} of {X.shape[0]} rows are new nodes, and the model was fitted with "
                "features, by which new nodes cannot be predicted yet. Add them to the graph, with "
                "their features, and fit again."
            )
        f[new] = _extended(self._graph_answer, self._affinity, X, new)
        codes[new] = decide(f[new])
        return f, codes

    def _fitted_rows(self, X: Any) -> list[tuple[int, list[int]]]:
        """Pair every row of X that was fitted with the node, or nodes, it was fitted as."""
        if isinstance(self._X, CSR):
            return []
        known = self._rows
        if known is None:
            known = {}
            for node, key in enumerate(row_keys(self._X)):
                known.setdefault(key, []).append(node)
            self._rows = known
        return [(row, known[key]) for row, key in enumerate(row_keys(X)) if key in known]

    def _read(self, X: Any, *, reset: bool) -> Any:
        """Check X the scikit-learn way; weight matrices are checked by `check_weights`."""
        if isinstance(X, CSR):
            return self._read_csr(X, reset)
        if sp.issparse(X):
            check_sparse(X, "X")
        if isinstance(X, np.matrix):  # what .todense() of scipy gives; scikit-learn refuses it
            X = np.asarray(X)
        if self.affinity == "precomputed" and reset:
            W = affinities.as_matrix(X)
            if W.ndim == 2 and W.shape[1] > 0:
                validate_data(self, X, skip_check_array=True)  # names and number of columns
            return as_float(W) if W.dtype.kind in "biuf" else W
        if not reset and hasattr(self, "feature_names_in_"):
            X = by_name(X, self.feature_names_in_)
        with np.errstate(over="ignore", invalid="ignore"):  # it adds all numbers up, to find NaN
            points = validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr",
                dtype=np.float64,
                ensure_min_samples=2 if reset else 1,
                copy=reset,  # predict compares with what was fitted, whatever becomes of X
            )
        return self._measured(as_float(points))

    def _measured(self, X: Any) -> Any:
        """Return points as distances see them: standardised, of length 1 for cosines."""
        if self._scaling is not None:
            X = self._scaling.applied(X)
        return unit_rows(X) if self.metric == "cosine" else X

    def _read_csr(self, X: CSR, reset: bool) -> CSR:
        if self.affinity != "precomputed":
            raise ValueError("A CSR holds weights; use affinity='precomputed' with it.")
        if not reset and not (isinstance(self._X, CSR) and X.same(self._X)):
            raise ValueError(
                "New points must come as rows of weights in an array or a scipy matrix, one column "
                "per fitted node; a CSR is a whole graph."
            )
        self.n_features_in_ = X.shape[1]
        return X

    def _shaped(self, f: Array) -> Array:
        return f[:, 0] if f.shape[1] == 1 else f

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_rows": None} if "_rows" in state else state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        precomputed = isinstance(self.affinity, str) and self.affinity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = precomputed
        return tags


def _extended(answer: Transduction, affinity: Affinity, X: Any, new: NDArray[Any]) -> Array:
    """Extend an answer to some rows of X, in blocks that bound the weights held at a time."""
    f = np.empty((len(new), answer.f.shape[1]))
    step = max(1, min(512, BLOCK // len(answer.codes)))
    for start in range(0, len(new), step):
        block = slice(start, start + step)
        f[block] = answer.extend(*affinity.rows(X[new[block]]))
    return f

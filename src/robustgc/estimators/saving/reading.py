"""JSON and arrays -> a fitted RobustGC, after checking that they fit each other."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.affinity.features import Standardisation, check_metric
from robustgc.affinity.kinds import Affinity, Gaussian, Nearest, Precomputed
from robustgc.audit.issues import LabelIssues
from robustgc.estimators.fits import AnswersOnly
from robustgc.estimators.robust import RobustGC
from robustgc.estimators.saving.state import KINDS
from robustgc.graph.csr import CSR
from robustgc.graph.quoting import quoted, short
from robustgc.graph.structure import check_rows
from robustgc.graph.weights import check_weights
from robustgc.storage.answers import ROUNDING, check_answer, check_issues, in_share
from robustgc.storage.checks import Checked
from robustgc.storage.values import array, decoded, decoded_record
from robustgc.transduction.answer import Certificate, Transduction
from robustgc.transduction.labels import Labels


class Reading(Checked):
    """One model that is read.

    Attributes
    ----------
    reviewed : ndarray of bool or None
        Which nodes have a label that a person has confirmed; None: the model does not say.
    """

    reviewed: NDArray[np.bool_] | None = None

    def estimator(self) -> RobustGC:
        """Return the estimator as it was saved."""
        if self.value("class", str) != "RobustGC":
            self.refuse(f"the class is {quoted(self._about['class'])}; it must be 'RobustGC'")
        made = self._unfitted()
        X = self._points(made.affinity == "precomputed")
        n = X.shape[0]
        classes = self._classes()
        K = len(classes)
        given = self.array("given", "int64", (n,), -1, K - 1)
        made._labels = Labels(classes, given, self._marker(classes))
        self.reviewed = self._reviewed(given)
        made._X, made._rows = X, None
        made._sample_weight = self.array("sample_weight", "float64", (n,), 0)
        made._shares = self._priors(K)
        made._answer = answer = self.answer(n, K)
        made._chosen = chosen = self._landmarks(n, made.affinity)
        check_answer(self, answer, chosen, *self._reasons)
        nodes = X if chosen is None else X[chosen]
        made._affinity = self._affinity(made.affinity, nodes)
        made._graph_answer = answer if chosen is None else _part(answer, chosen)
        report = self.issues(n, classes)
        if isinstance(report, LabelIssues):
            check_issues(self, report, made._labels)
            report = report if chosen is None else self._by_landmark(report, chosen, n)
        made._fit = AnswersOnly(made._graph_answer, report)
        self._name_features(made, X.shape[1])
        made._scaling = self._standardisation(made)
        made._set_model(answer)
        made.eta_, made.n_modes_ = self._eta(), self._n_modes()
        self.finish()
        return made

    def names(self, n: int) -> tuple[str | int, ...] | None:
        """Return the names of the nodes, if there are any."""
        if self._about.get("names") is None:
            return None
        found = self.value("names", list)
        if len(found) != n or not all(type(name) in (str, int) for name in found):
            self.refuse(f"names must be {n} texts or whole numbers, one for every node")
        return tuple(found)

    def _unfitted(self) -> RobustGC:
        known = RobustGC().get_params(deep=False)
        # A model that was saved before there was a choice of metrics does not name one.
        coded = {"metric": "euclidean", **self.value("parameters", dict)}
        odd = sorted(set(coded) ^ set(known))
        if odd:
            what = "unknown" if odd[0] in coded else "missing"
            self.refuse(f"the parameter {quoted(odd[0])} is {what}")
        if coded["affinity"] not in tuple(KINDS):
            self.refuse(f"affinity is {short(coded['affinity'])}, no kind that can be saved")
        try:
            made = RobustGC(**{name: decoded(value) for name, value in coded.items()})
            check_metric(made.metric, made.affinity)
            made._check_parameters()
        except (ValueError, TypeError, OverflowError) as failure:
            self.refuse(f"a parameter is not allowed: {short(failure, 300)}")
        return made

    def _points(self, square: bool) -> Any:
        """Return the points or weights as they were fitted, arrays with their layout."""
        kind = self.value("points", dict)
        if kind.get("kind") == "dense":
            X = self.array("points", "float64", (None, None))
        else:
            X = self._rows_of_entries(kind)
        n, columns = X.shape
        if n < 2 or columns < 1 or (square and n != columns):
            self.refuse(f"the points, or weights, have shape {X.shape}")
        if isinstance(X, CSR) and not square:
            self.refuse("points cannot be held as a graph")
        return X

    def _rows_of_entries(self, kind: dict[str, Any]) -> Any:
        indptr = self.array("points_indptr", "int32 int64", (None,), 0)
        indices = self.array("points_indices", "int32 int64", (None,), 0)
        entries = indices.shape
        try:
            check_rows(indptr, indices, what="the model")
        except ValueError:
            self.refuse(
                f"row pointers must rise from 0 to the number of entries, {len(indices)}",
                "points_indptr.npy",
            )
        if kind.get("kind") == "csr":
            weighted = kind.get("weighted") is True
            types = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"
            data = self.array("points_data", types, entries) if weighted else None
            try:
                return CSR(indptr, indices, data)
            except (ValueError, TypeError) as failure:
                self.refuse(
                    f"the weights are no graph: {short(failure, 300)}", "points_indices.npy"
                )
        data, columns = self.array("points_data", "float64", entries), kind.get("columns")
        if kind.get("kind") != "sparse" or type(columns) is not int or columns < 1:
            self.refuse(f"points are {short(kind)}, which is no way to hold them")
        try:
            X = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, columns))
            X.check_format(full_check=True)  # an index out of range would be read as memory
        except (ValueError, OverflowError) as failure:
            self.refuse(
                f"the entries are not in order: {short(failure, 300)}", "points_indices.npy"
            )
        return X

    def _classes(self) -> NDArray[Any]:
        try:
            classes = array(self._about.get("classes"))
        except (ValueError, TypeError, OverflowError) as failure:
            self.refuse(f"the classes cannot be read: {short(failure, 300)}")
        if len(classes) < 2 or not (classes[1:] > classes[:-1]).all():
            self.refuse(f"there are {len(classes)} classes; two or more are needed, ascending")
        return classes

    def answer(self, n: int, K: int) -> Transduction:
        """Take the answer for n nodes and K classes."""
        columns = 1 if K == 2 else K
        texts = self.value("reasons", list)
        if not texts or not all(isinstance(text, str) for text in texts):
            self.refuse("the reasons must be texts")
        reason = self.array("reasons", "uint8", (n,), 0, len(texts) - 1)
        self._reasons = texts, reason
        constant = self.array("constant_components", "int64", (None,), 0, n - 1)
        if len(np.unique(constant)) != len(constant):
            self.refuse("a component is there twice", "constant_components.npy")
        values = self.array("constants", "float64", (len(constant), columns))
        solved = {}
        for item in self.value("certificates", list):
            try:
                component, record = item
                if type(component) is not int or component in solved:
                    raise ValueError(f"{short(component)} is no number of one component")
                solved[component] = decoded_record(Certificate, record)
            except (ValueError, TypeError, OverflowError) as failure:
                self.refuse(f"a certificate cannot be read: {short(failure, 300)}")
        return Transduction(
            self.array("f", "float64", (n, columns), finite=False),
            self.array("codes", "int64", (n,), -1, K - 1),
            np.array(texts, dtype=object)[reason],
            self.array("components", "int32 int64", (n,), -1, n - 1),
            solved,
            {int(c): row.copy() for c, row in zip(constant, values, strict=True)},
            self.array("degrees", "float64", (n,), finite=False),
        )

    def _priors(self, K: int) -> NDArray[np.float64] | None:
        if not self.has("priors"):
            return None
        shares = self.array("priors", "float64", (K,), 0, 1)
        if abs(float(shares.sum()) - 1) > 1e-6:
            self.refuse(f"the priors sum to {shares.sum():.6g}; they must sum to 1", "priors.npy")
        return shares

    def _eta(self) -> Any:
        found = self._scalar("eta")
        nothing = isinstance(found, float | np.floating) and np.isnan(found)  # nothing was solved
        if not nothing and (not isinstance(found, Real) or not 0 < float(found) < 1):
            self.refuse(f"'eta' is {short(found)}; it must be strictly between 0 and 1")
        return found

    def _n_modes(self) -> Any:
        found = self._scalar("n_modes")
        if not isinstance(found, Integral) or isinstance(found, bool) or found < 1:
            self.refuse(f"'n_modes' is {short(found)}; it must be a whole number >= 1")
        return found

    def _scalar(self, key: str) -> Any:
        found = self.decoded(key)
        if isinstance(found, list | tuple | dict | np.ndarray):
            self.refuse(f"{key!r} is {short(found)}; it must be one value")
        return found

    def _marker(self, classes: NDArray[Any]) -> Any:
        found = self._scalar("marker")
        if any(found == name for name in classes.tolist()):  # True equals 1, as `encode` has it
            self.refuse(f"'marker' is {quoted(found)}, which is a class; it must be no class")
        return found

    def _reviewed(self, given: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        if not self.has("reviewed"):  # no person has looked, or the model is of an older version
            return None
        marks = self.array("reviewed", "bool", given.shape)
        bare = np.flatnonzero(marks & (given < 0))
        if len(bare):
            self.refuse(f"node {bare[0]} is reviewed, but has no label", "reviewed.npy")
        return marks

    def _landmarks(self, n: int, affinity: str) -> NDArray[np.int64] | None:
        if not self.has("landmarks"):
            return None
        if affinity == "precomputed":
            self.refuse("a graph has no landmarks", "landmarks.npy")
        chosen = self.array("landmarks", "int64", (None,), 0, n - 1)
        if len(chosen) < 2 or (np.diff(chosen) <= 0).any():
            self.refuse("landmarks must be two or more nodes, ascending", "landmarks.npy")
        return chosen

    def _affinity(self, kind: str, X: Any) -> Affinity:
        about, n = self.value("affinity", dict), X.shape[0]
        if kind == "precomputed":
            try:
                return Precomputed(check_weights(X))
            except (ValueError, TypeError) as failure:
                file = "points.npy" if isinstance(X, np.ndarray) else "points_indices.npy"
                self.refuse(f"the weights are no graph: {short(failure, 300)}", file)
        if kind == "rbf":
            width = about.get("sigma"), about.get("scale"), about.get("self_loops")
            if [type(value) for value in width] != [float, float, bool] or min(width[:2]) <= 0:
                self.refuse(f"the Gaussian kernel has {short(about)}")
            return Gaussian(X, *width)
        k, approximate = about.get("n_neighbors"), about.get("approximate")
        if type(k) is not int or not 1 <= k < n or type(approximate) is not bool:
            self.refuse(f"the nearest neighbours of {n} points have {short(about)}")
        numbers = self.array("neighbours", "int32 int64", (n, k), 0, n - 1)
        found = Nearest(X, k, approximate)
        starts = np.arange(0, n * k + 1, k)
        graph = sp.csr_array((np.ones(n * k), numbers.ravel(), starts), shape=(n, n))
        # Into its cache, so that neighbours are not searched again.
        vars(found)["_index"] = (graph, self.array("reach", "float64", (n,), 0))
        return found

    def _name_features(self, made: RobustGC, columns: int) -> None:
        names, count = self._about.get("feature_names"), self.value("features", int)
        if count != columns:
            self.refuse(f"the model has {count} features, but its points have {columns}")
        made.n_features_in_ = count
        if names is None:
            return
        listed = self.value("feature_names", list)
        if len(listed) != count or not all(type(name) is str for name in listed):
            self.refuse(f"feature_names must be {count} texts")
        made.feature_names_in_ = np.array(listed, dtype=object)

    def _standardisation(self, made: RobustGC) -> Standardisation | None:
        if not self.has("column_mean"):
            return None
        if made.affinity == "precomputed":
            self.refuse("weights of a graph are not standardised", "column_mean.npy")
        columns = (made.n_features_in_,)
        mean = self.array("column_mean", "float64", columns)
        return Standardisation(mean, self.array("column_deviation", "float64", columns, 0))

    def issues(self, n: int, classes: NDArray[Any]) -> LabelIssues | str:
        """Take the report of wrong labels, or why there is none."""
        about, K = self.value("issues", dict), len(classes)
        if isinstance(about.get("failure"), str):
            return str(about["failure"])
        rate = about.get("noise_rate")
        if type(rate) is not float or not in_share(rate):
            self.refuse(f"the report of wrong labels has the noise rate {short(rate)}")
        node = self.array("issue_node", "int64", (None,), 0, n - 1)
        rows = node.shape
        counts = self.array("issue_witnesses", "int64", rows, 0, n)
        flat = self.array("issue_evidence", "int64", (int(counts.sum()),), 0, n - 1)
        evidence = np.empty(rows, dtype=object)
        parts = np.split(flat, np.cumsum(counts)[:-1]) if len(counts) else []
        evidence[:] = [tuple(part.tolist()) for part in parts]
        return LabelIssues(
            node,
            classes[self.array("issue_given", "int64", rows, 0, K - 1)],
            classes[self.array("issue_suggested", "int64", rows, 0, K - 1)],
            self.array("issue_suspicion", "float64", rows, -ROUNDING, 1 + ROUNDING),
            self.array("issue_margin", "float64", rows, -1 - ROUNDING, 1 + ROUNDING),
            evidence,
            self.array("issue_judged", "bool", rows),
            rate,
            self.array("issue_pairs", "float64", (K, K), -ROUNDING, 1 + ROUNDING),
            classes,
        )

    def _by_landmark(self, report: LabelIssues, chosen: NDArray[np.int64], n: int) -> LabelIssues:
        """Return the report, which has the rows of all points, by the numbers of the landmarks."""
        number = np.full(n, -1, dtype=np.int64)
        number[chosen] = np.arange(len(chosen))
        if (number[report.node] < 0).any():
            self.refuse("a labelled point is no landmark", "landmarks.npy")
        return report.renumbered(number)


def _part(answer: Transduction, chosen: NDArray[np.int64]) -> Transduction:
    """Return the answer on the landmarks, which the answer on all points holds unchanged."""
    return replace(
        answer,
        f=answer.f[chosen],
        codes=answer.codes[chosen],
        reasons=answer.reasons[chosen],
        number=answer.number[chosen],
        d=answer.d[chosen],
    )

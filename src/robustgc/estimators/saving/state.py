"""A fitted RobustGC -> JSON and arrays: all that it needs to answer again."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from robustgc.affinity.kinds import Gaussian, Nearest, Precomputed
from robustgc.audit.issues import LabelIssues
from robustgc.estimators.robust import RobustGC
from robustgc.graph.csr import CSR
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Array
from robustgc.linalg.solution import NotConvergedError
from robustgc.storage.values import encoded, encoded_record
from robustgc.transduction.answer import Certificate

Arrays = dict[str, NDArray[Any]]
KINDS = {"rbf": Gaussian, "knn": Nearest, "precomputed": Precomputed}


def state(
    estimator: RobustGC,
    names: ArrayLike | None,
    run: str | None = None,
    reviewed: NDArray[np.bool_] | None = None,
) -> tuple[dict[str, Any], Arrays]:
    """Return what is to be saved; refuse what cannot be."""
    parameters = _parameters(estimator)
    labels, answer = estimator._labels, estimator._answer
    texts = list(dict.fromkeys(answer.reasons.tolist()))
    number = {text: code for code, text in enumerate(texts)}
    points, arrays = _points(estimator._X)
    about = {
        "class": "RobustGC",
        "parameters": parameters,
        "classes": encoded(labels.classes, "classes_"),
        "marker": encoded(labels.marker, "The marker of unlabelled nodes"),
        "points": points,
        "features": int(estimator.n_features_in_),
        "feature_names": _feature_names(estimator),
        "affinity": _affinity(estimator._affinity, arrays),
        "reasons": texts,
        "certificates": encoded_certificates(answer.certificates),
        "eta": encoded(estimator.eta_, "eta_"),
        "n_modes": encoded(estimator.n_modes_, "n_modes_"),
        "names": None if names is None else _names(names, len(answer.codes)),
        "issues": _issues(estimator, arrays),
    }
    if run is not None:  # models without it are as good: nothing depends on it
        about["run"] = run
    arrays |= {
        "given": labels.codes,
        "sample_weight": estimator._sample_weight,
        "codes": answer.codes,
        "f": answer.f,
        "reasons": np.array([number[text] for text in answer.reasons.tolist()], dtype=np.uint8),
        "components": answer.number,
        "degrees": answer.d,
        **constant_arrays(answer.constants, answer.f.shape[1]),
    }
    if estimator._chosen is not None:
        arrays["landmarks"] = estimator._chosen
    if estimator._shares is not None:
        arrays["priors"] = estimator._shares
    if estimator._scaling is not None:
        arrays["column_mean"] = estimator._scaling.mean
        arrays["column_deviation"] = estimator._scaling.deviation
    if reviewed is not None:
        arrays["reviewed"] = reviewed
    return about, arrays


def encoded_certificates(certificates: dict[int, Certificate]) -> list[Any]:
    """Return the evidence of every component that was solved, for the manifest."""
    return [[int(c), encoded_record(certificate)] for c, certificate in certificates.items()]


def constant_arrays(constants: dict[int, Array], columns: int) -> Arrays:
    """Return the components with one class, and the decision in each."""
    return {
        "constant_components": np.array(list(constants), dtype=np.int64),
        "constants": np.array(list(constants.values()), dtype=float).reshape(-1, columns),
    }


def _parameters(estimator: RobustGC) -> dict[str, Any]:
    if type(estimator) is not RobustGC:
        raise ValueError(
            f"A {type(estimator).__name__} cannot be saved; only a fitted RobustGC can."
        )
    check_is_fitted(estimator)
    if callable(estimator.affinity):
        raise ValueError(
            f"affinity={estimator.affinity!r} is a function, and a saved model holds no code. Fit "
            f"with one of {', '.join(map(repr, KINDS))}; for a kernel of your own compute its "
            "matrix and use 'precomputed'."
        )
    parameters = estimator.get_params(deep=False)
    coded = {name: encoded(value, f"The parameter {name}") for name, value in parameters.items()}
    estimator._check_parameters()
    fitted = next((k for k, kind in KINDS.items() if type(estimator._affinity) is kind), None)
    if estimator.affinity != fitted:
        raise ValueError(
            f"affinity is {estimator.affinity!r} now, but the model was fitted with {fitted!r}. "
            "Fit again before saving."
        )
    return coded


def _points(X: Any) -> tuple[dict[str, Any], Arrays]:
    """Return how the points, or the weights, are held, and their arrays."""
    if not isinstance(X, CSR) and not sp.issparse(X):
        return {"kind": "dense"}, {"points": X}
    arrays = {"points_indptr": X.indptr, "points_indices": X.indices}
    if X.data is not None:
        arrays["points_data"] = X.data
    if isinstance(X, CSR):
        return {"kind": "csr", "weighted": X.data is not None}, arrays
    return {"kind": "sparse", "columns": int(X.shape[1])}, arrays


def _affinity(affinity: Any, arrays: Arrays) -> dict[str, Any]:
    if isinstance(affinity, Gaussian):
        return {
            "sigma": float(affinity.sigma),
            "scale": float(affinity.scale),
            "self_loops": bool(affinity.self_loops),
        }
    if isinstance(affinity, Nearest):
        # Kept, not searched again: the index of approximate search may be missing there.
        graph, arrays["reach"] = affinity._index
        arrays["neighbours"] = graph.indices.reshape(-1, affinity.n_neighbors)
        return {
            "n_neighbors": int(affinity.n_neighbors),
            "approximate": bool(affinity.approximate),
        }
    return {}


def _feature_names(estimator: RobustGC) -> list[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _names(names: Any, n: int) -> list[str | int]:
    listed = names.tolist() if hasattr(names, "tolist") else list(names)
    found = [item.item() if isinstance(item, np.generic) else item for item in listed]
    if len(found) != n:
        raise ValueError(f"There are {len(found)} names for {n} nodes; give one name per node.")
    for node, name in enumerate(found):
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise ValueError(
                f"The name of node {node} is {quoted(name)} of type {type(name).__name__}; names "
                "must be text or whole numbers. Convert it, for instance with str."
            )
    return [str(name) if isinstance(name, str) else int(name) for name in found]


def _issues(estimator: RobustGC, arrays: Arrays) -> dict[str, Any]:
    """Make the report of wrong labels now: later the internals of the fit are gone."""
    try:
        issues = estimator.label_issues()
    except (NotConvergedError, MemoryError) as failure:  # the answers are worth saving all the same
        return {"failure": str(failure)}
    arrays |= issue_arrays(issues)
    return {"noise_rate": float(issues.noise_rate)}


def issue_arrays(issues: LabelIssues) -> Arrays:
    """Return the report of wrong labels, classes by their number."""
    witnesses = issues.evidence.tolist()
    return {
        "issue_node": issues.node,
        "issue_given": np.searchsorted(issues.classes, issues.given).astype(np.int64),
        "issue_suggested": np.searchsorted(issues.classes, issues.suggested).astype(np.int64),
        "issue_suspicion": issues.suspicion,
        "issue_margin": issues.margin,
        "issue_judged": issues.judged,
        "issue_pairs": issues.pairs,
        "issue_witnesses": np.array([len(nodes) for nodes in witnesses], dtype=np.int64),
        "issue_evidence": np.array([j for nodes in witnesses for j in nodes], dtype=np.int64),
    }

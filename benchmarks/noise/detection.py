"""Who finds the wrong labels: `label_issues` of a fit, and cleanlab on the features."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.noise.data import Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
FOLD_SEED = 2351
CLEANLAB = ("cleanlab", "cleanlab_filter")  # by quality score; by the order of the issues found


def suspicion(fitted: Any, given: Ints) -> Floats | None:
    """Return how suspicious a fit finds each given label, in the order of the nodes."""
    if not hasattr(fitted, "label_issues"):
        return None
    issues = fitted.label_issues()
    found = np.full(len(given), np.nan)
    found[np.asarray(issues.node)] = issues.suspicion
    found = found[given >= 0]
    if np.isnan(found).any():
        raise ValueError(f"label_issues leaves out {int(np.isnan(found).sum())} labels.")
    return found


def auc(problem: Problem, given: Ints, suspicions: Floats) -> float:
    """Return the chance that a wrong label is more suspicious than a right one."""
    from sklearn.metrics import roc_auc_score

    labelled = given >= 0
    wrong = given[labelled] != problem.y[labelled]
    if wrong.all() or not wrong.any():
        return float("nan")
    return float(roc_auc_score(wrong, suspicions))


def cleanlab(name: str, problem: Problem, given: Ints) -> Floats:
    """Score the given labels by probabilities that folds without them assign."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    nodes = np.flatnonzero(given >= 0)
    codes = np.unique(given[nodes], return_inverse=True)[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class rarer than the folds
        chances = _out_of_fold(problem.X[nodes], codes)
        if name == "cleanlab":
            return 1 - np.asarray(get_label_quality_scores(codes, chances))
        order = find_label_issues(
            codes, chances, return_indices_ranked_by="self_confidence", n_jobs=1
        )
    # Only what it holds for an issue is ranked, the worst first; the rest are equal.
    found = np.zeros(len(nodes))
    found[order] = np.arange(len(order), 0, -1)
    return found


def _out_of_fold(X: Any, codes: Ints) -> Floats:
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.neighbors import KNeighborsClassifier

    folds = StratifiedKFold(
        int(np.clip(np.bincount(codes).min(), 2, 5)), shuffle=True, random_state=FOLD_SEED
    )
    return cross_val_predict(KNeighborsClassifier(), X, codes, cv=folds, method="predict_proba")

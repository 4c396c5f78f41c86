"""Save a fitted RobustGC and load it again, without pickle: a model's file cannot run code.

`_state` says what is written, `_estimator` takes it back, checked; the points and the graph made of
them are in `robustgc.estimators.saving.points`, answers in `robustgc.storage.answers`.
"""

import os
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from robustgc.affinity.features import check_metric
from robustgc.audit.issues import LabelIssues
from robustgc.estimators.fits import AnswersOnly
from robustgc.estimators.robust import RobustGC
from robustgc.estimators.saving.points import (
    KINDS,
    affinity_state,
    points_state,
    read_affinity,
    read_features,
    read_landmarks,
    read_points,
)
from robustgc.graph.quoting import quoted, short
from robustgc.linalg.solution import NotConvergedError
from robustgc.storage.answers import (
    Arrays,
    check_issues,
    constant_arrays,
    encoded_certificates,
    issue_arrays,
    node_arrays,
    read_answer,
    read_issues,
)
from robustgc.storage.files import place, read, write
from robustgc.storage.values import Checked, decoded, decoded_array, encoded
from robustgc.transduction.labels import Labels


@dataclass(frozen=True)
class Saved:
    """What `load` returns; the estimator answers with the same bytes as the one that was saved."""

    estimator: RobustGC  # fitted; `update` and `suggest_queries` need a new fit
    names: tuple[str | int, ...] | None  # of the nodes, if they were saved
    reviewed: NDArray[np.bool_] | None = None  # labels that a person has confirmed, if saved


def save(
    estimator: RobustGC,
    path: str | os.PathLike[str],
    *,
    names: ArrayLike | None = None,
    run: str | None = None,
    reviewed: NDArray[np.bool_] | None = None,
) -> None:
    """Save a fitted model as a folder, or a zip, of .npy files and one manifest.json.

    The points or weights are part of it: new points are answered from them. So is the report of
    wrong labels, which is made now if the fit has not made it. The files get their name when they
    are complete; a model that is there already is replaced, anything else is not.

    Parameters
    ----------
    path : str or path
        A zip file if it ends in ".zip", else a folder.
    run : str, default=None
        Name of the run that the model is of, written to the manifest for those who compare outputs.
    reviewed : ndarray of bool, default=None
        Which nodes have a label that a person has confirmed; None: not known of any.

    Raises
    ------
    ValueError
        Not fitted, or something that files without code cannot hold, such as an own kernel.
    FileExistsError
        There is something at the path that is no model.

    Examples
    --------
    >>> import tempfile
    >>> from robustgc import RobustGC
    >>> from robustgc.estimators.saving.model import load, save
    >>> W = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
    >>> clf = RobustGC(affinity="precomputed").fit(W, ["a", "", "", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(clf, f"{folder}/model.zip", names=["Ann", "Bo", "Cy", "Di"])
    ...     saved = load(f"{folder}/model.zip")
    >>> saved.estimator.transduction_, saved.names
    (array(['a', 'a', 'b', 'b'], dtype='<U1'), ('Ann', 'Bo', 'Cy', 'Di'))
    """
    place(path)  # before the report is made, which may take long
    about, arrays = _state(estimator)
    if names is not None:
        about["names"] = _names(names, len(estimator._answer.codes))
    if run is not None:  # models without it are as good: nothing depends on it
        about["run"] = run
    if reviewed is not None:
        arrays["reviewed"] = reviewed
    write(path, about, arrays)


def load(path: str | os.PathLike[str]) -> Saved:
    """Load a model that `save` wrote, after checking every file.

    Raises
    ------
    ValueError
        No model, a later version, or files that are missing, damaged, or do not fit each other;
        the text names the file.
    FileNotFoundError
        There is nothing at the path.
    """
    folder = Path(path)
    checked = Checked(folder, *read(folder))
    estimator = _estimator(checked)
    given = estimator._labels.codes
    saved = Saved(estimator, _read_names(checked, len(given)), _read_reviewed(checked, given))
    checked.finish()
    return saved


def _state(estimator: RobustGC) -> tuple[dict[str, Any], Arrays]:
    """Return all that the estimator needs to answer again; refuse what cannot be saved."""
    parameters = _parameters(estimator)
    labels, answer = estimator._labels, estimator._answer
    reasons = list(dict.fromkeys(answer.reasons.tolist()))
    points, point_arrays = points_state(estimator._X)
    affinity, affinity_arrays = affinity_state(estimator._affinity)
    issues, reported = _issues(estimator)
    names = getattr(estimator, "feature_names_in_", None)
    about = {
        "class": "RobustGC",
        "parameters": parameters,
        "classes": encoded(labels.classes, "classes_"),
        "marker": encoded(labels.marker, "The marker of unlabelled nodes"),
        "points": points,
        "features": int(estimator.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "affinity": affinity,
        "reasons": reasons,
        "certificates": encoded_certificates(answer.certificates),
        "eta": encoded(estimator.eta_, "eta_"),
        "n_modes": encoded(estimator.n_modes_, "n_modes_"),
        "names": None,
        "issues": issues,
    }
    scaling = estimator._scaling
    optional = {
        "landmarks": estimator._chosen,
        "priors": estimator._shares,
        "column_mean": None if scaling is None else scaling.mean,
        "column_deviation": None if scaling is None else scaling.deviation,
    }
    arrays = {
        **point_arrays,
        **affinity_arrays,
        **reported,
        "given": labels.codes,
        "sample_weight": estimator._sample_weight,
        **node_arrays(answer, reasons),
        **constant_arrays(answer.constants, answer.f.shape[1]),
        **{name: values for name, values in optional.items() if values is not None},
    }
    return about, arrays


def _parameters(estimator: RobustGC) -> dict[str, Any]:
    """Return the parameters as JSON; refuse an estimator that files without code cannot hold."""
    if type(estimator) is not RobustGC:
        raise ValueError(
            f"A {type(estimator).__name__} cannot be saved; only a fitted RobustGC can."
        )
    check_is_fitted(estimator)
    if estimator._featured is not None:
        raise ValueError(
            "A model fitted with features cannot be saved: saved models hold no features yet. Keep "
            "its answers, or fit without features."
        )
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


def _issues(estimator: RobustGC) -> tuple[dict[str, Any], Arrays]:
    """Make the report of wrong labels now: later the internals of the fit are gone."""
    try:
        issues = estimator.label_issues()
    except (NotConvergedError, MemoryError) as failure:  # the answers are worth saving all the same
        return {"failure": str(failure)}, {}
    return {"noise_rate": float(issues.noise_rate)}, issue_arrays(issues)


def _names(names: Any, n: int) -> list[str | int]:
    """Return the names of the nodes as JSON holds them."""
    listed = names.tolist() if hasattr(names, "tolist") else list(names)
    plain = [item.item() if isinstance(item, np.generic) else item for item in listed]
    if len(plain) != n:
        raise ValueError(f"There are {len(plain)} names for {n} nodes; give one name per node.")
    for node, name in enumerate(plain):
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise ValueError(
                f"The name of node {node} is {quoted(name)} of type {type(name).__name__}; names "
                "must be text or whole numbers. Convert it, for instance with str."
            )
    return [str(name) if isinstance(name, str) else int(name) for name in plain]


def _estimator(checked: Checked) -> RobustGC:
    """Return the estimator as it was saved, after checking that all of it fits together."""
    if checked.value("class", str) != "RobustGC":
        checked.refuse(f"the class is {quoted(checked.about['class'])}; it must be 'RobustGC'")
    made = _unfitted(checked)
    square = made.affinity == "precomputed"
    X = read_points(checked, square)
    n = X.shape[0]
    classes = _classes(checked)
    K = len(classes)
    given = checked.array("given", "int64", (n,), -1, K - 1)
    made._labels = Labels(classes, given, _marker(checked, classes))
    made._X, made._rows = X, None
    made._sample_weight = checked.array("sample_weight", "float64", (n,), 0)
    made._shares = _priors(checked, K)
    made._chosen = chosen = read_landmarks(checked, n, square)
    made._answer = made._graph_answer = answer = read_answer(checked, n, K, chosen)
    made._affinity = read_affinity(checked, made.affinity, X if chosen is None else X[chosen])
    report = read_issues(checked, n, classes)
    if isinstance(report, LabelIssues):
        check_issues(checked, report, made._labels)
    if chosen is not None:
        # The answer on all points holds that on the landmarks unchanged.
        nodes = ("f", "codes", "reasons", "number", "d")
        made._graph_answer = replace(answer, **{k: getattr(answer, k)[chosen] for k in nodes})
        if isinstance(report, LabelIssues):
            number = np.full(n, -1, dtype=np.int64)
            number[chosen] = np.arange(len(chosen))
            if (number[report.node] < 0).any():
                checked.refuse("a labelled point is no landmark", "landmarks.npy")
            report = report.renumbered(number)  # it has the rows of all points
    made._fit = AnswersOnly(made._graph_answer, report)
    read_features(checked, made, X.shape[1])
    made._set_model(answer)
    made.eta_, made.n_modes_ = _chosen(checked)
    return made


def _unfitted(checked: Checked) -> RobustGC:
    """Return an estimator with the parameters of the saved one."""
    known = RobustGC().get_params(deep=False)
    # A model that was saved before there was a choice of metrics does not name one.
    coded = {"metric": "euclidean", **checked.value("parameters", dict)}
    odd = sorted(set(coded) ^ set(known))
    if odd:
        what = "unknown" if odd[0] in coded else "missing"
        checked.refuse(f"the parameter {quoted(odd[0])} is {what}")
    if coded["affinity"] not in tuple(KINDS):
        checked.refuse(f"affinity is {short(coded['affinity'])}, no kind that can be saved")
    with checked.refusing("a parameter is not allowed"):
        made = RobustGC(**{name: decoded(value) for name, value in coded.items()})
        check_metric(made.metric, made.affinity)
        made._check_parameters()
    return made


def _classes(checked: Checked) -> NDArray[Any]:
    with checked.refusing("the classes cannot be read"):
        classes = decoded_array(checked.about.get("classes"))
    if len(classes) < 2 or not (classes[1:] > classes[:-1]).all():
        checked.refuse(f"there are {len(classes)} classes; two or more are needed, ascending")
    return classes


def _marker(checked: Checked, classes: NDArray[Any]) -> Any:
    marker = checked.scalar("marker")
    if any(marker == name for name in classes.tolist()):  # True equals 1, as `encode` has it
        checked.refuse(f"'marker' is {quoted(marker)}, which is a class; it must be no class")
    return marker


def _priors(checked: Checked, K: int) -> NDArray[np.float64] | None:
    if not checked.has("priors"):
        return None
    shares = checked.array("priors", "float64", (K,), 0, 1)
    if abs(float(shares.sum()) - 1) > 1e-6:
        checked.refuse(f"the priors sum to {shares.sum():.6g}; they must sum to 1", "priors.npy")
    return shares


def _chosen(checked: Checked) -> tuple[Any, Any]:
    """Return eta and the number of modes."""
    eta, n_modes = checked.scalar("eta"), checked.scalar("n_modes")
    nothing = isinstance(eta, float | np.floating) and np.isnan(eta)  # nothing was solved
    if not nothing and (not isinstance(eta, Real) or not 0 < float(eta) < 1):
        checked.refuse(f"'eta' is {short(eta)}; it must be strictly between 0 and 1")
    if not isinstance(n_modes, Integral) or isinstance(n_modes, bool) or n_modes < 1:
        checked.refuse(f"'n_modes' is {short(n_modes)}; it must be a whole number >= 1")
    return eta, n_modes


def _read_names(checked: Checked, n: int) -> tuple[str | int, ...] | None:
    """Return the names of the nodes, if there are any."""
    if checked.about.get("names") is None:
        return None
    names = checked.value("names", list)
    if len(names) != n or not all(type(name) in (str, int) for name in names):
        checked.refuse(f"names must be {n} texts or whole numbers, one for every node")
    return tuple(names)


def _read_reviewed(checked: Checked, given: NDArray[np.int64]) -> NDArray[np.bool_] | None:
    """Return whose label a person has confirmed; None: of no node, or the model is older."""
    if not checked.has("reviewed"):
        return None
    marks = checked.array("reviewed", "bool", given.shape)
    bare = np.flatnonzero(marks & (given < 0))
    if len(bare):
        checked.refuse(f"node {bare[0]} is reviewed, but has no label", "reviewed.npy")
    return marks

"""What the page of a fit shows, as plain data gathered from the fit; the others here draw it."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.audit.issues import LabelIssues
from robustgc.choice.candidates import Candidate, heaviest_lifted
from robustgc.estimators.fits import GraphFit
from robustgc.estimators.robust import RobustGC
from robustgc.io.named import edge_count
from robustgc.report.layout import layout

_BINS = 40
_TAIL = 0.005  # of the decision values at either end go to the last bar
_SHOWN = 2000  # suspicious labels on the page, of which it shows the worst
SEED = 20180521
_VERSIONS = ("robustgc", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Suspect:
    """One given label and what speaks against it: a row of the table."""

    node: str
    given: str
    suggested: str
    suspicion: float  # probability that the label is wrong; NaN: not known
    margin: float  # from -1 to 1; NaN: not known
    evidence: Sequence[str] = ()  # labelled nodes that speak against it, the strongest first
    reviewed: bool = False  # whether a person has confirmed the label; such labels stand last


@dataclass(frozen=True, eq=False)
class Picture:
    """The nodes that are drawn; all arrays but the edges have one row for each of them."""

    xy: NDArray[Any]  # places, in any unit, the second upwards
    edges: NDArray[Any]  # pairs of rows
    names: Sequence[str]
    given: NDArray[Any]  # the label, as its position in `Findings.classes`; -1: none
    answer: NDArray[Any]  # what the model says, in the same way
    suspicion: NDArray[Any]  # of the given labels, NaN elsewhere; above 1/2 the node is marked
    kind: str = "graph"  # or "points"


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of decision values.

    `signed`: there are two classes, below 0 is the first, above it the second. Otherwise the values
    are the lead of the best class over the next one.
    """

    edges: NDArray[Any]  # ascending, one more than counts
    counts: NDArray[Any]
    signed: bool


@dataclass(frozen=True, eq=False)
class Findings:
    """Everything the page says. What is None is not known, and the page says so."""

    title: str
    n_nodes: int
    classes: Sequence[str]  # with signed decision values the negative one first
    given: Sequence[int]  # by class, how many labels were given
    n_edges: int | None = None
    n_components: int | None = None
    predicted: Sequence[int] | None = None  # by class, how many nodes the model puts there
    noise_rate: float | None = None  # estimated share of wrong labels
    n_wrong: int | None = None  # how many labels look wrong
    lambda_1: float | None = None
    gamma: float | None = None
    eigengap: float | None = None
    condition_bound: float | None = None
    residual: float | None = None
    solver: str | None = None
    picture: Picture | None = None
    histogram: Histogram | None = None
    candidates: Sequence[Candidate] = ()  # empty: nothing was chosen
    best: Candidate | None = None  # the choice among the candidates
    eta: float | None = None  # if it was fixed
    suspects: Sequence[Suspect] | None = None  # in any order
    command: str | None = None  # the command, or lines of Python, that make the page again
    versions: Mapping[str, Any] = field(default_factory=dict)
    seeds: Mapping[str, Any] = field(default_factory=dict)
    date: str | None = None
    run: str | None = None  # what names the run in all its outputs
    notes: Sequence[str] = ()  # what the program decided, or noticed, while it read


def findings(
    clf: RobustGC, names: NDArray[Any], issues: LabelIssues, title: str, command: str | None
) -> Findings:
    """Gather what the page of a fitted estimator shows; `command` is how to make it again."""
    codes, given = clf._answer.codes, clf._labels.codes
    K = len(clf.classes_)
    on_graph = clf.affinity == "precomputed"
    W = _weights(clf) if on_graph or clf.landmarks is None else None
    return Findings(
        title=title,
        n_nodes=len(codes),
        classes=[str(name) for name in clf.classes_],
        given=np.bincount(given[given >= 0], minlength=K).tolist(),
        n_edges=edge_count(W) if on_graph else None,
        n_components=int(clf.components_.max()) + 1,
        predicted=np.bincount(codes[codes >= 0], minlength=K).tolist(),
        noise_rate=issues.noise_rate,
        n_wrong=issues.n_wrong,
        lambda_1=clf.lambda_1_,
        gamma=clf.gamma_,
        eigengap=_gap(clf),
        condition_bound=clf.condition_bound_,
        residual=clf.residual_,
        solver=clf.solver_,
        picture=_picture(clf, names, issues, W),
        histogram=_histogram(clf.f_),
        candidates=clf.selection_,
        best=heaviest_lifted(clf.selection_),
        eta=None if clf.eta == "auto" else float(clf.eta),
        suspects=_suspects(issues, names),
        command=command,
        versions={"Python": platform.python_version(), **installed()},
        seeds={"picture": SEED},
    )


def _weights(clf: RobustGC) -> Any:
    """Return the graph of a fit, also where its other internals are not at hand."""
    if clf._affinity is None:
        raise ValueError(
            "The graph is a matrix of petsc4py, of which every rank has its own rows; a page needs "
            "the whole graph in one process. Fit the weights as a scipy matrix."
        )
    fit = clf._fit
    return fit.problem.weights if isinstance(fit, GraphFit) else clf._affinity.weights()


def _gap(clf: RobustGC) -> float | None:
    """Return the gap behind the lifted modes of the largest component that was solved.

    None where the modes are not at hand: a saved model does not hold them.
    """
    if not isinstance(clf._fit, GraphFit):
        return None
    components = clf._fit.components.values()
    fits = [(part.graph.n, part.fit) for part in components if part.fit is not None]
    if not fits:
        return None
    values = max(fits, key=lambda pair: pair[0])[1].heaviest.view.modes.values
    q = int(clf.n_modes_)
    return float(values[q] - values[q - 1]) if len(values) > q else None


def _picture(clf: RobustGC, names: NDArray[Any], issues: LabelIssues, W: Any) -> Picture:
    codes, given = clf._answer.codes, clf._labels.codes
    graph = clf.affinity == "precomputed"
    drawn = layout(W, None if graph else clf._X, codes, given >= 0, seed=SEED)
    suspicion = np.full(len(codes), np.nan)
    suspicion[issues.node] = issues.suspicion
    # The class that the other labels speak for: a label pulls its own node to its side.
    answer = codes.copy()
    answer[issues.node] = np.searchsorted(clf.classes_, issues.suggested)
    nodes = drawn.nodes
    return Picture(
        xy=drawn.xy,
        edges=drawn.edges,
        names=[str(name) for name in names[nodes]],
        given=given[nodes],
        answer=answer[nodes],
        suspicion=suspicion[nodes],
        kind="graph" if graph else "points",
    )


def _histogram(f: NDArray[Any]) -> Histogram | None:
    """Count decision values: signed for two classes, else the lead of the best class."""
    if f.ndim == 1:
        values = f[np.isfinite(f)]
    else:
        ranked = np.sort(f[np.isfinite(f).any(axis=1)], axis=1)
        values = ranked[:, -1] - ranked[:, -2]
        values = values[np.isfinite(values)]
    if not values.size:
        return None
    low, high = np.quantile(values, [_TAIL if f.ndim == 1 else 0.0, 1 - _TAIL])
    if f.ndim == 1:
        high = max(abs(low), abs(high))
        low = -high
    if not high > low:
        low, high = low - 0.5, low + 0.5
    counts, ends = np.histogram(np.clip(values, low, high), _BINS, (low, high))
    return Histogram(edges=ends, counts=counts, signed=f.ndim == 1)


def _suspects(issues: LabelIssues, names: NDArray[Any]) -> list[Suspect]:
    reviewed = np.zeros(len(issues), bool) if issues.reviewed is None else issues.reviewed
    return [
        Suspect(
            str(names[issue.node]),
            str(issue.given),
            str(issue.suggested),
            issue.suspicion,
            issue.margin,
            [str(names[j]) for j in issue.evidence],
            confirmed,
        )
        for issue, confirmed, _ in zip(issues, reviewed.tolist(), range(_SHOWN), strict=False)
    ]


def installed() -> dict[str, str]:
    """Return the versions of what the answers depend on."""
    versions = {}
    for name in _VERSIONS:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions

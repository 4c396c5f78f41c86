"""The report of wrong labels: what the other labels say of every label that was given."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.choice.fit import ComponentFit, ViewAnswer
from robustgc.graph import threads
from robustgc.graph.weights import Array

_EVIDENCE = 3  # labels that speak against one
_PRINTED = 20  # rows of a table that is printed
_WIDTHS = (8, 12, 12, 9, 8, 0)  # least widths of its columns
# By time and memory, where evidence takes a solve: values of its columns, and of those labels.
_EXPLAINED, _KEPT = 2**22, 2**19


@dataclass(frozen=True)
class LabelIssue:
    """One given label: the row of a `LabelIssues` table."""

    node: Any
    given: Any
    suggested: Any
    suspicion: float
    margin: float
    evidence: tuple[Any, ...]
    judged: bool = True


@dataclass(frozen=True)
class LabelIssues:
    """All given labels, the most suspicious first; every column is an array.

    ``pandas.DataFrame(issues.columns())`` makes a frame of it.

    Attributes
    ----------
    node : ndarray
        Their numbers; their names where the graph has some.
    given, suggested : ndarray
        The label, and the class that the others speak for.
    suspicion : ndarray
        Probability that the label is wrong, from 0 to 1: of labels with 0.8 about four in five are
        (benchmarks/NOISE.md has how many were).
    margin : ndarray
        What the model gives the label's own class, when it does not see the label, less what it
        gives the best other one: from -1 to 1.
    evidence : ndarray of tuple
        The labelled nodes that speak most against the given label, the strongest first.
    judged : ndarray of bool
        False where nothing speaks for or against: the only class in its component, or the only
        label of its class. The suspicion is then the share of wrong labels overall.
    noise_rate : float
        Estimated share of wrong labels.
    pairs : ndarray, shape (K, K)
        Estimated share of labels by given class (row) and true class (column); sums to 1.
    classes : ndarray, shape (K,)
    reviewed : ndarray of bool or None
        Labels that a person has looked at and confirmed; these stand last. None: not known of any.
    """

    node: NDArray[Any]
    given: NDArray[Any]
    suggested: NDArray[Any]
    suspicion: Array
    margin: Array
    evidence: NDArray[np.object_]
    judged: NDArray[np.bool_]
    noise_rate: float
    pairs: Array
    classes: NDArray[Any]
    reviewed: NDArray[np.bool_] | None = None

    @property
    def n_wrong(self) -> int:
        """How many labels look wrong: the sum of the suspicions, of labels not reviewed.

        The most suspicious ones, so that no threshold is to be chosen.
        """
        open_ = self.judged if self.reviewed is None else self.judged & ~self.reviewed
        return round(float(self.suspicion[open_].sum()))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        names = ("node", "given", "suggested", "suspicion", "margin", "evidence", "judged")
        columns = {name: getattr(self, name) for name in names}
        return columns if self.reviewed is None else {**columns, "reviewed": self.reviewed}

    def renumbered(self, rows: NDArray[Any]) -> "LabelIssues":
        """Return the table with other numbers, or names, for the nodes: ``rows[node]``."""
        evidence = np.empty(len(self), dtype=object)
        evidence[:] = [tuple(rows[list(witnesses)].tolist()) for witnesses in self.evidence]
        return replace(self, node=rows[self.node], evidence=evidence)

    def with_reviewed(self, reviewed: NDArray[np.bool_]) -> "LabelIssues":
        """Return the table with the labels that a person has confirmed behind all others."""
        order = np.argsort(reviewed, kind="stable")
        columns: dict[str, Any] = {name: part[order] for name, part in self.columns().items()}
        return replace(self, **(columns | {"reviewed": reviewed[order]}))

    def __len__(self) -> int:
        return len(self.node)

    def __iter__(self) -> Iterator[LabelIssue]:
        numbers = (self.suspicion.tolist(), self.margin.tolist(), self.evidence)
        names = (self.node.tolist(), self.given, self.suggested)
        return map(LabelIssue, *names, *numbers, self.judged.tolist())

    def __str__(self) -> str:
        rows = [["node", "given", "suggested", "suspicion", "margin", "evidence"]]
        for row in islice(self, _PRINTED):
            texts = [printable(name) for name in (row.node, row.given, row.suggested)]
            judgement = ["", "", "not judged"]
            if row.judged:
                witnesses = ", ".join(printable(name) for name in row.evidence)
                judgement = [f"{row.suspicion:.2f}", f"{row.margin:.2f}", witnesses]
            rows.append([*texts, *judgement])
        columns = zip(_WIDTHS, zip(*rows, strict=True), strict=True)
        widths = [max(least, *map(len, column)) for least, column in columns]
        lines = [f"{len(self)} labels, about {self.noise_rate:.0%} of them wrong"]
        if left := int((~self.judged).sum()):
            lines[0] += f"; {left} could not be judged: nothing speaks for or against them"
        if self.reviewed is not None and self.reviewed.any():
            lines[0] += f"; {int(self.reviewed.sum())} were reviewed and stand last"
        for node, given, suggested, suspicion, margin, evidence in rows:
            lines.append(
                f"{node:>{widths[0]}}  {given:<{widths[1]}}  {suggested:<{widths[2]}}  "
                f"{suspicion:>{widths[3]}}{margin:>{widths[4]}}  {evidence}"
            )
        return "\n".join(lines)


def printable(name: object, longest: int = 40) -> str:
    """Return a name as text that any terminal can show, cut if it is very long.

    What has no glyph, such as half a surrogate pair or a line break, is shown by its escape.
    """
    text = str(name)[: longest + 1]
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown if len(shown) <= longest else f"{shown[: longest - 3]}..."


@dataclass(frozen=True)
class ComponentIssues:
    """What the labels of one component say of each other, a row for each."""

    nodes: NDArray[Any]  # their numbers in the whole graph, (labels,)
    posterior: Array  # probability that the label is right, (labels,)
    judged: NDArray[np.bool_]  # (labels,)
    probabilities: Array  # of the classes when the label is left out, (labels, K)
    classes: NDArray[Any]  # of the columns of `probabilities`, (K,)
    evidence: dict[int, tuple[int, ...]]  # from rows to the nodes that speak against the label


def component_issues(fit: ComponentFit) -> ComponentIssues:
    """Return what the labels of a fit say of each other."""
    ensemble, problem = fit.ensemble, fit.problem
    return ComponentIssues(
        problem.names,
        ensemble.label_posterior,
        ensemble.judged,
        ensemble.class_probabilities,
        problem.classes,
        {k: tuple(problem.names[rows].tolist()) for k, rows in _evidence(fit).items()},
    )


def label_issues(
    components: Iterable[ComponentIssues],
    labelled: NDArray[Any],
    codes: NDArray[np.int64],
    classes: NDArray[Any],
) -> LabelIssues:
    """Return the report on all labels from those on the components.

    `labelled` are the labelled nodes, ascending, `codes` their classes, and `classes` the names.
    """
    m, K = len(labelled), len(classes)
    rows = np.arange(m)
    posterior, judged = np.full(m, np.nan), np.zeros(m, dtype=bool)
    probabilities, evidence = np.eye(K)[codes], np.empty(m, dtype=object)
    evidence[:] = [()] * m
    for component in components:
        here = np.searchsorted(labelled, component.nodes)
        posterior[here], judged[here] = component.posterior, component.judged
        probabilities[here] = 0.0
        probabilities[np.ix_(here, component.classes)] = component.probabilities
        for k, witnesses in component.evidence.items():
            evidence[here[k]] = witnesses
    rate = float(np.mean(1 - posterior[judged])) if judged.any() else 0.0
    posterior = np.where(judged, posterior, 1 - rate)
    others = probabilities.copy()
    others[rows, codes] = 0.0
    best, total = others.max(axis=1), others.sum(axis=1)
    margin = probabilities[rows, codes] - best
    truth = others / np.where(total > 0, total, 1.0)[:, None] * (1 - posterior)[:, None]
    truth[rows, codes] += 1 - truth.sum(axis=1)
    pairs = np.zeros((K, K))
    np.add.at(pairs, codes, truth / m)
    wrong = judged & (posterior < 0.5) & (best > 0)
    suggested = np.where(wrong, others.argmax(axis=1), codes)
    order = np.lexsort((labelled, margin, posterior))
    return LabelIssues(
        labelled[order],
        classes[codes[order]],
        classes[suggested[order]],
        1 - posterior[order],
        margin[order],
        evidence[order],
        judged[order],
        rate,
        pairs,
        classes,
    )


def _evidence(fit: ComponentFit) -> dict[int, NDArray[Any]]:
    """Return, for suspicious labels, the labels of other classes with the most weight there."""
    ensemble, problem = fit.ensemble, fit.problem
    posterior = ensemble.label_posterior
    suspects = np.argsort(posterior, kind="stable")
    limit = len(suspects)
    if any(answer.view.label_filters.kernel is None for answer in fit.answers):
        limit = max(10, min(_EXPLAINED // problem.graph.n, _KEPT // limit))
    suspects = suspects[ensemble.judged[suspects] & (posterior[suspects] < 0.9)][:limit]
    if suspects.size == 0:
        return {}
    influence = _influence(fit.answers[0], suspects)
    for answer in fit.answers[1:]:
        influence += _influence(answer, suspects)
    evidence = {}
    for k, row in zip(suspects.tolist(), influence, strict=True):
        against = np.where(problem.codes == problem.codes[k], -np.inf, row)
        order = np.argsort(-against, kind="stable")[:_EVIDENCE]
        evidence[k] = order[against[order] > 0]
    return evidence


def _influence(answer: ViewAnswer, rows: NDArray[Any]) -> Array:
    """Return what every label says at the nodes of some labels in one view, (rows, labels)."""
    problem, filters = answer.view.problem, answer.view.label_filters
    weights, shares = answer.column_weights, answer.combination.filters
    if not shares.any():
        return np.zeros((len(rows), len(weights)))
    mass = problem.class_mass(weights) if problem.balanced else np.ones(problem.n_classes)
    present = mass > 0  # as in ViewAnswer.f: labels of a class may all have lost their weight
    per_mass = weights / np.where(present, mass, 1.0)[problem.codes] * mass[present].mean()
    with threads.single_blas:
        influence = filters.influence(shares / filters.scales, rows)
    if problem.balanced:  # what all labels say alike speaks for no class
        influence -= influence.sum(axis=1, keepdims=True) / max(1, len(weights) - 1)
    influence *= per_mass
    return influence

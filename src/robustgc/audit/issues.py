"""The report of wrong labels: what the other labels say of every label that was given."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.choice.fit import ComponentFit
from robustgc.graph import threads
from robustgc.graph.weights import Array

_EVIDENCE = 3  # labels that speak against one
_NOT_JUDGED = "not judged"
_PRINTED = 20  # rows of a table that is printed
_WIDE = (8, 12, 12, 9, 8, 0)  # least widths of its columns
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
        for k in range(len(self)):
            yield LabelIssue(
                self.node[k : k + 1].tolist()[0],
                self.given[k],
                self.suggested[k],
                float(self.suspicion[k]),
                float(self.margin[k]),
                self.evidence[k],
                bool(self.judged[k]),
            )

    def __str__(self) -> str:
        rows = [["node", "given", "suggested", "suspicion", "margin", "evidence"]]
        for row in list(self)[:_PRINTED]:
            texts = [printable(name) for name in (row.node, row.given, row.suggested)]
            witnesses = ", ".join(printable(name) for name in row.evidence)
            numbers = (f"{row.suspicion:.2f}", f"{row.margin:.2f}") if row.judged else ("", "")
            witnesses = witnesses if row.judged else _NOT_JUDGED
            rows.append([*texts, *numbers, witnesses])
        columns = zip(*rows, strict=True)
        wide = [max(least, *map(len, column)) for least, column in zip(_WIDE, columns, strict=True)]
        lines = [f"{len(self)} labels, about {self.noise_rate:.0%} of them wrong"]
        if left := int((~self.judged).sum()):
            lines[0] += f"; {left} could not be judged: nothing speaks for or against them"
        if self.reviewed is not None and self.reviewed.any():
            lines[0] += f"; {int(self.reviewed.sum())} were reviewed and stand last"
        for node, given, suggested, suspicion, margin, evidence in rows:
            lines.append(
                f"{node:>{wide[0]}}  {given:<{wide[1]}}  {suggested:<{wide[2]}}  "
                f"{suspicion:>{wide[3]}}{margin:>{wide[4]}}  {evidence}"
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
    """What the labels of one component say of each other: a row for each.

    Attributes
    ----------
    nodes : ndarray of int, shape (labels,)
        Their numbers in the whole graph.
    posterior : ndarray, shape (labels,)
        Probability that the label is right.
    judged : ndarray of bool, shape (labels,)
    probabilities : ndarray, shape (labels, K)
        Of the classes when the label is left out.
    classes : ndarray of int, shape (K,)
        Of the columns of `probabilities`.
    evidence : dict
        From rows to the numbers of the nodes that speak against the label.
    """

    nodes: NDArray[Any]
    posterior: Array
    judged: NDArray[np.bool_]
    probabilities: Array
    classes: NDArray[Any]
    evidence: dict[int, tuple[int, ...]]


def component_issues(fit: ComponentFit) -> ComponentIssues:
    """Return what the labels of a fit say of each other."""
    ensemble, problem = fit.ensemble, fit.problem
    evidence = {k: tuple(problem.names[found].tolist()) for k, found in _evidence(fit).items()}
    return ComponentIssues(
        problem.names,
        ensemble.label_posterior,
        ensemble.judged,
        ensemble.class_probabilities,
        problem.classes,
        evidence,
    )


def label_issues(
    components: Iterable[ComponentIssues],
    given: NDArray[Any],
    codes: NDArray[np.int64],
    names: NDArray[Any],
) -> LabelIssues:
    """Put what is said in all components together.

    Parameters
    ----------
    components : iterable of ComponentIssues
    given, codes : ndarray of int
        The labelled nodes, ascending, and their classes.
    names : ndarray
        Of the classes.
    """
    K = len(names)
    posterior, judged = np.full(len(given), np.nan), np.zeros(len(given), dtype=bool)
    probabilities = np.eye(K)[codes]
    evidence = np.empty(len(given), dtype=object)
    evidence[:] = [()] * len(given)
    for found in components:
        here = np.searchsorted(given, found.nodes)
        posterior[here] = found.posterior
        judged[here] = found.judged
        spread = np.zeros((len(here), K))
        spread[:, found.classes] = found.probabilities
        probabilities[here] = spread
        for k, witnesses in found.evidence.items():
            evidence[here[k]] = witnesses
    rate = float(np.mean(1 - posterior[judged])) if judged.any() else 0.0
    posterior = np.where(judged, posterior, 1 - rate)
    return _table(names, codes, given, posterior, probabilities, evidence, judged, rate)


def _table(
    classes: NDArray[Any],
    codes: NDArray[np.int64],
    given: NDArray[Any],
    posterior: Array,
    probabilities: Array,
    evidence: NDArray[np.object_],
    judged: NDArray[np.bool_],
    rate: float,
) -> LabelIssues:
    rows, K = np.arange(len(given)), len(classes)
    others = probabilities.copy()
    others[rows, codes] = 0.0
    best = others.max(axis=1)
    margin = probabilities[rows, codes] - best
    share = others / np.where(others.sum(axis=1) > 0, others.sum(axis=1), 1.0)[:, None]
    truth = share * (1 - posterior)[:, None]
    truth[rows, codes] += 1 - truth.sum(axis=1)
    pairs = np.zeros((K, K))
    np.add.at(pairs, codes, truth / len(given))
    wrong = judged & (posterior < 0.5) & (best > 0)
    suggested = np.where(wrong, others.argmax(axis=1), codes)
    order = np.lexsort((given, margin, posterior))
    return LabelIssues(
        given[order],
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
    ensemble, problem, filters = fit.ensemble, fit.problem, fit.label_filters
    posterior, weights = ensemble.label_posterior, fit.column_weights
    doubted = np.argsort(posterior, kind="stable")
    limit = len(doubted)
    if filters.kernel is None:
        limit = max(10, min(_EXPLAINED // problem.graph.n, _KEPT // limit))
    doubted = doubted[ensemble.judged[doubted] & (posterior[doubted] < 0.9)][:limit]
    if doubted.size == 0:
        return {}
    mass = problem.class_mass(weights) if problem.balanced else np.ones(problem.n_classes)
    there = mass > 0  # as in ComponentFit.f: the labels of a class may all have lost their weight
    per_mass = weights / np.where(there, mass, 1.0)[problem.codes] * mass[there].mean()
    shares = ensemble.combination.filters / filters.scales
    with threads.single_blas:
        influence = filters.influence(shares, doubted)
    if problem.balanced:  # what all labels say alike speaks for no class
        influence -= influence.sum(axis=1, keepdims=True) / max(1, len(weights) - 1)
    influence *= per_mass
    found = {}
    for k, row in zip(doubted, influence, strict=True):
        against = np.where(problem.codes == problem.codes[k], -np.inf, row)
        order = np.argsort(-against, kind="stable")[:_EVIDENCE]
        found[int(k)] = order[against[order] > 0]
    return found

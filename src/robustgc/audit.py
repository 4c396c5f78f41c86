"""The report of wrong labels: what the other labels say of every label that was given."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.choice.problem import Ruling
from robustgc.weights import Array

LIKELY = 0.9  # a suspicion that is worth a word
_WITNESSES = 3
_PRINTED = 20  # rows of a table that is printed
_WIDE = (8, 12, 12, 9, 8, 0)  # least widths of its columns
_EXPLAINED = 2**22  # values of the columns that evidence may take where it takes a solve


@dataclass(frozen=True)
class LabelIssue:
    """One given label: the row of a `LabelIssues` table."""

    node: Any
    given: Any
    suggested: Any
    suspicion: float
    margin: float
    evidence: tuple[Any, ...]


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
        Probability that the label is wrong, from 0 to 1.
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
            )

    def __str__(self) -> str:
        rows = [["node", "given", "suggested", "suspicion", "margin", "evidence"]]
        for row in list(self)[:_PRINTED]:
            texts = [printable(name) for name in (row.node, row.given, row.suggested)]
            witnesses = ", ".join(printable(name) for name in row.evidence)
            rows.append([*texts, f"{row.suspicion:.2f}", f"{row.margin:.2f}", witnesses])
        columns = zip(*rows, strict=True)
        wide = [max(least, *map(len, column)) for least, column in zip(_WIDE, columns, strict=True)]
        lines = [f"{len(self)} labels, about {self.noise_rate:.0%} of them wrong"]
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
class Judgement:
    """What the labels of one component say of each other: a row for each."""

    nodes: NDArray[Any]
    right: Array
    judged: NDArray[np.bool_]
    chances: Array
    classes: NDArray[Any]  # of the columns of `chances`
    evidence: dict[int, tuple[int, ...]]  # by row


def judgement(ruling: Ruling, nodes: NDArray[Any], classes: NDArray[Any]) -> Judgement:
    """Return what a ruling says of its labels.

    Parameters
    ----------
    ruling : Ruling
    nodes : ndarray of int
        The labelled nodes, as they are to be called.
    classes : ndarray of int
        The codes of the classes labelled there.
    """
    court = ruling.committee
    evidence = {
        k: tuple(int(nodes[j]) for j in witnesses) for k, witnesses in _evidence(ruling).items()
    }
    return Judgement(nodes, court.right, court.judged, court.chances, classes, evidence)


def label_issues(
    judgements: Iterable[Judgement],
    given: NDArray[Any],
    codes: NDArray[np.int64],
    names: NDArray[Any],
) -> LabelIssues:
    """Put what is said in all components together.

    Parameters
    ----------
    judgements : iterable of Judgement
    given, codes : ndarray of int
        The labelled nodes, ascending, and their classes.
    names : ndarray
        Of the classes.
    """
    K = len(names)
    right, judged = np.full(len(given), np.nan), np.zeros(len(given), dtype=bool)
    chances = np.eye(K)[codes]
    evidence = np.empty(len(given), dtype=object)
    evidence[:] = [()] * len(given)
    for found in judgements:
        here = np.searchsorted(given, found.nodes)
        right[here] = found.right
        judged[here] = found.judged
        spread = np.zeros((len(here), K))
        spread[:, found.classes] = found.chances
        chances[here] = spread
        for k, witnesses in found.evidence.items():
            evidence[here[k]] = witnesses
    rate = float(np.mean(1 - right[judged])) if judged.any() else 0.0
    right = np.where(judged, right, 1 - rate)
    return _table(names, codes, given, right, chances, evidence, judged, rate)


def _table(
    classes: NDArray[Any],
    codes: NDArray[np.int64],
    given: NDArray[Any],
    right: Array,
    chances: Array,
    evidence: NDArray[np.object_],
    judged: NDArray[np.bool_],
    rate: float,
) -> LabelIssues:
    rows, K = np.arange(len(given)), len(classes)
    others = chances.copy()
    others[rows, codes] = 0.0
    best = others.max(axis=1)
    margin = chances[rows, codes] - best
    share = others / np.where(others.sum(axis=1) > 0, others.sum(axis=1), 1.0)[:, None]
    truth = share * (1 - right)[:, None]
    truth[rows, codes] += 1 - truth.sum(axis=1)
    pairs = np.zeros((K, K))
    np.add.at(pairs, codes, truth / len(given))
    wrong = judged & (right < 0.5) & (best > 0)
    suggested = np.where(wrong, others.argmax(axis=1), codes)
    order = np.lexsort((given, margin, right))
    return LabelIssues(
        given[order],
        classes[codes[order]],
        classes[suggested[order]],
        1 - right[order],
        margin[order],
        evidence[order],
        judged[order],
        rate,
        pairs,
        classes,
    )


def _evidence(ruling: Ruling) -> dict[int, NDArray[Any]]:
    """Return, for suspicious labels, the labels of other classes with the most weight there."""
    court, question = ruling.committee, ruling.question
    doubted = np.argsort(court.right, kind="stable")
    limit = len(doubted) if ruling.heldout.cheap else max(10, _EXPLAINED // ruling.graph.n)
    doubted = doubted[court.judged[doubted] & (court.right[doubted] < 0.9)][:limit]
    if doubted.size == 0:
        return {}
    mass = question.mass(ruling.weight)
    there = mass > 0  # as in Ruling.f: the labels of a class may all have lost their weight
    alike = ruling.weight / np.where(there, mass, 1.0)[question.codes] * mass[there].mean()
    balanced, counting = ruling.heldout.kernels(ruling.mix[:2] / ruling.heldout.units, doubted)
    votes = balanced * alike + counting * ruling.weight
    found = {}
    for k, row in zip(doubted, votes, strict=True):
        against = np.where(question.codes == question.codes[k], -np.inf, row)
        order = np.argsort(-against, kind="stable")[:_WITNESSES]
        found[int(k)] = order[against[order] > 0]
    return found

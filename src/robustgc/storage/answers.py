"""What a model's answers must be to each other: values, classes, reasons, components, evidence."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.audit.issues import LabelIssues
from robustgc.graph.quoting import quoted
from robustgc.storage.checks import Checked
from robustgc.transduction.answer import (
    DECIDED,
    ISOLATED,
    NO_LABEL,
    ONE_CLASS,
    TIE,
    Transduction,
    decide,
)
from robustgc.transduction.labels import Labels
from robustgc.transduction.landmarks import EXTENDED, OUT_OF_REACH

# Whether a node with this reason has a class, and whether it has decision values.
_MEANING = {
    DECIDED: (True, True),
    ONE_CLASS: (True, True),
    EXTENDED: (True, True),
    TIE: (False, True),
    NO_LABEL: (False, False),
    ISOLATED: (False, False),
    OUT_OF_REACH: (False, False),
}
ROUNDING = 1e-9  # shares are sums of rounded numbers
_NONE, _SOLVED, _CONSTANT = 0, 1, 2  # what is known of a component


def check_answer(
    checked: Checked,
    answer: Transduction,
    chosen: NDArray[Any] | None,
    texts: list[str],
    reason: NDArray[np.uint8],
) -> None:
    """Refuse an answer that no fit gives.

    Parameters
    ----------
    checked : Checked
        Refuses.
    answer : Transduction
        With types, shapes and ranges checked.
    chosen : ndarray of int or None
        The landmarks; None: every node is in the graph.
    texts, reason : list of str, ndarray of int
        The reasons that there are, and which of them every node has.
    """
    _check_values(checked, answer)
    _check_reasons(checked, answer, texts, reason)
    inside = np.ones(len(answer.codes), dtype=bool)
    if chosen is not None:
        inside[:] = False
        inside[chosen] = True
    _check_components(checked, answer, inside)


def _check_values(checked: Checked, answer: Transduction) -> None:
    f, codes = answer.f, answer.codes
    lost = np.isnan(f)
    never = np.any(f == np.inf, axis=1) | np.all(f == -np.inf, axis=1)
    never |= lost.any(axis=1) & ~lost.all(axis=1)
    if f.shape[1] == 1:
        never |= np.isinf(f[:, 0])
    if (node := _first(never)) is not None:
        checked.refuse(
            f"node {node} has the decision values {f[node].tolist()[:5]}; they must be finite, all "
            "NaN where there is no answer, or -inf for a class without a label",
            "f.npy",
        )
    if (node := _first((codes >= 0) & np.not_equal(decide(f), codes))) is not None:
        checked.refuse(
            f"node {node} has the class number {codes[node]}, which is not that of its decision "
            f"values {f[node].tolist()[:5]}",
            "codes.npy",
        )


def _check_reasons(
    checked: Checked, answer: Transduction, texts: list[str], reason: NDArray[np.uint8]
) -> None:
    known = np.array([text in _MEANING for text in texts])  # another version may word it otherwise
    meaning = np.array([_MEANING.get(text, (False, False)) for text in texts])[reason]
    some, valued = answer.codes >= 0, ~np.isnan(answer.f[:, 0])
    odd = known[reason] & ((meaning[:, 0] != some) | (meaning[:, 1] != valued))
    if (node := _first(odd)) is not None:
        checked.refuse(
            f"node {node} has the reason {quoted(texts[reason[node]])}, which does not go with its "
            f"class number {answer.codes[node]} and decision value {answer.f[node, 0]}",
            "reasons.npy",
        )


def _check_components(checked: Checked, answer: Transduction, inside: NDArray[np.bool_]) -> None:
    number, d, f = answer.number, answer.d, answer.f
    if (node := _first((number >= 0) != inside)) is not None:
        what = "of the graph has no component" if inside[node] else "is no landmark but has one"
        checked.refuse(f"a node {what}, the first {node}", "components.npy")
    sizes = np.bincount(number[inside])
    if (gap := _first(sizes == 0)) is not None:
        checked.refuse(
            f"component {gap} has no node; they must be numbered without a gap", "components.npy"
        )
    kind = _kinds(checked, answer, sizes)
    here = np.where(inside, kind[number], _NONE)
    bad = np.where(inside, ~(np.isfinite(d) & (d >= 0)), ~np.isnan(d))
    bad |= (here == _SOLVED) & ~(d > 0)
    if (node := _first(bad)) is not None:
        checked.refuse(
            f"node {node} has the degree {d[node]}; degrees are finite and 0 or more, more than 0 "
            "where the model was solved, and NaN for a point that is no landmark",
            "degrees.npy",
        )
    first = np.zeros(len(sizes), dtype=np.int64)
    first[number[inside][::-1]] = np.flatnonzero(inside)[::-1]
    like = f[first[np.where(inside, number, 0)]]  # the first node of its component
    same = (np.isfinite(f) == np.isfinite(like)).all(axis=1)
    odd = inside & (np.isnan(f[:, 0]) != (here == _NONE))
    odd |= (here == _SOLVED) & ~same
    odd |= (here == _CONSTANT) & (f != like).any(axis=1)
    for c, values in answer.constants.items():
        odd[first[c]] |= bool((f[first[c]] != values).any())
    if (node := _first(odd)) is not None:
        checked.refuse(
            f"node {node} has the decision values {f[node].tolist()[:5]}, which do not go with "
            f"its component {number[node]}",
            "f.npy",
        )


def _kinds(checked: Checked, answer: Transduction, sizes: NDArray[Any]) -> NDArray[np.int64]:
    """Return what is known of every component, after checking the evidence for it."""
    kind = np.full(len(sizes), _NONE)
    for c, certificate in answer.certificates.items():
        if not 0 <= c < len(sizes) or certificate.n_nodes != sizes[c]:
            checked.refuse(
                f"the certificate of component {c} is for {certificate.n_nodes} nodes; there are "
                f"{len(sizes)} components, and this one has "
                f"{sizes[c] if 0 <= c < len(sizes) else 'none'}"
            )
        kind[c] = _SOLVED
    for c, values in answer.constants.items():
        if not c < len(sizes) or kind[c] == _SOLVED:
            checked.refuse(
                f"component {c} of {len(sizes)} cannot be one of a single class",
                "constant_components.npy",
            )
        if (np.abs(values) != 1).any():
            checked.refuse(
                f"component {c} has the values {values.tolist()[:5]}; they must be 1 or -1",
                "constants.npy",
            )
        kind[c] = _CONSTANT
    return kind


def check_issues(checked: Checked, issues: LabelIssues, labels: Labels) -> None:
    """Refuse a report of wrong labels that is not one of the labels."""
    given = np.flatnonzero(labels.codes >= 0)
    order = np.argsort(issues.node, kind="stable")
    if not np.array_equal(issues.node[order], given):
        checked.refuse(
            f"the report is of {len(issues)} labels that are not the {len(given)} given ones",
            "issue_node.npy",
        )
    if (issues.given[order] != labels.classes[labels.codes[given]]).any():
        checked.refuse("a label in the report is not the one that was given", "issue_given.npy")
    if not {node for nodes in issues.evidence for node in nodes} <= set(given.tolist()):
        checked.refuse(
            "the evidence of the report names a node without a label", "issue_evidence.npy"
        )
    total = float(issues.pairs.sum())
    if abs(total - 1) > 1e-6:
        checked.refuse(f"the shares sum to {total:.6g}; they must sum to 1", "issue_pairs.npy")


def in_share(values: Any) -> bool:
    """Whether numbers are shares, from 0 to 1 but for rounding."""
    return bool(np.all((np.asarray(values) >= -ROUNDING) & (np.asarray(values) <= 1 + ROUNDING)))


def _first(odd: NDArray[Any]) -> int | None:
    """Return the first place that is odd, if there is one."""
    place = int(odd.argmax()) if odd.size else 0
    return place if odd.size and odd[place] else None

"""Answers and the report of wrong labels <-> arrays, checked to be what a fit could have given."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.audit.issues import LabelIssues
from robustgc.graph.quoting import quoted, short
from robustgc.graph.weights import Array
from robustgc.storage.values import Checked, decoded_record, encoded_record
from robustgc.transduction.answer import (
    DECIDED,
    ISOLATED,
    NO_LABEL,
    ONE_CLASS,
    TIE,
    Certificate,
    Transduction,
    decide,
)
from robustgc.transduction.labels import Labels
from robustgc.transduction.landmarks import EXTENDED, OUT_OF_REACH

Arrays = dict[str, NDArray[Any]]

# Reasons of nodes that have a class, that have decision values, and all.
_CLASSIFIED = {DECIDED, ONE_CLASS, EXTENDED}
_VALUED = _CLASSIFIED | {TIE}
_REASONS = _VALUED | {NO_LABEL, ISOLATED, OUT_OF_REACH}
_ROUNDING = 1e-9  # shares are sums of rounded numbers
_NONE, _SOLVED, _CONSTANT = 0, 1, 2  # what is known of a component


def encoded_certificates(certificates: dict[int, Certificate]) -> list[Any]:
    """Return the evidence of every component that was solved, for the manifest."""
    return [[int(c), encoded_record(certificate)] for c, certificate in certificates.items()]


def node_arrays(answer: Transduction, reasons: list[str]) -> Arrays:
    """Return what is known of every node, the reason by its place in a list of all."""
    place = {reason: k for k, reason in enumerate(reasons)}
    return {
        "f": answer.f,
        "codes": answer.codes,
        "reasons": np.array([place[reason] for reason in answer.reasons.tolist()], dtype=np.uint8),
        "components": answer.number,
        "degrees": answer.d,
    }


def constant_arrays(constants: dict[int, Array], columns: int) -> Arrays:
    """Return the components with one class, and the decision in each."""
    return {
        "constant_components": np.array(list(constants), dtype=np.int64),
        "constants": np.array(list(constants.values()), dtype=float).reshape(-1, columns),
    }


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


def read_answer(
    checked: Checked, n: int, n_classes: int, landmarks: NDArray[np.int64] | None = None
) -> Transduction:
    """Take the answer for n nodes, of which the landmarks or all are in the graph; check it."""
    columns = 1 if n_classes == 2 else n_classes
    texts = checked.value("reasons", list)
    if not texts or not all(isinstance(text, str) for text in texts):
        checked.refuse("the reasons must be texts")
    reason = checked.array("reasons", "uint8", (n,), 0, len(texts) - 1)
    constant = checked.array("constant_components", "int64", (None,), 0, n - 1)
    if len(np.unique(constant)) != len(constant):
        checked.refuse("a component is there twice", "constant_components.npy")
    values = checked.array("constants", "float64", (len(constant), columns))
    answer = Transduction(
        checked.array("f", "float64", (n, columns), finite=False),
        checked.array("codes", "int64", (n,), -1, n_classes - 1),
        np.array(texts, dtype=object)[reason],
        checked.array("components", "int32 int64", (n,), -1, n - 1),
        _certificates(checked),
        {int(c): row.copy() for c, row in zip(constant, values, strict=True)},
        checked.array("degrees", "float64", (n,), finite=False),
    )
    _check_values(checked, answer)
    _check_reasons(checked, answer, texts, reason)
    inside = np.full(n, landmarks is None)
    if landmarks is not None:
        inside[landmarks] = True
    _check_components(checked, answer, inside)
    return answer


def _certificates(checked: Checked) -> dict[int, Certificate]:
    """Take the evidence of every component that was solved."""
    certificates: dict[int, Certificate] = {}
    for item in checked.value("certificates", list):
        with checked.refusing("a certificate cannot be read"):
            component, record = item
            if type(component) is not int or component in certificates:
                raise ValueError(f"{short(component)} is no number of one component")
            certificates[component] = decoded_record(Certificate, record)
    return certificates


def read_issues(checked: Checked, n: int, classes: NDArray[Any]) -> LabelIssues | str:
    """Take the report of wrong labels of n nodes, or why there is none."""
    about = checked.value("issues", dict)
    if isinstance(about.get("failure"), str):
        return str(about["failure"])
    rate, K = about.get("noise_rate"), len(classes)
    if type(rate) is not float or not -_ROUNDING <= rate <= 1 + _ROUNDING:
        checked.refuse(f"the report of wrong labels has the noise rate {short(rate)}")
    node = checked.array("issue_node", "int64", (None,), 0, n - 1)
    rows = node.shape
    counts = checked.array("issue_witnesses", "int64", rows, 0, n)
    flat = checked.array("issue_evidence", "int64", (int(counts.sum()),), 0, n - 1)
    evidence = np.empty(rows, dtype=object)
    parts = np.split(flat, np.cumsum(counts)[:-1]) if len(counts) else []
    evidence[:] = [tuple(part.tolist()) for part in parts]
    return LabelIssues(
        node,
        classes[checked.array("issue_given", "int64", rows, 0, K - 1)],
        classes[checked.array("issue_suggested", "int64", rows, 0, K - 1)],
        checked.array("issue_suspicion", "float64", rows, -_ROUNDING, 1 + _ROUNDING),
        checked.array("issue_margin", "float64", rows, -1 - _ROUNDING, 1 + _ROUNDING),
        evidence,
        checked.array("issue_judged", "bool", rows),
        rate,
        checked.array("issue_pairs", "float64", (K, K), -_ROUNDING, 1 + _ROUNDING),
        classes,
    )


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
    classified, valued, known = (
        np.array([text in reasons for text in texts])[reason]
        for reasons in (_CLASSIFIED, _VALUED, _REASONS)
    )
    odd = (classified != (answer.codes >= 0)) | (valued == np.isnan(answer.f[:, 0]))
    odd &= known  # another version may word it otherwise
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


def _first(odd: NDArray[Any]) -> int | None:
    """Return the first place that is odd, if there is one."""
    place = int(odd.argmax()) if odd.size else 0
    return place if odd.size and odd[place] else None

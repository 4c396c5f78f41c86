"""ZhouGC's gamma and BelkinGC's number of eigenvectors, chosen from the labels alone.

A value is scored by what the model says at every label that it does not see. One choice for the
whole graph, from the labels of all pieces with two classes or more; each piece is solved by itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.weights import Array, Weights, components
from robustgc.linalg.spectrum import eigenpairs
from robustgc.models.leave_one_out import (
    LabelledGraph,
    belkin_leave_one_out,
    hat_matrix_factors,
    zhou_leave_one_out,
)
from robustgc.transduction.labels import Labels

GAMMAS = tuple(float(gamma) for gamma in np.logspace(-3, 1, 9))
MOST_VECTORS = 64
MOST_OF_LARGE = 10  # eigenvectors deep in the bulk of a large graph take minutes each
_ROUNDING = 64 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class ScoredValue:
    """A value of the parameter and how the labels judged it.

    Attributes
    ----------
    candidate : float
        The value.
    accuracy : float
        Share of the labels that the model gives back when it has not seen them. A label that is
        the only one of its class in its piece counts as a miss.
    margin : float
        Mean lead of the label's own class over the best other one, between -1 and 1: the second
        criterion.
    chosen : bool
    """

    candidate: float
    accuracy: float
    margin: float
    chosen: bool


Candidate = ScoredValue  # its name in pickles of earlier versions


def pieces(W: Weights, labels: Labels) -> list[LabelledGraph]:
    """Return the components that have labels of two classes or more."""
    (count, number), K = components(W), len(labels.classes)
    if count == 1:
        return [LabelledGraph.of(Graph._trusted(W), labels.codes, K)]
    order = np.argsort(number, kind="stable")
    ends = np.cumsum(np.bincount(number, minlength=count))
    parts = []
    for c in np.unique(number[labels.codes >= 0]):
        nodes = order[ends[c - 1] if c else 0 : ends[c]]
        codes = labels.codes[nodes]
        if len(np.unique(codes[codes >= 0])) > 1:
            parts.append(LabelledGraph.of(Graph._trusted(W, nodes), codes, K))
    return parts


def choose_gamma(
    parts: Sequence[LabelledGraph], gammas: Sequence[float] = GAMMAS
) -> tuple[ScoredValue, ...]:
    """Score every gamma of ZhouGC; empty if no piece has two classes."""
    if not parts:
        return ()
    by_part = [zhou_leave_one_out(part, gammas) for part in parts]
    return _scored(gammas, [_leads(F, parts) for F in zip(*by_part, strict=True)])


def choose_n_vectors(parts: Sequence[LabelledGraph], laplacian: str) -> tuple[ScoredValue, ...]:
    """Score numbers of eigenvectors from the number of classes up; empty if there is none to score.

    A number is no candidate if the piece with most labels does not determine the fit without each
    of them. Smaller pieces may: there the fit of least norm is taken, as in `belkin`.
    """
    if not parts:
        return ()
    main = max(range(len(parts)), key=lambda k: len(parts[k].nodes))
    labels, n_classes = parts[main].Y.shape
    large = max(part.graph.n for part in parts) > SMALL
    limit = max(MOST_OF_LARGE, 2 * n_classes) if large else MOST_VECTORS
    most = min(limit, labels - 1, parts[main].graph.n)
    if most < n_classes:
        return ()
    bases = [
        eigenpairs(part.graph, min(most, part.graph.n), laplacian).vectors[part.nodes]
        for part in parts
    ]
    numbers = np.unique(np.geomspace(n_classes, most, 9).round().astype(int)).tolist()
    numbers = [p for p in numbers if hat_matrix_factors(bases[main][:, :p]) is not None]
    leads = []
    for p in numbers:
        pairs = zip(bases, parts, strict=True)
        answers = [belkin_leave_one_out(basis[:, :p], part.Y) for basis, part in pairs]
        leads.append(_leads(answers, parts))
    return _scored(numbers, leads)


def _leads(answers: Sequence[Array], parts: Sequence[LabelledGraph]) -> Array:
    """Return by how much, from -1 to 1, the own class of every label leads the others."""
    F = np.concatenate(answers)
    rows, codes = np.arange(len(F)), np.concatenate([part.codes for part in parts])
    own = F[rows, codes]
    F[rows, codes] = -np.inf
    best = F.max(axis=1)
    lead = np.where(np.isinf(own), -1.0, 1.0)  # no label left of its class; of any other
    both = np.isfinite(own) & np.isfinite(best)
    size = np.abs(own[both]) + np.abs(best[both])
    lead[both] = (own[both] - best[both]) / np.where(size > 0, size, 1.0)
    return lead


def _scored(values: Sequence[float], leads: Sequence[Array]) -> tuple[ScoredValue, ...]:
    """Mark the best value: most labels given back, then the largest mean lead, then the first."""
    scores = [(float(np.mean(lead > _ROUNDING)), float(np.mean(lead))) for lead in leads]
    # Of leads that rounding alone tells apart, the first: else the form of a matrix would choose.
    rounded = [(share, round(lead, 9)) for share, lead in scores]
    best = rounded.index(max(rounded)) if scores else -1
    pairs = enumerate(zip(values, scores, strict=True))
    return tuple(ScoredValue(value, *score, chosen=k == best) for k, (value, score) in pairs)

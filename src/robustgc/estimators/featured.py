"""Features of the nodes in a fit: they join the edges of the graph."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.affinity.node_features import FeatureGraph, read_features
from robustgc.affinity.views import FeaturedGraph, Mixture
from robustgc.choice.candidates import Candidate
from robustgc.estimators.base import InputGraph
from robustgc.graph.quoting import listed, quoted
from robustgc.graph.weights import separated


@dataclass(frozen=True)
class ViewWeight:
    """What one view of the nodes weighs, with its evidence on labels left out.

    Attributes
    ----------
    name : str
        "graph", "features" or "both".
    features : float
        Share of the features: 0 for the graph alone, 1 for the features alone.
    weight : float
        Of its candidates together.
    accuracy, evidence : float
        Of its candidates, as in `selection_`: their mean by weight.
    """

    name: str
    features: float
    weight: float
    accuracy: float
    evidence: float


def check_features_allowed(affinity: Any, engine: str, landmarks: Any) -> None:
    """Refuse features where the nodes are no nodes of a graph in this process."""
    if not isinstance(affinity, str) or affinity != "precomputed":
        raise ValueError(
            f"features= is for the nodes of a graph, and affinity={quoted(affinity)} takes X for "
            "points. Give the weights with affinity='precomputed', or join the columns to X."
        )
    if engine != "local" or landmarks is not None:
        raise ValueError(
            "features= needs engine='local' and no landmarks: neighbours are looked for among all "
            "nodes. Leave these parameters out."
        )


def with_features(
    graph: InputGraph, features: Any, kind: str
) -> tuple[InputGraph, FeaturedGraph, tuple[str, ...]]:
    """Join the nodes that are alike by their features; return what was decided on the way."""
    X, names, notes = read_features(features, graph.X.shape[0])
    known = FeatureGraph.of(X, kind, names)
    featured = FeaturedGraph(graph.weights, known)
    notes += known.notes
    if told := _columns_like_labels(X, graph.labels.codes, names):
        notes.append(
            f"{listed(told)} of the features alone {'gives' if len(told) == 1 else 'give'} every "
            "label: was it made from the labels? Leave it out if so"
        )
    joined = replace(graph, weights=separated(featured.weights()))
    return joined, featured, tuple(notes)


def _columns_like_labels(
    X: Any, codes: NDArray[np.int64], names: Sequence[str] | None
) -> list[str]:
    """Return the columns with a value of its own for every class, the same at all its labels."""
    labelled = np.flatnonzero(codes >= 0)
    classes, code = np.unique(codes[labelled], return_inverse=True)
    if len(labelled) < 3 * len(classes):  # few labels are told apart by chance
        return []
    rows = X[labelled]
    first = np.array([np.flatnonzero(code == c)[0] for c in range(len(classes))])
    prototypes = rows[first][code]  # the first label of the own class, for every label
    if sp.issparse(rows):
        differ = abs(sp.csc_array(rows) - sp.csc_array(prototypes)).max(axis=0).toarray().ravel()
    else:
        differ = np.abs(rows - prototypes).max(axis=0)
    alike = np.flatnonzero(differ == 0)
    values = rows[first][:, alike]
    values = values.toarray() if sp.issparse(values) else values
    own = [len(np.unique(column)) == len(classes) for column in values.T]
    return [f"column {k}" if names is None else names[k] for k in alike[own].tolist()]


def view_weights(selection: Iterable[Candidate]) -> tuple[ViewWeight, ...]:
    """Return the views in the order of their share of the features."""
    rows = []
    for share, group in groupby(sorted(selection, key=lambda c: c.features), lambda c: c.features):
        some = list(group)
        weights = np.array([c.weight for c in some])
        means = [
            float(np.average([getattr(c, name) for c in some], weights=weights))
            if weights.any()
            else float(max(getattr(c, name) for c in some))
            for name in ("accuracy", "evidence")
        ]
        rows.append(ViewWeight(Mixture(share, None).name, share, float(weights.sum()), *means))
    return tuple(rows)

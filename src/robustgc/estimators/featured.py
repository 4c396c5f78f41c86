"""Features of the nodes in a fit: they join the graph's edges, and reach new nodes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.affinity.node_features import FeatureGraph, read_features
from robustgc.affinity.views import FeaturedGraph, View
from robustgc.choice.candidates import Candidate
from robustgc.estimators.base import InputGraph
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Array, separated
from robustgc.transduction.answer import Transduction, decide


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


def refuse_features(features: Any) -> None:
    """Refuse features of new nodes, where the model has none of the fitted ones."""
    if features is not None:
        raise ValueError(
            "The model was fitted without features, so it has no use for those of new nodes. Leave "
            "features out, or fit with them."
        )


def with_features(
    graph: InputGraph, features: Any, kind: str
) -> tuple[InputGraph, FeaturedGraph, tuple[str, ...]]:
    """Join the nodes that are alike by their features; return what was decided on the way."""
    X, names, notes = read_features(features, graph.X.shape[0])
    known = FeatureGraph.of(X, kind, names)
    featured = FeaturedGraph(graph.weights, known)
    notes += known.scale.notes + warnings_of_columns(X, graph.labels.codes, names)
    joined = replace(graph, weights=separated(featured.weights()))
    return joined, featured, tuple(notes)


def warnings_of_columns(X: Any, codes: NDArray[np.int64], names: Any) -> tuple[str, ...]:
    """Say which column alone gives all labels, as one does that was made from them."""
    labelled = np.flatnonzero(codes >= 0)
    rows, K = X[labelled], len(np.unique(codes[labelled]))
    if len(labelled) < 3 * K:
        return ()
    told = []
    for k in range(X.shape[1]):
        column = rows[:, [k]].toarray().ravel() if not isinstance(rows, np.ndarray) else rows[:, k]
        values, place = np.unique(column, return_inverse=True)
        if len(values) != K:  # an own value for every class
            continue
        if len(np.unique(np.column_stack([place, codes[labelled]]), axis=0)) == K:
            told.append(f"column {k}" if names is None else str(names[k]))
    if not told:
        return ()
    return (
        f"{' and '.join(told[:3])} of the features alone {'gives' if len(told) == 1 else 'give'} "
        "every label: was it made from the labels? Leave it out if so",
    )


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
        rows.append(ViewWeight(View(share, None).name, share, float(weights.sum()), *means))
    return tuple(rows)


def decisions(
    answer: Transduction, featured: FeaturedGraph, edges: Any, features: Any
) -> tuple[Array, NDArray[np.int64]]:
    """Return decision values and class codes of new nodes, by their edges and their features."""
    if edges is None and features is None:
        raise ValueError("Give weights to the fitted nodes, features of the new ones, or both.")
    if features is not None:
        features = read_features(features, None if edges is None else edges.shape[0])[0]
    f = answer.extend(*featured.rows(edges, features))
    return f, decide(f)

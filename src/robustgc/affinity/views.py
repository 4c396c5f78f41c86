"""Two graphs on the same nodes, from edges and from features -> views: one of them, or both mixed.

Each is divided by its mean degree, and ``(1 - a) W_G + a W_X`` is a graph as any other: the graph
itself for a = 0, and that of the features for a = 1.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from robustgc.affinity.node_features import FeatureGraph
from robustgc.graph.csr import CSR
from robustgc.graph.weights import Operator, Weights, components

# Shares of the features between the graph alone and the features alone: small enough for the graph
# to lead, and for the features. Nothing is picked, so that they need not be closer.
SHARES = (0.1, 0.3, 0.5, 0.7)
_EVEN = 0.5  # where one mixture stands for all: components, the paper's model


@dataclass(frozen=True, eq=False)
class Mixture:
    """The graph, that of the features, or a mixture of both.

    `share` is that of the features: 0 for the edges alone, 1 for the features alone.
    """

    share: float
    weights: Weights

    @property
    def name(self) -> str:
        """What it sees: "graph", "features" or "both"."""
        return {0.0: "graph", 1.0: "features"}.get(self.share, "both")


def in_mean_degrees(W: Weights) -> Weights:
    """Return weights divided by the mean degree of the nodes that have edges."""
    degrees = np.asarray(W.sum(axis=1), dtype=float).ravel()
    some = degrees > 0
    return W / degrees[some].mean() if some.any() else W


def mixture(of_edges: Weights, of_features: Weights, share: float) -> Weights:
    """Return ``(1 - share) of_edges + share of_features``."""
    if isinstance(of_edges, np.ndarray):
        return np.asarray((1 - share) * of_edges + share * of_features)
    return sp.csr_array((1 - share) * of_edges + share * of_features)


def views(of_edges: Weights, of_features: Weights) -> tuple[Mixture, ...]:
    """Return the views of nodes that edges and features connect together.

    A view of one of them alone takes links of the other only for nodes outside of its largest
    component, so that it has no component of its own without a label.

    Examples
    --------
    Edges join nodes 0 and 1, features nodes 1 and 2.

    >>> import numpy as np
    >>> from robustgc.affinity.views import views
    >>> edges, features = np.zeros((3, 3)), np.zeros((3, 3))
    >>> edges[0, 1] = edges[1, 0] = features[1, 2] = features[2, 1] = 1.0
    >>> [view.name for view in views(edges, features)]
    ['graph', 'both', 'both', 'both', 'both', 'features']
    >>> views(edges, features)[0].weights[1]
    array([1., 0., 1.])
    """
    if not _any(of_features):
        return (Mixture(0.0, of_edges),)
    if not _any(of_edges):
        return (Mixture(1.0, of_features),)
    both = (Mixture(share, mixture(of_edges, of_features, share)) for share in SHARES)
    alone = (_joined(of_edges, of_features), _joined(of_features, of_edges))
    return Mixture(0.0, alone[0]), *both, Mixture(1.0, alone[1])


class FeaturedGraph:
    """A graph whose nodes have features: its weights by edges and by features."""

    def __init__(self, W: Weights, features: FeatureGraph) -> None:
        self.of_edges = in_mean_degrees(_stored(W))
        self.of_features = in_mean_degrees(features.weights())

    def weights(self) -> Weights:
        """Return the weights of both, half and half: what connects the nodes."""
        return mixture(self.of_edges, self.of_features, _EVEN)

    def views(self, rows: Any) -> tuple[Mixture, ...]:
        """Return the views of the nodes of one component."""
        parts = (self.of_edges, self.of_features)
        if not isinstance(rows, slice):
            parts = (parts[0][rows][:, rows], parts[1][rows][:, rows])
        return views(*parts)


def _stored(W: Weights) -> Weights:
    """Return weights as an array or a sparse array."""
    if isinstance(W, Operator):
        raise ValueError(
            "features= needs weights that are stored, and this kernel is only ever multiplied "
            "with. Give a sparse matrix with affinity='precomputed'."
        )
    if isinstance(W, CSR):
        data = np.ones(len(W.indices)) if W.data is None else W.data
        return sp.csr_array((data, W.indices, W.indptr), shape=W.shape)
    return W


def _joined(S: Weights, other: Weights) -> Weights:
    """Return S with the other's links of all nodes outside of its largest component."""
    count, number = components(S)
    if count == 1:
        return S
    outside = number != np.bincount(number).argmax()
    links = sp.coo_array(other)
    here = outside[links.row] | outside[links.col]
    pairs = (links.row[here], links.col[here])
    added = sp.csr_array((links.data[here], pairs), shape=S.shape)
    return np.asarray(S + added) if isinstance(S, np.ndarray) else sp.csr_array(S + added)


def _any(S: Weights) -> bool:
    """Whether two different nodes are joined."""
    links = sp.coo_array(S)
    return bool((links.data[links.row != links.col] > 0).any())

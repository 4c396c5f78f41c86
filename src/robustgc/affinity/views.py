"""Two graphs on the same nodes, from edges and from features -> views: one of them, or both mixed.

With the normalised weights ``S = D^-1/2 W D^-1/2`` of each, a mixture ``(1 - a) S_G + a S_X`` has,
but for what its degrees differ from 1, the Laplacian ``(1 - a) L_G + a L_X``; it is a graph as any.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from robustgc.affinity.node_features import FeatureGraph
from robustgc.graph.csr import CSR
from robustgc.graph.weights import Array, Operator, Weights, check_weights, components

# Shares of the features between the graph alone and the features alone: small enough for the graph
# to lead, and for the features. Nothing is picked, so that they need not be closer.
SHARES = (0.1, 0.3, 0.5, 0.7)
_EVEN = 0.5  # where one mixture stands for all: components, the paper's model, new nodes


@dataclass(frozen=True, eq=False)
class View:
    """A way to see the nodes.

    Attributes
    ----------
    share : float
        Of the features: 0 for the edges alone, 1 for the features alone.
    weights : ndarray or csr_array
    """

    share: float
    weights: Weights

    @property
    def name(self) -> str:
        """What it sees: "graph", "features" or "both"."""
        return {0.0: "graph", 1.0: "features"}.get(self.share, "both")


def normalised(W: Weights) -> Weights:
    """Return ``D^-1/2 W D^-1/2``; a node without edges has none."""
    roots = _inverse_roots(np.asarray(W.sum(axis=1), dtype=float).ravel())
    if isinstance(W, np.ndarray):
        return check_weights(W * roots[:, None] * roots)  # symmetric to the last digit, too
    return check_weights(sp.csr_array(sp.diags_array(roots) @ W @ sp.diags_array(roots)))


def normalised_rows(rows: Weights, degrees: Array) -> Weights:
    """Return weights between new nodes and fitted ones, divided by the roots of both degrees."""
    rows = sp.csr_array(rows)
    own = _inverse_roots(np.asarray(rows.sum(axis=1), dtype=float).ravel())
    return sp.csr_array(sp.diags_array(own) @ rows @ sp.diags_array(_inverse_roots(degrees)))


def mixed(of_edges: Weights, of_features: Weights, share: float) -> Weights:
    """Return ``(1 - share) of_edges + share of_features``."""
    if isinstance(of_edges, np.ndarray):
        return np.asarray((1 - share) * of_edges + share * of_features)
    return sp.csr_array((1 - share) * of_edges + share * of_features)


def views(of_edges: Weights, of_features: Weights) -> tuple[View, ...]:
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
        return (View(0.0, of_edges),)
    if not _any(of_edges):
        return (View(1.0, of_features),)
    both = (View(share, mixed(of_edges, of_features, share)) for share in SHARES)
    alone = (_joined(of_edges, of_features), _joined(of_features, of_edges))
    return View(0.0, alone[0]), *both, View(1.0, alone[1])


class FeaturedGraph:
    """A graph whose nodes have features: normalised weights by edges and by features."""

    def __init__(self, W: Weights, features: FeatureGraph) -> None:
        W, F = _stored(W), features.weights()
        self.features = features
        self._degrees = tuple(np.asarray(part.sum(axis=1), dtype=float).ravel() for part in (W, F))
        self.of_edges, self.of_features = normalised(W), normalised(F)

    def weights(self) -> Weights:
        """Return the weights of both, half and half: what connects the nodes."""
        return mixed(self.of_edges, self.of_features, _EVEN)

    def views(self, rows: Any) -> tuple[View, ...]:
        """Return the views of the nodes of one component."""
        if isinstance(rows, slice):
            return views(self.of_edges, self.of_features)
        parts = (self.of_edges, self.of_features)
        return views(*(part[rows][:, rows] for part in parts))

    def rows(self, edges: Any, features: Any) -> tuple[Weights, Array]:
        """Return weights between new nodes and these, and of each with itself, from both.

        `edges` are weights to the fitted nodes, or None; `features` an array, or None.
        """
        count = (edges if features is None else features).shape[0]
        none = sp.csr_array((count, len(self._degrees[0])))
        of_edges = none if edges is None else normalised_rows(edges, self._degrees[0])
        known = none if features is None else self.features.rows(features)
        return mixed(of_edges, normalised_rows(known, self._degrees[1]), _EVEN), np.zeros(count)


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


def _inverse_roots(degrees: Array) -> Array:
    return np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1.0)), 0.0)

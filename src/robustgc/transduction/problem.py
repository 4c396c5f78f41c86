"""The problem that a model solves on one connected graph: its labels and its parameters."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array
from robustgc.models.parameters import Parameters
from robustgc.transduction.labels import n_columns, sign_columns


@dataclass(frozen=True)
class Problem:
    """Labels on one connected graph, and the parameters that the user has fixed.

    Attributes
    ----------
    graph : Graph
    nodes, codes : ndarray of int, shape (labels,)
        The labelled nodes of the graph, ascending, and their classes, 0 .. K - 1.
    sample_weight : ndarray, shape (labels,)
        Weight of every label as the user gave it.
    classes : ndarray of int, shape (K,)
        Places of the classes among those of all components.
    total_mass : ndarray, shape (classes of all components,)
        Sum of the sample weights of every class in all components.
    parameters : Parameters
        Its ``eta`` and ``n_modes`` are None where they are to be chosen; ``balanced`` counts only
        where nothing is.
    names : ndarray of int, shape (labels,)
        Numbers of the labelled nodes in the graph of all components.
    positive_semidefinite : bool
        Of the weights, for the bound on the condition number.
    views : tuple of (float, Graph)
        Graphs on the same nodes, each a view of them, with the share of the features in each; empty
        where there is only `graph`.
    """

    graph: Graph
    nodes: NDArray[Any]
    codes: NDArray[np.int64]
    sample_weight: Array
    classes: NDArray[Any]
    total_mass: Array
    parameters: Parameters
    names: NDArray[Any]
    positive_semidefinite: bool = False
    views: tuple[tuple[float, Graph], ...] = ()

    def on(self, graph: Graph) -> "Problem":
        """Return the problem on another graph of the same nodes."""
        return self if graph is self.graph else replace(self, graph=graph)

    @property
    def n_classes(self) -> int:
        """K, the number of classes that have a label here."""
        return len(self.classes)

    @property
    def has_choice(self) -> bool:
        """Whether a parameter is to be chosen."""
        return self.parameters.eta is None or self.parameters.n_modes is None

    @property
    def balanced(self) -> bool:
        """Whether every class counts alike, however many labels it has."""
        return self.has_choice or self.parameters.balanced

    @cached_property
    def mass_elsewhere(self) -> Array:
        """Sum of the sample weights of every class in other components, shape (K,)."""
        here = np.bincount(self.codes, weights=self.sample_weight, minlength=self.n_classes)
        elsewhere = np.maximum(self.total_mass[self.classes] - here, 0.0)
        elsewhere[elsewhere < 1e-9 * self.total_mass.max()] = 0.0
        return np.asarray(elsewhere)

    @property
    def other_components(self) -> bool:
        """Whether other components have labels: then the constant on this one is a mode as any."""
        return bool(self.mass_elsewhere.any() or np.delete(self.total_mass, self.classes).any())

    @property
    def n_columns(self) -> int:
        """How many columns the decision values have."""
        return n_columns(len(self.total_mass))

    def signed_columns(self) -> Array:
        """Return `sign_columns`, for the classes of all components, times label weights."""
        signs = sign_columns(self.classes[self.codes], len(self.total_mass))
        return self.graph.placed(self.nodes, signs * self.sample_weight[:, None])

    @cached_property
    def one_hot(self) -> Array:
        """1 in the column of every label's class, shape (labels, K)."""
        return np.asarray(np.eye(self.n_classes)[self.codes])

    @cached_property
    def v0(self) -> Array:
        """The constant mode at the labels, shape (labels,)."""
        return np.asarray(self.graph.at(self.graph.v0, self.nodes))

    @cached_property
    def sqrt_degree(self) -> Array:
        """``sqrt(d / median(d))`` at the labels, shape (labels,)."""
        return np.asarray(self.graph.at(sqrt_degree(self.graph), self.nodes))

    def degree_weights(self) -> Array:
        """Return ``min(1, 1 / sqrt_degree)`` for every label; 1 where nothing is chosen.

        Eigenvectors grow with sqrt(d): with these weights a label counts alike, however many
        neighbours its node has. One with few tells no more than others.
        """
        if not self.has_choice:
            return np.ones(len(self.nodes))
        return np.asarray(np.minimum(1.0, 1.0 / self.sqrt_degree))

    def columns(self, weights: Array) -> Array:
        """Return label columns Y over all nodes, shape (N, K), from weights of the labels."""
        return self.graph.placed(self.nodes, self.one_hot * weights[:, None])

    def class_mass(self, weights: Array) -> Array:
        """Return ``m_c``, the label weights of every class here and elsewhere, shape (K,)."""
        here = np.bincount(self.codes, weights=weights, minlength=self.n_classes)
        return np.asarray(here + self.mass_elsewhere)

    def labels(self) -> Iterator[tuple[int, int, float]]:
        """Yield node, class and sample weight of every label."""
        columns = (self.nodes, self.codes, self.sample_weight)
        return zip(*(column.tolist() for column in columns), strict=True)

    def has_labels_of(self, other: "Problem") -> bool:
        """Whether the labels here are those of another problem on the same graph."""
        return list(self.labels()) == list(other.labels())


def sqrt_degree(graph: Graph) -> Array:
    """Return ``sqrt(d / median(d))`` of all nodes, with which decision values grow."""
    return np.asarray(np.sqrt(graph.d / graph.usual_degree))

"""Which node to label next: where the answer is least certain and a label would tell most."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array
from robustgc.linalg.eigenpairs import Eigenpairs
from robustgc.linalg.modes import participation_ratios
from robustgc.transduction.answer import Transduction
from robustgc.transduction.problem import sqrt_degree

_MODES = 6  # for every class, at most: a graph that was decomposed has as many as nodes
_STEPS = 10  # of a walk that goes on with probability 1/2: further away is less than 1/1000


@dataclass(frozen=True)
class QueriedComponent:
    """One component that was answered, as far as queries need it."""

    graph: Graph
    nodes: NDArray[Any]  # in the whole graph
    n_classes: int  # that have a label here
    modes: Eigenpairs | None  # the first ones, where they are known


def queries(
    components: Iterable[QueriedComponent],
    labelled: NDArray[np.bool_],
    answer: Transduction,
    n: int,
) -> NDArray[np.int64]:
    """Return up to n unlabelled nodes, the most telling first; `labelled` has a value per node.

    A label tells of the nodes around it: of each as often as a walk from there, which goes on with
    probability 1/2, comes by. And it tells of nodes far away that the first modes place alike: of
    each by the share of its variance that the label explains beyond those that are there. The node
    is taken whose label tells of the most doubt, both together; the next one, given that label.

    A component without any label comes before all others: nothing is known of it.
    """
    first = _without_labels(labelled, answer)[:n]
    parts = [(first, np.full(len(first), np.inf))]
    parts += [_in_component(component, labelled, answer, n) for component in components]
    nodes, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
    return np.asarray(nodes[np.argsort(-scores, kind="stable")][:n], dtype=np.int64)


def _without_labels(labelled: NDArray[np.bool_], answer: Transduction) -> NDArray[np.int64]:
    """Return the node of highest degree in every unlabelled component of two nodes or more."""
    rest = np.flatnonzero(~np.isin(answer.number, answer.number[labelled]) & (answer.d > 0))
    order = rest[np.lexsort((rest, -answer.d[rest]))]
    _, first = np.unique(answer.number[order], return_index=True)
    nodes, sizes = order[first], np.bincount(answer.number)
    return nodes[np.argsort(-sizes[answer.number[nodes]], kind="stable")].astype(np.int64)


def _in_component(
    component: QueriedComponent, labelled: NDArray[np.bool_], answer: Transduction, n: int
) -> tuple[NDArray[np.int64], Array]:
    """Take the nodes one by one from which a label would reach most of the doubt that is left."""
    graph, nodes = component.graph, component.nodes
    open_, root = ~labelled[nodes], sqrt_degree(graph)  # of any unit: only ratios count
    variance = _Variance(component, ~open_)
    doubt = np.where(open_, _doubt(answer.f[nodes], root), 0.0)
    queried: list[int] = []
    scores: list[float] = []
    for _ in range(min(n, int(open_.sum()))):
        reached = root * _walked(graph, doubt / root) + variance.explained(doubt)
        best = int(np.argmax(np.where(open_, reached, -1.0)))
        queried.append(best)
        scores.append(float(reached[best]))
        open_[best] = False
        variance.label(best)
        unit = graph.placed(np.array([best]), root[best : best + 1])
        doubt = doubt * (1.0 - np.minimum(_walked(graph, unit) / root, 1.0))
    return nodes[np.array(queried, dtype=np.int64)], np.array(scores)


class _Variance:
    """Where the first modes place the nodes, and how far the labels tell what is where.

    A class is taken for a linear function of the place with independent normal coefficients, a
    label for its value with an error of variance 1. A mode's size is such that it adds about 1 to
    the variance of the nodes it is about, however few they are; and no node has more than 1.
    """

    def __init__(self, component: QueriedComponent, labelled: NDArray[np.bool_]) -> None:
        graph, modes, K = component.graph, component.modes, component.n_classes
        self._X: Array = np.zeros((graph.n, 0))
        self._C: Array = np.zeros((0, 0))
        if modes is None or not len(modes.values):
            return
        values, V = modes.values[: _MODES * K], modes.vectors[:, : _MODES * K]
        level = values[min(max(K - 2, 0), len(values) - 1)]
        smooth = level / np.maximum(values, level)
        X = V / graph.v0[:, None] * np.sqrt(smooth * participation_ratios(graph, V))
        self._X = X / np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None]
        X = self._X[labelled]
        self._C = np.asarray(np.linalg.inv(np.eye(X.shape[1]) + X.T @ X), dtype=float)

    def explained(self, doubt: Array) -> Array:
        """Return what a label at every node would take off the variance, counted by doubt."""
        X, product = self._X, self._X @ self._C
        gain = np.einsum("ij,ij->i", product @ (X.T @ (doubt[:, None] * X)), product)
        return np.asarray(gain / (1.0 + np.einsum("ij,ij->i", product, X)))

    def label(self, node: int) -> None:
        """Add a label to those that are known."""
        x = self._X[node]
        column = self._C @ x
        self._C = self._C - np.outer(column, column) / (1.0 + x @ column)


def _walked(graph: Graph, x: Array) -> Array:
    """Return the sum of all steps of a walk that goes on with probability 1/2."""
    total = x
    for _ in range(_STEPS):
        x = (x - graph.L_N(x)) / 2
        total = total + x
    return total


def _doubt(f: Array, root: Array) -> Array:
    """Return from 0 to 1 how close the two best classes of every node are."""
    ranked = np.sort(f / root[:, None], axis=1)
    lead = np.abs(ranked[:, 0]) if f.shape[1] == 1 else ranked[:, -1] - ranked[:, -2]
    finite = lead[np.isfinite(lead)]
    lead = np.where(np.isfinite(lead), lead, np.inf)
    typical = float(np.median(finite)) if finite.size else 1.0
    return np.asarray(1.0 / (1.0 + lead / (typical or 1.0)))

"""RobustGC on a whole graph: the problem, the loop over components, and what a fit keeps."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from robustgc.affinity.views import FeaturedGraph
from robustgc.audit.issues import LabelIssues, component_issues, label_issues
from robustgc.audit.queries import QueriedComponent, queries
from robustgc.estimators.components import Component, answer_component
from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array, Weights, components
from robustgc.linalg.ladder import SolverOptions
from robustgc.models.parameters import Parameters
from robustgc.transduction.answer import (
    BY_FEATURES,
    DECIDED,
    LabelledComponent,
    LocalAnswers,
    Transduction,
)
from robustgc.transduction.labels import Labels
from robustgc.transduction.priors import with_shares
from robustgc.transduction.problem import Problem

LOADED = (
    "This model was loaded: a saved model holds its answers, not the modes of the graph that "
    "update and suggest_queries start from. Fit again to use them."
)


@dataclass(frozen=True)
class GraphProblem:
    """A graph, some labels on it, and the parameters that the user has fixed.

    Attributes
    ----------
    weights : weights from `separated`; None where the rows are spread over ranks
    nodes : ndarray of int, shape (labels,)
        The labelled nodes, ascending.
    labels : Labels
        A code for each of them.
    sample_weight : ndarray, shape (labels,)
    parameters : Parameters
    shares : ndarray or None
        Shares of the classes that the answers are to have.
    positive_semidefinite : bool
        Of the weights.
    featured : FeaturedGraph or None
        Where the nodes have features, of which the weights are one mixture.
    """

    weights: Weights
    nodes: NDArray[np.int64]
    labels: Labels
    sample_weight: Array
    parameters: Parameters
    shares: Array | None = None
    positive_semidefinite: bool = False
    featured: FeaturedGraph | None = None

    @classmethod
    def of_all_nodes(
        cls, weights: Weights, labels: Labels, sample_weight: Array, *rest: Any
    ) -> "GraphProblem":
        """Return the problem from labels and sample weights of all nodes; -1 is no label."""
        nodes = np.flatnonzero(labels.codes >= 0)
        of_labels = replace(labels, codes=labels.codes[nodes])
        return cls(weights, nodes, of_labels, sample_weight[nodes], *rest)

    @cached_property
    def class_mass(self) -> Array:
        """Sum of the sample weights of every class, shape (K,)."""
        codes, K = self.labels.codes, len(self.labels.classes)
        return np.asarray(np.bincount(codes, weights=self.sample_weight, minlength=K), dtype=float)

    def of_component(
        self, graph: Graph, places: NDArray[Any], component: LabelledComponent
    ) -> Problem:
        """Return the problem of one component, whose labelled nodes are `places` in its graph."""
        some = component.labels
        classes, codes = np.unique(component.codes, return_inverse=True)
        labels = (graph, places, codes.astype(np.int64), self.sample_weight[some], classes)
        rest = (self.parameters, self.nodes[some], self.positive_semidefinite)
        problem = Problem(*labels, self.class_mass, *rest)
        if self.featured is None or not problem.has_choice:
            return problem
        seen = self.featured.views(component.rows)
        return replace(problem, views=tuple((v.share, Graph._trusted(v.weights)) for v in seen))


class Fit(Protocol):
    """What the estimator asks of a fit, wherever it was made."""

    @property
    def answer(self) -> Transduction:
        """The answer for all nodes."""

    def label_issues(self, options: SolverOptions) -> LabelIssues:
        """Return what the labels say of each other, by the nodes of the graph."""

    def updated(
        self, labels: Labels, sample_weight: Array, shares: Array | None, options: SolverOptions
    ) -> "Fit":
        """Return the fit with other labels."""

    def queries(self, n: int) -> NDArray[np.int64]:
        """Return up to n nodes to label next."""


@dataclass(frozen=True)
class GraphFit:
    """A fit with all its components: labels can be judged, changed, and asked for."""

    problem: GraphProblem
    components: dict[int, Component]  # that were solved, by their first node
    answer: Transduction

    def label_issues(self, options: SolverOptions) -> LabelIssues:
        """Return what the labels say of each other."""
        nodes, labels = self.problem.nodes, self.problem.labels
        fits = (component.weighed(options) for component in self.components.values())
        return label_issues(map(component_issues, fits), nodes, labels.codes, labels.classes)

    def updated(
        self, labels: Labels, sample_weight: Array, shares: Array | None, options: SolverOptions
    ) -> "GraphFit":
        """Answer other labels: only the difference is solved for."""
        old = self.problem
        rest = (old.parameters, shares, old.positive_semidefinite, old.featured)
        problem = GraphProblem.of_all_nodes(old.weights, labels, sample_weight, *rest)
        return fit_graph(problem, options, self)

    def queries(self, n: int) -> NDArray[np.int64]:
        """Return up to n nodes to label next, the most telling first."""
        components = [
            QueriedComponent(
                c.fit.problem.graph if c.fit else c.graph,
                c.nodes,
                c.problem.n_classes,
                c.fit.heaviest.view.modes if c.fit else None,
            )
            for c in self.components.values()
        ]
        labelled = np.zeros(len(self.answer.codes), dtype=bool)
        labelled[self.problem.nodes] = True
        return queries(components, labelled, self.answer, n)


@dataclass(frozen=True)
class AnswersOnly:
    """The answers of a fit that was loaded, or whose nodes are spread over processes."""

    answer: Transduction
    # Of wrong labels: itself, what makes it, or why there was none when the model was saved.
    report: LabelIssues | Callable[[], LabelIssues] | str
    why: str = LOADED  # there is no more

    def label_issues(self, options: SolverOptions) -> LabelIssues:
        """Return the report of wrong labels."""
        if isinstance(self.report, str):
            raise ValueError(
                "The report of wrong labels could not be made when this model was saved: "
                f"{self.report} Fit again to make it."
            )
        return self.report() if callable(self.report) else self.report

    def updated(self, *_: object) -> NoReturn:
        """Refuse: the modes of the graph are not here."""
        raise ValueError(self.why)

    def queries(self, n: int) -> NoReturn:
        """Refuse: the modes of the graph are not here."""
        raise ValueError(self.why)


def fit_graph(
    problem: GraphProblem, options: SolverOptions, before: GraphFit | None = None
) -> GraphFit:
    """Answer for every node of a graph, component by component.

    `before` is a fit of the same graph with other labels, from which this one starts.
    """
    known = {} if before is None else before.components
    solved: dict[int, Component] = {}
    answers = LocalAnswers(problem.weights, problem.nodes, problem.labels)
    for component, graph, places in answers.graphs():
        nodes = np.arange(graph.n) if graph._nodes is None else np.asarray(graph._nodes)
        own, first = problem.of_component(graph, places, component), int(nodes[0])
        here = answer_component(own, options, known.get(first))
        answers.add(component, graph, here.solution, here.certificate)
        solved[first] = replace(here, nodes=nodes)
    answer = answers.complete()
    if problem.featured is not None:
        answer = _with_reasons(answer, problem.featured, problem.nodes)
    if problem.shares is not None:
        answer = with_shares(answer, problem.shares)
    return GraphFit(problem, solved, answer)


def _with_reasons(
    answer: Transduction, featured: FeaturedGraph, labelled: NDArray[np.int64]
) -> Transduction:
    """Say which nodes are answered only because their features join them to labels."""
    number = components(featured.of_edges)[1]
    apart = ~np.isin(number, number[labelled]) & (answer.reasons == DECIDED)
    reasons = answer.reasons.copy()
    reasons[apart] = BY_FEATURES
    return replace(answer, reasons=reasons)

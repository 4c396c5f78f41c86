"""RobustGC on a whole graph: the problem, the loop over components, and what a fit keeps."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from robustgc.audit.issues import LabelIssues, component_issues, label_issues
from robustgc.audit.queries import QueriedComponent, queries
from robustgc.estimators.components import Component, answer_component, weighed_fit
from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array, Weights
from robustgc.linalg.ladder import SolverOptions
from robustgc.models.parameters import Parameters
from robustgc.transduction.answer import ROUNDING, Answers, Transduction
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
    labels : Labels
    sample_weight : ndarray, shape (N,)
    parameters : Parameters
    shares : ndarray or None
        Shares of the classes that the answers are to have.
    positive_semidefinite : bool
        Of the weights.
    class_mass : ndarray, shape (K,)
        Sum of the sample weights of every class.
    """

    weights: Weights
    labels: Labels
    sample_weight: Array
    parameters: Parameters
    shares: Array | None = None
    positive_semidefinite: bool = False
    class_mass: Array = field(init=False)

    def __post_init__(self) -> None:
        codes, K = self.labels.codes, len(self.labels.classes)
        known = codes >= 0
        mass = np.bincount(codes[known], weights=self.sample_weight[known], minlength=K)
        object.__setattr__(self, "class_mass", mass)

    def of_component(
        self,
        graph: Graph,
        nodes: NDArray[Any],
        names: NDArray[Any],
        codes: NDArray[np.int64],
        sample_weight: Array,
    ) -> Problem:
        """Return the problem of one component.

        Parameters
        ----------
        graph : Graph
        nodes, names : ndarray of int
            The labelled nodes by their places in the component, and in the whole graph.
        codes, sample_weight : ndarray
            Of these labels.
        """
        mass = self.class_mass
        classes, local = np.unique(codes, return_inverse=True)
        here = np.bincount(local, weights=sample_weight, minlength=len(classes))
        elsewhere = np.maximum(mass[classes] - here, 0.0)
        elsewhere[elsewhere < 1e-9 * mass.max()] = 0.0
        others = bool(elsewhere.any() or np.delete(mass, classes).any())
        codes = local.astype(np.int64)
        labels = (graph, nodes, codes, sample_weight, elsewhere, others)
        return Problem(*labels, self.parameters, classes, names)


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
        labels = self.problem.labels
        given = np.flatnonzero(labels.codes >= 0)
        fits = (weighed_fit(component, options) for component in self.components.values())
        return label_issues(map(component_issues, fits), given, labels.codes[given], labels.classes)

    def updated(
        self, labels: Labels, sample_weight: Array, shares: Array | None, options: SolverOptions
    ) -> "GraphFit":
        """Answer other labels: only the difference is solved for."""
        problem = replace(self.problem, labels=labels, sample_weight=sample_weight, shares=shares)
        return fit_graph(problem, options, self)

    def queries(self, n: int) -> NDArray[np.int64]:
        """Return up to n nodes to label next, the most telling first."""
        components = [
            QueriedComponent(c.graph, c.nodes, c.problem.n_classes, c.fit.modes if c.fit else None)
            for c in self.components.values()
        ]
        return queries(components, self.problem.labels.codes >= 0, self.answer, n)


@dataclass(frozen=True)
class AnswersOnly:
    """The answers of a fit that was loaded, or whose nodes are spread over processes.

    Attributes
    ----------
    answer : Transduction
    report : LabelIssues, callable or str
        The report of wrong labels, or what makes it; or why there was none when the model was
        saved.
    why : str
        Why there is no more.
    """

    answer: Transduction
    report: LabelIssues | Callable[[], LabelIssues] | str
    why: str = LOADED

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

    Parameters
    ----------
    problem : GraphProblem
    options : SolverOptions
    before : GraphFit or None
        The same graph with other labels, from which this fit starts.
    """
    known = {} if before is None else before.components
    codes, psd = problem.labels.codes, problem.positive_semidefinite
    answers = Answers(problem.weights, problem.labels, rounding=ROUNDING)
    components: dict[int, Component] = {}
    for part in answers.to_solve():
        graph = part.graph
        nodes = np.arange(graph.n) if graph._nodes is None else np.asarray(graph._nodes)
        labelled, first = np.flatnonzero(codes[nodes] >= 0), int(nodes[0])
        names = nodes[labelled]
        sizes = problem.sample_weight[names]
        labels = problem.of_component(graph, labelled, names, codes[names], sizes)
        component = answer_component(labels, part.Y, psd, options, known.get(first))
        answers.add(part, component.solution, component.certificate)
        components[first] = replace(component, nodes=nodes)
    answer = answers.complete()
    if problem.shares is not None:
        answer = with_shares(answer, problem.shares)
    return GraphFit(problem, components, answer)

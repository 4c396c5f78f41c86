"""RobustGC on rows that are spread over ranks: large components are answered by all ranks together.

Small ones, which are solved in full, go whole to one rank each, and are answered side by side.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.audit.issues import LabelIssues, component_issues, label_issues
from robustgc.estimators.components import Component, answer_component
from robustgc.estimators.fits import GraphProblem
from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.weights import warn_of_faint_links
from robustgc.linalg.ladder import Attempt, SolverOptions
from robustgc.linalg.modes import MEDIUM
from robustgc.linalg.solution import NotConvergedError
from robustgc.models.parameters import Parameters
from robustgc.mpi.checkpoint import Arrays
from robustgc.mpi.components import (
    extract_component,
    find_components,
    gather_components,
    without_faint_links,
)
from robustgc.mpi.exchange import owners, send
from robustgc.mpi.graph import CheckpointCall, DistributedGraph, no_checkpoint
from robustgc.mpi.share import Share
from robustgc.mpi.world import collective_errors, library, slepc, sum_over_ranks
from robustgc.transduction.answer import (
    Answers,
    Certificate,
    LabelledComponent,
    Transduction,
    answered,
)
from robustgc.transduction.labels import Labels, encode, n_columns


@dataclass(frozen=True, eq=False)
class Fitted:
    """The answer of one rank, and what all have in common."""

    share: Share
    labels: Labels  # of the own rows
    answer: Transduction  # of the own rows; components and certificates are those of all ranks
    _issues: Callable[[], LabelIssues]

    @cached_property
    def issues(self) -> LabelIssues:
        """Every given label with its suspicion, on every rank; all ranks ask for it together."""
        return self._issues()

    @cached_property
    def scale(self) -> float:
        """Root mean square of the finite decision values over all ranks; all ask together."""
        f = self.answer.f
        known, comm = f[np.isfinite(f)], self.share.comm
        largest = comm.allreduce(float(np.abs(known).max(initial=0.0)), library().MAX) or 1.0
        squares, count = sum_over_ranks(
            comm, np.array([np.sum((known / largest) ** 2), known.size])
        )
        return float(largest * (np.sqrt(squares / max(count, 1)) or 1.0))


def fit(
    share: Share,
    nodes: NDArray[np.int64],
    values: Any,
    *,
    parameters: Parameters,
    options: SolverOptions,
    keep: CheckpointCall = no_checkpoint,
) -> Fitted:
    """Answer for all nodes, from rows that have been checked; called by all ranks together.

    The labelled `nodes`, numbered over all ranks, and `values`, their classes, are the same on
    every rank; `keep` is that of `DistributedGraph`.
    """
    order = np.argsort(nodes, kind="stable")
    labels = encode(np.asarray(values, dtype=object), n_nodes=len(nodes), unlabeled="")
    labels = replace(labels, codes=labels.codes[order])
    problem = GraphProblem(None, nodes[order], labels, np.ones(len(nodes)), parameters)
    return fit_problem(share, problem, options, keep)


def fit_problem(
    share: Share,
    problem: GraphProblem,
    options: SolverOptions,
    keep: CheckpointCall = no_checkpoint,
) -> Fitted:
    """Answer the labels of a problem on weights that are spread over ranks."""
    slepc()  # a missing library is an error now, not when a hard component asks for it
    ranks = _Ranks(share, problem, options, keep)
    share, labels, whole, partition = ranks.share, problem.labels, ranks.whole, ranks.partition
    number, size = (
        whole.at(values, problem.nodes) for values in (partition.number, partition.size)
    )
    labelled = partition.labelled(number, size, labels.codes)
    answers = Answers(partition, whole.d, labelled, labels.classes)
    ranks.solve(answers)
    codes = np.full(share.rows, -1, dtype=np.int64)
    here = whole.here(problem.nodes)
    codes[problem.nodes[here] - share.first] = labels.codes[here]
    return Fitted(share, replace(labels, codes=codes), answers.complete(), ranks.issues)


class _Ranks:
    """All ranks as a solver of components: large ones together, small ones by one rank each."""

    def __init__(
        self, share: Share, problem: GraphProblem, options: SolverOptions, keep: CheckpointCall
    ) -> None:
        self.problem, self.options, self.keep = problem, options, keep
        whole = DistributedGraph(share)
        self.partition = find_components(share, whole.halo, whole.d)
        self.share, faint = without_faint_links(share, whole.halo, self.partition)
        if faint:
            whole = DistributedGraph(self.share)
            with collective_errors(share.comm):  # a warning may be an error, then it is that of all
                if share.comm.rank == 0:
                    warn_of_faint_links(faint, self.partition.count)
        self.whole = whole
        self.together: list[Component] = []  # answered by all ranks
        self.alone: list[Component] = []  # answered by this one

    def solve(self, answers: Answers) -> None:
        """Solve components; where all ranks fail, a small enough one is left to one rank."""
        single: list[LabelledComponent] = []
        failures: dict[int, Attempt] = {}
        for component in answers.to_solve:
            if component.size <= SMALL:
                single.append(component)
                continue
            graph, places = self._graph(component)
            try:
                solved = self._solved(component, graph, places)
            except NotConvergedError as failure:
                if component.size > MEDIUM:
                    raise
                reason = f"{component.size} nodes"
                failures[component.number] = Attempt("all ranks", reason, str(failure), 0.0)
                single.append(component)
            else:
                self.together.append(solved)
                answers.add(component, graph, solved.solution, solved.certificate)
        if single:
            self._by_one_each(single, failures, answers)

    def _solved(
        self, component: LabelledComponent, graph: Graph, places: NDArray[Any]
    ) -> Component:
        return answer_component(self.problem.of_component(graph, places, component), self.options)

    def _graph(self, component: LabelledComponent) -> tuple[Graph, NDArray[Any]]:
        """Return a component as a graph over all ranks, and the places of its labels in it."""
        nodes, keep = self.problem.nodes[component.labels], self.keep

        def of_component(name: str, make: Callable[[], Arrays]) -> Arrays:
            return keep(f"{name}-{component.number}", make)

        if self.partition.count == 1:
            self.whole.keep = of_component
            return self.whole, nodes
        share, number = extract_component(self.share, self.whole.halo, component.rows)
        return DistributedGraph(share, of_component), self.whole.at(number, nodes)

    def _by_one_each(
        self,
        components: list[LabelledComponent],
        failures: dict[int, Attempt],
        answers: Answers,
    ) -> None:
        """Solve components side by side, the k-th by rank k, k + ranks and so on."""
        share, halo, comm = self.share, self.whole.halo, self.share.comm
        chosen = np.array([component.number for component in components])
        graphs = gather_components(share, halo, self.partition.number, chosen)
        certificates: dict[int, Certificate] = {}
        nothing, width = np.empty(0, np.int64), n_columns(len(self.problem.labels.classes))
        columns = [(nothing, np.empty((0, width)), nothing)]
        mine = zip(components[comm.rank :: comm.size], graphs, strict=True)
        with collective_errors(comm):
            for component, (nodes, graph) in mine:
                places = np.searchsorted(nodes, self.problem.nodes[component.labels])
                solved = self._solved(component, graph, places)
                self.alone.append(solved)
                certificates[component.number] = solved.certificate
                present = np.unique(component.codes)
                columns.append((nodes, *answered(graph, solved.solution, present)))
        nodes, f, codes = (np.concatenate(each) for each in zip(*columns, strict=True))
        nodes, f, codes, _ = send(comm, owners(halo.bounds, nodes), nodes, f, codes)
        for others in comm.allgather(certificates):
            certificates |= others
        for c, tried in failures.items():
            history = (tried, *certificates[c].history)
            certificates[c] = replace(certificates[c], history=history)
        answers.put(nodes - share.first, f, codes, certificates)

    def issues(self) -> LabelIssues:
        """Judge all labels; those of a component that one rank has answered are judged there."""
        issues = [component_issues(each.weighed(self.options)) for each in self.together]
        mine = [component_issues(each.weighed(self.options)) for each in self.alone]
        for others in self.share.comm.allgather(mine):
            issues += others
        labels = self.problem.labels
        return label_issues(issues, self.problem.nodes, labels.codes, labels.classes)

"""RobustGC on rows that are spread over ranks: the steps of `transduce`, component by component.

Large components are answered by all ranks together. Small ones, which are solved in full, go whole
to one rank each, and are answered side by side.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.audit.issues import ComponentIssues, LabelIssues, component_issues, label_issues
from robustgc.estimators.components import Component, answer_component, weighed_fit
from robustgc.estimators.fits import GraphProblem
from robustgc.graph.graph import SMALL
from robustgc.graph.weights import Array, warn_of_faint_links
from robustgc.linalg.ladder import Attempt, SolverOptions
from robustgc.linalg.modes import MEDIUM
from robustgc.linalg.solution import NotConvergedError
from robustgc.models.parameters import Parameters
from robustgc.mpi.graph import Arrays, CheckpointCall, DistributedGraph, no_checkpoint
from robustgc.mpi.pieces import (
    RankComponents,
    extract_component,
    find_components,
    without_faint_links,
)
from robustgc.mpi.share import Share
from robustgc.mpi.small import answer_on_single_ranks
from robustgc.mpi.world import collective_errors, library, slepc, sum_over_ranks
from robustgc.transduction.answer import (
    DECIDED,
    ISOLATED,
    NO_LABEL,
    ONE_CLASS,
    ROUNDING,
    TIE,
    Certificate,
    Transduction,
    answered,
)
from robustgc.transduction.labels import Labels, encode


@dataclass(frozen=True, eq=False)
class Fitted:
    """The answer of one rank, and what all have in common.

    Attributes
    ----------
    share : Share
    labels : Labels
        The classes; the codes of the own rows, -1 where there is no label.
    answer : Transduction
        Of the own rows; components numbered over all ranks, certificates of all of them.
    """

    share: Share
    labels: Labels
    answer: Transduction
    _issues: Callable[[], LabelIssues]

    @cached_property
    def issues(self) -> LabelIssues:
        """Every given label with its suspicion, on every rank; all ranks ask for it together."""
        return self._issues()

    @cached_property
    def spread(self) -> float:
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
    sizes: Array | None = None,
    parameters: Parameters,
    options: SolverOptions,
    keep: CheckpointCall = no_checkpoint,
) -> Fitted:
    """Answer for all nodes; called by all ranks together.

    Parameters
    ----------
    share : Share
        Rows that have been checked.
    nodes : ndarray of int
        The labelled nodes, numbered over all ranks; the same on every rank.
    values : sequence
        Their classes.
    sizes : ndarray
        How much each counts.
    parameters : Parameters
    options : SolverOptions
    keep : callable
        As in `DistributedGraph`.
    """
    order = np.argsort(nodes, kind="stable")
    given = encode(np.asarray(values, dtype=object), n_nodes=len(nodes), unlabeled="")
    given = replace(given, codes=given.codes[order])
    sizes = np.ones(len(nodes)) if sizes is None else sizes[order]
    return fit_codes(share, nodes[order], given, sizes, parameters, options, keep)


def fit_codes(
    share: Share,
    nodes: NDArray[np.int64],
    given: Labels,
    sizes: Array,
    parameters: Parameters,
    options: SolverOptions,
    keep: CheckpointCall = no_checkpoint,
    psd: bool = False,
) -> Fitted:
    """Answer from labels whose nodes ascend; `given` has a code for each of them."""
    slepc()  # what is missing is told now, not when a hard component asks for it
    return _Fit(share, nodes, given, sizes, parameters, options, keep, psd).run()


class _Fit:
    def __init__(
        self,
        share: Share,
        nodes: NDArray[np.int64],
        given: Labels,
        sizes: Array,
        parameters: Parameters,
        options: SolverOptions,
        keep: CheckpointCall,
        psd: bool,
    ) -> None:
        self.nodes, self.given, self.sizes = nodes, given, sizes
        self.options, self.keep, self.psd = options, keep, psd
        whole = DistributedGraph(share)
        self.pieces: RankComponents = find_components(share, whole.halo, whole.d)
        share, faint = without_faint_links(share, whole.halo, self.pieces)
        if faint:
            whole = DistributedGraph(share)
            with collective_errors(share.comm):  # a warning may be an error, then it is that of all
                if share.comm.rank == 0:
                    warn_of_faint_links(faint, self.pieces.count)
        self.share, self.whole, self.halo = share, whole, whole.halo
        self.of_labels = whole.at(self.pieces.number, nodes)
        self.problem = GraphProblem(None, given, sizes, parameters)
        codes = np.full(share.rows, -1, dtype=np.int64)
        here = (nodes >= share.first) & (nodes < share.first + share.rows)
        codes[nodes[here] - share.first] = given.codes[here]
        self.labels = replace(given, codes=codes)
        self.Y = self.labels.columns()
        self.f = np.full(self.Y.shape, np.nan)
        self.codes = np.full(share.rows, -1, dtype=np.int64)
        self.reasons = np.empty(share.rows, dtype=object)
        self.reasons.fill(NO_LABEL)
        self.reasons[self.pieces.size == 1] = ISOLATED
        self.certificates: dict[int, Certificate] = {}
        self.constants: dict[int, Array] = {}
        self.solved: list[Component] = []  # by all ranks
        self.apart: list[Callable[[], ComponentIssues]] = []  # by this one

    def run(self) -> Fitted:
        sizes = self.whole.at(self.pieces.size, self.nodes)
        small = []
        for c, first in zip(*np.unique(self.of_labels, return_index=True), strict=True):
            present = np.unique(self.given.codes[self.of_labels == c])
            if len(present) == 1:
                self._one_class(int(c), int(present[0]))
            elif sizes[first] <= SMALL:
                small.append(int(c))
            else:
                self._together(int(c), present)
        self._apart(small)
        certificates = dict(sorted(self.certificates.items()))
        answer = Transduction(
            self.f,
            self.codes,
            self.reasons,
            self.pieces.number,
            certificates,
            self.constants,
            self.whole.d,
        )
        return Fitted(self.share, self.labels, answer, self._issues)

    def _one_class(self, c: int, code: int) -> None:
        row = replace(self.given, codes=np.array([code])).columns()[0]
        mine = self.pieces.number == c
        self.f[mine] = self.constants[c] = row
        self.codes[mine], self.reasons[mine] = code, ONE_CLASS

    def _together(self, c: int, present: NDArray[Any]) -> None:
        """Answer one component by all ranks; where that fails, a small enough one by one rank."""
        graph, rows, places = self._graph(c)
        chosen = self.of_labels == c
        codes, sizes = self.given.codes[chosen], self.sizes[chosen]
        problem = self.problem.of_component(graph, places, self.nodes[chosen], codes, sizes)
        try:
            component = answer_component(problem, self.Y[rows], self.psd, self.options)
        except NotConvergedError as failure:
            if graph.n > MEDIUM:
                raise
            self._apart([c], Attempt("all ranks", f"{graph.n} nodes", str(failure), 0.0))
            return
        self.solved.append(component)
        self.certificates[c] = component.certificate
        self._write(rows, *answered(graph, component.solution, present, False, ROUNDING))

    def _write(self, rows: Any, f: Array, codes: NDArray[np.int64]) -> None:
        self.f[rows], self.codes[rows], self.reasons[rows] = f, codes, DECIDED
        if codes.min(initial=0) < 0:
            self.reasons[rows] = np.where(codes >= 0, self.reasons[rows], TIE)

    def _graph(self, c: int) -> tuple[DistributedGraph, Any, NDArray[Any]]:
        """Return a component as a graph, its own rows, and the places of its labels in it."""
        chosen = self.of_labels == c
        if self.pieces.count == 1:
            self.whole.keep = self._named(c)
            return self.whole, slice(None), self.nodes
        mine = self.pieces.number == c
        share, rows = extract_component(self.share, self.halo, mine)
        place = np.full(self.share.rows, -1, dtype=np.int64)
        place[rows] = np.arange(share.first, share.first + len(rows))
        places = self.whole.at(place, self.nodes[chosen])
        return DistributedGraph(share, self._named(c)), rows, places

    def _named(self, c: int) -> CheckpointCall:
        keep = self.keep

        def kept(name: str, make: Callable[[], Arrays]) -> Arrays:
            return keep(f"{name}-{c}", make)

        return kept

    def _apart(self, chosen: list[int], tried: Attempt | None = None) -> None:
        """Answer some components by one rank each."""
        if not chosen:
            return
        apart = answer_on_single_ranks(self, chosen, tried)
        self.certificates |= apart.certificates
        self.apart += apart.issues
        self._write(apart.rows, apart.f, apart.codes)

    def _issues(self) -> LabelIssues:
        found = [component_issues(weighed_fit(part, self.options)) for part in self.solved]
        mine = [issues() for issues in self.apart]
        for others in self.share.comm.allgather(mine):
            found += others
        return label_issues(found, self.nodes, self.given.codes, self.given.classes)

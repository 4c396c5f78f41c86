"""Components that one rank can answer: each goes whole to one rank, and its answers go back."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.audit.issues import ComponentIssues, component_issues
from robustgc.estimators.components import Component, answer_component, weighed_fit
from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array
from robustgc.linalg.ladder import Attempt
from robustgc.mpi.exchange import owners, send
from robustgc.mpi.world import collective_errors
from robustgc.transduction.answer import ROUNDING, Certificate, answered

if TYPE_CHECKING:
    from robustgc.mpi.fit import _Fit


@dataclass(frozen=True)
class SingleRankAnswers:
    """Answers of own rows, certificates of all, and the issues of those answered here."""

    rows: NDArray[np.int64]
    f: Array
    codes: NDArray[np.int64]
    certificates: dict[int, Certificate]
    issues: list[Callable[[], ComponentIssues]]


def answer_on_single_ranks(
    fit: "_Fit", chosen: list[int], tried: Attempt | None
) -> SingleRankAnswers:
    """Answer components, the k-th by rank k, k + ranks and so on.

    Parameters
    ----------
    chosen : list of int
        Their numbers, ascending; the same on every rank.
    tried : Attempt or None
        What was tried before, for the certificates.
    """
    comm, found = fit.share.comm, []
    certificates: dict[int, Certificate] = {}
    issues: list[Callable[[], ComponentIssues]] = []
    pieces = _gathered(fit, np.array(chosen))
    with collective_errors(comm):
        for c, nodes, graph in pieces:
            component, f, codes = _answered(fit, c, nodes, graph)
            history = (*([tried] if tried else []), *component.certificate.history)
            certificates[c] = replace(component.certificate, history=history)
            issues.append(_issues(fit, component))
            found.append((nodes, f, codes))
    nodes = np.concatenate([np.empty(0, dtype=np.int64), *(x[0] for x in found)])
    f = np.concatenate([np.empty((0, fit.Y.shape[1])), *(x[1] for x in found)])
    codes = np.concatenate([np.empty(0, dtype=np.int64), *(x[2] for x in found)])
    home = owners(fit.halo.bounds, nodes)
    nodes, f, codes, _ = send(comm, home, nodes, f, codes)
    for others in comm.allgather(certificates):
        certificates |= others
    return SingleRankAnswers(nodes - fit.share.first, f, codes, certificates, issues)


def _issues(fit: "_Fit", component: Component) -> Callable[[], ComponentIssues]:
    return lambda: component_issues(weighed_fit(component, fit.options))


def _answered(
    fit: "_Fit", c: int, nodes: NDArray[np.int64], graph: Graph
) -> tuple[Component, Array, NDArray[np.int64]]:
    labelled = fit.of_labels == c
    places = np.searchsorted(nodes, fit.nodes[labelled])
    here = fit.given.codes[labelled]
    codes = np.full(graph.n, -1, dtype=np.int64)
    codes[places] = here
    Y = replace(fit.given, codes=codes).columns()
    sizes = fit.sizes[labelled]
    problem = fit.problem.of_component(graph, places, fit.nodes[labelled], here, sizes)
    component = answer_component(problem, Y, fit.psd, fit.options)
    return component, *answered(graph, component.solution, np.unique(here), False, ROUNDING)


def _gathered(fit: "_Fit", chosen: NDArray[Any]) -> list[tuple[int, NDArray[np.int64], Graph]]:
    """Return the components that are this rank's to answer: numbers, nodes, graphs."""
    share, W, number = fit.share, fit.halo.W, fit.pieces.number
    comm = share.comm
    mine = np.flatnonzero(np.isin(number, chosen))
    to = np.searchsorted(chosen, number[mine]) % comm.size
    numbers, nodes, _ = send(comm, to, number[mine], mine + share.first)
    counts = np.diff(W.indptr)[mine]
    starts = np.asarray(W.indptr[mine], dtype=np.int64)
    before = np.cumsum(counts) - counts
    entries = np.arange(int(counts.sum())) + np.repeat(starts - before, counts)
    names = np.concatenate([np.arange(share.first, share.first + share.rows), fit.halo.ghosts])
    columns = W.indices[entries]
    data = np.ones(len(entries)) if W.data is None else W.data[entries]
    row = np.repeat(mine, counts)
    to = np.searchsorted(chosen, number[row]) % comm.size
    ends = send(comm, to, number[row], row + share.first, names[columns], data)
    order, edges = np.lexsort((nodes, numbers)), np.argsort(ends[0], kind="stable")
    nodes = nodes[order]
    _, i, j, w = (x[edges] for x in ends[:4])
    found = []
    for c in chosen[comm.rank :: comm.size].tolist():
        inside = slice(*np.searchsorted(numbers[order], [c, c + 1]))
        part = slice(*np.searchsorted(ends[0][edges], [c, c + 1]))
        own = nodes[inside]
        places = (np.searchsorted(own, i[part]), np.searchsorted(own, j[part]))
        A = sp.csr_array((w[part], places), shape=(len(own), len(own)))
        found.append((int(c), own, Graph._trusted(A)))
    return found

"""Labels on a graph of any number of components -> an answer, with its reason, for every node.

The paper's model needs a connected graph with two classes in it. Every component is solved by
itself; where the model has no answer the honest one is given, and the reason with it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array, Operator, Weights, components
from robustgc.linalg.ladder import Attempt
from robustgc.linalg.solution import Solution
from robustgc.models.extension import extend
from robustgc.transduction.labels import Labels, n_columns, sign_columns

ROUNDING = 64 * float(np.finfo(float).eps)  # of the largest value: a tie
DECIDED = "decided by the model"
BY_FEATURES = "decided by the model, by features: no edge joins it to a label"
ONE_CLASS = "only one class is labelled in its component"
NO_LABEL = "no label in its component"
ISOLATED = "isolated node without a label"
TIE = "tie between classes"


@dataclass(frozen=True)
class Certificate:
    """Evidence for the answer in one component.

    Attributes
    ----------
    n_nodes : int
        Size of the component.
    residual : float
        Of the linear system (BelkinGC: of the eigenpairs).
    n_iter : int
        Iterations; 0 for a direct method.
    extension : float
        The ``gamma`` with which `extend` reaches new points.
    lambda_1, gamma, condition_bound, eigen_residual : float
        NaN where the model has none.
    history : tuple of Attempt
        The solvers that were tried; the last one answered.
    smooth : bool
        Whether f itself varies slowly along edges (HarmonicGC), rather than f / sqrt(d).
    selection : tuple of Candidate
        How the parameter was chosen, if it was.
    """

    n_nodes: int
    residual: float
    n_iter: int
    extension: float
    lambda_1: float = np.nan
    gamma: float = np.nan
    condition_bound: float = np.nan
    eigen_residual: float = np.nan
    history: tuple[Attempt, ...] = ()
    smooth: bool = False
    selection: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Transduction:
    """The answer on all nodes, and what is needed to extend it to new points."""

    f: Array  # (N, columns); NaN: no answer; -inf: the class has no label in the component
    codes: NDArray[np.int64]  # class of every node; -1 where there is none
    reasons: NDArray[np.object_]
    number: NDArray[Any]  # component of every node
    certificates: dict[int, Certificate]  # of the components that were solved
    constants: dict[int, Array]  # decision in components with one class
    d: Array

    def extend(self, k_x: Weights, k_xx: Array) -> Array:
        """Extend to new points, each by the component it is tied to most; NaN out of range."""
        count = int(self.number.max()) + 1
        shape = (len(self.number), count)
        member = sp.csr_array((np.ones(shape[0]), (np.arange(shape[0]), self.number)), shape=shape)
        pull = k_x @ member
        pull = pull.toarray() if sp.issparse(pull) else pull
        home = np.where(pull.max(axis=1) > 0, pull.argmax(axis=1), -1)
        f_x = np.full((k_x.shape[0], self.f.shape[1]), np.nan)
        for c in np.unique(home[home >= 0]):
            here, nodes = np.flatnonzero(home == c), np.flatnonzero(self.number == c)
            if c in self.constants:  # in range by the same measure, with gamma = 0
                near = k_xx[here] < pull[here, c]
                f_x[here[near]] = self.constants[c]
            elif c in self.certificates:
                rows = k_x[here][:, nodes] if count > 1 else k_x[here]
                gamma, plain = self.certificates[c].extension, self.certificates[c].smooth
                f = self.f[nodes]
                present = np.isfinite(f[0])
                d = np.ones(len(nodes)) if plain else self.d[nodes]
                reached = extend(d, f[:, present], rows, k_xx[here], gamma=gamma)
                if plain:  # the weighted average itself, without the factor sqrt(d_x)
                    reached /= np.sqrt(pull[here, c])[:, None]
                f_x[np.ix_(here, present)] = reached
                f_x[np.ix_(here, ~present)] = np.where(np.isnan(reached[:, :1]), np.nan, -np.inf)
        return f_x


ComponentSolver: TypeAlias = Callable[[Graph, Array], tuple[Solution, Certificate]]


def transduce(
    W: Weights, labels: Labels, solver: ComponentSolver, *, solves_one_class: bool, rounding: float
) -> Transduction:
    """Answer every node of a graph by a model that takes label columns.

    Parameters
    ----------
    W : weights from `separated`
    labels : Labels
    solver : callable
        ``solver(graph, Y) -> (Solution, Certificate)`` on a connected graph.
    solves_one_class : bool
        Whether it answers components where one class is labelled (ZhouGC does; RobustGC would
        split them, as its f is orthogonal to v0).
    rounding : float
        Differences below this share of the largest decision value count as a tie.
    """
    nodes, K = np.flatnonzero(labels.codes >= 0), len(labels.classes)
    of_labels = replace(labels, codes=labels.codes[nodes])
    answers = LocalAnswers(
        W, nodes, of_labels, solves_one_class=solves_one_class, rounding=rounding
    )
    for component, graph, places in answers.graphs():
        Y = graph.placed(places, sign_columns(component.codes, K))
        answers.add(component, graph, *solver(graph, Y))
    return answers.complete()


@dataclass(frozen=True)
class LabelledComponent:
    """One component that has labels."""

    number: int
    size: int  # how many nodes it has
    rows: Any  # its nodes among those of this process
    labels: NDArray[Any]  # the places of its labels among all labels
    codes: NDArray[np.int64]  # their classes


@dataclass(frozen=True, eq=False)
class Partition:
    """The connected components of a graph, at the nodes that this process has."""

    count: int  # of all components
    number: NDArray[Any]  # of every node's component, in the order of their first nodes
    size: NDArray[Any]  # how many nodes every node's component has

    @cached_property
    def _order(self) -> NDArray[Any]:
        return np.argsort(self.number, kind="stable")

    def rows(self, c: int) -> Any:
        """Return the nodes of a component here, ascending; of a single one nothing is copied."""
        if self.count == 1:
            return slice(None)
        first, end = np.searchsorted(self.number, [c, c + 1], sorter=self._order)
        return self._order[first:end]

    def labelled(
        self, number: NDArray[Any], size: NDArray[Any], codes: NDArray[np.int64]
    ) -> Iterator[LabelledComponent]:
        """Yield components with labels, from every label's component, the size of it, and class."""
        order = np.argsort(number, kind="stable")
        numbers, first = np.unique(number[order], return_index=True)
        for c, labels in zip(numbers.tolist(), np.split(order, first[1:]), strict=True):
            yield LabelledComponent(c, int(size[labels[0]]), self.rows(c), labels, codes[labels])


class Answers:
    """The answers of the nodes of this process, while components are solved: here or on ranks.

    Those that a model is `to_solve` are added one by one; the others have their answer. The options
    are those of `transduce`, `d` are the degrees.
    """

    def __init__(
        self,
        partition: Partition,
        d: Array,
        labelled: Iterable[LabelledComponent],
        classes: NDArray[Any],
        *,
        solves_one_class: bool = False,
        rounding: float = ROUNDING,
    ) -> None:
        n, K = len(partition.number), len(classes)
        self._partition, self._d, self._rounding = partition, d, rounding
        self._f, self._codes = np.full((n, n_columns(K)), np.nan), np.full(n, -1, dtype=np.int64)
        self._reasons = np.empty(n, dtype=object)
        self._reasons.fill(NO_LABEL)  # one text for all; np.full would make a copy for every node
        if partition.size.min(initial=2) == 1:
            self._reasons[partition.size == 1] = ISOLATED
        self._certificates: dict[int, Certificate] = {}
        self._constants: dict[int, Array] = {}
        self.to_solve: list[LabelledComponent] = []
        for component in labelled:
            first, rows = component.codes[0], component.rows
            one_class = bool((component.codes == first).all()) and not solves_one_class
            if component.size > 1 and not one_class:
                self.to_solve.append(component)
                continue
            decision = sign_columns(component.codes[:1], K)[0]
            self._f[rows] = self._constants[component.number] = decision
            self._codes[rows], self._reasons[rows] = first, ONE_CLASS

    def add(
        self,
        component: LabelledComponent,
        graph: Graph,
        solution: Solution,
        certificate: Certificate,
    ) -> None:
        """Take the solution of one component."""
        present, certificates = np.unique(component.codes), {component.number: certificate}
        values = answered(graph, solution, present, certificate.smooth, self._rounding)
        self.put(component.rows, *values, certificates)

    def put(
        self, rows: Any, f: Array, codes: NDArray[np.int64], certificates: dict[int, Certificate]
    ) -> None:
        """Take decision values and class codes of some nodes, and evidence for components."""
        self._certificates |= certificates
        self._f[rows], self._codes[rows], self._reasons[rows] = f, codes, DECIDED
        if codes.min(initial=0) < 0:
            self._reasons[rows] = np.where(codes >= 0, self._reasons[rows], TIE)

    def complete(self) -> Transduction:
        """Return the answer."""
        known = (self._f, self._codes, self._reasons, self._partition.number)
        certificates = dict(sorted(self._certificates.items()))
        return Transduction(*known, certificates, self._constants, self._d)


class LocalAnswers(Answers):
    """The answers on a graph whose components are solved in this process, one by one.

    `labels` has a code for each of the labelled `nodes`, which ascend.
    """

    def __init__(
        self, W: Weights, nodes: NDArray[np.int64], labels: Labels, **options: Any
    ) -> None:
        self._W, self._nodes = W, nodes
        count, number = components(W)
        one_size = np.broadcast_to(np.int64(len(number)), len(number))  # takes no memory
        size = one_size if count == 1 else np.bincount(number, minlength=count)[number]
        partition = Partition(count, number, size)
        labelled = partition.labelled(number[nodes], size[nodes], labels.codes)
        d = np.asarray(W.sum(axis=1), dtype=float).ravel()
        super().__init__(partition, d, labelled, labels.classes, **options)

    def graphs(self) -> Iterator[tuple[LabelledComponent, Graph, NDArray[Any]]]:
        """Yield the components to solve, each with its graph and its labelled nodes there."""
        W, d, alone = self._W, self._d, self._partition.count == 1
        for component in self.to_solve:
            rows, places = component.rows, self._nodes[component.labels]
            if not alone and isinstance(W, Operator):
                graph = Graph._trusted(W, rows)
                d[rows] = graph.d
            else:
                graph = Graph._trusted(W, None if alone else rows, d[rows])
            yield component, graph, places if alone else np.searchsorted(rows, places)


def answered(
    graph: Graph,
    solution: Solution,
    present: NDArray[Any],
    plain: bool = False,
    rounding: float = ROUNDING,
) -> tuple[Array, NDArray[np.int64]]:
    """Return decision values and class codes from the solution on one component.

    Only the classes that are `present`, with a label there, can be the answer; `plain` is `smooth`
    of `Certificate`.
    """
    f = solution.f
    # Next to a node of high degree, a small f may be a clear answer: f grows with sqrt(d).
    smooth = np.asarray(f / (1.0 if plain else graph._sqrt_d[:, None]))
    tie: Any = 0.0
    if rounding:
        # Either measure may be that of a few nodes, of huge or of tiny degree: both must agree.
        root = np.ones(len(f)) if plain else graph._sqrt_d
        tie = np.minimum(
            _rounded(graph, smooth, solution.residual, rounding),
            _rounded(graph, f, solution.residual, rounding) / root,
        )
    if f.shape[1] > 1 and len(present) < f.shape[1]:
        absent = np.setdiff1d(np.arange(f.shape[1]), present)
        f = f.copy()
        f[:, absent] = smooth[:, absent] = -np.inf
    return f, decide(smooth, tie)


def _rounded(graph: Graph, f: Array, residual: float, rounding: float) -> float:
    """Return the difference of values that means nothing."""
    # An iteration leaves undecided its residual, spread over the nodes.
    mean = float(graph.dots(f, f).sum()) / (graph.n * f.shape[1])
    return max(rounding * graph.largest(f), residual * float(np.sqrt(mean)))


def decide(f: Array, tie: Any = 0.0) -> NDArray[np.int64]:
    """Return the class code of every row of decision values; -1 for NaN, or a lead up to `tie`."""
    if f.shape[1] == 1:
        margin, codes = np.abs(f[:, 0]), (f[:, 0] > 0).astype(np.int64)
    else:
        codes = np.argmax(np.nan_to_num(f, nan=-np.inf), axis=1).astype(np.int64)
        ranked = np.sort(f, axis=1)
        margin = ranked[:, -1] - ranked[:, -2]
    decided: NDArray[Any] = margin > tie  # False for NaN
    return np.where(decided, codes, -1)

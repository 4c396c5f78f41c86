"""Labels on a graph of any number of components -> an answer, with its reason, for every node.

The paper's model needs a connected graph with two classes in it. Every component is solved by
itself; where the model has no answer the honest one is given, and the reason with it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array, Operator, Weights, components
from robustgc.linalg.ladder import Attempt
from robustgc.linalg.solution import Solution
from robustgc.models.extension import extend
from robustgc.transduction.labels import Labels

ROUNDING = 64 * float(np.finfo(float).eps)  # beside the largest value: a tie
DECIDED = "decided by the model"
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
        The engines that were tried; the last one answered.
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


ComponentSolver: TypeAlias = Callable[[Graph, Array], tuple[Solution, Certificate]]


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


def transduce(
    W: Weights, labels: Labels, solver: ComponentSolver, *, solves_one_class: bool, rounding: float
) -> Transduction:
    """Solve every component that has labels.

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
    answers = Answers(W, labels, solves_one_class=solves_one_class, rounding=rounding)
    for component in answers.to_solve():
        answers.add(component, *solver(component.graph, component.Y))
    return answers.complete()


@dataclass(frozen=True)
class LabelledComponent:
    """One component that is to be solved.

    Attributes
    ----------
    graph : Graph
    Y : ndarray, shape (N, columns)
        Its label columns of +1 / -1 / 0.
    present : ndarray of int
        The classes with a label there.
    number : int
    nodes : ndarray of int or slice
        Its nodes in the whole graph.
    """

    graph: Graph
    Y: Array
    present: NDArray[Any]
    number: int
    nodes: Any


class Answers:
    """The answer on a graph while its components are solved one by one; as in `transduce`."""

    def __init__(
        self, W: Weights, labels: Labels, *, solves_one_class: bool = False, rounding: float
    ) -> None:
        self._W, self._labels, self._rounding = W, labels, rounding
        self._solves_one_class = solves_one_class
        count, self._number = components(W)
        self._pieces = _Pieces(count, self._number)
        self._d = np.asarray(W.sum(axis=1), dtype=float).ravel()
        self._Y = labels.columns()
        self._f: Array = np.full(self._Y.shape, np.nan)
        self._codes = np.full(len(self._number), -1, dtype=np.int64)
        reasons = self._reasons = np.empty(len(self._number), dtype=object)
        reasons.fill(NO_LABEL)  # one text for all; np.full would make a copy of it for every node
        if self._pieces.sizes.min() == 1:
            reasons[self._pieces.sizes[self._number] == 1] = ISOLATED
        self._certificates: dict[int, Certificate] = {}
        self._constants: dict[int, Array] = {}

    def to_solve(self) -> Iterator[LabelledComponent]:
        """Yield the components that a model is to solve; answer those of one class."""
        labels, W, count = self._labels, self._W, len(self._pieces.sizes)
        for c in np.unique(self._number[labels.codes >= 0]).tolist():
            nodes = self._pieces.nodes(c)
            present = np.unique(labels.codes[nodes])
            present = present[present >= 0]
            alone = len(present) == 1 and not self._solves_one_class
            if self._pieces.sizes[c] == 1 or alone:
                decision = self._Y[nodes][labels.codes[nodes] >= 0][0]
                self._f[nodes] = self._constants[c] = decision
                self._codes[nodes], self._reasons[nodes] = present[0], ONE_CLASS
                continue
            if count > 1 and isinstance(W, Operator):
                graph = Graph._trusted(W, nodes)
                self._d[nodes] = graph.d
            else:
                graph = Graph._trusted(W, None if count == 1 else nodes, self._d[nodes])
            yield LabelledComponent(graph, self._Y[nodes], present, c, nodes)

    def add(
        self, component: LabelledComponent, solution: Solution, certificate: Certificate
    ) -> None:
        """Take the solution of one component."""
        nodes, plain = component.nodes, certificate.smooth
        self._certificates[component.number] = certificate
        self._f[nodes], self._codes[nodes] = answered(
            component.graph, solution, component.present, plain, self._rounding
        )
        self._reasons[nodes] = DECIDED
        if self._codes[nodes].min() < 0:
            self._reasons[nodes] = np.where(self._codes[nodes] >= 0, self._reasons[nodes], TIE)

    def complete(self) -> Transduction:
        """Return the answer."""
        known = (self._f, self._codes, self._reasons, self._number)
        return Transduction(*known, self._certificates, self._constants, self._d)


def answered(
    graph: Graph, solution: Solution, present: NDArray[Any], plain: bool, rounding: float
) -> tuple[Array, NDArray[np.int64]]:
    """Return decision values and class codes from the solution on one component.

    Parameters
    ----------
    present : ndarray of int
        The classes with a label there; no other can be the answer.
    plain : bool
        Whether f itself varies slowly, rather than f / sqrt(d).
    rounding : float
        As in `transduce`.
    """
    f = solution.f
    # Beside a node of high degree, a small f may be a clear answer: f grows with sqrt(d).
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


class _Pieces:
    """The nodes of every component; for a single one nothing is copied to name them."""

    def __init__(self, count: int, number: NDArray[Any]) -> None:
        self.sizes = np.bincount(number, minlength=count)
        if count > 1:
            self._order = np.argsort(number, kind="stable")
            self._ends = np.cumsum(self.sizes)

    def nodes(self, c: int) -> Any:
        if len(self.sizes) == 1:
            return slice(None)
        return self._order[self._ends[c] - self.sizes[c] : self._ends[c]]


def decide(f: Array, tie: Any = 0.0) -> NDArray[np.int64]:
    """Return the class code of every row of decision values; -1 for a tie or NaN.

    Parameters
    ----------
    f : ndarray, shape (N, columns)
    tie : float or ndarray, shape (N,)
        A lead up to this is none.
    """
    if f.shape[1] == 1:
        margin, codes = np.abs(f[:, 0]), (f[:, 0] > 0).astype(np.int64)
    else:
        codes = np.argmax(np.nan_to_num(f, nan=-np.inf), axis=1).astype(np.int64)
        ranked = np.sort(f, axis=1)
        margin = ranked[:, -1] - ranked[:, -2]
    decided: NDArray[Any] = margin > tie  # False for NaN
    return np.where(decided, codes, -1)

"""The methods that RobustGC is compared with: ZhouGC, BelkinGC, HarmonicGC, PoissonGC."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from robustgc.estimators._docs import documented
from robustgc.estimators.base import GraphClassifier, InputGraph, unchanged_by_failure
from robustgc.estimators.tuning import ScoredValue, choose_gamma, choose_n_vectors, pieces
from robustgc.graph.graph import KINDS, Graph
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Array
from robustgc.linalg.solution import Solution, as_number
from robustgc.models.harmonic import harmonic
from robustgc.models.paper import belkin, zhou
from robustgc.models.parameters import is_auto
from robustgc.models.poisson import poisson
from robustgc.transduction.answer import ROUNDING, Certificate, ComponentSolver, transduce
from robustgc.transduction.labels import encode


class Baseline(GraphClassifier):
    """A method with one solver for a connected graph, whose parameter labels may choose."""

    _solves_one_class = False
    _rounding = ROUNDING

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Answer for every node from the labels of a few.

        Parameters
        ----------
        X : array or sparse matrix, shape (N, n_features) or (N, N)
            Points, or the weight matrix if ``affinity="precomputed"``.
        y : array-like, shape (N,)
            Labels: text, integers or booleans. -1, "", None and NaN mean unlabelled.

        Returns
        -------
        self
        """
        self._check_input()
        self._check_parameters()
        with unchanged_by_failure(self):
            X = self._read_to_fit(X)
            labels = encode(y, n_nodes=X.shape[0], unlabeled=self.unlabeled)
            graph = self._input_graph(X, labels)
            answer = transduce(
                graph.weights,
                graph.node_labels,
                self._solver(graph),
                solves_one_class=self._solves_one_class,
                rounding=self._rounding,
            )
            self._keep(graph, answer)
            self._publish(self._set_answers(self._answer))
        return self

    def _check_parameters(self) -> None:
        """Refuse the method's own parameters, if it has any, before any work is done."""

    @abstractmethod
    def _solver(self, graph: InputGraph) -> ComponentSolver:
        """Choose parameters that are "auto"; return what solves one connected component."""

    def _publish(self, certificate: Certificate) -> None:
        """Set the method's own fitted attributes, if any, from the largest component solved."""


def _chosen(rows: Sequence[ScoredValue], otherwise: Any) -> Any:
    """Return the value that was chosen."""
    return next((row.candidate for row in rows if row.chosen), otherwise)


def _certified(
    part: Graph, solution: Solution, extension: float = 0.0, **more: Any
) -> tuple[Solution, Certificate]:
    """Return a solution with its certificate."""
    evidence = Certificate(part.n, solution.residual, solution.n_iter, extension, **more)
    return solution, evidence


@documented
class ZhouGC(Baseline):
    """The method of Zhou et al. (section 2.3 of the paper): ``(L_N + gamma I) f = gamma y``.

    Parameters
    ----------
    gamma : float or "auto", default=1.0
        Trade-off between fitting the labels and smoothness, > 0. "auto": of nine values from 0.001
        to 10 the one that gives most labels back when it has not seen them (then: by the widest
        margin). Without refitting, but ten times the work of one value, and more on large graphs; a
        class with one label cannot be given back and counts as a miss.
    <shared>

    Attributes
    ----------
    <answers>
    gamma_ : float
        The value that was used.
    selection_ : tuple of ScoredValue
        For "auto": ``candidate``, ``accuracy``, ``margin``, ``chosen`` of every value. Empty if no
        component has two classes; then 1.0 is used.

    Examples
    --------
    >>> from robustgc import ZhouGC
    >>> W = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
    >>> ZhouGC(affinity="precomputed").fit(W, ["a", "", "", "b"]).transduction_
    array(['a', 'a', 'b', 'b'], dtype='<U1')
    """

    gamma: Any

    # f has the sign of the labels all over a component with one class.
    _solves_one_class = True
    # Values decay with the distance to labels, with their sign kept: only 0 is a tie, and what
    # rounding leaves of one beside the two sides that cancel.
    _rounding = 0.0
    _cancelled = 64 * float(np.finfo(float).eps)

    def __init__(
        self,
        gamma: float | str = 1.0,
        *,
        affinity: Any = "knn",
        sigma: float | None = None,
        scale: float = 2.0,
        self_loops: bool = True,
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        ann: bool | str = "auto",
        landmarks: int | None = None,
        unlabeled: object = None,
    ) -> None:
        self._set_parameters(locals())

    def _check_parameters(self) -> None:
        if not is_auto(self.gamma) and not 0 < as_number(self.gamma) < np.inf:
            raise ValueError(
                f"gamma={quoted(self.gamma)} is not allowed; it must be a number > 0, or 'auto' to "
                "choose it by the labels."
            )

    def _solver(self, graph: InputGraph) -> ComponentSolver:
        gamma, rows = self.gamma, tuple[ScoredValue, ...]()
        if gamma == "auto":
            rows = choose_gamma(pieces(graph.weights, graph.node_labels))
            gamma = _chosen(rows, 1.0)
        gamma = float(gamma)

        def solve(part: Graph, Y: Array) -> tuple[Solution, Certificate]:
            both = zhou(part, np.column_stack([Y, np.abs(Y[:, :1])]), gamma=gamma)
            # Both signs add up to the solution for |y|; what a tie leaves is rounding beside it.
            f, size = both.f[:, :-1], both.f[:, -1:]
            tie = (f.shape[1] == 1) & (np.abs(f) <= self._cancelled * size)
            solution = Solution(np.where(tie, 0.0, f), both.residual, both.n_iter)
            return _certified(part, solution, -gamma, gamma=gamma, selection=rows)

        return solve

    def _publish(self, certificate: Certificate) -> None:
        self.gamma_ = certificate.gamma
        self.selection_ = certificate.selection


@documented
class BelkinGC(Baseline):
    """The method of Belkin and Niyogi (section 2.2): least squares on the first eigenvectors.

    Parameters
    ----------
    n_vectors : int or "auto", default="auto"
        Number of Laplacian eigenvectors, at least 1. A component with fewer nodes uses all of
        its own. "auto": of up to nine numbers from K, the number of classes, to 64 (above 1500
        nodes to 10 or 2 K; always fewer than labels) the one that gives most labels back when it
        has not seen them (then: by the widest margin), without refitting. A class with one label
        cannot be given back and counts as a miss.
    laplacian : {"normalized", "combinatorial"}, default="normalized"
        The paper's text says combinatorial; its numbers come from the normalised one.
    <shared>

    Attributes
    ----------
    <answers>
    n_vectors_ : int
        The number that was used.
    selection_ : tuple of ScoredValue
        For "auto": ``candidate``, ``accuracy``, ``margin``, ``chosen`` of every number. Empty if
        there are too few labels to judge one; then K is used.

    Notes
    -----
    New points get the weighted average of the decision values around them.

    Examples
    --------
    >>> from robustgc import BelkinGC
    >>> W = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
    >>> BelkinGC(2, affinity="precomputed").fit(W, ["a", "", "", "b"]).transduction_
    array(['a', 'a', 'b', 'b'], dtype='<U1')
    """

    n_vectors: Any
    laplacian: str

    def __init__(
        self,
        n_vectors: int | str = "auto",
        *,
        laplacian: str = "normalized",
        affinity: Any = "knn",
        sigma: float | None = None,
        scale: float = 2.0,
        self_loops: bool = True,
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        ann: bool | str = "auto",
        landmarks: int | None = None,
        unlabeled: object = None,
    ) -> None:
        self._set_parameters(locals())

    def _check_parameters(self) -> None:
        n_vectors = self.n_vectors
        if not is_auto(n_vectors) and (not isinstance(n_vectors, Integral) or n_vectors < 1):
            raise ValueError(
                f"n_vectors={quoted(n_vectors)} is not allowed; it must be a whole number >= 1, or "
                "'auto' to choose it by the labels."
            )
        if self.laplacian not in KINDS:
            raise ValueError(
                f"laplacian={quoted(self.laplacian)} is unknown; it must be one of "
                f"{', '.join(KINDS)}."
            )

    def _solver(self, graph: InputGraph) -> ComponentSolver:
        n_vectors, rows = self.n_vectors, tuple[ScoredValue, ...]()
        known: dict[int, Graph] = {}  # components whose eigenvectors were found for the choice
        if n_vectors == "auto":
            parts = pieces(graph.weights, graph.node_labels)
            rows = choose_n_vectors(parts, self.laplacian)
            n_vectors = _chosen(rows, len(graph.labels.classes))
            known = {_first(part.graph): part.graph for part in parts}

        def solve(part: Graph, Y: Array) -> tuple[Solution, Certificate]:
            part = known.get(_first(part), part)
            p = min(int(n_vectors), part.n)
            solution = belkin(part, Y, n_vectors=p, laplacian=self.laplacian)
            return _certified(part, solution, selection=rows)

        return solve

    def _publish(self, certificate: Certificate) -> None:
        otherwise = len(self.classes_) if self.n_vectors == "auto" else self.n_vectors
        self.n_vectors_ = int(_chosen(certificate.selection, otherwise))
        self.selection_ = certificate.selection


class _ParameterFree(Baseline):
    """A method that only has to know how weights come from X."""

    _model: Callable[[Graph, Array], Solution]
    _smooth = False  # whether f itself varies slowly along edges, not f / sqrt(d)

    def __init__(
        self,
        *,
        affinity: Any = "knn",
        sigma: float | None = None,
        scale: float = 2.0,
        self_loops: bool = True,
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        ann: bool | str = "auto",
        landmarks: int | None = None,
        unlabeled: object = None,
    ) -> None:
        self._set_parameters(locals())

    def _solver(self, graph: InputGraph) -> ComponentSolver:
        return lambda part, Y: _certified(part, self._model(part, Y), smooth=self._smooth)


@documented
class HarmonicGC(_ParameterFree):
    """The method of Zhu, Ghahramani and Lafferty (2003): every node is the mean of its neighbours.

    Labels are kept as they are, wrong ones too; the values of the other nodes solve
    ``L_uu f_u = -L_ul y_l`` with the combinatorial Laplacian. One column per class.

    Parameters
    ----------
    <shared>

    Attributes
    ----------
    <answers>

    Notes
    -----
    New points get the weighted average of the decision values around them.

    Examples
    --------
    >>> from robustgc import HarmonicGC
    >>> W = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
    >>> HarmonicGC(affinity="precomputed").fit(W, ["a", "", "", "b"]).f_.round(4)
    array([-1.    , -0.8333,  0.8333,  1.    ])
    """

    _model = staticmethod(harmonic)
    _smooth = True


@documented
class PoissonGC(_ParameterFree):
    """Poisson learning with the normalised Laplacian: RobustGC as ``eta`` goes to 0.

    Solves ``L_N f = P0 y`` on the complement of v0, once for every class.

    Parameters
    ----------
    <shared>

    Attributes
    ----------
    <answers>

    Notes
    -----
    New points get the weighted average of the decision values around them, each divided by the
    root of its node's degree.

    Examples
    --------
    >>> from robustgc import PoissonGC
    >>> W = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
    >>> PoissonGC(affinity="precomputed").fit(W, ["a", "", "", "b"]).f_.round(4)
    array([-6. , -5.2440,  5.2440,  6. ])
    """

    _model = staticmethod(poisson)


def _first(graph: Graph) -> int:
    return 0 if graph._nodes is None else int(graph._nodes[0])

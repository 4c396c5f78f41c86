"""The methods that the paper compares with, as scikit-learn estimators: ZhouGC, BelkinGC."""

from collections.abc import Mapping
from copy import copy
from numbers import Integral
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from robustgc.estimators._classifier import GraphClassifier
from robustgc.estimators._docs import documented
from robustgc.estimators.tuning import Candidate, choose_gamma, choose_n_vectors, pieces
from robustgc.graph.graph import KINDS, Graph
from robustgc.graph.quoting import quoted
from robustgc.graph.weights import Array, Weights
from robustgc.linalg.solution import Solution, as_number
from robustgc.models.paper import belkin, zhou
from robustgc.transduction.answer import Certificate
from robustgc.transduction.labels import Labels


class _Tuned(GraphClassifier):
    """A model whose parameter may be left to the labels: "auto"."""

    _chosen: tuple[Candidate, ...] = ()

    def _with(self, name: str, chosen: tuple[Candidate, ...], otherwise: float) -> Self:
        """Return a copy with the value that was chosen."""
        settled = copy(self)
        setattr(settled, name, next((row.candidate for row in chosen if row.chosen), otherwise))
        settled._chosen = chosen
        return settled


@documented
class ZhouGC(_Tuned):
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
    selection_ : tuple of Candidate
        For "auto": ``candidate``, ``accuracy``, ``margin``, ``chosen`` of every value. Empty if no
        component has two classes; then 1.0 is used.

    Examples
    --------
    >>> from robustgc import ZhouGC
    >>> W = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
    >>> ZhouGC(affinity="precomputed").fit(W, ["a", "", "", "b"]).transduction_
    array(['a', 'a', 'b', 'b'], dtype='<U1')
    """

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
        self.gamma = gamma
        self.affinity = affinity
        self.sigma = sigma
        self.scale = scale
        self.self_loops = self_loops
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.ann = ann
        self.landmarks = landmarks
        self.unlabeled = unlabeled

    def _check_parameters(self) -> None:
        if isinstance(self.gamma, str) and self.gamma == "auto":
            return
        if not 0 < as_number(self.gamma) < np.inf:
            raise ValueError(
                f"gamma={quoted(self.gamma)} is not allowed; it must be a number > 0, or 'auto' to "
                "choose it by the labels."
            )

    def _settled(self, W: Weights, labels: Labels, chosen: NDArray[Any] | None) -> Self:
        if self.gamma != "auto":
            return self
        return self._with("gamma", choose_gamma(pieces(W, labels), len(labels.classes)), 1.0)

    def _solve(self, graph: Graph, Y: Array, psd: bool) -> tuple[Solution, Certificate]:
        gamma = float(self.gamma)
        both = zhou(graph, np.column_stack([Y, np.abs(Y[:, :1])]), gamma=gamma)
        # Both signs add up to the solution for |y|; what is left of a tie is rounding beside it.
        f, size = both.f[:, :-1], both.f[:, -1:]
        tie = (f.shape[1] == 1) & (np.abs(f) <= self._cancelled * size)
        solution = Solution(np.where(tie, 0.0, f), both.residual, both.n_iter)
        return solution, Certificate(
            graph.n,
            solution.residual,
            solution.n_iter,
            extension=-gamma,
            gamma=gamma,
            selection=self._chosen,
        )

    def _publish(self, certificate: Certificate) -> None:
        self.gamma_ = certificate.gamma
        self.selection_ = certificate.selection


@documented
class BelkinGC(_Tuned):
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
    selection_ : tuple of Candidate
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
        self.n_vectors = n_vectors
        self.laplacian = laplacian
        self.affinity = affinity
        self.sigma = sigma
        self.scale = scale
        self.self_loops = self_loops
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.ann = ann
        self.landmarks = landmarks
        self.unlabeled = unlabeled

    # Components whose eigenvectors are known from the choice, by their first node.
    _known: Mapping[int, Graph] = MappingProxyType({})

    def _check_parameters(self) -> None:
        auto = isinstance(self.n_vectors, str) and self.n_vectors == "auto"
        if not auto and (not isinstance(self.n_vectors, Integral) or self.n_vectors < 1):
            raise ValueError(
                f"n_vectors={quoted(self.n_vectors)} is not allowed; it must be a whole number >= "
                "1, or "
                "'auto' to choose it by the labels."
            )
        if self.laplacian not in KINDS:
            raise ValueError(
                f"laplacian={quoted(self.laplacian)} is unknown; it must be one of "
                f"{', '.join(KINDS)}."
            )

    def _settled(self, W: Weights, labels: Labels, chosen: NDArray[Any] | None) -> Self:
        if self.n_vectors != "auto":
            return self
        parts, n_classes = pieces(W, labels), len(labels.classes)
        judged = choose_n_vectors(parts, n_classes, self.laplacian)
        settled = self._with("n_vectors", judged, n_classes)
        settled._known = {_first(part.graph): part.graph for part in parts}
        return settled

    def _solve(self, graph: Graph, Y: Array, psd: bool) -> tuple[Solution, Certificate]:
        graph = self._known.get(_first(graph), graph)
        p = min(int(self.n_vectors), graph.n)
        solution = belkin(graph, Y, n_vectors=p, laplacian=self.laplacian)
        return solution, Certificate(
            graph.n, solution.residual, solution.n_iter, extension=0.0, selection=self._chosen
        )

    def _publish(self, certificate: Certificate) -> None:
        given = len(self.classes_) if self.n_vectors == "auto" else self.n_vectors
        chosen = (row.candidate for row in certificate.selection if row.chosen)
        self.n_vectors_ = int(next(chosen, given))
        self.selection_ = certificate.selection


def _first(graph: Graph) -> int:
    return 0 if graph._nodes is None else int(graph._nodes[0])

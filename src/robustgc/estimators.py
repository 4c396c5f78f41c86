"""The paper's models as scikit-learn estimators: RobustGC, ZhouGC, BelkinGC."""

from inspect import cleandoc
from numbers import Integral, Real
from typing import Any

import numpy as np

from robustgc._classifier import GraphClassifier
from robustgc.graph import KINDS, Graph
from robustgc.models import belkin, condition_bound, robust, zhou
from robustgc.solve import Solution
from robustgc.spectrum import lambda_1
from robustgc.transduction import Certificate
from robustgc.weights import Array

_SHARED = """affinity : {"knn", "rbf", "precomputed"} or callable, default="knn"
        How weights come from X. "knn": ``(A + A') / 2`` of the nearest-neighbour graph, no
        self-loops; "rbf": ``exp(-|x - x'|^2 / (scale * sigma^2))``; "precomputed": X is the
        weight matrix; a function ``kernel(A, B)`` returns the matrix of ``k(a, b)``.
    n_neighbors : int, default=None
        Neighbours of "knn". None: 10, or all other points if there are fewer.
    sigma : float, default=None
        Width of "rbf". None: the median distance to the 7th nearest neighbour.
    scale : float, default=2.0
        Factor of ``sigma^2`` in "rbf"; the paper's experiments have 1.
    self_loops : bool, default=True
        Whether "rbf" keeps its diagonal ``k(x, x) = 1``; the paper's digits have it zeroed.
    ann : {"auto", True, False}, default="auto"
        Whether neighbours are found by an approximate index (faiss; ``pip install
        'robustgc[ann]'``), which misses about 3 in 100 of them and repeats itself byte by byte.
        "auto": exact up to what takes a few seconds (11,000 points of 784 dimensions; any number
        of up to 5), above by the index; without faiss, or with sparse X, still exact, but
        slower, in blocks of memory. `neighbors_` says which it was.
    landmarks : int, default=None
        Fit on this many points only, all labelled ones and others drawn at random with a fixed
        seed, and answer the rest by the out-of-sample extension. None: fit on all. Not with
        "precomputed". A default ``sigma`` and "knn" are those of the landmarks.
    unlabeled : object, default=None
        What marks an unlabelled node in y, besides None and NaN. By default -1 for numbers and
        "" for text."""

_ANSWERS = """classes_ : ndarray, shape (K,)
    transduction_ : ndarray, shape (N,)
        The class of every node; the unlabelled marker where there is none.
    f_ : ndarray, shape (N,) or (N, K)
        Decision values: for two classes positive means ``classes_[1]``, else one column per
        class, one versus the rest. NaN where there is no answer; +1 and -1 where only one class
        is labelled in a component; -inf for a class of several that has no label there.
    reasons_ : ndarray of str, shape (N,)
        Why each node has the answer it has.
    components_ : ndarray of int, shape (N,)
        The connected component of every node; each is solved by itself. -1 for a point that is
        no landmark.
    certificates_ : dict
        The evidence for every component that was solved, by its number.
    residual_ : float
        Residual of the solve, the worst over components.
    n_iter_ : int
        Iterations of the solver, 0 for a direct method.
    sigma_ : float or None
        The width of the Gaussian, if there is one.
    neighbors_ : {"exact", "approximate"} or None
        How the neighbours of "knn" were found."""


def _documented(cls: type) -> type:
    """Fill in the parts of the docstring that the estimators share."""
    # Python 3.13 stores docstrings without their indentation, earlier versions with it.
    text, shared, answers = map(cleandoc, (cls.__doc__ or "", _SHARED, _ANSWERS))
    cls.__doc__ = text.replace("<shared>", shared).replace("<answers>", answers)
    return cls


@_documented
class RobustGC(GraphClassifier):
    """Robust graph classification: labels for all nodes from a few, some of them wrong.

    Theorem 1 and Algorithm 1 of the paper: a convex smoothness term minus a concave loss, convex
    while ``gamma < lambda_1``, solved by one linear system.

    Parameters
    ----------
    eta : float, default=0.9
        ``gamma = eta * lambda_1``, strictly between 0 and 1; 0.9 is the paper's parameter-free
        choice.
    <shared>

    Attributes
    ----------
    <answers>
    lambda_1_, gamma_, condition_bound_ : float
        The smallest non-trivial eigenvalue, the trade-off, and the bound on the condition number
        (section 3.2), for the largest component that was solved.

    Examples
    --------
    >>> from robustgc import RobustGC
    >>> W = [[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]]
    >>> RobustGC(affinity="precomputed").fit(W, ["a", "", "", "b"]).transduction_
    array(['a', 'a', 'b', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        eta: float = 0.9,
        *,
        affinity: Any = "knn",
        sigma: float | None = None,
        scale: float = 2.0,
        self_loops: bool = True,
        n_neighbors: int | None = None,
        ann: bool | str = "auto",
        landmarks: int | None = None,
        unlabeled: object = None,
    ) -> None:
        self.eta = eta
        self.affinity = affinity
        self.sigma = sigma
        self.scale = scale
        self.self_loops = self_loops
        self.n_neighbors = n_neighbors
        self.ann = ann
        self.landmarks = landmarks
        self.unlabeled = unlabeled

    def _check_parameters(self) -> None:
        if not isinstance(self.eta, Real) or not 0 < self.eta < 1:
            raise ValueError(
                f"eta={self.eta!r} is not allowed; it must be strictly between 0 and 1, since "
                "gamma = eta * lambda_1 must be below lambda_1 (Theorem 1). The default is 0.9."
            )

    def _solve(self, graph: Graph, Y: Array, psd: bool) -> tuple[Solution, Certificate]:
        limit = lambda_1(graph)
        gamma = float(self.eta) * limit
        solution = robust(graph, Y, gamma=gamma)
        return solution, Certificate(
            graph.n,
            solution.residual,
            solution.n_iter,
            extension=gamma,
            lambda_1=limit,
            gamma=gamma,
            condition_bound=condition_bound(graph, gamma, positive_semidefinite=psd),
        )

    def _publish(self, certificate: Certificate) -> None:
        self.lambda_1_ = certificate.lambda_1
        self.gamma_ = certificate.gamma
        self.condition_bound_ = certificate.condition_bound


@_documented
class ZhouGC(GraphClassifier):
    """The method of Zhou et al. (section 2.3 of the paper): ``(L_N + gamma I) f = gamma y``.

    Parameters
    ----------
    gamma : float, default=1.0
        Trade-off between fitting the labels and smoothness, > 0.
    <shared>

    Attributes
    ----------
    <answers>

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
        gamma: float = 1.0,
        *,
        affinity: Any = "knn",
        sigma: float | None = None,
        scale: float = 2.0,
        self_loops: bool = True,
        n_neighbors: int | None = None,
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
        self.ann = ann
        self.landmarks = landmarks
        self.unlabeled = unlabeled

    def _check_parameters(self) -> None:
        if not isinstance(self.gamma, Real) or not 0 < self.gamma < np.inf:
            raise ValueError(f"gamma={self.gamma!r} is not allowed; it must be a number > 0.")

    def _solve(self, graph: Graph, Y: Array, psd: bool) -> tuple[Solution, Certificate]:
        gamma = float(self.gamma)
        both = zhou(graph, np.column_stack([Y, np.abs(Y[:, :1])]), gamma=gamma)
        # Both signs add up to the solution for |y|; what is left of a tie is rounding beside it.
        f, size = both.f[:, :-1], both.f[:, -1:]
        tie = (f.shape[1] == 1) & (np.abs(f) <= self._cancelled * size)
        solution = Solution(np.where(tie, 0.0, f), both.residual, both.n_iter)
        return solution, Certificate(
            graph.n, solution.residual, solution.n_iter, extension=-gamma, gamma=gamma
        )


@_documented
class BelkinGC(GraphClassifier):
    """The method of Belkin and Niyogi (section 2.2): least squares on the first eigenvectors.

    Parameters
    ----------
    n_vectors : int, default=10
        Number of Laplacian eigenvectors, at least 1. A component with fewer nodes uses all of
        its own.
    laplacian : {"normalized", "combinatorial"}, default="normalized"
        The paper's text says combinatorial; its numbers come from the normalised one.
    <shared>

    Attributes
    ----------
    <answers>

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
        n_vectors: int = 10,
        *,
        laplacian: str = "normalized",
        affinity: Any = "knn",
        sigma: float | None = None,
        scale: float = 2.0,
        self_loops: bool = True,
        n_neighbors: int | None = None,
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
        self.ann = ann
        self.landmarks = landmarks
        self.unlabeled = unlabeled

    def _check_parameters(self) -> None:
        if not isinstance(self.n_vectors, Integral) or self.n_vectors < 1:
            raise ValueError(
                f"n_vectors={self.n_vectors!r} is not allowed; it must be a whole number >= 1."
            )
        if self.laplacian not in KINDS:
            raise ValueError(
                f"laplacian={self.laplacian!r} is unknown; it must be one of {', '.join(KINDS)}."
            )

    def _solve(self, graph: Graph, Y: Array, psd: bool) -> tuple[Solution, Certificate]:
        p = min(int(self.n_vectors), graph.n)
        solution = belkin(graph, Y, n_vectors=p, laplacian=self.laplacian)
        return solution, Certificate(graph.n, solution.residual, solution.n_iter, extension=0.0)

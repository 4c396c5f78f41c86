"""The paper's models as scikit-learn estimators: RobustGC, ZhouGC, BelkinGC."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from robustgc._classifier import GraphClassifier
from robustgc._docs import documented
from robustgc.cost import refuse_if_too_large
from robustgc.engines import Options, precision, solve_robust
from robustgc.graph import KINDS, Graph
from robustgc.models import belkin, bound, zhou
from robustgc.outcome import Shifts, Solution
from robustgc.progress import Progress
from robustgc.transduction import Certificate
from robustgc.weights import Array


@documented
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
    solver : {"auto", "dense", "krylov", "multigrid", "direct"}, default="auto"
        How the system is solved. "auto": by size and a short probe, and the next engine wherever a
        result does not pass its checks.
    tol : float, default=None
        Relative residual of the system to reach. None: 1e-8, in single precision 1e-5.
    dtype : {"auto", "float64", "float32"}, default="auto"
        Working precision. "auto": single from 100,000 nodes on if ``tol`` allows it, else double.
        Where single precision does not reach ``tol``, double is used, and `history_` says so.
    verbose : bool, default=False
        Show a progress bar on standard error: steps, residual, time left.

    Attributes
    ----------
    <answers>
    lambda_1_, gamma_, condition_bound_ : float
        The smallest non-trivial eigenvalue, the trade-off, and the bound on the condition number
        (section 3.2), for the largest component that was solved.
    eigen_residual_ : float
        ``|L_N v - lambda_1 v| / lambda_1`` for the unit vector found beside lambda_1.
    solver_ : str
        The engine that answered for the largest component that was solved.
    history_ : tuple of Attempt
        Every engine that was tried there, in order: ``solver``, ``reason``, ``result``,
        ``seconds``.

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
        solver: str = "auto",
        tol: float | None = None,
        dtype: str = "auto",
        verbose: bool = False,
    ) -> None:
        self.solver = solver
        self.tol = tol
        self.dtype = dtype
        self.verbose = verbose
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
        self._options()

    def _solve(self, graph: Graph, Y: Array, psd: bool) -> tuple[Solution, Certificate]:
        refuse_if_too_large(graph, Y.shape[1], precision(graph, self._options())[0])
        with Progress(bool(self.verbose)) as progress:
            options = self._options(progress.watch)
            outcome, history = solve_robust(graph, Y, Shifts(etas=[float(self.eta)]), options)
        solution, gamma, limit = outcome.solutions[0], outcome.gammas[0], outcome.lambda_1
        return solution, Certificate(
            graph.n,
            solution.residual,
            solution.n_iter,
            extension=gamma,
            lambda_1=limit,
            gamma=gamma,
            condition_bound=bound(limit, gamma, positive_semidefinite=psd),
            eigen_residual=outcome.eigen_residual,
            history=history,
        )

    def _options(self, watch: Any = None) -> Options:
        return Options(str(self.solver), self.tol, str(self.dtype), watch)

    def _publish(self, certificate: Certificate) -> None:
        self.lambda_1_ = certificate.lambda_1
        self.gamma_ = certificate.gamma
        self.condition_bound_ = certificate.condition_bound
        self.eigen_residual_ = certificate.eigen_residual
        self.history_ = certificate.history
        self.solver_ = certificate.history[-1].solver if certificate.history else "none"


@documented
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


@documented
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

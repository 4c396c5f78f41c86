"""The paper's model as a scikit-learn estimator: RobustGC."""

from numbers import Real
from typing import Any

from robustgc._classifier import GraphClassifier
from robustgc._docs import documented
from robustgc.cost import refuse_if_too_large
from robustgc.engines import Options, precision, solve_robust
from robustgc.graph import Graph
from robustgc.models import bound
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

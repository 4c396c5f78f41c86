"""Two methods without a parameter, as scikit-learn estimators: HarmonicGC, PoissonGC."""

from typing import Any

from robustgc.estimators._classifier import GraphClassifier
from robustgc.estimators._docs import documented
from robustgc.graph.graph import Graph
from robustgc.graph.weights import Array
from robustgc.linalg.solution import Solution
from robustgc.models.baseline_models import harmonic, poisson
from robustgc.transduction.answer import Certificate


class _ParameterFree(GraphClassifier):
    """An estimator that only has to know how weights come from X."""

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
        """Accept: there is no parameter."""


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

    def _solve(self, graph: Graph, Y: Array, psd: bool) -> tuple[Solution, Certificate]:
        solution = harmonic(graph, Y)
        return solution, Certificate(
            graph.n, solution.residual, solution.n_iter, extension=0.0, smooth=True
        )


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

    def _solve(self, graph: Graph, Y: Array, psd: bool) -> tuple[Solution, Certificate]:
        solution = poisson(graph, Y)
        return solution, Certificate(graph.n, solution.residual, solution.n_iter, extension=0.0)

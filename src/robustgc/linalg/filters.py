"""Solve the model for several classes, all label columns and gammas at once (docs/lifted.md).

``L_N + sum_{1<=l<=q} (lambda_q - lambda_l) v_l v_l'`` in place of ``L_N``: strongly convex off v0
exactly for ``gamma < lambda_q``, and the modes up to q count alike. q = 1 is the paper's model.

On large graphs whose modes take too long to find ZhouGC's filters stand in, ``g / (lambda + g)``:
these need no eigenvalue, and a polynomial of bounded degree is all of one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.graph import Graph
from robustgc.graph.laplacian import fits_single, operator
from robustgc.graph.weights import Array
from robustgc.linalg.block_lanczos import KrylovSpace, first_block
from robustgc.linalg.cg import rounding_of_modes
from robustgc.linalg.deflated import MAX_DEGREE, DeflatedOperator
from robustgc.linalg.eigenpairs import TINY, Eigenpairs
from robustgc.linalg.ladder import SolverOptions, dtype_and_tolerance
from robustgc.linalg.modes import LARGE_GRAPH_RESIDUAL
from robustgc.linalg.multigrid import USEFUL
from robustgc.linalg.solution import NotConvergedError, Watch, ignore_progress

_FEW_DIGITS = 100.0  # times the residual of the modes: what eta 0.99 makes of it in an answer
_CLOSE = 1e-2  # of what is put right in an answer where that takes no solve for every mode
_NEAR = 12  # degree of those by which witnesses are found, which are near
MAX_WEIGHING_DEGREE = 96  # degree of the polynomials by which candidates are weighed, at most
_WORK = 1e10  # entries and values that these may touch: some seconds
_COUPLING_TOL = 1e-2  # of a correction
_PRODUCTS = 20  # to estimate lambda_1, always from above
_NEAREST = 0.2  # the largest g: about ten steps of a walk
DIFFUSION_TOL = 5e-4  # of an answer by smooth filters
_ROUNDING = 64  # units of it, below which no eigenvalue is told from 0
_LEAST_DEGREE = 50  # of it


def check_residual(residual: float, tol: float, modes: Eigenpairs) -> None:
    """Refuse an answer that misses its tolerance by more than the modes of large graphs may.

    Modes of few digits are those of graphs where more would take minutes.
    """
    most = max(10 * tol, LARGE_GRAPH_RESIDUAL, min(_FEW_DIGITS * modes.residual, USEFUL))
    if not residual <= most:
        raise NotConvergedError(
            f"The answer with lifted modes has a residual of {residual:.1e} ({modes.method}: "
            f"{modes.note}); at most {most:.0e} is accepted. Lower eta or n_modes, "
            "or bring the weights to a common scale."
        )


class LiftedFilters:
    """Spectral filters with lifted modes on one graph: a number of modes and a gamma for each.

    Unless they are to be exact, answers at some nodes are those of polynomials of bounded degree in
    single precision, by which candidates are weighed.
    """

    def __init__(
        self,
        graph: Graph,
        modes: Eigenpairs,
        n_modes: Any,
        gammas: Any,
        options: SolverOptions,
        *,
        exact: bool = True,
    ) -> None:
        self.graph, self.modes, self._exact = graph, modes, exact
        self.n_modes, self.gammas = np.asarray(n_modes), np.asarray(gammas, dtype=float)
        level = np.append(0.0, modes.values)[self.n_modes][:, None]  # 0 modes: ZhouGC's filter
        lifted = np.maximum(modes.values[None, :], level)
        self.weights = self.gammas[:, None] / (lifted - self.gammas[:, None])  # (models, Q)
        self.complete, self._options = len(modes.values) == graph.n - 1, options
        self._operators: dict[str, DeflatedOperator] = {}

    def _deflated(self, dtype: str | None = None) -> DeflatedOperator:
        """Return ``L_N`` with the modes deflated, by default in the precision of the answer."""
        dtype = dtype or dtype_and_tolerance(self.graph, self._options)[0]
        if dtype not in self._operators:
            V, floor = self.modes.vectors, self.modes.spectrum_floor
            watch = self._options.watching("candidates")
            self._operators[dtype] = DeflatedOperator(self.graph, V, floor, dtype, watch)
        return self._operators[dtype]

    def answer_off_modes(
        self, nodes: NDArray[Any], B: Array, tol: float, *, near: bool = False
    ) -> Array:
        """Return every model's answer off the modes at some nodes: (models, nodes, columns).

        What is `near` comes first: the degree is as low as witnesses of a label need it.
        """
        gammas, where = np.unique(self.gammas, return_inverse=True)
        each = np.eye(len(gammas))
        if self._exact:
            rest = self._deflated().solve_combined_at(nodes, B, gammas, tol, each)
        else:
            step = B.shape[1] * (self.graph.entries + 8.0 * self.graph.n)
            most = _NEAR if near else int(np.clip(_WORK / step, _NEAR, MAX_WEIGHING_DEGREE))
            single = self._deflated("float32" if fits_single(self.graph) else "float64")
            rest = single.solve_combined_at(nodes, B, gammas, tol, each, most)
        return np.asarray(self.gammas[:, None, None] * rest[where])

    @threads.single_blas
    def answer(self, Y: Array, coefficients: Array, tol: float) -> tuple[Array, float, int]:
        """Return sums of the models' answers, (sums, N, columns), with residual and steps."""
        V, weights = self.modes.vectors, coefficients @ self.weights
        known = self.graph.inner(V, Y)
        # Tiny modes come last, and are not measured: products do not resolve them, and what they
        # leave in a product is rounding divided by their gamma.
        tiny = int(np.searchsorted(self.modes.values, TINY))
        residual, steps = 0.0, 0
        if self.complete:
            found = np.zeros((len(coefficients), *Y.shape))
        else:
            gammas, shares = _by_gamma(self.gammas, coefficients * self.gammas)
            found, residual, steps = self._deflated().solve_combined(Y, gammas, shares, tol)
        for k, w in enumerate(weights):
            found[k] += V[:, tiny:] @ (w[tiny:, None] * known[tiny:])
        measured = self._residual(found, Y, coefficients, tiny)
        # What modes of few digits leave is put right, to weigh candidates only without a solve.
        if (not self.complete and measured > max(10 * tol, LARGE_GRAPH_RESIDUAL)) and (
            self._exact or self._deflated().degree(self.gammas, _CLOSE) <= MAX_DEGREE
        ):
            found -= self._coupling_error(Y, coefficients, tiny)
            measured = self._residual(found, Y, coefficients, tiny)
        if tiny:
            for k, w in enumerate(weights):
                found[k] += V[:, :tiny] @ (w[:tiny, None] * known[:tiny])
        return found, max(residual, measured), steps

    def answer_own_columns(
        self, nodes: NDArray[Any], columns: Array, models: NDArray[Any], tol: float
    ) -> Array:
        """Return the sum of some models' answers, each to label columns (labels, K) of its own.

        Off the modes the models are taken for multiples of one of them.
        """
        V, weights = self.modes.vectors, self.weights[models]
        known = self.graph.at(V, nodes).T @ columns
        found = V @ np.einsum("mq,mqk->qk", weights, known)
        if self.complete:
            return np.asarray(found)
        gammas = self.gammas[models]
        pole = np.sort(gammas)[len(gammas) // 2]
        # From the last known value on: it has more digits than the bound beyond it.
        spectrum = np.geomspace(self.modes.values[-1], self.graph.top, 100)
        factors = np.median(
            gammas[:, None] / (spectrum - gammas[:, None]) / (pole / (spectrum - pole)), axis=1
        )
        B = self.graph.placed(nodes, np.tensordot(factors, columns, axes=1))
        rest, _, _ = self._deflated().solve_combined(B, np.array([pole]), np.array([[pole]]), tol)
        return np.asarray(found + rest[0])

    def rounding(self, Y: Array, coefficients: Array, sums: Array) -> float:
        """Return what rounding of the tiny modes leaves in sums of answers, relative to each."""
        tiny = int(np.searchsorted(self.modes.values, TINY))
        V, weights = self.modes.vectors[:, :tiny], (coefficients @ self.weights)[:, :tiny]
        return max(
            rounding_of_modes(self.graph, V, w, Y, f) for w, f in zip(weights, sums, strict=True)
        )

    def _residual(self, found: Array, Y: Array, coefficients: Array, tiny: int) -> float:
        """Measure on the matrix every sum that is one model alone, off the tiny modes."""
        worst, b, first = 0.0, self.graph.P0(Y), self.modes.vectors[:, :tiny]
        # Few nodes need no compiled loops, which take time to load.
        L = self.graph.L_N if self.complete else operator(self.graph)
        sizes = np.where((norms := self.graph.norms(b)) == 0, 1.0, norms)
        for f, row in zip(found, coefficients, strict=True):
            if np.count_nonzero(row) != 1:
                continue
            k = int(np.flatnonzero(row)[0])
            gamma, q, x = float(self.gammas[k]), int(self.n_modes[k]), f / row[k]
            V, values = self.modes.vectors[:, :q], self.modes.values[:q]
            rest = L(x)
            rest += V @ ((values[-1:] - values)[:, None] * self.graph.inner(V, x))
            rest /= gamma
            rest -= x
            rest -= b
            if tiny:
                rest -= first @ self.graph.inner(first, rest)
            worst = max(worst, float((self.graph.norms(rest) / sizes).max(initial=0.0)))
        return worst

    def _coupling_error(self, Y: Array, coefficients: Array, tiny: int) -> Array:
        """Return the first-order error in sums of the models' answers, (sums, N, columns).

        With ``G = (L_N - gamma)^-1 R`` off the modes, and its weights W of the modes, a model's
        answer has ``G W V' Y + V W G' Y`` too much. Products do not resolve the tiny modes.
        """
        values, V, graph = self.modes.values[tiny:], self.modes.vectors[:, tiny:], self.graph
        R, known = graph.L_N(V) - V * values, graph.inner(V, Y)
        error = np.zeros((len(coefficients), *Y.shape))
        for q in range(len(values)):
            poles, shares = _by_gamma(self.gammas, coefficients * self.weights[:, tiny + q])
            columns, _, _ = self._deflated().solve_combined(
                R[:, q : q + 1], poles, shares, _COUPLING_TOL
            )
            for k, G in enumerate(columns):
                error[k] += G * known[q] + np.outer(V[:, q], graph.inner(G[:, 0], Y))
        return error


def _by_gamma(gammas: Array, shares: Array) -> tuple[Array, Array]:
    """Return the different gammas, and the sums of the shares of those that are equal."""
    poles, where = np.unique(gammas, return_inverse=True)
    summed = np.zeros((len(shares), len(poles)))
    np.add.at(summed.T, where, shares.T)
    return poles, summed


@dataclass(frozen=True)
class DiffusionFilters:
    """Filters ``g / (lambda + g)`` that a bounded number of products answers."""

    modes: Eigenpairs  # without any; its note tells what these filters are
    limit: float  # an upper bound on lambda_1
    gammas: Array  # -g, the smallest g first


def diffusion_filters(
    graph: Graph, Y: Array, dtype: str, watch: Watch = ignore_progress
) -> DiffusionFilters:
    """Return the filters that reach farthest and nearest, and one between them."""
    limit, rest = _first_value(graph, Y, dtype)
    step = max(Y.shape[1], 1) * (graph.entries + 8.0 * graph.n)
    most = int(np.clip(_WORK / step, _LEAST_DEGREE, MAX_DEGREE))
    none = np.empty((graph.rows, 0))
    off, g = DeflatedOperator(graph, none, 0.0, dtype, watch), _NEAREST
    while g > limit and off.degree(np.array([-g / 2]), DIFFUSION_TOL) <= most:
        g /= 2
    gammas = -np.unique(np.geomspace(g, _NEAREST, 3))
    degree = off.degree(gammas, DIFFUSION_TOL)
    note = f"ZhouGC with gamma {g:.1e}, {degree} products; lambda_1 at most {limit:.1e}"
    modes = Eigenpairs(np.empty(0), none, rest, method="bounded", note=note)
    return DiffusionFilters(modes, limit, gammas)


def _first_value(graph: Graph, Y: Array, dtype: str) -> tuple[float, float]:
    """Return a Ritz value, and its residual relative to it."""
    space = KrylovSpace(graph, first_block(graph, Y), 1, dtype)
    theta, _, rest = next(
        pairs for pairs in space.ritz_pairs() if space.exhausted or space.products == _PRODUCTS
    )
    # Once a space is exhausted it may hold rounding, most of which is v0.
    first = int(np.argmax(theta > _ROUNDING * np.finfo(dtype).eps))
    return float(theta[first]), float(rest[first] / max(theta[first], 1e-300))

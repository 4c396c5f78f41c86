"""Theorem 1 for K classes: the first q eigenvalues are lifted to lambda_q (docs/lifted.md).

``L_N + sum_{1<=l<=q} (lambda_q - lambda_l) v_l v_l'`` in place of ``L_N``: strongly convex off v0
exactly for ``gamma < lambda_q``, and the modes up to q count alike. q = 1 is the paper's model.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.graph import SMALL, Graph
from robustgc.graph.laplacian import operator
from robustgc.graph.weights import Array
from robustgc.linalg import multigrid
from robustgc.linalg.block_lanczos import block_lanczos_modes, inverse_lanczos_modes
from robustgc.linalg.cg import rounding_of_modes
from robustgc.linalg.coupling import coupling_error
from robustgc.linalg.deflated import MAX_DEGREE, DeflatedOperator
from robustgc.linalg.eigenpairs import MOST_TINY, TINY, Eigenpairs, count_reliable
from robustgc.linalg.factors import has_cheap_factors, has_few_cycles
from robustgc.linalg.ladder import SolverOptions, cure, dtype_and_tolerance, probe_steps
from robustgc.linalg.numbering import numbered
from robustgc.linalg.ritz import leading_modes
from robustgc.linalg.solution import NotConvergedError
from robustgc.linalg.spectrum import eigenpairs, full_spectrum

LARGE_GRAPH_RESIDUAL = 1e-3  # residual of modes of large graphs where nothing better was asked for
_FEW_DIGITS = 100.0  # times the residual of the modes: what eta 0.99 makes of it in an answer
MEDIUM = 30_000  # nodes up to which any number of modes takes seconds
HUGE = 300_000  # nodes from which a pass over the vectors is what a step costs
_AFFORDABLE = 4e6  # values of the modes that multigrid looks for, to weigh candidates
_CLOSE = 1e-2  # of what is put right in an answer where that takes no solve for every mode
_NEAR = 12  # degree of those by which witnesses are found, which are near
MAX_WEIGHING_DEGREE = 96  # degree of the polynomials by which candidates are weighed, at most
_WORK = 1e10  # entries and values that these may touch: some seconds


def find_modes(
    graph: Graph,
    count: int,
    Y: Array,
    options: SolverOptions,
    *,
    exact: bool = True,
) -> Eigenpairs:
    """Return the first modes: as many as asked for, or fewer where more would cost too much.

    Up to 1500 nodes all are there. Above, block Lanczos finds those that stand clear of the bulk of
    the spectrum, and multigrid those of grids and neighbour graphs.

    Parameters
    ----------
    Y : ndarray, shape (N, columns)
        Label columns to start from on large graphs.
    exact : bool
        Whether up to 30,000 nodes all that are asked for are needed, to many digits. To weigh
        candidates those that stand clear will do, to some digits.
    """
    try:
        return checkpointed(graph, partial(_searched_modes, graph, count, Y, options, exact))
    except NotConvergedError as failure:
        raise NotConvergedError(
            f"The first modes of the graph of {graph.n} nodes were not found: "
            f"{str(failure).rstrip('.')}. {cure(graph, 'lower n_modes,')}"
        ) from failure


@singledispatch
def checkpointed(graph: Graph, search: Callable[[], Eigenpairs]) -> Eigenpairs:
    """Return the modes that a search finds; those of a distributed graph may have been kept."""
    return search()


def _searched_modes(
    graph: Graph, count: int, Y: Array, options: SolverOptions, exact: bool
) -> Eigenpairs:
    if graph.n <= SMALL and not graph.distributed:
        return full_spectrum(graph).nontrivial().measured(graph, "dense", "all modes")
    near = numbered(graph)
    if near.graph is not graph:
        found = _searched_modes(near.graph, count, near.to(Y), options, exact)
        return replace(found, vectors=near.back(found.vectors))
    count = min(count, graph.n // 8)
    if exact and graph.n <= MEDIUM and (graph.is_here or graph.distributed):
        for few in (count, 1):  # those of a hard graph may be too many to ask for
            try:
                return accurate_modes(graph, few)
            except NotConvergedError:
                continue
    if exact or graph.n <= MEDIUM or not (has_cheap_factors(graph) or has_few_cycles(graph)):
        try:
            return _by_products(graph, count, Y, options, exact)
        except NotConvergedError:
            if not graph.is_sparse:
                raise
    pair_tol = (
        LARGE_GRAPH_RESIDUAL / 4 if options.tol is None else max(options.tol / 100, 1e-10)
    )  # for eta 0.99
    if not exact and options.tol is None:  # what takes some seconds
        count = max(3, min(count, int(_AFFORDABLE // graph.n)))
    if not exact and has_cheap_factors(graph):
        modes = inverse_lanczos_modes(graph, Y, count, pair_tol, options.watching("modes"))
        note = f"{len(modes.values)} modes, {modes.steps} products with the inverse"
        return modes.measured(graph, "factors", note)
    needed = count if exact or options.tol is not None else max(1, min(count - 1, Y.shape[1]))
    watch = options.watching("modes")
    modes = multigrid.first_pairs(graph, pair_tol, count, watch, needed).first(count)
    note = f"{len(modes.values)} modes, LOBPCG {modes.steps} steps"
    return modes.measured(graph, "multigrid", note)


def _by_products(
    graph: Graph, count: int, Y: Array, options: SolverOptions, exact: bool
) -> Eigenpairs:
    """Find the modes that stand clear; on huge graphs without a basis that grows with restarts."""
    (dtype, tol), watch = dtype_and_tolerance(graph, options), options.watching("modes")
    if graph.n > HUGE:
        modes = leading_modes(graph, Y, count, dtype, probe_steps(graph), watch)
        modes = modes.first(count_reliable(modes.values))
    else:
        strict = (exact or options.tol is not None) and dtype == "float64"
        residual = max(tol / 100, 1e-10) if strict else None
        with threads.single_blas:
            modes = block_lanczos_modes(graph, Y, count, dtype, watch, residual)
    return modes.measured(graph, "krylov", f"{len(modes.values)} modes, {modes.steps} products")


@singledispatch
def accurate_modes(graph: Graph, count: int) -> Eigenpairs:
    """Return as many modes as asked for, to many digits.

    And all that are tiny: what is left to products is not to have an eigenvalue that they miss.
    """
    found = eigenpairs(graph, count + 1)
    while found.values[-1] < TINY and count < min(MOST_TINY, graph.n // 8):
        count = min(max(4 * count, 16), MOST_TINY, graph.n // 8)
        found = eigenpairs(graph, count + 1)
    return found.nontrivial().measured(graph, "eigenpairs", f"{len(found.values) - 1} modes")


def participation_ratios(graph: Graph, vectors: Array) -> Array:
    """Return the participation ratio of each mode: the share of the volume on which it lives.

    1 where it is of the same size everywhere; the share of the smaller side where it has two.
    """
    squares = (vectors / graph.v0[:, None]) ** 2
    return np.asarray(1.0 / graph.inner(graph.v0**2, squares**2))


def check_residual(residual: float, tol: float, modes: Eigenpairs) -> None:
    """Refuse an answer that misses its tolerance by more than the modes of large graphs may.

    Modes of few digits are those of graphs where more would take minutes.
    """
    most = max(10 * tol, LARGE_GRAPH_RESIDUAL, min(_FEW_DIGITS * modes.residual, multigrid.USEFUL))
    if not residual <= most:
        raise NotConvergedError(
            f"The answer with lifted modes has a residual of {residual:.1e} ({modes.method}: "
            f"{modes.note}); at most {most:.0e} is accepted. Lower eta or n_modes, "
            "or bring the weights to a common scale."
        )


class LiftedFilters:
    """Spectral filters with lifted modes on one graph: a number of modes and a gamma for each.

    Parameters
    ----------
    graph : Graph
    modes : Eigenpairs
    n_modes : sequence of int
        Of every model.
    gammas : sequence of float
    exact : bool
        Whether answers at some nodes are to have many digits; else they are those of polynomials of
        bounded degree in single precision, by which candidates are weighed.
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

    @cached_property
    def _deflated(self) -> DeflatedOperator:
        """``L_N`` with the known modes deflated, in the precision of the answer."""
        return self._deflate(dtype_and_tolerance(self.graph, self._options)[0])

    @cached_property
    def _deflated_single(self) -> DeflatedOperator:
        """The same in single precision if it holds the degrees, to weigh candidates."""
        single = dtype_and_tolerance(self.graph, replace(self._options, dtype="float32"))[0]
        same = dtype_and_tolerance(self.graph, self._options)[0] == single
        return self._deflated if same else self._deflate(single)

    @property
    def _correctable(self) -> bool:
        """Whether what modes of few digits leave is to be put right, or can be without a solve."""
        return self._exact or self._deflated.degree(self.gammas, _CLOSE) <= MAX_DEGREE

    def _deflate(self, dtype: str) -> DeflatedOperator:
        modes, watch = self.modes, self._options.watching("candidates")
        return DeflatedOperator(self.graph, modes.vectors, modes.spectrum_floor, dtype, watch)

    def answer_off_modes(
        self, nodes: NDArray[Any], B: Array, tol: float, *, near: bool = False
    ) -> Array:
        """Return every model's answer off the modes at some nodes: (models, nodes, columns).

        What is `near` comes first: the degree is as low as witnesses of a label need it.
        """
        gammas, where = np.unique(self.gammas, return_inverse=True)
        each = np.eye(len(gammas))
        if self._exact:
            rest = self._deflated.solve_combined_at(nodes, B, gammas, tol, each)
        else:
            step = B.shape[1] * (self.graph.entries + 8.0 * self.graph.n)
            most = _NEAR if near else int(np.clip(_WORK / step, _NEAR, MAX_WEIGHING_DEGREE))
            rest = self._deflated_single.solve_combined_at(nodes, B, gammas, tol, each, most)
        return np.asarray(self.gammas[:, None, None] * rest[where])

    def answer(self, Y: Array, coefficients: Array, tol: float) -> tuple[Array, float, int]:
        """Return sums of the models' answers, (sums, N, columns), with residual and steps."""
        with threads.single_blas:
            return self._answer(Y, coefficients, tol)

    def _answer(self, Y: Array, coefficients: Array, tol: float) -> tuple[Array, float, int]:
        V, weights = self.modes.vectors, coefficients @ self.weights
        known = self.graph.inner(V, Y)
        # Tiny modes come last, and are not measured: products do not resolve them, and what they
        # leave in a product is rounding divided by their gamma.
        tiny = int(np.searchsorted(self.modes.values, TINY))
        residual, steps = 0.0, 0
        if self.complete:
            found = np.zeros((len(coefficients), *Y.shape))
        else:
            gammas, shares = self._by_gamma(coefficients)
            found, residual, steps = self._deflated.solve_combined(Y, gammas, shares, tol)
        for k, w in enumerate(weights):
            found[k] += V[:, tiny:] @ (w[tiny:, None] * known[tiny:])
        measured = self._residual(found, Y, coefficients, tiny)
        if (
            not self.complete
            and measured > max(10 * tol, LARGE_GRAPH_RESIDUAL)
            and self._correctable
        ):
            modes, of_modes = (self.modes.values[tiny:], V[:, tiny:]), self.weights[:, tiny:]
            found -= coupling_error(self._deflated, modes, of_modes, self.gammas, Y, coefficients)
            measured = self._residual(found, Y, coefficients, tiny)
        if tiny:
            for k, w in enumerate(weights):
                found[k] += V[:, :tiny] @ (w[:tiny, None] * known[:tiny])
        return found, max(residual, measured), steps

    def answer_own_columns(
        self, nodes: NDArray[Any], columns: Array, models: NDArray[Any], tol: float
    ) -> Array:
        """Return the sum of some models' answers, each to label columns of its own.

        Off the modes the models are taken for multiples of one of them.

        Parameters
        ----------
        columns : ndarray, shape (models, len(nodes), K)
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
        rest, _, _ = self._deflated.solve_combined(B, np.array([pole]), np.array([[pole]]), tol)
        return np.asarray(found + rest[0])

    def rounding(self, Y: Array, coefficients: Array, sums: Array) -> float:
        """Return what rounding of the tiny modes leaves in sums of answers, relative to each."""
        tiny = int(np.searchsorted(self.modes.values, TINY))
        V, weights = self.modes.vectors[:, :tiny], (coefficients @ self.weights)[:, :tiny]
        return max(
            rounding_of_modes(self.graph, V, w, Y, f) for w, f in zip(weights, sums, strict=True)
        )

    def _by_gamma(self, coefficients: Array) -> tuple[Array, Array]:
        """Return the different gammas, and their shares in sums of models off the known modes."""
        gammas, where = np.unique(self.gammas, return_inverse=True)
        shares = np.zeros((len(coefficients), len(gammas)))
        for k, column in enumerate(where):
            shares[:, column] += coefficients[:, k] * self.gammas[k]
        return gammas, shares

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

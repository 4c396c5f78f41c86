"""Solve ``(L_N - gamma I) x = b`` with the first modes deflated, for many gammas at once.

What the first modes know is answered in closed form elsewhere (`robustgc.linalg.filters`). Off them
the spectrum begins higher, and one Chebyshev recurrence, ``T_k(L_N) b``, answers every gamma: only
the coefficients differ. Where it would take too long, multigrid solves for one gamma after the
other.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.graph import threads
from robustgc.graph.graph import Graph
from robustgc.graph.laplacian import operator
from robustgc.graph.weights import Array
from robustgc.linalg import factors, multigrid
from robustgc.linalg.cg import solve_shifted
from robustgc.linalg.ordering import numbered
from robustgc.linalg.solution import NotConvergedError, Solution, Watch, ignore_progress

MAX_DEGREE = 500  # steps of the recurrence; where more are needed multigrid is the better bet
_GROWTH = 1e3  # what rounding may grow along the modes before it is taken out again
_COLUMNS = 16  # of a block: a row of values is a line of the cache
_FEW = 100  # steps that take less time than factors where these fill in little
_MOST = 12_000  # steps of it, where there is no multigrid
_EXACT = 1e-5  # tolerance up to which a solve may take minutes
_SMALLER = 30_000  # nodes up to which it takes seconds
_FITTED = 5e-3  # error of sums that are made of some gammas


class DeflatedOperator:
    """``L_N`` with v0 and some eigenvectors deflated: its restriction to their complement.

    Its eigenvalues are at least the floor; its recurrence works in the precision `dtype`.
    """

    def __init__(
        self, graph: Graph, V: Array, floor: float, dtype: str, watch: Watch = ignore_progress
    ) -> None:
        self._numbering, self._watch = numbered(graph), watch
        self.graph, self.floor, self.dtype = self._numbering.graph, floor, np.dtype(dtype)
        self._L = operator(self.graph, dtype)
        self._off = np.column_stack([self.graph.v0, self._numbering.to(V)]).astype(self.dtype)
        low, top = 0.999 * floor, self.graph.top
        self._centre, self._half = (top + low) / 2, (top - low) / 2
        growth = float(np.arccosh(max(self._centre / self._half, 1 + 1e-12)))  # of v0, a step
        self._clean = max(1, int(np.log(_GROWTH) / growth))

    def solve_combined_at(
        self,
        nodes: NDArray[Any],
        B: Array,
        gammas: Array,
        tol: float,
        coefficients: Array,
        most: int | None = None,
    ) -> Array:
        """Return sums of x as in `solve_combined`, at some nodes only: (sums, nodes, columns).

        With `most`, of a polynomial of at most that degree: where more would be needed for the
        tolerance, it is the best filter that can be had for it.
        """
        degree = self.degree(gammas, tol)
        if most is not None:
            degree = min(degree, most)
        elif degree > MAX_DEGREE:
            sums = self.solve_combined(B, gammas, coefficients, tol)[0]
            return np.stack([self.graph.at(x, nodes) for x in sums])
        nodes, B = self._numbering.nodes(nodes), self._numbering.to(B)
        series = coefficients @ self._chebyshev_series(gammas, degree)
        found = np.empty((len(series), len(nodes), B.shape[1]))
        nothing, no_shares = np.empty((0, 0, 0), self.dtype), np.empty((0, degree + 1))
        with threads.single_blas:
            for part in self._blocks(B.shape[1]):
                each = self._recurrence(B[:, part], no_shares, nothing)
                terms = np.stack([self.graph.at(x, nodes) for x in each])
                found[:, :, part] = np.tensordot(series, terms, axes=1)
        return found

    def solve_combined(
        self, B: Array, gammas: Array, coefficients: Array, tol: float
    ) -> tuple[Array, float, int]:
        """Return linear combinations of the solutions for all gammas, their residual, the steps.

        The coefficients have a row for every combination.
        """
        used = coefficients.any(axis=0)
        gammas, coefficients = gammas[used], coefficients[:, used]
        degree = self.degree(gammas, tol)
        cheap = degree > _FEW and factors.has_cheap_factors(self.graph)
        # From 0 on nothing is off the modes: multigrid would need them.
        if (self.floor > 0 and (cheap or degree > MAX_DEGREE)) and (
            self.graph.is_sparse or (self.graph.is_here and degree > _MOST)
        ):
            return self._by_multigrid(B, gammas, tol, coefficients)
        if degree > _MOST:
            raise NotConvergedError(
                f"Solving beyond the known eigenvectors (values from {self.floor:.1e} "
                f"on) needs {degree} products with the graph; at most {_MOST} are made. Lower eta, "
                "ask for more modes, or use affinity='knn', landmarks= or another sigma."
            )
        shares = coefficients @ self._chebyshev_series(gammas, degree)
        B, found = self._numbering.to(B), np.empty((len(coefficients), *B.shape))
        with threads.single_blas:
            for part in self._blocks(B.shape[1]):
                sums = np.zeros((len(coefficients), *B[:, part].shape), self.dtype)
                deque(self._recurrence(B[:, part], shares, sums), maxlen=0)
                for k, total in enumerate(sums):
                    found[k, :, part] = self._numbering.back(self._project(total))
        return found, self._bound(gammas, degree), degree

    def _blocks(self, columns: int) -> list[slice]:
        return [slice(k, k + _COLUMNS) for k in range(0, columns, _COLUMNS)] or [slice(0, 0)]

    def _project(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(x - self._off @ self.graph.inner(self._off, x))

    def _position(self, gammas: Array) -> Array:
        """Return how far the poles are from the spectrum, which lies within 1 of 0."""
        return np.asarray(np.maximum((self._centre - gammas) / self._half, 1 + 1e-15))

    def degree(self, gammas: Array, tol: float) -> int:
        """Return the Chebyshev degree that reaches a residual for all gammas."""
        s = float(self._position(gammas.max(initial=-1.0)))
        root = np.sqrt(s * s - 1)
        rate = 1 / (s + root)
        # What the terms left out add to the residual at both ends of the spectrum, rate^degree.
        ends = 2 * rate / root * max((s - 1) / (1 - rate), (s + 1) / (1 + rate))
        return max(2, int(np.ceil(np.log(tol / ends) / np.log(rate))))

    def _chebyshev_series(self, gammas: Array, degree: int) -> Array:
        """Return the coefficients of ``1 / (lambda - gamma)``: a geometric series each."""
        s = self._position(gammas)[:, None]
        root = np.sqrt(s * s - 1)
        powers = (-1.0 / (s + root)) ** np.arange(degree + 1)
        powers[:, 0] *= 0.5
        return np.asarray(2 / (root * self._half) * powers)

    def _bound(self, gammas: Array, degree: int) -> float:
        """Return the largest residual over the spectrum of what the coefficients make."""
        angle = np.linspace(0.0, np.pi, 4 * degree + 1)
        terms = np.cos(np.arange(degree + 1)[:, None] * angle)
        inverse = self._chebyshev_series(gammas, degree) @ terms
        shifted = (self._centre + self._half * np.cos(angle)) - gammas[:, None]
        return float(np.abs(1 - shifted * inverse).max(initial=0.0))

    def _recurrence(self, B: Array, shares: Array, sums: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Give ``T_k b`` for all k; add them to the sums, each with its shares."""
        x = np.ascontiguousarray(self._project(np.asarray(B, dtype=self.dtype)))
        before = np.zeros_like(x)
        sizes = self.graph.norms(x)
        yield x
        for k, share in enumerate(shares[:, 0]):
            sums[k] += self.dtype.type(share) * x
        factors = np.array([1.0, -self._centre, 0.0]) / self._half
        last, added = shares.shape[1] - 1, 0
        for k in range(1, last + 1):
            if len(sums) and (k - added == 3 or k == last):  # those not added yet, newest first
                now = np.zeros((3, len(sums)))
                now[: k - added], added = shares[:, k:added:-1].T, k
                self._L.chebyshev(x, before, factors, now, sums)
            else:
                self._L.chebyshev(x, before, factors)
            x, before = before, x
            if k % self._clean == 0:
                x, before = (np.ascontiguousarray(self._project(y)) for y in (x, before))
                self._watch(k, np.nan, last + 1)
            yield x
            factors = np.array([2 / self._half, -2 * self._centre / self._half, -1.0])
        grown = self.graph.norms(self._project(x))
        if (grown > 1.1 * sizes + 1e-300).any():
            raise NotConvergedError(
                f"An eigenvalue below {self.floor:.2e} was missed: the Chebyshev "
                "iteration diverged, vectors grew "
                f"{float((grown / np.maximum(sizes, 1e-300)).max()):.1e} times. "
                "Give a smaller tol, use dtype='float64', or remove very weak edges."
            )

    def _by_multigrid(
        self, B: Array, gammas: Array, tol: float, coefficients: Array
    ) -> tuple[Array, float, int]:
        """Solve by conjugate gradients with multigrid, for one gamma after the other.

        Of many gammas some are solved for: off the modes the sums are nearly sums of these.
        """
        off, b = np.asarray(self._off, dtype=float), self._numbering.to(B).astype(float)
        b -= off @ self.graph.inner(off, b)
        poles, shares = self._poles(gammas, coefficients)
        sums, x = np.zeros((len(coefficients), *b.shape)), np.zeros_like(b)
        residual, steps = 0.0, 0
        for pole, share in zip(poles, shares.T, strict=True):
            solution = self._solved(b, float(pole), x, tol, off)
            x = solution.f
            residual, steps = max(residual, solution.residual), max(steps, solution.n_iter)
            self._watch(steps, residual, np.inf)
            for k, weight in enumerate(share):
                sums[k] += weight * x
        return np.stack([self._numbering.back(total) for total in sums]), residual, steps

    def _solved(self, b: Array, gamma: float, start: Array, tol: float, off: Array) -> Solution:
        if factors.has_cheap_factors(self.graph):
            try:
                return factors.solve_by_factors(self.graph, b, gamma, tol, off)
            except NotConvergedError:
                pass  # conjugate gradients have more patience
        patient = tol <= _EXACT or self.graph.n <= _SMALLER
        if self.graph.is_sparse:
            try:
                return multigrid.solve_by_multigrid(
                    self.graph, b, gamma, start, tol, off, patient=patient
                )
            except NotConvergedError as failure:
                if not self.graph.is_here or not patient:
                    raise NotConvergedError(
                        f"The system off the first modes was not solved: {failure}. Lower eta, or "
                        "remove very weak edges."
                    ) from failure
        return solve_shifted(self.graph, b, -gamma, off=off, tol=tol)

    def _poles(self, gammas: Array, coefficients: Array) -> tuple[Array, Array]:
        """Return the gammas to solve for, and what each counts in the sums.

        A sum with one gamma keeps it. The others, ``sum_k m_k / (lambda - gamma_k)``, are fitted
        over the spectrum by a few of the gammas, to `_FITTED`: always the one that helps most.
        """
        used = np.flatnonzero(coefficients.any(axis=0))
        spectrum = np.geomspace(0.999 * self.floor, self.graph.top, 400)[:, None]
        terms = 1 / (spectrum - gammas)
        chosen = sorted(
            {int(row.nonzero()[0][0]) for row in coefficients if np.count_nonzero(row) == 1}
        )
        while len(chosen) < len(used):
            tried = [
                (*_fitted(terms, coefficients, some), some)
                for k in used
                if k not in chosen and (some := sorted([*chosen, int(k)]))
            ]
            error, shares, chosen = min(tried, key=lambda fit: fit[0])
            if error <= _FITTED:
                return gammas[chosen], shares
        return gammas[used], coefficients[:, used]


def _fitted(terms: Array, coefficients: Array, some: list[int]) -> tuple[float, Array]:
    """Return the largest relative error of the sums as sums of some terms, and their shares."""
    shares, worst = np.zeros((len(coefficients), len(some))), 0.0
    for k, row in enumerate(coefficients):
        if np.count_nonzero(row) <= 1:
            shares[k] = row[some]
            continue
        scaled = terms[:, some] / (terms @ row)[:, None]
        shares[k] = np.linalg.lstsq(scaled, np.ones(len(scaled)), rcond=None)[0]
        worst = max(worst, float(np.abs(scaled @ shares[k] - 1).max()))
    return worst, shares

"""Score every label by each candidate without seeing it: by class means and by regressions.

A class mean adds up what every label says by itself. A regression knows that labels close to each
other say the same, and that a label alone in its part of the graph is all that is known there.

Label columns Y have the shape (labels, K): the weight of every label in the column of its class.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg as sla

from robustgc.choice.candidates import RIDGES, Candidate
from robustgc.graph.weights import Array
from robustgc.models.label_filters import LabelFilters
from robustgc.transduction.problem import Problem

_ROUNDING = 1e-10  # of the largest value of the constant mode, in double precision
_NO_PAIRS = 1e-9  # of the largest sum over pairs of labels: less is rounding
_MOST_LABELS = 300  # with the whole kernel: the work grows with the cube of their number
_LEAST_WEIGHT = 0.05  # of a label, relative to the mean: no label has endless noise


class LabelValues:
    """Leave-one-out decision values of the candidates, those read by class means first.

    `w` are weights of the labels; class means have these times the degree weights.
    """

    values: Array  # (candidates, labels, K)
    mass_without_i: Array  # label mass m_c of every class without label i, (labels, K)
    floor: Array  # values of this size are rounding, (candidates,)
    squared_class_means: Array  # |mu_c|^2 with all labels, (candidates read by means, K)

    def __init__(
        self,
        problem: Problem,
        candidates: Sequence[Candidate],
        filters: LabelFilters,
        ridges: "Ridges | None",
        w: Array,
    ) -> None:
        own, elsewhere = w * problem.degree_weights(), problem.mass_elsewhere
        Y = problem.one_hot * own[:, None]
        self.mass_without_i = mass = Y.sum(axis=0) + elsewhere - Y
        v0 = problem.v0[:, None]
        of_constant = v0 * (problem.v0 @ Y - v0 * Y)
        read = [c for c in candidates if c.is_filter]
        place = np.array([filters.pairs.index((c.n_modes, c.eta)) for c in read], dtype=np.int64)
        constant = np.array([c.constant for c in read])[:, None, None]
        answers = filters.leave_one_out(Y)
        self.floor = np.full(len(candidates), _ROUNDING * np.abs(of_constant).max(initial=0.0))
        self.floor[: len(read)] += filters.rounding()[place]
        means, means_without_i = squared_class_means(answers, Y, elsewhere)
        whole = Y.sum(axis=0) + elsewhere
        self.squared_class_means = means[place] + constant[:, 0] * _constant_means(problem, whole)
        self.values = answers[place] + constant * of_constant
        centred = np.array([c.centred for c in read])
        if centred.any():
            squared = means_without_i[place[centred]] + constant[centred] * _constant_means(
                problem, mass
            )
            self.values[centred] -= 0.5 * problem.sqrt_degree[:, None] * mass * squared
        if ridges is not None:
            which = ridges.places(candidates[len(read) :])
            self.values = np.concatenate([self.values, ridges.leave_one_out(w, which)])


def _constant_means(problem: Problem, mass: Array) -> Array:
    """Return ``|mu_c|^2`` of v0, which tells labels here from those in other components."""
    away = _ratio(problem.mass_elsewhere, mass, 0.0)
    usual = problem.graph.usual_degree / problem.graph.volume
    return np.asarray(usual * (away**2 + (1 - away) ** 2))


def squared_class_means(F: Array, Y: Array, mass_elsewhere: Array) -> tuple[Array, Array]:
    """Return ``|mu_c|^2`` with all labels, (filters, K), and without each, (filters, labels, K).

    ``sum_{i != j} Y_ic K_ij Y_jc / sum_{i != j} Y_ic Y_jc``, times the square of the share of the
    class's mass that is in this component: labels elsewhere have nothing in common with those here.
    F are leave-one-out answers ``sum_{j != i} K_ij Y_jc``, shape (filters, labels, K).
    """
    here = Y.sum(axis=0)
    mass_without_i = here + mass_elsewhere - Y
    here_without_i = mass_without_i - mass_elsewhere
    products, pairs = Y * F, Y * here_without_i
    total, count = products.sum(axis=1), pairs.sum(axis=0)
    least = _NO_PAIRS * pairs.max(initial=0.0)
    with_all = _ratio(total, count, least) * _ratio(here, here + mass_elsewhere, 0.0) ** 2
    without_i = _ratio(total[:, None] - 2 * products, count - 2 * pairs, least)
    return with_all, without_i * _ratio(here_without_i, mass_without_i, 0.0) ** 2


def _ratio(a: Array, b: Array, least: float) -> Array:
    """Return a / b, and 0 where b is next to nothing."""
    return np.asarray(np.where(b > least, a / np.where(b > least, b, 1.0), 0.0))


class Ridges:
    """Regressions ``F = K (K_LL + s S)^-1 T`` with the kernels K of lifted filters.

    T are the one-hot labels less the weighted share of every class, S is diagonal with
    ``mean(w) / w_i``. For ``s -> infinity`` this is the filter, for ``s -> 0`` it passes through
    the labels. There is one for every lifted filter and every s in `RIDGES`. With many labels, K is
    the part of the kernel that the first modes make, as many as the filters lift at most.

    Weights w of the labels are sample weights times what the label posteriors give; the degree
    weights are part of the kernel.
    """

    def __init__(self, problem: Problem, filters: LabelFilters) -> None:
        self._problem, self._filters = problem, filters
        self._which = np.flatnonzero(filters.etas > 0)
        self.count = len(self._which) * len(RIDGES)
        own = problem.degree_weights()[:, None]
        weights, V = filters.mode_weights[self._which], filters.V
        # The constant v0 counts as a lifted mode.
        self._dual = filters.kernel is not None and len(own) <= _MOST_LABELS
        if self._dual:
            assert filters.kernel is not None
            K = filters.kernel[self._which] + np.outer(problem.v0, problem.v0)
            K *= own * own.T
            self._sizes = np.einsum("kii->k", K) / len(own)
            self._kernels = K / self._sizes[:, None, None]
        else:
            self._most = most = int(filters.filters.n_modes.max())
            self._rows = own * np.column_stack([problem.v0, V[:, :most]])
            weights = np.column_stack([np.ones(len(weights)), weights[:, :most]])
            self._sizes = weights @ np.einsum("ir,ir->r", self._rows, self._rows) / len(own)
            self._roots = np.sqrt(weights / self._sizes[:, None])
        self._solved: tuple[Array, dict[int, tuple[Array, Array]]] | None = None

    def places(self, candidates: Sequence[Candidate]) -> list[int]:
        """Return which of the regressions every candidate is."""
        pairs = ((k, s) for k in self._which for s in RIDGES)
        known: list[Any] = [(*self._filters.pairs[k], s) for k, s in pairs]
        return [known.index((c.n_modes, c.eta, c.ridge)) for c in candidates]

    def leave_one_out(self, w: Array, which: Sequence[int]) -> Array:
        """Return some regressions at every label without it, (which, labels, K).

        ``T_i - [P T]_i / P_ii`` with ``P = (K_LL + s S)^-1``.
        """
        targets, solved = self._targets(w), [self._solve(w, r) for r in which]
        answers = [targets - solution / diagonal[:, None] for solution, diagonal in solved]
        return np.asarray(answers).reshape(len(answers), *targets.shape)

    def answer(self, w: Array, coefficients: Array, tol: float) -> Array:
        """Return the sum of the regressions with some coefficients at all nodes, (N, K)."""
        problem, own, which = self._problem, self._problem.degree_weights()[:, None], self._which
        columns = np.zeros((len(which), *problem.one_hot.shape))
        for r in np.flatnonzero(coefficients).tolist():
            k = r // len(RIDGES)
            columns[k] += coefficients[r] / self._sizes[k] * own * self._solve(w, r)[0]
        constant = np.outer(problem.graph.v0, problem.v0 @ columns.sum(axis=0))
        filters = self._filters
        if self._dual:
            columns *= filters.scales[which, None, None]
            off = filters.filters.answer_own_columns(problem.nodes, columns, which, tol)
            return np.asarray(constant + off)
        V, weights = filters.V[:, : self._most], filters.mode_weights[which, : self._most]
        on_modes = np.einsum("kr,krc->rc", weights, V.T @ columns)
        return np.asarray(constant + filters.filters.modes.vectors[:, : self._most] @ on_modes)

    def _targets(self, w: Array) -> Array:
        one_hot = self._problem.one_hot
        return np.asarray(one_hot - w @ one_hot / w.sum())

    def _solve(self, w: Array, r: int) -> tuple[Array, Array]:
        """Return ``P T`` and the diagonal of P of a regression; those of the last w are kept."""
        if self._solved is None or not np.array_equal(self._solved[0], w):
            self._solved = w, {}
        known = self._solved[1]
        if r not in known:
            k, s = r // len(RIDGES), RIDGES[r % len(RIDGES)]
            noise = s / np.maximum(w / w.mean(), _LEAST_WEIGHT)
            if self._dual:
                known[r] = _dual(self._kernels[k], noise, self._targets(w))
            else:
                known[r] = _primal(self._rows * self._roots[k], noise, self._targets(w))
        return known[r]


def _dual(K: Array, noise: Array, targets: Array) -> tuple[Array, Array]:
    """Return ``P targets`` and the diagonal of P for ``P = (K + diag(noise))^-1``.

    A kernel that is a polynomial of bounded degree, on grids and trees, may have eigenvalues below
    0: these are taken for 0.
    """
    try:
        factor = sla.cho_factor(K + np.diag(noise), lower=True, check_finite=False)
    except sla.LinAlgError:
        values, vectors = sla.eigh(K)
        K = (vectors * np.maximum(values, 0.0)) @ vectors.T
        factor = sla.cho_factor(K + np.diag(noise), lower=True, check_finite=False)
    solution = sla.cho_solve(factor, targets, check_finite=False)
    inverse, _ = sla.lapack.dpotri(factor[0], lower=1, overwrite_c=1)
    return np.asarray(solution), np.asarray(inverse.diagonal())


def _primal(Z: Array, noise: Array, targets: Array) -> tuple[Array, Array]:
    """Return the same for ``K = Z Z'``, by the identity of Woodbury: for more labels than modes."""
    X = Z / noise[:, None]
    inverse = sla.inv(np.eye(Z.shape[1]) + Z.T @ X)
    solution = targets / noise[:, None] - X @ (inverse @ (X.T @ targets))
    return solution, 1.0 / noise - np.einsum("ij,ij->i", X @ inverse, X)

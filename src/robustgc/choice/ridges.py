"""Ridge regressions of the labels, with closed leave-one-out forms.

A filter adds up what every label says by itself. A regression knows that labels close to each other
say the same, and that a label alone in its part of the graph is all that is known there.

Both classes here answer ``F = sum_r c_r F_r`` for label weights w of shape (labels,), which are the
sample weights times the weights that the label posteriors give. The degree weights are part of the
rows, so that w does not have them.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.linalg as sla

from robustgc.choice.candidates import Regression
from robustgc.choice.kernels import LabelFilters
from robustgc.choice.problem import Problem
from robustgc.lifted import Modes
from robustgc.weights import Array

# By trials on drawn graphs and public data, docs/decisions.md.
MOST_LABELS = 300  # for which there are kernel ridges: the work grows with their cube
_ETAS = (0.5, 0.99)  # of the kernels: the filters between lie between
_RIDGES = (1.0, 0.1)  # relative to the mean of the kernel's diagonal
_LEAST_WEIGHT = 0.05  # of a label, relative to the mean: no label has endless noise
_SHRINKAGE = 3.0  # of a mode; its sum of squares over the labels is about their number
_CONSTANT_SHRINKAGE = 1e-6  # of the constant, as a share of the number of labels


class KernelRidges:
    """Ridge regressions ``F = K (K_LL + s S)^-1 T`` with the kernels K of lifted filters.

    T are the one-hot labels less the weighted share of every class, S is diagonal with
    ``mean(w) / w_i``. For ``s -> infinity`` this is the filter, for ``s -> 0`` it passes through
    the labels. There is one for every filter whose eta is in `_ETAS` and every s in `_RIDGES`.

    Parameters
    ----------
    problem : Problem
    label_filters : LabelFilters
        Of the problem's labels, with the kernel between them.
    """

    def __init__(self, problem: Problem, label_filters: LabelFilters) -> None:
        self._problem, self._label_filters = problem, label_filters
        self._which = np.flatnonzero(np.isin(label_filters.etas, _ETAS))
        self.members: tuple[Regression, ...] = tuple(
            (*label_filters.pairs[k], s) for k in self._which for s in _RIDGES
        )
        self._degree_weights = problem.degree_weights()
        # The constant v0 counts as a lifted mode.
        kernels = label_filters.kernels(self._which) + np.outer(problem.v0, problem.v0)
        kernels *= np.outer(self._degree_weights, self._degree_weights)
        self._sizes = np.einsum("kii->k", kernels) / len(problem.nodes)
        self._kernels = kernels / self._sizes[:, None, None]
        self._solved: tuple[Array, list[tuple[Array, Array, Array]]] | None = None

    def for_labels(self, problem: Problem, label_filters: LabelFilters) -> "KernelRidges":
        """Return the same regressions of other labels."""
        return KernelRidges(problem, label_filters.at_nodes(problem.nodes))

    def leave_one_out(self, w: Array) -> list[Array]:
        """Return every regression at every label without it, (labels, K) each.

        ``T_i - [P T]_i / P_ii`` with ``P = (K_LL + s S)^-1``.
        """
        targets = self._targets(w)
        return [targets - a / diagonal[:, None] for _, a, diagonal in self._solve(w)]

    def at_labels(self, w: Array) -> list[Array]:
        """Return every regression at the labels with all of them, (labels, K) each."""
        return [K @ a for K, a, _ in self._solve(w)]

    def answer(self, w: Array, coefficients: Array, tol: float) -> Array:
        """Return the sum of the regressions with some coefficients at all nodes, (N, K)."""
        each = [c * a for c, (_, a, _) in zip(coefficients, self._solve(w), strict=True)]
        columns = np.stack(each) * self._degree_weights[:, None]
        columns = columns.reshape(len(self._which), len(_RIDGES), *columns.shape[1:]).sum(axis=1)
        columns /= self._sizes[:, None, None]
        problem, filters, which = self._problem, self._label_filters.filters, self._which
        constant = np.outer(problem.graph.v0, problem.v0 @ columns.sum(axis=0))
        columns *= self._label_filters.scales[which, None, None]
        return constant + filters.own_columns(problem.nodes, columns, which, tol)

    def _targets(self, w: Array) -> Array:
        one_hot = self._problem.one_hot
        return np.asarray(one_hot - w @ one_hot / w.sum())

    def _solve(self, w: Array) -> list[tuple[Array, Array, Array]]:
        """Return kernel, ``P T`` and the diagonal of P of every regression; the last are kept."""
        if self._solved is None or not np.array_equal(self._solved[0], w):
            targets, noise = self._targets(w), 1.0 / np.maximum(w / w.mean(), _LEAST_WEIGHT)
            solved = [
                (K, *_solve_with_diagonal(K, s * noise, targets))
                for K in self._kernels
                for s in _RIDGES
            ]
            self._solved = w, solved
        return self._solved[1]


def _solve_with_diagonal(K: Array, noise: Array, targets: Array) -> tuple[Array, Array]:
    """Return ``M^-1 targets`` and the diagonal of ``M^-1`` for ``M = K + diag(noise)``.

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


class ModeRidges:
    """Ridge regressions on the first q modes, for some q: BelkinGC's idea, a little shrunk.

    ``c = (X' W X + P)^-1 X' W T`` with ``X = sqrt(N) [v0, v_1 .. v_q]`` at the labels, times the
    degree weights, ``W = diag(w)``, a diagonal penalty P, and T the one-hot labels less 1 / K. The
    cost grows with the number of labels, not with its cube. It pays where there are more labels
    than modes.

    Parameters
    ----------
    problem : Problem
    modes : Modes
    numbers : sequence of int
        The q; none where there is no regression.
    """

    def __init__(self, problem: Problem, modes: Modes, numbers: Sequence[int] = ()) -> None:
        self._graph, self._modes = problem.graph, modes
        self.members: tuple[Regression, ...] = tuple((q, None, None) for q in numbers)
        most = max(numbers, default=0)
        V = problem.graph.at(modes.vectors[:, :most], problem.nodes)
        rows = np.column_stack([problem.v0, V])
        self._X = np.sqrt(problem.graph.n) * problem.degree_weights()[:, None] * rows
        self._T = problem.one_hot - 1.0 / problem.n_classes

    def for_labels(self, problem: Problem, _: LabelFilters) -> "ModeRidges":
        """Return the same regressions of other labels."""
        return ModeRidges(problem, self._modes, [q for q, _, _ in self.members])

    def leave_one_out(self, w: Array) -> list[Array]:
        """Return every regression at every label without it, (labels, K) each.

        ``(F_i - h_i T_i) / (1 - h_i)`` with ``h_i = w_i x_i' (X' W X + P)^-1 x_i``.
        """
        found = []
        for X, inverse, c in self._solve(w):
            h = (np.einsum("ij,ij->i", X @ inverse, X) * w)[:, None]
            found.append((X @ c - h * self._T) / (1.0 - h))
        return found

    def at_labels(self, w: Array) -> list[Array]:
        """Return every regression at the labels with all of them, (labels, K) each."""
        return [X @ c for X, _, c in self._solve(w)]

    def answer(self, w: Array, coefficients: Array, tol: float) -> Array:
        """Return the sum of the regressions with some coefficients at all nodes, (N, K)."""
        total = np.zeros((self._X.shape[1], self._T.shape[1]))
        for coefficient, (_, _, c) in zip(coefficients, self._solve(w), strict=True):
            total[: len(c)] += coefficient * c
        total *= np.sqrt(self._graph.n)
        on_modes = self._modes.vectors[:, : len(total) - 1] @ total[1:]
        return np.asarray(np.outer(self._graph.v0, total[0]) + on_modes)

    def _solve(self, w: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Yield X, ``(X' W X + P)^-1`` and c of every regression."""
        weighted = self._X * w[:, None]
        squares, products = weighted.T @ self._X, weighted.T @ self._T
        penalty = np.full(len(squares), _SHRINKAGE)
        penalty[0] = _CONSTANT_SHRINKAGE * len(w)
        squares += np.diag(penalty)
        for q, _, _ in self.members:
            inverse = sla.inv(squares[: q + 1, : q + 1])
            yield self._X[:, : q + 1], inverse, inverse @ products[: q + 1]


Regressions = KernelRidges | ModeRidges

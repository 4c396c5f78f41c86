"""Decision values of candidates at the labels, with all labels and without each.

Label columns Y have the shape (labels, K): the weight of every label in the column of its class.
Values have the shape (candidates, labels, K).
"""

from collections.abc import Sequence

import numpy as np

from robustgc.choice.candidates import Candidate
from robustgc.choice.kernels import LabelFilters
from robustgc.choice.problem import Problem
from robustgc.choice.ridges import Regressions
from robustgc.weights import Array

_ROUNDING = 1e-10  # of the largest value of the constant mode, in double precision
_NO_PAIRS = 1e-9  # of the largest sum over pairs of labels: less is rounding


class LabelValues:
    """Decision values of some candidates, filters first, for given weights of the labels.

    Regressions have the weights ``w`` (labels,), filters ``w * degree_weights``.

    Attributes
    ----------
    mass, mass_without_i : ndarray, shape (labels, K)
        Label mass ``m_c`` of every class, with all labels and without label i.
    floor : float
        Values of this size are rounding.
    squared_class_means : ndarray, shape (filters + 1, K)
        ``|mu_c|^2`` with all labels, of every filter and of v0 last; known after `leave_one_out`.
    """

    def __init__(
        self,
        problem: Problem,
        candidates: Sequence[Candidate],
        filters: LabelFilters,
        regressions: Regressions,
        w: Array,
        degree_weights: Array,
    ) -> None:
        self._problem, self._filters, self._regressions, self._w = problem, filters, regressions, w
        self._Y = Y = problem.one_hot * (w * degree_weights)[:, None]
        total = Y.sum(axis=0) + problem.mass_elsewhere
        self.mass, self.mass_without_i = np.broadcast_to(total, Y.shape), total - Y
        v0 = problem.v0[:, None]
        self._constant_answers = v0 * (problem.v0 @ Y)
        self._constant_without_i = v0 * (problem.v0 @ Y - v0 * Y)
        self.floor = _ROUNDING * float(np.abs(self._constant_without_i).max(initial=0.0))
        lifted = [c for c in candidates if c.is_filter]
        self._which, self._place = np.unique(filters.places(lifted), return_inverse=True)
        self._constant = np.array([c.constant for c in lifted])[:, None, None]
        self._centred = np.array([c.centred for c in lifted])
        others = candidates[len(lifted) :]
        self._others = [regressions.members.index((c.n_modes, c.eta, c.ridge)) for c in others]
        self.squared_class_means = np.zeros((len(filters.pairs) + 1, problem.n_classes))

    def leave_one_out(self) -> Array:
        """Return the values at every label without it."""
        answers, mass = self._filters.leave_one_out(self._Y, self._which), self.mass_without_i
        means, means_without_i = squared_class_means(answers, self._Y, self._problem.mass_elsewhere)
        self.squared_class_means[self._which] = means
        self.squared_class_means[-1] = self._constant_means(self.mass[0])
        constant, constant_means = self._constant_without_i, self._constant_means(mass)
        values = self._compared(answers, constant, mass, means_without_i, constant_means)
        regressed = self._regressions.leave_one_out(self._w)
        return np.concatenate([values, *(regressed[r][None] for r in self._others)])

    def at_labels(self) -> Array:
        """Return the values with all labels."""
        answers, means = self._filters.at_labels(self._Y, self._which), self.squared_class_means
        of_filters = means[self._which][:, None]
        values = self._compared(answers, self._constant_answers, self.mass, of_filters, means[-1])
        regressed = self._regressions.at_labels(self._w)
        return np.concatenate([values, *(regressed[r][None] for r in self._others)])

    def _compared(
        self, answers: Array, constant: Array, mass: Array, means: Array, constant_means: Array
    ) -> Array:
        """Return ``F + b v0 v0' Y``, less ``sqrt_degree m |mu_c|^2 / 2`` where it is centred."""
        values = answers[self._place] + self._constant * constant
        own = self._centred
        if own.any():
            squared = means[self._place[own]] + self._constant[own] * constant_means
            values[own] -= 0.5 * self._problem.sqrt_degree[:, None] * mass * squared
        return np.asarray(values)

    def _constant_means(self, mass: Array) -> Array:
        """Return ``|mu_c|^2`` of v0, which tells labels here from those in other components."""
        away = _ratio(self._problem.mass_elsewhere, mass, 0.0)
        usual = self._problem.graph.usual_degree / self._problem.graph.volume
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

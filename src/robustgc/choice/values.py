"""Compute the candidates' leave-one-out decision values, and the class means.

Label columns Y have the shape (labels, K): the weight of every label in the column of its class.
"""

from collections.abc import Sequence

import numpy as np

from robustgc.choice.candidates import Candidate
from robustgc.choice.ridges import Ridges
from robustgc.graph.weights import Array
from robustgc.models.label_filters import LabelFilters
from robustgc.transduction.problem import Problem

_ROUNDING = 1e-10  # of the largest value of the constant mode, in double precision
_NO_PAIRS = 1e-9  # of the largest sum over pairs of labels: less is rounding


class LabelValues:
    """Leave-one-out decision values of the candidates, (candidates, labels, K).

    Parameters
    ----------
    candidates : sequence of Candidate
        Those read by class means first.
    w : ndarray, shape (labels,)
        Weights of the labels; class means have these times the degree weights.

    Attributes
    ----------
    values : ndarray, shape (candidates, labels, K)
    mass_without_i : ndarray, shape (labels, K)
        Label mass ``m_c`` of every class without label i.
    floor : ndarray, shape (candidates,)
        Values of this size are rounding.
    squared_class_means : ndarray, shape (candidates read by means, K)
        ``|mu_c|^2`` with all labels.
    """

    def __init__(
        self,
        problem: Problem,
        candidates: Sequence[Candidate],
        filters: LabelFilters,
        ridges: Ridges | None,
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

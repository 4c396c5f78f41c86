"""Candidates weighed by the labels left out of each: an ensemble instead of a choice.

No single candidate can be told from its neighbours by ten labels, so none is picked: all answer
together, each weighted by its prior times a power of the likelihood of the labels, each left out.
Labels in turn are weighted by their posterior, the probability that they are right by the others.
All answers are linear in the labels, so that the ensemble is one linear filter again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustgc.choice import likelihood
from robustgc.choice.candidates import Candidate
from robustgc.choice.kernels import LabelFilters
from robustgc.choice.problem import Problem
from robustgc.choice.ridges import Regressions
from robustgc.choice.values import LabelValues
from robustgc.weights import Array

# docs/choice.md says where they come from; the last is by the size of the cache.
ROUNDS = 3  # in which candidates are weighed; between two of them labels are
_NEGLIGIBLE = 1e-3  # of the largest weight: a lighter candidate is not scored again
_DROPPED = 0.01  # of the largest weight: a lighter candidate is not worth a solve
_CHUNK = 2e5  # values of candidates that are scored together


@dataclass(frozen=True)
class Combination:
    """The ensemble as one linear answer to label columns Y with class masses m.

    ``F = mean(m) ((K_1 Y) / m - sqrt_degree t') + K_2 Y + R`` with ``K_g = sum_k a_gk K_k + b_g v0
    v0'`` over the filters whose classes are balanced (g = 1) or not (g = 2), and R the regressions.

    Attributes
    ----------
    filters : ndarray, shape (2, filters)
        ``a_gk`` times the scale ``(1 - eta) / eta``, by which lifted modes have the weight 1.
    constant : ndarray, shape (2,)
        ``b_g``.
    half_squared_means : ndarray, shape (K,)
        ``t_c``: half of ``|mu_c|^2``, summed over the centred candidates with their coefficients.
    regressions : ndarray, shape (regressions,)
        Coefficients of the regressions.
    heaviest : int
        The lifted filter with the largest weight, all comparisons taken together.
    """

    filters: Array
    constant: Array
    half_squared_means: Array
    regressions: Array
    heaviest: int


@dataclass(frozen=True)
class Ensemble:
    """The weights of all candidates, and the posterior of every label by the others.

    Attributes
    ----------
    problem : Problem
        With the labels by which the candidates were weighed.
    candidates : tuple of Candidate
    combination : Combination
    label_weights : ndarray, shape (labels,)
        The posterior of every label divided by the mean of all, as it was in the last round.
    judged : ndarray of bool, shape (labels,)
        False for the only label of its class: without it the class is not there.
    label_posterior : ndarray, shape (labels,)
        Probability that the label is right; ``1 - eps`` for one that is not judged.
    class_probabilities : ndarray, shape (labels, K)
        Of the classes at every label when it is left out.
    sharpness : float
        What decision values are multiplied by before softmax makes them probabilities.
    """

    problem: Problem
    candidates: tuple[Candidate, ...]
    combination: Combination
    label_weights: Array
    judged: NDArray[np.bool_]
    label_posterior: Array
    class_probabilities: Array
    sharpness: float


class _Scores:
    """Leave-one-out values of all candidates and their likelihood, as they were scored last."""

    def __init__(
        self, problem: Problem, candidates: Sequence[Candidate], judged: NDArray[np.bool_]
    ) -> None:
        n, m = len(candidates), len(problem.nodes)
        self.values = np.zeros((n, m, problem.n_classes))  # standardised
        self.log_likelihood = np.zeros((n, int(judged.sum())))
        self.tau, self.noise = np.ones(n), np.zeros(n)
        self.size = np.ones(n)  # of the values before they were standardised
        self.balanced = np.array([c.balanced for c in candidates])
        self._judged, self._codes = judged, problem.codes[judged]

    def score(self, which: NDArray[Any], values: Array, mass: Array, floor: float) -> None:
        """Score some candidates, a few at a time: their values stay in cache."""
        step = max(1, int(_CHUNK // max(mass.size, 1)))
        for first in range(0, len(which), step):
            part, some = which[first : first + step], values[first : first + step]
            S, self.size[part] = likelihood.standardise(some, mass, self.balanced[part], floor)
            self.values[part] = S
            S = S if self._judged.all() else S[:, self._judged]
            fitted = likelihood.fit_noise_model(S, self._codes)
            self.log_likelihood[part], self.tau[part], self.noise[part] = fitted

    def means(self) -> tuple[Array, Array]:
        """Return accuracy and mean log-likelihood over the judged labels, by candidate."""
        if not self._judged.any():
            return np.full(len(self.tau), np.nan), np.zeros(len(self.tau))
        values = self.values if self._judged.all() else self.values[:, self._judged]
        hits = values.argmax(axis=2) == self._codes
        return hits.mean(axis=1), self.log_likelihood.mean(axis=1)


def weigh_candidates(
    problem: Problem,
    candidates: Sequence[Candidate],
    default: int,
    filters: LabelFilters,
    regressions: Regressions,
    degree_weights: Array,
    rounds: int = ROUNDS,
    earlier: Sequence[Candidate] | None = None,
) -> Ensemble:
    """Weigh candidates and labels in turn.

    Candidates are weighed so many rounds; between two of them labels are, by their posterior.
    `candidates` have their prior, filters first, and `default` is the place of one of them; those
    that are next to nothing in `earlier`, weighed by nearly the same labels, are not scored.
    """
    codes = problem.codes
    judged = np.bincount(codes, minlength=problem.n_classes)[codes] > 1
    scores = _Scores(problem, candidates, judged)
    active = np.arange(len(candidates)) if earlier is None else _not_negligible(_weights(earlier))
    prior = np.zeros(len(candidates))
    prior[active] = _weights(candidates)[active]
    label_weights = np.ones(len(codes))
    for turn in range(rounds):
        some, w = [candidates[k] for k in active.tolist()], label_weights * problem.sample_weight
        values = LabelValues(problem, some, filters, regressions, w, degree_weights)
        scores.score(active, values.leave_one_out(), values.mass_without_i, values.floor)
        weights = posterior_weights(prior, scores.log_likelihood)
        if turn < rounds - 1:
            posterior = _careful_posterior(scores, weights, codes, judged)
            label_weights, active = posterior / posterior.mean(), _not_negligible(weights)
    coefficients = np.where(weights >= _DROPPED * weights.max(), weights * scores.tau, 0.0)
    if problem.has_choice:
        # By their size with all labels: a local candidate speaks of its own labels most of all.
        every, balanced = values.at_labels(), scores.balanced[active]
        _, size = likelihood.standardise(every, values.mass, balanced, values.floor)
        coefficients[active] /= size
    accuracy, evidence = scores.means()
    numbers = np.column_stack([accuracy, evidence - evidence[default], weights]).tolist()
    weighed = tuple(
        replace(c, accuracy=row[0], evidence=row[1], weight=row[2])
        for c, row in zip(candidates, numbers, strict=True)
    )
    combination = _combined(problem, weighed, coefficients, values.squared_class_means, filters)
    judgement = _judged_labels(scores, coefficients, codes, judged)
    return Ensemble(problem, weighed, combination, label_weights, judged, *judgement)


def _weights(candidates: Sequence[Candidate]) -> Array:
    return np.array([c.weight for c in candidates])


def posterior_weights(prior: Array, log_likelihood: Array) -> Array:
    """Return ``prior * exp(POWER * total log-likelihood)``, summing to 1, shape (candidates,)."""
    total = likelihood.POWER * log_likelihood.sum(axis=1)
    weights = prior * np.exp(np.minimum(total - total[prior > 0].max(), 0.0))
    return np.asarray(weights / weights.sum())


def _not_negligible(weights: Array) -> NDArray[Any]:
    return np.flatnonzero(weights >= _NEGLIGIBLE * weights.max())


def _careful_posterior(
    scores: _Scores, weights: Array, codes: NDArray[np.int64], judged: NDArray[np.bool_]
) -> Array:
    """Return the posterior of every label by which it is weighted, shape (labels,).

    The mean of what each candidate says by its own, plain model. The ensemble's model is sharper,
    and takes a label that is alone in its part of the graph for a wrong one too readily.
    """
    posterior, heavy = np.zeros(len(codes)), _not_negligible(weights)
    for k in heavy.tolist():
        p, eps = likelihood.softmax(scores.tau[k] * scores.values[k]), scores.noise[k]
        right = np.where(judged, likelihood.label_posterior(p, codes, eps), 1 - eps)
        posterior += weights[k] * right
    return np.asarray(posterior / weights[heavy].sum())


def _judged_labels(
    scores: _Scores, coefficients: Array, codes: NDArray[np.int64], judged: NDArray[np.bool_]
) -> tuple[Array, Array, float]:
    """Return posterior and class probabilities of every label by the ensemble, and its sharpness.

    The ensemble without label i says there the sum of what its candidates say without it.
    """
    used = np.flatnonzero(coefficients)
    factors = coefficients[used] * scores.size[used]
    present = np.isfinite(scores.values[used[0]])
    S = np.tensordot(factors, np.where(present, scores.values[used], 0.0), axes=1)
    size = float(np.sqrt(np.mean(S**2))) or 1.0
    S = np.where(present, S / size, -np.inf)
    model = likelihood.fit_ensemble_noise(S[judged], codes[judged])
    posterior = np.full(len(codes), 1 - model.noise)
    posterior[judged] = model.label_posterior
    probabilities = likelihood.typical(likelihood.softmax(model.tau * S))
    probabilities[judged] = model.class_probabilities
    return np.clip(posterior, 0.0, 1.0), probabilities, model.tau / size


def _combined(
    problem: Problem,
    candidates: Sequence[Candidate],
    coefficients: Array,
    squared_class_means: Array,
    filters: LabelFilters,
) -> Combination:
    """Return the sum of all candidates with their coefficients."""
    chosen, weights = [c for c in candidates if c.is_filter], _weights(candidates)
    of, n, scales = filters.places(chosen), len(chosen), filters.scales
    regressions, kept = coefficients[n:], coefficients[:n]
    heaviest = int(np.argmax(np.bincount(of, weights[:n] * [c.lifted for c in chosen])))
    by_filter, by_constant = np.zeros((2, len(scales))), np.zeros(2)
    if not problem.has_choice:  # one model, as it stands
        by_filter[0 if problem.model.balanced else 1] = 1.0
        nothing = np.zeros(problem.n_classes)
        return Combination(by_filter, by_constant, nothing, regressions, heaviest)
    group = np.array([0 if c.balanced else 1 for c in chosen])
    constant = np.array([c.constant for c in chosen])
    np.add.at(by_filter, (group, of), kept * scales[of])
    np.add.at(by_constant, group, kept * constant)
    means = squared_class_means[of] + constant[:, None] * squared_class_means[-1]
    half = 0.5 * (kept * [c.centred for c in chosen]) @ means
    return Combination(by_filter, by_constant, half, regressions, heaviest)

"""Weigh the candidates by their leave-one-out likelihood: an ensemble instead of a choice.

No single candidate can be told from its neighbours by ten labels, so none is picked: all answer
together, each weighted by its prior times a power of the likelihood of the labels, each left out.
Labels in turn are weighted by their posterior, the probability that they are right by the others.
All answers are linear in the labels, so that the ensemble is one linear filter again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from robustgc.choice import likelihood
from robustgc.choice.candidates import Candidate, heaviest_lifted
from robustgc.choice.values import LabelValues
from robustgc.choice.view import View
from robustgc.graph.weights import Array
from robustgc.transduction.problem import Problem

ROUNDS = 3  # in which candidates are weighed; between two of them labels are
# By time and memory.
_NEGLIGIBLE = 1e-3  # of the largest weight: a lighter candidate is not scored again
_DROPPED = 0.01  # of the largest weight: a lighter candidate is not worth a solve
_LEAST_PROBABILITY = 1e-4  # of a class, by the candidates together: what less means nobody knows
_CHUNK = 2e5  # values of candidates that are scored together: they stay in cache


@dataclass(frozen=True)
class Combination:
    """The ensemble as one linear answer to label columns Y with class masses m.

    ``F = mean(m) ((K Y) / m - sqrt_degree t') + R`` with ``K = sum_k a_k K_k + b v0 v0'`` over the
    filters, and R the regressions. Where classes are not balanced all m are 1.

    `half_squared_means` are ``t_c = |mu_c|^2 / 2``, summed over the centred candidates with their
    coefficients; `heaviest` is the filter of the heaviest lifted candidate, of any if none is.
    """

    filters: Array  # a_k times the scale (1 - eta) / eta, by which lifted modes have the weight 1
    constant: float  # b
    half_squared_means: Array  # (K,)
    regressions: Array  # coefficients, (regressions,)
    heaviest: int


@dataclass(frozen=True)
class Ensemble:
    """The weights of all candidates, and the posterior of every label by the others."""

    problem: Problem  # with the labels by which the candidates were weighed
    candidates: tuple[Candidate, ...]  # of all views, one view after the other
    combinations: tuple[Combination, ...]  # one for every view
    view_weights: Array  # sums of the weights of their candidates, (views,)
    label_weights: Array  # posteriors over their mean: what the answer weights labels by, (labels,)
    judged: NDArray[np.bool_]  # not the only label of its class: without it the class is not there
    label_posterior: Array  # probability that each is right; 1 - eps where not judged, (labels,)
    class_probabilities: Array  # of the classes at every label when it is left out, (labels, K)
    sharpness: float  # factor of decision values before softmax makes them probabilities


class _Scores:
    """Standardised leave-one-out values of all candidates, their likelihood and weights."""

    def __init__(
        self,
        problem: Problem,
        candidates: Sequence[Candidate],
        by_view: Sequence[LabelValues],
        judged: NDArray[np.bool_],
    ) -> None:
        n, m, first = len(candidates), len(problem.nodes), 0
        self.values = np.empty((n, m, problem.n_classes))
        self.log_likelihood = np.empty((n, int(judged.sum())))
        self.size, self.tau, self.noise = np.empty((3, n))
        for label_values in by_view:
            mass, count = label_values.mass_without_i, len(label_values.values)
            step = max(1, int(_CHUNK // max(mass.size, 1)))
            for k in range(0, count, step):
                here = slice(k, min(k + step, count))
                part = slice(first + here.start, first + here.stop)
                S, self.size[part] = likelihood.standardise(
                    label_values.values[here], mass, label_values.floor[here],
                    balanced=problem.balanced,
                )  # fmt: skip
                self.values[part] = S
                fitted = likelihood.fit_noise_model(S[:, judged], problem.codes[judged])
                self.log_likelihood[part], self.tau[part], self.noise[part] = fitted
            first += count
        # prior * exp(POWER * total log-likelihood), summing to 1
        prior, total = np.array([c.weight for c in candidates]), self.log_likelihood.sum(axis=1)
        total = likelihood.POWER * (total - total[prior > 0].max())
        weights = prior * np.exp(np.minimum(total, 0.0))
        self.weights = weights / weights.sum()

    def means(self, codes: NDArray[np.int64], judged: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Return accuracy and mean log-likelihood over the judged labels, by candidate."""
        if not judged.any():
            return np.full(len(self.tau), np.nan), np.zeros(len(self.tau))
        hits = self.values[:, judged].argmax(axis=2) == codes[judged]
        return hits.mean(axis=1), self.log_likelihood.mean(axis=1)

    def mean(self, what: Callable[[Array, float], Array]) -> Array:
        """Return the weighted mean of `what(class probabilities at the labels, eps)`."""
        heavy = np.flatnonzero(self.weights >= _DROPPED * self.weights.max())
        parts = [what(softmax(self.tau[k] * self.values[k], axis=1), self.noise[k]) for k in heavy]
        return np.average(parts, axis=0, weights=self.weights[heavy])


def weigh_candidates(views: Sequence[View], earlier: Sequence[Candidate] | None = None) -> Ensemble:
    """Weigh the candidates of all views and the labels, these by their posterior, in turn.

    The candidates have their prior as weight. Those that were negligible `earlier`, weighed by
    nearly the same labels, are not scored.
    """
    problem, candidates = views[0].problem, [c for view in views for c in view.candidates]
    ends = np.cumsum([len(view.candidates) for view in views])
    codes, label_weights = problem.codes, np.ones(len(problem.codes))
    judged = np.bincount(codes, minlength=problem.n_classes)[codes] > 1
    active, default = np.arange(len(candidates)), int(np.argmax([c.weight for c in candidates]))
    rows = [(c.accuracy, c.evidence, c.weight if earlier else 0.0) for c in earlier or candidates]
    numbers = np.array(rows).T
    least = _NEGLIGIBLE * min(numbers[2].max(), numbers[2, default])
    scored = active = np.flatnonzero(numbers[2] >= least)
    for turns in range(ROUNDS if problem.has_choice else 1, 0, -1):
        of_view = np.searchsorted(ends, active, side="right")
        some = [[candidates[k] for k in active[of_view == v].tolist()] for v in range(len(views))]
        w = label_weights * problem.sample_weight
        values = [view.values(part, w) for view, part in zip(views, some, strict=True) if part]
        scores = _Scores(problem, [c for part in some for c in part], values, judged)
        share = 1.0 - np.delete(numbers[2], active).sum()  # the rest: those that were negligible
        numbers[:, active] = *scores.means(codes, judged), share * scores.weights
        if turns > 1:
            # What each says by its plain model: the ensemble's is sharper, and takes a label alone
            # in its part of the graph for a wrong one too readily.
            posterior = scores.mean(
                lambda p, eps: likelihood.label_posterior(p, codes, eps, judged)
            )
            label_weights = posterior / posterior.mean()
            active = active[scores.weights >= _NEGLIGIBLE * scores.weights.max()]
    weights = scores.weights
    coefficients = np.where(weights >= _DROPPED * weights.max(), weights * scores.tau, 0.0)
    coefficients /= scores.size if problem.has_choice else 1.0
    numbers[1, scored] -= numbers[1, default]
    weighed = tuple(
        replace(c, accuracy=accuracy, evidence=evidence, weight=weight)
        for c, (accuracy, evidence, weight) in zip(candidates, numbers.T.tolist(), strict=True)
    )
    scored_values = iter(values)
    combinations = tuple(
        _combined(
            view,
            [weighed[k] for k in active[of_view == v].tolist()],
            coefficients[of_view == v],
            next(scored_values).squared_class_means if v in of_view else None,
        )
        for v, view in enumerate(views)
    )
    view_weights = np.add.reduceat(numbers[2], np.append(0, ends[:-1]))
    judgement = _judged_labels(scores, coefficients, codes, judged)
    return Ensemble(problem, weighed, combinations, view_weights, label_weights, judged, *judgement)


def _judged_labels(
    scores: _Scores, coefficients: Array, codes: NDArray[np.int64], judged: NDArray[np.bool_]
) -> tuple[Array, Array, float]:
    """Return posterior and class probabilities of every label by the ensemble, and its sharpness.

    Labels are judged by the mean of the probabilities that the candidates give the classes without
    each; decision values, of which there is only the sum, have the sharpness that fits that sum.
    """
    used = np.flatnonzero(coefficients)
    present, silent = np.isfinite(scores.values[used[0]]), np.zeros(1)
    values = np.where(present, scores.values[used], 0.0)
    total = np.tensordot((coefficients * scores.size)[used], values, axes=1)
    S, size = likelihood.standardise(total[None], present, silent, balanced=False)
    sharpness = likelihood.fit_ensemble_noise(S[0, judged], codes[judged]).tau / float(size[0])
    log_p = np.log(np.maximum(scores.mean(lambda p, _: p), _LEAST_PROBABILITY))
    S = likelihood.standardise(log_p[None], present, silent, balanced=False)[0][0]
    model = likelihood.fit_ensemble_noise(S[judged], codes[judged])
    posterior = np.full(len(codes), 1 - model.noise)
    posterior[judged] = model.label_posterior
    probabilities = likelihood.typical(softmax(model.tau * S, axis=1))
    probabilities[judged] = model.class_probabilities
    return np.clip(posterior, 0.0, 1.0), probabilities, sharpness


def _combined(
    view: View,
    candidates: Sequence[Candidate],
    coefficients: Array,
    squared_class_means: Array | None,
) -> Combination:
    """Return the sum of some candidates of a view with their coefficients."""
    problem, filters, ridges = view.problem, view.label_filters, view.ridges
    nothing, n = np.zeros(problem.n_classes), len(filters.scales)
    regressions = np.zeros(0 if ridges is None else ridges.count)
    read = [c for c in candidates if c.is_filter]
    rest = candidates[len(read) :]
    if ridges is not None:
        regressions[ridges.places(rest)] = coefficients[len(read) :]
    if not read or squared_class_means is None:  # all of them negligible
        return Combination(np.zeros(n), 0.0, nothing, regressions, 0)
    place = [filters.pairs.index((c.n_modes, c.eta)) for c in read]
    first = heaviest_lifted(read) or max(read, key=lambda c: c.weight)
    heaviest = place[read.index(first)]
    if not problem.has_choice:  # one model, as it stands
        return Combination(np.ones(1), 0.0, nothing, np.empty(0), heaviest)
    shares = coefficients[: len(read)]
    half = 0.5 * (shares * [c.centred for c in read]) @ squared_class_means
    constant = float(shares @ [c.constant for c in read])
    by_filter = np.bincount(place, shares, n) * filters.scales
    return Combination(by_filter, constant, half, regressions, heaviest)

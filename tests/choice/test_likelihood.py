"""The noise model: by its formulas, label by label."""

import itertools

import numpy as np
import pytest
from scipy.special import softmax

from robustgc.choice import likelihood


def drawn(seed, n_candidates=3, n_labels=12, n_classes=4):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_classes, n_labels)
    S = rng.standard_normal((n_candidates, n_labels, n_classes))
    S[0, np.arange(n_labels), codes] += 3.0
    return S, codes


def terms(S, codes, tau, eps):
    """Log-likelihood of every label."""
    p = softmax(tau * S, axis=1)[np.arange(len(codes)), codes]
    return np.log((1 - eps) * p + eps / S.shape[1])


@pytest.mark.parametrize("seed", [4001, 4003])
def test_the_fitted_model_is_the_best_of_its_grid(seed):
    S, codes = drawn(seed)
    found, tau, noise = likelihood.fit_noise_model(S, codes)
    for k, values in enumerate(S):
        np.testing.assert_allclose(found[k], terms(values, codes, tau[k], noise[k]), rtol=1e-10)
        best = found[k].sum() - np.log(tau[k])
        for t in likelihood._TAUS:
            for eps in likelihood._NOISE:
                other = terms(values, codes, t, eps).sum() - np.log(t)
                assert other <= best + 1e-9
    assert tau[0] > tau[1:].max()


def given_for(q, eps, alpha):
    """Probability of every class that may be given (columns) for every true class (rows)."""
    m, K = q.shape
    rho, found = likelihood.HARD, np.zeros((m, K, K))
    unsure = max(likelihood._EASIEST, np.mean([1 - row @ row for row in q]))
    for i, c, g in np.ndindex(m, K, K):
        hard = eps * rho * min((1 - q[i, c]) / unsure, 1 / eps)
        even, confused = 1 / (K - 1), q[i, g] / (1 - q[i, c])
        anywhere = eps * (1 - rho) * (alpha * confused + (1 - alpha) * even)
        found[i, c, g] = anywhere + hard * confused if c != g else 1 - hard - eps * (1 - rho)
    return found


def by_the_formulas(S, codes):
    """Posterior, class probabilities, weights of all tau, eps and alpha, label by label."""
    (m, K), found = S.shape, []
    grids = likelihood._ENSEMBLE_TAUS, likelihood._ENSEMBLE_NOISE, likelihood._CONFUSED
    for tau, eps, alpha in itertools.product(*grids):
        delta = 2 * likelihood.ATYPICAL * eps
        q = (1 - delta) * softmax(tau * S, axis=1) + delta / K
        given = given_for(q, eps, alpha)
        joint = np.array([q[i] * given[i, :, g] for i, g in enumerate(codes)])
        right = joint[np.arange(m), codes]
        total = joint.sum(axis=1)
        found.append((np.log(total).sum(), right / total, q, tau, eps))
    weights = np.exp([likelihood.POWER * total for total, *_ in found])
    return found, weights / weights.sum()


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_ensemble_is_judged_by_integration_over_tau_eps_and_alpha(n_classes):
    S, codes = drawn(4007, 1, 9, n_classes)
    model = likelihood.fit_ensemble_noise(S[0], codes)
    found, weights = by_the_formulas(S[0], codes)
    pairs = list(zip(weights, found, strict=True))
    posterior, classes = (sum(w * f[k] for w, f in pairs) for k in (1, 2))
    np.testing.assert_allclose(model.label_posterior, posterior, rtol=1e-10)
    np.testing.assert_allclose(model.class_probabilities, classes, rtol=1e-10)
    assert model.noise == pytest.approx(sum(w * f[4] for w, f in pairs))
    assert np.log(model.tau) == pytest.approx(sum(w * np.log(f[3]) for w, f in pairs))


@pytest.mark.parametrize("alpha", [0.0, 0.4, 1.0])
def test_for_every_true_class_something_is_given(alpha):
    """The probabilities of all classes that may be given sum to 1, and none is below 0."""
    rng = np.random.default_rng(4027)
    q = np.vstack([rng.dirichlet(np.full(5, 0.3), 8), 0.9996 * np.eye(5)[:2] + 8e-5])
    for eps in likelihood._ENSEMBLE_NOISE:
        given = given_for(q, eps, alpha)
        np.testing.assert_allclose(given.sum(axis=2), 1.0)
        assert given.min() >= -1e-15


def test_no_label_to_judge_leaves_the_middle_of_the_grids():
    model = likelihood.fit_ensemble_noise(np.empty((0, 3)), np.empty(0, dtype=np.int64))
    assert model.noise == pytest.approx(np.mean(likelihood._ENSEMBLE_NOISE))
    assert model.label_posterior.shape == (0,)


def test_the_posterior_is_that_of_bayes():
    S, codes = drawn(4013, 1)
    p, eps, K = softmax(S[0], axis=1), 0.3, S.shape[2]
    judged = np.arange(len(codes)) != 2
    for i, posterior in enumerate(likelihood.label_posterior(p, codes, eps, judged)):
        given = [p[i, c] * ((1 - eps) * (c == codes[i]) + eps / K) for c in range(K)]
        assert posterior == pytest.approx(given[codes[i]] / sum(given) if judged[i] else 1 - eps)


def test_standardised_values_have_unit_size_and_no_common_part():
    S, _ = drawn(4019)
    mass = np.random.default_rng(4021).uniform(1.0, 5.0, S.shape[1:])
    F = 1e-3 * S + 7.0
    for balanced in (True, False):
        found, size = likelihood.standardise(F, mass, np.full(3, 1e-12), balanced=balanced)
        np.testing.assert_allclose(found.sum(axis=2), 0.0, atol=1e-8)
        np.testing.assert_allclose((found**2).mean(axis=(1, 2)), 1.0)
        values = F * mass.mean() / mass if balanced else F
        centred = values[1] - values[1].mean(axis=1, keepdims=True)
        np.testing.assert_allclose(found[1] * size[1], centred, atol=1e-12)


def test_a_class_without_a_label_and_values_of_rounding():
    F, mass = np.ones((2, 3, 2)) * 1e-14, np.array([[2.0, 0.0], [2.0, 1.0], [1.0, 1.0]])
    F[1] = [[1.0, 5.0], [2.0, 1.0], [0.0, 3.0]]
    found, _ = likelihood.standardise(F, mass, np.full(2, 1e-10), balanced=False)
    assert (found[:, 0, 1] == -np.inf).all()
    np.testing.assert_array_equal(found[0, 1:], 0.0)
    assert found[1, 1, 0] > found[1, 1, 1]

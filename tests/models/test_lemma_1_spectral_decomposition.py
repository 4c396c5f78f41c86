"""Lemma 1: L_N = sum of lambda_l v_l v_l' over l >= 1, and I = sum of v_l v_l' over l >= 0."""

import numpy as np
from hypothesis import given

import graphs
import oracles
from robustgc import Graph, full_spectrum


@given(graphs.weighted_graphs())
def test_spectral_decomposition_and_resolution_of_the_identity(W):
    spectrum = full_spectrum(Graph(W))
    v, lam = spectrum.vectors, spectrum.values
    n = len(W)
    L = sum(lam[k] * np.outer(v[:, k], v[:, k]) for k in range(1, n))
    np.testing.assert_allclose(L, oracles.laplacian(W), atol=1e-12)
    identity = sum(np.outer(v[:, k], v[:, k]) for k in range(n))
    np.testing.assert_allclose(identity, np.eye(n), atol=1e-12)


@given(graphs.weighted_graphs())
def test_eigenvalues_lie_between_0_and_2_in_order(W):
    lam = full_spectrum(Graph(W)).values
    assert lam[0] == 0
    assert (np.diff(lam) >= -1e-14).all()
    assert lam[-1] <= 2 + 1e-13
    assert lam[1] > 0

"""Eigenpairs as solvers return them, and what a precision resolves."""

import numpy as np
import pytest

import graphs
from robustgc import Graph, Spectrum, full_spectrum
from robustgc.linalg.eigenpairs import (
    TINY,
    Eigenpairs,
    count_distinct,
    count_leading,
    resolution,
)


def test_some_pairs_of_a_spectrum():
    graph = Graph(graphs.cycle(9))
    spectrum = full_spectrum(graph)
    modes = spectrum.nontrivial()
    assert type(spectrum.first(3)) is Spectrum
    assert type(modes) is Eigenpairs
    np.testing.assert_array_equal(modes.first(2).values, spectrum.values[1:3])
    measured = modes.measured(graph, "dense", "all modes")
    assert measured.residual < 1e-14
    assert (measured.method, measured.note) == ("dense", "all modes")


@pytest.mark.parametrize(
    ("values", "following", "floor"), [([], 0.0, 0.0), ([0.1, 0.2], 0.0, 0.2), ([0.1], 0.3, 0.3)]
)
def test_what_is_off_the_pairs_is_not_below_their_floor(values, following, floor):
    vectors = np.empty((5, len(values)))
    pairs = Eigenpairs(np.array(values), vectors, next_eigenvalue=following)
    assert pairs.spectrum_floor == floor
    assert pairs.first(1).next_eigenvalue == 0.0  # of what is left out nothing is claimed


@pytest.mark.parametrize(
    ("converged", "count"), [([], 0), ([True, True], 2), ([True, False, True], 1), ([False], 0)]
)
def test_only_those_before_the_first_open_one_have_converged(converged, count):
    assert count_leading(np.array(converged, dtype=bool)) == count


def test_copies_count_once():
    assert count_distinct(np.array([0.2, 0.1, 0.1, 0.200001, 0.3])) == 3


def test_single_precision_resolves_less():
    assert resolution("float32").least > resolution(np.float64).least == TINY

"""Every way to an answer keeps its tolerance, or says that it did not."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import graphs
from robustgc import (
    Graph,
    ResidualWarning,
    RobustGC,
    harmonic,
    lambda_1,
    poisson,
    robust,
    robust_path,
    zhou,
    zhou_path,
)

W = graphs.random_weights(np.random.default_rng(31), 40)
Y = graphs.random_labels(np.random.default_rng(32), 40)
LABELS = np.select([Y < 0, Y > 0], [0, 1], -1)
LEAST = 1e-300  # a tolerance below any rounding

CALLS = {
    "robust": lambda graph, tol: robust(graph, Y, gamma=0.9 * lambda_1(graph), tol=tol),
    "robust_path": lambda graph, tol: robust_path(graph, Y, etas=[0.5], tol=tol)[0],
    "lifted": lambda graph, tol: robust(graph, Y, gamma=lambda_1(graph), n_modes=3, tol=tol),
    "zhou": lambda graph, tol: zhou(graph, Y, gamma=0.3, tol=tol),
    "zhou_path": lambda graph, tol: zhou_path(graph, Y, [0.3, 3.0], tol=tol)[0],
    "poisson": lambda graph, tol: poisson(graph, Y, tol=tol),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_residual_above_the_tolerance_is_told_with_both_numbers(call):
    graph = Graph(W)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert CALLS[call](graph, 1e-10).residual <= 1e-10
    with pytest.warns(ResidualWarning, match=r"residual of the answer is \S+, above .* 1.0e-300"):
        assert CALLS[call](graph, LEAST).residual > LEAST


@pytest.mark.parametrize("given", [{}, {"eta": 0.9, "n_modes": 1}, {"eta": 0.5, "n_modes": 2}])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_estimators_tell_too_after_a_fit_and_after_an_update(given, form):
    clf = RobustGC(**given, affinity="precomputed", tol=LEAST)
    with pytest.warns(ResidualWarning, match="above the tolerance"):
        clf.fit(form(W), LABELS)
    assert clf.residual_ > LEAST
    with pytest.warns(ResidualWarning, match="above the tolerance"):
        clf.update({int(np.flatnonzero(LABELS == -1)[0]): 1})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert RobustGC(**given, affinity="precomputed").fit(form(W), LABELS).residual_ <= 1e-8


@pytest.mark.parametrize("solver", ["dense", "krylov", "multigrid", "direct"])
def test_every_engine_keeps_its_tolerance_or_tells(solver):
    grid = graphs.grid(45, 40)
    y = np.full(1800, -1)
    y[[3, 700, 900, 1790]] = [0, 1, 0, 1]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        clf = RobustGC(0.9, n_modes=1, affinity="precomputed", solver=solver, tol=1e-9).fit(grid, y)
    assert (clf.residual_ > 1e-9) == any(w.category is ResidualWarning for w in told)


def test_the_residual_of_a_tiny_gamma_is_not_its_own_rounding():
    graph = Graph(graphs.two_cliques(6, 1e-14))
    y = np.zeros(12)
    y[1], y[7], y[8] = 1, 1, -1
    assert robust(graph, y, gamma=0.9 * lambda_1(graph)).residual < 1e-13
    for gamma in (1e-7, 1e-12, 1e-300):
        assert zhou(Graph(W), Y, gamma=gamma).residual < 1e-13


def test_the_warning_points_at_the_line_of_the_user():
    with pytest.warns(ResidualWarning) as told:
        RobustGC(affinity="precomputed", tol=LEAST).fit(W, LABELS)
    assert {w.filename for w in told} == {__file__}


def test_harmonic_values_miss_no_tolerance():
    assert harmonic(Graph(W), Y).residual <= 1e-10


FAINT = np.zeros((6, 6))  # a path of four nodes; two more hang on the second by next to nothing
for i, j, w in [(0, 1, 1.0), (1, 2, 0.7), (2, 3, 1.3), (4, 5, 1e-3), (1, 4, 3e-21)]:
    FAINT[i, j] = FAINT[j, i] = w


@pytest.mark.parametrize(
    "call",
    [
        poisson,
        lambda graph, y: robust(graph, y, gamma=0.9 * lambda_1(graph)),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_mode_that_no_label_sees_but_by_rounding_is_told(call, form):
    graph, y = Graph(form(FAINT)), np.array([1.0, 0, -1, 0, 0, 0])
    y[2] = -np.sqrt(graph.d[0] / graph.d[2])  # balanced: v_1, a step at the faint link, has none
    assert lambda_1(graph) < 1e-17
    with pytest.warns(ResidualWarning, match="residual of the answer"):
        assert call(graph, y).residual > 1e-10
    y[5] = 1.0  # a label on the other side of the step settles its size
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert call(graph, y).residual <= 1e-10


def test_only_a_choice_of_modes_may_have_fewer_digits_unsaid(monkeypatch):
    monkeypatch.setattr("robustgc.choice.view.LiftedFilters.rounding", lambda *_: 1e-5)
    y = np.full(1600, -1)
    y[[3, 700, 900, 1590, 40, 1300]] = [0, 1, 0, 1, 2, 2]
    for given in ({"eta": 0.9, "n_modes": 2}, {"eta": 0.9, "n_modes": 2, "tol": 1e-7}):
        with pytest.warns(ResidualWarning, match="residual of the answer is 1.0e-05, above"):
            RobustGC(**given, affinity="precomputed").fit(graphs.grid(40, 40), y)
    clf = RobustGC(affinity="precomputed").fit(graphs.grid(40, 40), y)
    assert 1e-5 <= clf.residual_ <= 1e-3
    with pytest.warns(ResidualWarning, match="residual of the answer"):
        RobustGC(affinity="precomputed", tol=1e-7).fit(graphs.grid(40, 40), y)

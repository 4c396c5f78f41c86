import numpy as np
import pytest

import oracles
from robustgc import zhou
from robustgc.paper import table1
from robustgc.paper.problems import (
    DATASETS,
    ETAS,
    GAMMAS,
    MODELS,
    SIZES,
    decisions,
    label,
    n_labelled,
    problem,
)
from robustgc.paper.records import Options, read_csv


def test_number_of_labels_is_the_papers():
    for row in table1.published():
        expected = int(row["n_labelled"])
        assert n_labelled(row["dataset"], int(row["percent_labelled"])) == expected
    assert n_labelled("karate", 2) == 0
    assert n_labelled("polbooks", 1) == 0


def test_the_papers_table_is_complete():
    rows = table1.published()
    assert len(rows) == 132
    assert {r["model"] for r in rows} == set(MODELS)
    assert {r["dataset"] for r in rows} == set(DATASETS)


def test_decisions_over_the_grids_are_the_models():
    graph, truth = problem("karate")
    W = graph.W.toarray()
    y = label(truth, 6, np.random.default_rng(5))
    found = decisions(graph, y)
    limit = oracles.lambda_1(W)
    for k in (0, 20, 50):
        for name, expected in (
            ("RobustGC", oracles.robust(W, y, ETAS[k] * limit)),
            ("ZhouGC", oracles.zhou(W, y, GAMMAS[k])),
        ):
            scale = np.abs(expected).max()
            np.testing.assert_allclose(found[name][1][:, k], expected, atol=1e-8 * scale)
    np.testing.assert_allclose(found["PF-RobustGC"][1][:, 0], oracles.robust(W, y, 0.9 * limit))
    np.testing.assert_allclose(found["BelkGC"][1][:, 2], oracles.belkin(W, y, 3), atol=1e-9)
    assert found["BelkGC"][1].shape == (34, 34)


@pytest.mark.parametrize("dataset", ["karate", "polbooks", "synth"])
def test_zhou_keeps_its_signs_along_the_whole_grid(dataset):
    graph, truth = problem(dataset)
    y = label(truth, 3, np.random.default_rng(6))
    F = decisions(graph, y)["ZhouGC"][1]
    for k in range(0, 51, 5):
        exact = zhou(graph, y, gamma=GAMMAS[k]).f
        np.testing.assert_array_equal(F[:, k] > 0, exact > 0)


def test_labels_have_both_classes_and_as_many_flips_as_asked():
    truth = np.array([1.0] * 40 + [-1.0] * 2)
    for seed in range(3, 20):
        y = label(truth, 3, np.random.default_rng(seed), n_wrong=1)
        assert (y != 0).sum() == 3
        assert ((y != 0) & (y != truth)).sum() == 1
        assert len(set(truth[y != 0])) == 2


@pytest.mark.parametrize("dataset", ["karate", "polbooks", "polblogs", "synth"])
def test_problems_have_the_papers_sizes(dataset):
    graph, truth = problem(dataset)
    assert graph.n == SIZES[dataset] == len(truth)
    assert set(truth) == {-1.0, 1.0}


def test_digits_have_the_papers_sizes(usps):
    for dataset in ("digits49-s", "digits49-w"):
        graph, truth = problem(dataset, 2)
        assert graph.n == 250
        assert truth.sum() == 0
    assert problem("digits49-w")[0].W.diagonal().max() == 0
    assert usps.points.min() >= 0


def test_unknown_data_sets_are_refused():
    with pytest.raises(ValueError, match="'cora' is unknown"):
        problem("cora")


def test_cells_of_karate_and_polbooks_agree_with_the_paper(tmp_path):
    steps = list(table1.compute(Options(tmp_path, ("karate", "polbooks"), seed=13)))
    assert steps[-1] == (180, 180)
    rows = table1.compare(read_csv(tmp_path / "table1.csv"))
    assert len(rows) == 36
    assert all(row["within"] for row in rows)
    curves = read_csv(tmp_path / "tuning.csv")
    assert {r["model"] for r in curves} == {"ZhouGC", "BelkGC", "RobustGC"}


def test_perfect_validation_takes_the_parameter_with_the_best_mean():
    rows = [
        {"dataset": "karate", "draw": "1", "percent_labelled": "5", "n_labelled": "2",
         "repeat": str(r), "model": m, "parameter": str(p), "accuracy": str(a)}
        for m in MODELS
        for r, accuracies in enumerate([(0.9, 0.8), (0.5, 0.7)])
        for p, a in enumerate(accuracies)
    ]  # fmt: skip
    cells, _ = table1.summary(rows, 7)
    # Not the best of every repeat (0.9 and 0.7): one parameter for the cell.
    assert {(c["parameter"], c["accuracy_mean"]) for c in cells} == {(1.0, 75.0)}

import numpy as np
import pytest

from robustgc import Graph, full_spectrum, lambda_1, robust
from robustgc.datasets import load_karate, load_polblogs, load_polbooks
from robustgc.labels import draw

SIZES = {
    load_karate: (34, 78, [16, 18]),
    load_polbooks: (92, 374, [49, 43]),
    load_polblogs: (1222, 16714, [636, 586]),
}


@pytest.mark.parametrize("load", SIZES)
def test_sizes_of_the_paper(load):
    nodes, edges, classes = SIZES[load]
    data = load()
    assert Graph(data.weights).n == nodes == len(data.names) == len(data.labels)
    assert data.weights.nnz == 2 * edges
    assert np.unique(data.labels, return_counts=True)[1].tolist() == classes
    assert data.citation
    assert data.licence


@pytest.mark.parametrize(
    ("load", "n_labels", "mean", "std"),
    [(load_karate, 2, 98.9, 1.5), (load_polbooks, 2, 97.8, 0.0), (load_polblogs, 12, 95.5, 0.2)],
)
def test_accuracy_of_the_parameter_free_model_is_the_papers(load, n_labels, mean, std):
    data = load()
    truth = np.where(data.labels == data.labels[0], 1.0, -1.0)
    Y = np.zeros((len(truth), 20))
    for k, seed in enumerate(range(200, 220)):
        nodes = draw(data.labels, n_labels, np.random.default_rng(seed))
        Y[nodes, k] = truth[nodes]
    graph = Graph(data.weights)
    F = robust(graph, Y, gamma=0.9 * lambda_1(graph)).f
    hits = np.ma.masked_array((F > 0) == (truth > 0)[:, None], mask=Y != 0)
    assert abs(100 * hits.mean(axis=0).mean() - mean) < max(1.0, 3 * std / 20**0.5)


def test_the_second_eigenvector_of_polblogs_alone_would_not_do():
    # It is localised on a few nodes: a solver that stops at v1 is right half of the time.
    data = load_polblogs()
    graph = Graph(data.weights)
    v1 = full_spectrum(graph).vectors[:, 1]
    agree = np.mean((v1 > 0) == (data.labels == "liberal"))
    assert max(agree, 1 - agree) < 0.55
    assert lambda_1(graph) == pytest.approx(0.0814398, rel=1e-5)

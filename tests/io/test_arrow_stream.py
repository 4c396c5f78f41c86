"""Tables of any library that speaks the Arrow C stream, whatever its name."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from robustgc.api import classify
from robustgc.io.errors import InputError
from robustgc.io.label_files import label_table
from robustgc.io.objects import named_graph
from robustgc.io.point_files import named_points


class Relation:
    """A table of a library that nobody has heard of: it has one method."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class Broken:
    def __arrow_c_stream__(self, requested_schema=None):
        raise RuntimeError("the connection is closed")


def batches(table):
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=20))


KINDS = {
    "own": Relation,
    "pyarrow": lambda table: table,
    "batches": batches,
    "polars": pl.from_arrow,
    "pandas": lambda table: table.to_pandas(),
    "views": lambda table: Relation(pl.from_arrow(table)),
}


@pytest.fixture(params=KINDS)
def of_kind(request):
    return KINDS[request.param]


CLUB = nx.karate_club_graph()
EDGES = pa.table(
    {
        "target": [f"n{v}" for _, v in CLUB.edges()],
        "source": [f"n{u}" for u, _ in CLUB.edges()],
        "weight": [float(data["weight"]) for _, _, data in CLUB.edges(data=True)],
    }
)
TRUTH = nx.get_node_attributes(CLUB, "club")
LABELS = pa.table({"node": [f"n{k}" for k in (0, 1, 32, 33)],
                   "label": [TRUTH[k] for k in (0, 1, 32, 33)]})  # fmt: skip


def test_edges_of_any_library(of_kind):
    found = named_graph(of_kind(EDGES))
    assert found.n_edges == 78
    assert found.W.sum(axis=1).sum() == 2 * sum(EDGES["weight"].to_pylist())
    assert set(found.names) == {f"n{k}" for k in range(34)}
    assert all(type(name) is str for name in found.names)


def test_labels_of_any_library(of_kind):
    table = label_table(of_kind(LABELS))
    assert list(table.labels) == LABELS["label"].to_pylist()
    result = classify(nx.relabel_nodes(CLUB, "n{}".format), of_kind(LABELS))
    assert len(result.labels) == 34


def test_points_of_any_library(of_kind):
    rng = np.random.default_rng(20261117)
    X = rng.normal(size=(30, 2))
    table = pa.table({"x": X[:, 0], "y": pa.array(X[:, 1], type=pa.float32())})
    found = named_points(of_kind(table))
    assert np.allclose(found.X, X, atol=1e-6)
    assert found.columns == ("x", "y")
    assert found.names.tolist() == list(range(30))


def test_whole_numbers_stay_numbers():
    table = Relation(pa.table({"source": [7, 8], "target": [8, 10**17]}))
    assert named_graph(table).names.tolist() == [7, 8, 10**17]


def test_the_index_of_pandas_keeps_its_meaning():
    labels = pd.Series({"n0": "x", "n33": "y"})
    assert list(label_table(labels).nodes) == ["n0", "n33"]
    points = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=["p", "q"])
    found = named_points(points)
    assert (found.names.tolist(), found.columns) == (["p", "q"], ("x", "y"))
    edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]}, index=[50, 60])
    assert named_graph(edges).names.tolist() == ["a", "b", "c"]


def test_arrays_and_graphs_are_read_as_before():
    W = nx.to_numpy_array(nx.path_graph(4))
    for graph in (W, sp.csr_array(W), nx.path_graph(4), np.array([[0, 1, 2], [1, 2, 3]])):
        assert named_graph(graph).n_edges == 3
    assert named_points(np.eye(3)).names.tolist() == [0, 1, 2]


@pytest.mark.parametrize("table", [Broken(), pl.Series([1, 2]), pa.chunked_array([[1, 2]])])
def test_what_is_no_table_is_refused(table):
    for read in (named_graph, named_points, label_table):
        with pytest.raises(InputError, match=f"of type {type(table).__name__}, cannot be read as"):
            read(table)


def test_points_of_text_are_left_out_and_named():
    points = named_points(Relation(pa.table({"x": [1.0, 2.0], "hue": ["a", "b"]})))
    assert points.columns == ("x",)
    assert any("'hue' (2 distinct values" in note for note in points.notes)
    with pytest.raises(InputError, match="no column with numbers"):
        named_points(Relation(pa.table({"hue": ["a", "b"]})))

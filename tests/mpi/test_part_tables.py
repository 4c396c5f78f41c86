"""What one rank reads of a table of edges: what one machine reads, or a sentence."""

from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robustgc.io.edge_columns import Wanted
from robustgc.io.errors import InputError
from robustgc.mpi.reading import FilePart, own_file_parts

NOTHING = Wanted()
ONE_RANK = SimpleNamespace(size=1, rank=0)
WHERE = "looks like an adjacency matrix of 4 nodes.*robustgc convert.*--source and --target"
CYCLE = [[0, 1, 0, 2], [1, 0, 3, 0], [0, 3, 0, 1], [2, 0, 1, 0]]


def test_a_matrix_in_text_is_no_list_of_edges(tmp_path):
    path = tmp_path / "matrix.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in CYCLE), encoding="utf-8")
    with pytest.raises(InputError, match=WHERE):
        FilePart(path).read(NOTHING)
    assert len(FilePart(path).read(Wanted("column 1", "column 2")).ends[0]) == 4


@pytest.mark.parametrize("groups", [None, (1,)])
def test_a_matrix_in_parquet_is_no_list_of_edges(tmp_path, groups):
    path = tmp_path / "matrix.parquet"
    pq.write_table(pa.table({f"n{k}": row for k, row in enumerate(CYCLE)}), path, row_group_size=2)
    with pytest.raises(InputError, match=WHERE):
        FilePart(path, groups).read(NOTHING)
    assert len(FilePart(path, groups).read(Wanted("n0", "n1")).ends[0]) > 0


def test_the_header_of_the_only_file_is_no_edge(tmp_path):
    path = tmp_path / "edges.csv"
    ring = [f"{'abcdefgh'[k]};{'abcdefgh'[(k + 1) % 8]}" for k in range(8)]
    path.write_text("\n".join(["Von;Nach", *ring]) + "\n", encoding="utf-8")
    (piece,), _ = own_file_parts(ONE_RANK, [path])
    edges = piece.read(NOTHING)
    assert len(edges.ends[0]) == 8
    assert "line 1 is read as a header: Von, Nach" in edges.notes[0]
    (piece, _), _ = own_file_parts(ONE_RANK, [path, path])
    assert len(piece.read(NOTHING).ends[0]) == 9  # other files might have the node "Von"

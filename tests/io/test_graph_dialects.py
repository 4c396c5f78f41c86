"""What the user says of text tables, where the graph is in a file of another kind."""

import json

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robustgc.io.dialect import Dialect
from robustgc.io.errors import InputError
from robustgc.io.graph_files import read_graph

LINKS = {"nodes": [{"id": x} for x in "abc"], "links": [{"source": "a", "target": "b"}]}


@pytest.mark.parametrize("ending", [".edgelist", ".ncol"])
def test_edge_lists_are_read_as_the_user_says(tmp_path, ending):
    path = tmp_path / f"graph{ending}"
    path.write_bytes("Von:Nach\nä:b\nb:c\nc:ä\n".encode("mac-roman"))
    graph = read_graph(path, dialect=Dialect(":", None, "mac-roman", header=True))
    assert sorted(graph.names) == ["b", "c", "ä"]
    assert graph.n_edges == 3


def test_edge_lists_have_no_header_unless_the_user_says_so(tmp_path):
    path = tmp_path / "graph.edgelist"
    path.write_text("source target\na b\n", encoding="utf-8")
    assert read_graph(path, dialect=Dialect(encoding="utf-8")).n_edges == 2
    assert read_graph(path, dialect=Dialect(header=True)).n_edges == 1


def files(folder):
    (folder / "g.json").write_text(json.dumps(LINKS), encoding="utf-8")
    (folder / "g.edgelist").write_text("a b {'weight': 2}\n", encoding="utf-8")
    (folder / "g.adjlist").write_text("a b\n", encoding="utf-8")
    pq.write_table(pa.table({"source": ["a"], "target": ["b"]}), folder / "g.parquet")


@pytest.mark.parametrize("name", ["g.json", "g.edgelist", "g.adjlist", "g.parquet"])
def test_other_files_have_no_header_and_say_what_they_do_not_use(tmp_path, name):
    files(tmp_path)
    assert not read_graph(tmp_path / name, dialect=Dialect()).notes
    for header, flag in ((True, "--header"), (False, "--no-header")):
        with pytest.raises(InputError, match=f"{name}: {flag} is about the first row of a text"):
            read_graph(tmp_path / name, dialect=Dialect(header=header))
    notes = read_graph(tmp_path / name, dialect=Dialect(";", None, "cp1252")).notes
    text = f"--delimiter, --encoding are for text tables and not used for {name}, a"
    assert any(note.startswith(text) for note in notes)


def test_a_sheet_may_have_a_header_and_no_encoding(tmp_path):
    book = openpyxl.Workbook()
    for row in (("Von", "Nach"), ("a", "b"), ("b", "c")):
        book.active.append(row)
    book.save(tmp_path / "g.xlsx")
    graph = read_graph(tmp_path / "g.xlsx", dialect=Dialect(encoding="cp1252", header=True))
    assert graph.n_edges == 2
    assert "--encoding is for text tables and not used for g.xlsx, a spreadsheet" in graph.notes

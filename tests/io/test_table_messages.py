"""What is said of text in quotes that cannot be read, and of a few nodes and edges."""

import pytest
from typer.testing import CliRunner

from robustgc.cli.app import app
from robustgc.io.graph_files import read_graph
from robustgc.io.opening import InputError

REFUSED = {
    "'Smith, John','Doe, Jane'\n'Doe, Jane','Poe, Al'\n": r"line 1: text in single quotes is cut "
    r"at ',': .*Put it in double quotes",
    'source,target\n"a\nb",c\n': "Fields over several lines are not read: replace the line break",
    "a,b\nb\0,c\n": "line 2: a NUL byte, character 2 of the line",
}


@pytest.mark.parametrize("text", REFUSED)
def test_the_cure_is_named(tmp_path, text):
    path = tmp_path / "g.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=REFUSED[text]):
        read_graph(path)


def test_apostrophes_are_text(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("'t Hooft,O'Hara\nO'Hara,James'\nJames','t Hooft\n'a','b'\n'b','t Hooft\n")
    assert len(read_graph(path).names) == 5
    path.write_text('"\'t Hooft","James\'"\n')
    assert set(read_graph(path).names) == {"'t Hooft", "James'"}


def test_one_edge_is_no_edges(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("source,target\na,b\n")
    result = CliRunner().invoke(app, ["convert", str(path), str(tmp_path / "h.csv")])
    assert "2 nodes and 1 edge are in" in result.output

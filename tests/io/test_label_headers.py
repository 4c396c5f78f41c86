"""Tables of labels without a known header: whether the first line is one is told, or said."""

import networkx as nx
import pytest
from typer.testing import CliRunner

from robustgc import classify
from robustgc.cli.app import app
from robustgc.io.errors import InputError

NAMES = ["Jörg", "Bob", "Emil", "Hanna", "Lena", "Otto", "Rosa", "Udo"]
GRAPH = nx.relabel_nodes(nx.cycle_graph(8), dict(enumerate(NAMES)))


@pytest.fixture
def labels(tmp_path):
    def written(text):
        path = tmp_path / "labels.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def given(result):
    return int((result.estimator._labels.codes >= 0).sum())


def test_a_misspelt_name_on_line_1_is_no_header(labels):
    path = labels("Jorg,red\nBob,red\nEmil,blue\n")
    with pytest.raises(InputError, match=r"1 of 3 labelled nodes .* first Jorg \(is it 'Jörg'\?\)"):
        classify(GRAPH, path)


def test_a_number_above_numbers_is_no_header(labels):
    graph = nx.relabel_nodes(nx.cycle_graph(6), {k: str(k + 1) for k in range(6)})
    with pytest.raises(InputError, match="1 of 3 labelled nodes are not in the graph, first 0"):
        classify(graph, labels("0,7\n1,1\n2,2\n"))


def test_words_that_occur_nowhere_else_are_a_header_and_the_option_is_named(labels):
    result = classify(GRAPH, labels("wer,was\nBob,red\nEmil,blue\n"))
    assert given(result) == 2
    assert any("'wer', 'was'; --no-labels-header reads it" in note for note in result.notes)


def test_the_user_decides(labels):
    path = labels("wer,was\nBob,red\nEmil,blue\n")
    with pytest.raises(InputError, match="1 of 3 labelled nodes are not in the graph, first wer"):
        classify(GRAPH, path, labels_header=False)
    result = classify(GRAPH, path, labels_header=True)
    assert given(result) == 2
    assert not any("header" in note for note in result.notes)
    with pytest.raises(InputError, match="one class"):
        classify(GRAPH, labels("Jörg,red\nBob,blue\n"), labels_header=True)


def test_the_option_of_the_command_line(labels, tmp_path):
    nx.write_edgelist(GRAPH, tmp_path / "edges.txt", data=False)
    path = labels("wer,was\nBob,red\nEmil,blue\n")
    call = ["classify", str(tmp_path / "edges.txt"), "--labels", str(path)]
    assert CliRunner().invoke(app, call).exit_code == 0
    refused = CliRunner().invoke(app, [*call, "--no-labels-header"])
    assert refused.exit_code == 1
    assert "first wer" in refused.stderr


def test_a_header_is_not_counted_among_unknown_nodes(labels):
    with pytest.raises(InputError, match=r"8 of 8 labelled nodes .* 8 of 8 do by column"):
        classify(GRAPH, labels("Partei,Wer\n" + "".join(f"red,{name}\n" for name in NAMES)))

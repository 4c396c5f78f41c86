"""Lines at the beginning of a table that begin with # or %: rows are not lost as comments."""

import openpyxl
import pytest

from robustgc.io.dialect import Dialect
from robustgc.io.errors import InputError
from robustgc.io.graph_files import read_graph
from robustgc.io.label_files import read_labels

TAGS = [("#ai", "#ml"), ("#ml", "#nlp"), ("vision", "#ai"), ("vision", "#ml")]


def table(folder, text, name="edges.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def as_text(rows, mark=","):
    return "".join(mark.join(row) + "\n" for row in rows)


@pytest.mark.parametrize("mark", [",", "\t", " "])
def test_names_that_begin_with_the_sign_are_no_comments(tmp_path, mark):
    path = table(tmp_path, as_text(TAGS, mark), "edges.txt")
    with pytest.raises(InputError, match=r"edges\.txt, line 2: .*ml.*in double quotes, or add a"):
        read_graph(path)
    quoted = table(tmp_path, f'"#ai"{mark}"#ml"\n' + as_text(TAGS[1:], mark))
    assert read_graph(quoted).n_edges == 4
    with_header = table(tmp_path, as_text([("source", "target"), *TAGS], mark))
    assert read_graph(with_header).n_edges == 4


def test_a_file_of_such_names_only_is_not_empty(tmp_path):
    with pytest.raises(InputError, match=r"line 1: '#ai,#ml'\. If it is a row, put names"):
        read_graph(table(tmp_path, as_text(TAGS[:2])))


def test_sheets_have_no_comments(tmp_path):
    book = openpyxl.Workbook()
    for row in TAGS:
        book.active.append(row)
    book.save(tmp_path / "tags.xlsx")
    graph = read_graph(tmp_path / "tags.xlsx")
    assert graph.n_edges == 4
    assert set(graph.names) == {"#ai", "#ml", "#nlp", "vision"}


@pytest.mark.parametrize("names", ["#,source,target", "#,Von,Nach"])
def test_a_counter_called_by_the_sign_is_no_node(tmp_path, names):
    graph = read_graph(table(tmp_path, f"{names}\n1,a,b\n2,b,c\n3,c,a\n"))
    assert sorted(graph.names) == ["a", "b", "c"]
    assert "column 1 ('#') only counts the rows, and is not used" in graph.notes


@pytest.mark.parametrize("line", ["#source,cost,target", "# source,cost,target"])
def test_a_header_behind_the_sign_names_the_columns(tmp_path, line):
    graph = read_graph(table(tmp_path, f"# made by hand\n{line}\na,7,b\nb,7,c\n"))
    assert sorted(graph.names) == ["a", "b", "c"]
    note = "line 2 of edges.csv begins with # and is read as a header: source, cost, target"
    assert note in graph.notes


def test_words_above_numbers_are_a_header(tmp_path):
    graph = read_graph(table(tmp_path, "#user,item\n1,2\n3,2\n"))
    assert graph.names.tolist() == [1, 2, 3]
    assert graph.notes == ("line 1 of edges.csv begins with # and is read as a header: user, item",)


@pytest.mark.parametrize("header", [None, True, False])
def test_unknown_words_behind_the_sign_are_asked_about(tmp_path, header):
    path = table(tmp_path, "#Von,Nach\na,b\nb,c\n")
    with pytest.raises(InputError, match=r"line 1: '#Von,Nach' has as many .*remove the sign"):
        read_graph(path, dialect=Dialect(header=header))


def test_a_label_behind_the_sign_is_not_lost(tmp_path):
    with pytest.raises(InputError, match="line 1: '#news,x' has as many fields"):
        read_labels(table(tmp_path, "#news,x\npolitics,y\nart,x\n"))
    labels = read_labels(table(tmp_path, "#node,label\n#news,x\npolitics,y\n".replace("#", "", 1)))
    assert labels.nodes.to_pylist() == ["#news", "politics"]


@pytest.mark.parametrize(
    "text",
    ["# a list\n#\na,b\nb,c\n", "% sym unweighted\n% 2 3 3\na b\nb c\n", "## x\na\tb\nb\tc\n"],
)
def test_plain_comments_are_skipped_without_a_word(tmp_path, text):
    graph = read_graph(table(tmp_path, text, "edges.txt"))
    assert (graph.n_edges, graph.notes) == (2, ())


@pytest.mark.parametrize("line", ["# by Ann, Bob", "#made by hand", "# FromNode,ToNode"])
def test_other_comments_are_told(tmp_path, line):
    graph = read_graph(table(tmp_path, f"# a list\n{line}\n1,2\n2,3\n"))
    assert graph.n_edges == 2
    note = f"2 lines are skipped as comments before the rows of edges.csv, such as line 2: {line!r}"
    assert graph.notes == (note,)


def test_between_rows_the_sign_is_part_of_a_name(tmp_path):
    assert "#b" in read_graph(table(tmp_path, "a,b\n#b,c\nc,a\n")).names
    with pytest.raises(InputError, match="line 2: 1 field where 2 are expected"):
        read_graph(table(tmp_path, "a,b\n# a remark\nc,a\n"))


def test_between_spaces_only_remarks_are_left_out(tmp_path):
    path = table(tmp_path, "a b\r\n#b c\r\n# a remark\r\n#\r\n%% too\r\nc  a\r\n", "edges.txt")
    graph = read_graph(path)
    assert sorted(graph.names) == ["#b", "a", "b", "c"]
    assert graph.n_edges == 3

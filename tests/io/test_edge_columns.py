"""Tables of three or more columns whose first two are not the nodes: refused, with the columns."""

import networkx as nx
import pandas as pd
import pytest

from named_edges import edges_of
from robustgc.io.graph_files import read_graph
from robustgc.io.objects import named_graph
from robustgc.io.opening import InputError

KARATE = list(nx.karate_club_graph().edges)
NAMED = [(f"m{u}", f"m{v}") for u, v in KARATE]


def table(rows, header=None, mark=","):
    rows = ([header] if header else []) + list(rows)
    return "".join(mark.join(map(str, row)) + "\n" for row in rows)


def numbered(edges):
    return [(k, *edge) for k, edge in enumerate(edges, 1)]


OTHERS = {
    # name: (content, the columns of the nodes, why)
    "dates": (
        table([(f"2024-01-{k % 28 + 1:02d}", *edge) for k, edge in enumerate(NAMED)],
              ("Datum", "Absender", "Empfänger")),
        ("Absender", "Empfänger"), "'Datum' holds dates"),
    "dates, no header": (
        table([(f"{k % 28 + 1:02d}.01.2024", *edge) for k, edge in enumerate(NAMED)]),
        ("column 2", "column 3"), "column 1 ('01.01.2024') holds dates"),
    "types": (
        table([("likes" if k % 3 else "knows", *edge) for k, edge in enumerate(NAMED)],
              ("type", "person1", "person2")),
        ("person1", "person2"), "'type' and 'person1' share no value"),
    "numbers and names": (
        table([(u, f"m{u}", v, f"m{v}") for u, v in KARATE],
              ("source_id", "source_name", "target_id", "target_name")),
        ("source_name", "target_name"), "'source_id' and 'source_name' share no value"),
    "properties": (
        table([(u, "mf"[len(u) % 2], v, "mf"[len(v) % 2]) for u, v in NAMED],
              ("name1", "sex1", "name2", "sex2")),
        ("name1", "name2"), "'name1' and 'sex1' share no value"),
    "names of edges": (
        table([(f"e{k}", *edge, 1) for k, edge in enumerate(NAMED)],
              ("edge", "Von", "Nach", "Gewicht")),
        ("Von", "Nach"), "'edge' and 'Von' share no value, while 'Von' and 'Nach' do"),
    "numbers of rows": (
        table(numbered(NAMED)), ("column 2", "column 3"), "column 1 ('1') counts the rows"),
    "numbers of rows and nodes": (
        table(numbered(KARATE)), ("column 2", "column 3"), "column 1 ('1') counts the rows"),
    "weight between": (
        table([(u, 0.5 + len(u), v) for u, v in NAMED]),
        ("column 1", "column 3"), "column 2 ('2.5') holds numbers with decimals"),
    "arrows": (
        table([(u, "->", v) for u, v in NAMED], mark=" "),
        ("column 1", "column 3"), "column 2 ('->') holds signs without a letter or digit"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_columns_than_the_first_two_are_asked_for(tmp_path, name):
    content, (source, target), reason = OTHERS[name]
    path = tmp_path / "g.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_graph(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: the first two columns would be the nodes, but {reason}")
    assert "The columns are " in text
    assert "--source and --target (source= and target= in Python)" in text
    graph = read_graph(path, source=source, target=target)
    assert len(edges_of(graph)) == len(KARATE)
    assert len(graph.names) == 34


@pytest.mark.parametrize("second", ["5.{}", "{}"])
def test_a_table_of_points_is_no_list_of_edges(tmp_path, second):
    rows = [(f"f{k}", second.format(k % 9), f"3.{k % 7}", k % 3, "ab"[k % 2]) for k in range(40)]
    path = tmp_path / "iris.csv"
    path.write_text(table(rows, ("flower", "len", "wid", "z", "species")))
    with pytest.raises(InputError, match="is a point with its measures, use --points"):
        read_graph(path)


def test_frames_are_asked_too():
    frame = pd.DataFrame(NAMED, columns=["p", "q"])
    frame.insert(0, "kind", "knows")
    with pytest.raises(InputError, match="--source 'p' --target 'q'"):
        named_graph(frame)
    frame["kind"] = pd.Timestamp("2024-01-02")
    with pytest.raises(InputError, match="'kind' holds dates"):
        named_graph(frame)


def test_an_edge_list_has_its_nodes_first_by_definition(tmp_path):
    path = tmp_path / "g.edgelist"
    path.write_text(table([(1, 4, 3), (2, 3, 1), (3, 1, 4), (4, 2, 2)], mark=" "))
    assert sorted(edges_of(read_graph(path)).values()) == [1, 2, 3, 4]


READ = {
    "two columns": [(f"u{k % 9}", f"i{k % 7}") for k in range(60)],
    "a weight": [(f"u{k % 9}", f"i{k % 7}", k % 5 + 1) for k in range(60)],
    "ratings of numbers": [(f"u{k % 9}", k % 7 + 1, k % 5 + 1) for k in range(60)],
    "numbers": [(k % 9 + 100, k % 7 + 1, k % 5 + 1) for k in range(60)],
    "classes of nodes": [(f"g{k}", f"h{k % 50}", "xy"[k % 2], "xy"[k % 3 // 2]) for k in range(60)],
    "far apart": [(7919 * k % 10**7, 104729 * k % 10**7, k % 5 + 1, k % 9) for k in range(1, 3000)],
    "a star": [("hub", f"x{k}", k % 4 + 1) for k in range(30)],
    "a path": [(k, k + 1, k % 3 + 1) for k in range(1, 30)],
}


@pytest.mark.parametrize("name", READ)
def test_nodes_of_two_kinds_and_other_columns_are_read(tmp_path, name):
    path = tmp_path / "g.csv"
    path.write_text(table(READ[name]))
    wanted = {frozenset(map(str, row[:2])) for row in READ[name]}
    assert {frozenset(map(str, edge)) for edge in edges_of(read_graph(path))} == wanted


def test_usual_names_settle_it(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text(table([(0.5, f"2024-01-0{k}", 3) for k in range(1, 9)], ("from", "to", "n")))
    assert len(read_graph(path).names) == 9

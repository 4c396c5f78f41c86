"""Tables of spreadsheets: delimiters, decimal commas and encodings, recognised or refused."""

import gzip

import pytest
from typer.testing import CliRunner

from named_edges import edges_of
from robustgc import classify
from robustgc.io.dialect import Dialect, encoding_of
from robustgc.io.graph_files import read_graph
from robustgc.io.label_files import read_labels
from robustgc.io.label_nodes import node_labels
from robustgc.io.opening import InputError
from robustgc.io.point_files import read_points

CITIES = "source;target;weight\nZürich;Köln;0,5\nKöln;Paris;1,25\n"
WANTED = {frozenset(("Zürich", "Köln")): 0.5, frozenset(("Köln", "Paris")): 1.25}
WEIGHT = "column 3 is read as the weight (--weight NAME uses another)"
COMMA = "numbers are read with a decimal comma (--decimal . reads them with a point)"


def write(tmp_path, content, name="g.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def encoded_note(name):
    return f"is read as {name}"


READ = {
    # name: (content, parts of the notes)
    "decimal comma": (CITIES, [COMMA]),
    "decimal comma, tabs": (CITIES.replace(";", "\t"), [COMMA]),
    "decimal comma, no header": (CITIES.split("\n", 1)[1], [COMMA, WEIGHT]),
    "decimal comma, in quotes": (
        'source,target,weight\nZürich,Köln,"0,5"\nKöln,Paris,"1,25"\n', [COMMA]),
    "one row": ("source;target;weight\nZürich;Köln;0,5\nKöln;Paris;1,25", [COMMA]),
    "line for Excel": (f"sep=;\n{CITIES}", [COMMA]),
    "decimal point": (CITIES.replace(",", "."), []),
    "pipes": (CITIES.replace(",", ".").replace(";", "|"), []),
    "cp1252": (CITIES.encode("cp1252"), ["is read as cp1252, as it is not UTF-8", COMMA]),
    "UTF-16": (CITIES.encode("utf-16"), ["g.csv is read as utf-16 (--encoding NAME", COMMA]),
    "UTF-16, big": (b"\xfe\xff" + CITIES.encode("utf-16-be"), ["is read as utf-16", COMMA]),
    "UTF-16 without a mark": (CITIES.encode("utf-16-le"), ["is read as utf-16-le", COMMA]),
    "UTF-32": (CITIES.encode("utf-32"), ["is read as utf-32", COMMA]),
    "UTF-8 with a mark": (b"\xef\xbb\xbf" + CITIES.replace(",", ".").encode(), []),
    "CR LF in UTF-16": (CITIES.replace("\n", "\r\n").encode("utf-16"), ["utf-16", COMMA]),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_a_messy_table_is_read_and_what_was_decided_said(tmp_path, name):
    content, said = READ[name]
    graph = read_graph(write(tmp_path, content))
    assert edges_of(graph) == WANTED
    assert len(graph.notes) == len(said)
    assert all(part in note for part, note in zip(said, graph.notes, strict=True))


def test_packed_files_have_encodings_too(tmp_path):
    packed = gzip.compress(CITIES.encode("utf-16"))
    assert edges_of(read_graph(write(tmp_path, packed, "g.csv.gz"))) == WANTED


NAMES = {
    "Smith, J;Doe\nDoe;Miller, K\nMiller, K;Smith, J\n": {"Smith, J", "Doe", "Miller, K"},
    '"a;b",c\nc,d\nd,"a;b"\n': {"a;b", "c", "d"},
    "a b|c d\nc d|e, f\ne, f|a b\n": {"a b", "c d", "e, f"},
    "New York\tLos Angeles\nLos Angeles\tBoston, MA\n": {"New York", "Los Angeles", "Boston, MA"},
    "source,target,tags\na,b,x;y\nb,c,z;x\nc,a,x;z\n": {"a", "b", "c"},
    "Doe, J;Roe, K\nRoe, K;Poe, L\nPoe, L;Doe, J\n": {"Doe, J", "Roe, K", "Poe, L"},
    "1, 2\n2, 3\n": {1, 2, 3},
    "von ort;nach, land\na;b\nb;c\nc;d\nd;a\n": {"a", "b", "c", "d"},
}


@pytest.mark.parametrize("content", NAMES)
def test_the_delimiter_is_what_all_rows_have(tmp_path, content):
    assert set(read_graph(write(tmp_path, content)).names) == NAMES[content]


REFUSED = {
    # name: (content, what the user says, parts of the message)
    "point and comma": (
        "source;target;weight\na;b;0,5\nb;c;0.7\n", {}, "line 3: '0.7' has a decimal point, "
        "'0,5' on line 2 a comma, --decimal ,"),
    "thousands": ("source;target;weight\na;b;1.234,5\nb;c;2,5\n", {}, "line 2: '1.234,5' has a "
                  "mark between thousands, --decimal"),
    "thousands, English": ('source,target,weight\na,b,"1,234.5"\nb,c,2\n', {}, "line 2: '1,234.5'"),
    "three digits": ("source;target;weight\na;b;1,234\nb;c;2,345\n", {}, "line 2: '1,234' may be "
                     "1.234 or 1234, Use --decimal , if"),
    "comma, late": ("source;target;weight\n" + "a;b;1\n" * 20_000 + "a;b;0,5\n", {},
                    "line 20002: '0,5' in column 3 ('weight') is no number, use --decimal ,"),
    "point, late": ("source;target;weight\n" + "a;b;0,5\n" * 20_000 + "a;b;0.5\n", {},
                    "line 20002: '0.5' in column 3 ('weight') is no number, use --decimal ."),
    "point where commas are asked for": ("a;b;0.5\n" * 3, {"decimal": ",", "header": False},
                                         "line 1: '0.5' in column 3, --decimal ."),
    "commas between fields": ("a,b,0,5\nb,c,1,5\n", {"decimal": ","}, "line 1: commas stand "
                              "between its fields, Leave out --decimal"),
    "breaks late": (b"a,b\n" * 50_000 + b"a,\xe9\n", {}, "line 50001: not UTF-8, 0xe9, "
                    "--encoding cp1252"),
    "no cp1252 either": (b"a,b\n" * 50_000 + b"a,\x81\n", {"encoding": "cp1252"},
                         "line 50001: not cp1252, 0x81, another --encoding"),
    "half UTF-8": ("Zürich,b\n".encode() + b"K\xf6ln,b\n", {}, "line 2: not UTF-8, 0xf6"),
    "damaged UTF-16": ("a,b\n".encode("utf-16") + "a,b\n".encode("utf-16-le") * 400_000
                       + b"\x00\xd8\x00\x00", {}, "line 400002: not utf-16"),
    "row in UTF-16": ("a,b\nc\n".encode("utf-16"), {}, "line 2: 1 field where 2 are expected"),
    "weight in UTF-16": ("source,target,weight\nä,b,1\nb,c,-2\n".encode("utf-16"), {},
                         "line 3: weight -2 is negative"),
    "weight in cp1252": ("# ö\nsource;target;weight\nä;b;1\nb;c;x\n".encode("cp1252"), {},
                         "line 4: 'x' in column 3"),
    "another delimiter": ("a:b\nb:c\n", {}, "line 1: one field where two nodes are, --delimiter"),
    "the wrong delimiter": ("a,b\nb,c\n", {"delimiter": ";"}, "line 1: one field where two nodes"),
    "a title": ("My network\nsource,target\na,b\n", {}, "line 1: one field where two nodes are"),
    "ragged": ("a;b\nb;c\nc;d;e\n", {}, "line 3: 3 fields where 2, (';'; --delimiter names"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_open_is_refused_with_its_line_and_flag(tmp_path, name):
    content, says, parts = REFUSED[name]
    path = write(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_graph(path, dialect=Dialect(**says))
    text = str(caught.value)
    assert text.startswith(f"{path}, line ")
    assert text.endswith(".")
    assert all(part in text for part in parts.split(", ")), text


def test_what_the_user_says_holds(tmp_path):
    colon = read_graph(write(tmp_path, "a:b\nb:c\n"), dialect=Dialect(delimiter=":"))
    assert set(colon.names) == {"a", "b", "c"}
    three = write(tmp_path, "source;target;weight\na;b;1,234\nb;c;2,345\n")
    read = read_graph(three, dialect=Dialect(decimal=","))
    assert (edges_of(read)[frozenset("ab")], read.notes) == (1.234, ())
    mac = write(tmp_path, "source,target\nZürich,Köln\n".encode("mac-roman"))
    assert "Zürich" in read_graph(mac, dialect=Dialect(encoding="mac-roman")).names
    late = write(tmp_path, b"a,b\n" * 50_000 + b"a,\xe9\n")
    assert "é" in read_graph(late, dialect=Dialect(encoding="cp1252")).names
    marked = write(tmp_path, "a,b\n".encode("utf-16"))
    assert set(read_graph(marked, dialect=Dialect(encoding="utf-16-le")).names) == {"a", "b"}
    for word, mark in [("tab", "\t"), ("\\t", "\t"), ("Semicolon", ";"), ("space", " ")]:
        assert Dialect(delimiter=word).delimiter == mark


def test_decimal_commas_are_no_delimiters(tmp_path):
    points = write(tmp_path, "0,5;0,7\n1,5;1,25\n", "p.csv")
    assert read_points(points).X.tolist() == [[0.5, 0.7], [1.5, 1.25]]
    rows = "".join(f"a{k};b{k % 7};0,{k + 1}\n" for k in range(50))
    with pytest.raises(InputError, match=r"g\.csv, line 52: 2 fields where 3 are expected"):
        read_graph(write(tmp_path, f"source;target;weight\n{rows}a0;b0,5\n"))


def test_bytes_say_the_encoding():
    assert encoding_of("Zürich".encode()) == "utf-8"
    assert encoding_of("Zürich".encode()[:2]) == "utf-8"  # cut within a letter
    assert encoding_of(b"\0" * 100) == "utf-8"
    assert encoding_of(b"\x01\xe9") == "utf-8"  # no text at all
    assert encoding_of("a,b".encode("utf-16-be")) == "utf-16-be"


def test_points_and_labels_are_read_the_same_way(tmp_path):
    points = write(tmp_path, "id;x;y\nä;0,5;1\nb;1,5;2\n".encode("cp1252"), "p.csv")
    read = read_points(points)
    assert (read.X.tolist(), read.names.tolist()) == ([[0.5, 1], [1.5, 2]], ["ä", "b"])
    assert ["cp1252" in read.notes[0], "decimal comma" in read.notes[1]] == [True, True]
    with pytest.raises(InputError, match=r"p.csv, line 3: .*1.5. has a decimal point"):
        read_points(write(tmp_path, "id;x;y\na;0,5;1\nb;1.5;2\n", "p.csv"))
    bare = write(tmp_path, "1;2\n3;4\n5;6\n", "p.csv")
    assert len(read_points(bare, dialect=Dialect(header=True)).X) == 2
    graph = read_graph(write(tmp_path, CITIES))
    labels = write(tmp_path, "node;label;more\nZürich;ö;1.234,5\nParis;ü;x\n".encode("utf-16"))
    y, notes = node_labels(read_labels(labels, dialect=Dialect(header=False)), graph)
    assert [label for label in y if label] == ["ö", "ü"]
    assert notes == ("g.csv is read as utf-16 (--encoding NAME reads it as another encoding)",)
    twice = write(tmp_path, "node;label\nZürich;ö\nZürich;ü\n".encode("utf-16"))
    with pytest.raises(InputError, match=r"'ö' \(line 2\) and 'ü' \(line 3\)"):
        node_labels(read_labels(twice), graph)


def run(*words):
    from robustgc.cli.app import app

    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_command_line_and_python_take_the_same_words(tmp_path):
    ring = [(f"ö{k}", f"ö{(k + 1) % 8}", f"1,{k}") for k in range(8)]
    text = "".join(":".join(edge) + "\n" for edge in ring)
    edges = write(tmp_path, text.encode("mac-roman"), "g.txt")
    labels = write(tmp_path, "node:label\nö0:a\nö4:b\n".encode("mac-roman"), "l.txt")
    flags = ["--delimiter", ":", "--decimal", ",", "--encoding", "mac-roman", "--no-header"]
    result = run("classify", edges, "--labels", labels, *flags)
    assert result.exit_code == 0, result.output
    assert '"ö3",' in result.stdout
    assert result.stderr.count("note:") == 1
    options = {"delimiter": ":", "decimal": ",", "encoding": "mac-roman", "header": False}
    answer = classify(edges, labels, **options)
    assert set(answer.names) == {f"ö{k}" for k in range(8)}
    assert answer.notes == (WEIGHT,)
    assert run("info", edges, *flags).exit_code == 0


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--delimiter", "ab"), "--delimiter 'ab' cannot stand between fields; choose one"),
        (("--delimiter", "a"), "--delimiter 'a' cannot stand"),
        (("--delimiter", '"'), "cannot stand between fields"),
        (("--decimal", "x"), "--decimal 'x' is unknown; choose . or ,"),
        (("--encoding", "klingon"), "--encoding 'klingon' is unknown; choose utf-8, utf-16"),
        (("--encoding", "rot13"), "--encoding 'rot13' is unknown"),
        (("--encoding", "base64"), "--encoding 'base64' is unknown"),
    ],
)
def test_words_that_there_are_not_are_wrong_usage(tmp_path, flags, said):
    path = write(tmp_path, CITIES)
    for words in (["info", path], ["classify", path, "--labels", path]):
        result = run(*words, *flags)
        assert result.exit_code == 2
        assert said in result.stderr
    with pytest.raises(InputError):
        classify(path, {"Paris": "a", "Köln": "b"}, **{flags[0][2:]: flags[1]})

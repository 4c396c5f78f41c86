"""Points that may stand between thousands, in tables of countries with a decimal comma."""

import pytest

from named_edges import edges_of
from robustgc.io.dialect import Dialect
from robustgc.io.graph_files import read_graph
from robustgc.io.opening import InputError

TEXT = "Von;Nach;Gewicht\na;b;8.780\nb;c;1.050\nc;a;7\n"


def read(tmp_path, text, **says):
    path = tmp_path / "g.csv"
    path.write_text(text)
    return read_graph(path, dialect=Dialect(**says))


def test_three_decimals_between_semicolons_are_open(tmp_path):
    with pytest.raises(InputError, match=r"line 2: '8.780' may be 8.780 or 8780, .* --decimal \."):
        read(tmp_path, TEXT)
    assert edges_of(read(tmp_path, TEXT, decimal="."))[frozenset("ab")] == 8.78


@pytest.mark.parametrize("text", [
    TEXT.replace("1.050", "1.05"), TEXT.replace(";", ","), TEXT.replace("8.780", "0.780"),
])  # fmt: skip
def test_other_points_are_decimal(tmp_path, text):
    assert len(edges_of(read(tmp_path, text))) == 3

"""The column `reviewed` in the words into which spreadsheets translate true and false."""

import networkx as nx
import pytest

from robustgc import classify

SIDES = ["x", "y"] * 3


@pytest.mark.parametrize(
    ("yes", "no"), [("WAHR", "FALSCH"), ("ja", "nein"), ("VRAI", "faux"), ("oui", "non"),
                    ("sí", "no"), ("VERDADERO", "FALSO")]
)  # fmt: skip
def test_reviewed_in_other_languages(tmp_path, yes, no):
    path = tmp_path / "labels.csv"
    rows = [f"{k},{SIDES[k]},{yes if k < 2 else no}\n" for k in range(6)]
    path.write_text("node,label,reviewed\n" + "".join(rows), encoding="utf-8")
    assert classify(nx.cycle_graph(6), path).reviewed == {0: "x", 1: "y"}

"""Fields of many letters, made to do harm: patterns pass over them once."""

import time

import pytest

from robustgc.io import dialect, label_classes, point_columns, spreadsheets
from robustgc.io.label_files import read_labels

MANY = 15_000  # letters; a pattern that begins anew at each of them takes seconds

FIELDS = {
    "digits": (dialect.is_number, "9" * MANY + "x"),
    "digits and a fraction": (dialect.is_number, "9" * MANY + ".5e7x"),
    "a price": (point_columns._LIKE_NUMBER.fullmatch, "1" + " " * MANY + "x"),
    "a price without a number": (point_columns._LIKE_NUMBER.fullmatch, " " * MANY + "x"),
    "zeros in front": (label_classes._as_number, "0" * MANY + "x"),
    "a cell of spaces": (lambda cell: spreadsheets._BREAKS.sub(" ", cell), " " * MANY + "x"),
}


@pytest.mark.parametrize("field", FIELDS)
def test_a_long_field_takes_no_time(field):
    read, text = FIELDS[field]
    begun = time.process_time()
    read(text)
    assert time.process_time() - begun < 0.5


def test_whole_numbers_in_their_shortest_form():
    forms = {"02": "2", "2.0": "2", "-007.": "-7", "000": "0", "0": "0", "1.5": "1.5", "x": "x"}
    assert {text: label_classes._as_number(text) for text in forms} == forms


def test_a_table_of_one_long_field_is_read_soon(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("1" + "9" * 70_000 + "a\n")
    begun = time.process_time()
    with pytest.raises(ValueError, match=r"\.$"):
        read_labels(path)
    assert time.process_time() - begun < 2

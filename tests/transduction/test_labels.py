import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

from robustgc.transduction.labels import draw, encode, flip, recode, sign_columns

NAN = float("nan")


# y, classes, codes, marker in answers
READ = {
    "integers": ([0, 1, -1], [0, 1], [0, 1, -1], -1),
    "text, None": (["a", "b", None], ["a", "b"], [0, 1, -1], None),
    "text, empty": (["a", "b", ""], ["a", "b"], [0, 1, -1], ""),
    "text, NaN": (["a", "b", NAN], ["a", "b"], [0, 1, -1], NAN),
    "booleans, None": ([True, False, None], [False, True], [1, 0, -1], None),
    "booleans": (np.array([True, False]), [False, True], [1, 0], None),
    "integers, NaN": ([2, 3, NAN], [2, 3], [0, 1, -1], NAN),
    "integers, None": ([2, 3, None, -1], [2, 3], [0, 1, -1, -1], None),
    "whole floats": (np.array([2.0, 5.0, NAN]), [2, 5], [0, 1, -1], NAN),
    "whole floats, -1": (np.array([2.0, 5.0, -1.0]), [2, 5], [0, 1, -1], -1),
    "unsigned": (np.array([0, 1], dtype=np.uint8), [0, 1], [0, 1], -1),
    "object text": (np.array(["b", "a"], dtype=object), ["a", "b"], [1, 0], ""),
    "bytes": (np.array([b"b", b"a"]), ["a", "b"], [1, 0], ""),
    "series": (pd.Series(["a", NAN, "b"]), ["a", "b"], [0, -1, 1], NAN),
    "nullable text": (pd.Series(["a", None, "b"], dtype="string"), ["a", "b"], [0, -1, 1], pd.NA),
    "category": (pd.Series(["a", None, "b"], dtype="category"), ["a", "b"], [0, -1, 1], NAN),
    "dates as text": (
        ["2020-01-01", "2021-01-01", None],
        ["2020-01-01", "2021-01-01"],
        [0, 1, -1],
        None,
    ),
    "tuple": (("x", None, "y"), ["x", "y"], [0, -1, 1], None),
}


@pytest.mark.parametrize("case", READ)
def test_labels_of_every_type(case):
    y, classes, codes, marker = READ[case]
    labels = encode(y, n_nodes=len(y))
    assert labels.classes.tolist() == classes
    assert labels.codes.tolist() == codes
    assert labels.marker is marker or labels.marker == marker or labels.marker != labels.marker
    named = labels.names(np.array([1, 0]))
    assert named.tolist() == [classes[1], classes[0]]
    assert named.dtype == labels.classes.dtype
    again = recode(labels.names(np.array([0, -1, 1])), labels.classes)
    assert again.tolist() == [0, -1, 1]


def test_nullable_integers():
    labels = encode(pd.Series([4, None, 7], dtype="Int64"), n_nodes=3)
    assert labels.codes.tolist() == [0, -1, 1]
    assert labels.classes.tolist() == [4, 7]


def test_override_of_the_marker():
    labels = encode([1, 0, 0, -1], n_nodes=4, unlabeled=0)
    assert labels.classes.tolist() == [-1, 1]
    assert labels.codes.tolist() == [1, -1, -1, 0]
    assert encode(["?", "a", "b"], n_nodes=3, unlabeled="?").codes.tolist() == [-1, 0, 1]
    assert encode(["", "a", None], n_nodes=3, unlabeled="?").codes.tolist() == [0, 1, -1]


def test_booleans_and_numbers_are_not_confused():
    y = np.array([True, False, True])
    with pytest.raises(ValueError, match="unlabeled=1 equals a class in Python"):
        encode(y, n_nodes=3, unlabeled=1)
    with pytest.raises(ValueError, match="1 class only, True"):
        encode(y, n_nodes=3, unlabeled=False)
    with pytest.raises(ValueError, match="must be one value"):
        encode(y, n_nodes=3, unlabeled=(1, 2))


def test_recoding_by_known_classes_never_truncates_or_casts():
    text = np.array(["cat", "dog"])
    assert recode(["catfish", "cat", "", "dog", None], text).tolist() == [-2, 0, -1, 1, -1]
    assert recode([1.7, 1.0, 0.0, -1.0], np.array([0, 1])).tolist() == [-2, 1, 0, -1]
    assert recode(["1", "0"], np.array([0, 1])).tolist() == [-2, -2]
    assert recode([-1, -1], np.array([0, 1])).tolist() == [-1, -1]


def test_nullable_and_new_string_types_keep_their_classes():
    if hasattr(np.dtypes, "StringDType"):
        y = np.array(["b", "a"], dtype=np.dtypes.StringDType())
        assert encode(y, n_nodes=2).codes.tolist() == [1, 0]
    labels = encode(pd.Series([4, None, 7], dtype="Int64"), n_nodes=3)
    assert labels.classes.dtype.kind == "i"


def test_columns_for_two_and_for_more_classes():
    two = sign_columns(encode(["a", "", "b"], n_nodes=3).codes, 2)
    assert two.tolist() == [[-1], [0], [1]]
    three = sign_columns(encode(["a", "", "b", "c"], n_nodes=4).codes, 3)
    assert three.tolist() == [[1, -1, -1], [0, 0, 0], [-1, 1, -1], [-1, -1, 1]]


def test_the_papers_convention_is_warned_about():
    y = [0, 1, 0, 0, 0, -1, 0]
    with pytest.warns(UserWarning, match="5 of 7 are 0.*unlabeled=0"):
        encode(y, n_nodes=7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode(y, n_nodes=7, unlabeled=0)
        encode(y, n_nodes=7, unlabeled=-1)
        encode([0, 1, 1, 1, -1, 0], n_nodes=6)


def test_a_column_vector_is_taken_with_scikit_learns_warning():
    with pytest.warns(DataConversionWarning):
        labels = encode(np.array([[0], [1]]), n_nodes=2)
    assert labels.codes.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("y", "error", "text"),
    [
        (None, ValueError, "requires y to be passed, but the target y is None"),
        ([0, 1], ValueError, "2 labels for 3 nodes; y needs one entry per node"),
        ([-1, -1, -1], ValueError, "All 3 nodes are unlabelled.*two classes.*unlabeled="),
        (["", None, ""], ValueError, "All 3 nodes are unlabelled"),
        ([1, 1, -1], ValueError, "1 class only, 1, on 2 of 3 nodes.*At least two"),
        ([0.5, 1.25, 3.5], ValueError, "continuous"),
        ([1, "a", None], TypeError, "int, str.*all text"),
        ([[0, 1], [1, 0], [0, 0]], ValueError, r"shape \(3, 2\).*one-dimensional"),
        (7, ValueError, "one-dimensional"),
        ([{}, {}, {}], TypeError, "dict"),
        (["spam", -1, "ham"], TypeError, "int, str"),
        (np.array(["2020-01-01", "NaT", "2021-01-01"], "datetime64[D]"), TypeError, "unsupported"),
        ([0.0, 1.0, float("inf")], ValueError, "infinity"),
        ([1j, 2j, 3j], ValueError, "Complex"),
    ],
)
def test_bad_labels(y, error, text):
    with pytest.raises(error, match=text):
        encode(y, n_nodes=3)


def test_drawing_repeats_until_every_class_occurs():
    truth = np.array(["a"] * 50 + ["b"])
    for seed in range(2, 12):
        nodes = draw(truth, 2, np.random.default_rng(seed))
        assert set(truth[nodes]) == {"a", "b"}
        assert len(set(nodes.tolist())) == 2
    with pytest.raises(ValueError, match=r"1 labels cannot be drawn.*2 to 51"):
        draw(truth, 1, np.random.default_rng(3))


def test_flipping_changes_exactly_as_many_labels_as_asked():
    labels = np.array(["a", "b", "c"] * 10)
    wrong, changed = flip(labels, 7, ["a", "b", "c"], np.random.default_rng(5))
    assert np.flatnonzero(wrong != labels).tolist() == changed.tolist()
    assert len(changed) == 7
    with pytest.raises(ValueError, match="31 of 30"):
        flip(labels, 31, ["a", "b", "c"], np.random.default_rng(5))


BIG = 2**53  # the next whole number is no float
LARGE = {
    "beside NaN": ([BIG, BIG + 1, NAN], None, NAN),
    "NaN as the marker": ([BIG, BIG + 1, NAN], NAN, NAN),
    "beside None": ([BIG, BIG + 1, None], None, None),
    "objects": (np.array([BIG, BIG + 1, NAN], dtype=object), None, NAN),
    "negative": ([-BIG, -BIG - 1, NAN], None, NAN),
    "-1 as a float": ([BIG, BIG + 1, -1.0], None, -1.0),
    "unsigned": ([2**63, 2**63 + 1, NAN], None, NAN),
    "unsigned, -1": ([2**63, 2**63 + 1, -1], None, -1),
    "unsigned array": (np.array([2**63, 2**63 + 1, 2**64 - 1], np.uint64), 2**64 - 1, 2**64 - 1),
    "of two types": ([np.int64(5), np.uint64(2**63), None], None, None),
    "nullable": (pd.Series([BIG, BIG + 1, None], dtype="Int64"), None, pd.NA),
}


@pytest.mark.parametrize("case", LARGE)
def test_large_integers_keep_every_digit(case):
    y, unlabeled, marker = LARGE[case]
    labels = encode(y, n_nodes=3, unlabeled=unlabeled)
    first, second = (int(value) for value in list(y)[:2])
    assert labels.classes.tolist() == sorted([first, second])
    assert labels.codes.tolist() == [int(first > second), int(first < second), -1]
    named = labels.names(labels.codes).tolist()
    assert named[:2] == [first, second]
    assert [type(name) for name in named[:2]] == [int, int]
    assert named[2] is marker or named[2] == marker or named[2] != named[2]
    assert recode(named, labels.classes, unlabeled=unlabeled).tolist() == labels.codes.tolist()


def test_a_marker_near_a_class_does_not_take_it_away():
    labels = encode([BIG + 1, 3, 5], n_nodes=3, unlabeled=float(BIG))
    assert labels.codes.tolist() == [2, 0, 1]
    assert encode([BIG, 3, 5], n_nodes=3, unlabeled=np.float64(BIG)).codes.tolist() == [-1, 0, 1]
    numbers = np.array([2**63 + 1, 2**63, 5], dtype=np.uint64)
    assert encode(numbers, n_nodes=3, unlabeled=np.int64(5)).codes.tolist() == [1, 0, -1]


def test_small_integers_beside_nan_are_floats_as_before():
    named = encode([2, 3, NAN], n_nodes=3).names(np.array([0, 1, -1]))
    assert named.dtype == np.float64
    assert named[:2].tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("y", "text"),
    [
        ([2**64, 3, None], r"from 3 to 18446744073709551616; .*0 to 2\^64 - 1.*str\(v\)"),
        ([-5, 2**63, None], r"from -5 to 9223372036854775808; they must all lie within -2\^63"),
        ([10**5000, 3, None], r"from 3 to 2\^16609 and more"),
        ([BIG + 1, 2.0, None], r"mix integers above 2\^53, such as 9007199254740993, with floats"),
        (["a", "a\0", None], "ends with the character NUL"),
    ],
)
def test_labels_that_would_lose_a_class_are_refused(y, text):
    with pytest.raises(ValueError, match=text):
        encode(y, n_nodes=3)


def test_text_of_mixed_widths_is_not_cut():
    labels = encode(["a", "bbbbbb", "?"], n_nodes=3, unlabeled="?")
    assert labels.names(np.array([1, 0, -1])).tolist() == ["bbbbbb", "a", "?"]
    wide = encode(np.array(["a", "b", ""]), n_nodes=3, unlabeled="not known")
    assert wide.names(np.array([0, -1])).tolist() == ["", "not known"]
    flipped, _ = flip(["a", "b"], 2, ["a", "b", "chartreuse"], np.random.default_rng(3))
    assert set(flipped.tolist()) <= {"a", "b", "chartreuse"}
    every = [flip(["a"], 1, ["a", "red"], np.random.default_rng(s))[0][0] for s in range(2, 5)]
    assert every == ["red"] * 3


def test_a_marker_that_equals_a_class_is_refused_and_others_stay_themselves():
    with pytest.raises(ValueError, match="unlabeled=True equals a class in Python"):
        encode([1, 2, 1], n_nodes=3, unlabeled=True)
    labels = encode([3, 2, None], n_nodes=3, unlabeled=True)
    assert labels.names(np.array([0, 1, -1])).tolist() == [2, 3, True]
    assert labels.names(np.array([-1]))[0] is True

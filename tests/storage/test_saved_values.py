"""Saved models with their checksums made right again: every value is as it must be, or refused."""

import io
import json

import numpy as np
import pytest

from forging import forged, refused
from models_to_save import MODELS, islands
from robustgc import RobustGC
from robustgc.choice.candidates import Candidate
from robustgc.estimators.saving.model import load, save
from robustgc.storage.values import decoded_record


@pytest.fixture
def model(tmp_path):
    W, y = islands()
    save(RobustGC(affinity="precomputed").fit(W, y), tmp_path / "model", names=range(32))
    return tmp_path / "model"


def changed(folder, name, place, value):
    """Change one value of an array and make the checksums right again."""
    values = np.load(folder / f"{name}.npy")
    values[place] = value
    forged(folder, None, **{name: values})


# Nodes 0 to 11 and 12 to 21 are solved, 22 to 26 have one class, 27 to 30 no label; 31 is alone.
VALUES = [
    ("f", 3, np.nan, r"codes.npy .*node 3 has the class number \d, which is not that of its"),
    ("f", (3, 0), np.nan, r"node 3 has the decision values \[nan, "),
    ("f", (3, 0), np.inf, r"node 3 has the decision values \[inf, "),
    ("f", 3, -np.inf, r"node 3 has the decision values \[-inf, -inf, -inf\]"),
    ("f", 28, 0.5, "node 28 has the reason 'no label in its component', which does not go"),
    ("f", 24, [-1.0, -2.0, 1.0], "node 24 has the decision values .* do not go with its component"),
    ("f", (14, 2), 0.0, "node 14 has the decision values .* do not go with its component"),
    ("codes", 28, 1, "node 28 has the class number 1, which is not that of its"),
    ("codes", 3, -1, "node 3 has the reason 'decided by the model', which does not go"),
    ("reasons", 3, 3, "node 3 has the reason .*, which does not go with its class number"),
    ("degrees", 3, np.nan, "node 3 has the degree nan; degrees are finite and 0 or more"),
    ("degrees", 28, np.inf, "node 28 has the degree inf"),
    ("degrees", 3, -1.0, "node 3 has the degree -1.0"),
    ("degrees", 3, 0.0, "node 3 has the degree 0.0; .* more than 0 where the model was solved"),
    ("components", 31, 7, "component 4 has no node; they must be numbered without a gap"),
    ("components", 3, 1, "the certificate of component 0 is for 12 nodes"),
    ("components", 28, 2, "node 28 has the decision values .* do not go with its component 2"),
    ("constants", (0, 0), np.nan, "it has the value nan; only finite numbers are allowed"),
    ("constants", (0, 0), 0.5, "component 2 has the values .* they must be 1 or -1"),
    ("constant_components", 0, 0, "component 0 of 5 cannot be one of a single class"),
    ("constant_components", 0, 9, "component 9 of 5 cannot be one of a single class"),
    ("sample_weight", 0, np.nan, "it has the value nan; only finite"),
    ("sample_weight", 0, -1.0, "it has the value -1.0; 0 is the least allowed"),
    ("issue_suspicion", 0, np.nan, "it has the value nan; only finite"),
    ("issue_suspicion", 0, 1.5, r"it has the value 1.5; 1.0\d* is the most allowed"),
    ("issue_suspicion", 0, -0.5, "it has the value -0.5"),
    ("issue_margin", 0, np.inf, "it has the value inf; only finite"),
    ("issue_margin", 0, -2.0, "it has the value -2.0"),
    ("issue_pairs", (0, 0), np.nan, "it has the value nan"),
    ("issue_pairs", (0, 0), 0.99, r"the shares sum to 1\.\d+; they must sum to 1"),
    ("issue_node", 0, 31, "the report is of 10 labels that are not the 10 given ones"),
    ("points_data", 0, np.nan, "it has the value nan; only finite"),
    ("points_indptr", 3, 9999, r"points_indptr.npy .*must rise from 0 to the number"),
    ("points_indptr", 3, 0, "must rise from 0"),
]


@pytest.mark.parametrize(("name", "place", "value", "message"), VALUES)
def test_values_that_no_fit_gives(model, name, place, value, message):
    changed(model, name, place, value)
    refused(model, r"does not fit the model: .*Save the model again")
    refused(model, message)


def test_the_report_is_of_the_labels(model):
    given = np.load(model / "issue_given.npy")
    forged(model, None, issue_given=(given + 1) % 3)
    refused(model, "issue_given.npy .*a label in the report is not the one that was given")


def certificate(**values):
    return lambda m: m["certificates"][0][1].update(values)


def candidate(**values):
    return lambda m: m["certificates"][0][1]["selection"][0].update(values)


NAN = {"float": "nan"}
SAID = [
    (lambda m: m["parameters"].update(engine="y" * 3000), r"engine='y{197}\.\.\.' \(3000 char"),
    (lambda m: m["classes"].update(array="y" * 5000), r"'y{197}\.\.\.' .* is no type of"),
    (certificate(residual=NAN), "residual of a Certificate is nan; it must be from 0"),
    (certificate(residual=-1.0), "residual of a Certificate is -1.0"),
    (certificate(gamma=3.5), "gamma of a Certificate is 3.5; it must be from -2.01 to 2.01 or"),
    (certificate(lambda_1={"float": "inf"}), "lambda_1 of a Certificate is inf"),
    (certificate(extension=-3.5), "extension of a Certificate is -3.5"),
    (certificate(n_nodes=11), "the certificate of component 0 is for 11 nodes"),
    (certificate(n_iter=-1), "n_iter of a Certificate is -1"),
    (candidate(weight=NAN), "weight of a Candidate is nan"),
    (candidate(accuracy=7.0), "accuracy of a Candidate is 7.0"),
    (candidate(n_modes=-1), "n_modes of a Candidate is -1"),
    (lambda m: m["certificates"][0].__setitem__(0, 9), "the certificate of component 9 is for"),
    (lambda m: m["certificates"][0].__setitem__(0, -1), "the certificate of component -1 is for"),
    (lambda m: m["certificates"][0].__setitem__(0, "0"), "0 is no number of one component"),
    (lambda m: m["certificates"].append(m["certificates"][0]), "0 is no number of one component"),
    (lambda m: m.update(certificates=[]), "do not go with its component 0"),
    (lambda m: m["issues"].update(noise_rate=1.5), "has the noise rate 1.5"),
    (lambda m: m.update(eta=1.5), "'eta' is 1.5; it must be strictly between 0 and 1"),
    (lambda m: m.update(eta=None), "'eta' is None"),
    (lambda m: m.update(n_modes=0), "'n_modes' is 0; it must be a whole number >= 1"),
    (lambda m: m.update(n_modes=True), "'n_modes' is True"),
    (lambda m: m.update(marker=4), "'marker' is 4, which is a class; it must be no class"),
    (lambda m: m.update({"class": "x" * 5000}), r"the class is 'x{197}\.\.\.' .*; it must be"),
    (lambda m: m["parameters"].update(eta="x" * 5000), r"eta='x{197}"),
    (lambda m: m["parameters"].update({"x" * 5000: 1}), r"parameter 'x{197}\.\.\.' .* is unknown"),
    (lambda m: m.update(marker={"numpy": "int8", "value": 300}), "300 does not fit the type int8"),
    (lambda m: m.update(marker={"numpy": "int64", "value": NAN}), "nan is no value of the type"),
    (lambda m: m.update(marker={"numpy": "str", "value": [1]}), r"\[1\] is no value of the type"),
    (lambda m: m.update(classes={"array": "<f8", "values": [1.0, NAN, 2.0]}), "must be finite"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), SAID)
def test_what_the_manifest_says_is_in_range(model, change, message):
    forged(model, change)
    refused(model, r"does not fit the model: .*Save the model again")
    refused(model, message)


def test_a_manifest_without_a_key(model):
    text = (model / "manifest.json").read_text(encoding="utf-8")
    for key in json.loads(text)["model"]:
        (model / "manifest.json").write_text(text, encoding="utf-8")
        forged(model, lambda m, key=key: m.pop(key))
        if key in ("feature_names", "names", "marker"):  # None is one of their values
            load(model)
        else:
            refused(model, "manifest.json does not fit the model: .*Save the model again")
    for key in json.loads(text):
        about = json.loads(text)
        del about[key]
        (model / "manifest.json").write_text(json.dumps(about), encoding="utf-8")
        with pytest.raises(ValueError, match=r"manifest\.json"):
            load(model)


@pytest.mark.parametrize("depth", [40, 300, 900])
@pytest.mark.parametrize("key", ["parameters", "marker", "classes", "issues", "names", "class"])
def test_lists_within_lists(model, key, depth):
    deep = []
    for _ in range(depth):
        deep = [deep]
    forged(model, lambda m: m.update({key: deep}))
    refused(
        model, "manifest.json is damaged .lists and objects are nested more than 30 deep.* Save"
    )


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (32,",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (-32,), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': 32, }",
        b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (32,), }",
        b"{'descr': '<f8', 'shape': (32,), }",
        b"[" * 200,
        b"(" * 90 + b"\n",
        b"\xff\x00",
        b"",
    ],
)
def test_a_damaged_header(model, header):
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(256)
    (model / "degrees.npy").write_bytes(content)
    forged(model)
    refused(model, r"degrees\.npy is damaged: (its header (is damaged|claims)|it has type).* Save")


def test_priors_points_and_reach(tmp_path):
    clf, *_ = MODELS["landmarks, rbf"]()
    save(clf, tmp_path / "rbf")
    for name, place, value, message in [
        ("priors", 0, -0.5, "it has the value -0.5; 0 is the least"),
        ("priors", 0, 0.9, r"the priors sum to 1\.\d+; they must sum to 1"),
        ("priors", 0, np.nan, "it has the value nan"),
        ("points", (3, 1), np.inf, "it has the value inf; only finite"),
    ]:
        before = np.load(tmp_path / "rbf" / f"{name}.npy")
        changed(tmp_path / "rbf", name, place, value)
        refused(tmp_path / "rbf", rf"{name}\.npy does not fit the model: .*{message}")
        forged(tmp_path / "rbf", None, **{name: before})
    no_landmark = np.setdiff1d(np.arange(90), clf._chosen)[0]
    changed(tmp_path / "rbf", "components", no_landmark, 0)
    refused(tmp_path / "rbf", f"a node is no landmark but has one, the first {no_landmark}")
    clf, *_ = MODELS["knn, 2 classes"]()
    save(clf, tmp_path / "knn")
    changed(tmp_path / "knn", "reach", 0, np.nan)
    refused(tmp_path / "knn", r"reach\.npy .* it has the value nan")
    changed(tmp_path / "knn", "reach", 0, -1.0)
    refused(tmp_path / "knn", r"reach\.npy .* it has the value -1.0; 0 is the least")
    changed(tmp_path / "knn", "f", 0, -np.inf)
    changed(tmp_path / "knn", "reach", 0, 1.0)
    refused(tmp_path / "knn", r"node 0 has the decision values \[-inf\]")


def test_arrays_of_either_byte_order_are_read(model):
    f = np.load(model / "f.npy")
    forged(model, None, f=f.astype(">f8"))
    assert load(model).estimator.f_.tobytes() == f.tobytes()


def test_headers_as_numpy_writes_them_are_read():
    from robustgc.graph.folder import read_header

    for values in [np.zeros(()), np.zeros(3), np.zeros((2, 3), order="F"), np.zeros((0, 4), ">i4"),
                   np.zeros((1, 2, 3), bool), np.zeros(7, np.uint8)]:  # fmt: skip
        stream = io.BytesIO()
        np.save(stream, values)
        size = stream.tell()
        stream.seek(0)
        assert read_header(stream, size)[2] == values.dtype


def test_candidates_of_earlier_versions_load():
    """They said whether classes count alike, and regressions had no eta; none had a ridge once."""
    record = {"n_modes": 2, "eta": None, "balanced": False, "constant": 1.0, "centred": True}
    record |= {"accuracy": 0.9, "evidence": 0.1, "weight": 0.2}
    found = decoded_record(Candidate, record)
    assert (found.n_modes, found.eta, found.ridge, found.is_filter) == (2, None, None, False)
    with pytest.raises(ValueError, match="must have the fields"):
        decoded_record(Candidate, record | {"unknown": 1.0})

"""Models that were damaged, forged or come from elsewhere: each is refused with its reason."""

import io
import json
import os
import zipfile

import numpy as np
import pytest

from forging import forged, refused
from models_to_save import MODELS, islands
from robustgc import RobustGC
from robustgc.estimators.saving.model import load, save


@pytest.fixture
def model(tmp_path):
    W, y = islands()
    save(RobustGC(affinity="precomputed").fit(W, y), tmp_path / "model", names=range(32))
    return tmp_path / "model"


def test_files_that_are_missing_cut_or_changed(model):
    f = (model / "f.npy").read_bytes()
    (model / "f.npy").write_bytes(f[:-8])
    refused(model, rf"f\.npy has {len(f) - 8} bytes; by the manifest it has {len(f)}\. Save")
    (model / "f.npy").write_bytes(f[:-1] + bytes([f[-1] ^ 1]))
    refused(
        model, r"f\.npy is damaged: its content does not fit the checksum.*Save the model again"
    )
    (model / "f.npy").unlink()
    refused(model, r"f\.npy is missing\. Save")
    with pytest.raises(FileNotFoundError, match="does not exist; there is no model"):
        load(model.with_name("other"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "manifest.json is missing: this is no robustgc-model, or not all of it"),
        ("", "manifest.json is damaged"),
        ('{"format": NaN}', "manifest.json is damaged .NaN is no number"),
        ("[" * 100_000, "manifest.json is damaged"),
        ("\udcff", "manifest.json is damaged"),
        ("[]", "does not describe a robustgc-model"),
        ('{"format": "robustgc-csr"}', "does not describe a robustgc-model"),
        (
            '{"format": "robustgc-model", "version": 2}',
            "format version 2; this version of robustgc reads 1; upgrade",
        ),
        ('{"format": "robustgc-model", "version": 1}', "has no list of files"),
        (
            '{"format": "robustgc-model", "version": 1, "files": {"../f.npy": {}}}',
            "has no list of files with names as save gives them",
        ),
        (
            '{"format": "robustgc-model", "version": 1, "files": {}, "model": {"a": 1e999}}',
            "its content does not fit its checksum",
        ),
    ],
)
def test_manifests_that_cannot_be_read(model, text, message):
    (model / "manifest.json").unlink()
    if text is not None:
        (model / "manifest.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    refused(model, message)


def test_a_changed_manifest_is_seen(model):
    text = (model / "manifest.json").read_text(encoding="utf-8")
    (model / "manifest.json").write_text(text.replace('"features": 32', '"features": 31'))
    refused(model, "manifest.json is damaged: its content does not fit its checksum")


CHANGES = [
    (lambda m: m.update({"class": "os.system"}), "the class is 'os.system'"),
    (lambda m: m["parameters"].update(alpha=1), "the parameter 'alpha' is unknown"),
    (lambda m: m["parameters"].pop("eta"), "the parameter 'eta' is missing"),
    (lambda m: m["parameters"].update(eta=7), "eta=7 is not allowed"),
    (lambda m: m["parameters"].update(affinity="os"), "affinity is os, no kind"),
    (lambda m: m["parameters"].update(affinity=["os"]), "affinity is .* no kind"),
    (lambda m: m["parameters"].update(tol={"numpy": "object", "value": 1}), "no value that save"),
    (lambda m: m["parameters"].update(tol={"dict": [[{}, 1]]}), "a parameter is not allowed"),
    (lambda m: m["parameters"].update(tol={"dict": [[[], 1]]}), "cannot be a key"),
    (lambda m: m.update(parameters=None), "'parameters' is None; it must be of type dict"),
    (lambda m: m.pop("classes"), "the classes cannot be read"),
    (lambda m: m["classes"].update(array="|O"), "the classes cannot be read: '|O' is no type"),
    (lambda m: m["classes"].update(array="<U9999999"), "must all be str"),
    (lambda m: m.update(classes={"array": "<U9999999", "values": list("abcdefg")}), "more than"),
    (lambda m: m.update(classes={"array": "<U1", "values": ["a", "bc"]}), "a text is longer"),
    (lambda m: m["classes"].update(values=[5, 4, 3]), "two or more are needed, ascending"),
    (lambda m: m["classes"].update(values=[3, 4]), r"given\.npy .* the value 2; 1 is the most"),
    (lambda m: m["classes"].update(values=[3, 4, 2**70]), "the classes cannot be read"),
    (lambda m: m.update(marker={"tuple": 1}), "'marker' cannot be read"),
    (lambda m: m.update(marker=[1]), r"'marker' is \[1\]; it must be one value"),
    (lambda m: m.update(points={"kind": "cube"}), "which this version of robustgc does not know"),
    (lambda m: m["points"].update(columns=5), r"points_indices\.npy .* not in order"),
    (lambda m: m["points"].update(columns=40), r"have shape \(32, 40\)"),
    (lambda m: m.update(features=31), "has 31 features, but its points have 32"),
    (lambda m: m.update(feature_names=["a"]), "feature_names must be 32 texts"),
    (lambda m: m.update(reasons=[1]), "reasons must be texts"),
    (lambda m: m.update(reasons=["a"]), r"reasons\.npy .* the most allowed"),
    (lambda m: m["certificates"].append(3), "a certificate cannot be read"),
    (lambda m: m["certificates"][0][1].pop("gamma"), "must have the fields n_nodes, residual"),
    (lambda m: m["certificates"][0][1].update(gamma="x"), "gamma of a Certificate is x"),
    (lambda m: m["certificates"][0][1].update(history=0), "history of a Certificate must be a"),
    (lambda m: m.update(names=["a"]), "names must be 32 texts or whole numbers"),
    (lambda m: m.update(names=[True] * 32), "names must be 32 texts or whole numbers"),
    (lambda m: m.update(issues={}), "has the noise rate None"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_what_the_manifest_says_is_checked(model, change, message):
    forged(model, change)
    refused(model, r"does not fit the model: .*Save the model again")
    refused(model, message)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("f", np.zeros(32), r"has shape \(32,\); it must be \(32, 3\)"),
        ("f", np.zeros((32, 3), dtype=np.float32), "type float32; it must be float64"),
        ("codes", np.full(32, 3), "the value 3; 2 is the most allowed"),
        ("codes", np.full(32, -2), "the value -2; -1 is the least allowed"),
        ("components", np.full(32, -1), "a node of the graph has no component"),
        ("landmarks", np.array([2, 3]), "a graph has no landmarks"),
        ("issue_pairs", np.zeros((2, 2)), r"it must be \(3, 3\)"),
        ("points_indptr", np.arange(33), "must rise from 0"),
        ("points_data", np.full(3, 1.0), r"has shape \(3,\)"),
        ("other", np.zeros(3), "no array that this version of robustgc knows"),
        ("given", np.array([None] * 32), "is damaged: it holds Python objects"),
        ("given", np.array(["a"] * 32), "is damaged: it has type <U1"),
    ],
)
def test_arrays_must_fit_each_other(model, name, values, message):
    forged(model, None, **{name: values})
    refused(model, rf"{name}\.npy .*{message}.*Save the model again")


def test_weights_must_be_a_graph(model):
    data = np.load(model / "points_data.npy")
    data[0] = -1.0
    forged(model, None, points_data=data)
    refused(model, "the weights are no graph: .*negative")


@pytest.mark.parametrize("name", ["knn, 2 classes", "rbf, 2 classes", "weighted CSR"])
def test_the_affinity_is_checked(name, tmp_path):
    clf, *_ = MODELS[name]()
    folder = tmp_path / "model"
    save(clf, folder)
    if name == "weighted CSR":
        indices = np.load(folder / "points_indices.npy")
        indices[-1] = 10**6  # a compiled loop would read beyond the end
        forged(folder, None, points_indices=indices)
        refused(folder, "the weights are no graph: 1 entries of the CSR are out of range")
        forged(folder, lambda m: m["parameters"].update(affinity="knn"))
        refused(folder, "points cannot be held as a graph")
        return
    forged(folder, lambda m: m.update(affinity={"n_neighbors": 0, "sigma": "wide"}))
    refused(folder, "n_neighbors': 0")
    forged(folder, None, landmarks=np.array([3, 2]))
    refused(folder, r"landmarks\.npy .*two or more nodes, ascending")


def test_a_missing_array_that_the_manifest_hides(model):
    manifest = json.loads((model / "manifest.json").read_text(encoding="utf-8"))
    del manifest["files"]["degrees.npy"]
    (model / "manifest.json").write_text(json.dumps(manifest))
    forged(model)
    refused(model, r"degrees\.npy .*the model needs it, but the manifest does not name it")


def test_a_header_that_promises_more_than_the_file(model):
    stream = io.BytesIO()
    about = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    np.lib.format.write_array_header_1_0(stream, about)
    (model / "degrees.npy").write_bytes(stream.getvalue())
    forged(model)
    refused(model, r"degrees\.npy is damaged: its header claims shape \(1000000000000000,\)")
    (model / "degrees.npy").write_bytes(b"\x93NUMPY\x02\x00")
    forged(model)
    refused(model, r"degrees\.npy is damaged: its header is damaged")


def packed(model, path, compression=zipfile.ZIP_STORED, **extra):
    with zipfile.ZipFile(path, "w", compression) as bundle:
        for file in model.iterdir():
            bundle.write(file, file.name)
        for name, content in extra.items():
            bundle.writestr(name, content)


@pytest.mark.parametrize("name", ["../f.npy", "/etc/f.npy", "..\\f.npy", "a/f.npy", "run.py"])
def test_a_zip_with_other_names(model, name, tmp_path):
    packed(model, tmp_path / "m.zip", **{name: b"x"})
    refused(tmp_path / "m.zip", r"which is no name of a model's file.*Do not trust")
    assert sorted(os.listdir(tmp_path)) == ["m.zip", "model"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_zips_that_lie(model, tmp_path):
    path = tmp_path / "m.zip"
    packed(model, path)
    load(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused(path, r"neither a folder nor a zip that can be read.*whole copy")
    at = whole.index(b"\x93NUMPY") + 200
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    refused(path, r"\.npy is damaged: Bad CRC-32.*Save")
    packed(model, path, zipfile.ZIP_DEFLATED)
    refused(path, "is compressed or encrypted; only stored files are read.*Unpack it")
    packed(model, path, **{"f.npy": b"again"})
    refused(path, "two files of the same name")
    packed(model, path)
    with zipfile.ZipFile(path) as bundle:
        size = bundle.getinfo("f.npy").file_size
    whole = path.read_bytes()
    entry = whole.rindex(b"f.npy") - 46 + 24  # the uncompressed size in the directory
    path.write_bytes(whole[:entry] + (2**31).to_bytes(4, "little") + whole[entry + 4 :])
    assert size < 2**31
    refused(path, "claim .* bytes, more than its own")
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("f.npy", b"x")
    refused(path, "manifest.json is missing")

"""Saving and loading: the same answers to the last bit, and what happened to the files is said."""

import copy
import json
import os
import pickle
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from models_to_save import MODELS, blobs, islands, same
from robustgc import NotConvergedError, RobustGC, ZhouGC
from robustgc.estimators.saving.model import load, save
from robustgc.graph import atomic
from robustgc.storage import files as saved_files
from robustgc.storage.values import decoded, encoded
from samples import CLIQUES, Y_CLIQUES


@pytest.fixture
def clf():
    return RobustGC(affinity="precomputed").fit(CLIQUES, Y_CLIQUES)


@contextmanager
def no_pickle():
    """Let every way to unpickle fail."""

    def fail(*_args, **_kwargs):
        raise AssertionError("a model was unpickled")

    plain = np.load

    def checked(*args, **kwargs):
        assert kwargs["allow_pickle"] is False
        return plain(*args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        for name in ("load", "loads", "Unpickler", "_load", "_loads", "_Unpickler"):
            patch.setattr(pickle, name, fail)
        patch.setattr(np, "load", checked)
        yield


def answers(clf, X, new):
    public = {name: value for name, value in vars(clf).items() if name.endswith("_")}
    found = [public, clf.get_params(), clf.label_issues()]
    for points in (X, new):
        found += [clf.predict(points), clf.decision_function(points), clf.predict_proba(points)]
    known = (
        clf.transduction_ if len(set(clf.reasons_)) == 1 else clf._labels.names(clf._labels.codes)
    )
    return [*found, clf.score(X, known), clf.__sklearn_tags__().input_tags]


@pytest.mark.parametrize("ending", ["", ".zip"])
@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_answers_with_the_same_bytes(name, ending, tmp_path):
    if name == "approximate search":
        pytest.importorskip("faiss")
    clf, X, new = MODELS[name]()
    before = answers(clf, X, new)
    save(clf, tmp_path / f"model{ending}", names=range(len(clf.f_)))
    with no_pickle():
        saved = load(str(tmp_path / f"model{ending}"))
    after = answers(saved.estimator, X, new)
    assert sorted(before[0]) == sorted(after[0])
    for attribute in sorted(before[0]):
        assert same(before[0].pop(attribute), after[0].pop(attribute)), attribute
    for a, b in zip(before[1:], after[1:], strict=True):
        assert same(a, b)
    assert saved.names == tuple(range(len(clf.f_)))
    assert os.listdir(tmp_path) == [f"model{ending}"]


def test_a_loaded_model_is_saved_to_the_same_bytes(tmp_path):
    clf, *_ = MODELS["landmarks, knn"]()
    save(clf, tmp_path / "one.zip")
    save(load(tmp_path / "one.zip").estimator, tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as bundle:
        bundle.extractall(tmp_path / "unpacked")
    assert same(load(tmp_path / "unpacked").estimator.f_, clf.f_)


def test_what_needs_the_fit_says_so_and_a_new_fit_brings_it_back(clf, tmp_path):
    save(clf, tmp_path / "model")
    loaded = load(tmp_path / "model").estimator
    for call in (lambda: loaded.update({1: 1}), loaded.suggest_queries):
        with pytest.raises(ValueError, match=r"was loaded.*Fit again"):
            call()
    again = pickle.loads(pickle.dumps(copy.deepcopy(loaded)))
    assert same(again.label_issues(), clf.label_issues())
    y = Y_CLIQUES.copy()
    y[1] = 1
    loaded.fit(CLIQUES, y)
    assert len(loaded.label_issues()) == 3
    assert len(loaded.suggest_queries(2)) == 2


def test_without_a_report_of_wrong_labels_the_answers_are_saved(clf, tmp_path, monkeypatch):
    def fail(_self):
        raise NotConvergedError("Nothing worked.")

    with monkeypatch.context() as patch:
        patch.setattr(RobustGC, "label_issues", fail)
        save(clf, tmp_path / "model")
    loaded = load(tmp_path / "model").estimator
    assert same(loaded.f_, clf.f_)
    with pytest.raises(ValueError, match=r"Nothing worked\. Fit again"):
        loaded.label_issues()


NAMES = st.lists(st.text() | st.integers(), min_size=8, max_size=8)


@given(names=NAMES)
def test_names_are_any_text_or_integers(names, tmp_path_factory):
    clf = RobustGC(0.9, n_modes=1, affinity="precomputed").fit(CLIQUES, Y_CLIQUES)
    path = tmp_path_factory.mktemp("names") / "model"
    save(clf, path, names=names)
    assert same(load(path).names, tuple(names))


def test_names_of_files_may_hold_half_a_surrogate_pair(clf, tmp_path):
    names = [b"\xff%d".decode("utf-8", "surrogateescape") % k for k in range(8)]
    save(clf, tmp_path / "model", names=np.array(names))
    assert load(tmp_path / "model").names == tuple(names)


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
NUMPY = st.sampled_from([np.int8(-3), np.uint64(2**64 - 1), np.float16(0.1), np.bool_(True),
                         np.float32("nan"), np.str_("ä")])  # fmt: skip
NESTED = st.recursive(
    PLAIN | NUMPY,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(value=NESTED)
def test_values_come_back_with_their_types(value):
    assert same(decoded(json.loads(json.dumps(encoded(value, "it"), allow_nan=False))), value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"affinity": rbf_kernel}, "is a function, and a saved model holds no code.*'knn'"),
        ({"priors": {"a": 1j}}, "parameter priors is 1j of type complex.*must be None, text"),
        ({"unlabeled": b"no"}, "parameter unlabeled is b'no' of type bytes"),
        ({"affinity": "rbf"}, "affinity is 'rbf' now, but.*fitted with 'precomputed'. Fit again"),
        ({"eta": 2}, "eta=2 is not allowed"),
    ],
)
def test_what_a_model_cannot_hold_is_refused(clf, options, message, tmp_path):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        save(clf.set_params(**options), tmp_path / "model")
    assert os.listdir(tmp_path) == []


def test_other_models_and_names_that_do_not_fit_are_refused(clf, tmp_path):
    with pytest.raises(NotFittedError):
        save(RobustGC(), tmp_path / "model")
    with pytest.raises(ValueError, match="A ZhouGC cannot be saved"):
        save(ZhouGC(affinity="precomputed").fit(CLIQUES, Y_CLIQUES), tmp_path / "model")
    with pytest.raises(ValueError, match="There are 3 names for 8 nodes"):
        save(clf, tmp_path / "model", names="abc")
    with pytest.raises(ValueError, match=r"name of node 2 is 0\.5 of type float"):
        save(clf, tmp_path / "model", names=[1, 2, 0.5, 4, 5, 6, 7, 8])
    assert os.listdir(tmp_path) == []
    X, y, _ = blobs()
    kernel = RobustGC(affinity=rbf_kernel).fit(X, y).set_params(affinity="rbf")
    with pytest.raises(ValueError, match="was fitted with None"):
        save(kernel, tmp_path / "model")


@pytest.mark.parametrize("ending", ["", ".zip"])
def test_a_model_is_replaced_and_a_save_that_fails_leaves_the_old_one(clf, ending, tmp_path):
    path = tmp_path / f"deep/model{ending}"
    save(clf, path, names=list("abcdefgh"))
    W, y = islands()
    other = RobustGC(affinity="precomputed").fit(W, y)
    last = (saved_files, "_fill_zip") if ending else (atomic, "_move")
    for home, place in ((saved_files, "_contents"), last, (saved_files, "digest")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(home, place, _interrupt)
            for target in (path, tmp_path / f"new{ending}"):
                with pytest.raises(KeyboardInterrupt):
                    save(other, target)
        assert os.listdir(path.parent) == [path.name]
        assert os.listdir(tmp_path) == ["deep"]
    assert load(path).names == tuple("abcdefgh")
    save(other, path)
    assert same(load(path).estimator.f_, other.f_)
    assert os.listdir(path.parent) == [path.name]


def _interrupt(*_args, **_kwargs):
    raise KeyboardInterrupt


def test_the_old_folder_comes_back_if_the_new_one_cannot_be_moved(clf, tmp_path, monkeypatch):
    save(clf, tmp_path / "model")
    plain = type(tmp_path).rename

    def rename(self, target):
        if ".partial-" in self.name:
            raise OSError("no")
        return plain(self, target)

    monkeypatch.setattr(type(tmp_path), "rename", rename)
    with pytest.raises(OSError, match="no"):
        save(clf, tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]
    load(tmp_path / "model")


def test_a_link_to_a_model_stays_a_link(clf, tmp_path):
    save(clf, tmp_path / "model")
    (tmp_path / "link").symlink_to("model")
    save(clf, tmp_path / "link", names=list("abcdefgh"))
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "model").names == tuple("abcdefgh")


def test_anything_else_that_is_there_is_left_alone(clf, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder.zip").mkdir()
    (tmp_path / "text.zip").write_text("text")
    (tmp_path / "file").write_text("text")
    save(clf, tmp_path / "model")
    (tmp_path / "model/notes.txt").write_text("mine")
    for name, message in [
        ("empty", "no model that could be replaced.*manifest.json is missing"),
        ("folder.zip", "is a folder; a model is a zip file if its name ends in .zip"),
        ("text.zip", "no model that could be replaced.*neither a folder nor a zip"),
        ("file", "is a file; a model is a zip file if"),
        ("model", "holds 1 files that are no part of the model, the first 'notes.txt'"),
    ]:
        with pytest.raises(FileExistsError, match=f"(?s){message}.*another name"):
            save(clf, tmp_path / name)
    assert (tmp_path / "model/notes.txt").read_text() == "mine"
    load(tmp_path / "model")

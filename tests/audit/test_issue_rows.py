"""Reports of wrong labels name the rows of the user, whoever has made them."""

import json
import shutil

import numpy as np
import pytest

from forging import forged, refused
from models_to_save import MODELS, same
from robustgc import RobustGC
from robustgc.estimators.fits import AnswersOnly
from robustgc.estimators.saving.model import load, save
from robustgc.graph.weights import Operator


@pytest.fixture
def clf():
    """A model on some of its points, so that nodes of the graph have other numbers than rows."""
    made, *_ = MODELS["landmarks, knn"]()
    assert (made._chosen != np.arange(len(made._chosen))).any()
    return made


@pytest.mark.parametrize("made", [lambda report: report, lambda report: lambda: report])
def test_a_fit_on_ranks_names_the_rows_of_the_points(clf, made):
    expected = clf.label_issues()
    given = np.flatnonzero(clf._labels.codes >= 0).tolist()
    assert sorted(expected.node.tolist()) == given
    # What the ranks hand back is numbered by the nodes of the graph, the landmarks.
    report = clf._fit.label_issues(clf._options())
    clf._fit = AnswersOnly(clf._fit.answer, made(report), "on ranks")
    assert same(clf.label_issues(), expected)
    assert {node for nodes in expected.evidence for node in nodes} <= set(given)


def test_a_loaded_model_names_the_same_rows_and_saves_them_again(clf, tmp_path):
    save(clf, tmp_path / "one")
    save(load(tmp_path / "one").estimator, tmp_path / "two")
    assert same(load(tmp_path / "two").estimator.label_issues(), clf.label_issues())


def test_a_report_about_points_that_are_no_landmarks_is_refused(clf, tmp_path):
    save(clf, tmp_path / "model")
    free = int(np.flatnonzero(clf._labels.codes[clf._chosen] < 0)[0])
    evidence = np.load(tmp_path / "model" / "issue_evidence.npy")
    assert len(evidence)
    shutil.copytree(tmp_path / "model", tmp_path / "other")
    forged(tmp_path / "other", None, issue_evidence=np.full_like(evidence, clf._chosen[free]))
    refused(tmp_path / "other", "names a node without a label")
    assert json.loads((tmp_path / "model" / "manifest.json").read_text())  # untouched
    assert same(load(tmp_path / "model").estimator.f_, clf.f_)


def test_weights_without_rows_are_sent_to_an_engine_that_there_is():
    given = pytest.importorskip("robustgc.mpi.share")

    class Products(Operator):
        pass

    Products.__abstractmethods__ = frozenset()
    with pytest.raises(TypeError, match=r"engine='(\w+)'") as caught:
        given.from_weights(Products.__new__(Products), None)
    name = str(caught.value).split("engine='")[1].split("'")[0]
    RobustGC(engine=name)._check_parameters()

"""One process that starts ranks: their answers and their errors arrive."""

import numpy as np
import pytest
import scipy.sparse as sp

from graphs import path
from models_to_save import blobs
from robustgc import RobustGC
from robustgc.estimators.fits import GraphProblem
from robustgc.linalg.ladder import SolverOptions
from robustgc.linalg.solution import NotConvexError
from robustgc.models.parameters import Parameters
from robustgc.mpi import job
from robustgc.transduction.labels import encode

FREE = Parameters(None, None, False)
# What ranks do as soon as they start: Python imports this before anything else.
FAULT = """
import os
from robustgc.mpi import job
rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0")))

def faulty(folder):
    {fault}

job.read_job = faulty
"""


@pytest.fixture
def blocks():
    rng = np.random.default_rng(3119)
    group = np.repeat([0, 1, 2], 20)
    upper = np.triu(rng.random((60, 60)) < np.where(group[:, None] == group, 0.4, 0.02), 1)
    W = sp.csr_array((upper + upper.T) * 1.5)
    W = sp.block_diag([W, np.ones((2, 2)) - np.eye(2), np.ones((3, 3)) - np.eye(3)], format="csr")
    y = [None] * 65
    for node in (0, 1, 2, 20, 21, 22, 40, 41, 42):
        y[node] = f"class {group[node]}"
    y[5], y[60] = "class 2", "class 0"  # a wrong one, and one alone in its component
    W = sp.csr_array(W)
    assert not W.data.all()  # blocks of arrays have stored zeros, which a folder has not
    return W, y


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_answers_are_those_of_one_process(blocks, n_ranks):
    W, y = blocks
    sizes = np.ones(65)
    sizes[0] = 2.0
    clf = RobustGC(affinity="precomputed").fit(W, y, sample_weight=sizes)
    problem = GraphProblem.of_all_nodes(W, clf._labels, clf._sample_weight, FREE)
    found = job.fit_on_ranks(problem, SolverOptions(), n_ranks)
    answer, issues = found.answer, found.label_issues(SolverOptions())
    expected = clf._answer
    assert np.nanmax(np.abs(answer.f - expected.f)[np.isfinite(expected.f)]) < 1e-6 * np.nanmax(
        np.abs(expected.f[np.isfinite(expected.f)])
    )
    assert np.array_equal(np.isneginf(answer.f), np.isneginf(expected.f))
    assert answer.codes.tolist() == expected.codes.tolist()
    assert answer.reasons.tolist() == expected.reasons.tolist()
    assert answer.d == pytest.approx(expected.d)
    same = {(int(a), int(b)) for a, b in zip(answer.number, expected.number, strict=True)}
    assert len(same) == len(set(expected.number.tolist())) == len(set(answer.number.tolist()))
    assert sorted(c.n_nodes for c in answer.certificates.values()) == [60]
    assert [row.tolist() for row in answer.constants.values()] == [
        row.tolist() for row in expected.constants.values()
    ]
    theirs = clf.label_issues()
    assert issues.node.tolist() == theirs.node.tolist()
    assert issues.suspicion == pytest.approx(theirs.suspicion, abs=1e-6)
    assert issues.suggested.tolist() == theirs.suggested.tolist()


def test_wrong_labels_of_landmarks_are_named_by_the_rows_of_the_points():
    X, y, _ = blobs()
    one = RobustGC(landmarks=60).fit(X, y).label_issues()
    many = RobustGC(landmarks=60, engine="mpi", n_ranks=2).fit(X, y).label_issues()
    assert many.node.tolist() == one.node.tolist()
    assert many.given.tolist() == one.given.tolist()
    assert sorted(many.node.tolist()) == np.flatnonzero(y != "").tolist()


@pytest.fixture
def fault(tmp_path, monkeypatch):
    def made(code):
        (tmp_path / "sitecustomize.py").write_text(FAULT.format(fault=code))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
        return solve_path

    return made


def solve_path():
    labels = encode(["a", "", "", "b"], n_nodes=4)
    problem = GraphProblem.of_all_nodes(sp.csr_array(path(4)), labels, np.ones(4), FREE)
    return job.fit_on_ranks(problem, SolverOptions(), 2)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (NotConvexError, "gamma = 3 is not below lambda_1"),
        (MemoryError, "17 bytes needed"),
        (ValueError, "no good"),
    ],
)
def test_an_error_of_the_ranks_arrives_as_it_is(fault, capfd, kind, text):
    home = "from robustgc.linalg.solution import NotConvexError; "
    with pytest.raises(kind) as caught:
        fault(f"{home}raise {kind.__name__}({text!r})")()
    assert type(caught.value) is kind
    assert str(caught.value) == text
    assert "Abort" not in capfd.readouterr().err  # all ranks failed: none had to be stopped


def test_an_error_of_our_own_making_is_named(fault):
    with pytest.raises(RuntimeError, match=r"^KeyError: 'lost'$"):
        fault("raise KeyError('lost')")()


def test_a_rank_that_dies_is_named(fault):
    solve = fault("rank == 1 and os.kill(os.getpid(), 9)")
    with pytest.raises(RuntimeError, match=r"on 2 ranks was not finished: .*signal 9 \(SIGKILL"):
        solve()


@pytest.mark.parametrize("n_ranks", [0, -2, 1.5, True, "4"])
def test_numbers_of_ranks_that_are_none(n_ranks):
    clf = RobustGC(affinity="precomputed", engine="mpi", n_ranks=n_ranks)
    with pytest.raises(ValueError, match=r"n_ranks=.*whole number >= 1"):
        clf.fit(path(4), ["a", "", "", "b"])


def test_the_estimator_starts_ranks_itself(blocks):
    W, y = blocks
    one = RobustGC(affinity="precomputed").fit(W, y)
    two = RobustGC(affinity="precomputed", engine="mpi", n_ranks=2).fit(W, y)
    assert two.transduction_.tolist() == one.transduction_.tolist()
    assert two.lambda_1_ == pytest.approx(one.lambda_1_)
    assert (two.eta_, two.n_modes_) == (one.eta_, one.n_modes_)
    assert two.predict(W).tolist() == one.predict(W).tolist()
    assert two.label_issues().node.tolist() == one.label_issues().node.tolist()
    with pytest.raises(ValueError, match="have ended"):
        two.update({0: "class 1"})


def test_a_class_whose_labels_do_not_count_stays_a_class(blocks):
    W, y = blocks
    sizes = np.where(np.array(y) == "class 1", 0.0, 1.0)
    clf = RobustGC(affinity="precomputed").fit(W, y, sample_weight=sizes)
    problem = GraphProblem.of_all_nodes(W, clf._labels, clf._sample_weight, FREE)
    found = job.fit_on_ranks(problem, SolverOptions(), 2)
    answer, issues = found.answer, found.label_issues(SolverOptions())
    assert answer.f.shape == (65, 3)
    assert answer.codes.tolist() == clf._answer.codes.tolist()
    assert issues.pairs == pytest.approx(clf.label_issues().pairs, abs=1e-6)

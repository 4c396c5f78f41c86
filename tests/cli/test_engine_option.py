"""`--engine` on a machine without MPI: what is said, and that one machine stays as it was."""

import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from robustgc import RobustGC, classify
from robustgc.cli.app import app
from robustgc.mpi import world

RUN = CliRunner()
FILES = ["edges.csv", "--labels", "labels.csv"]


@pytest.fixture
def no_mpi(monkeypatch):
    for name in ("mpi4py", "mpi4py.MPI"):
        monkeypatch.setitem(sys.modules, name, None)
    caches = [known for known in vars(world).values() if hasattr(known, "cache_clear")]
    for known in caches:
        known.cache_clear()
    yield
    for known in caches:
        known.cache_clear()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["classify", *FILES, "--engine", "spark"], "--engine spark is unknown; choose local or"),
        (["info", "edges.csv", "--engine", "spark"], "--engine spark is unknown; choose local or"),
        (["classify", *FILES, "--merge"], "--merge is for --engine mpi"),
    ],
)
def test_bad_usage(words, said):
    done = RUN.invoke(app, words)
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.parametrize("words", [["classify", *FILES, "-o", "parts"], ["info", "edges.csv"]])
def test_without_mpi_there_is_the_line_that_installs_it(words, no_mpi):
    done = RUN.invoke(app, [*words, "--engine", "mpi"])
    assert done.exit_code == 1
    assert "mpi4py is not installed" in done.stderr
    assert "pip install 'robustgc[mpi]'" in done.stderr


@pytest.mark.parametrize("classes", [2, 3])
def test_the_columns_have_the_probabilities_of_the_estimator(classes):
    rng = np.random.default_rng(3137)
    X = rng.normal(0, 1, (30, 2)) + 6 * (np.arange(30) % classes)[:, None]
    y = [str(k % classes) if k < 9 else "" for k in range(30)]
    clf = RobustGC(n_neighbors=9).fit(X, y)
    labels = [value or None for value in y]
    found = classify(points=X, labels=labels, n_neighbors=9, scaling="none").columns()
    known = clf.predict_proba(X).max(axis=1)
    np.testing.assert_array_equal(found["probability"], known)

"""Shared settings: reproducible hypothesis runs, and the USPS digits where they lie at hand."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from robustgc.datasets import DataNotFoundError, fetch_usps

settings.register_profile("robustgc", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("robustgc")

_BESIDE = Path(__file__).parents[2] / "shared" / "data"
if "ROBUSTGC_DATA" not in os.environ and _BESIDE.is_dir():
    os.environ["ROBUSTGC_DATA"] = str(_BESIDE)


@pytest.fixture(scope="session")
def usps():
    try:
        return fetch_usps()
    except DataNotFoundError as reason:
        pytest.skip(f"the USPS digits may not be bundled: {reason}")


@pytest.fixture
def no_usps(monkeypatch, tmp_path):
    """Give a machine without the digits and without OpenML."""

    def offline(*_args, **_kwargs):
        raise OSError("no network")

    monkeypatch.delenv("ROBUSTGC_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "scikit-learn"))
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", offline)

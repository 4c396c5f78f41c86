"""USPS digits 4 and 9: not bundled, found on this machine or fetched at run time."""

import os
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import fetch_openml, get_data_home
from sklearn.datasets._openml import OpenMLError

from robustgc.datasets.base import Dataset
from robustgc.graph.atomic import new_file

FILE = "usps49.npz"


class DataNotFoundError(FileNotFoundError):
    """A data set is not on this machine and cannot be fetched; the text says where to put it."""


def fetch_usps() -> Dataset:
    """Load the USPS digits 4 and 9, pixels in [0, 1], the training part first.

    Looked for in ``$ROBUSTGC_DATA`` (``usps49.npz`` or ``usps/usps49.npz``), then in the cache,
    then fetched from OpenML and cached.

    Raises
    ------
    DataNotFoundError
        The file is nowhere and OpenML does not answer.
    """
    path = next((path for path in _places() if path.is_file()), None) or _fetch()
    try:
        with np.load(path, allow_pickle=False) as data:
            pixels, digits, train = data["X_milli"] / 1000.0, data["y"], data["is_train"]
    except (OSError, ValueError, KeyError) as error:
        raise DataNotFoundError(
            f"{path} is not a readable {FILE}: it must hold the arrays X_milli, y and is_train. "
            "Remove it, or put the right file there."
        ) from error
    order = np.argsort(~train.astype(bool), kind="stable")
    return Dataset(
        name="usps49",
        points=(pixels[order] + 1.0) / 2.0,
        labels=digits[order].astype(str),
        names=np.array([f"image {i}" for i in order]),
        citation="J. J. Hull, A database for handwritten text recognition research, IEEE "
        "Transactions on Pattern Analysis and Machine Intelligence 16 (1994) 550-554.",
        licence="Not bundled; check the terms where you fetch it.",
    )


def _places() -> list[Path]:
    home = os.environ.get("ROBUSTGC_DATA")
    named = [Path(home) / FILE, Path(home) / "usps" / FILE] if home else []
    return [*named, _cache()]


def _cache() -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "robustgc" / FILE


def _fetch() -> Path:
    """Fetch USPS from OpenML (7291 training images first, classes 1 to 10), keep 4 and 9."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of retries and caches: the error below says it
            raw = fetch_openml("USPS", version=2, as_frame=False, parser="liac-arff",
                               data_home=get_data_home(), n_retries=1)  # fmt: skip
    except (OSError, OpenMLError) as error:
        raise DataNotFoundError(
            f"The USPS digits are not on this machine, and OpenML did not answer ({error}). Put "
            f"the file {FILE} into the folder that $ROBUSTGC_DATA names, or at {_cache()}."
        ) from error
    digits = raw.target.astype(float).astype(int) - 1
    four_or_nine = np.isin(digits, (4, 9))
    path = _cache()
    path.parent.mkdir(parents=True, exist_ok=True)
    with new_file(path) as file:
        np.savez_compressed(
            file,
            X_milli=np.round(raw.data[four_or_nine] * 1000).astype(np.int16),
            y=digits[four_or_nine],
            is_train=(np.arange(len(digits)) < 7291)[four_or_nine],
        )
    return path

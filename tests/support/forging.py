"""Saved models that were changed on purpose, and how they are refused."""

import hashlib
import json

import numpy as np
import pytest

from robustgc.estimators.saving.model import load
from robustgc.storage.files import digest


def forged(folder, change=None, **arrays):
    """Change a model and make all checksums right again."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)
    for name in [*manifest["files"], *(f"{name}.npy" for name in arrays)]:
        content = (folder / name).read_bytes()
        found = hashlib.sha256(content).hexdigest()
        manifest["files"][name] = {"size": len(content), "sha256": found}
    if change:
        change(manifest["model"])
    manifest["sha256"] = digest(manifest["model"], manifest["files"])
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def refused(path, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        load(path)

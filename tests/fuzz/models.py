"""Saved models, damaged: bytes, arrays and manifest, with checksums as they were or made anew."""

import hashlib
import io
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from robustgc import CSR, RobustGC, load
from robustgc.estimators.saving.model import save
from robustgc.storage.files import digest
from tests.fuzz import answers, mutate
from tests.fuzz.draw import chance, pick
from tests.fuzz.verdict import BrokenError
from tests.fuzz.watch import FAILED

ODD = [
    None, True, -1, 0, 1, 7, 2**31, 2**63, 2**70, 1.5, -0.5, 1e300, "x", "", "\ud800", [], {}, [[]],
    {"float": "nan"}, {"float": "inf"}, {"numpy": "int64", "value": 3}, {"tuple": []},
    {"array": "<f8", "values": [1.0]}, {"dict": [[1, 2]]}, "y" * 3000,
]  # fmt: skip
VALUES = [np.nan, np.inf, -np.inf, -1, 0, 1, 2, 1e300, -1e300, 5e-324, 2**31, 2**62, -(2**62)]


def _islands(rng):
    parts = [np.triu(rng.random((n, n)) < 0.6, 1) for n in (9, 8, 4, 3)]
    W = sp.block_diag([*(part + part.T for part in parts), [[0]]], format="csr").astype(float)
    W.eliminate_zeros()
    y = np.full(25, -1)
    y[[0, 3, 5, 7, 9, 12, 15, 17]] = [0, 1, 2, 0, 1, 0, 1, 0]
    return sp.csr_array(W), y


@cache
def _models():
    """Return the files of some models by their names; made once in a process."""
    rng = np.random.default_rng(6113)
    W, y = _islands(rng)
    X = np.vstack([rng.normal(size=(15, 2)), rng.normal(size=(15, 2)) + 4])
    z = ["a", *[""] * 13, "b", "b", *[""] * 13, "a"]
    graph = {"affinity": "precomputed"}
    fits = [
        RobustGC(**graph).fit(W, y),
        RobustGC(0.5, n_modes=1, **graph).fit(W.toarray(), y),
        RobustGC(0.5, n_modes=2, **graph).fit(CSR.from_scipy(W), y > 0),
        RobustGC(0.9, n_modes=1).fit(X, z),
        RobustGC(0.9, n_modes=1, affinity="rbf", priors="labels", landmarks=20).fit(X, z),
        RobustGC(0.9, n_modes=2, affinity="rbf").fit(sp.csr_array(X), z, np.arange(30.0)),
    ]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for k, fit in enumerate(fits):
            path = Path(folder) / str(k)
            names = [f"n{i}" for i in range(len(fit.f_))] if k % 2 else None
            save(fit, path, names=names)
            found.append({file.name: file.read_bytes() for file in sorted(path.iterdir())})
    return found


def make(rng):
    return Damaged(rng)


class Damaged:
    """One model with something wrong, or nothing."""

    def __init__(self, rng):
        self.which = int(rng.integers(len(_models())))
        self.files = dict(_models()[self.which])
        self.renewed = chance(rng, 0.7)
        for _ in range(pick(rng, 1, 1, 1, 2, 3)):
            pick(rng, self._bytes, self._values, self._values, self._entry, self._entry)(rng)
        if self.renewed:
            self._renew()
        self.zipped = chance(rng, 0.2)

    def _name(self, rng, arrays=True):
        names = [n for n in self.files if n != "manifest.json" or not arrays]
        return pick(rng, *names)

    def _bytes(self, rng):
        name = self._name(rng, arrays=False)
        self.files[name] = mutate.damaged(rng, self.files[name])
        if chance(rng, 0.05):
            self.files.pop(name)

    def _values(self, rng):
        """Change values of an array, or its shape or type."""
        name = self._name(rng)
        content = self.files[name]
        try:
            head = 10 + int.from_bytes(content[8:10], "little")
            about = eval(content[10:head].decode("latin-1"))  # of a model that was made here
            values = np.frombuffer(content[head:], about["descr"]).reshape(about["shape"])
        except (ValueError, SyntaxError, KeyError, TypeError, NameError, OverflowError):
            return  # damaged before
        values = values.copy()
        if values.size and chance(rng, 0.85):
            flat = values.reshape(-1)
            places = rng.integers(0, values.size, pick(rng, 1, 1, 2, values.size))
            with np.errstate(all="ignore"):
                odd = np.array(pick(rng, *VALUES, flat[0])).astype(values.dtype)
            flat[places] = odd
        else:
            values = pick(
                rng, values[:-1], values[:0], values[..., None], values.astype(">f4"), values[::-1],
                values.astype(np.int32), np.concatenate([values, values]),
            ) if values.ndim else values  # fmt: skip
        about = {"descr": values.dtype.str, "fortran_order": False, "shape": values.shape}
        out = io.BytesIO()
        np.lib.format.write_array_header_1_0(out, about)
        self.files[name] = out.getvalue() + values.tobytes()

    def _entry(self, rng):
        """Change something in the manifest, at any depth."""
        try:
            about = json.loads(self.files["manifest.json"])
        except (KeyError, ValueError, RecursionError):
            return
        inside = about["model"] if isinstance(about, dict) and "model" in about else about
        for _ in range(20):
            if not isinstance(inside, dict | list) or not inside:
                return
            key = pick(rng, *inside) if isinstance(inside, dict) else int(rng.integers(len(inside)))
            if not isinstance(inside[key], dict | list) or chance(rng, 0.35):
                break
            inside = inside[key]
        deep = json.loads("[" * 900 + "]" * 900)
        inside[key] = deep if chance(rng, 0.03) else pick(rng, *ODD)
        if chance(rng, 0.2):
            inside.pop(key)
        self.files["manifest.json"] = json.dumps(about).encode("utf-8", "backslashreplace")

    def _renew(self):
        """Make all checksums right again."""
        try:
            about = json.loads(self.files["manifest.json"])
            for name in about["files"]:
                content = self.files[name]
                known = hashlib.sha256(content).hexdigest()
                about["files"][name] = {"size": len(content), "sha256": known}
            about["sha256"] = digest(about["model"], about["files"])
        except (KeyError, ValueError, TypeError, RecursionError, UnicodeError):
            return
        self.files["manifest.json"] = json.dumps(about).encode("utf-8", "backslashreplace")

    def run(self, watch, folder):
        path = folder / "model"
        path.mkdir()
        for name, content in self.files.items():
            (path / name).write_bytes(content)
        if self.zipped:
            shutil.make_archive(str(path), "zip", path)  # compressed: to be unpacked by the user
        watch.texts = tuple(c[:200_000].decode("latin-1") for c in self.files.values())
        result = watch("load", load, path)
        if result is FAILED:
            return
        if self.files != _models()[self.which] and not self.renewed:
            watch("load", _unseen, self.files, _models()[self.which])
        if set(result.estimator.reasons_.tolist()) <= answers.REASONS:  # the wording is free
            watch("what was loaded", answers.consistent, result.estimator)
        watch("the issues", _issues, result)
        watch("columns", result.columns)
        fitted = result.estimator._X
        new = np.asarray(fitted[:3].todense()) if sp.issparse(fitted) else fitted
        if isinstance(new, np.ndarray):
            watch("predict", result.estimator.predict_proba, new[:3] * 1.5)
        if self.which == 0 or self.renewed:
            watch("save", result.save, folder / "again")
            watch("load again", load, folder / "again")

    def program(self):
        text = "import pathlib, robustgc\np = pathlib.Path('model')\np.mkdir()\n"
        whole = _models()[self.which]
        for name, content in self.files.items():
            note = "" if whole.get(name) != content else "  # as it was saved"
            text += f"(p / {name!r}).write_bytes({content!r}){note}\n"
        return text + "robustgc.load(p)"


def _unseen(files, whole):
    differ = sorted(name for name in {*files, *whole} if files.get(name) != whole.get(name))
    if differ != ["manifest.json"]:  # there spaces, or the order of keys, may change
        raise BrokenError(f"damage was not seen: {differ}")


def _issues(result):
    found = result.estimator.label_issues()
    answers.issues(found, result.estimator)
    str(found)

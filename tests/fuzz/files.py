"""Commands on files: generated, damaged, compressed; one case is one command."""

import gzip
import os
import re
import shutil
import tempfile
import zlib
from functools import cache
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import robustgc
from robustgc.cli.app import app
from tests.fuzz import binaries, mutate, tables
from tests.fuzz.draw import chance, pick
from tests.fuzz.verdict import BrokenError, of_message
from tests.fuzz.watch import FAILED

CODES = (0, 1, 2, 3)
TABLES = [".csv", ".csv", ".csv", ".tsv", ".parquet", ".parquet", ".xyz"]


def make(rng):
    return Command(rng)


class Command:
    """Files, and a command that reads them."""

    def __init__(self, rng):
        self.files = {}
        n = int(rng.integers(2, 25))
        self.nodes = tables.names(rng, n)
        verb = pick(
            rng, "info", "classify", "classify", "audit", "apply", "convert", "points", "predict"
        )
        self.args = getattr(self, f"_{verb}")(rng)
        if chance(rng, 0.1):
            self.args.append(
                pick(rng, "--json", "-q", "--symmetrise=mean", "--weight=weight", "-k=3")
            )

    def _info(self, rng):
        return ["info", self._graph(rng), *([] if chance(rng, 0.7) else ["--json"])]

    def _classify(self, rng):
        outputs = [f"--output=out{pick(rng, *TABLES)}"]
        if chance(rng, 0.2):
            outputs.append("--report=page.html")
        if chance(rng, 0.2):
            outputs.append(f"--save=model{pick(rng, '', '.zip')}")
        labels = "group" if chance(rng, 0.05) else self._labels(rng)
        return ["classify", self._graph(rng), f"--labels={labels}", *_quick(rng), *outputs]

    def _audit(self, rng):
        return ["audit", self._graph(rng), f"--labels={self._labels(rng)}", "--output=out.csv"]

    def _apply(self, rng):
        rows, pool = tables.labelled(rng, self.nodes)
        labels = self._put(rng, "labels", *tables.text(rng, ["node", "label"], rows))
        issues = self._put(rng, "issues", *tables.decided(rng, rows, pool))
        options = [option for option in ("--new-class", "--unlabelled=x") if chance(rng, 0.1)]
        outputs = [f"--output=out{pick(rng, '.csv', '.tsv', '.parquet', '.xlsx')}"]
        outputs.append(f"--log=log{pick(rng, *TABLES)}")
        return ["apply", issues, f"--labels={labels}", *outputs, *options]

    def _convert(self, rng):
        out = pick(rng, "out.csv", "out.parquet", "out.npz", "out.mtx", "out", "no/folder/out.csv")
        return ["convert", self._graph(rng), out]

    def _points(self, rng):
        points = self._put(rng, "points", *self._point_file(rng))
        nodes = pick(rng, [f"p{i}" for i in range(9)], [str(i) for i in range(9)])
        labels = self._put(rng, "labels", *tables.label_table(rng, nodes))
        return [
            "classify",
            f"--points={points}",
            f"--labels={labels}",
            *_quick(rng),
            "--output=out.csv",
        ]

    def _predict(self, rng):
        points = self._put(rng, "points", *self._point_file(rng))
        return ["predict", points, f"--model={_model()}", "--output=out.csv"]

    def _point_file(self, rng):
        n, d = pick(rng, 9, 9, 9, 12, 2, 1), pick(rng, 2, 2, 2, 2, 2, 3)
        way = pick(rng, tables.point_table, binaries.point_array)
        return way(rng, n, d)

    def _graph(self, rng):
        pairs, weight = tables.edges(rng, len(self.nodes))
        if chance(rng, 0.1):
            for name, content in binaries.folder(rng, self.nodes, pairs, weight).items():
                self.files[f"graph/{name}"] = (
                    mutate.damaged(rng, content) if chance(rng, 0.1) else content
                )
            return "graph"
        way = pick(rng, *binaries.GRAPHS, *[tables.edge_table] * 5)
        return self._put(rng, "graph", *way(rng, self.nodes, pairs, weight))

    def _labels(self, rng):
        return self._put(rng, "labels", *tables.label_table(rng, self.nodes))

    def _put(self, rng, name, content, ending):
        """Keep a file, damaged at times, compressed at times; return its name."""
        if chance(rng, 0.3):
            content = mutate.damaged(rng, content)
        if chance(rng, 0.02):
            ending = pick(rng, ".csv", ".npz", ".json", ".mtx", ".gml", ".parquet", ".xyz", "")
        if chance(rng, 0.01):
            content = binaries.pickled()
        if chance(rng, 0.12):
            content, ending = gzip.compress(content, mtime=0), ending + ".gz"
            if chance(rng, 0.3):
                content = mutate.damaged(rng, content)
            if chance(rng, 0.07):
                content = mutate.bomb(rng)
        self.files[name + ending] = content
        return name + ending

    def run(self, watch, folder):
        for name, content in self.files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
        texts = [_readable(content) for content in self.files.values()]
        watch.texts = tuple(texts)
        before = os.getcwd()
        os.chdir(folder)
        try:
            if watch(self.args[0], self._check, texts, folder) not in (0, FAILED):
                watch.answers, watch.refusals = 0, 1
        finally:
            os.chdir(before)

    def _check(self, texts, folder):
        result = CliRunner().invoke(app, self.args)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        said = result.stderr
        if result.exit_code not in CODES or "Traceback" in said:
            raise BrokenError(f"exit code {result.exit_code}: {said[-500:]}")
        if result.exit_code in (1, 3):
            message = said.rpartition("robustgc: ")[2]
            if wrong := of_message(message.strip(), texts):
                raise BrokenError(f"{wrong.partition(':')[0]} ({_form(message)}): {message[:600]}")
        self._check_folder(folder, result.exit_code)
        return result.exit_code

    def _check_folder(self, folder, code):
        there = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
        for name, content in self.files.items():
            if name not in there or (folder / name).read_bytes() != content:
                raise BrokenError(f"an input was changed: {name}")
        new = {name.split("/")[0] for name in there - set(self.files)}
        wanted = {arg.partition("=")[2] or arg for arg in self.args}
        odd = {name for name in new if name not in wanted and not name.endswith(".names.csv")}
        if odd:
            raise BrokenError(f"a file that nobody asked for: {sorted(odd)}")
        if code and new:
            raise BrokenError(f"files in spite of a failure: {sorted(new)}, exit code {code}")

    def program(self):
        lines = [
            "import pathlib",
            "from typer.testing import CliRunner",
            "from robustgc.cli.app import app",
        ]
        if any("/" in name for name in self.files):
            lines.append("pathlib.Path('graph').mkdir()")
        for name, content in self.files.items():
            lines.append(f"pathlib.Path({name!r}).write_bytes({content!r})")
        lines.append(f"CliRunner().invoke(app, {self.args!r}, catch_exceptions=False)")
        return "\n".join(lines)


def _form(message):
    """Return what messages of one origin have in common: no names, no numbers, no quotes."""
    form = re.sub(r"'[^']*'|\"[^\"]*\"|[^ ]*[0-9./\\:][^ ]*", "_", message[:300])
    return " ".join(form.split()[:9])


def _quick(rng):
    return ["--eta=0.5", "--n-modes=1"] if chance(rng, 0.9) else []


def _readable(content):
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)[:100_000]
        except (OSError, EOFError, zlib.error):
            return ""
    return content[:300_000].decode("utf-8", "replace")


@cache
def _model():
    """Return the path of a model of points; it stays for the life of the process."""
    rng = np.random.default_rng(6101)
    X = rng.normal(size=(30, 2))
    y = ["a", "b", *[None] * 28]
    folder = Path(tempfile.mkdtemp(prefix="robustgc-fuzz-model-"))
    robustgc.classify(points=X, labels=y, eta=0.5, n_modes=1).save(folder / "model")
    import atexit

    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return str(folder / "model")

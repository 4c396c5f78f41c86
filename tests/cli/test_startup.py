"""Nothing is imported before it is needed: help at once, small graphs without compiled code."""

import ast
import os
import pickle
import pydoc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import robustgc
from robustgc.cli.messages import guarded
from robustgc.graph import threads
from robustgc.linalg.progress import Progress

NUMERICS = ["numpy", "scipy", "sklearn", "pandas", "pyarrow", "numba", "pyamg", "networkx"]
HELP = """
import sys
from robustgc.cli.app import app
try:
    app({arguments!r})
except SystemExit as end:
    assert not end.code
print("loaded:", [name for name in {names!r} if name in sys.modules])
"""


def run(code, **options):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["classify", "--help"], ["compare", "--help"]]
)
def test_help_loads_no_numerics(arguments):
    assert run(HELP.format(arguments=arguments, names=NUMERICS)).endswith("loaded: []\n")


def cpu_seconds(code):
    return float(run(f"{code}\nimport time; print(time.process_time())").split()[-1])


def test_import_costs_less_than_that_of_scikit_learn():
    run("import sklearn, robustgc")  # from here on everything is in the cache of files
    assert cpu_seconds("import robustgc") < cpu_seconds("import sklearn")
    of_help = HELP.format(arguments=["--help"], names=[])
    assert cpu_seconds(of_help) < cpu_seconds("import sklearn") / 2


def test_every_public_name_is_imported_from_where_type_checkers_look():
    tree = ast.parse(Path(robustgc.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    typed = {
        node.module.removeprefix("robustgc."): [alias.name for alias in node.names]
        for node in imports
        if node.module.startswith("robustgc.")
    }
    assert typed == robustgc._HOMES
    assert sorted(name for names in typed.values() for name in names) == sorted(robustgc.__all__)


def test_the_package_looks_as_if_all_was_imported():
    assert set(robustgc.__all__) <= set(dir(robustgc))
    everything = {}
    exec("from robustgc import *", everything)
    assert set(robustgc.__all__) <= set(everything)
    assert pickle.loads(pickle.dumps(robustgc.RobustGC)) is everything["RobustGC"]
    assert "class RobustGC" in pydoc.render_doc(robustgc, renderer=pydoc.plaintext)
    with pytest.raises(AttributeError, match="no attribute 'RobustCG'"):
        _ = robustgc.RobustCG
    assert "RobustGC" in run("import robustgc; print(dir(robustgc))")


COMMANDS = """
import sys
from robustgc.cli.app import app
for arguments in {commands!r}:
    try:
        app(arguments)
    except SystemExit as end:
        assert not end.code, arguments
print("loaded:", [name for name in ("numba", "pyamg") if name in sys.modules])
"""


def test_small_graphs_and_points_are_answered_without_compiled_code(tmp_path):
    rng = np.random.default_rng(71)
    edges = rng.integers(0, 1400, (100_000, 2)).tolist()  # every row of a file of this length
    (tmp_path / "edges.csv").write_text(
        "source,target\n" + "".join(f"{i},{j}\n" for i, j in {tuple(sorted(e)) for e in edges})
    )
    (tmp_path / "labels.csv").write_text(
        "node,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(0, 120, 5))
    )
    values = rng.standard_normal((300, 3)) + 3 * np.arange(300)[:, None] % 2
    (tmp_path / "points.csv").write_text(
        "name,x,y,z\n" + "".join(f"{i},{x},{y},{z}\n" for i, (x, y, z) in enumerate(values))
    )
    labelled = ["--labels", "labels.csv", "--quiet"]
    points = ["--points", "points.csv", "--id", "name"]
    commands = [
        ["classify", "edges.csv", *labelled, "-o", "o.csv", "--report", "o.html", "--save", "o"],
        ["audit", "edges.csv", *labelled, "-o", "issues.csv"],
        ["classify", *points, *labelled, "-o", "p.csv", "--save", "model.zip"],
        ["predict", "points.csv", "--id", "name", "--model", "model.zip", "-o", "new.csv"],
        ["info", "edges.csv"],
    ]
    out = run(COMMANDS.format(commands=commands), cwd=tmp_path)
    assert out.endswith("loaded: []\n")


def test_a_small_matrix_is_fitted_audited_and_changed_without_compiled_code():
    code = """
import sys
import numpy as np, scipy.sparse as sp
from robustgc import CSR, Graph, RobustGC, lambda_1
W = sp.csr_array(np.ones((1500, 1500)) - np.eye(1500))  # as many entries as there may be
W.data += np.add.outer(np.arange(1500) % 2, np.arange(1500) % 2)[W.nonzero()] % 2
y = np.full(1500, -1)
y[:40] = np.arange(40) % 2
clf = RobustGC(affinity="precomputed").fit(W, y)
clf.label_issues()
clf.update({50: 1})
clf.suggest_queries(3)
lambda_1(Graph(CSR.from_scipy(W)))
print("loaded:", [name for name in ("numba", "pyamg") if name in sys.modules])"""
    assert run(code).endswith("loaded: []\n")


ANNOUNCED = "compiling loops for this machine, once"
COMPILES = """
import numpy as np
from robustgc.graph import threads
heard = []
indptr, indices, out = np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32), np.zeros(2)
with threads.announced(lambda text: heard.append("outer")), threads.announced(heard.append):
    for weights in (None, np.ones(2)):  # one loop, twice compiled
        threads.loops().diagonal(indptr, indices, weights, out, 0, 2)
threads.loops().diagonal(indptr, indices, np.ones(2, dtype=np.float32), out, 0, 2)
print(heard)
"""


def test_the_first_compilation_is_announced_once_per_machine(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    (first,) = ast.literal_eval(run(COMPILES, env=environment))
    assert first.startswith(ANNOUNCED)
    assert ast.literal_eval(run(COMPILES, env=environment)) == []  # read from the cache


def test_who_says_it(capsys):
    for quiet in (False, True):
        with guarded(quiet=quiet):
            threads._listeners[-1](ANNOUNCED)
        assert (f"note: {ANNOUNCED}" in capsys.readouterr().err) == (not quiet)
    with Progress(True):
        threads._listeners[-1](ANNOUNCED)
    assert ANNOUNCED in capsys.readouterr().err
    with Progress(False):
        assert threads._listeners == []
